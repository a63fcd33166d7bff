"""`cortex init`: a new vault is laid out whole, one with an order of its own is taken as it is."""

from __future__ import annotations

import datetime as dt
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from cortex import Cortex
from cortex.checks.frontmatter import validate
from cortex.cli import main
from cortex.config.load import load
from cortex.desk import Desk
from cortex.errors import UsageError
from cortex.ops import scaffold
from cortex.vault.frontmatter import split
from cortex.vault.scan import FolderRules

TODAY = dt.date(2026, 3, 1)
FOLDERS = [
    "00_inbox", "10_facts", "20_decisions", "30_projects", "40_runbooks", "50_people", "60_maps",
    "80_templates", "raw/articles", "raw/papers", "raw/transcripts", "raw/assets",
]  # fmt: skip
ROOT_FILES = ["SCHEMA.md", "index.md", "log.md", "README.md", "raw/README.md"]
TYPES = ["fact", "decision", "project", "runbook", "person", "map", "note"]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CORTEX_CONFIG", "HERMES_HOME", "WIKI_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Ran:
        return Ran(main(list(arguments)), *capsys.readouterr())

    return run


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def laid_out(vault: Path) -> Path:
    scaffold.write(vault, scaffold.missing(vault, TODAY))
    return vault


# What is laid out


def test_an_empty_vault_gets_folders_root_files_templates_and_starter_notes(
    run: Run, home: Path
) -> None:
    (home / "new").mkdir()
    ran = run("init", "--vault", "new")
    assert ran.code == 0
    assert f"wrote the folders: {', '.join(FOLDERS)}\n" in ran.out
    for path in FOLDERS:
        assert (home / "new" / path / ".gitkeep").read_bytes() == b""
    for path in [*ROOT_FILES, *(f"80_templates/{kind}-note.md" for kind in TYPES)]:
        assert (home / "new" / path).is_file()
    notes = [path for path in tree(home / "new") if path[:2] in ("10", "20", "30", "40", "60")]
    assert len([path for path in notes if path.endswith(".md")]) == 9


def test_the_config_of_a_new_vault_takes_in_the_folders_for_what_is_known(
    run: Run, home: Path
) -> None:
    run("init", "--vault", "new", "--scaffold")
    vault = load(None, {"HOME": str(home)}).vault
    assert vault.include_folders == tuple(FOLDERS[1:7])
    assert vault.exclude_folders == ("00_inbox", "80_templates", "raw")


def test_a_new_vault_has_nothing_to_mend_by_any_check(tmp_path: Path) -> None:
    vault = laid_out(tmp_path / "vault")
    everything = validate(vault, FolderRules())
    assert [note for note in everything.notes if note.issues] == []
    assert len(everything.notes) == 9 + 5 + len(TYPES)
    assert not any("{{today}}" in path.read_text("utf-8") for path in vault.rglob("*.md"))

    (tmp_path / "state").mkdir()
    config = tmp_path / "state" / "config.yaml"
    rules = f"include_folders: {FOLDERS[1:7]}, exclude_folders: [00_inbox, 80_templates, raw]"
    config.write_text(
        f"vault: {{path: '{vault}', {rules}}}\nembeddings: {{model: hashing}}\n", "utf-8"
    )
    cortex = Cortex.open(config, env={}, today=TODAY)
    indexed = cortex.index()
    assert (indexed.notes, indexed.problems) == (9, [])
    cortex.build_graph()
    assert cortex.graph("broken")["broken"] == []
    assert Desk(cortex).wiki_health().issues == ()


def test_each_type_has_a_template_with_its_sections_and_placeholders_that_yaml_reads() -> None:
    for kind in TYPES:
        text = scaffold.shipped_template(kind)
        header = split(text)
        assert header.problems == ()
        assert header.values["type"] == kind
        assert header.values["created"] == "{{date:YYYY-MM-DD}}"
        assert yaml.safe_load(text.split("---\n")[1])["type"] == kind
        assert "\n# {{title}}\n" in text
    assert "## Context\n\n## Options\n\n## Decision\n\n## Consequences\n\n## Related\n" in (
        scaffold.shipped_template("decision")
    )


# What it leaves alone


