"""Which of the ranked are shown: so many of a note, and one text once."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from ..types import Chunk
from .ranked import Ranked

# How much less a note's next chunk counts: its n-th at 1 / (1 + REPEAT (n - 1)). At 1 a note's
# second best section stood behind the weak ones of other notes, and the first 5 chunks held .02
# less of locomo's evidence lines than by words alone; at 0.05 they hold .07 more.
REPEAT = 0.05
OVERLAP = 0.9  # of the shingles of two texts, from where on they are near-duplicates
SHINGLE = 5  # letters and digits
# A text of fewer different words is compared together with its title and headings.
LEAST_WORDS = 5
LEAST_LETTERS = 16  # the same for scripts without blanks between words

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"-?\d+(?:[.,:]\d+)*")


def repeat_factor(count: int) -> float:
    """What a note's `count`-th best chunk counts, from 1: so that no note crowds out the rest."""
    return 1 / (1 + REPEAT * (count - 1))


def thinned(
    ranked: Sequence[Ranked], top_k: int, per_note: int, matching: Mapping[int, int]
) -> tuple[list[Ranked], bool]:
    """(those to show, whether there are more): the best `top_k`, near-duplicates once.

    ranked: best first. per_note: chunks of one note, 0 for any number. matching: note ordinal ->
    how many of its chunks match. The chunks that a shown one stands for are named in its
    `duplicates`; what the limit holds back is counted in `more_in_note` of the note's last one.
    """
    shown: list[Ranked] = []
    texts = _Texts()
    of_note: Counter[int] = Counter()
    folded: Counter[int] = Counter()
    more = False
    for item in ranked:
        text = _Text(item.chunk)
        copy = texts.copy_of(text)
        if copy is not None:
            shown[copy].duplicates.append(item.place)
            folded[item.note] += 1
            continue
        if per_note and of_note[item.note] == per_note:
            continue
        if len(shown) >= top_k:
            more = True
            continue
        of_note[item.note] += 1
        texts.add(text, len(shown))
        shown.append(item)
    seen: set[int] = set()
    for item in reversed(shown):
        if item.note not in seen and of_note[item.note] == per_note:
            held_back = matching.get(item.note, 0) - of_note[item.note] - folded[item.note]
            item.more_in_note = max(held_back, 0)
        seen.add(item.note)
    return shown, more


class _Texts:
    """The texts that are shown, by which another is known as a copy of one."""

    def __init__(self) -> None:
        self._exact: dict[tuple[str, ...], int] = {}  # _Text.key -> place among those shown
        self._long: list[tuple[int, _Text]] = []

    def copy_of(self, text: _Text) -> int | None:
        """The place of the text that this one repeats; None for one that says something else."""
        found = self._exact.get(text.key)
        if found is not None or text.is_short:
            return found
        return next((place for place, known in self._long if known.is_near(text)), None)

    def add(self, text: _Text, place: int) -> None:
        self._exact[text.key] = place
        if not text.is_short:
            self._long.append((place, text))


class _Text:
    """What is compared of a chunk: its letters and digits, without regard to case."""

    def __init__(self, chunk: Chunk) -> None:
        folded = unicodedata.normalize("NFKC", chunk.text).casefold()
        words = _WORD.findall(folded)
        self.letters = "".join(words)
        self.words = frozenset(words)
        self.numbers = _NUMBER.findall(folded)
        # A few words say the same in two notes only if they are said of the same.
        self.is_short = len(self.words) < LEAST_WORDS and (
            self.letters.isascii() or len(self.letters) < LEAST_LETTERS
        )
        if self.is_short:
            self.letters = f"{chunk.place.casefold()}\n{self.letters}"
        self.key = (self.letters, *self.numbers)

    @cached_property
    def shingles(self) -> frozenset[str]:
        text = self.letters
        return frozenset(text[at : at + SHINGLE] for at in range(max(len(text) - SHINGLE + 1, 1)))

    def is_near(self, other: _Text) -> bool:
        """Whether nearly all is the same, and every number is: two versions differ by those."""
        shorter, longer = sorted((len(self.letters), len(other.letters)))
        if shorter < 0.8 * longer or self.numbers != other.numbers:
            return False
        # Cheaper than the shingles; not for scripts without blanks between words.
        if len(self.letters) < 12 * len(self.words) and _overlap(self.words, other.words) < 0.7:
            return False
        return _overlap(self.shingles, other.shingles) >= OVERLAP


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard's: what two sets share of what either has."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)
