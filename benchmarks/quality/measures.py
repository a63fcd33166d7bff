"""Measures of a ranking, how sure their mean is, and whether two rankings really differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG
from numpy.typing import NDArray

MEASURES = {"nDCG@10": nDCG @ 10, "R@5": R @ 5, "R@20": R @ 20, "MRR@10": RR @ 10}
SAMPLES = 2000  # of the bootstrap

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mean:
    value: float
    low: float  # the middle 95 % of the bootstrap
    high: float


def scored(
    rankings: Mapping[str, Sequence[str]], judgments: Mapping[str, Mapping[str, int]]
) -> dict[str, Floats]:
    """measure -> its value for each question of `rankings`, in their order.

    rankings: question -> notes, best first.
    """
    run = {
        question: {note: float(len(notes) - at) for at, note in enumerate(notes)} or {"-": 0.0}
        for question, notes in rankings.items()
    }
    judged = {question: dict(judgments[question]) for question in rankings}
    values: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    name_of = {measure: name for name, measure in MEASURES.items()}
    for found in ir_measures.iter_calc(list(MEASURES.values()), judged, run):
        values[name_of[found.measure]][found.query_id] = found.value
    return {
        name: np.array([by_question[question] for question in rankings])
        for name, by_question in values.items()
    }


def mean(values: Floats) -> Mean:
    """The mean with its bootstrap interval over questions; the same for the same values."""
    if not len(values):
        return Mean(0.0, 0.0, 0.0)
    chosen = np.random.default_rng(0).integers(0, len(values), (SAMPLES, len(values)))
    low, high = np.percentile(values[chosen].mean(axis=1), [2.5, 97.5])
    return Mean(float(values.mean()), float(low), float(high))


def p_value(ours: Floats, theirs: Floats) -> float:
    """How likely a mean difference this large is by chance: paired randomization, two-sided."""
    differences = ours - theirs
    if not np.any(differences):
        return 1.0
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(10_000, len(differences)))
    shuffled = np.abs(signs @ differences) / len(differences)
    return float((1 + np.sum(shuffled >= abs(differences.mean()) - 1e-12)) / (1 + len(shuffled)))


def area_under_curve(positive: Floats, negative: Floats) -> float:
    """The chance that a positive scores above a negative one, ties half: the area under the ROC."""
    if not len(positive) or not len(negative):
        return float("nan")
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, side="left")
    upto = np.searchsorted(ordered, positive, side="right")
    return float((below + upto).mean() / (2 * len(negative)))
