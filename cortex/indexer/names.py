"""The names of notes as keys: equal for names that differ in case, marks, spaces or punctuation."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..state import Stamp
from ..types import Json, key64
from .tokens import fold_marks

NAMES_VERSION = 2  # part of the stamp of an index; raise it when any name gets another key

MAX_NAME = 200  # characters of a name that count
_KEYS, _NOTES = "names.keys.npy", "names.notes.npy"
_SIGN = re.compile(r"(?<=[^\W_])(?:\+\+|#)(?![^\W_])|(?<![\w.])\.(?=[a-z])")  # C++, C#, .NET


def name_key(name: str) -> str:
    """What is left of a name: its letters and digits, folded; of a name without any, its signs.

    `Tide_Gauge.`, `tide-gauge` and `🌊 TideGauge` are all `tidegauge`. Empty only for blanks.
    """
    folded = fold_marks(unicodedata.normalize("NFKC", name[:MAX_NAME]).casefold())
    if folded.isalnum():
        return folded
    signs = {match.start(): match.end() for match in _SIGN.finditer(folded)}
    kept: list[str] = []
    until, is_kept = 0, False
    for at, char in enumerate(folded):
        kind = unicodedata.category(char)[0]
        # A mark belongs to the letter before it, and is nothing after an emoji.
        until = signs.get(at, until)
        is_kept = kind in "LN" or at < until or (kind == "M" and is_kept)
        if is_kept:
            kept.append(char)
    return "".join(kept) or "".join(folded.split())


def names_of(note: Mapping[str, Json]) -> Iterator[str]:
    """Title, aliases, file name and heading of a notes.jsonl record, as they are written."""
    yield note["title"]
    yield from note["aliases"]
    yield note["file"].rpartition("/")[2][:-3]
    if heading := heading_of(note):
        yield heading


def heading_of(note: Mapping[str, Json]) -> str:
    """The first heading of a note where it is the only one of level 1; "" for any other note.

    Where files are called `202501.md`, it is the title that people know.
    """
    first, *others = note["headings"] or [(0, "")]
    is_title = first[0] == 1 and not any(heading[0] == 1 for heading in others)
    return str(first[1]) if is_title else ""


class NameWriter:
    """The names of a generation in the making, note by note in the order of the vault."""

    def __init__(self) -> None:
        self._keys = array("Q")
        self._notes = array("I")
        self._count = 0

    def add(self, names: Iterable[str]) -> None:
        """The names of the next note."""
        self.add_keys(key64(key) for key in map(name_key, names) if key)

    def add_keys(self, keys: Iterable[int]) -> None:
        """The same by what NameIndex.keys_of gave for it."""
        for key in dict.fromkeys(keys):
            self._keys.append(key)
            self._notes.append(self._count)
        self._count += 1

    def write(self, folder: Path) -> None:
        keys = np.array(self._keys, dtype=np.uint64)
        order = np.argsort(keys, kind="stable")
        np.save(folder / _KEYS, keys[order])
        np.save(folder / _NOTES, np.array(self._notes, dtype=np.uint32)[order])


class NameIndex:
    """Which notes have a name, over all notes of a generation."""

    def __init__(self, keys: NDArray[np.uint64], notes: NDArray[np.uint32]) -> None:
        self._keys = keys
        self._notes = notes
        self._by_note: NDArray[np.int64] | None = None

    @classmethod
    def open(cls, stamp: Stamp) -> NameIndex | None:
        """None where the generation was written before there were any. Raises Damaged."""
        if _KEYS not in stamp.values["files"]:
            return None
        return cls(stamp.array(_KEYS), stamp.array(_NOTES))

    def keys_of(self, note: int) -> list[int]:
        """The names of the note with this ordinal, as numbers."""
        if self._by_note is None:
            self._by_note = np.argsort(self._notes, kind="stable")
        first, last = np.searchsorted(self._notes, (note, note + 1), sorter=self._by_note)
        found: list[int] = self._keys[self._by_note[first:last]].tolist()
        return found

    def notes(self, keys: Sequence[str]) -> list[list[int]]:
        """For each name_key the ordinals of the notes that have it, ascending."""
        wanted = np.fromiter(map(key64, keys), dtype=np.uint64, count=len(keys))
        first = np.searchsorted(self._keys, wanted, side="left").tolist()
        last = np.searchsorted(self._keys, wanted, side="right").tolist()
        return [self._notes[a:b].tolist() for a, b in zip(first, last, strict=True)]
