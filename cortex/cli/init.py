"""`cortex init`."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .install import apply_edit, offer
from .options import add_json
from .output import hint, print_json, say, visible

if TYPE_CHECKING:
    from ..ops.init import ChosenVault
    from ..types import Json

EXAMPLES = (
    ("init --vault ~/notes", "a config for the notes that are there; no note is touched"),
    ("init", "on a terminal: asks which folder, and whether to begin an empty one with notes"),
    ("init --vault ~/new --scaffold", "begin a vault: folders, templates and starter notes"),
    ("init --vault ~/try --sample", "a vault to try, with 38 notes in it"),
    ("init -y --dry-run", "what -y would do; nothing is changed"),
    ("init --enable", "also turn Cortex on in Hermes"),
)
ABOUT = """\
Write a commented config for the folder of your notes, and say what to run next. What is there
already is never overwritten: a second run changes nothing.

The vault is that of --vault, else of the config that is there, else of WIKI_PATH, else, on a
terminal, of your answer. A config that names another vault is never changed: that is exit code 2,
before anything is written.

A vault with notes in it is taken as it is. Folders, root files, templates and starter notes are
written into one that is empty; into one with notes only with --scaffold, only what is missing, and
no starter notes.

Exit codes: 0 done; 1 you said no; 2 no vault, or another one than in the config
"""
LEGACY = {
    "--legacy-update-hermes-memory": "MEMORY.md",
    "--legacy-update-soul-memory-rules": "SOUL.md",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = ABOUT
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--vault", metavar="PATH", help="the folder of your notes")
    parser.add_argument(
        "--scaffold",
        action=argparse.BooleanOptionalAction,
        help="write what is missing of folders, root files and templates, and into a vault "
        "without notes starter notes too; --no-scaffold leaves an empty one empty",
    )
    parser.add_argument(
        "--sample", action="store_true", help="first put sample notes there, if it is empty"
    )
    parser.add_argument(
        "--enable",
        action="store_true",
        help="also turn the plugin and its skills on in the config.yaml of Hermes",
    )
    parser.add_argument(
        "-y",
        "--yes",
        action="store_true",
        help="ask nothing: without a vault named anywhere it is ~/hermes-workspace/vault, and one "
        "that is missing is made and scaffolded",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be done; ask nothing and change nothing",
    )
    add_json(parser)
    for option in LEGACY:
        parser.add_argument(option, action="append_const", dest="legacy", const=option,
                            help=argparse.SUPPRESS)  # fmt: skip


def run(args: argparse.Namespace) -> int:
    try:
        if not args.json:
            return _run(args)[0]
        with contextlib.redirect_stdout(io.StringIO()):  # what is said to people
            code, document = _run(args)
    except EOFError:
        print()
        say("no answer; nothing was written")
        return 1
    except _Stopped:
        print()
        say("stopped; nothing was written")
        return 130
    print_json(document)
    return code


def _run(args: argparse.Namespace) -> tuple[int, dict[str, Json]]:
    from ..errors import UsageError
    from ..home import chosen, hermes_home
    from ..ops import homes, host_config, plugin_folder
    from ..ops.init import alignment, init

    if args.legacy:
        raise UsageError(
            f"{args.legacy[0]}: Cortex only reads {LEGACY[args.legacy[0]]} and never edits it; "
            "leave the option out, the skills of Cortex tell the model what it needs"
        )
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
    vault, scaffold = _wanted(args, config_path)
    if vault is None:
        say("nothing was written")
        return 1, {"actions": []}
    # Worked out before anything is written: a file that can't be edited stops it all.
    edit = host_config.enabling(home) if args.enable else None
    wiki, about_wiki = alignment(vault.path, os.environ)
    try:
        actions = init(
            vault.path,
            config_path,
            sample=args.sample,
            scaffold=scaffold,
            dry_run=args.dry_run,
            today=dt.date.today(),
            env=os.environ,
        )
    except UsageError:
        if os.path.lexists(config_path):
            say(about_wiki)
        raise
    verbs = {"write": "wrote", "copy": "copied", "keep": "kept"}
    if args.dry_run:
        verbs = {"write": "would write", "copy": "would copy", "keep": "would keep"}
    print(f"vault: {visible(str(vault.path))} (from {vault.source})")
    for action in actions:
        told = ", ".join(action.names) or str(action.path)
        print(f"{verbs[action.verb]} {action.what}: {visible(told)}")
    print(visible(about_wiki))
    _warn_of_rules(config_path, scaffold, os.environ)
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
    step = None
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
    return 0, {
        "vault": str(vault.path),
        "vault_source": vault.source,
        "config": str(config_path),
        "wiki_path": wiki,
        "dry_run": args.dry_run,
        "actions": [
            {
                "verb": action.verb,
                "what": action.what,
                "path": str(action.path),
                "names": list(action.names),
            }
            for action in actions
        ],
        "hermes": edit and {"config": str(edit.path), "changed": edit.is_needed},
        "next": step,
    }


# Questions


def _wanted(args: argparse.Namespace, config_path: Path) -> tuple[ChosenVault | None, bool | None]:
    """The vault, and whether to lay it out; (None, None) if the user said no.

    Asks where both ends are a terminal, and before anything is written.
    """
    from ..ops.init import ChosenVault, choose_vault, typed_path
    from ..ops.scaffold import is_empty

    asks = not (args.yes or args.dry_run or args.json)
    asks = asks and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    has_config = os.path.lexists(config_path)
    or_default = args.yes or args.dry_run or asks
    vault = choose_vault(args.vault, config_path, os.environ, or_default=or_default)
    if asks and args.vault is None and not has_config:
        answer = _answer(f"The folder of your notes [{visible(str(vault.path))}]: ")
        if len(answer) > 2 and answer[0] == answer[-1] and answer[0] in "'\"":
            answer = answer[1:-1].strip()  # quoted as for a shell
        if answer:
            vault = ChosenVault(typed_path(answer, os.environ), "your answer")
    scaffold: bool | None = args.scaffold
    is_missing = not os.path.lexists(vault.path)
    if scaffold is not None or args.sample or has_config or not is_empty(vault.path):
        return vault, scaffold
    if asks and not (vault.path.exists() and not vault.path.is_dir()):
        what = "does not exist; make it, with" if is_missing else "is empty; write"
        scaffold = _agrees(f"{visible(str(vault.path))} {what} folders and starter notes?")
        return (vault, scaffold) if scaffold or not is_missing else (None, None)
    if is_missing and (args.yes or vault.source == "default"):
        scaffold = True
    return vault, scaffold


class _Stopped(Exception):
    """Ctrl-C at a question, when nothing is written yet."""


def _answer(question: str) -> str:
    try:
        return input(question).strip()
    except KeyboardInterrupt:
        raise _Stopped from None


def _agrees(question: str) -> bool:
    while True:
        answer = _answer(f"{question} [Y/n] ").casefold()
        if answer in ("", "y", "yes"):
            return True
        if answer in ("n", "no"):
            return False


def _warn_of_rules(config_path: Path, scaffold: bool | None, env: Mapping[str, str]) -> None:
    """Where the config of a vault that was laid out later has drafts or sources searched."""
    from ..config.load import parse
    from ..ops.scaffold import searched_anyway
    from ..vault.scan import FolderRules

    if not scaffold or not os.path.lexists(config_path):
        return
    vault = parse(config_path, env).vault
    found = searched_anyway(FolderRules(vault.include_folders, vault.exclude_folders))
    if found:
        say(
            f"the config has {', '.join(found)} searched too; to leave them out, add them to "
            f"vault.exclude_folders in {config_path}"
        )


def _next_step(config_path: Path) -> str | None:
    """The first command to run, as `cortex status` tells it; None if all is built."""
    from ..app import Cortex

    steps = Cortex.open(config_path).status()["next"]
    return str(steps[0]) if isinstance(steps, list) and steps else None
