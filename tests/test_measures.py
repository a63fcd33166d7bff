"""Measures of rankings: by hand, by ir_measures, and what of a difference is chance."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.evaluation.measures import (
    MEASURES,
    by_definition,
    interval,
    measured,
    paired_p,
    percentiles,
)


def test_the_measures_of_a_ranking_are_those_of_trec_eval():
    values = by_definition({"a": 2, "b": 1, "c": 1}, ["x", "a", "y", "b"])
    found = 2 / math.log2(3) + 1 / math.log2(5)
    ideal = 2 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert values == {
        "nDCG@10": pytest.approx(found / ideal),
        "MRR@10": 1 / 2,
        "Recall@5": 2 / 3,
        "Recall@10": 2 / 3,
        "Recall@20": 2 / 3,
        "Success@1": 0.0,
        "Success@5": 1.0,
        "Success@10": 1.0,
    }


def test_what_stands_behind_the_depth_of_a_measure_does_not_count():
    values = by_definition({"a": 1}, [*"0123456789", "a"])
    assert [values["nDCG@10"], values["MRR@10"], values["Recall@10"]] == [0.0, 0.0, 0.0]
    assert values["Recall@20"] == 1.0


NAMES = st.sampled_from(["a b.md", "ä.md", "c/d.md", "鐘.md", *map(str, range(30))])
QRELS = st.dictionaries(NAMES, st.integers(1, 3), min_size=1)


@settings(deadline=None)
@given(st.lists(st.tuples(QRELS, st.lists(NAMES, unique=True)), min_size=1, max_size=5))
def test_ir_measures_and_our_own_definitions_give_the_same(queries):
    pytest.importorskip("ir_measures")
    qrels = {str(at): relevant for at, (relevant, _) in enumerate(queries)}
    runs = {str(at): ranking for at, (_, ranking) in enumerate(queries)}
    values, by = measured(qrels, runs)
    assert by.startswith("ir_measures ")
    for name in qrels:
        assert values[name] == pytest.approx(by_definition(qrels[name], runs[name]))


def test_measures_are_to_be_had_without_ir_measures(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    values, by = measured({"q": {"a": 1}}, {"q": ["b", "a"]})
    assert by == "cortex"
    assert values["q"]["MRR@10"] == 1 / 2


def test_a_query_that_found_nothing_measures_zero():
    values, _ = measured({"q": {"a": 1}, "r": {"a": 1}}, {"q": [], "r": ["a"]})
    assert values["q"] == dict.fromkeys(MEASURES, 0.0)
    assert values["r"]["nDCG@10"] == 1.0


def test_five_gains_of_five_are_made_by_chance_twice_in_thirty_two():
    assert paired_p([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]) == 2 / 32


def test_queries_that_do_not_differ_neither_help_nor_hurt():
    assert paired_p([1, 1, 1, 0.5, 0.5], [0, 0, 0, 0.5, 0.5]) == 2 / 8


def test_equal_runs_differ_by_chance_alone():
    assert paired_p([0.5, 1.0], [0.5, 1.0]) == 1.0


def test_many_differences_are_drawn_and_the_p_is_the_same_each_time():
    ours, theirs = [1.0] * 40, [0.0] * 40
    assert paired_p(ours, theirs) == paired_p(ours, theirs) == 1 / 10_001
    mixed = [1.0, 0.0] * 20
    assert paired_p(mixed, mixed[::-1]) > 0.9


def test_the_interval_of_a_mean_holds_it_and_is_the_same_each_time():
    low, high = interval([0.0, 1.0] * 50)
    assert 0.38 < low < 0.45 and 0.55 < high < 0.62
    assert (low, high) == interval([0.0, 1.0] * 50)
    assert interval([0.25, 0.25]) == (0.25, 0.25)


def test_percentiles_are_times_that_were_measured():
    found = percentiles([float(number) for number in range(1, 101)])
    assert found == {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "mean": 50.5, "max": 100}
    assert percentiles([7.0])["p99"] == 7.0
