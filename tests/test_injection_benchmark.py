"""benchmarks/injection, on conversations made here."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from shared import CHECKOUT
from test_benchmarks import write_questions

pytest.importorskip("hermes_state")
sys.path.append(str(CHECKOUT))

from benchmarks.injection.conversations import read_conversations, write_sessions

NOTE = """---
title: "Ada and Ben, session {number}"
date: "2026-05-{number:02}T10:30"
---

# Ada and Ben, session {number}

**Ada:** {first}

**Ben:** {second}
"""
TALKS = {
    "talk-1/talk-1 session 01.md": ("The gutter of the boathouse leaks.", "It wants solder."),
    "talk-1/talk-1 session 02.md": ("When do the hives swarm?", "The hives swarm in May."),
    "talk-2/talk-2 session 03.md": ("The anchor chain rusted.", "Ninety links of it?"),
}


@pytest.fixture
def collections(tmp_path: Path) -> Path:
    """A folder of collections: conversations, and two that they know nothing of."""
    root = tmp_path / "eval"
    for number, (name, (first, second)) in enumerate(TALKS.items(), start=1):
        path = root / "locomo-dev" / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTE.format(number=number, first=first, second=second), "utf-8")
    notes = list(TALKS)
    write_questions(
        root / "locomo-dev",
        "",
        {"q1": "What did Ada say of the leaking gutter?", "q2": "Which chain rusted, Ada?"},
        {"q1": {notes[0]: 1}, "q2": {notes[2]: 1}},
    )
    for name in ("xquad-en", "scifact"):
        folder = root / name / "vault"
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("# Proteins\n", "utf-8")
        write_questions(
            folder.parent, "", {"s1": "Do proteins fold in cold saline?"}, {"s1": {"a.md": 1}}
        )
    return root


def test_each_conversation_becomes_a_session_as_the_host_writes_them(collections: Path):
    conversations = read_conversations(collections / "locomo-dev" / "vault")
    database = collections / "state.db"
    notes = write_sessions(database, conversations)
    assert list(notes.values()) == list(TALKS)
    with closing(sqlite3.connect(database)) as connection:
        session = connection.execute(
            "SELECT title, started_at, ended_at, message_count FROM sessions ORDER BY started_at"
        ).fetchone()
        messages = connection.execute(
            "SELECT role, content, timestamp FROM messages WHERE session_id = ?",
            (next(iter(notes)),),
        ).fetchall()
    began = 1_777_631_400.0  # 2026-05-01 10:30 UTC
    assert session == ("Ada and Ben, session 1", began, began + 60.0, 2)
    assert messages == [
        ("user", "Ada: The gutter of the boathouse leaks.", began),
        ("assistant", "Ben: It wants solder.", began + 30.0),
    ]


@pytest.mark.slow
def test_the_benchmark_prints_evidence_and_false_injections_for_each_way(collections: Path):
    report = collections / "report.json"
    words = ("--model", "hashing", "--each", "--thresholds", "0.35", "--json", str(report))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.injection", "--eval", str(collections), *words],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(report.read_text("utf-8"))["rows"]
    assert [(row["mode"], row["sources"]) for row in rows] == [
        (mode, sources)
        for mode in ("one database", "one for each conversation")
        for sources in ("sessions", "vault", "both")
    ]
    for row in rows:
        if row["sources"] != "vault":
            assert (row["turns"], row["evidence"], row["false"]) == (2, 1.0, 0.0)
    assert "below 0.85" not in done.stdout.splitlines()[1]
