"""What a job does when it is due: errands of ours one after the other, and one report of them.

The report is what a chat is sent, or what stands before the model of the job: no session is in it
as it was, secrets are masked, and nothing in it ends the block that the host puts it in.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..config import Config
from ..errors import CortexError
from ..redaction import redact
from ..types import Json
from .candidates import CandidateReport
from .cron_jobs import Kind
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
    def now(self) -> dt.datetime: ...

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


def run_job(kind: Kind, errands: Errands) -> JobReport:
    """Do the job, and tell of it where something failed or is new. Raises nothing of ours."""
    parts = list(_PARTS[kind](errands))
    is_sound = not any(part.has_failed for part in parts)
    if is_sound and not any(part.is_news for part in parts):
        return JobReport("", True)
    told = [f"# Cortex: {kind}"]
    told += [f"## {part.title}\n\n" + "\n".join(part.lines) for part in parts if part.lines]
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
    yield _tried("Drafts out of recent sessions", lambda: _drafts(errands.candidates(write=True)))
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
    lines = [
        f"- {one.path} ({one.kind}, said by the {one.said_by}, {one.time or 'time unknown'}): "
        f"“{one.quote}”"
        for one in report.candidates[:_MOST_ROWS]
    ]
    if len(report.candidates) > _MOST_ROWS:
        lines.append(f"- and {len(report.candidates) - _MOST_ROWS} more")
    if report.left:
        lines.append(f"- {report.left} more are left for the next run")
    return lines, bool(report.candidates), False


def _promotion(errands: Errands, *, write: bool) -> tuple[list[str], bool, bool]:
    report = errands.nightly(write=write)
    vault = errands.config.vault.path
    days = errands.config.cron.nightly_promotion.lookback_days
    since = errands.now.timestamp() - 86400.0 * (days + 1)
    left = [*report.skipped_duplicates, *report.contradiction_blocks, *report.skipped]
    lines = [
        *_rows("promoted", report.promoted),
        *_rows("marked as superseded", report.superseded),
        *_rows("left alone", left),
        *_rows("superseded, but not marked", report.not_superseded),
        *_rows("finished, of a run that had been stopped", report.finished),
        *(f"- {warning}" for warning in report.warnings),
    ]
    if report.error:
        lines.append(f"- failed: {report.error}")
    # What was left alone is told when it is new, and not each night for as long as it lies there.
    is_fresh = vault is not None and any(_is_newer(vault / row["file"], since) for row in left)
    is_news = bool(report.promoted or report.finished or is_fresh)
    return lines, is_news, report.error is not None


def _is_newer(path: Path, since: float) -> bool:
    try:
        return path.stat().st_mtime >= since
    except OSError:
        return False


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


def _rows(title: str, rows: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    if rows:
        yield f"- {title}: {len(rows)}"
    for row in rows[:_MOST_ROWS]:
        yield f"  - {_flat(row)}"
    if len(rows) > _MOST_ROWS:
        yield f"  - and {len(rows) - _MOST_ROWS} more"


def _flat(value: Json) -> str:
    """On one line: `file: 10_facts/Bees.md; type: fact`; what is empty is left out."""
    if isinstance(value, Mapping):
        return "; ".join(
            f"{name.replace('_', ' ')}: {_flat(part)}"
            for name, part in value.items()
            if part not in (None, "", [], {})
        )
    if isinstance(value, list | tuple):
        return ", ".join(_flat(part) for part in value)
    return " ".join(str(value).split())
