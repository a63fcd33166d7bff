"""Taking back a run of promotion."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import CortexError, UsageError
from ..state import State
from ..types import Json
from .carry_out import undo_steps
from .journal import Journal, Run
from .run_ends import UndoReport, check_vault, end_undo, finish, undo_report


def undo_run(
    state: State, vault: Path, now: dt.datetime, number: int | None = None, *, dry_run: bool = False
) -> UndoReport:
    """Take back the last run, or the one of that number: byte for byte, where nobody wrote since.

    A note that was changed since stays and is told. The new note goes only when its source is
    back. A run that was stopped is finished first. Raises CortexError, UsageError for a number
    that there is not, OSError.
    """
    journal = Journal(state.root)
    if dry_run:
        run = _to_undo(journal, number)
        check_vault(journal, vault, run)
        report = undo_report(run, undo_steps(vault, run), dry_run=True)
        report.warnings += _passed_over(journal, number, run)
        if run.status == "begun":
            what = f"run {run.number} was stopped before its end"
            report.warnings.append(f"{what}; it is finished first, and then taken back")
        return report
    _to_undo(journal, number)  # or there is nothing to wait for
    with state.lock():
        finished: list[dict[str, Json]] = []
        warnings: list[str] = []
        run = _to_undo(journal, number)
        check_vault(journal, vault, run)
        left = journal.open_run()
        if left is not None and left.status == "begun":
            finished, warnings = finish(journal, vault, left, now)
            run = _to_undo(journal, run.number)
        warnings = [*_passed_over(journal, number, run), *warnings]
        run = replace(run, status="undoing")
        journal.save(run)
        steps = undo_steps(vault, run)
        report = end_undo(journal, vault, run, steps, now, warnings)
        report.finished = finished
        return report


def _to_undo(journal: Journal, number: int | None) -> Run:
    runs = journal.runs()
    left = next((run for run in runs if run.is_open), None)
    if number is None:
        if left is not None:
            return left
        partly = _partly_undone(runs)
        did = [run for run in runs if run.status == "done" and _did_something(run)]
        if not did and partly is not None:
            what = f"run {partly} is undone in part, and there is no other promotion to undo"
            raise CortexError(f"{what}; {_try_again(partly)}")
        if not did:
            raise CortexError("there is no promotion to undo; see: cortex lifecycle history")
        return did[-1]
    found = next((run for run in runs if run.number == number), None)
    if found is None:
        raise UsageError(f"there is no run {number}; see: cortex lifecycle history")
    if found.status == "undone":
        raise UsageError(f"run {number} was undone already; see: cortex lifecycle history")
    if left is not None and left.status == "undoing" and left.number != number:
        raise CortexError(
            f"undoing run {left.number} was stopped before its end; "
            f"run: cortex lifecycle undo {left.number}"
        )
    return found


def _partly_undone(runs: Sequence[Run]) -> int | None:
    """The last run of which undoing had to leave something."""
    return max((run.number for run in runs if run.status == "partly_undone"), default=None)


def _try_again(number: int) -> str:
    return f"to try again what was left, run: cortex lifecycle undo {number}"


def _passed_over(journal: Journal, asked: int | None, run: Run) -> list[str]:
    """That the last run is not the one undone, because undoing it had to leave something."""
    partly = _partly_undone(journal.runs())
    if asked is not None or partly is None or partly < run.number:
        return []
    return [f"run {partly} is undone in part, so this is run {run.number}; {_try_again(partly)}"]


def _did_something(run: Run) -> bool:
    return any(promotion.state == "done" for promotion in run.promotions)
