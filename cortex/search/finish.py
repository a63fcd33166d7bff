"""From the fused scores to the hits: boost, put what replaced a note above it, thin out, cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from heapq import heappop, heappush

from ..errors import Unavailable
from ..indexer.chunks import property_texts
from ..protocols import Reranker
from ..types import Hit, Json, Missing, Trace
from . import boosts as boosting
from .channels import Gains
from .corpus import Corpus
from .diversity import repeat_factor, thinned
from .evidence import (
    SNIPPET_CHARS,
    calibration_of,
    cosine_strength,
    has_scale,
    match,
    rarity_of,
    snippet,
    strength,
)
from .fusion import Fusion
from .pool import Pool
from .ranked import Ranked
from .rerank import is_exact, reranked
from .run import MAX_QUERY_CHARS, Run
from .truth import newest_above
from .wording import around

INHERITED_EVIDENCE = 0.7  # of a note's, by what it lifted
NEAR_SHARE = 0.5  # of the vectors' best, for a chunk without a word of the question to match
SPARE_CHUNKS = 3


def finish(
    run: Run,
    pool: Pool,
    fusion: Fusion,
    gains: Gains | None,
    *,
    boosts: bool,
    reranker: Reranker | None = None,
) -> tuple[list[Hit], bool]:
    """The hits, best first; whether anything was cut off.

    gains: what links gave, to tell of it; None without the graph.
    """
    settings, query = run.settings, run.query
    per_note = settings.max_per_note if query.max_per_note is None else query.max_per_note
    if query.group == "note":
        per_note = 1

    def brought(path: str) -> Ranked | None:
        ordinal = _chunk_to_bring(run, pool, fusion, path)
        return None if ordinal is None else _boosted(run, pool, fusion, ordinal, boosts)

    spread = _spread_out(pool, fusion, max(4 * query.top_k, 60), per_note)
    ranked = [_boosted(run, pool, fusion, ordinal, boosts) for ordinal in spread]
    ranked = _best_first(item for item in ranked if run.corpus.serves(item.chunk.note))
    seen: Counter[int] = Counter()
    for item in ranked:
        seen[item.note] += 1
        if seen[item.note] > 1:
            item.factors["repeat"] = repeat_factor(seen[item.note])
    ranked = _best_first(ranked)
    if ranked and settings.min_score > 0:
        others = (item.score for item in ranked if item.ordinal not in run.exact)
        least = settings.min_score * max(others, default=0.0)
        ranked = [item for item in ranked if item.score >= least]
    ranked = _reranked(run, ranked, reranker)
    ranked = newest_above(ranked, run.truth, brought, settings.rrf_k, settings.rank)
    shown, more = thinned(ranked, query.top_k, per_note, _matching(pool, fusion))
    return _with_inherited_evidence([_hit(run, pool, gains, item) for item in shown]), more


def _spread_out(pool: Pool, fusion: Fusion, limit: int, per_note: int) -> list[int]:
    """The `limit` best, a note's further chunks at less of their score: none crowds the rest.

    per_note: how many of a note will be shown, 0 for any number; a few more stay, since copies of
    others will not be.
    """
    seen: Counter[int] = Counter()
    spread: list[tuple[float, int]] = []
    best: list[float] = []  # a heap of the `limit` highest scores in `spread`
    for score, ordinal in sorted((-score, ordinal) for ordinal, score in fusion.scores.items()):
        if len(best) == limit and -score < best[0]:
            break  # and so are all that follow
        note = pool.candidates[ordinal].note
        seen[note] += 1
        if not per_note or seen[note] <= per_note + SPARE_CHUNKS:
            share = score * repeat_factor(seen[note])
            spread.append((share, ordinal))
            heappush(best, -share)
            if len(best) > limit:
                heappop(best)
    return [ordinal for _, ordinal in sorted(spread)[:limit]]


def _boosted(run: Run, pool: Pool, fusion: Fusion, ordinal: int, boosts: bool) -> Ranked:
    candidate = pool.candidates[ordinal]
    chunk, record = run.corpus.chunk(ordinal), run.corpus.note(candidate.note)
    score, channels = fusion[ordinal]
    item = Ranked(ordinal, candidate.note, candidate.note_key, chunk, score, channels)
    if boosts:
        item.factors, item.remarks = boosting.factors(
            chunk,
            record["frontmatter"],
            run.query.text,
            run.query.today,
            run.settings.boosts,
            labels=() if run.is_status_asked else run.truth.labels(record),
            is_past=run.query.as_of,
        )
    if ordinal in run.exact or ordinal in run.holding:
        item.factors.pop("quality", None)  # however poor in words, it was asked for
        item.remarks.pop("quality", None)
    if ordinal in run.exact:
        item.remarks["exact"] = run.exact[ordinal].what
    return item


def _best_first(ranked: Iterable[Ranked]) -> list[Ranked]:
    return sorted(ranked, key=lambda item: (-item.score, item.ordinal))


def _reranked(run: Run, ranked: list[Ranked], reranker: Reranker | None) -> list[Ranked]:
    """With the best in the reranker's order, if there is one and it can work."""
    if reranker is None or not run.query.text.strip():
        return ranked
    # No part of a title in a longer question gains as much as a title that is all of it.
    partly = run.settings.title_gain
    try:
        return reranked(
            ranked,
            run.query.text[:MAX_QUERY_CHARS],
            reranker,
            run.settings.rerank_top_n,
            lambda item: is_exact(item, partly),
        )
    except Unavailable as error:
        run.unavailable.append(Missing(error.what, error.why))
        return ranked


