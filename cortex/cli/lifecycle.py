"""`cortex lifecycle`: promotion with undo here; upkeep, review and candidates beside."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..types import Json
from . import lifecycle_candidates, lifecycle_upkeep
from .options import add_action, add_json, at_least
from .output import counted, hint, masked, print_json, say, table, visible
from .session_sources import add_session_options, asked_sessions, told

if TYPE_CHECKING:
    from ..ops.nightly import NightlyReport
    from ..ops.run_ends import UndoReport

EXAMPLES = (
    (
        "lifecycle nightly",
        "what promotion would do with the notes that are flagged; writes nothing",
    ),
    ("lifecycle nightly --write", "do it, with a journal"),
    ("lifecycle undo --dry-run", "what taking back the last promotion would change"),
    ("lifecycle undo 3", "take back run 3"),
    ("lifecycle history", "the promotion runs so far, newest first"),
    *lifecycle_upkeep.EXAMPLES,
    *lifecycle_candidates.EXAMPLES,
)
_NIGHTLY = """\
Promotes the notes that have promote: true (or cortex_promote: true), wherever they lie but in
templates, raw/ and hidden folders, and that are not archived. A note goes to the folder of its
promote_type, else of its type, else as a fact: 10_facts, 20_decisions, 30_projects, 40_runbooks,
50_people or 60_maps, under its own file name. The new note is written first; then the source is
archived where it lies, with promoted_to; then what the note supersedes is marked superseded.

Left alone and told: notes whose file name, title or alias is taken outside the inbox, notes that
contradict another or are contradicted, notes that hold what looks like a secret, whose properties
are not sound, whose flag is another word for true (promote: yes), whose type has no folder, or that
stand in their folder already.

Without --write nothing is written at all. With it every step is in a journal first: a run that is
killed is finished by the next one, and cortex lifecycle undo takes a run back. Only properties are
changed, as text: comments, quotes and line ends stay. In the new note words for confidence and
importance become numbers. If the vault has a log.md, it gets a line when something was promoted.

Exit codes: 0 done, also when notes were left alone; 1 a write failed; 2 asked wrongly."""
_UNDO = """\
Takes back one run of promotion: sources and superseded notes get back, byte for byte, what they
held before, and the notes that the run made are removed. A note that somebody changed since is
left as it is and told; a new note is only removed once its source is back. Nothing is promoted
again by itself after that: the next runs leave such a note alone until it is changed, or until
nightly is run with --again.

Exit codes: 0 all of it was taken back, or would be; 1 something had to stay, or there is nothing
to undo; 2 there is no such run."""
_HISTORY = """\
Lists the runs of promotion in the journal, newest first: what they promoted, when, and whether they
were undone. Writes nothing. Exit codes: 0, also when there is none."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Upkeep of a vault over months: the nightly build, promotion of notes with undo, drafts "
        "out of sessions, the weekly review. Only nightly --write, undo and candidates --write "
        "change notes. Exit codes: 0 done, 1 something failed, 2 asked wrongly."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    nightly = add_action(actions, "nightly", "promote the notes that are flagged for it", _NIGHTLY)
    mode = nightly.add_mutually_exclusive_group()
    mode.add_argument("--write", action="store_true", help="do it")
    mode.add_argument(
        "--dry-run", action="store_true", help="only tell what would be done (the default)"
    )
    nightly.add_argument(
        "--again", action="store_true", help="promote also notes whose promotion was undone"
    )
    add_session_options(nightly)
    undo = add_action(actions, "undo", "take back a run of promotion", _UNDO)
    undo.add_argument(
        "number", nargs="?", type=at_least(1), metavar="RUN", help="its number (default: the last)"
    )
    undo.add_argument("--dry-run", action="store_true", help="only tell what would be done")
    history = add_action(actions, "history", "the runs of promotion so far", _HISTORY)
    history.add_argument(
        "--limit",
        type=at_least(0),
        default=20,
        metavar="N",
        help="how many; 0 is all (default: 20)",
    )
    for action in (nightly, undo, history):
        add_json(action)
    lifecycle_upkeep.add(actions)
    lifecycle_candidates.add(actions)


def run(args: argparse.Namespace) -> int:
    runs = {
        "nightly": _nightly,
        "undo": _undo,
        "history": _history,
        "maintenance": lifecycle_upkeep.run_maintenance,
        "weekly": lifecycle_upkeep.run_weekly,
        "candidates": lifecycle_candidates.run,
    }
    if args.action is None:
        say(f"lifecycle needs an action: {', '.join(runs)}; see: cortex lifecycle --help")
        return 2
    return runs[args.action](args)


