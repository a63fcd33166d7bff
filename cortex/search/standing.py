"""The notes of some types that hold today: facts, handoffs, and whatever else is kept as such."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..redaction import find
from ..types import Chunk, Json
from ..vault.frontmatter import HEAD_BYTES, is_in_scope, projects_of, valid_from_of, valid_until_of
from ..vault.scan import FoundNote
from .corpus import Corpus
from .filters import Filters
from .note_files import (
    NoteFiles,
    Records,
    header_record,
    may_replace,
    moment_of,
)
from .truth import Truth, is_draft

TEXT_CHARS = 1_000  # of a note's body
MOST_NOTES = 200  # whose texts are read
_LOOKED_THROUGH = 4 * TEXT_CHARS  # for secrets, so that none is cut in two
_LEAST_OF_LINE = TEXT_CHARS - 120  # from here on a line or a word may end the text


@dataclass(frozen=True, slots=True)
class StandingNote:
    path: str
    title: str
    type: str  # as the note writes it
    text: str  # how its body begins: at most TEXT_CHARS characters, without headings
    project: str | None  # several are joined by ", "
    time: float  # Unix seconds
    time_from: str  # what tells it: see note_files.Moment
    valid_from: str | None  # YYYY-MM-DD
    valid_until: str | None  # the same: the last day


@dataclass(frozen=True, slots=True)
class Standing:
    notes: tuple[StandingNote, ...]  # newest first, then by path; at most MOST_NOTES
    matched: int  # how many there are
    by: Literal["index", "scan"]
    why: str  # why not by the index, and what was not looked at; "" for nothing of that


def standing(
    corpus: Corpus | None,
    files: NoteFiles | None,
    kinds: Sequence[Sequence[str]],
    project: str | None,
    today: dt.date,
    why: str = "",
) -> tuple[Standing, ...]:
    """The notes that hold on a day, of a project and of none: for each of `kinds` those of its
    types, told out of one look at all.

    A note holds that nothing replaced, whose own days include this one, and that calls itself
    neither draft nor superseded, deprecated, archived, stale or expired. corpus: the index, or
    None, and then `why` tells the reason. files: those of the vault now, or None when it is not
    there. A note is read from its file where the index does not have it as it is.
    """
    by: Literal["index", "scan"] = "scan" if corpus is None else "index"
    if not any(kinds):
        return tuple(Standing((), 0, by, why) for _ in kinds)
    look = _Look(corpus, files)
    truth = Truth(look.records, today, is_past=False)
    found: list[tuple[tuple[StandingNote, ...], int]] = []
    for types in kinds:
        wanted = Filters.parse({"type": [kind.lstrip("!") for kind in types]}, today)
        holding = [
            note
            for note in (look.records if types else ())
            if wanted.matches(note)
            and is_in_scope(note["frontmatter"], project)
            and not is_draft(note["frontmatter"])
            and not truth.labels(note)
        ]
        holding.sort(key=lambda note: (-moment_of(note).at, note["file"]))
        told = (_told(note, look.chunks(note["file"]), types) for note in holding[:MOST_NOTES])
        found.append((tuple(told), len(holding)))
    left = files.why if files is not None else "the vault is not there; told from the index"
    why = "; ".join(filter(None, (why, left)))
    return tuple(Standing(notes, matched, by, why) for notes, matched in found)


class _Look:
    """The notes as they are now: from the index where it has them so, else from their files."""

    def __init__(self, corpus: Corpus | None, files: NoteFiles | None) -> None:
        self._corpus = corpus
        self._files = files
        self._fresh: dict[str, FoundNote] = {}  # notes to be read from their files
        is_as_indexed = corpus is not None
        found: list[Mapping[str, Json]] = []
        if corpus is not None and files is None:
            found = [note for note in corpus.notes.records() if corpus.serves(note["file"])]
        for note in files.notes if files is not None else ():
            at = -1 if corpus is None else corpus.ordinal_of(note.path)
            record = corpus.note(at) if corpus is not None and at >= 0 else None
            if record is None or (record["modified"], record["size"]) != (note.modified, note.size):
                head = files.read(note, HEAD_BYTES) if files is not None else None
                if head is not None:
                    is_as_indexed = is_as_indexed and not may_replace(
                        head.decode("utf-8-sig", "replace")
                    )
                    self._fresh[note.path] = note
                    record = header_record(note, head)
            if record is not None:
                found.append(record)
        if corpus is not None and len(found) != len(corpus.notes):
            is_as_indexed = False
        known = corpus.replacements if corpus is not None and is_as_indexed else None
        self.records = Records(found, known)

    def chunks(self, path: str) -> Iterable[Chunk]:
        if path in self._fresh and self._files is not None:
            return self._files.chunks(self._fresh[path])
        return self._indexed_chunks(path)

    def _indexed_chunks(self, path: str) -> Iterator[Chunk]:
        if self._corpus is not None:
            at = self._corpus.ordinal_of(path)
            first, last = self._corpus.first_chunk[at : at + 2].tolist()
            yield from map(self._corpus.chunk, range(first, last))


def _told(note: Mapping[str, Json], chunks: Iterable[Chunk], types: Sequence[str]) -> StandingNote:
    values = note["frontmatter"]
    first, last, moment = valid_from_of(values), valid_until_of(values), moment_of(note)
    return StandingNote(
        path=note["file"],
        title=note["title"],
        type=type_of(values, types),
        text=beginning(chunks),
        project=", ".join(projects_of(values)) or None,
        time=moment.at,
        time_from=moment.by,
        valid_from=None if first is None else first.isoformat(),
        valid_until=None if last is None else last.isoformat(),
    )


def type_of(values: Mapping[str, Json], wanted: Sequence[str] = ()) -> str:
    """The type of a note, as it writes it; of several the first that is wanted. "" without one."""
    given = next((value for key, value in values.items() if key.casefold() == "type"), None)
    own = [str(item).strip("[] ") for item in (given if isinstance(given, list) else [given])]
    own = [kind for kind in own if kind and kind != "None"]
    folded = {kind.casefold() for kind in wanted}
    return next((kind for kind in own if kind.casefold() in folded), own[0] if own else "")


def beginning(chunks: Iterable[Chunk], limit: int = TEXT_CHARS) -> str:
    """How a note's text begins: at most `limit` characters, cut in front of a secret, not in it."""
    text = ""
    for chunk in chunks:
        if chunk.text != next(filter(None, (*chunk.heading_path[-1:], chunk.title)), ""):
            text = f"{text}\n{chunk.text}" if text else chunk.text
        for part in chunk.secrets:  # of one that goes on in the next chunk
            if part in text:
                return text[: min(text.index(part), limit)].rstrip()
        if len(text) >= _LOOKED_THROUGH:
            break
    if len(text) <= limit:
        return text.strip()
    end = limit
    for secret in find(text):
        if secret.start < limit < secret.end:
            end = min(end, secret.start)
    if end == limit:
        border = max(
            text.rfind("\n", _LEAST_OF_LINE, limit), text.rfind(" ", _LEAST_OF_LINE, limit)
        )
        end = border if border > 0 else limit
    return text[:end].rstrip()
