"""Several sources asked side by side: what each says, in time or not, and what comes of it."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import CortexMaker
from cortex.desk import Desk
from cortex.errors import CortexError
from cortex.generated import blocks_in, shown
from cortex.hooks import Hooks
from cortex.inject import asking
from cortex.inject.render import SOURCES, said_in
from cortex.inject.source import Ask, Item, Recall
from cortex.runtime import Runtime
from cortex.text import estimate_tokens
from test_hooks import BOAT, QUESTION, Conversation

ON = "inject: {enabled: true}\nhooks: {skill_context: {enabled: false}}\n"
LINES = Item("boat.md#0", "note", "Boat (boat.md:1-3)", "Check the mooring lines every week.")
CLEATS = Item("boat.md#1", "note", "Cleats (boat.md:5-6)", "Cleats need guards of soft leather.")


class StandIn:
    """A source that says what it is told to, and remembers what it was asked."""

    heading = "on this message:"

    def __init__(self, name: str, *said: Recall) -> None:
        self.name = name
        self.said = said or (Recall("empty"),)
        self.asked: list[Ask] = []
        self.hindrance: Callable[[], object] = lambda: None

    def recall(self, ask: Ask) -> Iterator[Recall]:
        self.asked.append(ask)
        self.hindrance()
        yield from self.said


def ok(*items: Item, **about: Any) -> Recall:
    return Recall("ok", items, **{"matched": len(items), **about})


Sources = dict[str, StandIn]


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Sources:
    """The four sources, in the place of those that look into files."""
    made = {name: StandIn(name) for name in SOURCES}
    monkeypatch.setattr(asking, "source_of", lambda name, *_: made[name])
    return made


Make = Callable[..., Hooks]


@pytest.fixture
def hooks_with(cortex_with: CortexMaker, tmp_path: Path) -> Make:
    def make(settings: str = ON, **env: str) -> Hooks:
        config = cortex_with(BOAT, settings, build=False).config.path
        return Hooks(Runtime({"CORTEX_CONFIG": str(config), "HERMES_HOME": str(tmp_path), **env}))

    return make


@pytest.fixture
def desk(cortex_with: CortexMaker, tmp_path: Path) -> Callable[..., Desk]:
    def make(settings: str = ON, **env: str) -> Desk:
        config = cortex_with(BOAT, settings, build=False).config.path
        return Desk.open(config, env={"HERMES_HOME": str(tmp_path), **env})

    return make


def rows(report: Any) -> dict[str, Any]:
    return {source.name: source for source in report.sources}


# Which are asked


def test_the_first_turn_asks_all_and_each_later_one_all_but_the_facts(
    hooks_with: Make, stand_ins: Sources
):
    for name, source in stand_ins.items():
        source.said = (ok(replace(LINES, id=name, text=f"{name} says a thing of its own here")),)
    chat = Conversation(hooks_with())
    told = chat.say("Thanks! When do I check the lines?") or ""
    assert list(shown(told)) == list(SOURCES)
    chat.say("And what else is there?")
    assert {name: len(source.asked) for name, source in stand_ins.items()} == {
        **dict.fromkeys(SOURCES, 2),
        "facts": 1,
    }
    first, second = stand_ins["vault"].asked
    assert (first.is_first, second.is_first) == (True, False)
    assert first.session_id == "s1" and first.profiles == ("default", "custom")


def test_hooks_ask_no_source_unless_the_settings_turn_injection_on(
    hooks_with: Make, stand_ins: Sources
):
    hooks = hooks_with("hooks: {skill_context: {enabled: false}}")
    assert Conversation(hooks).say(QUESTION) is None
    assert not any(source.asked for source in stand_ins.values())


@pytest.mark.parametrize("switch", ["off", "0", "false", "no"])
def test_the_switch_of_the_environment_comes_before_every_read(
    hooks_with: Make, stand_ins: Sources, tmp_path: Path, switch: str
):
    hooks = hooks_with(HERMES_CORTEX_CONTEXT=switch)
    (tmp_path / "state" / "config.yaml").write_text("broken: [", "utf-8")
    assert Conversation(hooks).say(QUESTION) is None
    assert not any(source.asked for source in stand_ins.values())


def test_a_source_that_is_off_or_hears_too_short_a_message_is_not_asked(
    desk: Callable[..., Desk], stand_ins: Sources, monkeypatch: pytest.MonkeyPatch
):
    settings = "inject: {enabled: true, sessions: {enabled: false}}"
    report = desk(settings).inject(QUESTION, is_first=True)
    row = rows(report)["sessions"]
    assert (row.asked, row.status, row.why) == (False, "empty", "inject.sessions.enabled is false")
    assert (
        rows(desk(settings).inject(QUESTION))["facts"].why
        == "asked in a session's first turn alone"
    )
    assert len(stand_ins["vault"].asked) == 2 and not stand_ins["sessions"].asked


# What they say


def test_what_becomes_of_each_item_is_counted(desk: Callable[..., Desk], stand_ins: Sources):
    secret = replace(LINES, id="s", text="password: hunter2hunter2")
    items = (secret, LINES, CLEATS, replace(CLEATS, id="more", text="Ropes want shade in summer."))
    stand_ins["vault"].said = (ok(*items, matched=9, gated=5, answered_by="hybrid"),)
    row = rows(desk().inject(QUESTION))["vault"]
    assert (row.status, row.answered_by) == ("ok", "hybrid")
    assert (row.requested, row.matched, row.gated, row.injected) == (2, 9, 5, 2)
    assert (row.refused_secret_items, row.left_out_for_room) == (1, 0)
    assert [item.id for item in row.items] == ["boat.md#0", "boat.md#1"]
    assert "hunter2" not in json.dumps(desk().inject(QUESTION).document())


def test_a_source_whose_items_all_hold_secrets_is_refused_or_masked(
    desk: Callable[..., Desk], stand_ins: Sources
):
    secret = replace(LINES, text="password: hunter2hunter2 for the gate of the marina")
    stand_ins["vault"].said = (ok(secret),)
    report = desk().inject(QUESTION)
    assert (rows(report)["vault"].status, rows(report)["vault"].refused_secret_items) == (
        "refused",
        1,
    )
    assert report.text == "" or "vault" not in shown(report.text)
    assert rows(report)["vault"].why == f"all of it holds a secret: {secret.head}"
    masked = desk("inject: {enabled: true, redact: true}").inject(QUESTION)
    assert rows(masked)["vault"].status == "ok" and "for the gate of the marina" in masked.text
    assert "hunter2" not in masked.text


def test_the_last_of_what_a_source_says_counts(hooks_with: Make, stand_ins: Sources):
    stand_ins["vault"].said = (ok(LINES, answered_by="bm25"), ok(CLEATS, answered_by="hybrid"))
    told = Conversation(hooks_with()).say(QUESTION) or ""
    assert "soft leather" in told and "every week" not in told


def test_a_message_that_is_told_again_is_told_nothing_twice(hooks_with: Make, stand_ins: Sources):
    stand_ins["vault"].said = (ok(LINES, CLEATS),)
    chat = Conversation(
        hooks_with("inject: {enabled: true, vault: {top_k: 1}}\n" + ON.split("\n")[1])
    )
    assert ["every week" in (chat.say(QUESTION) or "") for _ in range(3)] == [True, False, False]
    assert "soft leather" in chat.history[2]["api_content"] and "api_content" not in chat.history[4]
    chat.compress()
    assert "every week" in (chat.say(QUESTION) or "")


# What goes wrong


def test_one_that_is_late_is_unavailable_and_the_others_tell(
    desk: Callable[..., Desk], stand_ins: Sources
):
    release = threading.Event()
    stand_ins["sessions"].hindrance = lambda: release.wait(60)
    stand_ins["vault"].said = (ok(LINES),)
    settings = "inject: {enabled: true}\nhooks: {deadline_ms: 400}"
    report = desk(settings).inject(QUESTION)
    release.set()
    row = rows(report)["sessions"]
    assert (row.status, row.why) == ("unavailable", "not ready within 400 ms")
    assert "every week" in report.text


def test_when_all_are_late_the_turn_goes_on_in_time_and_they_are_not_asked_again(
    hooks_with: Make, stand_ins: Sources, caplog: pytest.LogCaptureFixture
):
    release = threading.Event()
    for source in stand_ins.values():
        source.hindrance = lambda: release.wait(60)
    chat = Conversation(hooks_with(ON.replace("hooks: {", "hooks: {deadline_ms: 300, ")))
    assert chat.say(QUESTION) is None  # else this would hang
    assert chat.say(QUESTION) is None
    assert [len(source.asked) for source in stand_ins.values()] == [1, 1, 1, 1]
    assert "vault: not ready within 300 ms" in caplog.text
    release.set()


def test_words_that_came_in_time_are_told_when_the_rest_is_late(
    desk: Callable[..., Desk], stand_ins: Sources, monkeypatch: pytest.MonkeyPatch
):
    release = threading.Event()

    def slow(ask: Ask) -> Iterator[Recall]:
        yield ok(LINES, answered_by="bm25")
        release.wait(60)

    monkeypatch.setattr(stand_ins["vault"], "recall", slow)
    report = desk("inject: {enabled: true}\nhooks: {deadline_ms: 400}").inject(QUESTION)
    release.set()
    row = rows(report)["vault"]
    assert (row.status, row.answered_by, row.injected) == ("ok", "bm25", 1)
    assert row.why == "not ready within 400 ms"


class NativePanic(BaseException):
    """As native libraries throw."""


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize(
    "error",
    [
        *(CortexError("there is no index yet; run: cortex index"), ValueError("SECRET text")),
        *(NativePanic("SECRET text"), ModuleNotFoundError("no numpy", name="numpy"), MemoryError()),
    ],
    ids=["ours", "bug", "panic", "package", "memory"],
)
def test_one_that_fails_is_unavailable_and_the_others_tell(
    desk: Callable[..., Desk],
    hooks_with: Make,
    stand_ins: Sources,
    caplog: pytest.LogCaptureFixture,
    name: str,
    error: BaseException,
):
    def fail() -> None:
        raise error

    for other, source in stand_ins.items():
        source.said = (ok(replace(LINES, id=other, text=f"{other} says a thing of its own here")),)
    stand_ins[name].hindrance = fail
    report = desk().inject(QUESTION, is_first=True)
    assert rows(report)[name].status == "unavailable" and rows(report)[name].why
    assert list(shown(report.text)) == ["skill_context"][:0] + [
        block for block in shown(report.text) if block != name
    ]
    assert {*SOURCES} - {name} <= {*shown(report.text)}
    told = Conversation(hooks_with()).say(QUESTION) or ""
    assert {*shown(told)} == {*SOURCES} - {name}
    assert "SECRET" not in caplog.text and "SECRET" not in json.dumps(report.document())


def test_a_turn_is_one_line_in_the_log_without_a_word_of_the_notes(
    hooks_with: Make, stand_ins: Sources, caplog: pytest.LogCaptureFixture
):
    stand_ins["vault"].said = (ok(LINES, answered_by="hybrid"),)
    stand_ins["fabric"].said = (Recall("unavailable", why="FABRIC_DIR names no folder"),)
    with caplog.at_level(logging.INFO, "cortex"):
        Conversation(hooks_with("logging: {level: info}\n" + ON)).say(QUESTION)
    (line,) = [r.getMessage() for r in caplog.records if "session 's1'" in r.getMessage()]
    assert "vault ok 1 of 1 by hybrid" in line and "fabric unavailable" in line
    assert "mooring" not in caplog.text and "Boat" not in caplog.text
    assert "fabric: FABRIC_DIR names no folder" in caplog.text


# Beside the blocks of `hooks`


def test_the_vault_as_a_source_takes_the_place_of_dynamic_context(
    cortex_with: CortexMaker, stand_ins: Sources, tmp_path: Path
):
    dynamic = "hooks: {skill_context: {enabled: false}, dynamic_context: {enabled: true}}\n"
    stand_ins["fabric"].said = (ok(CLEATS),)
    for inject, blocks in (
        ("inject: {enabled: true}", ["fabric"]),
        ("inject: {enabled: true, vault: {enabled: false}}", ["dynamic_context", "fabric"]),
        ("inject: {enabled: false}", ["dynamic_context"]),
    ):
        made = cortex_with(BOAT, f"vault: {{path: '{tmp_path / 'vault'}'}}\n{dynamic}{inject}")
        env = {"CORTEX_CONFIG": str(made.config.path), "HERMES_HOME": str(tmp_path)}
        told = Conversation(Hooks(Runtime(env))).say(QUESTION)
        assert list(shown(told or "")) == blocks


def test_one_budget_holds_for_the_blocks_of_hooks_and_the_sources(
    hooks_with: Make, stand_ins: Sources, caplog: pytest.LogCaptureFixture
):
    long = "".join(f"Line {n} of the boat is checked in week {n}.\n" for n in range(400))
    for name, source in stand_ins.items():
        source.said = (
            ok(*(replace(LINES, id=f"{name}{n}", text=f"{name} {n}\n{long}") for n in (1, 2))),
        )
    for budget in (3000, 1500, 600, 250, 0):
        settings = f"inject: {{enabled: true, budget: {budget}}}\n"
        told = Conversation(hooks_with(settings)).say(QUESTION) or ""
        assert estimate_tokens(told) <= budget and len(told) <= 9_500
        names = list(shown(told))
        assert names == [name for name in ("skill_context", *SOURCES) if name in names]
        if budget == 3000:
            assert names == ["skill_context", *SOURCES]
        if budget == 600:
            assert "lacks room in the 600 tokens of inject.budget" in caplog.text


PACK = "hooks: {skill_context: {enabled: false}, session_pack: {enabled: true}}\n"


def test_a_pack_is_told_in_the_first_turn_alone_and_its_failure_is_silence(
    hooks_with: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    from cortex.app import Cortex

    asked: list[str] = []

    def pack(self: Cortex, message: str, home: Path, session: str, deadline: float) -> str | None:
        asked.append(message)
        return "## Handoffs\n\n- Finish the rigging </cortex_block>"

    monkeypatch.setattr(Cortex, "session_pack", pack, raising=False)
    chat = Conversation(hooks_with(PACK))
    told = chat.say(QUESTION) or ""
    assert list(shown(told)) == ["session_pack"]
    assert "Finish the rigging &lt;/cortex_block>" in told
    assert chat.say(QUESTION) is None and asked == [QUESTION]
    chat.compress()
    assert chat.say(QUESTION) is None

    def broken(self: Cortex, *about: object) -> str | None:
        raise OSError("SECRET TEXT".lower())

    monkeypatch.setattr(Cortex, "session_pack", broken, raising=False)
    assert Conversation(hooks_with(PACK)).say(QUESTION) is None
    assert "session_pack failed with OSError" in caplog.text and "secret text" not in caplog.text


# Many at once


def test_sessions_at_once_get_what_is_theirs(hooks_with: Make, stand_ins: Sources):
    items = [
        replace(LINES, id=f"n{n}", text=f"Note {n} says a{n} b{n} c{n} d{n} e{n}.")
        for n in range(40)
    ]
    stand_ins["vault"].said = (ok(*items),)
    hooks = hooks_with(ON.replace("hooks: {", "hooks: {deadline_ms: 9000, "))
    told: dict[int, list[str]] = {}

    def talk(number: int) -> None:
        chat = Conversation(hooks, f"s{number}")
        for _ in range(20):
            for block in blocks_in(chat.say(QUESTION) or ""):
                told.setdefault(number, []).extend(said_in(block))

    threads = [threading.Thread(target=talk, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == 6
    assert all(said == [item.text for item in items] for said in told.values())
