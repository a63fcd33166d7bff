"""`cortex inject`: what would be put behind a message, from which source, and why not more."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .. import generated
from ..errors import UsageError
from ..switch import is_switched_off
from ..text import estimate_tokens
from .drift import tell_what_waits
from .options import add_json
from .output import counted, hint, print_json, say, table, visible

if TYPE_CHECKING:
    from ..inject.report import Report, SourceReport

MAX_INPUT = 20_000_000  # characters of a message on stdin; of a longer one the end is not read

EXAMPLES = (
    ("inject --message 'when is the boiler due?'", "what a turn with this message would get"),
    ("inject --message 'and the pump?' --session 20260301_101500_ab12cd", "in that session"),
    ("inject --message 'good morning' --first --json", "as a first turn, as a document"),
    ("inject --wait < message.txt", "a long message, however long the sources take"),
)
DESCRIPTION = """\
Shows what Cortex would put behind a message by itself: what each source found, what of it was
gated and why, and the text. Nothing is injected or written. It also works while inject.enabled is
false, and says so.

With --session the messages of that session count: what it was shown before is not told again, and
it is left out of the earlier conversations. Without, the message is of a session of which nothing
is known, and not its first, unless --first says so. Index and model are opened before the time of
hooks.deadline_ms begins, as they are in a host that has run a while.

Exit codes: 0 done, also when nothing would be injected, and while HERMES_CORTEX_CONTEXT is off,
which prints {"enabled": false}; 1 the session database cannot be read; 2 asked wrongly.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--message",
        metavar="TEXT",
        help="the user's message; without, or as -, it is read from stdin",
    )
    parser.add_argument(
        "--session", metavar="ID", default="", help="a session of Hermes, by its id"
    )
    parser.add_argument("--first", action="store_true", help="as the first turn of its session")
    parser.add_argument(
        "--wait", action="store_true", help="wait for every source, past hooks.deadline_ms"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    if is_switched_off(os.environ):
        print('{"enabled": false}')
        return 0
    message = _message(args.message)
    from ..desk import Desk

    desk = Desk.open(args.config, env=os.environ)
    report = desk.inject(message, session=args.session, is_first=args.first, may_wait=args.wait)
    assert report is not None  # or the switch would be off
    if args.json:
        print_json(report.document())
    else:
        print("\n".join(_told(report)))
    for remark in report.remarks:
        say(remark)
    tell_what_waits(desk.cortex)
    if not report.enabled:
        say("inject.enabled is false in the config: no turn gets this")
    return 0


def _message(given: str | None) -> str:
    if given is not None and given != "-":
        return given
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("no message; give --message TEXT, or the message on stdin")
    return sys.stdin.read(MAX_INPUT)


def _told(report: Report) -> Iterator[str]:
    yield table([_HEAD, *map(_row, report.sources)])
    for source in report.sources:
        for item in source.items:
            why = f"  ({item.why})" if item.why else ""
            yield visible(f"{source.name}: [{item.label}] {item.head}{why}")
        if source.why and (source.asked or source.why != report.gate.why):
            yield visible(hint(f"{source.name}: {source.why}"))
    if report.gate.kind:
        yield visible(f"gate: {report.gate.kind}, {report.gate.why}")
    size = f"{report.tokens:,} of {counted(report.budget, 'token')}"
    size = f"{size}, {counted(report.characters, 'character')}"
    if not report.text:
        yield "nothing would be injected"
        return
    names = ", ".join(block.name for block in report.blocks)
    yield f"would be injected: {names} ({size})"
    yield ""
    yield visible(_without_skill(report), keep="\n\t")


def _without_skill(report: Report) -> str:
    """The text, less what is the same for every message; --json has all of it."""
    for block in generated.blocks_in(report.text):
        if block.name == "skill_context":
            told = f"[… the skill, {counted(estimate_tokens(block.text), 'token')}; --json has it]"
            return report.text.replace(block.text, told)
    return report.text


_HEAD = (
    *("source", "status", "told", "top-k", "found", "gated", "shown before", "repeated"),
    *("secret", "no room", "tokens", "answered by"),
)


def _row(source: SourceReport) -> tuple[str, ...]:
    if not source.asked:
        return (source.name, "not asked", *[""] * (len(_HEAD) - 2))
    counts = (
        *(source.injected, source.requested, source.matched, source.gated, source.shown_before),
        *(source.repeated, source.refused_secret_items, source.left_out_for_room, source.tokens),
    )
    return (source.name, source.status, *(f"{count:,}" for count in counts), source.answered_by)
