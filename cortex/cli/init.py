"""`cortex init`."""

from __future__ import annotations

import argparse
import os
import shlex

from .output import visible


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--vault", metavar="PATH", help="the folder of your notes")
    parser.add_argument(
        "--sample", action="store_true", help="first put sample notes there, if it is empty"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")


def run(args: argparse.Namespace) -> int:
    from ..config.load import chosen
    from ..ops.init import choose_vault, init

    config_path = chosen(args.config, os.environ)
    vault = choose_vault(args.vault, config_path, os.environ)
    actions = init(
        vault.path, config_path, sample=args.sample, dry_run=args.dry_run, env=os.environ
    )
    verbs = {"write": "wrote", "copy": "copied", "keep": "is there already:"}
    if args.dry_run:
        verbs = {"write": "would write", "copy": "would copy", "keep": "would keep"}
    print(f"vault: {visible(str(vault.path))} (from {vault.source})")
    for action in actions:
        print(f"{verbs[action.verb]} {action.what}: {visible(str(action.path))}")
    wiki = os.environ.get("WIKI_PATH")
    if wiki and vault.source != "WIKI_PATH" and os.path.abspath(wiki) != str(vault.path):
        print(f"WIKI_PATH names another folder, {visible(wiki)}; only init ever reads it")
    if not args.dry_run:
        option = f" --config {shlex.quote(args.config)}" if args.config else ""
        print(f"next: cortex index{option}")
    return 0
