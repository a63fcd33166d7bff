"""The days and months that a message names."""

from __future__ import annotations

import datetime as dt

import pytest

from cortex.inject.days import nearness, periods_of


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("what did we say on 2026-06-03?", [(2026, 6, 3)]),
        ("the plan of 3 June, 2026", [(2026, 6, 3)]),
        ("on June 3rd, 2026 and in July", [(2026, 6, 3), (None, 7, None)]),
        ("am 3. Juni 2026 oder im Oktober", [(2026, 6, 3), (None, 10, None)]),
        ("el 3 de junio de 2026", [(2026, 6, 3)]),
        ("em março de 2026", [(2026, 3, None)]),
        ("2026-06 in review", [(2026, 6, None)]),
        ("may I march on?", []),
        ("in May 2026", [(2026, 5, None)]),
        ("version 2026-13-44 of 45 June", []),
        ("nothing at all", []),
    ],
)
def test_a_message_names_days_and_months(message: str, found: list[tuple[object, ...]]):
    periods = periods_of(message)
    assert [(period.year, period.month, period.day) for period in periods] == found


@pytest.mark.parametrize(
    ("message", "near"),
    [
        ("on 3 June 2026", 1.0),
        ("on 4 June", 1.0),  # a day off: clocks differ
        ("on 9 June 2026", 0.5),
        ("in June", 1.0),
        ("in June 2025", 0.0),
        ("in July or in June", 1.0),
        ("on 30 February", 0.0),
        ("whenever", 0.0),
    ],
)
def test_a_time_is_near_to_what_is_named(message: str, near: float):
    moment = dt.datetime(2026, 6, 3, 23, 30).timestamp()
    assert nearness(periods_of(message), moment) == near
    assert nearness(periods_of(message), None) == 0.0
    assert nearness(periods_of(message), 1e18) == 0.0
