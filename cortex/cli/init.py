"""`cortex init`."""

from __future__ import annotations

import argparse
import os
import shlex

from .install import apply_edit
from .output import visible


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--vault", metavar="PATH", help="the folder of your notes")
    parser.add_argument(
        "--sample", action="store_true", help="first put sample notes there, if it is empty"
    )
    parser.add_argument(
        "--enable",
        action="store_true",
        help="also turn the plugin and its skills on in the config.yaml of Hermes",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")


def run(args: argparse.Namespace) -> int:
    from ..home import chosen, hermes_home
    from ..ops import host_config, plugin_folder
    from ..ops.init import choose_vault, init

    config_path = chosen(args.config, os.environ)
    home = hermes_home(os.environ)
    vault = choose_vault(args.vault, config_path, os.environ)
    # Worked out before anything is written: a file that can't be edited stops it all.
    edit = host_config.enabling(home) if args.enable else None
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
    if edit is not None:
        apply_edit(edit, args.dry_run, "Cortex is turned on in")
        if not args.dry_run:
            plugin_folder.copy_skills(home)
        if not plugin_folder.is_found(home):
            print(
                f"Hermes does not find Cortex in {visible(str(home))} yet; "
                "run ./install.sh in the checkout"
            )
        if config_path != chosen(None, os.environ):
            place = visible(str(config_path))
            print(f"Hermes reads this config only with CORTEX_CONFIG={place} in its environment")
    if not args.dry_run:
        option = f" --config {shlex.quote(args.config)}" if args.config else ""
        print(f"next: cortex index{option}")
        if edit is None and host_config.is_enabled(home) is False:
            print(f"to have it in Hermes too: cortex init --enable{option}")
    if edit is not None and edit.is_needed and not args.dry_run:
        print("running sessions, the gateway too, keep the old settings until they restart")
    return 0
