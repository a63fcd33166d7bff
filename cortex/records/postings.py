"""Which rows of a full-text table of SQLite hold a word, told by the table's own terms.

A word is looked up among the terms that the table holds, so what is meant is decided by who asks,
and a query is made of whole terms, quoted: nothing that a person wrote is ever read as syntax.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import Unavailable
from .sessions import connect

MAX_TERMS = 300  # of a word; those of most rows count

_LAST = "\U0010ffff"
_STEPS = 2_000  # of SQLite's machine, between two looks at the clock


@contextlib.contextmanager
def reading(database: Path, part: str, until: float) -> Iterator[sqlite3.Connection]:
    """A database open to be read, until a time of time.monotonic; closed afterwards.

    part: what is unavailable when it cannot be read. Raises Unavailable, also for whatever SQLite
    raises inside.
    """
    if not database.is_file():
        raise Unavailable(part, f"there is no database at {database}")
    try:
        with contextlib.closing(connect(database)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            yield connection
    except (sqlite3.Error, OSError, ValueError, OverflowError) as error:
        why = "took too long" if "interrupted" in str(error) else f"cannot be read: {error}"
        raise Unavailable(part, f"{database} {why}") from None


def columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """The names of a table's columns; none where there is no such table. table: a name of ours."""
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A word to look for."""

    beginnings: tuple[str, ...]  # in lower case: what its terms begin with
    takes: Callable[[str], bool]  # whether a term that begins so is a form of the word
    brings: bool = True  # False: only ranks what other words have found
    is_unspaced: bool = False  # of a script without spaces: its terms are runs of characters
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The terms of a full-text table."""

    connection: sqlite3.Connection
    table: str
    name: str

    def terms(self, wanted: Wanted) -> dict[str, int]:
        """The terms that are forms of a word, and how many rows hold each. Raises sqlite3.Error."""
        found: dict[str, int] = {}
        for beginning in wanted.beginnings:
            rows = self.connection.execute(
                f"SELECT term, doc FROM temp.{self.name} WHERE term >= ? AND term < ? "
                "ORDER BY doc DESC, term LIMIT ?",
                (beginning, beginning + _LAST, MAX_TERMS),
            )
            found |= {term: rows for term, rows in rows if wanted.takes(term)}
        return found


def vocabulary(connection: sqlite3.Connection, table: str) -> Vocabulary | None:
    """The terms of a table; None where there is no full-text table of this name.

    table: a name of ours, never one from outside.
    """
    name = f"terms_of_{table}"
    try:
        connection.execute(
            f"CREATE VIRTUAL TABLE temp.{name} USING fts5vocab('main', '{table}', 'row')"
        )
        connection.execute(f"SELECT term FROM temp.{name} LIMIT 1").fetchone()
        connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH '\"a\"' LIMIT 1")
    except sqlite3.DatabaseError as error:  # a damaged table is none: the texts may be whole
        if "locked" in str(error) or "interrupted" in str(error):
            raise
        return None
    return Vocabulary(connection, table, name)


def any_of(terms: Sequence[str]) -> str:
    """A query of FTS5 for rows that hold one of the terms, as they are."""
    quoted = (term.replace("\0", "").replace('"', '""') for term in terms)
    return " OR ".join(f'"{term}"' for term in quoted)


def like(beginning: str) -> str:
    r"""A pattern of LIKE, with ESCAPE '\', for texts that hold these characters."""
    escaped = beginning.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def forms(beginning: str) -> list[str]:
    """How a beginning may be written: LIKE takes cases for alike in ASCII alone."""
    return sorted({beginning, beginning.capitalize(), beginning.upper()})


def idf(total: float, count: float) -> float:
    """How rare something is that `count` of `total` hold, as BM25 has it:
    ln(1 + (total - count + .5) / (count + .5)).
    """
    count = min(count, total)
    return math.log(1 + (total - count + 0.5) / (count + 0.5))
