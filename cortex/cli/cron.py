"""`cortex cron`."""

from __future__ import annotations

import argparse
import datetime as dt
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from .options import add_json
from .output import counted, hint, print_json, program, say, table, visible

if TYPE_CHECKING:
    from ..desk import Desk
    from ..ops.cron import Done, Report, Standing
    from ..ops.cron_jobs import Kind

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("cron install", "put the jobs that are enabled in the config into the scheduler of Hermes"),
    ("cron install --job maintenance", "only the one that keeps index, vectors and graph fresh"),
    ("cron status", "how each job is set, how it stands there, and whether anything starts it"),
    ("cron status --job nightly --json", "the same of one job, for a program"),
    ("cron run maintenance", "what the job does when it is due, here and now"),
    ("cron uninstall", "take all jobs of Cortex out again"),
)
JOBS = ("maintenance", "nightly", "weekly", "all")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Jobs in the scheduler of Hermes: maintenance (index, embed and graph, no model), nightly "
        "(drafts out of recent sessions, then promotion) and weekly (a review that writes "
        "nothing). All are off until the config says cron.maintenance.enabled: true, or the same "
        "of cron.nightly_promotion or cron.weekly_review, and are in the scheduler only after "
        "cron install. The jobs of others are never touched. HERMES_HOME names the home or "
        "profile. Exit codes: 0 done; 1 refused, not installed, or not as the config has it; 2 "
        "asked wrongly."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    about = (
        "Make the jobs stand in the scheduler as the config has them; what stands there already "
        "keeps its history, and its pause. A job that is disabled is refused with the setting to "
        "change. Each is read back afterwards. Nothing starts them but a gateway of Hermes: where "
        "none runs, this says so."
    )
    install = actions.add_parser(
        "install", help="put the enabled jobs into the scheduler of Hermes", description=about
    )
    install.add_argument(
        "--job", choices=JOBS, help="which; all refuses those that are disabled (default: enabled)"
    )
    install.add_argument(
        "--vault", metavar="PATH", help="deprecated: must be the vault that the config names"
    )
    add_json(install)
    about = "Take jobs of Cortex out of the scheduler, with their scripts and their past output."
    uninstall = actions.add_parser(
        "uninstall", help="take them out of the scheduler again", description=about
    )
    uninstall.add_argument("--job", choices=JOBS, default="all", help="which (default: all)")
    add_json(uninstall)
    about = (
        "How each job is set, how it stands in the scheduler and when it starts next, whether "
        "something starts it, and by whose clock. Changes nothing. Exit codes: 1 a job is not as "
        "the config has it, or none of those asked for is installed."
    )
    status = actions.add_parser("status", help="how they stand", description=about)
    status.add_argument("--job", choices=JOBS, default="all", help="which (default: all)")
    add_json(status)
    about = (
        "Do what a job does when it is due, whether it is installed or not, and print its report: "
        "that is what goes to the chat, or before its model. Prints nothing where there is nothing "
        "to tell. Secrets are masked. Exit codes: 0 all went well; 1 a step failed."
    )
    run = actions.add_parser("run", help="what a job does, here and now", description=about)
    run.add_argument("job", choices=JOBS[:-1], help="which")
    add_json(run)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk

    if args.action is None:
        raise UsageError(
            "say what to do: install, uninstall, status or run; see: cortex cron --help"
        )
    desk = Desk.open(args.config, env=os.environ)
    if args.action == "run":
        return _run(desk, args)
    if args.action == "status":
        return _status(desk, args)
    return _install(desk, args) if args.action == "install" else _uninstall(desk, args)


def _kinds(job: str) -> Sequence[Kind]:
    from ..ops.cron_jobs import KINDS

    return KINDS if job == "all" else [kind for kind in KINDS if kind == job]


def _install(desk: Desk, args: argparse.Namespace) -> int:
    from ..ops.cron import REFUSED

    if args.vault is not None:
        _refuse_other_vault(desk, args.vault)
    done = desk.install_jobs(None if args.job is None else _kinds(args.job))
    report = desk.jobs([entry.kind for entry in done])
    if args.json:
        print_json({**report.as_json(), "jobs": [entry.as_json() for entry in done]})
    else:
        print("\n".join(_done(done)))
    if any(entry.outcome != REFUSED for entry in done):
        if not report.fires and not args.json:
            say(report.firing)
        for warning in () if args.json else report.warnings:
            say(warning)
    return 1 if any(entry.outcome == REFUSED for entry in done) else 0


