"""Which sessions there are to learn from: the host's database first, files by the rules after."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cortex import generated
from cortex.cli import main
from cortex.errors import UsageError
from cortex.records.transcripts import Found, Wanted, find_sessions, session_report, session_rows

NOW = dt.datetime(2026, 3, 10, 12, tzinfo=dt.UTC)
HOUR = 3600.0


def ago(hours: float) -> float:
    return NOW.timestamp() - hours * HOUR


Row = tuple[object, ...]
MESSAGES = "id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, timestamp REAL"


def database(
    path: Path,
    sessions: Iterable[Mapping[str, object]] = (),
    messages: Iterable[Mapping[str, object]] = (),
    *,
    session_columns: str = "source TEXT, title TEXT, profile_name TEXT, archived INTEGER",
    message_columns: str = "active INTEGER DEFAULT 1, compacted INTEGER, observed INTEGER",
) -> Path:
    """A state.db with what the host has there, as far as it matters."""
    extra = f", {session_columns}" if session_columns else ""
    more = f", {message_columns}" if message_columns else ""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE sessions (id TEXT PRIMARY KEY, started_at REAL{extra})")
        connection.execute(f"CREATE TABLE messages ({MESSAGES}{more})")
        for table, rows in (("sessions", sessions), ("messages", messages)):
            for row in rows:
                names, marks = ", ".join(row), ", ".join("?" * len(row))
                connection.execute(
                    f"INSERT INTO {table} ({names}) VALUES ({marks})", list(row.values())
                )
    return path


def said(session: str, text: object, hours: float = 1, role: str = "user", **more: object) -> dict:
    return {"session_id": session, "role": role, "content": text, "timestamp": ago(hours), **more}


def session(name: str, hours: float = 2, source: str = "cli", **more: object) -> dict:
    return {"id": name, "started_at": ago(hours), "source": source, **more}


def found_in(path: Path, **asked: Any) -> Found:
    return find_sessions(Wanted(path, NOW, **{"timezone": "UTC", **asked}))


def texts(found: Found) -> dict[str, list[str]]:
    return {s.id: [message.text for message in s.messages] for s in found.sessions}


# The database


def test_a_session_counts_by_its_last_message_and_is_cut_at_the_cutoff(tmp_path: Path):
    path = database(
        tmp_path / "state.db",
        [session("long", 99), session("old", 99), session("silent", 3), session("new", 5)],
        [
            said("long", "three days ago", 72),
            said("long", "an hour ago", 1),
            said("old", "two days ago", 48),
            said("new", "four hours ago", 4),
        ],
    )
    found = found_in(path)
    assert [s.id for s in found.sessions] == ["long", "silent", "new"]  # newest first
    assert texts(found) == {"long": ["an hour ago"], "silent": [], "new": ["four hours ago"]}
    report = session_report(found)
    assert report["sessions_seen_by_backend"] == {
        "state_db": 4,
        "legacy_json": 0,
        "legacy_jsonl": 0,
    }
    assert report["sessions_selected"] == 3
    assert report["messages_scanned"] == 2
    assert report["skipped"]["messages_before_the_cutoff"] == 1
    assert report["lookback_cutoff"] == "2026-03-09T12:00:00+00:00"


def test_only_chat_that_is_still_there_is_kept_and_the_rest_is_counted(tmp_path: Path):
    path = database(
        tmp_path / "state.db",
        [session("a")],
        [
            said("a", "hello"),
            said("a", "taken back", active=0),
            said("a", "output", role="tool"),
            said("a", None, role="assistant"),
            said("a", "hi", role="assistant"),
            said("a", "healed by the host", active=None),
        ],
    )
    found = found_in(path)
    assert texts(found) == {"a": ["hello", "hi", "healed by the host"]}
    skipped = session_report(found)["skipped"]
    assert skipped["tool_or_non_chat_messages"] == 1
    assert skipped["inactive_messages"] == 1
    assert skipped["blank_messages"] == 1


def test_what_the_host_compacted_was_said_all_the_same_for_who_asks(tmp_path: Path):
    path = database(
        tmp_path / "state.db",
        [session("a")],
        [said("a", "early", 3, active=0, compacted=1), said("a", "undone", 2, active=0)],
    )
    assert texts(found_in(path)) == {"a": []}
    assert texts(found_in(path, with_compacted=True)) == {"a": ["early"]}


def test_archived_sessions_and_those_of_other_profiles_are_left_out(tmp_path: Path):
    path = database(
        tmp_path / "state.db",
        [
            session("mine", profile_name="work"),
            session("anyones"),
            session("theirs", profile_name="home"),
            session("gone", archived=1),
        ],
    )
    found = found_in(path, profiles=("work", ""))
    assert {s.id for s in found.sessions} == {"mine", "anyones"}
    skipped = session_report(found)["skipped"]
    assert skipped["sessions_of_other_profiles"] == 1
    assert skipped["archived_sessions"] == 1


def test_structured_content_gives_its_text_and_injected_context_is_taken_out(tmp_path: Path):
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}]
    frame = generated.mark([generated.Block("dynamic_context", "A note.", ("00000000",))])
    path = database(
        tmp_path / "state.db",
        [session("a")],
        [said("a", "\0json:" + json.dumps(parts), 3), said("a", f"Bees?\n\n{frame}", 2)],
    )
    assert texts(found_in(path)) == {"a": ["look", "Bees?"]}


def test_the_oldest_tables_that_are_allowed_are_enough(tmp_path: Path):
    path = database(
        tmp_path / "state.db",
        [{"id": "a", "started_at": ago(1)}],
        [said("a", "hello")],
        session_columns="",
        message_columns="",
    )
    found = found_in(path, profiles=("work", ""))
    assert texts(found) == {"a": ["hello"]}
    assert found.sessions[0].platform == "unknown"


def test_times_as_text_and_in_milliseconds_are_read_and_other_things_are_none(tmp_path: Path):
    path = database(tmp_path / "state.db", session_columns="source TEXT")
    times = {"iso": "2026-03-10T11:00:00Z", "ms": ago(1) * 1000, "word": "soon", "blob": b"\xff"}
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for name, time in times.items():
            connection.execute("INSERT INTO sessions VALUES (?, ?, 'cli')", [name, time])
    assert sorted(s.id for s in found_in(path).sessions) == ["iso", "ms"]


@pytest.mark.parametrize("folder", ["a?b", "a#b", "50%", "ein Ordner", "ä"])
def test_any_path_can_be_opened(tmp_path: Path, folder: str):
    (tmp_path / folder).mkdir()
    path = database(tmp_path / folder / "state.db", [session("a")])
    assert [s.id for s in found_in(path).sessions] == ["a"]


def test_a_database_that_the_host_writes_to_is_read_without_holding_it_up(tmp_path: Path):
    path = database(tmp_path / "state.db", [session("a")], [said("a", "hello")])
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as host:
        host.execute("PRAGMA journal_mode = WAL")
        host.execute("BEGIN IMMEDIATE")
        host.execute("UPDATE sessions SET title = 'being written'")
        found = found_in(path)
        assert texts(found) == {"a": ["hello"]}
        assert found.sessions[0].title == ""
        host.execute("COMMIT")
    before = path.read_bytes()
    assert found_in(path).sessions[0].title == "being written"
    assert path.read_bytes() == before
    path.unlink()  # nothing of ours keeps it open, on any system


# Falling back


def fallback(found: Found) -> tuple[str, bool, str | None]:
    report = session_report(found)
    return report["source_backend_primary"], report["fallback_used"], report["fallback_reason"]


def jsonl(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", "utf-8")
    return path


RECENT = {"role": "user", "content": "from a file", "timestamp": ago(1)}


def test_files_are_not_looked_into_while_the_database_has_sessions(tmp_path: Path):
    path = database(tmp_path / "state.db", [session("a")], [said("a", "from the database")])
    jsonl(tmp_path / "sessions" / "b.jsonl", RECENT)
    found = found_in(path, globs=(str(tmp_path / "sessions" / "*.jsonl"),))
    assert fallback(found) == ("state_db", False, None)
    assert texts(found) == {"a": ["from the database"]}


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "state_db_missing"),
        (lambda path: path.write_bytes(b"no database" * 99), "state_db_unreadable_or_incompatible"),
        (lambda path: path.mkdir(), "state_db_unreadable_or_incompatible"),
        (lambda path: path.write_bytes(b""), "state_db_unreadable_or_incompatible"),
        (lambda path: database(path, [session("a", 999)]), "state_db_zero_eligible_sessions"),
    ],
)
def test_files_stand_in_for_a_database_that_gives_nothing(tmp_path: Path, make: Any, reason: str):
    make(tmp_path / "state.db")
    jsonl(tmp_path / "sessions" / "b.jsonl", RECENT)
    globs = (str(tmp_path / "sessions" / "*.jsonl"),)
    found = found_in(tmp_path / "state.db", globs=globs)
    assert fallback(found) == ("legacy_files", True, reason)
    assert texts(found) == {"b": ["from a file"]}
    off = found_in(tmp_path / "state.db", globs=globs, legacy_fallback=False)
    assert fallback(off) == ("state_db", False, reason)
    assert texts(off) == {}


def test_a_database_of_another_make_says_what_it_lacks(tmp_path: Path):
    with contextlib.closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT, started_at REAL)")
        connection.execute("CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT)")
    (error,) = session_report(found_in(tmp_path / "state.db"))["errors"]
    assert "messages has no content, timestamp" in error


def test_each_form_of_a_file_is_read(tmp_path: Path):
    about = {"session_id": "s3", "platform": "telegram", "title": "Roof", "messages": [RECENT]}
    (tmp_path / "1.json").write_text(json.dumps([RECENT, {"role": "tool", "content": "x"}]))
    (tmp_path / "2.json").write_text(json.dumps(RECENT))
    (tmp_path / "3.json").write_text(json.dumps(about))
    jsonl(tmp_path / "4.jsonl", {"role": "session_meta", "session_id": "s4"}, RECENT)
    found = found_in(tmp_path / "none.db", globs=(str(tmp_path / "*.json*"),))
    assert texts(found) == {name: ["from a file"] for name in ("1", "2", "s3", "s4")}
    report = session_report(found)
    assert report["sessions_seen_by_backend"] == {
        "state_db": 0,
        "legacy_json": 3,
        "legacy_jsonl": 1,
    }
    assert report["sessions_selected_by_source"] == {"telegram": 1, "unknown": 3}
    assert report["skipped"]["tool_or_non_chat_messages"] == 1


def test_a_file_is_as_recent_as_its_newest_message_else_its_name_else_itself(tmp_path: Path):
    old, new = ago(999), ago(1)
    plain = {"role": "user", "content": "no time"}
    jsonl(tmp_path / "timed.jsonl", {**plain, "timestamp": old}, {**plain, "timestamp": new})
    jsonl(tmp_path / "outdated.jsonl", {**plain, "timestamp": old})
    jsonl(tmp_path / "20260310_090000_ab.jsonl", plain)
    jsonl(tmp_path / "20260101_090000_ab.jsonl", plain)
    jsonl(tmp_path / "fresh.jsonl", plain)
    jsonl(tmp_path / "dusty.jsonl", plain)
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name, (new, new) if name != "dusty.jsonl" else (old, old))
    found = found_in(tmp_path / "none.db", globs=(str(tmp_path / "*.jsonl"),))
    assert sorted(texts(found)) == ["20260310_090000_ab", "fresh", "timed"]
    assert texts(found)["timed"] == ["no time"]  # the older one is cut off


def test_request_dumps_are_counted_and_never_read(tmp_path: Path):
    folder = tmp_path / "sessions"
    jsonl(folder / "session_a.json", RECENT)
    jsonl(folder / "request_dump_1.json", {**RECENT, "content": "never"})
    jsonl(folder / "request_dump_2.json", {**RECENT, "content": "never"})
    for pattern in ("*.json", "session_*.json"):
        found = found_in(tmp_path / "none.db", globs=(str(folder / pattern),))
        assert session_report(found)["ignored_files"] == {"request_dump": 2}
        assert texts(found) == {"a": ["from a file"]}


def test_a_bad_file_is_an_entry_and_the_others_are_read(tmp_path: Path):
    jsonl(tmp_path / "good.jsonl", RECENT)
    (tmp_path / "half.jsonl").write_text(json.dumps(RECENT) + '\n{"role": "us', "utf-8")
    (tmp_path / "no.json").write_text("{", "utf-8")
    (tmp_path / "deep.json").write_text("[" * 100_000, "utf-8")
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9)
    (tmp_path / "config.json").write_text('{"theme": "dark"}', "utf-8")
    (tmp_path / "latin.jsonl").write_bytes(
        b'{"role": "user", "content": "caf\xe9", "timestamp": "2026-03-10T11:00:00"}\r\n'
    )
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.json")
    found = found_in(tmp_path / "none.db", globs=(str(tmp_path / "*.json*"),))
    assert texts(found) == {"good": ["from a file"], "half": ["from a file"], "latin": ["café"]}
    errors = {Path(error.split(": ")[0]).name for error in session_report(found)["errors"]}
    assert errors == {"half.jsonl", "no.json", "deep.json", "picture.json", "config.json"}


def test_one_session_in_two_files_counts_once(tmp_path: Path):
    jsonl(tmp_path / "a.jsonl", {"session_id": "s"}, RECENT)
    (tmp_path / "b.json").write_text(json.dumps({"session_id": "s", "messages": [RECENT]}))
    found = found_in(tmp_path / "none.db", globs=(str(tmp_path / "*.json*"),))
    assert texts(found) == {"s": ["from a file"]}
    assert session_report(found)["skipped"]["sessions_in_two_files"] == 1


# What is told


def test_messages_come_only_on_request_and_redacted(tmp_path: Path):
    key = "ghp_" + "a1B2" * 10
    path = database(
        tmp_path / "state.db", [session("a", title="Roof")], [said("a", f"it is {key}")]
    )
    found = found_in(path)
    assert "messages" not in session_rows(found)[0]
    (row,) = session_rows(found, with_messages=True)
    assert row["messages"][0] == {
        "role": "user",
        "content": "it is [REDACTED:api_key]",
        "timestamp": "2026-03-10T11:00:00+00:00",
        "source": "state_db",
        "metadata": {"id": "1"},
    }
    assert (row["session_id"], row["source"]) == ("a", "state_db")
    assert row["metadata"] == {
        "session_source": "cli",
        "title": "Roof",
        "parent_session_id": None,
        "end_reason": None,
        "raw_message_count": 1,
    }


def test_times_are_those_of_the_zone(tmp_path: Path):
    path = database(tmp_path / "state.db", [session("a", 1)])
    found = found_in(path, timezone="Europe/Berlin")
    assert session_rows(found)[0]["started_at"] == "2026-03-10T12:00:00+01:00"
    assert session_report(found)["timezone"] == "Europe/Berlin"
    with pytest.raises(UsageError, match="there is no time zone 'Mars/Base'; give one such as"):
        found_in(path, timezone="Mars/Base")
    with pytest.raises(UsageError, match="'europe/berlim'; give Europe/Berlin, or none"):
        found_in(path, timezone="europe/berlim")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "vault").mkdir()
    for name in ("", "profiles/work"):
        (tmp_path / name / "cortex").mkdir(parents=True)
        (tmp_path / name / "cortex" / "config.yaml").write_text(
            f"vault: {{path: '{tmp_path / 'vault'}'}}\nembeddings: {{model: hashing}}\n", "utf-8"
        )
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["session-sources", "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_each_profile_reads_the_database_of_its_own_home(home, capsys, monkeypatch):
    now = dt.datetime.now().timestamp()
    for folder, name in ((home, "root"), (home / "profiles" / "work", "work")):
        database(folder / "state.db", [{"id": name, "started_at": now, "source": "cli"}])
    assert [row["session_id"] for row in printed(capsys)["sessions"]] == ["root"]
    monkeypatch.setenv("HERMES_HOME", str(home / "profiles" / "work"))
    report = printed(capsys)
    assert [row["session_id"] for row in report["sessions"]] == ["work"]
    assert report["schema_version"] == 1
    assert report["state_db_path"] == str(home / "profiles" / "work" / "state.db")


def test_a_profile_that_is_shown_the_default_ones_database_takes_its_own_alone(
    home, capsys, monkeypatch
):
    """The host writes no profile name into sessions of the default profile."""
    now = dt.datetime.now().timestamp()
    names = {"of the default": None, "of work": "work", "of another": "play"}
    database(
        home / "state.db",
        [
            {"id": name, "started_at": now, "source": "cli", "profile_name": profile}
            for name, profile in names.items()
        ],
    )
    assert [row["session_id"] for row in printed(capsys)["sessions"]] == ["of the default"]
    monkeypatch.setenv("HERMES_HOME", str(home / "profiles" / "work"))
    report = printed(capsys, "--state-db-path", str(home / "state.db"))
    assert [row["session_id"] for row in report["sessions"]] == ["of work"]
    assert report["skipped"]["sessions_of_other_profiles"] == 2


def test_what_was_left_out_is_told_in_words(home, capsys):
    now = dt.datetime.now().timestamp()
    database(
        home / "state.db",
        [{"id": "a", "started_at": now, "source": "cli"}],
        [
            {"session_id": "a", "role": role, "content": text, "timestamp": time}
            for role, text, time in (
                ("tool", "x", now),
                ("user", "", now),
                ("user", "", now),
                ("user", "old", now - 99 * HOUR),
            )
        ],
    )
    assert main(["session-sources"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "left out" in line]
    assert told == [
        "left out:  1 message of tools",
        "left out:  2 messages without text",
        "left out:  1 message from before that time",
    ]


def test_the_document_is_whole_when_there_is_nothing(home, capsys):
    report = printed(capsys)
    assert report["sessions"] == [] and report["sessions_selected"] == 0
    assert report["fallback_reason"] == "state_db_missing"


def test_settings_say_what_is_not_given(home, capsys):
    config = home / "cortex" / "config.yaml"
    config.write_text(
        config.read_text("utf-8")
        + "cron: {nightly_promotion: {lookback_days: 3, timezone: Asia/Tokyo, "
        + "legacy_fallback_enabled: false, state_db_path: other.db}}\n",
        "utf-8",
    )
    report = printed(capsys)
    assert report["lookback_days"] == 3
    assert report["timezone"] == "Asia/Tokyo"
    assert report["fallback_used"] is False
    assert Path(report["state_db_path"]).name == "other.db"
    given = printed(capsys, "--lookback-days", "0.5", "--timezone", "UTC")
    assert (given["lookback_days"], given["timezone"]) == (0.5, "UTC")


@pytest.mark.parametrize("days", ["0", "-1", "4000", "x"])
def test_a_wrong_number_of_days_is_asked_wrongly(home, capsys, days):
    assert main(["session-sources", "--lookback-days", days]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "--lookback-days" in err and "lookback_days" not in err


def test_a_database_that_cannot_be_read_is_told_with_what_to_do(home, capsys):
    (home / "state.db").write_bytes(b"no database" * 99)
    assert main(["session-sources"]) == 0
    *_, error, remedy = capsys.readouterr().out.splitlines()
    assert error.startswith("error:     ") and error.endswith("file is not a database")
    assert remedy == "to do:     mend that database, or name another with --state-db-path"


def test_a_named_database_that_is_not_there_is_told_and_the_files_are_read(home, capsys):
    assert main(["session-sources", "--state-db-path", "/nope/state.db"]) == 0
    out, err = capsys.readouterr()
    assert err == "cortex: there is no file /nope/state.db, which --state-db-path names\n"
    told = "read from: nothing, because there is no database, and there are no session files\n"
    assert told in out
    jsonl(home / "sessions" / "a.jsonl", {"role": "user", "content": "x", "timestamp": time.time()})
    assert main(["session-sources"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "read from: session files, because there is no database\n" in out
