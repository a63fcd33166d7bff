"""Each case of the case bank, run through the public interface."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from case_bank import Case, is_of_hooks, load_cases
from case_checks import run_case
from shared import shared

SLOW_S = 300  # a case that may take this long is told apart


def cases_folder() -> Path:
    """CORTEX_CASES, else cases/ of the shared folder; the module is skipped without it."""
    named = os.environ.get("CORTEX_CASES")
    return Path(named) if named else shared("cases")


def parameters() -> list[object]:
    cases = load_cases(cases_folder())
    assert cases, f"no case in {cases_folder()}"
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[pytest.mark.slow] if (case.seconds or 0) >= SLOW_S else [],
        )
        for case in cases
        if not is_of_hooks(case)
    ]


@pytest.mark.network
@pytest.mark.parametrize("case", parameters())
def test_a_case_of_the_bank_comes_out_as_it_says(
    case: Case, tmp_path: Path, models_folder: Path
) -> None:
    faults = run_case(case, tmp_path, models_folder)
    assert not faults, "\n".join([case.spec["title"], *case.spec.get("expect", []), "--", *faults])