def _refuse_other_vault(desk: Desk, named: str) -> None:
    from ..home import expand

    vault = desk.config.vault.path
    asked = expand(named, Path.cwd(), desk.env)
    if vault is None or os.path.realpath(asked) != os.path.realpath(vault):
        raise UsageError(
            f"--vault {named} is not the vault of {desk.config.path}, which is {vault}; "
            "leave --vault out, or name another config by --config"
        )


def _uninstall(desk: Desk, args: argparse.Namespace) -> int:
    from ..ops.cron import REMOVED
    from ..ops.cron_jobs import is_enabled, setting_of

    done = desk.uninstall_jobs(_kinds(args.job))
    if args.json:
        print_json({"home": str(desk.home), "jobs": [entry.as_json() for entry in done]})
    else:
        print("\n".join(_done(done)))
        if enabled := [entry for entry in done if is_enabled(desk.config.cron, entry.kind)]:
            settings = ", ".join(setting_of(entry.kind, "enabled") for entry in enabled)
            say(f"still true in {desk.config.path}, so cron install would put it back: {settings}")
    return 0 if any(entry.outcome == REMOVED for entry in done) else 1


def _done(done: Sequence[Done]) -> Iterator[str]:
    for entry in done:
        line = f"{entry.kind}: {entry.outcome}"
        if entry.why:
            line += f": {hint(entry.why)}"
        elif entry.id:
            line += f", {entry.name} ({entry.id})"
        if entry.is_paused:
            line += ", paused"
        elif entry.next_run:
            line += f", next {_moment(entry.next_run)}"
        if entry.duplicates_removed:
            line += f"; {counted(entry.duplicates_removed, 'duplicate')} removed"
        yield visible(line)


def _status(desk: Desk, args: argparse.Namespace) -> int:
    report = desk.jobs(_kinds(args.job))
    if args.json:
        print_json(report.as_json())
    else:
        print("\n".join(_told(report)))
        if all(job.state == "off" for job in report.jobs):
            from ..ops.cron_jobs import setting_of

            settings = " or ".join(setting_of(job.kind, "enabled") for job in report.jobs)
            told = f"to turn one on, set {settings} to true in {desk.config.path}"
            print(visible(hint(f"{told}, then run: cortex cron install")))
    is_any = any(job.found is not None for job in report.jobs)
    return 0 if is_any and all(job.is_sound for job in report.jobs) else 1


def _told(report: Report) -> Iterator[str]:
    from ..ops.cron_faults import faults

    clock = {None: "not known", "": "that of the system"}.get(report.time_zone, report.time_zone)
    is_any = any(job.found is not None for job in report.jobs)
    firing = report.firing if is_any else report.firing.partition("; start one:")[0]
    rows = [["home:", str(report.home)], ["gateway:", firing], ["clock:", str(clock)]]
    yield table(rows)
    yield ""
    yield table([_row(job) for job in report.jobs])
    to_mend = list(faults(report.jobs))
    for title, lines in (("to mend:", to_mend), ("to know:", report.warnings)):
        if lines:
            yield title
        for line in lines:
            yield visible(hint(f"- {line}"))


def _row(job: Standing) -> list[str]:
    found = job.found
    by = "" if found is None else "as it is" if found.no_agent else "told by a model"
    next_run = f"next {_moment(found.next_run)}" if found and found.next_run else ""
    if found and found.is_paused:
        next_run = "paused"
    last = ""
    if found and found.last_run:
        last = f"last {_moment(found.last_run)}: {found.last_status or 'not known'}"
    return [job.kind, job.state, job.schedule, f"report to {job.deliver}", by, next_run, last]


def _moment(text: str) -> str:
    """`2026-02-03 02:00 +01:00`; what is no time stays as it is."""
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return text
    offset = f"{moment:%z}"
    return f"{moment:%Y-%m-%d %H:%M} {offset[:3]}:{offset[3:5]}" if offset else f"{moment:%F %H:%M}"


def _run(desk: Desk, args: argparse.Namespace) -> int:
    report = desk.run_job(args.job, program())
    if args.json:
        print_json({"job": args.job, "is_sound": report.is_sound, "report": report.text})
    elif report.text:
        print(report.text)
    return 0 if report.is_sound else 1
