"""Install, uninstall and look at the jobs of Cortex in the scheduler of Hermes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .. import files
from ..config import Config
from ..errors import CortexError
from ..types import Json
from .cron_jobs import (
    DEFAULT_NAME,
    KINDS,
    SECTION,
    Found,
    Kind,
    Planned,
    Runner,
    differences,
    is_enabled,
    is_ours,
    planned,
    script_name,
    setting_of,
)
from .host_jobs import Scheduler, scheduler

# What was done about a job, or why not.
INSTALLED, UPDATED, UNCHANGED = "installed", "updated", "unchanged"
REMOVED, ABSENT = "removed", "not installed"
REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Done:
    """What install or uninstall did about one job."""

    kind: Kind
    name: str
    outcome: str
    id: str | None = None
    next_run: str | None = None
    is_paused: bool = False
    duplicates_removed: int = 0
    why: str | None = None  # it was refused

    def as_json(self) -> dict[str, Json]:
        return {
            "job": self.kind,
            "name": self.name,
            "outcome": self.outcome,
            "id": self.id,
            "next_run": self.next_run,
            "paused": self.is_paused,
            "duplicates_removed": self.duplicates_removed,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Standing:
    """How one job stands, in the settings and in the scheduler."""

    kind: Kind
    name: str
    schedule: str
    deliver: str
    is_enabled: bool
    state: str  # off, installed, not installed, differs, unwanted
    found: Found | None
    differs: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()  # ids of others of ours
    foreign: tuple[str, ...] = ()  # ids of jobs of that name that Cortex did not make
    refused: str | None = None  # why it could not be installed as it is set
    mend: str | None = None  # the command

    @property
    def is_sound(self) -> bool:
        return self.state in ("off", "installed") and not self.duplicates

    def as_json(self) -> dict[str, Json]:
        found = self.found
        return {
            "job": self.kind,
            "name": self.name,
            "schedule": self.schedule,
            "deliver": self.deliver,
            "enabled": self.is_enabled,
            "state": self.state,
            "id": found and found.id,
            "paused": bool(found and found.is_paused),
            "model": None if found is None else not found.no_agent,
            "next_run": found and found.next_run,
            "last_run": found and found.last_run,
            "last_status": found and found.last_status,
            "last_error": found and found.last_error,
            "differs": list(self.differs),
            "duplicates": list(self.duplicates),
            "foreign": list(self.foreign),
            "refused": self.refused,
            "mend": self.mend,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The jobs, and whether anything starts them."""

    home: Path
    means: str
    fires: bool | None
    firing: str
    time_zone: str | None
    jobs: tuple[Standing, ...]
    warnings: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Json]:
        return {
            "home": str(self.home),
            "means": self.means,
            "scheduler": {
                "fires": self.fires,
                "told": self.firing,
                "timezone": self.time_zone,
            },
            "jobs": [job.as_json() for job in self.jobs],
            "warnings": list(self.warnings),
        }


def install(
    config: Config, home: Path, env: Mapping[str, str], kinds: Sequence[Kind]
) -> list[Done]:
    """Make each job stand in the scheduler of `home` as `config` has it, one entry a job.

    One that stands there keeps its history and its pause. One that is not enabled, or that the
    scheduler cannot have as it is set, is refused, and the others are done all the same.
    Raises CortexError if the scheduler can't be asked, or a job does not read back as it was given.
    """
    host = scheduler(home, env)
    with _alone(home):
        return [_install(kind, config, home, host) for kind in kinds]


