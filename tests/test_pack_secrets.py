"""What looks like a secret never leaves in a pack, but where that is asked for, and recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cortex.cli import main
from cortex.errors import CortexError, UsageError
from cortex.pack.render import to_markdown
from pack_world import NOW, PASSWORD, TOKEN, World, fact, note, section, texts

AMPLE: dict[str, Any] = {"max_bytes": 60_000, "max_items": 20}
SECRETS = (TOKEN, PASSWORD, TOKEN[4:], "hunter2")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A secret in every place that a pack takes text from, and beside each what is harmless."""
    world = World(tmp_path)
    world.write(
        {
            "10_facts/Key.md": fact(f"The token is {TOKEN} for the pump."),
            f"10_facts/{TOKEN}.md": fact("The pump is blue."),
            "10_facts/Titled.md": fact("The pump is red.", title=f"'password: {PASSWORD}'"),
            "10_facts/Parted.md": fact(f"{PASSWORD} opens the pump.", title="Router password"),
            "10_facts/Headed.md": fact(f"# password: {PASSWORD}\nThe pump is old."),
            "10_facts/Of.md": fact("The pump is new.", project=f"'{TOKEN}'"),
            "10_facts/Good.md": fact("The pump is good."),
            "Handoff.md": note("handoff", f"Log in to the pump with password: {PASSWORD}"),
            "Handed.md": note("handoff", "Look after the pump."),
            f"00_inbox/{TOKEN}.md": fact("Pump.", promote="true"),
            "00_inbox/Plain.md": fact("Pump.", promote="true"),
        }
    )
    world.promote()
    world.say(world.home, "said", f"The pump's token: {TOKEN}", "Thanks.", title="Said", at=-3000)
    world.say(world.home, "last", "Hello.", f"The pump's token: {TOKEN}", title="Last", at=-2000)
    world.say(world.home, "titled", "The pump is off.", title=f"Pump {TOKEN}", at=-1000)
    world.say(world.home, "good", "The pump is on.", title="Good")
    world.cortex().index()
    return world


def everything_in(folder: Path) -> Iterator[bytes]:
    for file in folder.rglob("*"):
        if file.is_file() and "vault" not in file.parts and not file.name.startswith("state.db"):
            yield file.read_bytes()


def holds(text: str) -> list[str]:
    return [secret[:6] for secret in SECRETS if secret in text]


@pytest.mark.parametrize("query", [None, "pump"])
def test_an_item_with_a_secret_anywhere_is_dropped_and_counted(world: World, query: str | None):
    pack = world.cortex().pack(query, **AMPLE)
    assert holds(pack.to_bytes().decode()) == []
    assert "10_facts/Good.md" in json.dumps(pack.as_json())
    facts = section(pack, "temporal_facts")
    assert "Good: The pump is good." in [item.text for item in facts.items]
    assert facts.refused >= 4 and facts.matched == facts.refused + len(facts.items)
    assert texts(pack, "handoffs") == ["Handed: Look after the pump."]
    assert [item.provenance.path for item in section(pack, "receipts").items] == [
        "10_facts/Plain.md"
    ]
    told = [item.provenance.ids[0] for item in section(pack, "session_context").items]
    assert told == (["good", "said"] if query is None else ["good"])
    assert pack.refused_secret_items == sum(one.refused for one in pack.sections) > 5


@pytest.mark.parametrize("query", [None, "pump"])
def test_redacting_packs_the_rest_of_it(world: World, query: str | None):
    pack = world.cortex().pack(query, redact=True, **AMPLE)
    text = pack.to_bytes().decode()
    assert holds(text) == [] == holds(to_markdown(pack))
    assert pack.refused_secret_items == 0
    key = next(text for text in texts(pack, "temporal_facts") if text.startswith("Key"))
    assert key.startswith("Key: The token is [REDACTED:") and key.endswith("] for the pump.")
    assert any("[REDACTED:" in item.text for item in section(pack, "session_context").items)
    assert world.cortex().verify_pack(pack.to_bytes()).status == "fresh"


def test_what_is_let_through_is_recorded_without_it(world: World):
    cortex = world.cortex()
    pack = cortex.pack("pump", allow_secret=True, now=NOW.timestamp(), **AMPLE)
    assert TOKEN in pack.to_bytes().decode()
    (line,) = (world.config.parent / "audit.jsonl").read_text("utf-8").splitlines()
    record = json.loads(line)
    assert record["time"] == "2026-03-01T12:00:00+00:00"
    assert (record["event"], record["command"]) == ("pack_allow_secret", "pack")
    assert record["packed"]["temporal_facts"] == len(section(pack, "temporal_facts").items)
    assert sum(record["secrets"]["temporal_facts"].values()) >= 4
    assert holds(line) == []
    assert cortex.verify_pack(pack.to_bytes(), now=NOW.timestamp()).status == "fresh"
    assert len((world.config.parent / "audit.jsonl").read_text("utf-8").splitlines()) == 1
    assert holds(to_markdown(pack)) == []  # without being asked for them


def test_what_cannot_be_recorded_is_not_let_through(world: World):
    (world.config.parent / "audit.jsonl").mkdir()
    with pytest.raises(CortexError, match=r"audit\.jsonl in the state folder cannot be written"):
        world.cortex().pack(allow_secret=True)


