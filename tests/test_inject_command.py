"""`cortex inject`: what a turn with a message would get, from where, and why not more."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hermes_state import SessionDB

from conftest import CortexMaker
from cortex import Cortex
from cortex.cli import main
from cortex.generated import shown
from cortex.hooks import Hooks
from cortex.runtime import Runtime
from test_hooks import BOAT, Conversation

QUESTION = "when are mooring lines and cleats to be checked?"
ON = "inject: {enabled: true}\nhooks: {deadline_ms: 5000, skill_context: {enabled: false}}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HERMES_CORTEX_CONTEXT", "FABRIC_DIR"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(home))
    return home


Run = Any


@pytest.fixture
def inject(cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs the command over a vault with one note: (exit code, stdout, stderr)."""

    def run(*arguments: str, settings: str = ON) -> tuple[int, str, str]:
        made = cortex_with(BOAT, settings)
        code = main(["inject", *arguments, "--config", str(made.config.path)])
        said = capsys.readouterr()
        return code, said.out, said.err

    yield run


def document(out: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(out)
    told["sources"] = {source["name"]: source for source in told["sources"]}
    return told


def test_the_report_is_a_document_that_holds_the_very_text(inject: Run):
    code, out, err = inject("--message", QUESTION, "--json")
    told = document(out)
    assert (code, err) == (0, "")
    assert list(told) == [
        *("schema_version", "enabled", "session", "is_first", "gate", "sources", "blocks"),
        *("tokens", "characters", "budget", "deadline_ms", "text", "remarks"),
    ]
    assert list(told["sources"]) == ["facts", "vault", "fabric", "sessions"]
    assert told["sources"]["vault"]["injected"] == 1
    assert told["sources"]["vault"]["items"][0]["head"].startswith("boat (boat.md:1-3)")
    assert told["sources"]["facts"]["asked"] is False
    assert told["sources"]["sessions"]["status"] == "unavailable"
    assert (told["gate"], told["enabled"]) == ({"kind": "", "why": ""}, True)
    assert list(shown(told["text"])) == ["vault"]
    assert told["characters"] == len(told["text"])


def test_what_it_shows_is_what_a_turn_gets(inject: Run, tmp_path: Path, home: Path):
    _, out, _ = inject("--message", QUESTION, "--first", "--json")
    env = {"CORTEX_CONFIG": str(tmp_path / "state/config.yaml"), "HERMES_HOME": str(home)}
    assert Conversation(Hooks(Runtime(env))).say(QUESTION) == document(out)["text"]


def test_as_text_it_is_a_table_then_reasons_then_the_text(inject: Run):
    code, out, err = inject("--message", QUESTION)
    assert code == 0 and err == ""
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["source", "status", "told"]
    assert [line.split()[0] for line in lines[1:5]] == ["facts", "vault", "fabric", "sessions"]
    assert "vault: [note] boat (boat.md:1-3)" in out
    assert "facts: asked in a session's first turn alone" in out
    head, _, text = out.partition("\n\n")
    assert head.splitlines()[-1].startswith("would be injected: vault (")
    assert text.startswith("<cortex_context id=")


def test_it_works_while_injection_is_off_and_says_so(inject: Run):
    off = "hooks: {deadline_ms: 5000}"
    code, out, err = inject("--message", QUESTION, settings=off)
    assert code == 0 and "would be injected: skill_context, vault (" in out
    assert err == "cortex: inject.enabled is false in the config: no turn gets this\n"
    _, out, _ = inject("--message", QUESTION, "--json", settings=off)
    assert document(out)["enabled"] is False and "every week" in document(out)["text"]


@pytest.mark.parametrize("value", ["off", "0", "false", "No"])
def test_the_switch_ends_it_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, value: str
):
    monkeypatch.setenv("HERMES_CORTEX_CONTEXT", value)
    assert main(["inject", "--message", QUESTION, "--config", "/nowhere/config.yaml"]) == 0
    said = capsys.readouterr()
    assert (json.loads(said.out), said.err) == ({"enabled": False}, "")


def test_nothing_to_inject_is_no_error_and_has_its_reason(inject: Run):
    code, out, _ = inject("--message", "Thank you so much!")
    assert code == 0
    assert "gate: closer" in out and out.rstrip().endswith("nothing would be injected")


def test_what_is_gated_is_told_with_how_near_it_came(inject: Run):
    code, out, _ = inject("--message", "who painted the ceiling of the chapel?")
    assert code == 0
    assert re.search(r"^vault: none passes; the best: words 0\.\d\d of 0\.55$", out, re.M)
    _, out, _ = inject("--message", "guards?")
    assert re.search(r"^vault: .*words 1\.00 of 0\.55, but too common$", out, re.M)


