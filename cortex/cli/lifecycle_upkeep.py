"""`cortex lifecycle maintenance` and `weekly`."""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from typing import Any

from .options import add_json, at_least, number
from .output import counted, hint, print_json, say, visible
from .progress import progress_for

EXAMPLES = (
    ("lifecycle maintenance", "bring index, vectors and graph up to the notes"),
    ("lifecycle maintenance --dry-run", "what it would find to do"),
    ("lifecycle weekly", "the weekly review, in Markdown"),
    ("lifecycle weekly --stale-days 90 --json", "the same for a program, with all rows"),
)
_MAINTENANCE = """\
Runs index, embed and graph build, one after the other and each as far as something changed. The
first step that fails ends it, and the rest are skipped; a model whose weights were never fetched is
no failure as long as nothing was embedded yet: embed is skipped, and says why. Notes that cannot be
read are listed and fail nothing. Notes are never changed; if the vault has a log.md, it gets a line
with the counts when something had changed, or failed.

--dry-run looks only at paths, sizes and times and writes nothing.

Exit codes: 0 all is up to date, 1 a step failed, 2 asked wrongly."""
_WEEKLY = """\
Reviews the vault by its link graph: notes that stand twice, notes of high importance that nobody
has verified for long, links that lead nowhere, notes that others could be drawn together around,
notes without links, and contradictions. Prints Markdown with at most 20 rows a section; --json has
all. When notes changed since the graph was built, it says so first.

It never writes: not a note, and nothing in the state folder. Build the graph first: cortex
lifecycle maintenance.

Exit codes: 0 done, whatever was found; 1 there is no link graph; 2 asked wrongly."""


def add(actions: Any) -> None:
    maintenance = actions.add_parser(
        "maintenance",
        help="bring index, vectors and graph up to the notes",
        description=_MAINTENANCE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    maintenance.add_argument(
        "--force", action="store_true", help="read every note and encode every text again"
    )
    maintenance.add_argument(
        "--dry-run", action="store_true", help="only count what it would find to do"
    )
    weekly = actions.add_parser(
        "weekly",
        help="what wants a person's hand: a review that never writes",
        description=_WEEKLY,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    weekly.add_argument(
        "--dry-run", action="store_true", help="name the report so; no review ever writes"
    )
    group = weekly.add_argument_group(
        "what counts", "what is not given is that of cron.weekly_review in the config"
    )
    group.add_argument(
        "--stale-days",
        type=at_least(1),
        metavar="N",
        help="days without verification after which a note is stale (default: 180)",
    )
    group.add_argument(
        "--stale-min-importance",
        type=number,
        metavar="X",
        help="stale notes of at least this importance, 1 to 5 (default: 4.0)",
    )
    group.add_argument(
        "--consolidation-min-degree",
        type=at_least(1),
        metavar="N",
        help="links of a note that others could be drawn together around (default: 3)",
    )
    for action in (maintenance, weekly):
        add_json(action)


def run_maintenance(args: argparse.Namespace) -> int:
    from ..desk import Desk

    desk = Desk.open(args.config)
    if args.dry_run:
        report = desk.probe_maintenance()
    else:
        report = desk.maintain(force=args.force, progress=progress_for(args))
    if args.json:
        print_json({"ok": report.is_ok, **asdict(report)})
        return 0 if report.is_ok else 1
    for step in report.steps:
        message = f"  {step.message}" if step.message else ""
        print(visible(f"{step.outcome:4}  {step.step:5} {step.seconds:7.1f} s{message}"))
    if report.unread:
        print(f"{counted(len(report.unread), 'note')} could not be read:")
        for row in report.unread:
            print(visible(f"  {row['file']}: {row['message']}"))
    if not report.dry_run:
        for warning in report.warnings:
            say(warning)
    else:
        print("nothing was written")
    return 0 if report.is_ok else 1


def run_weekly(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..ops.weekly import as_markdown

    report = Desk.open(args.config).weekly(
        dry_run=args.dry_run,
        stale_days=args.stale_days,
        stale_min_importance=args.stale_min_importance,
        consolidation_min_degree=args.consolidation_min_degree,
    )
    if args.json:
        print_json(asdict(report))
    else:
        told = replace(report, warnings=[hint(warning) for warning in report.warnings])
        print(visible(as_markdown(told), keep="\n"))
    return 0
