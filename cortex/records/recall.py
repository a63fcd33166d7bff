"""Earlier sessions that hold words, out of the host's state.db: ranked, with their best messages.

A session scores by BM25 over sessions, where a word counts by the messages that hold it, plus the
BM25 over messages of its best two that are near each other.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ..errors import Unavailable
from ..types import Json
from .beside import Beside
from .messages import JSON_CONTENT, said, seconds
from .postings import Wanted, columns, idf, reading
from .spoken import ROLES, Spoken, is_active

NEAR = 4  # two messages whose numbers differ by no more are read together; calls lie between them
K1, B = 1.2, 0.75
PAIR = 1.0  # what the best two messages weigh beside the whole session
WHEN = 8.0  # what it weighs that a session began when the question says: as much as a rare word
PAIR_B, USUAL = 0.4, 300  # how much their length counts, in bytes of one message
FEW_MESSAGES, FEW_SESSIONS = 1_000, 100  # of fewer, what is rare cannot be told: taken for so many

_LOOKED_AT = 80  # sessions, the best by their words
_READ = 12  # messages of a session, the best by their words, of which pairs are made
_REPEATS = 6  # times that a session is looked through for more than the question
_MAX_LINEAGE = 1_000
_MAX_HISTORY = 4_000  # messages, the newest
_MAX_TEXT = 20_000  # bytes of a message
_MAY_BE_CUT = 500  # characters at its end: half a secret looks like none
_MAX_JSON = 1_000_000  # bytes of one in parts; a picture may be among them
_MAX_S = 5.0
_PART = "sessions"
_NEEDED = {"sessions": ("id", "started_at"), "messages": ("id", "session_id", "role", "content")}


@dataclass(frozen=True, slots=True)
class Quoted:
    id: int
    role: str  # user or assistant
    text: str
    time: float | None  # Unix seconds


@dataclass(frozen=True, slots=True)
class Earlier:
    """A session that holds some of the words."""

    id: str
    title: str  # "" when it has none
    started: float | None  # Unix seconds
    score: float
    found: frozenset[int]  # which of the words it holds, by their numbers
    together: frozenset[int]  # which of these its best messages hold
    messages: tuple[Quoted, ...]  # these messages, in order; at most four


@dataclass(frozen=True, slots=True)
class Recalled:
    sessions: tuple[Earlier, ...]  # best first; equal ones newest first, then by id
    matched: int  # sessions that hold a word, without those that are left out unseen
    # Of each word: its idf over messages, times its own weight. One that no message holds weighs as
    # if one did, for it may be one of the question alone.
    weights: tuple[float, ...]
    by: str  # fts, or like where there is no full-text table


def recall(
    database: Path,
    words: Sequence[Wanted],
    limit: int,
    *,
    session_id: str = "",
    profiles: Collection[str] = (),
    exclude: Collection[str] = (),
    nearness: Callable[[float | None], float] = lambda started: 0.0,
    tells: Callable[[str], bool] = lambda text: True,
    now: float | None = None,
    until: float | None = None,
) -> Recalled:
    """The sessions that hold most of the words, at most `limit`.

    nearness: of when a session began to what is asked, 0 to 1; it ranks, and brings none in.
    tells: whether a text says more than the question itself. Of a session that holds one that does
    not, its answer is told, and what else there is; a session without either is left out.
    now: Unix seconds; with it, what is said in a conversation that goes on beside the one that
    asks counts only from before that one began. It goes on while nothing marks its end and its
    last message is not older than beside.OVER_AFTER_S.

    Left out: the conversation of `session_id` (see lineage), archived sessions, those of
    platforms in `exclude` and of profiles that are not in `profiles` (if there are any; those that
    name none stay), what was taken back, compacted away or overheard, and all but what the user
    and the assistant said. until: of time.monotonic. Raises Unavailable: no such database, one of
    another make, locked, or too slow.
    """
    stop = min(time.monotonic() + _MAX_S, until if until is not None else math.inf)
    with reading(database, _PART, stop) as connection:
        known = _columns(connection, database)
        own = list(_lineage(connection, known["sessions"], session_id))
        spoken = Spoken(
            connection,
            known,
            exclude=[name.casefold() for name in exclude],
            profiles=list(profiles),
            without=own,
        )
        beside = None if now is None else Beside(connection, known, own, now)
        finding = _Finding(connection, known, spoken, beside, nearness, tells)
        return finding.recall(words, limit)


def lineage(database: Path, session_id: str) -> frozenset[str]:
    """The ids of all sessions of one conversation, its own included.

    These are its parents up to the first and whatever began in one of them: what goes on after a
    compression, branches, subagents. Raises Unavailable.
    """
    with reading(database, _PART, time.monotonic() + _MAX_S) as connection:
        known = _columns(connection, database)["sessions"]
        return frozenset(_lineage(connection, known, session_id))


def history(database: Path, session_id: str) -> list[dict[str, Json]]:
    """The active messages of a session, as the host gives them to its hooks: `role`, `content`,
    and `api_content` where it differs. Of a long one the newest. Raises Unavailable.
    """
    with reading(database, _PART, time.monotonic() + _MAX_S) as connection:
        known = _columns(connection, database)["messages"]
        sent = "api_content" if "api_content" in known else "NULL"
        rows = connection.execute(
            f"SELECT role, CASE WHEN role IN {ROLES} THEN content END, "
            f"CASE WHEN role = 'user' THEN {sent} END FROM messages "
            f"WHERE session_id = ? AND {is_active(known)} ORDER BY id DESC LIMIT ?",
            (session_id, _MAX_HISTORY),
        ).fetchall()
    return [_as_told(*row) for row in reversed(rows)]


def _as_told(role: Any, content: Any, sent: Any) -> dict[str, Json]:
    import json

    if isinstance(content, str) and content.startswith(JSON_CONTENT):
        with contextlib.suppress(ValueError, RecursionError):
            content = json.loads(content[len(JSON_CONTENT) :])
    message = {"role": str(role), "content": content if content is not None else ""}
    return {**message, "api_content": sent} if isinstance(sent, str) else message


def _columns(connection: sqlite3.Connection, database: Path) -> dict[str, set[str]]:
    found = {}
    for table, needed in _NEEDED.items():
        found[table] = columns(connection, table)
        if lacking := [name for name in needed if name not in found[table]]:
            what = f"{table} has no {', '.join(lacking)}" if found[table] else f"no table {table}"
            raise Unavailable(
                _PART, f"{database} holds no sessions as this version knows them: {what}"
            )
    return found


def _lineage(
    connection: sqlite3.Connection, columns: AbstractSet[str], session_id: str
) -> Iterator[str]:
    if not session_id:
        return
    yield session_id
    if "parent_session_id" not in columns:
        return
    first, above = session_id, {session_id}
    while len(above) < _MAX_LINEAGE:
        row = connection.execute(
            "SELECT parent_session_id FROM sessions WHERE id = ?", (first,)
        ).fetchone()
        if row is None or not isinstance(row[0], str) or not row[0] or row[0] in above:
            break
        first = row[0]
        above.add(first)
    known, last = set(above), list(above)
    yield from above - {session_id}
    while last and len(known) < _MAX_LINEAGE:
        rows = connection.execute(
            "SELECT id FROM sessions WHERE parent_session_id = ?", (last.pop(),)
        ).fetchall()
        begun = {row[0] for row in rows if isinstance(row[0], str)} - known
        yield from begun
        known |= begun
        last += begun


@dataclass(frozen=True, slots=True)
class _Ranked:
    id: str
    title: str
    started: float | None
    score: float
    rows: Mapping[int, AbstractSet[int]]  # message -> words


class _Finding:
    """One question put to one database."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Mapping[str, set[str]],
        spoken: Spoken,
        beside: Beside | None,
        nearness: Callable[[float | None], float],
        tells: Callable[[str], bool],
    ) -> None:
        self._connection = connection
        self._sessions, self._messages = columns["sessions"], columns["messages"]
        self._spoken, self._beside = spoken, beside
        self._nearness, self._tells = nearness, tells

    def recall(self, words: Sequence[Wanted], limit: int) -> Recalled:
        asked, by = self._spoken.words(words)
        (messages,) = self._one("SELECT MAX(id) - MIN(id) + 1 FROM messages")
        (sessions,) = self._one("SELECT COUNT(*) FROM sessions")
        usual = max(messages or 0, 1) / max(sessions, 1)
        messages, sessions = max(messages or 0, FEW_MESSAGES), max(sessions, FEW_SESSIONS)
        weights = [0.0] * len(words)
        for word in asked:
            weights[word.number] = word.wanted.weight * idf(messages, max(word.count, 1))

        held: dict[str, dict[int, set[int]]] = {}  # session -> message -> words
        for word in asked:
            for message, session in word.rows.items():
                held.setdefault(session, {}).setdefault(message, set()).add(word.number)
        brings = {word.number for word in asked if word.wanted.brings}
        found = {
            session: rows
            for session, rows in held.items()
            if any(brings & numbers for numbers in rows.values())
        }
        in_sessions = {
            word.number: len({session for session in word.rows.values()}) for word in asked
        }
        rarity = {
            word.number: word.wanted.weight * idf(sessions, in_sessions[word.number])
            for word in asked
        }
        ranked = self._ranked(found, rarity, weights, usual)
        told = (self._told(one, weights) for one in ranked)
        first = tuple(islice((earlier for earlier in told if earlier is not None), limit))
        return Recalled(first, len(found), tuple(weights), by)

    def _ranked(
        self,
        found: Mapping[str, Mapping[int, AbstractSet[int]]],
        rarity: Mapping[int, float],
        weights: Sequence[float],
        usual: float,
    ) -> list[_Ranked]:
        """The sessions that may be told, of the best by their words."""
        counts = {
            session: Counter(chain.from_iterable(rows.values())) for session, rows in found.items()
        }

        def score(session: str, length: float) -> float:
            norm = K1 * (1 - B + B * length / usual)
            return sum(
                rarity[number] * count * (K1 + 1) / (count + norm)
                for number, count in counts[session].items()
            )

        best = sorted(found, key=lambda session: (-score(session, usual), session))
        ranked = []
        for session in best[:_LOOKED_AT]:
            row = self._session(session)
            rows = found[session]
            if self._beside is not None:
                rows = self._beside.earlier(session, rows)
            if row is None or not rows:
                continue
            (length,) = self._one("SELECT COUNT(*) FROM messages WHERE session_id = ?", session)
            _, together = self._best_pair(rows, weights)
            total = score(session, length) + PAIR * together + WHEN * self._nearness(row[1])
            ranked.append(_Ranked(session, *row, total, rows))
        return sorted(ranked, key=lambda one: (-one.score, -(one.started or 0), one.id))

    def _best_pair(
        self, rows: Mapping[int, AbstractSet[int]], weights: Sequence[float]
    ) -> tuple[tuple[int, ...], float]:
        """The message, or the two near each other, that score best, and how much they score."""
        worth = {message: sum(weights[number] for number in held) for message, held in rows.items()}
        ids = sorted(rows, key=lambda message: (-worth[message], message))[:_READ]
        marks = ", ".join("?" * len(ids))
        lengths = dict(
            self._connection.execute(
                f"SELECT id, length(CAST(content AS BLOB)) FROM messages WHERE id IN ({marks})", ids
            ).fetchall()
        )
        best: tuple[tuple[int, ...], float] = ((), -1.0)
        for message in sorted(ids):
            partners = ((other,) for other in ids if 0 < other - message <= NEAR)
            for several in ((), *partners):
                pair = (message, *several)
                held = frozenset().union(*(rows[one] for one in pair))
                length = sum(lengths.get(one) or 0 for one in pair)
                if not several:
                    length += USUAL
                norm = K1 * (1 - PAIR_B + PAIR_B * length / (2 * USUAL))
                counts = {n: sum(n in rows[one] for one in pair) for n in held}
                score = sum(
                    weights[n] * count * (K1 + 1) / (count + norm) for n, count in counts.items()
                )
                if score > best[1] + 1e-9:
                    best = (pair, score)
        return best

    def _session(self, session: str) -> tuple[str, float | None] | None:
        """(title, when it began) of a session; None where there is none."""
        title = "title" if "title" in self._sessions else "NULL"
        row = self._one(f"SELECT {title}, started_at FROM sessions WHERE id = ?", session)
        return (row[0] if isinstance(row[0], str) else "", seconds(row[1])) if row else None

    def _told(self, one: _Ranked, weights: Sequence[float]) -> Earlier | None:
        """A session with what it says on the question; None where that is the question alone."""
        rows = dict(one.rows)
        answered: list[Quoted] = []  # the question, and its answer
        best: list[Quoted] = []
        for _ in range(_REPEATS):
            ids = self._best_pair(rows, weights)[0]
            fullest = max(ids, key=lambda id: len(rows[id]))
            if len(rows[fullest]) == len(frozenset().union(*(rows[id] for id in ids))):
                ids = (fullest, *self._next(one.id, fullest))
            best = [quoted for id in ids if (quoted := self._quoted(id)) is not None]
            repeated = [
                quoted for quoted in best if quoted.id in rows and not self._tells(quoted.text)
            ]
            if not repeated:
                break
            for quoted in repeated:
                del rows[quoted.id]
                if not answered:
                    after = map(self._quoted, self._next(one.id, quoted.id))
                    answers = [a for a in after if a is not None and self._tells(a.text)]
                    answered = [quoted, *answers] if answers else []
            best = []
            if not rows:
                break
        messages = {quoted.id: quoted for quoted in (*best, *answered)}
        if not messages:
            return None
        everything = frozenset().union(*one.rows.values())
        together = frozenset().union(*(one.rows.get(id, ()) for id in messages))
        in_order = tuple(messages[id] for id in sorted(messages))
        return Earlier(one.id, one.title, one.started, one.score, everything, together, in_order)

    def _next(self, session: str, message: int) -> tuple[int, ...]:
        """The message after one that stands alone: its answer."""
        spoken = self._spoken
        row = self._one(
            "SELECT m.id FROM messages AS m CROSS JOIN sessions AS s ON s.id = m.session_id "
            f"WHERE m.id > ? AND m.id <= ? AND m.session_id = ? AND {spoken.condition} "
            "ORDER BY m.id LIMIT 1",
            *(message, message + 3 * NEAR, session, *spoken.values),
        )
        return () if row is None else (row[0],)

    def _quoted(self, message: int) -> Quoted | None:
        # A text that begins with NUL has no length for SQLite, its bytes have.
        when = "timestamp" if "timestamp" in self._messages else "NULL"
        row = self._one(
            f"SELECT {when}, role, substr(CAST(content AS BLOB), 1, CASE WHEN "
            "substr(CAST(content AS BLOB), 1, 6) = CAST(? AS BLOB) THEN ? ELSE ? END) "
            "FROM messages WHERE id = ?",
            *(JSON_CONTENT, _MAX_JSON, _MAX_TEXT, message),
        )
        if row is None or not (text := said(row[2])):
            return None
        if len(row[2]) == _MAX_TEXT:
            text = text[:-_MAY_BE_CUT]
        return Quoted(message, str(row[1]), text, seconds(row[0]))

    def _one(self, query: str, *values: object) -> Any:
        return self._connection.execute(query, values).fetchone()
