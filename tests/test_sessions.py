"""Recent topics out of the host's session database: titles and times, whatever it looks like."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from cortex.errors import Unavailable
from cortex.records.sessions import SessionRow, recent_sessions, topics

NOW = 1_800_000_000.0
HOUR = 3600.0


def database(folder: Path, rows: Iterable[tuple[object, ...]]) -> Path:
    """A state.db with the host's columns that matter: id, title, source, started_at, ended_at."""
    path = folder / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, title TEXT, "
            "started_at REAL NOT NULL, ended_at REAL, archived INTEGER NOT NULL DEFAULT 0)"
        )
        connection.executemany(
            "INSERT INTO sessions (id, title, source, started_at, ended_at) VALUES (?, ?, ?, ?, ?)",
            rows,
        )
    connection.close()
    return path


def row(title: str, used: float = NOW, source: str = "cli", session: str = "s") -> SessionRow:
    return SessionRow(session, title, source, used)


def test_sessions_come_newest_first_by_their_end_or_else_their_begin(tmp_path: Path):
    path = database(
        tmp_path,
        [
            ("a", "Roof", "cli", NOW - 9 * HOUR, NOW - 1 * HOUR),
            ("b", "Boat", "cli", NOW - 2 * HOUR, None),
            ("c", "Bees", "cli", NOW - 99 * HOUR, NOW - 98 * HOUR),
        ],
    )
    found = recent_sessions(path, NOW - 24 * HOUR, 10)
    assert [(s.id, s.used) for s in found] == [("a", NOW - 1 * HOUR), ("b", NOW - 2 * HOUR)]


def test_platforms_are_chosen_before_the_limit_so_noise_crowds_nothing_out(tmp_path: Path):
    noise = [(f"c{n}", f"Job {n}", "cron", NOW, None) for n in range(50)]
    path = database(tmp_path, [*noise, ("a", "Roof", "CLI", NOW - HOUR, None)])
    assert [s.id for s in recent_sessions(path, 0, 5, exclude=["cron"])] == ["a"]
    assert [s.id for s in recent_sessions(path, 0, 5, include=["cli"])] == ["a"]


def test_the_current_and_archived_sessions_are_left_out(tmp_path: Path):
    path = database(
        tmp_path, [(i, i.upper() * 3, "cli", NOW, None) for i in ("now", "kept", "old")]
    )
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE sessions SET archived = 1 WHERE id = 'old'")
    connection.close()
    assert [s.id for s in recent_sessions(path, 0, 5, without="now")] == ["kept"]


def test_a_title_that_is_no_text_or_no_utf8_does_not_spoil_the_rest(tmp_path: Path):
    path = database(tmp_path, [("a", None, "cli", NOW, None), ("b", 7, "cli", "soon", None)])
    with sqlite3.connect(path) as connection:
        connection.execute(
            "INSERT INTO sessions (id, title, source, started_at) "
            "VALUES ('c', CAST(x'526fff66' AS TEXT), 'cli', ?)",
            [NOW],
        )
    connection.close()
    assert [s.title for s in recent_sessions(path, 0, 5)] == ["", "Ro\ufffdf"]


def test_a_database_without_the_columns_says_which(tmp_path: Path):
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT, started_at REAL)")
    connection.close()
    with pytest.raises(Unavailable, match="source, title is not there"):
        recent_sessions(path, 0, 5)


@pytest.mark.parametrize("content", [b"", b"not a database at all, just text" * 50])
def test_a_foreign_file_is_unavailable(tmp_path: Path, content: bytes):
    path = tmp_path / "state.db"
    path.write_bytes(content)
    with pytest.raises(Unavailable):
        recent_sessions(path, 0, 5)
    assert path.read_bytes() == content


def test_an_absent_database_is_unavailable_and_not_made(tmp_path: Path):
    with pytest.raises(Unavailable, match="there is no session database"):
        recent_sessions(tmp_path / "state.db", 0, 5)
    assert os.listdir(tmp_path) == []


def test_a_locked_database_is_given_up_soon(tmp_path: Path):
    path = database(tmp_path, [("a", "Roof", "cli", NOW, None)])
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(Unavailable, match="locked"):
            recent_sessions(path, 0, 5)
    finally:
        lock.close()


def test_a_view_without_end_in_place_of_the_table_is_given_up(tmp_path: Path):
    path = tmp_path / "state.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE VIEW sessions AS "
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
            "SELECT x AS id, 'T' AS title, 'cli' AS source, x AS started_at FROM n"
        )
    connection.close()
    with pytest.raises(Unavailable, match="interrupted"):
        recent_sessions(path, 0, 5)


def test_a_series_and_a_title_in_other_capitals_are_one_topic():
    found = topics(
        [
            row("Roof repair #11", NOW - 1, "telegram"),
            row("roof repair", NOW - 2),
            row("Roof Repair (no. 3)", NOW - 3),
            row("Boat", NOW - 4),
        ]
    )
    assert [(t.title, t.sessions, t.newest, t.sources) for t in found] == [
        ("Roof repair", 3, NOW - 1, (("cli", 2), ("telegram", 1))),
        ("Boat", 1, NOW - 4, (("cli", 1),)),
    ]


def test_titles_that_say_nothing_are_no_topics():
    titles = ("", "  ", "ok", "Untitled", "New chat", "SESSION", "12345", "New Session #2")
    assert topics([row(title) for title in titles]) == []


def test_a_number_that_belongs_to_the_title_stays():
    titles = ("Room no 3", "Model S3", "Say no", "#11 Downing Street")
    assert [t.title for t in topics([row(t) for t in titles])] == sorted(titles, key=str.casefold)


def test_a_title_is_one_short_line_whatever_it_holds():
    (topic,) = topics([row("Roof\n# Heading\u2028more " + "x" * 5000)])
    assert topic.title.startswith("Roof # Heading more xxx")
    assert len(topic.title) == 120 and "\n" not in topic.title


def test_a_time_that_is_none_does_not_spoil_the_rest(tmp_path: Path):
    rows = [("a", "Roof", "cli", 9e99, None), ("b", "Boat", "cli", NOW, None)]
    path = database(tmp_path, [*rows, ("c", "Bees", "cli", "soon", None)])
    assert [s.title for s in recent_sessions(path, 0, 1)] == ["Boat"]
