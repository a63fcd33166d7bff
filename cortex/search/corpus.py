"""The chunks and notes of one generation of the index, read one at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import Damaged
from ..files import read_json
from ..indexer.build import REPLACEMENTS
from ..indexer.chunks import CHUNKS, NOTES, RecordFile, chunk_of
from ..indexer.names import NameIndex
from ..indexer.vocabulary import Vocabulary
from ..state import Stamp
from ..types import Chunk, Json, key64
from .truth import Pair


class Corpus:
    """What is opened of an index. takes: whether the settings serve the note at a path now."""

    def __init__(self, stamp: Stamp, takes: Callable[[str], bool]) -> None:
        self.stamp = stamp
        self._takes = takes
        self.chunks = RecordFile(stamp, CHUNKS)
        self.notes = RecordFile(stamp, NOTES)
        self.first_chunk = stamp.array("notes.first_chunk.npy")
        main: str = stamp.values["main_language"]
        self._main_language = main
        found = (main if code == "und" else code for code in stamp.values["languages"])
        self.languages: tuple[str, ...] = tuple(dict.fromkeys(found))  # commonest first
        self._note_cache: dict[int, dict[str, Json]] = {}

    def language(self, note: Mapping[str, Json]) -> str:
        """What a note's terms are in: its own language, the vault's where it is too short."""
        return self._main_language if note["language"] == "und" else str(note["language"])

    def serves(self, path: str) -> bool:
        """Whether the settings serve the note at `path` now."""
        return self._takes(path)

    def ordinal_of(self, path: str) -> int:
        """Which note lies at `path`; -1 for none."""
        return int(self.notes.ordinals([key64(path)])[0])

    def note_at(self, path: str) -> dict[str, Json] | None:
        at = self.ordinal_of(path)
        return self.note(at) if at >= 0 else None

    def owner(self, chunk: int) -> int:
        """The ordinal of a chunk's note."""
        return int(np.searchsorted(self.first_chunk, chunk, side="right")) - 1

    @cached_property
    def names(self) -> NameIndex | None:
        """Which notes have a name; None in an older index."""
        return NameIndex.open(self.stamp)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.open(self.stamp)

    @cached_property
    def replacements(self) -> Mapping[str, Sequence[Pair]]:
        """path -> what the notes say replaced the note there; nothing from an older index."""
        found: dict[str, list[Pair]] = {}
        if REPLACEMENTS not in self.stamp.values["files"]:
            return found
        path = self.stamp.file(REPLACEMENTS)
        try:
            for older, newer, by_older in read_json(path):
                found.setdefault(older, []).append((newer, by_older))
        except (ValueError, TypeError):
            raise Damaged(f"{path} is damaged; run: cortex index --force") from None
        return found

    def array(self, name: str) -> Any:
        """An array that the index keeps beside its records."""
        return self.stamp.array(name)

    def note(self, ordinal: int) -> dict[str, Json]:
        found = self._note_cache.get(ordinal)  # another thread may empty the cache meanwhile
        if found is None:
            if len(self._note_cache) > 50_000:
                self._note_cache.clear()
            found = self._note_cache[ordinal] = self.notes.record(ordinal)
        return found

    @cached_property
    def properties(self) -> frozenset[str]:
        """The names of all frontmatter properties of notes that are served, casefolded."""
        notes = (self.note(ordinal) for ordinal in range(len(self.notes)))
        served = (note for note in notes if self._takes(note["file"]))
        return frozenset(name.casefold() for note in served for name in note["frontmatter"])

    def chunk(self, ordinal: int) -> Chunk:
        return chunk_of(self.chunks.record(ordinal))
