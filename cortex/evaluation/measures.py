"""Measures of rankings, as trec_eval has them, and what of a difference is chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

# The name -> (ir_measures' name, how deep it looks).
MEASURES = {
    "nDCG@10": ("nDCG@10", 10),
    "MRR@10": ("RR@10", 10),
    "Recall@5": ("R@5", 5),
    "Recall@10": ("R@10", 10),
    "Recall@20": ("R@20", 20),
    "Success@1": ("Success@1", 1),
    "Success@5": ("Success@5", 5),
    "Success@10": ("Success@10", 10),
}
NOISE_P = 0.05  # a difference that chance alone makes as often as this is noise
ROUNDS = 10_000  # of the randomization test
RESAMPLES = 2_000  # of the bootstrap
_EXACT = 13  # differences up to which all 2**n signs are tried
_AT_ONCE = 2_000_000  # numbers drawn in one array

Values = dict[str, float]  # measure -> value, of one query


def measured(
    qrels: Mapping[str, Mapping[str, int]], runs: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Values], str]:
    """(query -> its measures, what computed them).

    qrels: query -> what is relevant -> grade. runs: query -> what was found, best first, each
    once. nDCG with the grades as gains and log2 discounts, as trec_eval has it. By ir_measures
    where it is installed, else by the same definitions here.
    """
    try:
        import ir_measures
    except ImportError:
        return {name: by_definition(qrels[name], runs[name]) for name in qrels}, "cortex"
    # Numbers for names: a name may hold what a C library does not take.
    numbered, ranked = {}, {}
    for name, relevant in qrels.items():
        ids = {key: f"d{at}" for at, key in enumerate(dict.fromkeys([*runs[name], *relevant]))}
        numbered[name] = {ids[key]: grade for key, grade in relevant.items()}
        size = len(runs[name])
        ranked[name] = {ids[key]: float(size - at) for at, key in enumerate(runs[name])}
    named = {ir_measures.parse_measure(theirs): ours for ours, (theirs, _) in MEASURES.items()}
    found: dict[str, Values] = {name: dict.fromkeys(MEASURES, 0.0) for name in qrels}
    answered = {name: ranking for name, ranking in ranked.items() if ranking}
    judged = {name: numbered[name] for name in answered}
    if answered:
        for metric in ir_measures.iter_calc(list(named), judged, answered):
            found[metric.query_id][named[metric.measure]] = float(metric.value)
    return found, f"ir_measures {_version('ir_measures')}"


def _version(package: str) -> str:
    from importlib import metadata

    return metadata.version(package)


def by_definition(relevant: Mapping[str, int], ranking: Sequence[str]) -> Values:
    """The measures of one query, without a library."""
    grades = [relevant.get(key, 0) for key in ranking]
    first = next((rank for rank, grade in enumerate(grades, 1) if grade > 0), None)
    total = sum(1 for grade in relevant.values() if grade > 0)
    values: Values = {}
    for name, (_, depth) in MEASURES.items():
        hits = sum(1 for grade in grades[:depth] if grade > 0)
        if name.startswith("nDCG"):
            ideal = _gain(sorted(relevant.values(), reverse=True)[:depth])
            values[name] = _gain(grades[:depth]) / ideal if ideal else 0.0
        elif name.startswith("MRR"):
            values[name] = 1 / first if first is not None and first <= depth else 0.0
        elif name.startswith("Recall"):
            values[name] = hits / total if total else 0.0
        else:
            values[name] = float(hits > 0)
    return values


def _gain(grades: Sequence[int]) -> float:
    return sum(max(grade, 0) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean, by percentiles; the same at each call."""
    import numpy as np

    if not values:
        return 0.0, 0.0
    sample = np.asarray(values, dtype=np.float64)
    drawn = np.random.default_rng(0)
    means = []
    rows = max(1, _AT_ONCE // len(sample))
    for done in range(0, RESAMPLES, rows):
        shape = (min(rows, RESAMPLES - done), len(sample))
        means.append(sample[drawn.integers(0, len(sample), shape)].mean(axis=1))
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return float(low), float(high)


def paired_p(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How often chance alone makes the mean of paired values differ so much: a two-sided p.

    Fisher's randomization: each query's two values may as well be exchanged (Smucker, Allan and
    Carterette, CIKM 2007). All ways to do so are tried for up to 13 queries that differ, else
    10,000 drawn ones; the same at each call. 1.0 where nothing differs.
    """
    import numpy as np

    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    differences = differences[np.abs(differences) > 1e-12]
    count = len(differences)
    if not count:
        return 1.0
    least = abs(float(differences.sum())) - 1e-9
    if count <= _EXACT:
        ways = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        sums = np.abs((2.0 * ways - 1.0) @ differences)
        return float((sums >= least).mean())
    drawn = np.random.default_rng(0)
    extreme = 0
    rows = max(1, _AT_ONCE // count)
    for done in range(0, ROUNDS, rows):
        signs = drawn.integers(0, 2, (min(rows, ROUNDS - done), count)) * 2.0 - 1.0
        extreme += int((np.abs(signs @ differences) >= least).sum())
    return (extreme + 1) / (ROUNDS + 1)


def percentiles(times: Sequence[float]) -> dict[str, float]:
    """p50, p90, p95, p99 by the nearest rank, mean and max."""
    ranked = sorted(times)
    if not ranked:
        return {}
    found = {
        f"p{share}": ranked[max(0, math.ceil(share / 100 * len(ranked)) - 1)]
        for share in (50, 90, 95, 99)
    }
    return {
        name: round(value, 3)
        for name, value in {**found, "mean": mean(ranked), "max": ranked[-1]}.items()
    }
