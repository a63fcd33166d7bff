"""The night's upkeep: index, embed, graph, each as far as something changed."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..checks.freshness import Freshness, compare, recorded
from ..errors import CortexError, Damaged, Unavailable
from ..state import State
from ..types import Json
from ..vault.scan import FolderRules, scan
from .vault_log import NAME, append_line, log_line

EVENT = "maintenance"
KINDS = {"index": "index", "embed": "vectors", "graph": "graph"}  # step -> what it builds
_LISTED = 50  # paths in the line of the log

# Name -> what does it and returns its report; its argument: do it all anew.
Steps = Mapping[str, Callable[[bool], Any]]


@dataclass(slots=True)
class StepReport:
    step: str
    outcome: Literal["OK", "SKIP", "FAIL"]
    seconds: float
    message: str = ""  # what it did, or why not
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class MaintenanceReport:
    dry_run: bool
    steps: list[StepReport] = field(default_factory=list)
    unread: list[dict[str, Json]] = field(
        default_factory=list
    )  # {file, message}: kept as they were
    warnings: list[str] = field(default_factory=list)
    duration_seconds: float = 0.0

    @property
    def is_ok(self) -> bool:
        return all(step.outcome != "FAIL" for step in self.steps)


def probe(
    state: State, vault: Path, rules: FolderRules, *, follow_outside: bool = False
) -> MaintenanceReport:
    """What an upkeep would find to do, by path, size and time of the notes. Writes nothing.

    One step `probe`, with the counts new, changed, removed and unchanged, and in its message what
    is not built yet, is damaged or lags behind the index.
    """
    began = time.monotonic()
    counts, lacks = _differences(state, vault, rules, follow_outside)[0], _lacking(state)
    parts = [f"{count:,} {name}" for name, count in counts.items()]
    message = ", ".join([*parts, *lacks])
    seconds = round(time.monotonic() - began, 3)
    step = StepReport("probe", "OK", seconds, message, counts)
    return MaintenanceReport(True, [step], warnings=lacks, duration_seconds=seconds)


def maintain(
    state: State,
    vault: Path,
    rules: FolderRules,
    steps: Steps,
    now: dt.datetime,
    *,
    force: bool = False,
    follow_outside: bool = False,
) -> MaintenanceReport:
    """Run the steps in order; the first that fails ends it, and the rest are told as skipped.

    steps: index, embed, graph. A model that is not there yet is no failure while nothing was ever
    embedded: `embed` is skipped and says why. Once there are vectors it is one, but the graph,
    which needs none, is built all the same. When something was built anew or a step failed, a line
    goes to the vault's log.md where that is there, and the steps run once more if log.md itself is
    indexed, or it would be out of date at once.
    Then the sums are those of the second time, and the changes those of the first. force: the
    first time, do it all anew.
    """
    began = time.monotonic()
    report = MaintenanceReport(False)
    paths = _differences(state, vault, rules, follow_outside)[1]
    was_graph_due = _is_graph_due(state)
    _run(state, steps, report, force)
    counts = {
        f"{step.step}_{name}": count for step in report.steps for name, count in step.counts.items()
    }
    status = "ok" if report.is_ok else "failed"
    if len(paths) > _LISTED:
        counts["paths_left_out"] = len(paths) - _LISTED
    before = _size(vault / NAME)
    if was_graph_due or not report.is_ok or any(counts.get(name) for name in _CHANGES):
        line = log_line(now, EVENT, "write", status, counts, paths[:_LISTED])
        if warning := append_line(vault, line):
            report.warnings.append(warning)
    if report.is_ok and _size(vault / NAME) != before and rules.takes(NAME):
        _run(state, steps, again := MaintenanceReport(False), False)
        for step, more in zip(report.steps, again.steps, strict=True):
            step.seconds = round(step.seconds + more.seconds, 3)
            if more.outcome == "FAIL":
                step.outcome, step.message = "FAIL", more.message
            elif more.counts:
                step.counts |= {what: more.counts[what] for what in _SUMS if what in more.counts}
                step.message = _told(step.counts)
    report.duration_seconds = round(time.monotonic() - began, 3)
    return report


def _run(state: State, steps: Steps, report: MaintenanceReport, force: bool) -> None:
    failed = ""
    for name, work in steps.items():
        if failed:
            report.steps.append(StepReport(name, "SKIP", 0.0, f"{failed} failed"))
            continue
        began = time.monotonic()
        step = StepReport(name, "OK", 0.0)
        try:
            done = work(force)
            step.counts = _counts(name, done)
            step.message = _told(step.counts)
            if name == "index":
                report.unread = _unread(done)
        except Unavailable as error:
            step.message = error.why
            step.outcome = "FAIL" if _is_built(state, KINDS[name]) else "SKIP"
        except CortexError as error:
            step.outcome, step.message = "FAIL", str(error)
            failed = name
        except OSError as error:
            step.outcome = "FAIL"
            step.message = f"{error.filename or state.root}: {error.strerror or error}"
            failed = name
        step.seconds = round(time.monotonic() - began, 3)
        report.steps.append(step)


_COUNTED: dict[str, Sequence[str]] = {
    "index": ("notes", "added", "changed", "removed", "unchanged"),
    "embed": ("vectors", "encoded", "reused", "removed"),
    "graph": ("nodes", "edges", "broken"),
}


# Counts, with their step, of which none is above 0 in a run that found all as it was.
_CHANGES = ("index_added", "index_changed", "index_removed", "embed_encoded", "embed_removed")
_SUMS = {"notes": "note", "vectors": "vector", "nodes": "node", "edges": "edge", "broken": "broken"}


def _told(counts: Mapping[str, int]) -> str:
    """`3 notes, 1 added`: each count with its name, which is of one or of many."""
    return ", ".join(
        f"{count:,} {_SUMS.get(what, what) if count == 1 else what}"
        for what, count in counts.items()
    )


def _counts(name: str, done: Any) -> dict[str, int]:
    return {what: int(getattr(done, what)) for what in _COUNTED[name]}


def _unread(done: Any) -> list[dict[str, Json]]:
    """The notes that the index could not read."""
    told = {
        problem.note: problem.message for problem in done.problems if problem.code in _UNREAD_CODES
    }
    told |= {path: told.get(path, "it could not be read") for path in done.kept}
    return [{"file": path, "message": message} for path, message in sorted(told.items())]


_UNREAD_CODES = frozenset({"unreadable", "binary", "folder_unreadable"})


def _differences(
    state: State, vault: Path, rules: FolderRules, follow_outside: bool
) -> tuple[dict[str, int], list[str]]:
    """(counts of new, changed, removed and unchanged notes, paths of the first three, sorted)."""
    found = scan(vault, rules, follow_outside=follow_outside)
    try:
        stamp = state.stamp("index")
        record = recorded(stamp) if stamp else None
    except Damaged:
        record = None
    if record is None:
        paths = [note.path for note in found.notes]
        counts = {"new": len(paths), "changed": 0, "removed": 0, "unchanged": 0}
        return counts, paths
    fresh: Freshness = compare(record, found)
    there = {note.path: (note.size, note.modified) for note in found.notes}
    paths = sorted(
        path
        for path in {*there, *record.notes}
        if there.get(path) != record.notes.get(path) and path not in record.left_out
    )
    counts = {
        "new": fresh.added,
        "changed": fresh.changed,
        "removed": fresh.removed,
        "unchanged": len(record.notes) - fresh.changed - fresh.removed,
    }
    return counts, paths


def _lacking(state: State) -> list[str]:
    """What is not built yet, is damaged or lags behind the index."""
    lacks = []
    index = None
    for step, kind in KINDS.items():
        verb, lag = ("are", "lag") if kind == "vectors" else ("is", "lags")
        try:
            stamp = state.stamp(kind)
        except Damaged:
            lacks.append(f"the {kind} {verb} damaged")
            continue
        if step == "index":
            index = stamp
        if stamp is None:
            lacks.append(f"the {kind} {verb} not built yet")
        elif step != "index" and index is not None and stamp.built_from != index.generation:
            lacks.append(f"the {kind} {lag} behind the index")
    return lacks


def _is_graph_due(state: State) -> bool:
    try:
        graph, index = state.stamp("graph"), state.stamp("index")
    except Damaged:
        return True
    return graph is None or index is None or graph.built_from != index.generation


def _is_built(state: State, kind: str) -> bool:
    try:
        return state.stamp(kind) is not None
    except Damaged:
        return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