def _chunk_to_bring(run: Run, pool: Pool, fusion: Fusion, path: str) -> int | None:
    """The chunk that shows a note which no channel brought far enough; None if it may not."""
    note = run.corpus.ordinal_of(path)
    if note < 0 or not run.is_allowed(note):
        return None
    scores = fusion.scores
    own = [ordinal for ordinal in scores if pool.candidates[ordinal].note == note]
    if own:
        return max(own, key=lambda ordinal: (scores[ordinal], -ordinal))
    ordinal = pool.best_chunk(note)
    pool.add([ordinal])
    return ordinal


def _matching(pool: Pool, fusion: Fusion) -> Counter[int]:
    """note -> how many of its chunks hold a word of the question, or are near to it."""
    candidates = map(pool.candidates.__getitem__, fusion.scores)
    return Counter(c.note for c in candidates if c.holds_words or c.near >= NEAR_SHARE)


def _hit(run: Run, pool: Pool, gains: Gains | None, item: Ranked) -> Hit:
    corpus, chunk, candidate = run.corpus, item.chunk, pool.candidates[item.ordinal]
    record = corpus.note(candidate.note)
    said = property_texts(record["frontmatter"])
    names = (*record["aliases"], *record["tags"], *said, record["file"][:-3])
    language = corpus.language(record)
    matched = match(run.words, run.word_weights, chunk, names, language, run.gate_weights)
    places = around(run.phrases, chunk.text, matched.spans, SNIPPET_CHARS // 3)
    excerpt, marks = snippet(chunk.text, places)
    remarks = {**item.remarks, **_link_remarks(run, gains, candidate.note_key)}
    mean = 0.0 if pool.dense is None else pool.dense.mean
    nearness = None
    if candidate.cosine is not None and has_scale(run.model, len(corpus.notes)):
        nearness = cosine_strength(candidate.cosine, mean, run.model)
    evidence = 1.0
    if remarks.get("exact") not in ("name", "text"):
        evidence = strength(matched.share, candidate.cosine, mean, calibration_of(run.model))
    return Hit(
        chunk=chunk,
        score=item.score,
        trace=Trace(item.channels, run.settings.rrf_k, item.fused, item.factors, remarks),
        snippet=excerpt,
        matches=marks,
        text_matches=matched.spans,
        evidence=evidence,
        meta=record["frontmatter"],
        modified=record["modified"],
        tags=tuple(record["tags"]),
        labels=run.truth.labels(record),
        replaced_by=tuple(filter(corpus.serves, run.truth.newer(record["file"]))),
        duplicates=tuple(item.duplicates),
        more_in_note=item.more_in_note,
        word_share=matched.own_share,
        word_rarity=rarity_of(matched.own_weight, len(corpus.notes)),
        part=_part(run.corpus, item.ordinal),
        nearness=nearness,
    )


def _part(corpus: Corpus, ordinal: int) -> int:
    """Which piece of its section a chunk is, from 1."""
    own, part = corpus.chunk(ordinal), 1
    while ordinal >= part:
        before = corpus.chunk(ordinal - part)
        if (before.note, before.heading_path) != (own.note, own.heading_path):
            break
        part += 1
    return part


def _link_remarks(run: Run, gains: Gains | None, note_key: int) -> dict[str, Json]:
    """From which note a hit's note gained first, and by what kind of link."""
    tie = None
    if gains is not None and note_key in gains.notes:
        tie = gains.linked_from.get(note_key)
    at = -1 if tie is None else int(run.corpus.notes.ordinals([tie.seed])[0])
    if tie is None or at < 0:
        return {}
    remarks = {"linked_from": run.corpus.note(at)["file"], "link_kind": tie.kind}
    return {**remarks, "link_name": tie.name} if tie.name else remarks


def _with_inherited_evidence(hits: Sequence[Hit]) -> list[Hit]:
    """Give a hit that links brought in a part of the evidence of the note that brought it."""
    own: dict[str, float] = {}
    for hit in hits:
        own[hit.chunk.note] = max(own.get(hit.chunk.note, 0.0), hit.evidence)
    passed = []
    for hit in hits:
        if (older := hit.trace.notes.get("replaces")) in own:
            hit = replace(hit, evidence=max(hit.evidence, own[older]))  # it stands for that one
        source = hit.trace.notes.get("linked_from")
        graph = hit.trace.channels.get("graph")
        if source in own and graph is not None and hit.trace.fused > 0:
            share = graph.contribution / hit.trace.fused
            inherited = INHERITED_EVIDENCE * share * own[source]
            hit = replace(hit, evidence=max(hit.evidence, inherited))
        passed.append(hit)
    return passed
