"""Nightly promotion: what was left half done first, then what is flagged in the vault now."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import Damaged
from ..files import read_lines
from ..state import State
from ..types import Json
from ..vault.scan import FolderRules
from .carry_out import carry_out
from .journal import Journal, Run
from .promotion import Plan, plan
from .run_ends import finish, logged, planned_row


@dataclass(slots=True)
class NightlyReport:
    """What a promotion run did, or would do. Rows go by the path of their note."""

    dry_run: bool
    run: int | None = None  # its number in the journal; None when nothing was promoted
    candidates: list[dict[str, Json]] = field(default_factory=list)
    planned: list[dict[str, Json]] = field(default_factory=list)  # what nothing speaks against
    promoted: list[dict[str, Json]] = field(default_factory=list)
    superseded: list[dict[str, Json]] = field(default_factory=list)
    skipped: list[dict[str, Json]] = field(default_factory=list)
    skipped_duplicates: list[dict[str, Json]] = field(default_factory=list)
    contradiction_blocks: list[dict[str, Json]] = field(default_factory=list)
    not_superseded: list[dict[str, Json]] = field(default_factory=list)
    unreadable: list[dict[str, Json]] = field(default_factory=list)
    finished: list[dict[str, Json]] = field(default_factory=list)  # runs that had been stopped
    warnings: list[str] = field(default_factory=list)
    session_sources: dict[str, Json] | None = None  # how sessions were come by, if that was asked
    error: str | None = None
    duration_seconds: float = 0.0


def nightly(
    state: State,
    vault: Path,
    now: dt.datetime,
    *,
    write: bool = False,
    again: bool = False,
    rules: FolderRules | None = None,
    follow_outside: bool = False,
) -> NightlyReport:
    """Promote what is flagged; without `write`, tell what that would do, and write nothing at all.

    now: its zone decides which day is written into notes. A run that was stopped is finished first,
    or its undoing is. again: promote also what an undone run promoted. rules: which notes are
    indexed, to warn of a folder that is not. A write that fails ends the run with `error` set; what
    was begun then is finished by the next one. Raises CortexError: the lock, a damaged journal.
    """
    began = time.monotonic()
    report = NightlyReport(dry_run=not write)
    errand = _Nightly(state, vault, now, report, again, rules, follow_outside)
    if write:
        with state.lock():
            try:
                errand.write()
            except OSError as error:
                what = f"{error.filename or vault}: {error.strerror or error}"
                report.error = f"{what}; what was begun is finished by the next run that writes"
    else:
        errand.preview()
    report.duration_seconds = round(time.monotonic() - began, 3)
    return report


def history(state: State) -> list[dict[str, Json]]:
    """The runs of the journal, newest first: run, started, status, promoted, dropped, kept."""
    return [
        {
            "run": run.number,
            "started": run.started,
            "status": run.status,
            "promoted": [planned_row(one) for one in run.promotions if one.state == "done"],
            "dropped": [
                {"file": one.source, "message": one.why}
                for one in run.promotions
                if one.state in ("dropped", "failed")
            ],
            "pending": [planned_row(one) for one in run.promotions if one.state == "pending"],
            "kept": [{"file": path, "message": why} for path, why in run.kept],
        }
        for run in reversed(Journal(state.root).runs())
    ]


class _Nightly:
    """One run of promotion, which fills its report."""

    def __init__(
        self,
        state: State,
        vault: Path,
        now: dt.datetime,
        report: NightlyReport,
        again: bool,
        rules: FolderRules | None,
        follow_outside: bool,
    ) -> None:
        self.state, self.vault, self.now, self.report = state, vault, now, report
        self.again, self.rules, self.follow_outside = again, rules, follow_outside
        self.journal = Journal(state.root)

    def preview(self) -> None:
        left = self.journal.open_run()
        if left is not None:
            what = "taking it back" if left.status == "undoing" else "it"
            self.report.warnings.append(
                f"run {left.number} was stopped before its end; the next run that writes finishes "
                f"{what} first; run: cortex lifecycle nightly --write"
            )
        self.plan()

    def write(self) -> None:
        self.journal.sweep()
        left = self.journal.open_run()
        if left is not None:
            self.report.finished, warnings = finish(self.journal, self.vault, left, self.now)
            self.report.warnings += warnings
        planned = self.plan()
        run = None
        if planned.promotions:
            contents = planned.blobs.values()
            run = self.journal.begin(self.vault, planned.promotions, contents, self.now)
            self.report.run = run.number
            run = carry_out(self.journal, self.vault, run)
            self.tell(run)
        else:
            self.tell(None)
        status = "failed" if self.report.error else "ok"
        if self.report.promoted or self.report.error:
            self.report.warnings += logged(self.vault, self.now, run, self.counts(), status)
        if run is not None:
            self.journal.save(replace(run, status="done"))

    def plan(self) -> Plan:
        undone = {} if self.again else _undone(self.journal)
        planned = plan(
            self.vault,
            self.now.date(),
            graph_contradictions=self.graph_contradictions(),
            undone=undone,
            follow_outside=self.follow_outside,
        )
        report = self.report
        report.candidates, report.skipped = planned.candidates, planned.skipped
        report.skipped_duplicates = planned.duplicates
        report.contradiction_blocks = planned.contradictions
        report.not_superseded, report.unreadable = planned.not_superseded, planned.unreadable
        report.planned = [planned_row(promotion) for promotion in planned.promotions]
        for folder in dict.fromkeys(one.target.split("/")[0] for one in planned.promotions):
            if self.rules is not None and not self.rules.takes(f"{folder}/note.md"):
                report.warnings.append(
                    f"{folder} is left out of the index, so what is promoted there will not be "
                    "found; change vault.include_folders or vault.exclude_folders in the config"
                )
        return planned

    def tell(self, run: Run | None) -> None:
        for promotion in run.promotions if run else ():
            if promotion.state != "done":
                is_failed = promotion.state == "failed"
                reason = "write_failed" if is_failed else "changed"
                row = {"file": promotion.source, "reason": reason, "message": promotion.why}
                self.report.skipped.append(row)
                if is_failed and self.report.error is None:
                    self.report.error = promotion.why
                continue
            done = planned_row(promotion)
            del done["supersedes"]
            self.report.promoted.append(done)
            if promotion.why:
                self.report.warnings.append(promotion.why)
            self.report.superseded += [
                {"file": path, "superseded_by": promotion.target} for path in promotion.superseded
            ]

    def counts(self) -> dict[str, int]:
        report = self.report
        return {
            "candidates": len(report.candidates),
            "promoted": len(report.promoted),
            "superseded": len(report.superseded),
            "duplicates": len(report.skipped_duplicates),
            "contradictions": len({row["file"] for row in report.contradiction_blocks}),
            "skipped": len(report.skipped),
        }

    def graph_contradictions(self) -> list[tuple[str, str]]:
        """What the link graph has, where it is built; it may lag behind the notes."""
        try:
            stamp = self.state.stamp("graph")
            if stamp is None:
                return []
            edges = read_lines(stamp.file("graph_edges.jsonl"))
            pairs = [(e["source"], e["target"]) for e in edges if e["type"] == "contradicts"]
        except (OSError, ValueError, KeyError, TypeError, Damaged) as error:
            why = str(error) if isinstance(error, Damaged) else "it cannot be read"
            self.report.warnings.append(f"the link graph was not asked for contradictions: {why}")
            return []
        return [(one.removeprefix(_NOTE), other.removeprefix(_NOTE)) for one, other in pairs]


_NOTE = "note:"  # begins the id of a note in the graph


def _undone(journal: Journal) -> dict[str, str]:
    """Source -> digest of its text, of what was promoted and taken back."""
    return {
        promotion.source: str(promotion.writes[1].before)
        for run in journal.runs()
        if run.status in ("undone", "partly_undone")
        for promotion in run.promotions
        if promotion.state == "done"
    }
