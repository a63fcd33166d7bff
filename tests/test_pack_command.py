"""`cortex pack`: what it prints, writes and refuses, and how it ends."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

import pytest

from cortex.cli import main
from pack_world import TOKEN, World, fact


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World(tmp_path)
    world.write({"Pump.md": fact("The pump hums.", date="2026-01-02")})
    for name, value in world.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    monkeypatch.delenv("HERMES_CORTEX_CONTEXT", raising=False)
    monkeypatch.chdir(tmp_path)
    return world


def test_a_pack_is_printed_and_written_only_where_that_is_said(world: World, capsys):
    assert main(["pack", "build", "--query", "pump"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["query"] == "pump"
    assert said.err.startswith("cortex: 2 items of 2 found, ")
    assert not list(world.root.glob("*.json"))
    assert main(["pack", "build", "--json", "--quiet", "--out", "p.json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert Path("p.json").read_text("utf-8") == said.out
    assert main(["pack", "build", "--quiet", "--max-items", "2", "--out", "p.json"]) == 0
    assert json.loads(Path("p.json").read_bytes())["max_items"] == 2


def test_a_pack_is_never_written_into_the_vault_or_over_something_else(world: World, capsys):
    Path("notes.txt").write_text("mine", "utf-8")
    Path("other.json").write_text('{"mine": 1}', "utf-8")
    sealed = '{"digest": "sha512-mine", "sections": [{"kind": "cortex-context-pack"}]}'
    Path("lock.json").write_text(sealed, "utf-8")
    Path("to-vault").symlink_to(world.vault)
    refused = {
        "vault/p.json": "lies in the vault",
        "to-vault/p.json": "lies in the vault",
        "notes.txt": "is there already, and no pack",
        "other.json": "is there already, and no pack",
        "lock.json": "is there already, and no pack",
        "": "--out takes the name of a file",
        "-": "--out takes the name of a file",
        "home": "is there already, and no pack",
        str(world.config): "is there already, and no pack",
        "no/folder/p.json": "there is no folder no/folder",
    }
    for name, why in refused.items():
        assert main(["pack", "build", "--out", name]) == 2
        said = capsys.readouterr()
        assert why in said.err and said.out == ""
    assert Path("notes.txt").read_text("utf-8") == "mine"
    assert Path("lock.json").read_text("utf-8") == sealed and not Path("-").exists()
    assert sorted(path.name for path in world.vault.iterdir()) == ["Pump.md"]


def test_what_is_left_of_a_pack_may_be_written_over(world: World, capsys):
    assert main(["pack", "build", "--quiet", "--out", "p.json"]) == 0
    whole = Path("p.json").read_bytes()
    Path("p.json").write_bytes(whole[: len(whole) // 2])
    assert main(["pack", "build", "--quiet", "--out", "p.json"]) == 0
    assert json.loads(Path("p.json").read_bytes())["kind"] == "cortex-context-pack"


@pytest.mark.parametrize(
    "words",
    [
        ["--max-bytes", TOKEN],
        ["--max-age-hours", TOKEN],
        [f"--{TOKEN}"],
        [f"--redact={TOKEN}"],
        [TOKEN],
        ["--of-profile", TOKEN],
        ["--project", TOKEN],
        ["--out", f"{TOKEN}/p.json"],
        ["--config", TOKEN],
    ],
)
def test_no_message_repeats_a_secret_that_was_typed(world: World, words, capsys):
    assert main(["pack", "build", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "(api_key)" in said.err or "[REDACTED:api_key]" in said.err
    assert TOKEN not in said.err


@pytest.mark.skipif(os.name == "nt", reason="pipes with a name are of POSIX systems")
def test_what_is_read_as_a_pack_is_a_file_of_bounded_size(world: World, capsys, monkeypatch):
    os.mkfifo("pipe")
    for name in ("pipe", "home"):
        assert main(["pack", "verify", name]) == 2
        assert f"{name} is no plain file; name a file that holds a pack, or - for stdin" in (
            capsys.readouterr().err
        )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b" " * 4_000_001)))
    assert main(["pack", "verify", "-"]) == 2
    assert "stdin is too large for a pack" in capsys.readouterr().err


def test_verify_ends_with_0_but_for_a_broken_seal(world: World, capsys):
    main(["pack", "build", "--quiet", "--out", "p.json"])
    capsys.readouterr()
    assert main(["pack", "verify", "p.json"]) == 0
    assert capsys.readouterr().out == "fresh: one built now is the same\n"
    main(["pack", "build", "--quiet", "--max-age-hours", "0.001", "--out", "old.json"])
    document = json.loads(Path("old.json").read_bytes())
    Path("old.json").write_text(
        json.dumps({**document, "generated_at": "2020-01-01T00:00:00Z"}), "utf-8"
    )
    capsys.readouterr()
    assert main(["pack", "verify", "old.json"]) == 0
    assert capsys.readouterr().out.startswith("aged: ")
    world.write({"New.md": fact("New.")})
    assert main(["pack", "verify", "--json", "p.json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["schema_version"] == 1 and verdict["status"] == "stale"
    main(["pack", "build", "--quiet"])
    assert json.loads(capsys.readouterr().out)["digest"] == verdict["current_digest"]
    text = Path("p.json").read_text("utf-8")
    Path("p.json").write_text(text.replace("hums", "sings"), "utf-8")
    assert main(["pack", "verify", "p.json"]) == 1
    assert capsys.readouterr().out == "broken: its digest is another than it says\n"
    assert main(["pack", "show", "p.json"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "the seal of this pack is broken" in said.err


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "nowhere.json"],
        ["verify", "vault/Pump.md"],
        ["verify", "vault"],
        ["verify"],
        ["show", "nowhere.json"],
        ["show", "p.json", "--query", "pump"],
        ["build", "--max-bytes", "1023"],
        ["build", "--max-bytes", "many"],
        ["build", "--max-items", "0"],
        ["build", "--redact", "--allow-secret"],
        ["build", "--of-profile", "nobody"],
        ["build", "pump"],
        ["build", "--config", "nowhere.yaml"],
    ],
    ids=" ".join,
)
def test_what_is_asked_wrongly_ends_with_2_and_prints_nothing(world: World, words, capsys):
    assert main(["pack", *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("cortex: ")


def test_show_prints_a_file_as_one_built_now(world: World, capsys, monkeypatch):
    main(["pack", "build", "--quiet", "--out", "p.json"])
    document = capsys.readouterr().out
    assert main(["pack", "show"]) == 0
    now = capsys.readouterr().out
    assert "- (Pump.md, 2026-01-02) Pump: The pump hums." in now
    assert main(["pack", "show", "p.json"]) == 0
    assert capsys.readouterr().out == now
    assert main(["pack", "show", "p.json", "--json"]) == 0
    assert capsys.readouterr().out == document
    with open("p.json", encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert main(["pack", "show", "-"]) == 0
    assert capsys.readouterr().out == now


@pytest.mark.parametrize("word", ["off", "0", "false", "no", "OFF", " No "])
@pytest.mark.parametrize(
    "words", [["build"], ["build", "--out", "p.json"], ["verify", "none.json"], ["show"]]
)
def test_switched_off_nothing_is_read(tmp_path: Path, monkeypatch, capsys, word, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HERMES_CORTEX_CONTEXT", word)
    # No config, no home: whatever would look for one would fail.
    monkeypatch.setenv("CORTEX_CONFIG", str(tmp_path / "none.yaml"))
    assert main(["pack", *words]) == 0
    assert capsys.readouterr() == ('{"enabled": false}\n', "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("word", ["on", "1", "true", "yes", ""])
def test_switched_on_it_works(world: World, monkeypatch, capsys, word):
    monkeypatch.setenv("HERMES_CORTEX_CONTEXT", word)
    assert main(["pack", "build", "--quiet"]) == 0
    assert "digest" in json.loads(capsys.readouterr().out)


def test_a_profile_may_be_named_by_either_option(world: World, capsys):
    work = world.profile("work")
    world.say(work, "s", "Hello.", title="Work")
    for option in ("--profile", "--of-profile"):
        assert main(["pack", "build", "--quiet", option, "work"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["profile"] == "work"
        assert document["sections"][3]["items"][0]["text"] == "Work — user: Hello."


def test_a_disk_that_takes_nothing_is_told_in_a_line(world: World, capsys):
    if os.geteuid() == 0:
        folder = Path("/proc/self")  # where even root can make no file
    else:
        folder = world.root / "closed"
        folder.mkdir(mode=0o500)
    assert main(["pack", "build", "--out", str(folder / "p.json")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("cortex: the pack cannot be written to ")
