"""`cortex version`: as `cortex --version`, which the host would take for its own."""

from __future__ import annotations

import argparse

from .options import add_json
from .output import print_json

EXAMPLES = (
    ("version", "which version this is"),
    ("version --json", "the same, as a document"),
)
DESCRIPTION = """\
Print the version of Cortex, as `cortex --version` does.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from .._version import __version__

    if args.json:
        print_json({"version": __version__})
    else:
        print(f"cortex {__version__}")
    return 0
