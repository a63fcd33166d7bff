"""`cortex context`."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from .options import (
    add_as_of,
    add_filters,
    add_json,
    add_query,
    add_rerank,
    at_least,
    filters,
    query_text,
)
from .output import (
    counted,
    masked,
    print_json,
    say,
    tell_what_lacks,
    tell_what_was_corrected,
    tell_what_was_understood,
    visible,
)

EXAMPLES = (
    ("context 'when to sand the deck'", "cited Markdown, within the token budget of the config"),
    ("context honey --budget 800 --json", "a smaller one, as a document"),
)
DESCRIPTION = """\
Put what a search finds together as cited Markdown, at most as many tokens as the budget. The
text goes to stdout, how many citations and tokens it has to stderr. Keys and passwords are
masked.

Exit codes: 0 done, also when nothing was found; 1 there is no index; 2 asked wrongly.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_query(parser)
    parser.add_argument(
        "--budget", type=at_least(0), metavar="N", help="tokens that the whole text may have"
    )
    parser.add_argument(
        "--top-k", type=at_least(1), metavar="N", help="how many hits to choose from"
    )
    add_rerank(parser)
    add_as_of(parser)
    add_json(parser)
    add_filters(parser)


def run(args: argparse.Namespace) -> int:
    text, chosen = query_text(args), filters(args)
    from ..app import Cortex

    context = Cortex.open(args.config, env=os.environ).build_context(
        text,
        args.budget,
        args.top_k,
        chosen,
        as_of=args.as_of,
        rerank=not args.no_rerank,
        plain=args.plain,
    )
    if args.json:
        print_json(masked(asdict(context)))
    elif context.text:
        print(visible(context.text, keep="\n\t").rstrip("\n"))
    tell_what_was_understood(context.understood)
    tell_what_was_corrected(context.corrections)
    tell_what_lacks(context.unavailable, context.warnings)
    if not args.quiet:
        cited = "nothing relevant found"
        if context.relevant:
            cited = f"{counted(context.relevant, 'hit')}, but none fits; raise --budget"
        if context.citations:
            cited = counted(len(context.citations), "citation")
        say(f"{cited}, {context.tokens:,} of {context.budget:,} tokens")
    return 0
