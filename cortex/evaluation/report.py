"""Cases put to a search, in one way or several, and what came of it as one document."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..protocols import Progress
from ..search.explain import why
from ..types import Hit, Json, SearchResult
from .cases import Case, Target
from .measures import MEASURES, NOISE_P, Values, interval, mean, measured, paired_p, percentiles

SCHEMA_VERSION = 1
KIND = "search-eval"
TOP_K = 10  # hits that are shown, and that count for a case
DEPTH = 100  # hits that measures are taken from: with a few chunks a note, more than 20 notes
SNIPPET_CHARS = 240
MAIN = "search"  # the run that cases are judged by


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to search; the report calls it a run."""

    name: str
    boosts: bool = True
    channels: tuple[str, ...] | None = None  # None is all that can run
    rerank: bool = True
    ranked_by: str | None = None  # keep what this channel ranked, in its order


@dataclass(frozen=True, slots=True)
class Evaluation:
    report: dict[str, Json]
    rankings: dict[str, list[tuple[str, float]]]  # case -> (note, score), by its best chunk


Search = Callable[[Case, Variant, int], SearchResult]  # the case, how, how many hits


def variants(
    *,
    boosts: bool,
    channels: Sequence[str] | None,
    rerank: bool,
    unboosted: bool,
    ablate: bool,
    reranks: bool,
) -> list[Variant]:
    """The runs to make, the one that counts first.

    unboosted: once more without boosts, and without the reranker where one is set (reranks).
    ablate: these too, each channel alone, and all without one. Links alone have nothing to start
    from, so `graph` is what links lifted, in the order they gave it, out of a whole search.
    """
    chosen = tuple(channels) if channels is not None else None
    ranked_by = "graph" if chosen == ("graph",) else None
    main = Variant(MAIN, boosts, None if ranked_by else chosen, rerank, ranked_by)
    found = [main]
    if boosts and (unboosted or ablate):
        found.append(Variant("unboosted", False, main.channels, rerank, ranked_by))
    if reranks and rerank and (unboosted or ablate):
        found.append(Variant("not reranked", boosts, main.channels, False, ranked_by))
    if ablate and ranked_by is None:
        every = chosen or ("bm25", "vector", "graph")
        for name in every if len(every) > 1 else ():
            if name == "graph":
                found.append(Variant("graph alone", boosts, chosen, rerank, "graph"))
            else:
                found.append(Variant(f"{name} alone", boosts, (name,), rerank))
        for name in every:
            rest = tuple(other for other in every if other != name)
            if rest not in ((), ("graph",)) and len(every) > 2:
                found.append(Variant(f"without {name}", boosts, rest, rerank))
    return found


@dataclass(slots=True)
class _Run:
    """What one way to search gave for each case."""

    variant: Variant
    units: dict[str, list[str]]  # case -> what was found, best first: see _units
    rankings: dict[str, list[tuple[str, float]]]
    ranks: dict[str, dict[str, int]]  # case -> target -> the rank of its first hit
    hits: dict[str, list[dict[str, Json]]]
    took_ms: dict[str, float]
    ran: dict[str, None]
    unavailable: dict[str, str]
    warnings: dict[str, None]
    why_nothing: dict[str, str]  # case -> what a search without hits says of it, if anything