def _install(kind: Kind, config: Config, home: Path, host: Scheduler) -> Done:
    section = getattr(config.cron, SECTION[kind])
    name = section.name
    if not section.enabled:
        why = f"{setting_of(kind, 'enabled')} is false; set it to true in {config.path}"
        return Done(kind, name, REFUSED, why=why)
    try:
        job = _planned(kind, config, home)
        refuse_unlimited(job, host)
    except CortexError as error:
        return Done(kind, name, REFUSED, why=str(error))
    ours, foreign = _of_kind(kind, host.jobs(), name)
    if foreign:
        why = (
            f"a job of that name that Cortex did not make is there ({foreign[0].id}); "
            f"choose another {setting_of(kind, 'name')} in {config.path}"
        )
        return Done(kind, name, REFUSED, why=why)
    is_written = _write_script(home, job)
    outcome = UNCHANGED
    if not ours:
        host.create(job)
        outcome = INSTALLED
    else:
        is_other = bool(differences(job, ours[0], job.script_text))
        if is_other or not job.no_agent:
            host.update(ours[0].id, job)
        if is_other or is_written or ours[1:]:
            outcome = UPDATED
    for other in ours[1:]:
        host.remove(other.id)
    found = _read_back(job, host)
    return Done(
        kind,
        name,
        outcome,
        id=found.id,
        next_run=found.next_run,
        is_paused=found.is_paused,
        duplicates_removed=len(ours[1:]),
    )


def _planned(kind: Kind, config: Config, home: Path) -> Planned:
    runner = Runner(sys.executable, sys.prefix, Path(__file__).resolve().parents[2])
    return planned(kind, config, home, runner)


def refuse_unlimited(job: Planned, host: Scheduler) -> None:
    """Raises CortexError if a model would run with every tool that Hermes has."""
    if not job.no_agent and not host.can_limit_tools:
        raise CortexError(
            "the command hermes cron cannot keep a job's model to some tools; "
            f"set {setting_of(job.kind, 'model')} to false, or run it in the Python of Hermes "
            f"as: {host.hermes} cortex cron install"
        )


def _read_back(job: Planned, host: Scheduler) -> Found:
    ours, _ = _of_kind(job.kind, host.jobs(), job.name)
    if len(ours) == 1 and not (wrong := differences(job, ours[0], job.script_text)):
        return ours[0]
    told = f"{len(ours)} jobs" if len(ours) != 1 else f"another {', '.join(wrong)}"
    raise CortexError(
        f"the scheduler of Hermes took the job {job.name} and now shows {told} for it; "
        f"look at it with: {host.hermes} cron list --all"
    )


def _write_script(home: Path, job: Planned) -> bool:
    """Whether the script had to be written. Raises CortexError where another's file is there."""
    path = home / "scripts" / job.script
    there = _read_script(path)
    if there == job.script_text:
        return False
    if path.is_symlink() or (there is not None and not is_ours(there)):
        raise CortexError(f"{path} is not a script of Cortex; move it away and run this again")
    files.write_text(path, job.script_text)
    return True