def test_a_vault_with_an_order_of_its_own_is_taken_as_it_is(run: Run, home: Path) -> None:
    (home / "own" / "Garden").mkdir(parents=True)
    (home / "own" / "Garden" / "Bees.md").write_text("# Bees\n")
    before = tree(home / "own")
    assert run("init", "--vault", "own").code == 0
    assert tree(home / "own") == before
    vault = load(None, {"HOME": str(home)}).vault
    assert (vault.include_folders, vault.exclude_folders) == ((), ())


def test_asked_for_the_layout_comes_beside_notes_and_these_stay_searched(
    run: Run, home: Path
) -> None:
    (home / "own").mkdir()
    (home / "own" / "index.md").write_text("mine")
    (home / "own" / "Bees.md").write_text("# Bees\n")
    assert run("init", "--vault", "own", "--scaffold").code == 0
    assert (home / "own" / "index.md").read_text() == "mine"
    assert (home / "own" / "SCHEMA.md").is_file()
    rules = load(None, {"HOME": str(home)}).vault
    assert rules.include_folders == ()
    assert rules.exclude_folders == ("00_inbox", "80_templates", "raw")


def test_beside_notes_no_starter_note_is_written_and_nothing_links_to_one(
    run: Run, home: Path
) -> None:
    (home / "own").mkdir()
    (home / "own" / "Bees.md").write_text("# Bees\n")
    ran = run("init", "--vault", "own", "--scaffold")
    assert ran.code == 0
    assert "the starter notes" not in ran.out
    written = sorted(path for path in tree(home / "own") if path.endswith(".md"))
    assert [path for path in written if path.split("/")[0] in scaffold.CURATED] == []
    assert {"SCHEMA.md", "index.md", "log.md", "80_templates/fact-note.md"} <= {*written}
    index = (home / "own" / "index.md").read_text("utf-8")
    assert index.endswith("The front page of this vault. Link here what one should find first.\n")
    assert validate(home / "own", FolderRules(exclude=("Bees.md",))).errors == 0


def test_a_second_time_changes_nothing_and_mends_what_is_missing_but_no_starter_note(
    run: Run, home: Path
) -> None:
    (home / "new").mkdir()
    run("init", "--vault", "new")
    (home / "new" / "SCHEMA.md").write_text("mine")
    before = tree(home)
    assert run("init", "--vault", "new").code == 0
    assert run("init", "--vault", "new", "--scaffold").code == 0
    assert tree(home) == before

    (home / "new" / "log.md").unlink()
    (home / "new" / "60_maps" / "Start here.md").unlink()
    assert "wrote the root files: log.md\n" in run("init", "--scaffold").out
    assert sorted({*before} - {*tree(home)}) == ["new/60_maps/Start here.md"]


