"""`cortex config path | show`."""

from __future__ import annotations

import argparse
import os

from .options import add_json
from .output import print_json, visible

EXAMPLES = (
    ("config path", "where the config is"),
    ("config show", "every setting that is in force, as YAML"),
    ("config show --json", "the same, as a document"),
)
DESCRIPTION = """\
The settings: where they are, and what is in force, with every default written out. Reads alone.

Exit codes: 0 done; 2 there is no config, or something is wrong in it; all of it is told.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    actions = parser.add_subparsers(dest="action", metavar="path | show", required=True)
    add_json(actions.add_parser("path", help="print where the config is"))
    add_json(actions.add_parser("show", help="print every setting that is in force"))


def run(args: argparse.Namespace) -> int:
    if args.action == "path":
        from ..home import find

        path = str(find(args.config, os.environ))
        if args.json:
            print_json({"path": path})
        else:
            print(visible(path))
        return 0
    from ..app import Cortex
    from ..config.render import as_yaml, in_force

    cortex = Cortex.open(args.config, env=os.environ)
    config = cortex.config
    sections = in_force(config)
    hooks = cortex.lifecycle_rows(os.environ)
    if args.json:
        state = str(config.state)
        print_json({"path": str(config.path), "state": state, **sections, "hook_lifecycle": hooks})
        return 0
    print(f"# {visible(str(config.path))}")
    print(as_yaml(sections), end="")
    print("# What hooks make of these settings:")
    for line in as_yaml({"hook_lifecycle": hooks}).splitlines():  # no setting, so a comment
        print(f"# {line}")
    return 0
