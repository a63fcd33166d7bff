"""How a run of promotion comes to its end: finished after a stop, or taken back; and the log."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import CortexError
from ..types import Json
from .carry_out import Step, carry_out, undo, undo_steps
from .journal import Journal, Promotion, Run
from .vault_log import append_line, log_line
from .vault_writes import stand

EVENT, UNDO_EVENT = "nightly", "nightly-undo"


@dataclass(slots=True)
class UndoReport:
    dry_run: bool
    run: int
    outcome: str  # undone, partly_undone; what it would be in a dry run
    restored: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[dict[str, Json]] = field(default_factory=list)  # {file, message}
    finished: list[dict[str, Json]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def finish(
    journal: Journal, vault: Path, run: Run, now: dt.datetime
) -> tuple[list[dict[str, Json]], list[str]]:
    """(what was finished, warnings) of a run that was stopped, or of its undoing."""
    check_vault(journal, vault, run)
    if run.status == "undoing":
        report = end_undo(journal, vault, run, undo_steps(vault, run), now, [], resumed=True)
        row: dict[str, Json] = {
            "run": run.number,
            "outcome": report.outcome,
            "promoted": [],
            "dropped": report.kept,
        }
        return [row], report.warnings
    run = carry_out(journal, vault, run)
    done = [one for one in run.promotions if one.state == "done"]
    dropped = [one for one in run.promotions if one.state != "done"]
    counts = {
        "promoted": len(done),
        "superseded": sum(len(one.superseded) for one in done),
        "skipped": len(dropped),
    }
    is_failed = any(one.state == "failed" for one in dropped)
    status = "failed" if is_failed else "ok"
    warnings = logged(vault, now, run, counts, status, resumed=True)
    warnings += [one.why for one in done if one.why]
    journal.save(replace(run, status="done"))
    row = {
        "run": run.number,
        "outcome": "done",
        "promoted": [planned_row(one) for one in done],
        "dropped": [{"file": one.source, "message": one.why} for one in dropped],
    }
    return [row], warnings


def check_vault(journal: Journal, vault: Path, run: Run) -> None:
    """Raises CortexError if a run was made in another vault: here it would find nothing of its own.

    A vault in another place is the one of the run if it has one of its files.
    """
    if run.vault == os.path.realpath(vault) or _is_known(vault, run):
        return
    folder = journal.folder / str(run.number)
    raise CortexError(
        f"run {run.number} was made in another vault, {run.vault}; use the config of that vault, "
        f"or, if it is gone for good, move the folder {folder} away"
    )


def _is_known(vault: Path, run: Run) -> bool:
    return any(
        stand(vault, write) in (("after",) if write.before is None else ("before", "after"))
        for promotion in run.promotions
        for write in promotion.writes
    )


def end_undo(
    journal: Journal,
    vault: Path,
    run: Run,
    steps: Sequence[Step],
    now: dt.datetime,
    warnings: list[str],
    *,
    resumed: bool = False,
) -> UndoReport:
    """Take a run back that is noted as being undone; `steps` are what that was seen to need."""
    ended = undo(journal, vault, run)
    report = undo_report(ended, steps, dry_run=False)
    counts = {"restored": len(report.restored), "removed": len(report.removed)}
    counts["kept"] = len(report.kept)
    paths = [*report.restored, *report.removed]
    status = "ok" if ended.status == "undone" else "partly"
    line = log_line(now, f"{UNDO_EVENT} run={run.number}", "write", status, counts, paths)
    known = f"{UNDO_EVENT} run={run.number}" if resumed else ""
    warning = append_line(vault, line, known)
    report.warnings = [*warnings, *([warning] if warning else [])]
    journal.save(ended)
    return report


def undo_report(run: Run, steps: Sequence[Step], *, dry_run: bool) -> UndoReport:
    """What undoing did, or would do."""
    if dry_run:
        kept = [(step.write.path, step.why) for step in steps if step.action == "keep"]
    else:
        kept = list(run.kept)
    left = {path for path, _ in kept}
    return UndoReport(
        dry_run=dry_run,
        run=run.number,
        outcome="partly_undone" if kept else "undone",
        restored=_paths(steps, "restore", left),
        removed=_paths(steps, "remove", left),
        kept=[{"file": path, "message": why} for path, why in kept],
    )


def _paths(steps: Sequence[Step], action: str, left: Collection[str]) -> list[str]:
    found = {step.write.path for step in steps if step.action == action}
    return sorted(found - set(left))


def logged(
    vault: Path,
    now: dt.datetime,
    run: Run | None,
    counts: Mapping[str, int],
    status: str,
    *,
    resumed: bool = False,
) -> list[str]:
    """Append to the vault's log what a run did, None being one that promoted nothing; warnings.

    resumed: the line may be there already.
    """
    event = EVENT if run is None else f"{EVENT} run={run.number}"
    paths = [
        path
        for promotion in (run.promotions if run else ())
        if promotion.state == "done"
        for path in (promotion.source, promotion.target, *promotion.superseded)
    ]
    line = log_line(now, event, "write", status, counts, paths)
    warning = append_line(vault, line, event if resumed else "")
    return [warning] if warning else []


def planned_row(promotion: Promotion) -> dict[str, Json]:
    """A promotion in a report."""
    return {
        "file": promotion.target,
        "source": promotion.source,
        "type": promotion.type,
        "derived_from": promotion.derived_from,
        "supersedes": list(promotion.superseded),
    }
