"""The words of a vault as they are written, with how many notes have each: what typos are near."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import Damaged
from ..state import Stamp
from ..types import Chunk
from .names import MAX_NAME, name_key
from .tokens import has_unspaced

VOCABULARY_VERSION = 2  # part of the stamp of an index; raise it when any note gives other words

MIN_LETTERS, MAX_LETTERS = 3, 45
MAX_NAME_LETTERS = 60  # of a whole name as one entry
_FILE = "vocabulary.txt"
NAME = "="  # begins the entry of a whole name, which no word begins with
_RUN = re.compile(rf"(?<![^\W_])[^\W\d_]{{{MIN_LETTERS},{MAX_LETTERS}}}(?![^\W_])")


@dataclass(frozen=True, slots=True)
class Word:
    text: str  # case-folded
    notes: int  # that have it
    names: int  # that have it in their title, aliases or tags


def words_of(text: str) -> Iterator[str]:
    """The words of a text that may be misspelt, folded: of letters alone, in spaced scripts."""
    folded = unicodedata.normalize("NFC", text).casefold()
    return (word for word in _RUN.findall(folded) if word.isascii() or not has_unspaced(word))


class VocabularyWriter:
    """Counts in the making: those of the last generation, less what is gone, and what came."""

    def __init__(self, previous: Stamp | None) -> None:
        """Raises Damaged if the file of `previous` is not what was written."""
        self._notes: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        if previous is not None:
            for word in Vocabulary.open(previous).beginning_with(""):
                self._notes[word.text], self._names[word.text] = word.notes, word.names

    def add(self, names: Iterable[str], chunks: Sequence[Chunk], sign: int = 1) -> None:
        """Count a note with these names and tags and chunks; with a sign of -1, no longer."""
        named = list(names)
        of_names = {word for name in named for word in words_of(name)}
        of_names.update(filter(None, map(entry_of_name, named)))
        words = of_names | {word for chunk in chunks for word in words_of(chunk.text)}
        words.update(w for chunk in chunks for h in chunk.heading_path[-1:] for w in words_of(h))
        for counts, found in ((self._notes, words), (self._names, of_names)):
            for word in found:
                counts[word] += sign

    def write(self, folder: Path) -> None:
        lines = [
            f"{word}\t{notes}\t{self._names[word]}\n"
            for word, notes in self._notes.items()
            if notes > 0
        ]
        (folder / _FILE).write_text("".join(sorted(lines)), "utf-8", newline="\n")


class Vocabulary:
    """The words of one generation, in the order of their letters."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._entries: list[str] = []
        if path is not None:
            try:
                self._entries = path.read_text("utf-8").split("\n")[:-1]
            except UnicodeDecodeError:
                raise self._damaged() from None

    @classmethod
    def open(cls, stamp: Stamp) -> Vocabulary:
        """Empty where the generation was written before there was any. Raises Damaged."""
        return cls(stamp.file(_FILE) if _FILE in stamp.values["files"] else None)

    def beginning_with(self, letters: str) -> Iterator[Word]:
        """The words that begin so, in order."""
        at = bisect_left(self._entries, letters)
        try:
            while at < len(self._entries) and self._entries[at].startswith(letters):
                word, notes, names = self._entries[at].split("\t")
                yield Word(word, int(notes), int(names))
                at += 1
        except ValueError:
            raise self._damaged() from None

    def ending_with(self, letters: str) -> Iterator[Word]:
        """The words that end so, but for whole names; slower, since all are looked at."""
        end = f"{letters}\t"
        for entry in self._entries:
            if end in entry and not entry.startswith(NAME):
                yield from self.beginning_with(entry.partition("\t")[0] + "\t")

    def __contains__(self, word: str) -> bool:
        return next(self.beginning_with(f"{word}\t"), None) is not None

    def _damaged(self) -> Damaged:
        return Damaged(f"{self._path} is damaged; run: cortex index --force")


def entry_of_name(name: str) -> str | None:
    """What a name of several words is kept as besides them: its key, marked; None for others."""
    key = name_key(name)
    is_phrase = len(name) <= MAX_NAME and len(name.replace("_", " ").split()) > 1
    fits = MIN_LETTERS < len(key) <= MAX_NAME_LETTERS and key.isalpha() and not has_unspaced(key)
    return NAME + key if is_phrase and fits else None
