"""The host's sessions, out of its state.db: their titles and times, never a message."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import Unavailable
from ..text import one_line

BUSY_TIMEOUT_S = 0.2  # the host writes there; what is locked longer is left for another turn
MAX_TITLE = 120  # characters
_NO_TIME = 1e11  # Unix seconds, of the year 5138: no time, and text is beyond any number
_STEPS_BETWEEN_CHECKS = 20_000  # of SQLite's machine, well under a millisecond
_MAX_CHECKS = 2_000
_BESIDE = ("-wal", "-shm", "-journal")  # what SQLite keeps beside a database that is in use
_HEADER_BYTES = 20  # the last two of which tell the way it is written and read: 2 with a log
_WITH_LOG = b"\x02\x02"


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    title: str
    source: str  # the platform: cli, telegram, ...
    used: float  # when it ended, else when it began; Unix seconds


@dataclass(frozen=True, slots=True)
class Topic:
    title: str  # on one line, without the number of a series
    sessions: int
    newest: float  # Unix seconds
    sources: tuple[tuple[str, int], ...]  # (platform, sessions), most first


def recent_sessions(
    database: Path,
    since: float,
    limit: int,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    without: str = "",
    profiles: Sequence[str] = (),
) -> list[SessionRow]:
    """Sessions used after `since`, newest first, at most `limit`.

    include, exclude: platforms, in any case; an empty `include` means all. without: the id of a
    session to leave out. profiles: if given, those of other profiles are left out: a gateway that
    serves several keeps all sessions in one database. Archived ones are left out. Raises
    Unavailable: no such database, one of another make, or locked.
    """
    if not database.is_file():
        raise Unavailable("recent_context", f"there is no session database at {database}")
    try:
        with contextlib.closing(connect(database)) as connection:
            present = {row[1] for row in connection.execute("PRAGMA table_info(sessions)")}
            lacking = {"id", "title", "source", "started_at"} - present
            if lacking:
                raise Unavailable(
                    "recent_context",
                    f"{database} holds no sessions as this version knows them: "
                    f"{', '.join(sorted(lacking))} is not there",
                )
            used = "started_at"
            if "ended_at" in present:
                used = "COALESCE(ended_at, started_at)"
            where, values = [f"{used} BETWEEN ? AND ?", "id != ?"], [since, _NO_TIME, without]
            if "archived" in present:
                where.append("COALESCE(archived, 0) = 0")
            if "profile_name" in present and profiles:
                where.append(f"COALESCE(profile_name, '') IN ('', {_marks(profiles)})")
                values += profiles
            for names, operator in ((include, "IN"), (exclude, "NOT IN")):
                if names:
                    where.append(f"lower(COALESCE(source, '')) {operator} ({_marks(names)})")
                    values += [name.casefold() for name in names]
            rows = connection.execute(
                f"SELECT id, title, source, {used} FROM sessions WHERE {' AND '.join(where)} "
                f"ORDER BY {used} DESC, id LIMIT ?",
                [*values, limit],
            ).fetchall()
    except (sqlite3.Error, OSError) as error:
        raise Unavailable("recent_context", f"{database} cannot be read: {error}") from None
    return [
        SessionRow(str(row[0]), row[1] if isinstance(row[1], str) else "", str(row[2]), row[3])
        for row in rows
        if isinstance(row[3], (int, float))
    ]


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def topics(sessions: Sequence[SessionRow]) -> list[Topic]:
    """What the sessions were about, newest first: those of one series or title together.

    A title that says nothing (`untitled`, `new chat`, two letters) is left out.
    """
    groups: dict[str, list[tuple[str, SessionRow]]] = {}
    for session in sessions:
        title = _subject(session.title)
        if not _is_noise(title):
            groups.setdefault(title.casefold(), []).append((title, session))
    found = []
    for members in groups.values():
        title, newest = max(members, key=lambda member: member[1].used)
        counted = Counter(one_line(session.source)[:MAX_TITLE] for _, session in members)
        sources = tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))
        found.append(Topic(title, len(members), newest.used, sources))
    return sorted(found, key=lambda topic: (-topic.newest, topic.title.casefold()))


# `Roof repair #11`, `Roof repair (no. 3)`: the host numbers sessions that go on with another.
_SERIES = re.compile(r"[\s\-–:,(\[]*(?:#\s?\d{1,6}|\bno\.\s?\d{1,6})[)\]]?\s*$", re.IGNORECASE)
_NOISE = {
    *("untitled", "untitled session", "untitled chat", "unbenannt", "new chat", "neuer chat"),
    *("new session", "new conversation", "chat", "session", "conversation", "hello", "test"),
}


def _subject(title: str) -> str:
    flat = " ".join(one_line(title[: 4 * MAX_TITLE]).split())
    subject = _SERIES.sub("", flat).strip() or flat
    return subject if len(subject) <= MAX_TITLE else subject[: MAX_TITLE - 1].rstrip() + "…"


def _is_noise(title: str) -> bool:
    return len(title) <= 2 or title.casefold().strip(" .…!?\"'") in _NOISE or title.isdigit()


def connect(
    database: Path, *, timeout_s: float = BUSY_TIMEOUT_S, max_checks: int = _MAX_CHECKS
) -> sqlite3.Connection:
    """The database, to be read alone; the caller closes it. Raises sqlite3.Error.

    timeout_s: for a lock. max_checks: how long all queries may take, in 20,000 steps of SQLite's
    machine, after which they are given up. Nothing is written, and no file made beside it.
    """
    how = "mode=ro&immutable=1" if _is_at_rest(database) else "mode=ro"
    uri = f"{database.absolute().as_uri()}?{how}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout_s)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    checks = iter(range(max_checks))
    # A database of somebody else's making may hold a table without end, or a view in its place.
    connection.set_progress_handler(lambda: next(checks, None) is None, _STEPS_BETWEEN_CHECKS)
    return connection


def _is_at_rest(database: Path) -> bool:
    """Whether nobody has a database with a write-ahead log open, and all of it is in its file.

    SQLite would make the log and its shared memory to read such a one, and leave both behind.
    """
    place = os.path.realpath(database)
    if not os.path.isfile(place) or any(os.path.lexists(place + end) for end in _BESIDE):
        return False
    try:
        with open(place, "rb") as file:
            return file.read(_HEADER_BYTES)[-2:] == _WITH_LOG
    except OSError:
        return False
