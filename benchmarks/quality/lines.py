"""Evidence lines: how many of them the first chunks hold, and contexts of a few sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cortex import Hit, Trace
from cortex.indexer.chunks import chunk_of

from . import reference
from .built import Built
from .collection import Question

FIRST = 5  # chunks
HITS = 20  # that a context is made of: what the library takes by default
BUDGETS = (500, 1000, 2000)  # tokens
SYSTEMS: dict[str, Sequence[str] | None] = {
    "ours": None,
    "our bm25 channel": ("bm25",),
    "our vector channel": ("vector",),
}
PLACES = (f"first {FIRST} chunks", *(f"context of {budget}" for budget in BUDGETS))


def shares(
    built: Built, questions: Iterable[Question], evidence: Mapping[str, list[tuple[str, int]]]
) -> dict[str, dict[str, NDArray[np.float64]]]:
    """system -> place -> per question, the share of its evidence lines that are there.

    The references are plain BM25 and plain cosine over the library's own chunks, and their
    contexts are made by the library's builder too.
    """
    texts: dict[str, list[str]] = {}
    found: dict[str, dict[str, list[float]]] = {}
    for question in questions:
        wanted = evidence.get(question.id)
        if not wanted:
            continue
        for name, result in _results(built, question.text).items():
            places = found.setdefault(name, {place: [] for place in PLACES})
            spans = [
                (hit.chunk.note, hit.chunk.start_line, hit.chunk.end_line)
                for hit in result.hits[:FIRST]
            ]
            places[PLACES[0]].append(_share(wanted, lambda at, spans=spans: _covers(spans, at)))
            for budget, place in zip(BUDGETS, PLACES[1:], strict=True):
                context = built.cortex.context_of(result, budget, include_hermes_memory=False)
                cited = [(c.note, c.start_line, c.end_line) for c in context.citations]
                shown = _letters(context.text)

                def holds(at: tuple[str, int], cited: Any = cited, shown: str = shown) -> bool:
                    note, line = at
                    if note not in texts:
                        path = built.vault / note
                        texts[note] = path.read_text("utf-8", errors="replace").split("\n")
                    return _covers(cited, at) and _letters(texts[note][line - 1]) in shown

                places[place].append(_share(wanted, holds))
    return {
        name: {place: np.array(values) for place, values in places.items()}
        for name, places in found.items()
    }


def _results(built: Built, text: str) -> dict[str, Any]:
    found = {name: built.search(text, channels, HITS) for name, channels in SYSTEMS.items()}
    whole = found["ours"]
    keys = [str(at) for at in range(len(built.chunks))]
    for name, scores in (
        ("BM25", built.chunk_bm25.scores(text)),
        ("vectors", built.cosines(text)),
    ):
        best = reference.ranked(keys, scores)[:HITS]
        hits = tuple(_bare(built, int(at), rank) for rank, at in enumerate(best))
        found[name] = replace(whole, hits=hits)
    return found


def _bare(built: Built, at: int, rank: int) -> Hit:
    """A chunk as a hit that nothing is known of but its place."""
    return Hit(
        chunk=chunk_of(built.chunks[at]),
        score=1 / (1 + rank),
        trace=Trace({}, 60, 0.0, {}),
        snippet="",
        matches=(),
        text_matches=(),
        evidence=1.0,
        meta={},
        modified=0.0,
    )


def _share(wanted: Sequence[tuple[str, int]], holds: Any) -> float:
    return sum(map(holds, wanted)) / len(wanted)


def _covers(spans: Iterable[tuple[str, int, int]], at: tuple[str, int]) -> bool:
    return any(note == at[0] and first <= at[1] <= last for note, first, last in spans)


def _letters(text: str) -> str:
    """A text without what escaping and folding change."""
    return re.sub(r"\W+", "", text)
