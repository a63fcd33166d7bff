"""What was said in sessions of a profile, out of the databases that hold them, as items."""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import Unavailable
from ..records.messages import said, seconds
from ..records.postings import Wanted, columns, reading
from ..records.recall import recall
from ..records.spoken import is_said
from ..vault.frontmatter import is_in_scope
from .excerpt import excerpt
from .gathered import LEAST_SHARE, LONGEST, MOST_MATCHED, Found, Gathered, Ground, best_first
from .guard import searched, whole_words
from .model import Asked, Item, Provenance, utc
from .profile import Profile, Store

UNTITLED = "Untitled session"
_LAST_LOOKED_AT = 8  # messages from the end, of which one says something
_MAX_TEXT = 20_000  # bytes of a message, as in records.recall
_CUT_AT = 4_000  # characters of one that may have been cut there: a character has 4 bytes at most
_RANKED = 240  # sessions, as many as records.recall ranks
_NEEDED = {"sessions": {"id", "started_at"}, "messages": {"id", "session_id", "role", "content"}}


@dataclass(frozen=True, slots=True)
class _Session:
    id: str
    title: str
    project: str | None
    last: float  # Unix seconds, of the last message; else when it began


def conversations(ground: Ground, asked: Asked) -> Gathered:
    """Sessions of the profile alone, newest first.

    With a query the best of those that hold its words, with the messages that do; else the newest
    ones, with what was said last. Left out: archived sessions, those of
    inject.sessions.exclude_sources, those that `ground` leaves out, and for a project's pack
    sessions in another's folder.
    """
    profile = ground.profile
    found: dict[str, Found] = {}
    whys: list[str] = []
    matched, read = 0, 0
    for store in profile.stores:
        if not store.database.is_file():
            if store.is_own:
                whys.append(f"there is no session database of the profile {profile.name}")
            continue
        try:
            ones, count = _in_store(store, ground, asked)
        except Unavailable as error:
            whys.append(error.why)
            continue
        read += store.is_own or bool(ones)
        matched += count
        for one in ones:
            found.setdefault(one.item.provenance.ids[0], one)
    return Gathered(best_first(list(found.values())), matched, ground.told(*whys), read > 0)


def _in_store(store: Store, ground: Ground, asked: Asked) -> tuple[list[Found], int]:
    """(items out of one database, how many sessions matched). Raises Unavailable."""
    settings = ground.vault.config.inject.sessions
    query = None if asked.query is None else searched(asked.query)
    words = [] if query is None else ground.words_of(query, settings.min_token_chars)
    with reading(store.database, "sessions", time.monotonic() + ground.seconds) as connection:
        kept = _Kept(connection, store, ground.profile)
        left_out = settings.exclude_sources
        sessions = kept.sessions(left_out, asked.project, ground.without)
        if query is None:
            newest = sorted(sessions.values(), key=lambda one: (-one.last, one.id))
            return kept.last_words(newest), len(newest)
        found = []
        if words and sessions:
            found = kept.on(words, sessions, left_out, asked, ground.deadline)
        return found[: 2 * asked.max_items], len(found)


