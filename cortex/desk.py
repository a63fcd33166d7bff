"""Desk: what whoever runs Cortex asks of a vault beside searching it; each method one errand.

The work is done in `checks` (which only read) and `ops` (which write when asked to).
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .app import Cortex
from .commands import PROGRAM
from .config import require_vault

if TYPE_CHECKING:
    from .checks.frontmatter import FrontmatterReport
    from .checks.wiki import WikiReport
    from .checkup import CheckUp
    from .config import Config
    from .inject.report import Report
    from .ops import cron
    from .ops.agent_notes import Preview
    from .ops.candidates import CandidateReport
    from .ops.cron_jobs import Kind
    from .ops.cron_reports import JobReport
    from .ops.maintenance import MaintenanceReport
    from .ops.nightly import NightlyReport
    from .ops.notes import Draft, NewNote
    from .ops.reset import Plan
    from .ops.run_ends import UndoReport
    from .ops.viewer import Viewer
    from .ops.weekly import WeeklyReport
    from .protocols import Progress
    from .records.transcripts import Found
    from .state import State
    from .types import Json


class Desk:
    """The errands around one vault. Makes nothing and opens nothing until one is run."""

    def __init__(self, cortex: Cortex, *, now: dt.datetime | None = None) -> None:
        """now: an aware time to take for the present, for whoever wants the same result twice."""
        self.cortex = cortex
        self._now = now

    @classmethod
    def open(
        cls,
        config: Config | str | os.PathLike[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        now: dt.datetime | None = None,
    ) -> Desk:
        """As Cortex.open. Raises ConfigError."""
        return cls(Cortex.open(config, env=env, today=now.date() if now else None), now=now)

    @property
    def config(self) -> Config:
        return self.cortex.config

    @property
    def vault(self) -> Path:
        """The folder of the notes. Raises ConfigError when the settings name none."""
        return require_vault(self.config)

    @property
    def state(self) -> State:
        """The folder of what Cortex itself makes."""
        return self.cortex.state

    @property
    def now(self) -> dt.datetime:
        """The present, with the zone of the system."""
        return self._now or dt.datetime.now().astimezone()

    @property
    def home(self) -> Path:
        """The Hermes home that asks."""
        from .home import hermes_home

        return hermes_home(self.env)

    @property
    def env(self) -> Mapping[str, str]:
        """The environment in which names and homes are looked up."""
        return self.cortex.env

    # Checks

    def validate_frontmatter(
        self, paths: Iterable[str | os.PathLike[str]] = ()
    ) -> FrontmatterReport:
        """What is wrong in the frontmatter of the notes, or of those that `paths` name.

        Only reads; see checks.frontmatter.validate. Raises UsageError for a path outside the vault.
        """
        from .checks.frontmatter import validate

        outside = self.config.vault.allow_symlinks_outside
        return validate(self.vault, self.cortex.rules, paths, follow_outside=outside)

    def wiki_health(self) -> WikiReport:
        """Whether the vault keeps the contract of folders, root files and sources. Only reads."""
        from .checks.wiki import wiki_health

        return wiki_health(self.config, self.cortex.rules)

    @staticmethod
    def check_up(
        config: str | os.PathLike[str] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        fix: bool = False,
        quick: bool = False,
    ) -> CheckUp:
        """Every check there is, also of a config that cannot be opened: see checkup.check_up."""
        from .checkup import check_up

        return check_up(config, os.environ if env is None else env, fix=fix, quick=quick)

    # Notes

    def new_note(self, wanted: NewNote, *, dry_run: bool = False) -> Draft:
        """The note as it was written, or on a dry run would be, with its path. Raises UsageError:
        see ops.notes.draft.
        """
        from .ops.notes import draft, write

        note = draft(self.vault, wanted, self.now)
        if not dry_run:
            write(self.vault, note)
        return note

    def preview_note(self, wanted: NewNote) -> Preview:
        """A note of the agent's as it would be written. Raises UsageError."""
        from .ops.agent_notes import preview

        return preview(self.vault, wanted, self.now)

    def write_previewed(
        self, wanted: NewNote, confirm: str, by: Mapping[str, Json]
    ) -> tuple[Draft, str]:
        """Write what was previewed, and record it; see ops.agent_notes.write_confirmed."""
        from .ops.agent_notes import write_confirmed

        state = self.config.state
        return write_confirmed(self.vault, state, wanted, confirm, self.now, by)

    # The link graph

    def export_graph(
        self, form: str = "json", output: Path | str | None = None, **options: Any
    ) -> str:
        """As Cortex.export_graph; also written to `output`, atomically, if that is given.

        Raises UsageError for an `output` that may be something else: see ops.outputs.
        """
        from .ops.outputs import ENDINGS, checked_output, write_output

        path = None if output is None else Path(output)
        if path is not None and form in ENDINGS:
            path = checked_output(path, ENDINGS[form], self.config.state)
        text = self.cortex.export_graph(form, **options)
        if path is not None:
            write_output(path, text)
        return text

    def write_viewer(
        self,
        output: Path | str | None = None,
        *,
        diagnostics: bool = False,
        neighborhood: str | None = None,
        depth: int = 1,
        progress: Progress | None = None,
    ) -> Viewer:
        """Write the page that shows the graph; see ops.viewer.write_viewer.

        neighborhood: named as for Cortex.export_graph. Raises UsageError, CortexError.
        """
        from .ops.viewer import title_of, write_viewer

        centre = None if neighborhood is None else self.cortex.graph_node(neighborhood)
        return write_viewer(
            self.cortex.state,
            None if output is None else Path(output),
            title=title_of(self.vault.resolve(), self.env.get("HOME", "")),
            today=self.now.date(),
            rules=self.cortex.rules,
            diagnostics=diagnostics,
            centre=centre,
            depth=depth,
            progress=progress,
        )

    # Sessions

    def find_sessions(self, **asked: Any) -> Found:
        """The host's sessions of the last days, and how they were come by; asked: see
        ops.session_settings.wanted_sessions. Raises UsageError.
        """
        from .ops.session_settings import wanted_sessions
        from .records.transcripts import find_sessions

        return find_sessions(wanted_sessions(self.config, self.home, self.env, self.now, **asked))

    def session_report(self, **asked: Any) -> dict[str, Json]:
        """How sessions were come by (store, counts, fallback, cutoff), without what was said."""
        from .records.transcripts import session_report

        return session_report(self.find_sessions(**asked))

    def candidates(
        self, *, write: bool = False, limit: int = 50, platforms: Sequence[str] = (), **asked: Any
    ) -> CandidateReport:
        """Drafts out of what was said in sessions, in 00_inbox on request; see ops.candidates.

        asked: as for find_sessions. Raises CortexError.
        """
        from .ops.candidates import candidates

        vault, state = self.vault, self.cortex.state
        found = self.find_sessions(with_compacted=True, **asked)
        return candidates(
            state, vault, found, self.cortex.rules, write=write, limit=limit, platforms=platforms
        )

    # What is told by itself

    def inject(
        self,
        message: str,
        *,
        session: str = "",
        is_first: bool = False,
        may_wait: bool = False,
    ) -> Report | None:
        """What would be put behind a message, from where, and why not more; see inject.preview.

        Injects and writes nothing. None while HERMES_CORTEX_CONTEXT is off. Raises UsageError,
        Unavailable.
        """
        from .inject.preview import preview

        return preview(
            self.cortex,
            message,
            home=self.home,
            env=self.env,
            session_id=session,
            is_first=is_first,
            may_wait=may_wait,
        )

    # The life of notes

    def nightly(self, write: bool = False, again: bool = False, **asked: Any) -> NightlyReport:
        """Promote what is flagged, or tell what that would do; see ops.nightly.nightly.

        asked: which sessions the report is about, as for find_sessions. Raises CortexError.
        """
        from .ops.nightly import nightly
        from .records.transcripts import zone_of

        vault, outside = self.vault, self.config.vault.allow_symlinks_outside
        sources = self.session_report(**asked)
        named = asked.get("timezone")
        zone = zone_of(self.config.cron.nightly_promotion.timezone if named is None else named)
        report = nightly(
            self.cortex.state,
            vault,
            self.now.astimezone(zone) if zone else self.now,
            write=write,
            again=again,
            rules=self.cortex.rules,
            follow_outside=outside,
        )
        report.session_sources = sources
        return report

    def undo_promotion(self, run: int | None = None, *, dry_run: bool = False) -> UndoReport:
        """Take back a run of promotion, None being the last; see ops.undo.undo_run."""
        from .ops.undo import undo_run

        return undo_run(self.cortex.state, self.vault, self.now, run, dry_run=dry_run)

    def promotion_runs(self) -> list[dict[str, Json]]:
        """The runs of promotion so far, newest first; see ops.nightly.history."""
        from .ops.nightly import history

        return history(self.cortex.state)

    def maintain(self, force: bool = False, progress: Progress | None = None) -> MaintenanceReport:
        """Bring index, vectors and graph up to the notes; see ops.maintenance.maintain."""
        from .ops.maintenance import maintain

        cortex, vault = self.cortex, self.vault
        steps = {
            "index": lambda anew: cortex.index(anew, progress),
            "embed": lambda anew: cortex.embed(anew, progress),
            "graph": lambda _: cortex.build_graph(progress),
        }
        outside = self.config.vault.allow_symlinks_outside
        return maintain(
            cortex.state,
            vault,
            cortex.rules,
            steps,
            self.now,
            force=force,
            follow_outside=outside,
        )

    def probe_maintenance(self) -> MaintenanceReport:
        """What maintenance would find to do; writes nothing; see ops.maintenance.probe."""
        from .ops.maintenance import probe

        vault, outside = self.vault, self.config.vault.allow_symlinks_outside
        return probe(self.cortex.state, vault, self.cortex.rules, follow_outside=outside)

    def weekly(
        self,
        *,
        dry_run: bool = False,
        stale_days: int | None = None,
        stale_min_importance: float | None = None,
        consolidation_min_degree: int | None = None,
    ) -> WeeklyReport:
        """The weekly review, which never writes; None is what config says; see ops.weekly."""
        from .ops.weekly import weekly

        said = self.config.cron.weekly_review
        least, degree = stale_min_importance, consolidation_min_degree
        return weekly(
            self.cortex.graph,
            self.cortex.freshness,
            self.cortex.state,
            dry_run=dry_run,
            stale_days=said.stale_days if stale_days is None else stale_days,
            stale_min_importance=said.stale_min_importance if least is None else least,
            consolidation_min_degree=said.consolidation_min_degree if degree is None else degree,
        )

    # Jobs in the scheduler of Hermes

    def install_jobs(self, kinds: Sequence[Kind] | None = None) -> list[cron.Done]:
        """Make jobs stand in the scheduler as the settings have them; see ops.cron.install.

        kinds: None means those that are enabled. Raises CortexError, also if none of them is.
        """
        from .ops.cron import chosen, install

        return install(self.config, self.home, self.env, chosen(self.config, kinds))

    def uninstall_jobs(self, kinds: Sequence[Kind]) -> list[cron.Done]:
        """Take jobs of Cortex out of the scheduler; see ops.cron.uninstall. Raises CortexError."""
        from .ops.cron import uninstall

        return uninstall(self.config, self.home, self.env, kinds)

    def jobs(self, kinds: Sequence[Kind] | None = None) -> cron.Report:
        """How jobs stand in the scheduler; see ops.cron.status. Raises CortexError."""
        from .ops.cron import status
        from .ops.cron_jobs import KINDS

        return status(self.config, self.home, self.env, KINDS if kinds is None else kinds)

    def run_job(self, kind: Kind, program: str = PROGRAM) -> JobReport:
        """Do what a job does when it is due, and report it; see ops.cron_reports.run_job."""
        from .ops.cron_reports import run_job

        return run_job(kind, self, program)

    # Reset

    def plan_reset(self, parts: Iterable[str]) -> Plan:
        """What a reset of `parts` (of ops.reset.PARTS) would remove; changes nothing."""
        from .ops.reset import plan

        return plan(self.cortex.state, self.config, parts)

    def reset(self, parts: Iterable[str], shown: Plan) -> None:
        """Remove what `shown` lists; see ops.reset.carry_out. Raises CortexError."""
        from .ops.reset import carry_out

        carry_out(self.cortex.state, self.config, parts, shown)
