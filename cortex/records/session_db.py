"""What was said in the sessions of the host's state.db: read alone, briefly, and closed."""

from __future__ import annotations

import contextlib
import datetime as dt
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from .messages import CHAT_ROLES, Message, Tally, Transcript, said, seconds
from .sessions import connect

BUSY_TIMEOUT_S = 5.0
_MAX_CHECKS = 100_000  # of 20,000 steps: some minutes, for a database that has no end
_NEEDED = {
    "sessions": ("id", "started_at"),
    "messages": ("id", "session_id", "role", "content", "timestamp"),
}
_PLAIN = "typeof({0}) IN ('integer', 'real') AND {0} BETWEEN 0 AND 1e11"


class Unfit(Exception):
    """The database cannot be read, or holds no sessions as the host writes them."""


def schema_version(database: Path) -> int | None:
    """The host's number for the tables; None when it cannot be told. Raises nothing."""
    try:
        with contextlib.closing(connect(database, timeout_s=BUSY_TIMEOUT_S)) as connection:
            if not _columns(connection, "schema_version"):
                return None
            (version,) = connection.execute("SELECT MAX(version) FROM schema_version").fetchone()
            return version if isinstance(version, int) else None
    except (sqlite3.Error, OSError, ValueError):
        return None


def read_database(
    database: Path,
    cutoff: float,
    tally: Tally,
    *,
    zone: dt.tzinfo | None = None,
    profiles: Sequence[str] = (),
    with_compacted: bool = False,
) -> list[Transcript]:
    """Sessions with a message since `cutoff`, or begun since then when they have none.

    Newest first, equal ones by id. Left out and counted: archived sessions, those of profiles
    that `profiles` does not have ("": of sessions that name none; empty: all are wanted),
    messages that were taken back or compacted away.
    with_compacted: keep the latter; the user said them all the same. Raises Unfit.
    """
    try:
        open_one = connect(database, timeout_s=BUSY_TIMEOUT_S, max_checks=_MAX_CHECKS)
        with contextlib.closing(open_one) as connection:
            return _read(connection, database, cutoff, tally, zone, profiles, with_compacted)
    except (sqlite3.Error, OSError, ValueError) as error:
        raise Unfit(f"{database} cannot be read: {error}") from None


def _read(
    connection: sqlite3.Connection,
    database: Path,
    cutoff: float,
    tally: Tally,
    zone: dt.tzinfo | None,
    profiles: Sequence[str],
    with_compacted: bool,
) -> list[Transcript]:
    connection.create_function("unix_seconds", 1, lambda value: seconds(value, zone))
    columns = {table: _columns(connection, table) for table in _NEEDED}
    for table, needed in _NEEDED.items():
        if lacking := [name for name in needed if name not in columns[table]]:
            what = f"{table} has no {', '.join(lacking)}" if columns[table] else f"no table {table}"
            raise Unfit(f"{database} holds no sessions as this version knows them: {what}")

    optional = ("source", "title", "parent_session_id", "end_reason", "chat_type", "archived")
    chosen = [
        name if name in columns["sessions"] else "NULL" for name in (*optional, "profile_name")
    ]
    sessions = connection.execute(
        f"SELECT id, {_time('started_at')}, {', '.join(chosen)} FROM sessions"
    ).fetchall()
    shown = "1"
    if "active" in columns["messages"]:  # the host itself mends a NULL there to 1
        shown = "COALESCE(active, 1) = 1"
        if with_compacted and "compacted" in columns["messages"]:
            shown = f"({shown} OR compacted = 1)"
    latest = dict(
        connection.execute(
            f"SELECT session_id, MAX({_time('timestamp')}) FROM messages WHERE {shown} "
            "GROUP BY session_id"
        ).fetchall()
    )

    found = []
    for row in sessions:
        session, started = row[0], row[1]
        source, title, parent, end_reason, chat_type, archived, profile = row[2:]
        if profiles and (profile or "") not in profiles:
            tally.skipped["sessions_of_other_profiles"] += 1
            continue
        tally.seen["state_db"] += 1
        last = latest.get(session) or started
        if last is None or last < cutoff:
            continue
        if archived:
            tally.skipped["archived_sessions"] += 1
            continue
        messages, count = _messages(connection, session, columns["messages"], shown, cutoff, tally)
        found.append(
            Transcript(
                id=_word(session),
                backend="state_db",
                path=database,
                platform=_word(source) or "unknown",
                messages=messages,
                started=started,
                last=last,
                title=_word(title),
                parent=_word(parent),
                end_reason=_word(end_reason),
                chat_type=_word(chat_type),
                raw_count=count,
            )
        )
    return sorted(found, key=lambda session: (-(session.last or 0), session.id))


def _messages(
    connection: sqlite3.Connection,
    session: object,
    columns: set[str],
    shown: str,
    cutoff: float,
    tally: Tally,
) -> tuple[tuple[Message, ...], int]:
    """(what was said in a session since the cutoff, in order; how many messages it has in all)."""
    observed = "observed" if "observed" in columns else "0"
    # The output of tools may be large, and what is older than the cutoff long; neither is read.
    roles = ", ".join("?" * len(CHAT_ROLES))
    content = f"CASE WHEN role IN ({roles}) AND {_time('timestamp')} >= ? THEN content END"
    rows = connection.execute(
        f"SELECT id, role, {content}, {_time('timestamp')} AS time, {observed}, {shown} "
        "FROM messages WHERE session_id = ? ORDER BY time, id",
        (*CHAT_ROLES, cutoff, session),
    ).fetchall()
    messages = []
    for number, role, text, time, is_observed, is_shown in rows:
        if time is None or time < cutoff:
            tally.skipped["messages_before_the_cutoff"] += 1
            continue
        tally.scanned += 1
        if role not in CHAT_ROLES:
            tally.skipped["tool_or_non_chat_messages"] += 1
        elif not is_shown:
            tally.skipped["inactive_messages"] += 1
        elif not (text := said(text)):
            tally.skipped["blank_messages"] += 1
        else:
            messages.append(Message(role, text, time, str(number), bool(is_observed)))
    return tuple(messages), len(rows)


def _time(column: str) -> str:
    return f"CASE WHEN {_PLAIN.format(column)} THEN {column} ELSE unix_seconds({column}) END"


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _word(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)
