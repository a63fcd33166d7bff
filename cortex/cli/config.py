"""`cortex config path | show`."""

from __future__ import annotations

import argparse
import os

from .options import add_json
from .output import print_json, visible


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="path | show", required=True)
    actions.add_parser("path", help="print where the config is")
    add_json(actions.add_parser("show", help="print every setting that is in force"))


def run(args: argparse.Namespace) -> int:
    from ..config import load
    from ..config.load import find
    from ..config.render import as_yaml, in_force

    if args.action == "path":
        print(visible(str(find(args.config, os.environ))))
        return 0
    config = load(args.config, os.environ)
    sections = in_force(config)
    if args.json:
        print_json({"path": str(config.path), "state": str(config.state), **sections})
    else:
        print(f"# {visible(str(config.path))}")
        print(as_yaml(sections), end="")
    return 0