def test_a_first_run_that_was_killed_is_finished_by_the_next(run: Run, home: Path) -> None:
    pieces = scaffold.missing(home / "new", dt.date.today())
    scaffold.write(home / "new", pieces[: len(pieces) // 2])
    (home / "new" / ".obsidian").mkdir()
    (home / "new" / ".obsidian" / "app.json").write_text("{}")
    assert run("init", "--vault", "new").code == 0
    assert scaffold.missing(home / "new", TODAY) == []
    assert load(None, {"HOME": str(home)}).vault.include_folders == tuple(FOLDERS[1:7])


def test_an_empty_vault_stays_empty_when_that_is_asked_for(run: Run, home: Path) -> None:
    (home / "new").mkdir()
    assert run("init", "--vault", "new", "--no-scaffold").code == 0
    assert tree(home / "new") == {}


@pytest.mark.parametrize("make", ["file", "link"])
def test_what_stands_in_the_way_is_named_before_anything_is_written(
    run: Run, home: Path, make: str
) -> None:
    (home / "own").mkdir()
    (home / "elsewhere").mkdir()
    if make == "file":
        (home / "own" / "10_facts").write_text("a file")
    else:
        (home / "own" / "10_facts").symlink_to(home / "elsewhere")
    before = tree(home)
    ran = run("init", "--vault", "own", "--scaffold")
    assert ran.code == 2
    assert "own/10_facts is " in ran.err and "or leave --scaffold out\n" in ran.err
    assert tree(home) == before


@pytest.mark.parametrize(
    ("there", "belongs"),
    [("Index.md", "index.md"), ("10_Facts/a.md", "10_facts"), ("Raw/b.md", "raw"),
     ("raw/Papers/c.md", "raw/papers")],
)  # fmt: skip
def test_what_differs_in_case_alone_is_named_and_gets_nothing_beside_it(
    run: Run, home: Path, there: str, belongs: str
) -> None:
    file = home / "own" / there
    file.parent.mkdir(parents=True)
    file.write_text("mine")
    if (home / "own" / belongs).exists():
        pytest.skip("here names that differ in case alone are one")
    before = tree(home)
    ran = run("init", "--vault", "own", "--scaffold")
    other = "/".join(there.split("/")[: len(belongs.split("/"))])
    assert ran == Ran(
        2,
        "",
        f"cortex: {home}/own/{other} is there, where {belongs} belongs; rename it, "
        "or leave --scaffold out\n",
    )
    assert tree(home) == before


def test_a_readme_and_a_template_in_another_case_stay_the_only_ones(run: Run, home: Path) -> None:
    (home / "own" / "80_templates").mkdir(parents=True)
    (home / "own" / "readme.md").write_text("mine")
    (home / "own" / "80_templates" / "Fact-Note.md").write_text("mine")
    assert run("init", "--vault", "own", "--scaffold").code == 0
    written = {path.lower(): text for path, text in tree(home / "own").items()}
    assert len(written) == len(tree(home / "own"))
    assert written["readme.md"] == written["80_templates/fact-note.md"] == b"mine"


def test_a_vault_with_a_linked_folder_or_one_that_cannot_be_read_is_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    assert scaffold.is_empty(vault)
    (vault / "60_maps").mkdir(parents=True)
    assert scaffold.is_empty(vault)
    (vault / "10_facts").symlink_to(tmp_path)
    assert not scaffold.is_empty(vault)
    (vault / "10_facts").unlink()
    look = os.scandir

    def refuse(path: str) -> Any:
        if os.path.basename(path) == "60_maps":
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert not scaffold.is_empty(vault)


def test_a_vault_that_cannot_be_made_says_so(run: Run, home: Path) -> None:
    (home / "file").write_text("")
    for option in ("--scaffold", "--sample"):
        assert run("init", "--vault", "file", option) == Ran(
            2, "", f"cortex: the vault {home}/file is not a folder; give the folder of your notes\n"
        )
        assert run("init", "--vault", "file/a/b", option) == Ran(
            2,
            "",
            f"cortex: the vault {home}/file/a/b cannot be made, as {home}/file is no folder; "
            "give the folder of your notes\n",
        )


def test_where_writing_is_not_allowed_the_place_is_named(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(home / "new" / "00_inbox"))

    monkeypatch.setattr(scaffold, "create_below", refuse)
    assert run("init", "--vault", "new", "--scaffold") == Ran(
        1,
        "",
        f"cortex: {home}/new/00_inbox cannot be written: Permission denied; "
        "give yourself the right to write there, or give another folder\n",
    )


def test_a_note_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    pieces = scaffold.missing(tmp_path, TODAY)
    (tmp_path / "index.md").write_text("mine")
    scaffold.write(tmp_path, pieces)
    assert (tmp_path / "index.md").read_text() == "mine"


def test_folders_that_another_config_has_searched_are_told(run: Run, home: Path) -> None:
    (home / "own").mkdir()
    (home / "own" / "a.md").write_text("# A\n")
    run("init", "--vault", "own")
    ran = run("init", "--scaffold")
    assert "the config has 00_inbox, 80_templates, raw searched too; " in ran.err


def test_two_configs_in_one_folder_do_not_build_over_each_other(run: Run, home: Path) -> None:
    for name in ("bees", "wasps"):
        (home / name).mkdir()
        (home / name / f"{name}.md").write_text(f"# All about {name}\n")
    (home / "empty.yaml").write_text("")  # neither names a vault
    (home / "other.yaml").write_text("services: [")
    first = run("init", "--vault", "bees", "--config", "bees.yaml")
    assert f"wrote the config: {home}/bees.yaml\n" in first.out
    second = run("init", "--vault", "wasps", "--config", "wasps.yaml")
    assert f"wrote the config, which builds into wasps-state: {home}/wasps.yaml\n" in second.out
    for name in ("bees", "wasps"):
        assert run("index", "--config", f"{name}.yaml").code == 0
    for name in ("bees", "wasps"):
        found = json.loads(run("search", "all about", "--config", f"{name}.yaml", "--json").out)
        assert [hit["file"] for hit in found["results"]] == [f"{name}.md"]


# Which vault


def test_without_a_terminal_nothing_is_asked(run: Run, home: Path) -> None:
    assert run("init") == Ran(
        2, "", "cortex: which folder holds your notes? run: cortex init --vault PATH\n"
    )
    assert run("init", "--vault", "gone").code == 2
    assert tree(home) == {}


def test_yes_takes_the_default_vault_and_makes_it(run: Run, home: Path) -> None:
    vault = home / "hermes-workspace" / "vault"
    planned = run("init", "-y", "--dry-run")
    assert planned.out.startswith(f"vault: {vault} (from default)\nwould write the folders: ")
    assert planned == run("init", "--dry-run")
    assert tree(home) == {}
    assert run("init", "-y").code == 0
    assert (vault / "SCHEMA.md").is_file()
    assert load(None, {"HOME": str(home)}).vault.path == vault


def test_how_wiki_path_stands_to_the_vault_is_told_also_when_init_refuses(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (home / name).mkdir()
        (home / name / "a.md").write_text("# A\n")
    monkeypatch.setenv("WIKI_PATH", "~/one/")
    ran = run("init")
    assert ran.out.startswith(f"vault: {home}/one (from WIKI_PATH)\n")
    assert "\nWIKI_PATH names this vault; only init ever reads it\n" in ran.out
    monkeypatch.setenv("WIKI_PATH", "~/two")  # counts the first time only
    assert run("init").out.startswith(f"vault: {home}/one (from existing config)\n")
    before = tree(home)
    refused = run("init", "--vault", "two", "--scaffold")
    assert refused.code == 2 and tree(home) == before
    told, error = refused.err.splitlines()
    assert told == "cortex: WIKI_PATH names this vault; only init ever reads it"
    assert f"is for the vault {home}/one, not {home}/two; " in error


def test_a_config_that_cannot_be_read_stops_it_before_anything_is_written(
    run: Run, home: Path
) -> None:
    file = home / ".hermes" / "cortex" / "config.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("vault: [")
    before = tree(home)
    assert run("init", "--vault", "new", "--scaffold").code == 2
    assert tree(home) == before


def test_files_of_the_host_are_never_edited_whatever_the_option_of_old_says(
    run: Run, home: Path
) -> None:
    (home / "own").mkdir()
    for option, file in (
        ("--legacy-update-hermes-memory", "MEMORY.md"),
        ("--legacy-update-soul-memory-rules", "SOUL.md"),
    ):
        ran = run("init", "--vault", "own", option)
        assert ran.code == 2
        assert ran.err.startswith(f"cortex: {option}: Cortex only reads {file} and never edits it")
    assert tree(home) == {}


def test_the_sample_and_the_layout_are_not_mixed(run: Run, home: Path) -> None:
    ran = run("init", "--vault", "new", "--sample", "--scaffold")
    assert (ran.code, ran.err) == (
        2, "cortex: --sample and --scaffold exclude each other; leave one of them out\n"
    )  # fmt: skip


def test_json_is_one_document_that_says_what_was_done(run: Run, home: Path) -> None:
    (home / "new").mkdir()
    document = json.loads(run("init", "--vault", "new", "--json").out)
    assert document["schema_version"] == 1
    assert (document["vault"], document["vault_source"]) == (f"{home}/new", "--vault")
    assert (document["wiki_path"], document["dry_run"]) == ("unset", False)
    assert [(done["verb"], done["what"]) for done in document["actions"]] == [
        ("write", "the folders"),
        ("write", "the starter notes"),
        ("write", "the templates"),
        ("write", "the root files"),
        ("write", "the config"),
    ]
    assert document["actions"][0]["names"] == FOLDERS
    again = json.loads(run("init", "--json").out)
    assert [done["verb"] for done in again["actions"]] == ["keep"]


def test_missing_refuses_a_folder_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("")
    with pytest.raises(UsageError, match="is no folder"):
        scaffold.missing(tmp_path, TODAY)


# On a terminal


@pytest.fixture
def at_terminal(home: Path) -> Callable[..., tuple[int, str]]:
    """`cortex init` on a real terminal: (exit code, what it showed), the answers typed in turn."""
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")

    def play(*arguments: str, answers: list[str]) -> tuple[int, str]:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "cortex", "init", *arguments]
        env = {**os.environ, "HOME": str(home), "TERM": "dumb"}

        def at_its_own_terminal() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # where we run, it may be ignored
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=home,
            start_new_session=True, preexec_fn=at_its_own_terminal,
        )  # fmt: skip
        os.close(theirs)
        shown, left, until = b"", list(answers), time.monotonic() + 60
        seen, answered = 0, 0.0
        while time.monotonic() < until:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    piece = os.read(ours, 4096)
                except OSError:  # the other end is closed
                    break
                if not piece:
                    break
                shown += piece
            elif process.poll() is not None:
                break
            elif answers[-1:] == ["\x03"] and not left and time.monotonic() > answered + 5:
                # One that comes between the prompt and the wait for an answer, Python tells late.
                os.write(ours, b"\x03")
                answered = time.monotonic()
            if left and shown[seen:].rstrip(b" ").endswith((b"]:", b"[Y/n]")):
                seen, answered = len(shown), time.monotonic()
                os.write(ours, left.pop(0).encode())
        code = process.wait(timeout=30)
        os.close(ours)
        assert left == []
        return code, shown.decode().replace("\r\n", "\n")

    return play


def test_on_a_terminal_the_vault_and_the_layout_are_asked_for(
    at_terminal: Callable[..., tuple[int, str]], home: Path
) -> None:
    code, shown = at_terminal(answers=["~/mine\n", "what\n", "y\n"])
    assert code == 0
    assert f"The folder of your notes [{home}/hermes-workspace/vault]: " in shown
    asked = f"{home}/mine does not exist; make it, with folders and starter notes? [Y/n] "
    assert shown.count(asked) == 2  # once more after an answer that is none
    assert f"vault: {home}/mine (from your answer)\n" in shown
    assert (home / "mine" / "SCHEMA.md").is_file()


def test_a_no_leaves_nothing_where_there_was_nothing_and_an_empty_vault_empty(
    at_terminal: Callable[..., tuple[int, str]], home: Path
) -> None:
    code, shown = at_terminal(answers=["\n", "n\n"])
    assert (code, shown.splitlines()[-1]) == (1, "cortex: nothing was written")
    assert tree(home) == {}
    (home / "empty").mkdir()
    code, shown = at_terminal("--vault", "empty", answers=["n\n"])
    assert code == 0
    assert f"{home}/empty is empty; write folders and starter notes? [Y/n] " in shown
    assert sorted(tree(home)) == [".hermes/cortex/config.yaml"]


@pytest.mark.parametrize(("key", "code"), [("\x04", 1), ("\x03", 130)])
def test_ending_the_input_or_interrupting_leaves_nothing_half_done(
    at_terminal: Callable[..., tuple[int, str]], home: Path, key: str, code: int
) -> None:
    ended, shown = at_terminal(answers=["~/mine\n", key])
    assert (ended, tree(home)) == (code, {})
    assert shown.splitlines()[-1].endswith("; nothing was written")


def test_an_answer_in_quotes_is_the_path_in_them(
    at_terminal: Callable[..., tuple[int, str]], home: Path
) -> None:
    assert at_terminal(answers=["'~/my notes'\n", "y\n"])[0] == 0
    assert (home / "my notes" / "SCHEMA.md").is_file()


def test_on_a_terminal_nothing_is_asked_when_all_is_said(
    at_terminal: Callable[..., tuple[int, str]], home: Path
) -> None:
    (home / "own").mkdir()
    (home / "own" / "a.md").write_text("# A\n")
    for arguments in (
        ("--vault", "gone", "--scaffold", "--dry-run"),
        ("--dry-run",),
        ("--vault", "own"),
        (),
    ):
        code, shown = at_terminal(*arguments, answers=[])
        assert (code, "[Y/n]" in shown, "]: " in shown) == (0, False, False)
