"""cortex lifecycle candidates: drafts for the inbox out of what was said in sessions."""

from __future__ import annotations

import argparse
from typing import Any

from ..vault.note_schema import INBOX
from .options import add_json, at_least, comma_separated
from .output import counted, hint, print_json, say, visible
from .session_sources import add_session_options, asked_sessions, left_out, told, warn_of_missing

EXAMPLES = (
    ("lifecycle candidates", "what the sessions since yesterday would give; writes nothing"),
    ("lifecycle candidates --write", "the same, written into 00_inbox as drafts"),
    ("lifecycle candidates --lookback-days 7 --limit 20 --json", "for a program"),
)
DESCRIPTION = """\
Looks through the last sessions of Hermes for what is worth a note: where the user asks to remember
something, what was decided, corrections, and facts with a date. It goes by rules alone, in
English, German and the plainest forms of some other languages; no model is asked. Each becomes a
draft in 00_inbox that quotes the sentence, with secrets masked, and says who said it, when and in
which session. A draft is not promoted before somebody sets promote: true in it.

Without --write nothing is written. A sentence becomes a draft once, also when its draft was moved,
promoted or deleted since. Output of tools, code, quotations, what Hermes or Cortex put into the
conversation, group chats and sessions of cron, subagents, web hooks and API servers do not count.
Exit codes: 0 also when there is nothing, 1 when a draft cannot be written, 2 when asked wrongly."""


def add(actions: Any) -> None:
    """The subcommand, with its options, below `lifecycle`."""
    parser = actions.add_parser(
        "candidates",
        help="drafts for the inbox out of what was said in the last sessions",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--write", action="store_true", help="write the drafts; without it they are only listed"
    )
    parser.add_argument(
        "--limit",
        type=at_least(1),
        default=50,
        metavar="N",
        help="drafts of one run, oldest first; the rest is for the next (default: 50)",
    )
    parser.add_argument(
        "--platform",
        action="append",
        default=[],
        metavar="A,B",
        help="only sessions of these platforms, also of ones left out else, e.g. cli,telegram",
    )
    add_session_options(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk

    desk = Desk.open(args.config)
    platforms = [name for text in args.platform for name in comma_separated(text)]
    report = desk.candidates(
        write=args.write, limit=args.limit, platforms=platforms, **asked_sessions(args)
    )
    document = report.as_json()
    warn_of_missing(args, document["session_sources"])
    if report.are_searched and report.candidates:
        say(
            "by the settings drafts are searched like notes, also by the agent; to leave them out, "
            f"add {INBOX} to vault.exclude_folders in {desk.config.path}"
        )
    if args.json:
        print_json(document)
        return 0
    for line in told(document["session_sources"]):
        print(visible(line))
    done = "would write" if report.is_dry else "wrote"
    print(f"\n{done} {counted(len(report.candidates), 'draft')}")
    for one in report.candidates:
        print()
        print(visible(one.path))
        print(visible(f"  {one.kind}, {one.said_by}, {one.time}, {one.platform} {one.session}"))
        print(visible(f"  > {one.quote}"))
    if report.left:
        print(f"\n{counted(report.left, 'draft')} over the limit, for the next run")
    if report.skipped:
        print()
    for line in left_out(dict(sorted(report.skipped.items()))):
        print(f"left out: {line}")
    if report.is_dry and report.candidates:
        print(hint("next: cortex lifecycle candidates --write"))
    elif report.candidates:
        take = hint("cortex lifecycle nightly --write")
        print(f"next: read them; set promote: true in what is right, then run: {take}")
    return 0
