"""The reference rows: plain BM25, plain cosine and their reciprocal rank fusion.

Written apart from the library on purpose, so that no improvement of ours moves the bar. Text is a
note's title (frontmatter, else first H1, else file name) once and its body. BM25 is Lucene's, k1
1.5 and b 0.75, over words of two letters or more, without stop words, stemmed by Snowball; in
Chinese and Japanese over pairs of characters. A note's cosine is that of its best chunk.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import Stemmer
from numpy.typing import NDArray

from cortex.indexer import stop_words as lists

K1, B = 1.5, 0.75
RRF_K = 60
CUT = 1000  # of each list that is fused
ENGLISH = frozenset(  # Lucene's
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ]
)
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "fi": "finnish", "fr": "french", "hu": "hungarian",
    "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUNS = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_FRONTMATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M
)

Tokenizer = Callable[[str], list[str]]


def tokenizer(language: str) -> Tokenizer:
    """Words as the reference has them, for a language by its ISO 639-1 code."""
    if language in ("zh", "ja"):
        return _pairs
    name = STEMMERS.get(language)
    stem = Stemmer.Stemmer(name).stemWords if name else list
    unwanted = ENGLISH if language == "en" else lists.stop_words(language)

    def words(text: str) -> list[str]:
        found = re.findall(r"\b\w\w+\b", text.lower())
        return list(stem([word for word in found if word not in unwanted]))

    return words


def _pairs(text: str) -> list[str]:
    found = []
    for run in _RUNS.findall(unicodedata.normalize("NFKC", text).lower()):
        if re.match(rf"[{_CJK}]", run):
            found.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        else:
            found.append(run)
    return found


def title_and_body(path: Path) -> str:
    """A note's text as the reference reads it."""
    text = path.read_text("utf-8", errors="replace")
    match = _FRONTMATTER.match(text)
    head, body = (match[1], text[match.end() :]) if match else ("", text)
    named = re.search(r"^title:[ \t]*(.+?)[ \t]*$", head, re.M)
    heading = re.match(r"\s*#[ \t]+(.+?)[ \t]*#*$", body, re.M)
    title = named[1].strip("\"'") if named else heading[1] if heading else path.stem
    if heading and heading[1] == title:
        body = body[heading.end() :]
    return f"{title}\n{body}"


class BM25:
    """Scores of every text for a query, by an inverted index in memory."""

    def __init__(self, texts: Iterable[str], tokens: Tokenizer) -> None:
        self._tokens = tokens
        counts = [Counter(tokens(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        self.size = len(counts)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()) if len(counts) else 0, 1e-9))
        postings: dict[str, list[tuple[int, int]]] = {}
        for at, count in enumerate(counts):
            for term, times in count.items():
                postings.setdefault(term, []).append((at, times))
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for term, found in postings.items():
            places = np.array([at for at, _ in found])
            times = np.array([count for _, count in found], dtype=np.float64)
            idf = np.log(1 + (self.size - len(found) + 0.5) / (len(found) + 0.5))
            self._weights[term] = places, idf * times / (times + norm[places])

    def scores(self, query: str) -> NDArray[np.float64]:
        total = np.zeros(self.size)
        for term in self._tokens(query):
            if term in self._weights:
                places, weights = self._weights[term]
                total[places] += weights
        return total


def ranked(keys: Sequence[str], scores: NDArray[np.float64]) -> list[str]:
    """The keys whose score is above 0, at most CUT, best first; ties in the order of keys."""
    order = np.argsort(-scores, kind="stable")[:CUT]
    return [keys[at] for at in order.tolist() if scores[at] > 0]


def fused(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Plain reciprocal rank fusion; ties go by the first ranking."""
    sums: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, start=1):
            sums[key] = sums.get(key, 0.0) + 1 / (RRF_K + rank)
    return sorted(sums, key=lambda key: -sums[key])


def by_note(owners: Sequence[str], scores: NDArray[np.float64]) -> Mapping[str, float]:
    """note -> the score of its best chunk."""
    best: dict[str, float] = {}
    for note, score in zip(owners, scores.tolist(), strict=True):
        if score > best.get(note, -2.0):
            best[note] = score
    return best
