"""`cortex read`."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys

from .named import naming
from .options import add_json
from .output import print_json, say, visible

EXAMPLES = (
    ("read 'Flood Boards'", "a note by its title"),
    ("read 40_runbooks/Flood\\ Boards.md --heading Afterwards", "one section of it"),
    ("read Tides --lines 10-20 --json", "some lines, as a document"),
)
DESCRIPTION = """\
Print a note, or a part of it, from the file as it is now. It is found by its path in the vault,
its file name, its title or an alias. Notes that the settings exclude are not served.

Exit codes: 0 done; 1 it cannot be read; 2 there is no such note: near names are told.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument("note", metavar="NOTE", help="its path in the vault, its name or its title")
    parser.add_argument("--heading", metavar="H", help="only the section under this heading")
    parser.add_argument("--lines", type=_lines, metavar="A-B", help="only these lines, from 1")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    cortex = Cortex.open(args.config, env=os.environ)
    with naming(cortex, args.note):
        note = cortex.read_note(args.note, args.heading, args.lines)
    if args.json:
        print_json(
            {
                "path": note.path,
                "title": note.title,
                "text": note.text,
                "start_line": note.start_line,
                "end_line": note.end_line,
                "total_lines": note.total_lines,
                "more": note.more,
            }
        )
        return 0
    # Faithful into a file or a pipe; a terminal must not obey what stands in a note.
    text = visible(note.text, keep="\n\t") if sys.stdout.isatty() else note.text
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    if note.more is not None:
        shown = f"lines {note.start_line} to {note.end_line} of {note.total_lines}"
        rest = f"--lines {note.more}-{note.total_lines}"
        say(f"{shown}; the rest: cortex read {rest} -- {shlex.quote(note.path)}")
    return 0


def _lines(text: str) -> tuple[int, int]:
    """`10-20`, or `10` for that line alone."""
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"must be two line numbers such as 10-20, found {text!r}")
    first = int(match[1])
    last = int(match[2] or match[1])
    if first < 1 or last < first:
        raise argparse.ArgumentTypeError(f"must count up from 1, found {text!r}")
    return first, last
