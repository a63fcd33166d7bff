"""The source facts: what holds now, of the vault and of the host's memory, in the first turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex.config.inject import FactsSourceConfig
from cortex.errors import CortexError
from cortex.inject.facts import FactsSource, StandingNotes
from cortex.inject.source import Ask, Recall

VAULT = {
    "boiler.md": "---\ntype: fact\n---\n# Boiler\nThe boiler pressure is 1.5 bar.",
    "expired.md": "---\ntype: fact\nvalid_until: 2020-01-01\n---\nThe boiler pressure is 9 bar.",
    "other.md": "---\ntype: decision\n---\nThe boiler pressure is checked in May.",
}


class Broken:
    def standing_notes(self, types: Sequence[str], project: str | None = None, seconds: float = 0):
        raise CortexError("neither an index nor a vault; run: cortex init")


def asked(
    vault: StandingNotes, home: Path, message: str, is_first: bool = True, **settings: object
) -> Recall:
    ask = Ask(message, is_first, "s", home, ("default",), 0.0, time.monotonic() + 10)
    config = FactsSourceConfig(**settings)  # type: ignore[arg-type]
    (recall,) = FactsSource(config, vault).recall(ask)
    return recall


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def remember(home: Path, *facts: str) -> None:
    store = pytest.importorskip("plugins.memory.holographic.store")
    memory = store.MemoryStore(db_path=home / "memory_store.db")
    for fact in facts:
        memory.add_fact(fact)
    memory.close()


def test_facts_of_the_vault_that_hold_now_are_told_in_the_first_turn_alone(
    cortex_with: CortexMaker, home: Path
):
    cortex = cortex_with(VAULT)
    recall = asked(cortex, home, "what is the boiler pressure?")
    assert (recall.status, recall.answered_by) == ("ok", "index")
    (item,) = recall.items
    assert (item.id, item.label) == ("note:boiler.md", "fact")
    assert item.head == "boiler (boiler.md)"
    assert item.text == "The boiler pressure is 1.5 bar."
    later = asked(cortex, home, "what is the boiler pressure?", is_first=False)
    assert (later.status, later.why) == ("empty", "asked in a session's first turn alone")
    assert asked(cortex, home, "when do the hives swarm?").status == "empty"


def test_facts_of_the_memory_store_join_in_by_their_trust(cortex_with: CortexMaker, home: Path):
    remember(home, "The boiler pressure fell in March.")
    recall = asked(cortex_with(VAULT), home, "boiler pressure")
    assert [(item.label, item.score) for item in recall.items] == [
        ("fact", 1.0),
        ("remembered", 0.5),
    ]
    assert recall.items[1].head == "The boiler pressure fell in March."
    assert recall.items[1].why == "1.00 of the words' weight, trust 0.50"
    assert recall.answered_by == "index+memory_store"
    assert recall.matched == 2


def test_one_of_both_that_cannot_answer_is_named_and_the_other_answers(home: Path):
    alone = asked(Broken(), home, "boiler pressure")
    assert alone.status == "unavailable"
    assert alone.why == "notes: neither an index nor a vault; run: cortex init"
    remember(home, "The boiler pressure fell in March.")
    both = asked(Broken(), home, "boiler pressure")
    assert (both.status, both.answered_by) == ("ok", "memory_store")
    assert both.why == alone.why


def test_a_memory_store_that_cannot_be_read_is_named(cortex_with: CortexMaker, home: Path):
    (home / "memory_store.db").write_bytes(b"no database, " * 400)
    recall = asked(cortex_with(VAULT), home, "boiler pressure")
    assert recall.status == "ok" and len(recall.items) == 1
    assert recall.why.startswith("memory_store.db: ") and "cannot be read" in recall.why
    named = asked(cortex_with(VAULT), home, "boiler pressure", memory_store_path=home / "no.db")
    assert "there is no database at" in named.why


def test_a_natural_question_finds_the_only_fact_of_either(cortex_with: CortexMaker, home: Path):
    cortex = cortex_with({"boiler.md": VAULT["boiler.md"]})
    remember(home, "The boiler wants soft water.")
    for message in (
        "⚓ remind me, what did I tell you of the boiler? 😀",
        "Is the boiler alright?",
    ):
        found = {item.id for item in asked(cortex, home, message).items}
        assert found == {"note:boiler.md", "memory:1"}
    assert asked(cortex, home, "what is that, and who was it?").matched == 0
