"""Facts of the host's holographic memory, in databases that its own plugin has made."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cortex.errors import Unavailable
from cortex.inject.words import wanted_of
from cortex.records.memory_store import StoredFacts, search

store = pytest.importorskip("plugins.memory.holographic.store")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "memory_store.db"
    memory = store.MemoryStore(db_path=path)
    memory.add_fact("The boathouse gutter is of copper.", tags="roof")
    memory.add_fact("The gutter of the shed leaks.")
    memory.add_fact("The hives swarm in May.")
    memory.close()
    yield path


def sql(database: Path, *statements: str) -> None:
    with closing(sqlite3.connect(database)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def found(database: Path, message: str, limit: int = 10, min_trust: float = 0.3) -> StoredFacts:
    return search(database, wanted_of(message, 2), limit, min_trust, time.monotonic() + 3)


def contents(facts: StoredFacts) -> list[str]:
    return [fact.content for fact in facts.facts]


def test_facts_come_by_their_words_in_any_form(database: Path):
    facts = found(database, "are the gutters copper?")
    assert contents(facts) == [
        "The boathouse gutter is of copper.",
        "The gutter of the shed leaks.",
    ]
    assert (facts.by, facts.matched) == ("fts", 2)
    assert facts.facts[0].trust == 0.5 and facts.facts[0].found == frozenset({0, 1})


def test_tags_are_searched_too(database: Path):
    assert contents(found(database, "roof")) == ["The boathouse gutter is of copper."]


def test_trust_weighs_and_too_little_of_it_leaves_a_fact_out(database: Path):
    sql(database, "UPDATE facts SET trust_score = 0.9 WHERE content LIKE '%shed%'")
    assert contents(found(database, "gutter"))[0] == "The gutter of the shed leaks."
    assert contents(found(database, "gutter", min_trust=0.6)) == ["The gutter of the shed leaks."]


def test_equal_facts_come_newest_first(database: Path):
    sql(
        database,
        "UPDATE facts SET updated_at = '2026-05-30 10:00:00' WHERE content LIKE '%shed%'",
        "UPDATE facts SET updated_at = '2026-05-29 10:00:00' WHERE content LIKE '%copper%'",
    )
    facts = found(database, "gutter")
    assert contents(facts)[0] == "The gutter of the shed leaks."
    assert facts.facts[0].updated == 1_780_135_200.0  # 2026-05-30 10:00 UTC


def test_without_its_full_text_table_letters_are_looked_for(database: Path):
    sql(
        database,
        "DROP TRIGGER facts_ai",
        "DROP TRIGGER facts_ad",
        "DROP TRIGGER facts_au",
        "DROP TABLE facts_fts",
    )
    facts = found(database, "100% Gutter_copper")
    assert facts.by == "like"
    assert contents(facts)[0] == "The boathouse gutter is of copper."


def test_scripts_without_spaces_are_found(database: Path):
    memory = store.MemoryStore(db_path=database)
    memory.add_fact("水族館は月曜日に休みます。")
    memory.close()
    assert contents(found(database, "水族館はいつ休みますか")) == ["水族館は月曜日に休みます。"]


def test_odd_values_are_no_reason_to_fail(database: Path):
    sql(
        database,
        "UPDATE facts SET trust_score = NULL, updated_at = 'noon' WHERE content LIKE '%copper%'",
        "UPDATE facts SET trust_score = 'very' WHERE content LIKE '%shed%'",
        "INSERT INTO facts (content, trust_score) VALUES (x'00ff', 9e999)",
        "INSERT INTO facts (content, trust_score) VALUES ('the gutter is new', 7)",
    )
    facts = found(database, "gutter")
    assert [(fact.content, fact.trust) for fact in facts.facts] == [
        ("the gutter is new", 1.0),
        ("The boathouse gutter is of copper.", 0.5),
    ]


@pytest.mark.parametrize(
    "message",
    ['gutter" OR "hives', "NEAR(gutter) content:x", "gutter* -gutter (", "'; DROP TABLE facts --"],
)
def test_nothing_that_a_person_writes_becomes_syntax(database: Path, message: str):
    assert found(database, f"{message} gutter").matched >= 2
    assert contents(found(database, "hives")) == ["The hives swarm in May."]


def test_what_cannot_be_read_is_unavailable(database: Path, tmp_path: Path):
    with pytest.raises(Unavailable, match="there is no database at"):
        found(tmp_path / "none.db", "gutter")
    with pytest.raises(Unavailable, match="there is no database at"):
        found(tmp_path, "gutter")
    other = tmp_path / "other.db"
    sql(other, "CREATE TABLE facts (fact_id INTEGER PRIMARY KEY, content TEXT)")
    with pytest.raises(Unavailable, match="facts has no trust_score"):
        found(other, "gutter")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"not a database, " * 400)
    with pytest.raises(Unavailable, match="cannot be read"):
        found(broken, "gutter")


def test_a_locked_database_is_given_up_soon(database: Path):
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unavailable, match="locked"):
            found(database, "gutter")


def test_reading_counts_nothing_in_the_database(database: Path):
    before = database.read_bytes()
    assert found(database, "gutter").matched == 2
    assert database.read_bytes() == before
