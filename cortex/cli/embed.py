"""`cortex embed`."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from .options import add_json, at_least
from .output import counted, print_json, visible
from .progress import progress_for


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="encode every text again, not only those never seen"
    )
    parser.add_argument("--batch-size", type=at_least(1), metavar="N", help="texts encoded at once")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    report = Cortex.open(args.config, env=os.environ).embed(
        args.force, progress_for(args), args.batch_size
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
    if report.refilled and not report.encoded:
        print(
            "the vector store was missing or damaged and has been filled again, without the model"
        )
    return 0
