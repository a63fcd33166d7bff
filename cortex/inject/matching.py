"""How well texts that are at hand hold the words of a message."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from .words import REMEMBERING, languages_of

K1, B = 1.2, 0.75
FEW = 100  # texts; of fewer, what is rare cannot be told: they are taken for so many
_LANGUAGE_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Match:
    place: int  # of the text among those that were asked
    score: float  # BM25
    share: float  # of the message's words, see `share`
    held: int  # how many of them


def share(held: AbstractSet[int], weights: Sequence[float]) -> float:
    """How much of a question some of its words are, 0 to 1: each counts the root of its idf.

    With the idf itself, one word that nobody ever said would outweigh the rest of the question.
    """
    total = sum(map(math.sqrt, weights))
    return sum(math.sqrt(weights[number]) for number in held) / total if total > 0 else 0.0


def counted(text: str) -> Mapping[str, int]:
    """term -> how often it stands in a text, in the language that the text seems to be in."""
    from ..indexer.tokens import terms

    return Counter(terms(text, languages_of(text[:_LANGUAGE_CHARS])[0]))


def matches(message: str, texts: Sequence[Mapping[str, int]]) -> tuple[list[Match], int]:
    """The texts that hold a word of the message, best first, equal ones in their order; and how
    many words it has, but for signs, stop words and those that only ask to remember. texts: as
    `counted` has them. A word that no text holds weighs as if one did, for it may be one of the
    message alone.
    """
    from ..indexer.tokens import UNSTEMMED, fold_marks, query_terms
    from ..records.postings import idf

    asked = query_terms(message, (*languages_of(message), UNSTEMMED))
    words = [
        word
        for word in (() if asked.only_stop_words else asked.words)
        if any(map(str.isalnum, word.surface)) and fold_marks(word.surface) not in REMEMBERING
    ]
    counts = [
        {
            number: max(text.get(variant, 0) for variant in word.variants)
            for number, word in enumerate(words)
        }
        for text in texts
    ]
    lengths = [sum(text.values()) for text in texts]
    usual = max(sum(lengths) / max(len(texts), 1), 1.0)
    total = max(len(texts), FEW)
    weights = [
        word.count * idf(total, max(sum(count[number] > 0 for count in counts), 1))
        for number, word in enumerate(words)
    ]
    found = []
    for place, (count, length) in enumerate(zip(counts, lengths, strict=True)):
        held = {number for number, times in count.items() if times}
        norm = K1 * (1 - B + B * length / usual)
        score = sum(weights[n] * count[n] * (K1 + 1) / (count[n] + norm) for n in held)
        if held:
            found.append(Match(place, score, share(held, weights), len(held)))
    return sorted(found, key=lambda match: (-match.score, match.place)), len(words)
