"""Notes read from their files, without an index, within bounds of time, files and bytes."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..text import Undecodable, decode
from ..types import Chunk, Json
from ..vault import frontmatter
from ..vault.chunk import chunk_note
from ..vault.frontmatter import HEAD_BYTES
from ..vault.note import read_note
from ..vault.scan import FolderRules, FoundNote, walk_notes
from .truth import Pair, replacements

_SHARE_KEPT = 0.3  # of the time
_REPLACES = re.compile(r"supersede|replace", re.IGNORECASE)
_DATED = (
    ("date", ("date",)),
    ("created", ("created", "datecreated", "createdat", "createdon", "creationdate")),
    ("valid_from", ("validfrom", "validsince", "effectivefrom", "effectivedate")),
    ("updated", frontmatter.CHANGED),
    ("last_verified", ("lastverified",)),
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read of a vault at most."""

    seconds: float = 2.0
    files: int = 20_000
    total_bytes: int = 24_000_000
    file_bytes: int = 1_000_000  # a larger file is read so far


class NoteFiles:
    """The note files of a vault, by path, as far as the limits go. What was left is in `why`."""

    def __init__(
        self,
        vault: Path,
        rules: FolderRules,
        *,
        follow_outside: bool = False,
        limits: Limits = Limits(),
    ) -> None:
        self.limits = limits
        self.until = time.monotonic() + limits.seconds
        self._unreadable: set[str] = set()
        self._is_cut = False
        self.notes: list[FoundNote] = []
        for note in walk_notes(vault, rules, follow_outside=follow_outside):
            if len(self.notes) >= limits.files or self.is_over:
                self._is_cut = True
                break
            self.notes.append(note)
        self.notes.sort(key=lambda note: note.path)

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    @property
    def why(self) -> str:
        """What was not looked at, for people; "" when all was."""
        told = []
        if self._is_cut:
            told.append("not all notes were read: the vault is too large for that without an index")
        if self._unreadable:
            count = len(self._unreadable)
            told.append(f"{'1 note' if count == 1 else f'{count} notes'} could not be read")
        return "; ".join(told)

    def read(self, note: FoundNote, most: int | None = None) -> bytes | None:
        """The first `most` bytes of a note's file; None if it cannot be read, or time is over."""
        if self.is_over:
            self._is_cut = True
            return None
        try:
            with open(note.file, "rb") as file:
                return file.read(self.limits.file_bytes if most is None else most)
        except (OSError, ValueError):
            self._unreadable.add(note.path)
            return None

    def texts(self) -> Iterator[tuple[FoundNote, str]]:
        """Each note with its text, by path; what is left of the time is kept for what follows."""
        left = self.limits.total_bytes
        until = self.until - _SHARE_KEPT * self.limits.seconds
        for note in self.notes:
            if left <= 0 or time.monotonic() > until:
                self._is_cut = True
                return
            data = self.read(note)
            if data is not None:
                left -= len(data)
                try:
                    yield note, decode(data)[0]
                except Undecodable:
                    self._unreadable.add(note.path)

    def chunks(self, note: FoundNote) -> list[Chunk]:
        """The chunks of a note as its file is now; none when it cannot be read."""
        data = self.read(note)
        try:
            return (
                [] if data is None else chunk_note(*read_note(note.path, data, note.modified, _any))
            )
        except Undecodable:
            self._unreadable.add(note.path)
            return []


def header_record(note: FoundNote, data: bytes) -> dict[str, Json]:
    """What notes.jsonl has of a note, as far as its properties tell.

    data: the beginning of its file; without properties in it only the file speaks.
    """
    values: Mapping[str, Json] = {}
    with contextlib.suppress(Undecodable):
        values = frontmatter.values_in(data)
    return {
        "file": note.path,
        "title": frontmatter.title_of(values) or note.path.rpartition("/")[2][:-3],
        "aliases": frontmatter.aliases_of(values),
        "modified": note.modified,
        "frontmatter": dict(values),
    }


def may_replace(text: str) -> bool:
    """Whether the properties of a note may say that it replaces another, or was replaced."""
    return text.startswith("---") and _REPLACES.search(text, 0, HEAD_BYTES) is not None


class Records:
    """Notes by path, of which Truth asks what replaced them."""

    def __init__(
        self,
        records: Iterable[Mapping[str, Json]],
        known: Mapping[str, Sequence[Pair]] | None = None,
    ) -> None:
        """known: what replaced what, where that is known already; else it is found out."""
        self._records = {str(record["file"]): record for record in records}
        self._known = known

    def note_at(self, path: str) -> Mapping[str, Json] | None:
        return self._records.get(path)

    @cached_property
    def replacements(self) -> Mapping[str, Sequence[Pair]]:
        if self._known is not None:
            return self._known
        found: dict[str, list[Pair]] = {}
        for older, newer, by_older in replacements(list(self._records.values())):
            found.setdefault(older, []).append((newer, by_older))
        return found

    def __iter__(self) -> Iterator[Mapping[str, Json]]:
        return iter(self._records.values())


class Moment(NamedTuple):
    at: float  # Unix seconds
    by: str  # a property of _DATED; name: the file's name; file: its last change


def moment_of(note: Mapping[str, Json]) -> Moment:
    """When a note was written, as far as it says: a day is its first second, in UTC."""
    for name, spellings in _DATED:
        at = frontmatter.time_of(note["frontmatter"], spellings)
        if at is not None:
            return Moment(at, name)
    day = frontmatter.day_in_name(note["file"])
    if day is not None:
        return Moment(dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC).timestamp(), "name")
    return Moment(float(note["modified"]), "file")


def _any(text: str) -> str:
    return "und"  # its language says nothing of where a note is cut