def _nightly(args: argparse.Namespace) -> int:
    from ..desk import Desk

    desk = Desk.open(args.config)
    report = desk.nightly(write=args.write, again=args.again, **asked_sessions(args))
    if args.json:
        print_json(masked(asdict(report)))
    else:
        _print_nightly(report)
    return 1 if report.error else 0


def _print_nightly(report: NightlyReport) -> None:
    from ..ops.left_alone import left_alone

    if report.session_sources is not None:
        print("sessions")
        for line in told(report.session_sources):
            print(visible(masked(f"  {line}")))
        print()
    _print_finished(report.finished)
    rows = report.planned if report.dry_run else report.promoted
    done = "would be promoted" if report.dry_run else "promoted"
    left = left_alone(report)
    asked = {row["file"] for row in report.candidates} | {one.file for one in left}
    others = len(asked) - len(rows)
    print(f"{counted(len(asked), 'candidate')}: {len(rows)} {done}, {others} left alone")
    older: dict[str, list[str]] = {}
    for row in report.superseded:
        older.setdefault(row["superseded_by"], []).append(row["file"])
    for row in rows if report.dry_run else ():
        older[row["file"]] = row["supersedes"]
    for row in rows:
        print(visible(masked(f"  {row['source']} -> {row['file']}  ({row['type']})")))
        for path in older.get(row["file"], ()):
            print(visible(masked(f"    supersedes {path}")))
    for one in left:
        print(visible(masked(f"  left {one.file}: {one.why}")))
    for row in report.not_superseded:
        print(
            visible(masked(f"  {row['by']} supersedes {row['file']}, not marked: {row['message']}"))
        )
    for row in report.unreadable:
        print(visible(masked(f"  could not be read: {row['file']}: {row['message']}")))
    for warning in report.warnings:
        say(warning)
    if report.error:
        say(report.error)
    if report.dry_run:
        print("nothing was written")
        if rows:
            print(hint("next: cortex lifecycle nightly --write"))
        return
    if report.promoted:
        print(hint(f"this was run {report.run}; to take it back, run: cortex lifecycle undo"))
    if report.promoted or report.finished:
        print(hint("next: cortex lifecycle maintenance"))


def _print_finished(runs: Iterable[dict[str, Json]]) -> None:
    """The runs that had been stopped, and what came of them."""
    from ..ops.left_alone import ENDS

    for run in runs:
        print(f"run {run['run']} had been stopped and is now {ENDS[run['outcome']]}")
        for row in run["promoted"]:
            print(visible(f"  {row['source']} -> {row['file']}"))
        for row in run["dropped"]:
            print(visible(f"  left {row['file']}: {row['message']}"))


def _undo(args: argparse.Namespace) -> int:
    from ..desk import Desk

    report = Desk.open(args.config).undo_promotion(args.number, dry_run=args.dry_run)
    if args.json:
        print_json(asdict(report))
    else:
        _print_undo(report)
    return 1 if report.kept else 0


def _print_undo(report: UndoReport) -> None:
    would = "would be " if report.dry_run else ""
    _print_finished(report.finished)
    told = {"undone": f"{would}undone", "partly_undone": f"{would}undone in part"}
    print(f"run {report.run} {'is ' if not report.dry_run else ''}{told[report.outcome]}")
    for path in report.restored:
        print(visible(f"  {would}restored: {path}"))
    for path in report.removed:
        print(visible(f"  {would}removed: {path}"))
    for row in report.kept:
        print(visible(f"  left as it is: {row['file']} ({row['message']})"))
    for warning in report.warnings:
        say(warning)
    if report.kept and not report.dry_run:
        print(hint(f"to try again what was left, run: cortex lifecycle undo {report.run}"))
    if (report.restored or report.removed or report.finished) and not report.dry_run:
        print(hint("next: cortex lifecycle maintenance"))


def _history(args: argparse.Namespace) -> int:
    from ..desk import Desk

    runs = Desk.open(args.config).promotion_runs()
    shown = runs[: args.limit or None]
    if args.json:
        print_json({"count": len(runs), "runs": shown})
        return 0
    if not runs:
        print("no promotion was ever run")
        return 0
    rows = [["run", "started", "promoted", "left alone", "status"], *map(_history_cells, shown)]
    print(table(rows))
    if len(shown) < len(runs):
        print(f"and {len(runs) - len(shown):,} more")
    return 0


def _history_cells(run: dict[str, Json]) -> list[str]:
    status = {"begun": "stopped", "undoing": "undoing stopped", "partly_undone": "undone in part"}
    named = status.get(run["status"], run["status"])
    promoted, left = str(len(run["promoted"])), str(len(run["dropped"]))
    return [str(run["run"]), run["started"], promoted, left, named]
