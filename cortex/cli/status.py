"""`cortex status`."""

from __future__ import annotations

import argparse
import os

from .options import add_json
from .output import counted, print_json, visible


def configure(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    status = Cortex.open(args.config, env=os.environ).status()
    code = 1 if status["problems"] else 0
    if args.json:
        print_json(status)
        return code
    vectors = counted(status["vectors"], "vector")
    if status["vectors_model"]:
        vectors += f" of {status['vectors_model']}"
    languages = ", ".join(f"{name} {count:,}" for name, count in status["languages"].items())
    index = f"{counted(status['notes'], 'note')}, {counted(status['chunks'], 'chunk')}"
    for name, value in (
        ("config", status["config"]),
        ("vault", status["vault"] or "not set"),
        ("state", status["state"]),
        ("model", status["model"]),
        ("index", index + (f" ({languages})" if languages else "")),
        ("vectors", vectors),
        ("graph", "built" if status["graph"] else "not built"),
    ):
        print(visible(f"{name + ':':9}{value}"))
    for problem in status["problems"]:
        print(visible(f"- {problem}"))
    return code
