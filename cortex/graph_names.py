"""Names that a few notes share: people, places and things that running text writes with a capital.

Two notes that name the same rare thing belong together, though neither links to the other and no
note has that title. Such a tie carries a search on as an implied link does; which names may, and
what for, was measured (ARCHITECTURE.md, "Search").
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_HOLDERS = 16  # notes; a name that more have is a topic
MIN_LETTERS = 4
PROPER_SHARE = 0.9  # of a word's uses within sentences that have a capital
ONE_WORD_WEIGHT = 0.7  # of a name, beside one of two words

_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽΆ-ΏΑ-ΫЀ-Я"
_NAME = rf"[{_UPPER}][\w-]*"
_RUN = re.compile(rf"(?<![\w.@/#-]){_NAME}(?: {_NAME})*")
_WORD = re.compile(r"[^\W\d_][\w-]*")
_BEFORE = " \t\"'“”‘’«»(*_["  # may stand between the end of a sentence and the next
_ENDS = ".!?:;\n|>-#–—…"


@dataclass(frozen=True, slots=True)
class SharedName:
    text: str
    notes: tuple[int, ...]  # ascending
    weight: float  # in (0, 1]: more for a rarer name


class NameCollector:
    """Reads prose note by note. Time is linear in the text."""

    def __init__(self, note_count: int, empty_words: Collection[str]) -> None:
        """empty_words: casefolded words that are no names: function words, months and days."""
        self._note_count = note_count
        self._empty = empty_words
        self._holders: dict[str, list[int]] = {}
        self._capitalised: Counter[str] = Counter()  # casefolded; within sentences alone
        self._uncapitalised: Counter[str] = Counter()

    def read_title(self, note: int, title: str) -> None:
        """A title's words may all have capitals, so they prove nothing."""
        for match in _RUN.finditer(title):
            self._add(note, match.group().split(" "))

    def read(self, note: int, text: str) -> None:
        """A piece of prose; the notes must come in ascending order."""
        self._uncapitalised.update(word for word in _WORD.findall(text) if word[0].islower())
        for match in _RUN.finditer(text):
            words = match.group().split(" ")
            self._add(note, words)
            first = 1 if _begins_sentence(text, match.start()) else 0
            self._capitalised.update(word.casefold() for word in words[first:])

    def _add(self, note: int, words: Sequence[str]) -> None:
        telling = [word.casefold() not in self._empty for word in words]
        names = [word for word, tells in zip(words, telling, strict=True) if tells]
        pairs = [
            f"{words[at]} {words[at + 1]}"
            for at, (first, second) in enumerate(pairwise(telling))
            if first and second
        ]
        for name in chain(names, pairs):
            if len(name) < MIN_LETTERS:
                continue
            holders = self._holders.setdefault(name, [])
            if len(holders) <= MAX_HOLDERS and (not holders or holders[-1] != note):
                holders.append(note)

    def found(self) -> Iterator[SharedName]:
        """The names that two to MAX_HOLDERS notes share, in the order of their text."""
        for name in sorted(self._holders):
            notes = self._holders[name]
            words = name.split(" ")
            if 2 <= len(notes) <= MAX_HOLDERS and any(map(self._is_proper, words)):
                rarity = math.log(self._note_count / len(notes)) / math.log(self._note_count)
                share = 1.0 if len(words) > 1 else ONE_WORD_WEIGHT
                if rarity > 0:
                    yield SharedName(name, tuple(notes), share * rarity**2)

    def _is_proper(self, word: str) -> bool:
        capitalised = self._capitalised[word.casefold()]
        everywhere = capitalised + self._uncapitalised[word.casefold()]
        return capitalised > 0 and capitalised >= PROPER_SHARE * everywhere


def _begins_sentence(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] in _BEFORE:
        at -= 1
    return at < 0 or text[at] in _ENDS


def name_arrays(names: Sequence[SharedName], keys: Sequence[int]) -> dict[str, NDArray[Any]]:
    """The names as arrays, from a name to its notes and from a note to its names.

    keys: key64 of each note's path.
    """
    texts = [name.text.encode("utf-8") for name in names]
    held: dict[int, list[int]] = {}
    for index, name in enumerate(names):
        for note in name.notes:
            held.setdefault(keys[note], []).append(index)
    holders = sorted(held)
    return {
        "name_text": np.frombuffer(b"".join(texts), dtype=np.uint8),
        "name_text_ptr": _pointers(map(len, texts)),
        "name_weight": np.array([name.weight for name in names], dtype=np.float32),
        "name_ptr": _pointers(len(name.notes) for name in names),
        "name_notes": np.array([keys[n] for name in names for n in name.notes], dtype=np.uint64),
        "holder_keys": np.array(holders, dtype=np.uint64),
        "holder_ptr": _pointers(len(held[key]) for key in holders),
        "holder_names": np.array([i for key in holders for i in held[key]], dtype=np.int64),
    }


def _pointers(lengths: Any) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.fromiter(lengths, np.int64)))).astype(np.int64)


def names_in(text: str) -> set[str]:
    """Every word and every two neighbouring words of a text, casefolded."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


@dataclass(frozen=True, slots=True)
class SharedNames:
    """What name_arrays made, opened for search."""

    arrays: Mapping[str, NDArray[Any]]

    def of_note(self, key: int) -> list[int]:
        """The names in a note, by index."""
        if not self.arrays:
            return []
        holders = self.arrays["holder_keys"]
        at = int(np.searchsorted(holders, np.uint64(key)))
        if at == len(holders) or int(holders[at]) != key:
            return []
        first, last = self.arrays["holder_ptr"][at : at + 2].tolist()
        found: list[int] = self.arrays["holder_names"][first:last].tolist()
        return found

    def text(self, name: int) -> str:
        first, last = self.arrays["name_text_ptr"][name : name + 2].tolist()
        return bytes(self.arrays["name_text"][first:last]).decode("utf-8")

    def weight(self, name: int) -> float:
        return float(self.arrays["name_weight"][name])

    def notes(self, name: int) -> list[int]:
        """The keys of the notes that have a name."""
        first, last = self.arrays["name_ptr"][name : name + 2].tolist()
        found: list[int] = self.arrays["name_notes"][first:last].tolist()
        return found


NAME_ARRAYS = (
    *("name_text", "name_text_ptr", "name_weight", "name_ptr", "name_notes"),
    *("holder_keys", "holder_ptr", "holder_names"),
)
