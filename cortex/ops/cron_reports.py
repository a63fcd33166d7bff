"""What a job does when it is due: errands of ours one after the other, and one report of them.

The report is what a chat is sent, or what stands before the model of the job: no session is in it
as it was, secrets are masked, and nothing in it ends the block that the host puts it in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..commands import PROGRAM, as_typed
from ..config import Config
from ..errors import CortexError
from ..redaction import redact
from ..state import State
from .candidates import CandidateReport
from .cron_jobs import Kind
from .left_alone import ENDS, left_alone, not_told_before
from .maintenance import MaintenanceReport
from .nightly import NightlyReport
from .weekly import WeeklyReport, as_markdown

MOST_CHARS = 20000
_MOST_ROWS = 30  # of one list
_LAST_LINE = "End of the report of Cortex."


class Errands(Protocol):
    """What jobs are made of; see Desk."""

    @property
    def config(self) -> Config: ...

    @property
    def vault(self) -> Path: ...

    @property
    def state(self) -> State: ...

    def candidates(self, *, write: bool) -> CandidateReport: ...

    def nightly(self, write: bool) -> NightlyReport: ...

    def maintain(self) -> MaintenanceReport: ...

    def weekly(self) -> WeeklyReport: ...


@dataclass(frozen=True, slots=True)
class JobReport:
    text: str  # Markdown; "" where there is nothing to tell
    is_sound: bool  # no step failed


@dataclass(frozen=True, slots=True)
class _Part:
    """The report of one errand."""

    title: str
    lines: Sequence[str]
    is_news: bool = False
    has_failed: bool = False
    is_quoting: bool = False  # what somebody said: no command in it is one that we name


def run_job(kind: Kind, errands: Errands, program: str = PROGRAM) -> JobReport:
    """Do the job, and tell of it where something failed or is new. Raises nothing of ours.

    program: how commands to run are typed where the report is read.
    """
    parts = list(_PARTS[kind](errands))
    is_sound = not any(part.has_failed for part in parts)
    if is_sound and not any(part.is_news for part in parts):
        return JobReport("", True)
    told = [f"# Cortex: {kind}"]
    for part in parts:
        lines = [line if part.is_quoting else as_typed(line, program) for line in part.lines]
        told += [f"## {part.title}\n\n" + "\n".join(lines)] if lines else []
    return JobReport(presentable("\n\n".join(told)), is_sound)


def presentable(text: str) -> str:
    """The text masked, cut to MOST_CHARS, with no code fence and a last line of ours."""
    text = redact(text)[0].replace("```", "'''")
    text = "".join(char for char in text if char == "\n" or char.isprintable())
    if len(text) > MOST_CHARS:
        cut = text.rfind("\n", 0, MOST_CHARS)
        text = f"{text[: cut if cut > 0 else MOST_CHARS]}\n(cut here: it was longer)"
    # The host takes the last line for an order of ours if it is {"wakeAgent": false} or [SILENT].
    return f"{text.rstrip()}\n\n{_LAST_LINE}"


def _maintenance(errands: Errands) -> Iterator[_Part]:
    yield _tried("Upkeep of index, vectors and graph", lambda: _upkeep(errands.maintain()))


def _nightly(errands: Errands) -> Iterator[_Part]:
    """Drafts first, which the promotion leaves alone; then what the inbox has ready."""
    drafts = _tried(
        "Drafts out of recent sessions", lambda: _drafts(errands.candidates(write=True))
    )
    yield drafts if drafts.has_failed else replace(drafts, is_quoting=True)
    if errands.config.cron.nightly_promotion.dry_run_first:
        rehearsal = _tried("Promotion", lambda: _promotion(errands, write=False))
        if rehearsal.has_failed:
            yield rehearsal
            return
    promotion = _tried("Promotion", lambda: _promotion(errands, write=True))
    yield promotion
    if promotion.is_news and not promotion.has_failed:  # so that searches find what was promoted
        yield from _maintenance(errands)


def _weekly(errands: Errands) -> Iterator[_Part]:
    yield _tried("Review", lambda: _review(errands.weekly()))


_PARTS: Mapping[Kind, Callable[[Errands], Iterator[_Part]]] = {
    "maintenance": _maintenance,
    "nightly": _nightly,
    "weekly": _weekly,
}


def _tried(title: str, errand: Callable[[], tuple[list[str], bool, bool]]) -> _Part:
    """An errand's (lines, whether they are news, whether it failed), as a part of the report."""
    try:
        lines, is_news, has_failed = errand()
    except CortexError as error:
        return _Part(title, [f"failed: {error}"], has_failed=True)
    return _Part(title, lines, is_news, has_failed)


def _upkeep(report: MaintenanceReport) -> tuple[list[str], bool, bool]:
    if report.is_ok:
        return [], False, False
    lines = [
        f"- {step.outcome} {step.step}" + (f": {step.message}" if step.message else "")
        for step in report.steps
    ]
    return [*lines, *(f"- {warning}" for warning in report.warnings)], False, True


def _drafts(report: CandidateReport) -> tuple[list[str], bool, bool]:
    lines = _some(
        f"{one.path} ({one.kind}, said by the {one.said_by}, {one.time or 'time unknown'}): "
        f"“{one.quote}”"
        for one in report.candidates
    )
    if report.left:
        lines.append(f"- {report.left} more are left for the next run")
    return lines, bool(report.candidates), False


def _promotion(errands: Errands, *, write: bool) -> tuple[list[str], bool, bool]:
    report = errands.nightly(write=write)
    left = left_alone(report)
    # Told once, and not each night for as long as it lies there.
    news = not_told_before(errands.state, errands.vault, left) if write else left
    lines = [
        *_some(
            f"promoted {row['source']} -> {row['file']} ({row['type']})" for row in report.promoted
        ),
        *_some(
            f"marked {row['file']}: it is superseded by {row['superseded_by']}"
            for row in report.superseded
        ),
        *_some(
            f"{row['by']} supersedes {row['file']}, not marked: {row['message']}"
            for row in report.not_superseded
        ),
        *_some(f"left {one.file}: {one.why}" for one in news),
    ]
    lines += _some(
        f"could not be read: {row['file']}: {row['message']}" for row in report.unreadable
    )
    if known := len(left) - len(news):
        others = f"{known} {'other is' if known == 1 else 'others are'} left alone as before"
        lines.append(f"- {others}; run: cortex lifecycle nightly")
    for run in report.finished:
        ending = ENDS[run["outcome"]]
        lines.append(f"- run {run['run']} had been stopped and is now {ending}")
        if run["outcome"] == "done":
            lines += _some(f"promoted {row['source']} -> {row['file']}" for row in run["promoted"])
        lines += _some(f"left {row['file']}: {row['message']}" for row in run["dropped"])
    lines += [f"- {warning}" for warning in report.warnings]
    if report.error:
        lines.append(f"- failed: {report.error}")
    return lines, bool(report.promoted or report.finished or news), report.error is not None


def _review(report: WeeklyReport) -> tuple[list[str], bool, bool]:
    found = (
        report.duplicate_groups,
        report.stale_high_importance,
        report.broken_references,
        report.consolidation_proposals,
        report.orphan_nodes,
        report.contradiction_clusters,
    )
    return as_markdown(report).splitlines(), any(found), False


def _some(told: Iterable[str]) -> list[str]:
    """A line each, the first of many."""
    lines = [f"- {' '.join(line.split())}" for line in told]
    more = len(lines) - _MOST_ROWS
    return [*lines[:_MOST_ROWS], f"- and {more} more"] if more > 0 else lines