def evaluate(
    cases: Sequence[Case],
    search: Search,
    runs: Sequence[Variant],
    top_k: int = TOP_K,
    depth: int = DEPTH,
    progress: Progress | None = None,
) -> Evaluation:
    """The report, but for its metadata and what a baseline adds; and what was ranked.

    The first of `runs` is the one that cases are judged by: by the first `top_k` hits, as a search
    for so many gives them. Ranks and measures look on to `depth` hits. One search ahead, untimed,
    opens what searches need.
    """
    depth = max(depth, top_k)
    search(cases[0], runs[0], 1)
    if progress:
        progress.start("search-eval", len(cases) * len(runs), "searches")
    done = [_asked(cases, search, run, depth, top_k, progress) for run in runs]
    if progress:
        progress.finish()
    main = done[0]
    judged = [case for case in cases if case.expected]
    values: list[dict[str, Values]] = []
    by = "cortex"
    for run in done:
        qrels = {case.id: {t.named: t.grade for t in case.expected} for case in judged}
        found, by = measured(qrels, {case.id: run.units[case.id] for case in judged})
        values.append(found)
    entries = [_entry(case, done, values, top_k) for case in cases]
    passed = sum(1 for entry in entries if entry["passed"])
    report: dict[str, Json] = {
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "top_k": top_k,
        "depth": depth,
        "case_count": len(cases),
        "passed": passed,
        "failed": len(cases) - passed,
        "channels": {
            "ran": list(main.ran),
            "unavailable": [{"what": what, "why": why} for what, why in main.unavailable.items()],
        },
        "warnings": _merged(main.warnings),
        "measured_by": by,
        "measures": _with_intervals([case.id for case in judged], values[0]),
        "groups": _grouped(cases, entries, values[0]),
        "latency_ms": percentiles(list(main.took_ms.values())),
        "runs": {
            run.variant.name: _run_entry(run, judged, cases, top_k, values[0], values[at])
            for at, run in enumerate(done)
        },
        "cases": entries,
    }
    return Evaluation(report, main.rankings)


def _asked(
    cases: Sequence[Case],
    search: Search,
    variant: Variant,
    depth: int,
    top_k: int,
    progress: Progress | None,
) -> _Run:
    run = _Run(variant, {}, {}, {}, {}, {}, {}, {}, {}, {})
    for case in cases:
        began = time.perf_counter()
        result = search(case, variant, top_k)
        run.took_ms[case.id] = (time.perf_counter() - began) * 1000
        hits = list(result.hits)
        if depth > top_k and result.more:
            # Asking for more may rank otherwise, so what a person sees stays as it is, in front.
            seen = {hit.chunk.id for hit in hits}
            deeper = search(case, variant, depth).hits
            hits += [hit for hit in deeper if hit.chunk.id not in seen]
        if variant.ranked_by is not None:
            name = variant.ranked_by
            hits = [hit for hit in hits if name in hit.trace.channels]
            hits.sort(key=lambda hit: hit.trace.channels[name].rank)
        run.units[case.id] = _units(hits, case.expected)
        run.rankings[case.id] = _by_note(hits)
        run.ranks[case.id] = _ranks(hits, (*case.expected, *case.must_not))
        if variant.name == MAIN:  # of the others nothing is shown
            run.hits[case.id] = [
                _hit_entry(rank, hit, case) for rank, hit in enumerate(hits[:top_k], 1)
            ]
        run.ran.update(dict.fromkeys(result.ran))
        run.unavailable.update((missing.what, missing.why) for missing in result.unavailable)
        run.warnings.update(dict.fromkeys(result.warnings))
        if not hits:
            run.why_nothing[case.id] = "; ".join(w for w in result.warnings if "; run: " not in w)
        if progress:
            progress.advance()
    return run


_OF_NOTES = re.compile(r"([^:;]+): (.+); (run: .+)")
_NOTES_TOLD = 3


def _merged(warnings: Iterable[str]) -> list[str]:
    """Warnings of the state of things, not of one question; one for all notes that are as stale."""
    lasting: dict[str, None] = {}
    notes: dict[tuple[str, str], dict[str, None]] = {}
    for warning in warnings:
        if match := _OF_NOTES.fullmatch(warning):
            notes.setdefault((match[1], match[3]), {}).update(dict.fromkeys(match[2].split(", ")))
        elif "; run: " in warning:
            lasting[warning] = None
    for (what, remedy), names in notes.items():
        more = f" and {len(names) - _NOTES_TOLD:,} more" if len(names) > _NOTES_TOLD else ""
        lasting[f"{what}: {', '.join(list(names)[:_NOTES_TOLD])}{more}; {remedy}"] = None
    return list(lasting)


