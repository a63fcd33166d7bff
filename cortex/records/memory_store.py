"""Facts of the host's holographic memory: its memory_store.db, read alone and closed.

The table `facts` has fact_id, content, tags, trust_score (0 to 1) and times as UTC text; facts_fts
indexes content and tags. Search by its own retriever would count each reading in the database.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Unavailable
from .messages import seconds
from .postings import Wanted, any_of, columns, forms, idf, like, reading, vocabulary

FILE = "memory_store.db"  # in a Hermes home
PART = "memory_store"
DEFAULT_TRUST = 0.5  # of a fact that has none; the host gives it to each new one
MAX_FACTS = 2_000  # with a word, the most trusted ones
MAX_CONTENT = 2_000  # characters of a fact
FEW = 100  # facts; of fewer, what is rare cannot be told: they are taken for so many

_MAX_S = 5.0
_TRUST = f"CASE typeof(trust_score) WHEN 'null' THEN {DEFAULT_TRUST} WHEN 'real' THEN trust_score "
_TRUST += "WHEN 'integer' THEN trust_score ELSE -1 END"


@dataclass(frozen=True, slots=True)
class StoredFact:
    id: int
    content: str
    trust: float  # 0 to 1
    updated: float | None  # Unix seconds
    found: frozenset[int]  # which of the words that were looked for it holds, by their numbers


@dataclass(frozen=True, slots=True)
class StoredFacts:
    facts: tuple[StoredFact, ...]  # most words, each by its weight, times trust first; then newest
    matched: int
    weights: tuple[float, ...]  # of each word: its idf, at most that of one fact, times its own
    by: str  # fts, or like where there is no full-text table


def search(
    database: Path,
    words: Sequence[Wanted],
    limit: int,
    min_trust: float,
    until: float | None = None,
) -> StoredFacts:
    """The facts that hold some of the words and are trusted so much, at most `limit`.

    until: of time.monotonic. Raises Unavailable: no such database, one of another make, locked.
    """
    with _opened(database, until) as (connection, known):
        held, by = _held(connection, words, min_trust, "tags" in known)
        (total,) = connection.execute("SELECT COUNT(*) FROM facts").fetchone()
        counts = [sum(n in numbers for numbers in held.values()) for n in range(len(words))]
        weights = [
            word.weight * idf(max(total, FEW), max(count, 1))
            for word, count in zip(words, counts, strict=True)
        ]
        facts = _facts(connection, held, _when(known))
    facts.sort(
        key=lambda fact: (
            -fact.trust * sum(weights[number] for number in fact.found),
            -(fact.updated or 0),
            -fact.id,
        )
    )
    return StoredFacts(tuple(facts[:limit]), len(facts), tuple(weights), by)


def newest(
    database: Path, min_trust: float, limit: int, max_chars: int
) -> tuple[list[StoredFact], int]:
    """(the newest facts that are trusted so much, how many there are).

    max_chars: of each that are read. Raises Unavailable, as `search` does.
    """
    with _opened(database, None) as (connection, known):
        when = _when(known)
        (matched,) = connection.execute(
            f"SELECT COUNT(*) FROM facts WHERE {_TRUST} >= ?", (max(min_trust, 0.0),)
        ).fetchone()
        rows = connection.execute(
            f"SELECT fact_id, substr(content, 1, ?), {_TRUST}, {when} FROM facts "
            f"WHERE {_TRUST} >= ? ORDER BY {when} DESC, fact_id DESC LIMIT ?",
            (max_chars, max(min_trust, 0.0), limit),
        ).fetchall()
    told = (_stored(*row) for row in rows)
    return [fact for fact in told if fact is not None], matched


@contextlib.contextmanager
def _opened(
    database: Path, until: float | None
) -> Iterator[tuple[sqlite3.Connection, AbstractSet[str]]]:
    """The database, and the columns of its facts. Raises Unavailable."""
    stop = min(time.monotonic() + _MAX_S, until if until is not None else math.inf)
    with reading(database, PART, stop) as connection:
        known = columns(connection, "facts")
        if lacking := [n for n in ("fact_id", "content", "trust_score") if n not in known]:
            what = f"facts has no {', '.join(lacking)}" if known else "no table facts"
            raise Unavailable(PART, f"{database} holds no facts as this version knows them: {what}")
        yield connection, known


def _when(known: AbstractSet[str]) -> str:
    """When a fact was last changed, as SQL."""
    told = [name for name in ("updated_at", "created_at") if name in known]
    return f"COALESCE({', '.join([*told, 'NULL', 'NULL'])})"


def _held(
    connection: sqlite3.Connection, words: Sequence[Wanted], min_trust: float, has_tags: bool
) -> tuple[dict[int, set[int]], str]:
    """fact -> words in it, for facts trusted enough; and how they were found."""
    known = vocabulary(connection, "facts_fts")
    held: dict[int, set[int]] = {}
    for number, word in enumerate(words):
        # A run of a script without spaces is one term of that table.
        if known is None or word.is_unspaced:
            text = "content || ' ' || COALESCE(tags, '')" if has_tags else "content"
            written = [form for beginning in word.beginnings for form in forms(beginning)]
            test = " OR ".join(f"{text} LIKE ? ESCAPE '\\'" for _ in written) or "0"
            values: list[str] = list(map(like, written))
        elif terms := known.terms(word):
            test = "fact_id IN (SELECT rowid FROM facts_fts WHERE facts_fts MATCH ?)"
            values = [any_of(list(terms))]
        else:
            continue
        rows = connection.execute(
            f"SELECT fact_id FROM facts WHERE {_TRUST} >= ? AND ({test}) "
            "ORDER BY trust_score DESC, fact_id DESC LIMIT ?",
            (max(min_trust, 0.0), *values, MAX_FACTS),
        )
        for (fact,) in rows:
            held.setdefault(fact, set()).add(number)
    brings = {number for number, word in enumerate(words) if word.brings}
    return {fact: n for fact, n in held.items() if n & brings}, "fts" if known else "like"


def _facts(
    connection: sqlite3.Connection, held: Mapping[int, Collection[int]], when: str
) -> list[StoredFact]:
    found = []
    for id, numbers in held.items():
        content, trust, time = connection.execute(
            f"SELECT substr(content, 1, ?), {_TRUST}, {when} FROM facts WHERE fact_id = ?",
            (MAX_CONTENT, id),
        ).fetchone()
        fact = _stored(id, content, trust, time, frozenset(numbers))
        if fact is not None:
            found.append(fact)
    return found


def _stored(
    id: int, content: Any, trust: float, time: Any, found: frozenset[int] = frozenset()
) -> StoredFact | None:
    """A row as a fact; None where it says nothing."""
    if not isinstance(content, str) or not content.strip():
        return None
    trust = min(max(float(trust), 0.0), 1.0)
    return StoredFact(id, content.strip(), trust, seconds(time, dt.UTC), found)
