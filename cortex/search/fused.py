"""What each channel says of the candidates of a query, fused into one score."""

from __future__ import annotations

from .channels import Gains
from .exact import EXACT_WEIGHT
from .fusion import ChannelScores, Fusion, fuse
from .pool import Pool
from .run import Run

MIN_GAIN_SHARE = 0.1  # of the best gain by links, for a place in an ordinal ranking
USUAL_GRAPH_WEIGHT = 0.2  # at which gains by links are in fused units already
EITHER_WEIGHT = 0.001  # less than any word or vector says
PHRASE_MARGIN = 0.01  # as a weight: by so much a chunk with the phrase is its note's first


def fused(run: Run, pool: Pool, gains: Gains | None) -> Fusion:
    """The candidates by all that was found; gains: by links, None without the graph."""
    channels = [
        *_retrieved(run, pool),
        *_titles(run, pool),
        *_links(run, pool, gains),
        *_either(run),
    ]
    if run.exact:
        shares = {chunk: exact.share for chunk, exact in run.exact.items()}
        weight = EXACT_WEIGHT * sum(channel.weight for channel in channels)
        channels.append(ChannelScores("exact", weight or 1.0, shares, shares))
    fusion = fuse(channels, run.settings.rrf_k, run.settings.rank)
    if gains is not None and "vector" in run.ran:
        # What neither words nor vectors speak for needs more than one good note that links to it.
        candidates, supporters = pool.candidates, gains.supporters
        linked = fusion.given_by_alone("graph")
        fusion.drop(i for i in linked if supporters.get(candidates[i].note_key, 0) <= 1)
    return fusion


def _retrieved(run: Run, pool: Pool) -> list[ChannelScores]:
    settings, candidates = run.settings, pool.candidates
    channels = []
    if pool.lexical is not None and pool.lexical.best > 0:
        best = pool.lexical.best
        scores = {i: c.bm25 for i, c in candidates.items() if c.bm25 > 0}
        shares = {i: score / best for i, score in scores.items()}
        channels.append(ChannelScores("bm25", settings.bm25_weight, scores, shares))
    if pool.dense is not None:
        shares = {i: c.near for i, c in candidates.items() if c.near > 0}
        scores = {i: candidates[i].cosine or 0.0 for i in shares}
        weight = settings.vector_weight
        if settings.rank == "calibrated":
            weight *= pool.dense.trust
        channels.append(ChannelScores("vector", weight, scores, shares))
    return channels


def _titles(run: Run, pool: Pool) -> list[ChannelScores]:
    if not run.titles:
        return []
    titles = run.titles
    scores = {i: titles[c.note_key] for i, c in pool.candidates.items() if c.note_key in titles}
    scores = {i: gain for i, gain in scores.items() if gain > 0}
    best = max(scores.values(), default=0.0)
    return [ChannelScores("title", best, scores, {i: gain / best for i, gain in scores.items()})]


def _links(run: Run, pool: Pool, gains: Gains | None) -> list[ChannelScores]:
    if gains is None:
        return []
    settings, notes = run.settings, gains.notes
    scores = {i: notes[c.note_key] for i, c in pool.candidates.items() if c.note_key in notes}
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return []
    weight = settings.graph_weight / USUAL_GRAPH_WEIGHT * best
    if settings.rank == "ordinal":  # a place says nothing of how small a gain is
        weight = settings.graph_weight
        scores = {i: gain for i, gain in scores.items() if gain >= MIN_GAIN_SHARE * best}
    return [ChannelScores("graph", weight, scores, {i: g / best for i, g in scores.items()})]


def _either(run: Run) -> list[ChannelScores]:
    shares = dict.fromkeys(run.passing, 1.0)
    return [ChannelScores("either", EITHER_WEIGHT, shares, shares)] if shares else []


def put_phrases_first(run: Run, pool: Pool, fusion: Fusion) -> None:
    """Give the chunks that hold a phrase what they lack to be their note's first.

    And no more, so that among the notes, which all hold it, the other channels decide.
    """
    if not run.holding:
        return
    candidates, k = pool.candidates, run.settings.rrf_k
    best: dict[int, float] = {}  # note -> score of its best chunk
    holding: dict[int, float] = {}  # the same of those that hold the phrase
    for ordinal in {*fusion.scores, *run.holding}:
        note, score = candidates[ordinal].note, fusion.scores.get(ordinal, 0.0)
        best[note] = max(best.get(note, 0.0), score)
        if ordinal in run.holding:
            holding[note] = max(holding.get(note, 0.0), score)
    lacking = {note: best[note] - own + PHRASE_MARGIN / k for note, own in holding.items()}
    for ordinal in run.holding:
        fusion.lift(ordinal, "phrase", lacking[candidates[ordinal].note])
