"""Which messages of the host's state.db hold a word, of those that may be recalled."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from .postings import Vocabulary, Wanted, any_of, forms, like, vocabulary

MAX_WORDS = 24  # looked for; of more, those that fewest messages hold
MAX_MESSAGES = 1_000  # the newest with a word
MAX_SCANNED = 4_000  # the newest messages, where no full-text table answers
ROLES = "('user', 'assistant')"

_MAX_SCANNED_TEXT = 8_000  # characters of a message


@dataclass(slots=True)
class Word:
    number: int
    wanted: Wanted
    rows: dict[int, str] = field(default_factory=dict)  # message -> its session
    count: float = 0.0  # messages that hold it, as far as can be told


def is_active(columns: AbstractSet[str], prefix: str = "") -> str:
    """The condition that a message is part of its session: the host itself mends NULL to 1."""
    return f"COALESCE({prefix}active, 1) = 1" if "active" in columns else "1"


def is_said(columns: AbstractSet[str]) -> str:
    """The condition that a message `m` is part of its session, and was said in it to or by the
    assistant.
    """
    tests = [f"m.role IN {ROLES}", is_active(columns, "m.")]
    if "observed" in columns:  # overheard in a group
        tests.append("COALESCE(m.observed, 0) = 0")
    return " AND ".join(tests)


class Spoken:
    """What the user and the assistant said in sessions that may be told."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Mapping[str, AbstractSet[str]],
        *,
        exclude: Sequence[str] = (),
        profiles: Sequence[str] = (),
        without: Sequence[str] = (),
    ) -> None:
        """columns: of `sessions` and `messages`. Left out: archived sessions, those of platforms in
        `exclude` (in lower case), of profiles not in `profiles` (if there are any; those that name
        none stay), and those of the ids in `without`.
        """
        self._connection = connection
        self._tables: dict[str, Vocabulary | None] = {}
        tests = [is_said(columns["messages"])]
        self.values: list[str] = []
        about = columns["sessions"]
        if exclude and "source" in about:
            tests.append(f"lower(COALESCE(s.source, '')) NOT IN ({_marks(exclude)})")
            self.values += exclude
        if profiles and "profile_name" in about:
            tests.append(f"COALESCE(s.profile_name, '') IN ('', {_marks(profiles)})")
            self.values += profiles
        if without:
            tests.append(f"m.session_id NOT IN ({_marks(without)})")
            self.values += without
        if "archived" in about:
            tests.append("COALESCE(s.archived, 0) = 0")
        # A message that only calls tools has no text, though the table indexes its calls.
        tests.append("m.content != ''")
        self.condition = " AND ".join(tests)  # on a message m of a session s, with `values`

    def words(self, wanted: Sequence[Wanted]) -> tuple[list[Word], str]:
        """The words with the messages that hold them, and how these were found."""
        asked, by_scan = [], []
        for number, one in enumerate(wanted):
            word = Word(number, one)
            asked.append(word)
            if self._table(_table_of(one)) is None:
                by_scan.append(word)
        terms = {
            word.number: known.terms(word.wanted)
            for word in asked
            if word not in by_scan and (known := self._table(_table_of(word.wanted))) is not None
        }
        indexed = sorted(
            (word for word in asked if word.number in terms),
            key=lambda word: sum(terms[word.number].values()),
        )
        absent = [word for word in indexed if not terms[word.number]]
        present = [word for word in indexed if terms[word.number]][:MAX_WORDS]
        for word in present:
            self._look_up(word, terms[word.number])
        if by_scan:
            self._scan(by_scan[:MAX_WORDS])
        return [*absent, *present, *by_scan[:MAX_WORDS]], "fts" if terms else "like"

    def _table(self, name: str) -> Vocabulary | None:
        if name not in self._tables:
            self._tables[name] = vocabulary(self._connection, name)
        return self._tables[name]

    def _look_up(self, word: Word, terms: Mapping[str, int]) -> None:
        table = _table_of(word.wanted)
        rows = self._connection.execute(
            f"SELECT m.id, m.session_id FROM {table} AS f "
            "CROSS JOIN messages AS m ON m.id = f.rowid "
            "CROSS JOIN sessions AS s ON s.id = m.session_id "
            f"WHERE f.{table} MATCH ? AND {self.condition} ORDER BY f.rowid DESC LIMIT ?",
            (any_of(list(terms)), *self.values, MAX_MESSAGES),
        ).fetchall()
        word.rows = {message: str(session) for message, session in rows}
        word.count = len(rows) if len(rows) < MAX_MESSAGES else sum(terms.values())

    def _scan(self, words: Sequence[Word]) -> None:
        """The words that the newest messages hold, by their letters alone."""
        tests: list[str] = []
        patterns: list[str] = []
        for word in words:
            written = [form for begin in word.wanted.beginnings for form in forms(begin)]
            tests.append(" OR ".join("content LIKE ? ESCAPE '\\'" for _ in written) or "0")
            patterns += map(like, written)
        rows = self._connection.execute(
            f"SELECT id, session_id, {', '.join(tests)} FROM (SELECT m.id, m.session_id, "
            f"substr(m.content, 1, {_MAX_SCANNED_TEXT}) AS content "
            "FROM messages AS m CROSS JOIN sessions AS s ON s.id = m.session_id "
            f"WHERE {self.condition} ORDER BY m.id DESC LIMIT ?)",
            (*patterns, *self.values, MAX_SCANNED),
        ).fetchall()
        for message, session, *holds in rows:
            for word, is_held in zip(words, holds, strict=True):
                if is_held:
                    word.rows[message] = str(session)
        for word in words:
            word.count = len(word.rows)


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _table_of(wanted: Wanted) -> str:
    return "messages_fts_trigram" if wanted.is_unspaced else "messages_fts"
