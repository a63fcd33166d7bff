"""The best hits put in a new order by a model that reads each of them with the question."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..protocols import Reranker
from .ranked import Ranked

RERANK_SHARE = 0.5  # of the model's word, beside the place that the hits had
_EXACT = ("exact", "name", "names", "phrase")  # channels and remarks of what was asked for as such


def reranked(
    ranked: Sequence[Ranked],
    query: str,
    reranker: Reranker,
    top_n: int,
    is_exact: Callable[[Ranked], bool],
) -> list[Ranked]:
    """The same, best first, the first `top_n` in a new order and the rest as they were.

    Each of the n counts (1 - RERANK_SHARE) s / s_1 + RERANK_SHARE r: s its score, s_1 the best of
    them, r the model's score brought to [0, 1] by the lowest and the highest of the n. The scores
    that the n had are dealt out anew in that order, as a factor `rerank`, so that nothing of
    theirs can fall below the rest. What is_exact says of a hit keeps it at its place or better.

    ranked: best first, scores at least 0. Raises Unavailable when the model fails.
    """
    first = list(ranked[:top_n])
    if len(first) < 2 or first[0].score <= 0:
        return list(ranked)
    given = reranker.scores(query, [item.chunk.search_text for item in first])
    low, high = min(given), max(given)
    spread = high - low
    model_score = {item.ordinal: score for item, score in zip(first, given, strict=True)}
    worth = {
        item.ordinal: (1 - RERANK_SHARE) * item.score / first[0].score
        + RERANK_SHARE * ((score - low) / spread if spread > 0 else 0.0)
        for item, score in zip(first, given, strict=True)
    }
    places = [item.score for item in first]
    before = {item.ordinal: place for place, item in enumerate(first, 1)}
    held = {item.ordinal for item in first if is_exact(item)}
    wished = sorted(first, key=lambda item: (-worth[item.ordinal], before[item.ordinal]))
    waiting = {item.ordinal: item for item in wished}
    ordered: list[Ranked] = []
    for old in first:
        # A hit held at this very place, and not placed before it, takes it.
        is_due = old.ordinal in held and old.ordinal in waiting
        ordered.append(waiting.pop(old.ordinal if is_due else next(iter(waiting))))
    for item, score in zip(ordered, places, strict=True):
        item.remarks["rerank"] = {
            "score": round(model_score[item.ordinal], 6),
            "from": before[item.ordinal],
        }
        item.factors["rerank"] = score / item.score if item.score > 0 else 1.0
    return [*ordered, *ranked[top_n:]]


def is_exact(item: Ranked, partly: float) -> bool:
    """Whether a hit was asked for by its name, or holds what is to be found as it stands.

    partly: the most that a title gains that is only a part of the question.
    """
    title = item.channels.get("title")
    if title is not None and title.score > 1.001 * partly:
        return True
    return any(name in item.channels or item.remarks.get(name) for name in _EXACT)