def _read_script(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None


def _of_kind(kind: Kind, jobs: Sequence[Found], name: str) -> tuple[list[Found], list[Found]]:
    """(those of ours, the one to keep first; those of others by the same name)."""
    names = {name.casefold(), DEFAULT_NAME[kind].casefold()}
    ours = [
        job
        for job in jobs
        if job.script == script_name(kind) or (job.is_of_cortex and job.name.casefold() in names)
    ]
    ours.sort(key=lambda job: not job.has_run)  # stable: else the oldest
    ids = {job.id for job in ours}
    named = [job for job in jobs if job.name.casefold() == name.casefold() and job.id not in ids]
    return ours, named


def uninstall(
    config: Config, home: Path, env: Mapping[str, str], kinds: Sequence[Kind]
) -> list[Done]:
    """Take the jobs of Cortex out of the scheduler of `home`, one entry a job.

    Also those that are disabled. Jobs that others made are never touched, whatever their name.
    Raises CortexError if the scheduler can't be asked, or still has a job afterwards.
    """
    host = scheduler(home, env)
    done = []
    with _alone(home):
        for kind in kinds:
            name = getattr(config.cron, SECTION[kind]).name
            ours, _ = _of_kind(kind, host.jobs(), name)
            for job in ours:
                host.remove(job.id)
            if ours and _of_kind(kind, host.jobs(), name)[0]:
                raise CortexError(
                    f"the scheduler of Hermes still has the job {name}; "
                    f"remove it yourself: {host.hermes} cron remove {ours[0].id}"
                )
            has_script = _remove_script(home, kind)
            outcome = REMOVED if ours or has_script else ABSENT
            id = ours[0].id if ours else None
            done.append(Done(kind, name, outcome, id, duplicates_removed=len(ours[1:])))
    return done


def _remove_script(home: Path, kind: Kind) -> bool:
    path = home / "scripts" / script_name(kind)
    there = None if path.is_symlink() else _read_script(path)
    if there is None or not is_ours(there):
        return False
    path.unlink()
    return True


def status(
    config: Config, home: Path, env: Mapping[str, str], kinds: Sequence[Kind] = KINDS
) -> Report:
    """How the jobs stand; changes nothing. Raises CortexError if the scheduler can't be asked."""
    host = scheduler(home, env)
    jobs, firing = host.jobs(), host.firing()
    standing = tuple(_standing(kind, config, home, host, jobs) for kind in kinds)
    return Report(
        home,
        host.means,
        firing.fires,
        firing.told,
        firing.time_zone,
        standing,
        tuple(_warnings(config, home, standing, firing.time_zone, host.hermes)),
    )


def _standing(
    kind: Kind, config: Config, home: Path, host: Scheduler, jobs: Sequence[Found]
) -> Standing:
    section = getattr(config.cron, SECTION[kind])
    ours, foreign = _of_kind(kind, jobs, section.name)
    found = ours[0] if ours else None
    refused, differs = None, []
    try:
        job = _planned(kind, config, home)
        refuse_unlimited(job, host)
        if found is not None:
            differs = differences(job, found, _read_script(home / "scripts" / job.script))
    except CortexError as error:
        refused = str(error) if section.enabled else None
    if found is None:
        state = "not installed" if section.enabled else "off"
    elif not section.enabled:
        state = "unwanted"
    else:
        state = "differs" if differs or refused else "installed"
    mend = None
    if state == "unwanted":
        mend = f"cortex cron uninstall --job {kind}"
    elif (state in ("not installed", "differs") or ours[1:]) and not refused and not foreign:
        mend = f"cortex cron install --job {kind}"
    return Standing(
        kind,
        section.name,
        section.schedule,
        section.deliver,
        section.enabled,
        state,
        found,
        tuple(differs) if section.enabled else (),
        tuple(job.id for job in ours[1:]),
        tuple(job.id for job in foreign),
        refused,
        mend,
    )


def _warnings(
    config: Config,
    home: Path,
    standing: Sequence[Standing],
    time_zone: str | None,
    hermes: str,
) -> Iterator[str]:
    for job in standing:
        if job.found is None:
            continue
        zone = getattr(getattr(config.cron, SECTION[job.kind]), "timezone", "")
        if zone and time_zone is not None and zone != time_zone:
            yield (
                f"{job.name} starts by the clock of the scheduler "
                f"({time_zone or 'the time zone of the system'}), not by "
                f"{setting_of(job.kind, 'timezone')}, {zone}, which is for the days it is about"
            )
        if job.found.is_paused:
            yield f"{job.name} is paused in Hermes; to go on: {hermes} cron resume {job.found.id}"
    if any(job.found and not job.found.no_agent for job in standing):
        from .host_config import lacking

        if parts := lacking(home):
            yield (
                f"not on in Hermes: {' and '.join(parts)} of Cortex, so the model of a job has no "
                "notes to look at; run: cortex install --enable"
            )


@contextmanager
def _alone(home: Path) -> Iterator[None]:
    """Be the only one who installs or uninstalls in this home."""
    import filelock

    folder = home / "cortex"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with filelock.FileLock(folder / "cron.lock", timeout=30):
            yield
    except filelock.Timeout:
        raise CortexError(
            f"another cortex cron is at work in {home}; wait for it to end and run this again"
        ) from None


def chosen(config: Config, kinds: Sequence[Kind] | None) -> Sequence[Kind]:
    """`kinds`; for None those that are enabled. Raises CortexError if none is."""
    if kinds is not None:
        return kinds
    enabled = [kind for kind in KINDS if is_enabled(config.cron, kind)]
    if not enabled:
        settings = " or ".join(setting_of(kind, "enabled") for kind in KINDS)
        raise CortexError(f"no job is enabled; set {settings} to true in {config.path}")
    return enabled
