"""`cortex index`."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from .options import add_json
from .output import counted, hint, print_json, say, visible
from .progress import progress_for

SHOWN = 10  # problems that are listed in full; --json lists all

EXAMPLES = (
    ("index", "bring the index up to date with the vault"),
    ("index --force", "read every note again, e.g. when an artifact is damaged"),
    ("index --json", "the report with all problems in notes, for a program"),
)
DESCRIPTION = """\
Read the vault into chunks and the keyword index. Unchanged notes are taken over from the last
index; what the vault is, is told by the content of files, not by their times. Nothing is ever
written into the vault. Readers see the old index until the new one is whole.

Exit codes: 0 done, also with odd notes, which are listed; 1 some note could not be read, or
there was no writing; 2 asked wrongly, or the config is wrong.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("--force", action="store_true", help="read every note again")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    report = Cortex.open(args.config, env=os.environ).index(args.force, progress_for(args))
    code = 1 if report.kept else 0
    if not report.notes:
        say("no note was found in the vault by the settings; see: cortex doctor")
    if args.json:
        print_json(asdict(report))
        return code
    print(
        f"{counted(report.notes, 'note')}, {counted(report.chunks, 'chunk')}: "
        f"{report.added:,} added, {report.changed:,} changed, {report.removed:,} removed, "
        f"{report.unchanged:,} unchanged ({report.seconds:.1f} s)"
    )
    if report.kept:
        print(f"{counted(len(report.kept), 'note')} could not be read and kept the last chunks:")
        for path in report.kept[:SHOWN]:
            print(f"  {visible(path)}")
    if report.problems:
        notes = len({problem.note for problem in report.problems})
        problems = counted(len(report.problems), "problem")
        print(f"{problems} in {counted(notes, 'note')}:")
        for problem in report.problems[:SHOWN]:
            place = problem.note if problem.line is None else f"{problem.note}:{problem.line}"
            print(f"  {visible(place)}  {visible(problem.message)} [{problem.code}]")
        if len(report.problems) > SHOWN:
            more = f"{len(report.problems) - SHOWN:,} more"
            print(hint(f"  and {more}; all of them: cortex index --json"))
    return code