class _Kept:
    """What one database keeps, open to be read."""

    def __init__(self, connection: sqlite3.Connection, store: Store, profile: Profile) -> None:
        self._connection, self._store, self._profile = connection, store, profile
        known = {table: columns(connection, table) for table in _NEEDED}
        if any(needed - known[table] for table, needed in _NEEDED.items()):
            raise Unavailable("sessions", "the session database is not as this version knows it")
        self._has, self._of_messages = known["sessions"], known["messages"]

    def sessions(
        self, excluded: Sequence[str], project: str | None, without: frozenset[str]
    ) -> dict[str, _Session]:
        """The sessions that may be told of, by their ids."""

        def column(name: str) -> str:
            return f"s.{name}" if name in self._has else "NULL"

        marks = ", ".join("?" * len(self._store.names))
        where = [f"COALESCE({column('profile_name')}, '') IN ({marks})"]
        values: list[object] = [*sorted(self._store.names)]
        where.append(f"COALESCE({column('archived')}, 0) = 0")
        if excluded:
            marks = ", ".join("?" * len(excluded))
            where.append(f"lower(COALESCE({column('source')}, '')) NOT IN ({marks})")
            values += [name.casefold() for name in excluded]
        of_session = f"m.session_id = s.id AND {is_said(self._of_messages)}"
        rows = self._connection.execute(
            f"SELECT s.id, {column('title')}, s.started_at, {column('cwd')}, "
            f"{column('git_repo_root')}, "
            f"(SELECT MAX({self._time()}) FROM messages m WHERE {of_session}), "
            f"EXISTS (SELECT 1 FROM messages m WHERE {of_session}) "
            f"FROM sessions s WHERE {' AND '.join(where)}",
            values,
        )
        found = {}
        for name, title, started, cwd, root, latest, has_said in rows:
            time = seconds(latest) or seconds(started)
            says_something = has_said or (isinstance(title, str) and title.strip())
            if not isinstance(name, str) or name in without or time is None or not says_something:
                continue
            own = self._project(cwd, root)
            if own is not None and not is_in_scope({"project": own}, project):
                continue
            found[name] = _Session(name, title if isinstance(title, str) else "", own, time)
        return found

    def last_words(self, newest: Sequence[_Session]) -> list[Found]:
        """An item for each session that says something, at most MOST_MATCHED."""
        found: list[Found] = []
        for session in newest:
            if len(found) == MOST_MATCHED:
                break
            rows = self._connection.execute(
                f"SELECT m.id, m.role, {_TEXT}, {self._time()} FROM messages m "
                f"WHERE m.session_id = ? AND {is_said(self._of_messages)} "
                "ORDER BY m.id DESC LIMIT ?",
                (session.id, _LAST_LOOKED_AT),
            ).fetchall()
            spoken = [(row, text) for row in rows if (text := said(row[2]))]
            if spoken or session.title:
                message = [(str(row[0]), str(row[1]), text) for row, text in spoken[:1]]
                at = seconds(spoken[0][0][3]) if spoken else None
                found.append(self._item(session, message, at, "newest"))
        return found

    def on(
        self,
        words: Sequence[Wanted],
        sessions: Mapping[str, _Session],
        left_out: Sequence[str],
        asked: Asked,
        until: float | None,
    ) -> list[Found]:
        """Items of those of the sessions that hold enough of the words, best first.

        until: of time.monotonic.
        """
        recalled = recall(
            self._store.database,
            words,
            _RANKED,
            profiles=tuple(sorted(self._store.names)),
            exclude=left_out,
            until=until,
        )
        whole = sum(recalled.weights)
        found = []
        for earlier in recalled.sessions:
            held = sum(recalled.weights[number] for number in earlier.together)
            if earlier.id in sessions and held >= LEAST_SHARE * whole and earlier.messages:
                most = asked.max_bytes // LONGEST // len(earlier.messages)
                messages = [
                    (str(one.id), one.role, excerpt(one.text, words, most))
                    for one in earlier.messages
                ]
                time = self._when(earlier.messages[0].id)
                item = self._item(sessions[earlier.id], messages, time, recalled.by)
                found.append(replace(item, share=held / whole if whole else 1.0))
        return found

    def _item(
        self,
        session: _Session,
        messages: Sequence[tuple[str, str, str]],
        time: float | None,
        engine: str,
    ) -> Found:
        """messages: (id, role, text) of each that is quoted. time: of the first of them."""
        quoted = "\n".join(f"{role}: {whole_words(text, _CUT_AT)}" for _, role, text in messages)
        title = session.title.strip() or UNTITLED
        at = session.last if time is None else time
        item = Item(
            f"{title} — {quoted}" if quoted else title,
            Provenance(
                source="state_db",
                engine=engine,
                ids=(session.id, *(number for number, _, _ in messages)),
                at=utc(at),
                at_from="session" if time is None else "message",
                profile=self._profile.name,
                project=session.project,
            ),
        )
        return Found(item, at)

    def _when(self, message: int) -> float | None:
        row = self._connection.execute(
            f"SELECT {self._time()} FROM messages m WHERE m.id = ?", (message,)
        ).fetchone()
        return None if row is None else seconds(row[0])

    def _time(self) -> str:
        return "m.timestamp" if "timestamp" in self._of_messages else "NULL"

    def _project(self, cwd: object, root: object) -> str | None:
        """The name of the folder that a session worked in: of its repository, else its own.

        A folder that the home of Hermes lies in, such as the user's, is nobody's project.
        """
        if isinstance(root, str) and (name := _last_part(root)):
            return name
        if not isinstance(cwd, str) or not cwd.strip():
            return None
        home = self._profile.home or self._store.database.parent
        place = Path(os.path.normpath(cwd))
        if place in (home, *home.parents):
            return None
        return _last_part(cwd) or None


# As bytes, for a text that begins with NUL has no length for SQLite.
_TEXT = f"substr(CAST(m.content AS BLOB), 1, {_MAX_TEXT})"


def _last_part(path: str) -> str:
    return re.split(r"[/\\]", path.strip().rstrip("/\\"))[-1]
