"""Check-up of what the other reports tell in full: frontmatter, the wiki contract, promotion, jobs.

Only how much there is of it, and which command tells the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..checks.doctor import Finding, Found, ok, plural, told
from ..checks.frontmatter import validate
from ..checks.wiki import wiki_health
from ..config import Config
from ..errors import CortexError
from ..state import State
from ..vault.scan import FolderRules

SCHEMA = "SCHEMA.md"  # in the root of a vault that keeps the contract
_MOST_CODES = 3


def frontmatter(config: Config, rules: FolderRules) -> Found:
    """To know, not to mend: a vault may well have properties of its own."""
    vault = config.vault.path
    if vault is None or not vault.is_dir():
        return
    report = validate(vault, rules, follow_outside=config.vault.allow_symlinks_outside)
    if not report.errors and not report.warnings:
        yield ok("frontmatter as the schema has it")
        return
    codes = list(report.by_code().items())[:_MOST_CODES]
    mostly = ", ".join(f"{code} {count.total():,}" for code, count in codes)
    errors, warnings = plural(report.errors, "error"), plural(report.warnings, "warning")
    yield Finding(
        "info",
        f"frontmatter against the schema: {errors}, {warnings} (mostly {mostly})",
        command="cortex validate-frontmatter",
    )


def wiki(config: Config, rules: FolderRules) -> Found:
    """The contract of folders, root files and sources, where the vault has signed it."""
    vault = config.vault.path
    if vault is None or not (vault / SCHEMA).is_file():
        return
    issues = wiki_health(config, rules).issues
    errors = [issue for issue in issues if issue.severity == "error"]
    if errors:
        what = f"the wiki contract is broken in {plural(len(errors), 'place')}: {errors[0].message}"
        yield Finding("warning", what, command="cortex wiki-health")
    elif issues:
        what = f"{plural(len(issues), 'remark')} on the wiki contract"
        yield Finding("info", what, command="cortex wiki-health")
    else:
        yield ok("the wiki contract is kept")


def promotion(state: State) -> Found:
    from .journal import Journal

    run = Journal(state.root).open_run()
    if run is not None:
        pending = sum(one.state == "pending" for one in run.promotions)
        what = (
            f"run {run.number} of promotion was interrupted, with {plural(pending, 'note')} to go"
        )
        yield Finding("warning", what, command="cortex lifecycle nightly --write")


def jobs(config: Config, home: Path, env: Mapping[str, str]) -> Found:
    """The jobs in the scheduler of Hermes against the settings; asked only where there are any."""
    from .cron import status
    from .cron_faults import faults
    from .cron_jobs import KINDS, SECTION

    wanted = [kind for kind in KINDS if getattr(config.cron, SECTION[kind]).enabled]
    if not home.is_dir() or not (wanted or (home / "cron" / "jobs.json").is_file()):
        return
    try:
        report = status(config, home, env)
    except CortexError as error:
        yield told("problem" if wanted else "info", str(error))
        return
    installed = [job for job in report.jobs if job.found is not None]
    for fault in faults(report.jobs):
        finding = told("warning", fault)
        has_remedy = finding.remedy or finding.command
        yield finding if has_remedy else replace(finding, command="cortex cron status")
    if installed and report.fires is False:
        yield told("warning", report.firing)
    for warning in report.warnings:
        yield told("warning", warning)
    if installed:
        yield ok(plural(len(installed), "job"))