def test_notes_that_are_newer_than_the_index_and_platforms_that_admit_nobody_are_told(
    cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]
):
    made = cortex_with(BOAT, ON.replace("hooks: {", "hooks: {platforms: [telegram], "))
    assert made.config.vault.path is not None
    (made.config.vault.path / "new.md").write_text("# New\n\nNobody knows this yet.\n")
    assert main(["inject", "--message", QUESTION, "--config", str(made.config.path)]) == 0
    told = capsys.readouterr().err
    assert "1 note changed or came since the index; run: cortex index" in told
    assert "hooks.platforms does not name local" in told


def test_the_message_may_come_on_stdin(inject: Run, monkeypatch: pytest.MonkeyPatch):
    for arguments in ((), ("--message", "-")):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{QUESTION}\n"))
        code, out, _ = inject(*arguments)
        assert code == 0 and "every week" in out


def test_a_question_behind_a_pasted_log_is_read_as_in_a_turn(
    inject: Run, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stdin", io.StringIO("-- .. -- .. -- .. --\n" * 250_000 + QUESTION))
    code, out, _ = inject()
    assert code == 0 and "every week" in out


@pytest.mark.parametrize("message", ["", "  \n"])
def test_a_blank_message_is_asked_wrongly(inject: Run, message: str):
    code, out, err = inject("--message", message)
    assert (code, out) == (2, "") and "the message is blank" in err


# Sessions


def spoken(home: Path, *turns: tuple[str, str | None], session: str = "s1") -> None:
    """A session in a database of the host's own making: what was said, and what was sent."""
    database = SessionDB(home / "state.db")
    database.create_session(session, "cli")
    for said, context in turns:
        sent = None if context is None else f"{said}\n\n{context}"
        database.append_message(session, "user", said, api_content=sent)
        database.append_message(session, "assistant", "Noted.")
    database.close()


def test_a_session_that_was_shown_a_note_is_not_shown_it_again(inject: Run, home: Path):
    _, out, _ = inject("--message", QUESTION, "--json")
    spoken(home, (QUESTION, document(out)["text"]))
    before = (home / "state.db").read_bytes()
    code, out, _ = inject("--message", QUESTION, "--session", "s1", "--json")
    vault = document(out)["sources"]["vault"]
    assert code == 0
    assert (vault["shown_before"], vault["injected"], vault["status"]) == (1, 0, "empty")
    assert document(out)["is_first"] is False
    assert (home / "state.db").read_bytes() == before


def test_another_session_is_not_concerned(inject: Run, home: Path):
    _, out, _ = inject("--message", QUESTION, "--json")
    spoken(home, (QUESTION, document(out)["text"]))
    spoken(home, ("Hello there", None), session="s2")
    _, out, _ = inject("--message", QUESTION, "--session", "s2", "--json")
    assert document(out)["sources"]["vault"]["injected"] == 1


def test_a_session_that_is_not_there_is_asked_wrongly(inject: Run, home: Path):
    spoken(home, ("Hello there", None))
    code, out, err = inject("--message", QUESTION, "--session", "s9")
    assert (code, out) == (2, "")
    assert "no session 's9'" in err and "cortex session-sources --lookback-days 30" in err


def test_a_session_without_a_database_is_told_of(inject: Run):
    code, out, err = inject("--message", QUESTION, "--session", "s1")
    assert (code, out) == (1, "") and "home/state.db" in err


def test_it_writes_nothing(inject: Run, home: Path, tmp_path: Path):
    spoken(home, ("Hello there", None))
    inject("--message", QUESTION)

    def files() -> dict[Path, bytes]:
        return {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}

    before = files()
    config = str(tmp_path / "state/config.yaml")
    assert main(["inject", "--message", QUESTION, "--session", "s1", "--config", config]) == 0
    assert files() == before


def test_waiting_gives_the_sources_all_the_time_there_is(
    inject: Run, monkeypatch: pytest.MonkeyPatch
):
    import time

    search = Cortex.search

    def slow(self: Cortex, text: str, *about: Any, **options: Any) -> Any:
        time.sleep(0.4)
        return search(self, text, *about, **options)

    monkeypatch.setattr(Cortex, "search", slow)
    quick = ON.replace("5000", "300")
    _, out, _ = inject("--message", QUESTION, "--json", settings=quick)
    vault = document(out)["sources"]["vault"]
    assert (vault["status"], vault["why"]) == ("unavailable", "not ready within 300 ms")
    _, out, _ = inject("--message", QUESTION, "--wait", "--json", settings=quick)
    assert document(out)["sources"]["vault"]["injected"] == 1
