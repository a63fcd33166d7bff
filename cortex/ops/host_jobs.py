"""The scheduler of Hermes, asked by its own means: its modules, else the command `hermes cron`.

Its file of jobs is never touched. What it says after a change is not trusted: it ends with 0 even
where it failed, so whoever changes a job reads it back.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module, util
from pathlib import Path
from typing import Any, Protocol

from ..commands import host_itself
from ..errors import CortexError
from ..home import default_home
from . import homes
from .cron_jobs import Found, Planned

STALLED_S = 200.0  # as `hermes cron status` has it: three beats of a minute each, and some slack
_COMMAND_LIMIT_S = 120.0
# What code of others raises over a file of others, which may hold anything.
_HOST_ERRORS = (
    ImportError,
    OSError,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
)


@dataclass(frozen=True, slots=True)
class Firing:
    """Whether something runs that starts the jobs when they are due."""

    fires: bool | None  # None: not known
    told: str
    time_zone: str | None  # of the scheduler's clock; "" is the system's; None: not known


class Scheduler(Protocol):
    """The jobs of one Hermes home."""

    means: str  # "modules" or "command", as --json names it
    hermes: str  # what is typed for this home: `hermes`, or `hermes -p NAME`
    can_limit_tools: bool  # whether a job's model can be kept to some toolsets

    def jobs(self) -> list[Found]:
        """All of them, the paused ones too, in their own order. Raises CortexError."""

    def create(self, job: Planned) -> None: ...

    def update(self, id: str, job: Planned) -> None: ...

    def remove(self, id: str) -> None: ...

    def firing(self) -> Firing: ...


def scheduler(home: Path, env: Mapping[str, str]) -> Scheduler:
    """Raises CortexError if there is no such home, or Hermes is neither in this Python nor a
    command on the PATH."""
    homes.refuse_missing(home, env)
    if not home.is_dir():  # asking the host would make it
        raise CortexError(
            f"there is no Hermes home at {home} yet; start Hermes once, and try again"
        )
    hermes = host_itself(home, default_home(env))
    if _is_host_python():
        return HostModules(home, hermes)
    command = shutil.which("hermes", path=env.get("PATH"))
    if command is None:
        raise CortexError(
            "Hermes is neither in this Python nor on the PATH, so there is no scheduler for the "
            f"jobs; install it, or run this in it as: {hermes} cortex cron"
        )
    return HostCommand(home, env, command, hermes)


def _is_host_python() -> bool:
    from .plugin_folder import has_host

    # Another distribution may be called cron: only the host's has these two beside it.
    return has_host() and all(util.find_spec(name) for name in ("hermes_constants", "cron"))


class HostModules:
    """The jobs by the host's own functions, in this process."""

    means = "modules"
    can_limit_tools = True

    def __init__(self, home: Path, hermes: str) -> None:
        self._home = home
        self.hermes = hermes

    def jobs(self) -> list[Found]:
        with self._host() as jobs:
            return [_found(job) for job in jobs.list_jobs(include_disabled=True)]

    def create(self, job: Planned) -> None:
        with self._host() as jobs:
            jobs.create_job(
                job.prompt,
                job.schedule,
                name=job.name,
                deliver=job.deliver,
                script=job.script,
                no_agent=job.no_agent,
                enabled_toolsets=list(job.toolsets) or None,
            )

    def update(self, id: str, job: Planned) -> None:
        """What the scheduler keeps of the past of a job stays, and its pause."""
        with self._host() as jobs:
            if not job.no_agent:
                # The host runs no job once another model is its default than when the job was made.
                # Turning the model off and on again is how it takes note of today's.
                jobs.update_job(id, {"script": job.script, "no_agent": True})
            updates: dict[str, Any] = {
                "name": job.name,
                "prompt": job.prompt,
                "deliver": job.deliver,
                "script": job.script,
                "no_agent": job.no_agent,
                "enabled_toolsets": list(job.toolsets) or None,
            }
            there = jobs.get_job(id)
            if there is None or _found(there).schedule != job.schedule:
                updates["schedule"] = job.schedule  # which would put off the next run
            jobs.update_job(id, updates)

    def remove(self, id: str) -> None:
        with self._host() as jobs:
            jobs.remove_job(id)

    def firing(self) -> Firing:
        with self._host() as jobs:
            clock = import_module("hermes_time")
            clock.reset_cache()  # it may be another home's
            zone = clock.get_timezone()
            clock.reset_cache()
            name = "" if zone is None else str(zone)
            resolved = import_module("cron.scheduler_provider").resolve_cron_scheduler()
            provider = str(resolved.name or "builtin")
            if provider != "builtin":
                return Firing(True, f"by the provider {provider} of Hermes", name)
            beat, done = jobs.get_ticker_heartbeat_age(), jobs.get_ticker_success_age()
            gateways = import_module("hermes_cli.gateway").find_gateway_pids()
            return _firing(self.hermes, bool(gateways), beat, done, name)

    @contextlib.contextmanager
    def _host(self) -> Iterator[Any]:
        """The host's module of jobs, about our home. Raises CortexError for whatever it raises."""
        try:
            jobs, constants = import_module("cron.jobs"), import_module("hermes_constants")
            token = constants.set_hermes_home_override(self._home)
            try:
                with jobs.use_cron_store(self._home):
                    yield jobs
            finally:
                constants.reset_hermes_home_override(token)
        except _HOST_ERRORS as error:
            raise CortexError(
                f"the scheduler of Hermes failed ({type(error).__name__}: {error}); "
                f"see: {self.hermes} cron list, and {self._home / 'cron' / 'jobs.json'}"
            ) from error


