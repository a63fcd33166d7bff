"""`cortex embed`."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from .options import add_json, at_least
from .output import counted, print_json, say, visible
from .progress import progress_for

if TYPE_CHECKING:
    from ..embedder.build import EmbedReport

EXAMPLES = (
    ("embed", "give new and changed chunks their vectors"),
    ("embed --choose-model", "have auto choose the model anew, by the languages of the notes"),
    ("embed --batch-size 64", "encode more texts at once, where memory allows"),
)
DESCRIPTION = """\
Give each chunk of the index its vector, and fill the Chroma store. A text that was encoded
before keeps its vector; stopped with Ctrl-C or killed, the next run goes on there. Needs an
index, and the weights of the model (cortex model fetch).

Exit codes: 0 done; 1 the model cannot work, or there was no writing; 2 asked wrongly.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--force", action="store_true", help="encode every text again, not only those never seen"
    )
    parser.add_argument(
        "--choose-model",
        action="store_true",
        help="have embeddings.model: auto choose again, by the languages of the notes as of now",
    )
    parser.add_argument(
        "--batch-size",
        type=at_least(1),
        metavar="N",
        help="texts encoded at once (embeddings.batch_size of the config, 32 by default)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    report = Cortex.open(args.config, env=os.environ).embed(
        args.force, progress_for(args), args.batch_size, args.choose_model
    )
    if args.json:
        print_json(asdict(report))
        return 0
    print(
        f"{counted(report.vectors, 'vector')} for {counted(report.chunks, 'chunk')}: "
        f"{report.encoded:,} encoded, {report.reused:,} reused, {report.removed:,} removed "
        f"({report.seconds:.1f} s)"
    )
    print(f"model: {visible(report.model)}, {report.dimensions} numbers a vector")
    if report.chosen_because:
        print(f"chosen by auto: {_choice(report)}")
    if report.advice:
        say(report.advice)
    if report.refilled and not report.encoded:
        print(
            "the vector store was missing or damaged and has been filled again, without the model"
        )
    return 0


def _choice(report: EmbedReport) -> str:
    """`100 % of the text is English`, and what it was before where that was asked for."""
    if not report.chosen_before:
        return report.chosen_because
    if report.chosen_before == report.model:
        return f"{report.chosen_because}; as before"
    return f"{report.chosen_because}; it was {report.chosen_before}"