def _units(hits: Sequence[Hit], expected: Sequence[Target]) -> list[str]:
    """What measures count, best first, each once: the targets, and the notes that are none.

    Where whole notes are expected, that is the notes by their best chunk. Where a section is, a
    chunk that shares a line with it stands for the section, any other for its note.
    """
    found: dict[str, None] = {}
    for hit in hits:
        held = [target.named for target in expected if target.holds(hit.chunk)]
        for name in held or [f"{hit.chunk.note}:other"]:
            found[name] = None
    return list(found)


def _by_note(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """(note, score) by the best chunk; scores fall with each place, so that none are tied."""
    found: dict[str, float] = {}
    last = math.inf
    for hit in hits:
        if hit.chunk.note not in found:
            last = min(hit.score, math.nextafter(last, -math.inf))
            found[hit.chunk.note] = last
    return list(found.items())


def _ranks(hits: Sequence[Hit], targets: Sequence[Target]) -> dict[str, int]:
    """target -> the place of the first hit that holds it; those without one are not in it."""
    found: dict[str, int] = {}
    for rank, hit in enumerate(hits, 1):
        for target in targets:
            if target.named not in found and target.holds(hit.chunk):
                found[target.named] = rank
    return found


def _hit_entry(rank: int, hit: Hit, case: Case) -> dict[str, Json]:
    """A hit as the reference's reports have it, and what explains its place."""
    trace, chunk = hit.trace, hit.chunk
    factors = trace.factors
    raw = factors.get("recency", 1.0) * factors.get("importance", 1.0)
    places = {name: given.rank for name, given in trace.channels.items()}
    expected = [target.named for target in case.expected if target.holds(chunk)]
    unwanted = [target.named for target in case.must_not if target.holds(chunk)]
    return {
        "rank": rank,
        "chunk_id": chunk.id,
        "file": chunk.note,
        "heading_path": list(chunk.heading_path),
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "expected": expected,
        "must_not": unwanted,
        "final_score": hit.score,
        "final": hit.score,
        "rrf_score": trace.fused,
        "rrf": trace.fused,
        "bm25_rank": places.get("bm25"),
        "vector_rank": places.get("vector"),
        "graph_rank": places.get("graph"),
        "channels": {
            name: {
                "rank": given.rank,
                "score": given.score,
                "effective_rank": given.effective_rank,
                "weight": given.weight,
                "contribution": given.contribution,
            }
            for name, given in trace.channels.items()
        },
        "boost_multiplier": raw * factors.get("cap", 1.0),
        "raw_boost_multiplier": raw,
        "boost_capped": "cap" in factors,
        "quality_factor": factors.get("quality", 1.0),
        "quality_reason": trace.notes.get("quality", "neutral"),
        "factors": dict(factors),
        "notes": dict(trace.notes),
        "why": why(trace),
        "evidence": hit.evidence,
        "snippet": hit.snippet[:SNIPPET_CHARS],
    }


def _entry(
    case: Case, runs: Sequence[_Run], values: Sequence[Mapping[str, Values]], top_k: int
) -> dict[str, Json]:
    main = runs[0]
    ranks = main.ranks[case.id]
    best = _best(case, ranks)
    failure = _failure(case, ranks, top_k)
    if failure and (why_nothing := main.why_nothing.get(case.id)):
        failure = f"{failure}: {why_nothing}"
    entry: dict[str, Json] = {
        "id": case.id,
        "query": case.query,
        "expected_files": [target.named for target in case.expected],
        "expected": [_target_entry(target, ranks) for target in case.expected],
        "expected_top_k": case.expected_top_k,
        "must_not": [_target_entry(target, ranks) for target in case.must_not],
        "filters": dict(case.filters),
        "syntax": case.syntax,
        "as_of": case.as_of or None,
        "tags": list(case.tags),
        "notes": case.notes,
        "best_expected_rank": best,
        "passed": failure is None,
        "failure": failure,
        "measures": values[0].get(case.id, {}),
        "took_ms": round(main.took_ms[case.id], 3),
        "hits": main.hits[case.id],
    }
    for run in runs[1:]:
        rank = _best(case, run.ranks[case.id])
        if run.variant.name == "unboosted":
            entry["unboosted_best_expected_rank"] = rank
            entry["boost_rank_delta"] = rank_delta(best, rank)
    if len(runs) > 1:
        entry["run_ranks"] = {run.variant.name: _best(case, run.ranks[case.id]) for run in runs[1:]}
    return entry


def _target_entry(target: Target, ranks: Mapping[str, int]) -> dict[str, Json]:
    entry: dict[str, Json] = {"file": target.file}
    if target.heading is not None:
        entry["heading"] = target.heading
    if target.lines is not None:
        entry["lines"] = list(target.lines)
    return {**entry, "grade": target.grade, "rank": ranks.get(target.named)}


def _best(case: Case, ranks: Mapping[str, int]) -> int | None:
    return min((ranks[t.named] for t in case.expected if t.named in ranks), default=None)


def rank_delta(now: int | None, then: int | None) -> int | None:
    """How many places a rank is behind another: above 0 is worse. None unless both are known."""
    return None if now is None or then is None else now - then


def passes(case: Case, ranks: Mapping[str, int], top_k: int) -> bool:
    return _failure(case, ranks, top_k) is None


def _failure(case: Case, ranks: Mapping[str, int], top_k: int) -> str | None:
    """Why a case fails; None if it passes."""
    within = min(case.expected_top_k, top_k)
    for target in case.must_not:
        rank = ranks.get(target.named)
        if rank is not None and rank <= within:
            return f"{target.named} must not be among the first {within}, and is number {rank}"
    if not case.expected:
        return None
    best = _best(case, ranks)
    if best is None:
        return "no expected note was found"
    if best > within:
        return f"the first expected note is number {best}, not among the first {within}"
    return None


def _with_intervals(ids: Sequence[str], values: Mapping[str, Values]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for measure in MEASURES if ids else ():
        of_each = [values[name][measure] for name in ids]
        low, high = interval(of_each)
        found[measure] = {"value": mean(of_each), "low": low, "high": high}
    return found


def _grouped(
    cases: Sequence[Case], entries: Sequence[Mapping[str, Json]], values: Mapping[str, Values]
) -> dict[str, Json]:
    """tag -> its count, how many passed, its measures."""
    members: dict[str, list[int]] = {}
    for at, case in enumerate(cases):
        for tag in case.tags:
            members.setdefault(tag, []).append(at)
    groups: dict[str, Json] = {}
    for tag, indices in sorted(members.items()):
        passed = sum(1 for at in indices if entries[at]["passed"])
        groups[tag] = {
            "case_count": len(indices),
            "passed": passed,
            "failed": len(indices) - passed,
            "measures": _with_intervals(
                [cases[at].id for at in indices if cases[at].expected], values
            ),
        }
    return groups


def _run_entry(
    run: _Run,
    judged: Sequence[Case],
    cases: Sequence[Case],
    top_k: int,
    main: Mapping[str, Values],
    values: Mapping[str, Values],
) -> dict[str, Json]:
    """One run's figures, and how far they are from those of the run that counts."""
    passed = sum(1 for case in cases if passes(case, run.ranks[case.id], top_k))
    variant = run.variant
    entry: dict[str, Json] = {
        "boosts": variant.boosts,
        "rerank": variant.rerank,
        "channels": list(variant.channels) if variant.channels else None,
        "ranked_by": variant.ranked_by,
        "passed": passed,
        "failed": len(cases) - passed,
        "measures": {
            measure: mean([values[case.id][measure] for case in judged])
            for measure in (MEASURES if judged else ())
        },
        "latency_ms": percentiles(list(run.took_ms.values())),
    }
    if variant.name != MAIN:
        entry["differences"] = differences([case.id for case in judged], values, main)
    return entry


def differences(
    ids: Sequence[str], values: Mapping[str, Values], others: Mapping[str, Values]
) -> dict[str, Json]:
    """measure -> by how much the first is above the second, p, and whether that is noise."""
    found: dict[str, Json] = {}
    for measure in MEASURES if ids else ():
        ours = [values[name][measure] for name in ids]
        theirs = [others[name][measure] for name in ids]
        p = paired_p(ours, theirs)
        found[measure] = {"delta": mean(ours) - mean(theirs), "p": p, "noise": p >= NOISE_P}
    return found