def _firing(
    hermes: str, has_gateway: bool, beat_s: float | None, success_s: float | None, zone: str | None
) -> Firing:
    if beat_s is not None and beat_s <= STALLED_S:
        if success_s is not None and success_s > STALLED_S:
            told = f"a gateway runs, but no look for due jobs has succeeded for {success_s:.0f} s"
            return Firing(False, f"{told}; see its log for: Cron tick error", zone)
        told = "a gateway runs and looks for due jobs"
        if not has_gateway:  # it ended just now, or another program of Hermes does it
            told = f"something looked for due jobs {beat_s:.0f} s ago; no gateway is seen to run"
        return Firing(True, told, zone)
    if has_gateway and beat_s is None:
        return Firing(True, "a gateway runs", zone)
    if has_gateway:
        told = f"a gateway runs, but has not looked for due jobs for {beat_s:.0f} s"
        return Firing(False, f"{told}; restart it: {hermes} gateway restart", zone)
    told = f"no gateway runs, so nothing starts the jobs; start one: {hermes} gateway install"
    return Firing(False, f"{told}, or let the system's own cron run: {hermes} cron tick", zone)


def _found(job: Mapping[str, Any]) -> Found:
    """A record of the host's. An older version of Cortex wrote its own mark into them."""
    schedule = job.get("schedule") or {}
    marks = job.get("metadata") or {}
    by = str(marks.get("managed_by", "")) if isinstance(marks, dict) else ""
    deliver = job.get("deliver") or "local"
    return Found(
        id=str(job["id"]),
        name=str(job.get("name") or ""),
        schedule=str(
            (schedule.get("expr") if isinstance(schedule, dict) else schedule)
            or job.get("schedule_display")
            or ""
        ),
        deliver=deliver if isinstance(deliver, str) else ",".join(map(str, deliver)),
        script=str(job.get("script") or ""),
        no_agent=bool(job.get("no_agent")),
        prompt=str(job.get("prompt") or ""),
        toolsets=tuple(map(str, job.get("enabled_toolsets") or ())),
        is_paused=not job.get("enabled", True) or job.get("state") == "paused",
        next_run=_text(job.get("next_run_at")),
        last_run=_text(job.get("last_run_at")),
        last_status=_text(job.get("last_status")),
        last_error=_text(job.get("last_error") or job.get("last_delivery_error")),
        is_of_cortex="cortex" in by,
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


class HostCommand:
    """The jobs by the command `hermes cron`, where Hermes has a Python of its own."""

    means = "command"
    can_limit_tools = False  # it has no option for that

    def __init__(self, home: Path, env: Mapping[str, str], command: str, hermes: str) -> None:
        self.hermes = hermes
        self._env = {**env, "HERMES_HOME": str(home), "NO_COLOR": "1"}
        self._command = command

    def jobs(self) -> list[Found]:
        return list(_listed(self._run("list", "--all")))

    def create(self, job: Planned) -> None:
        self._run("create", job.schedule, *_options(job))

    def update(self, id: str, job: Planned) -> None:
        self._run("edit", id, f"--schedule={job.schedule}", *_options(job))

    def remove(self, id: str) -> None:
        self._run("remove", id)

    def firing(self) -> Firing:
        text = self._run("status")
        if "will NOT fire" in text:
            return _firing(self.hermes, False, None, None, None)
        line = next((line.strip() for line in text.splitlines() if line.strip()), "")
        is_good = True if line.startswith("✓") else False if line.startswith("⚠") else None
        return Firing(is_good, line.lstrip("✓⚠ "), None)

    def _run(self, *words: str) -> str:
        try:
            done = subprocess.run(
                [self._command, "cron", *words],
                env=self._env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_COMMAND_LIMIT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CortexError(f"{self._command} cron {words[0]} did not work ({error})") from None
        if done.returncode or "Failed to" in done.stdout:
            told = " ".join((done.stderr.strip() or done.stdout.strip()).split())[-300:]
            raise CortexError(f"{self._command} cron {words[0]} failed: {told}")
        return done.stdout


def _options(job: Planned) -> list[str]:
    return [
        f"--name={job.name}",
        f"--deliver={job.deliver}",
        f"--script={job.script}",
        "--no-agent",
    ]


_HEAD = re.compile(r"  ([0-9a-f]{12,16}) \[(\w+)\]")
_LINE = re.compile(r"    (Name|Schedule|Next run|Deliver|Script|Mode|Last run): +(.*)")


def _listed(text: str) -> Iterator[Found]:
    """What `hermes cron list` prints, a paragraph a job."""
    ids = list(_HEAD.finditer(text))
    for at, head in enumerate(ids):
        end = ids[at + 1].start() if at + 1 < len(ids) else len(text)
        told = dict(_LINE.findall(text[head.end() : end]))
        last, _, status = told.get("Last run", "").partition("  ")
        yield Found(
            id=head[1],
            name=told.get("Name", ""),
            schedule=told.get("Schedule", ""),
            deliver=told.get("Deliver", "local"),
            script=told.get("Script", ""),
            no_agent="Mode" in told,
            is_paused=head[2] in ("paused", "disabled"),
            next_run=told.get("Next run"),
            last_run=last or None,
            last_status=status.partition(":")[0] or None,
            last_error=status.partition(": ")[2] or None,
        )