def test_a_section_of_secrets_alone_says_so(tmp_path: Path):
    world = World(tmp_path)
    world.write({"Key.md": fact(f"The token is {TOKEN}.")})
    facts = section(world.cortex().pack(), "temporal_facts")
    assert (facts.status, facts.matched, facts.refused, facts.items) == ("refused-secret", 1, 1, ())


def test_a_secret_that_a_text_is_cut_in_is_known_before_the_cut(tmp_path: Path):
    world = World(tmp_path)
    words = "word " * 100
    world.write({"Key.md": fact(f"{words}{TOKEN} {words}"), "B.md": fact("Fine.")})
    for max_bytes in range(1500, 8000, 251):
        pack = world.cortex().pack(max_bytes=max_bytes, redact=True)
        assert "ghp_" not in pack.to_bytes().decode()
        assert texts(world.cortex().pack(max_bytes=max_bytes), "temporal_facts") == ["B: Fine."]


def test_what_is_taken_out_of_a_long_text_holds_no_end_of_a_secret(tmp_path: Path):
    world = World(tmp_path)
    filler = "Nothing of note was seen on that day. " * 40
    secret = f"password: {PASSWORD}"
    for gap in range(60, 100, 3):
        text = f"{filler}{secret} {'a ' * (gap // 2)}the brass valve leaks. {filler}"
        world.write({"Log.md": text})
        world.say(world.home, f"s{gap}", text, title=f"Talk {gap}")
        for redact in (False, True):
            pack = world.cortex().pack("brass valve", redact=redact, max_bytes=3000)
            assert holds(pack.to_bytes().decode()) == []


def test_half_a_secret_at_the_end_of_what_is_read_of_a_message_is_left_out(tmp_path: Path):
    world = World(tmp_path)
    for before in (3_960, 3_985, 19_950, 19_985):
        world.say(
            world.home,
            f"s{before}",
            f"{'a ' * (before // 2)}{TOKEN} and so on",
            title=f"Token {before}",
        )
        for query in (None, "token", "on"):
            pack = world.cortex().pack(query, redact=True, max_bytes=1_000_000, max_items=20)
            assert "ghp_" not in pack.to_bytes().decode()


def test_a_query_with_a_secret_is_refused_or_masked_and_never_told(world: World):
    query = f"the pump {TOKEN}"
    with pytest.raises(UsageError, match="--query holds what looks like a secret") as error:
        world.cortex().pack(query)
    assert holds(str(error.value)) == []
    pack = world.cortex().pack(query, redact=True, **AMPLE)
    assert holds(pack.to_bytes().decode()) == []
    assert pack.asked.query is not None and pack.asked.query.startswith("the pump [REDACTED:")
    assert "Good: The pump is good." in texts(pack, "semantic")
    assert world.cortex().verify_pack(pack.to_bytes()).status == "fresh"


def test_no_secret_is_in_what_a_first_turn_gets(world: World):
    import time

    for settings in ("", "inject: {redact: true}\n"):
        world.set(settings)
        message = f"The pump, and my token {TOKEN}"
        text = world.cortex().session_pack(message, world.home, "", time.monotonic() + 60)
        assert text is not None and holds(text) == [] and "The pump is good." in text


@pytest.mark.parametrize(
    "words",
    [
        ["build"],
        ["build", "--query", "pump"],
        ["build", "--query", f"pump {TOKEN}"],
        ["build", "--query", f"pump {TOKEN}", "--redact"],
        ["build", "--project", TOKEN],
        ["build", "--project", TOKEN, "--redact"],
        ["build", "--of-profile", TOKEN],
        ["build", "--out", f"/nowhere/{TOKEN}/p.json"],
        ["show", "--query", "pump"],
        ["show", "--redact"],
        ["show", TOKEN],
        ["verify", f"{TOKEN}.json"],
        ["show", "open.json"],
        ["show", "open.json", "--json"],
        ["verify", "open.json"],
        ["verify", "open.json", "--json"],
    ],
    ids=lambda words: " ".join(words).replace(TOKEN, "TOKEN"),
)
def test_no_secret_is_on_stdout_stderr_in_files_or_logs(
    world: World,
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    for name, value in world.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(world.root)
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    (world.home / "lifecycle").mkdir(exist_ok=True)
    if "open.json" in words:
        pack = world.cortex().pack("pump", allow_secret=True, **AMPLE)
        Path("open.json").write_bytes(pack.to_bytes())
    code = main(["pack", *words])
    told = capsys.readouterr()
    assert code in (0, 2)
    assert holds(told.out) == [] and holds(told.err) == [] and holds(caplog.text) == []
    assert told.out or told.err
    if words[0] == "build" and code == 0:
        assert holds(json.dumps(json.loads(told.out))) == []


def test_a_file_that_is_written_holds_no_secret_and_is_its_owners(world: World, monkeypatch):
    for name, value in world.env().items():
        monkeypatch.setenv(name, value)
    out = world.root / "packs"
    out.mkdir()
    assert main(["pack", "build", "--query", "pump", "--out", str(out / "p.json"), "--quiet"]) == 0
    assert main(["pack", "build", "--redact", "--out", str(out / "r.json"), "--quiet"]) == 0
    assert len(list(out.iterdir())) == 2
    for content in everything_in(out):
        assert holds(content.decode()) == []
    assert (out / "p.json").stat().st_mode & 0o077 == 0
