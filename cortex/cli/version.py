"""`cortex version`: as `cortex --version`, which the host would take for its own."""

from __future__ import annotations

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    pass


def run(args: argparse.Namespace) -> int:
    from .._version import __version__

    print(f"cortex {__version__}")
    return 0
