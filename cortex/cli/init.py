"""`cortex init`."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path

from .install import apply_edit, offer
from .output import hint, visible


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
    from ..errors import UsageError
    from ..home import chosen, hermes_home
    from ..ops import homes, host_config, plugin_folder
    from ..ops.init import choose_vault, init

    config_path = chosen(args.config, os.environ)
    home = hermes_home(os.environ)
    is_in_host = plugin_folder.is_there(home) or plugin_folder.has_host()
    if args.enable:
        homes.refuse_missing(home, os.environ)
        if not is_in_host:
            raise UsageError(
                f"Hermes would not find Cortex: it is not in {plugin_folder.plugin_folder(home)}, "
                "and this Python is not the one that Hermes runs in; run ./install.sh --enable in "
                "a checkout, or leave --enable out and let Hermes call Cortex by a shell hook "
                "(README, In Hermes)"
            )
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
        if step := _next_step(config_path):
            print(hint(f"next: {step}{option if step.startswith('cortex ') else ''}"))
        if edit is None and (home / "config.yaml").exists():
            if not is_in_host:
                print("to have it in Hermes too: ./install.sh --enable, or a shell hook (README)")
            elif parts := host_config.lacking(home):
                print(hint(offer(parts, f"cortex init --enable{option}")))
    if edit is not None and edit.is_needed and not args.dry_run:
        print("running sessions, the gateway too, keep the old settings until they restart")
    return 0


def _next_step(config_path: Path) -> str | None:
    """The first command to run, as `cortex status` tells it; None if all is built."""
    from ..app import Cortex

    steps = Cortex.open(config_path).status()["next"]
    return str(steps[0]) if isinstance(steps, list) and steps else None
