"""`cortex install`. Must run when no package of others is there: standard library only."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..types import Json
from .options import add_json
from .output import counted, print_json, say, visible

if TYPE_CHECKING:
    from ..ops.host_config import Edit

EXAMPLES = (
    ("install", "the packages that are missing, into this Python"),
    ("install --multilingual", "also the model for notes that are not in English"),
    ("install --enable --dry-run", "what turning the plugin on would change"),
    ("install --uninstall", "turn the plugin off, and take back what it brought"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Install what Cortex needs into the Python that this runs in: inside Hermes, the host's. "
        "Nothing that is installed there is changed; what does not fit is refused.\n\n"
        "Exit codes: 0 done, or there was nothing to do; 1 it could not be done, and nothing was "
        "changed; 2 asked wrongly."
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="into a folder of the plugin's own, which only Cortex reads",
    )
    parser.add_argument(
        "--multilingual",
        action="store_true",
        help="also the embedding model for notes that are not in English, 30 MB",
    )
    parser.add_argument(
        "--link", action="store_true", help="make this checkout a plugin of the Hermes home"
    )
    parser.add_argument(
        "--enable", action="store_true", help="turn the plugin and its skills on in config.yaml"
    )
    parser.add_argument(
        "--uninstall",
        action="store_true",
        help="turn the plugin off, take away its link and the packages that it brought, unless "
        "another home or profile uses them",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    do = _uninstall if args.uninstall else _install
    done: dict[str, Json] = {"dry_run": args.dry_run}
    if not args.json:
        return do(args, done)
    with contextlib.redirect_stdout(sys.stderr):  # what people read of it
        code = do(args, done)
    print_json(done)
    return code


def _install(args: argparse.Namespace, done: dict[str, Json]) -> int:
    from ..commands import in_host
    from ..errors import CortexError
    from ..home import chosen, default_home, hermes_home
    from ..ops import homes, install, plugin_folder

    home = hermes_home(os.environ)
    # Every reason to refuse comes before the first change.
    if args.link or args.enable:
        homes.refuse_missing(home, os.environ)
    is_to_link = args.link and plugin_folder.is_to_link(home)
    edit = None
    if args.enable:
        try:
            from ..ops import host_config
        except ImportError:
            raise CortexError(
                "this Python has no PyYAML, so it is not the one that Hermes runs in; "
                "name that: ./install.sh --python PATH"
            ) from None
        edit = host_config.enabling(home, will_be_linked=is_to_link)
    plan = install.plan(private=args.private, tell=say, multilingual=args.multilingual)

    done |= {
        "home": str(home),
        "place": str(plan.folder or plan.python),
        "packages": dict(sorted(plan.add.items())),
        "linked": is_to_link,
        "enabled": edit is not None and edit.is_needed,
    }
    place = visible(str(plan.folder or plan.python))
    if not plan.add:
        unneeded = "; --private has nothing to add" if args.private and not plan.folder else ""
        print(f"all that Cortex needs is there already: {place}{unneeded}")
    elif args.dry_run:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(plan.add.items()))
        print(f"would install {counted(len(plan.add), 'package')} into {place}: {visible(listed)}")
    else:
        install.carry_out(plan, say)
        print(
            f"installed {counted(len(plan.add), 'package')} into {place}; "
            "what was there before is as it was"
        )
    if not plan.is_private and not args.dry_run:
        install.add_user(home)
    if is_to_link:
        if not args.dry_run:
            plugin_folder.link(home)
        verb = "would link" if args.dry_run else "linked"
        print(f"{verb} the plugin: {visible(str(plugin_folder.plugin_folder(home)))}")
    if edit is not None:
        apply_edit(edit, args.dry_run, "Cortex is turned on in")
        if not args.dry_run:
            plugin_folder.copy_skills(home)
    if args.dry_run:
        return 0
    program = in_host(home, default_home(os.environ))
    if edit is None:
        _offer_to_enable(home, program, is_by_script=args.link)
    if not chosen(None, os.environ).exists():
        print(f"next: {program} init --vault PATH")
    if plan.add or is_to_link or (edit is not None and edit.is_needed):
        print("running sessions, the gateway too, keep the old code until they restart")
    return 0


def _offer_to_enable(home: Path, program: str, *, is_by_script: bool) -> None:
    try:
        from ..ops.host_config import lacking
    except ImportError:  # PyYAML
        return
    parts = lacking(home)
    command = "cortex install --enable"
    if is_by_script:
        command = "./install.sh --enable"
    elif "the plugin" not in parts:  # so Hermes knows the command
        command = f"{program} install --enable"
    if parts:
        print(offer(parts, command))


def offer(parts: Sequence[str], command: str) -> str:
    """The line that tells what of Cortex is not on in Hermes, and what turns it on."""
    return f"not on in Hermes yet: {' and '.join(parts)} of Cortex; to turn it on: {command}"


def _uninstall(args: argparse.Namespace, done: dict[str, Json]) -> int:
    from ..commands import host_itself
    from ..errors import UsageError
    from ..home import default_home, hermes_home
    from ..ops import homes, host_config, install, plugin_folder

    if args.enable or args.private or args.multilingual:
        raise UsageError("--uninstall takes no option but --dry-run")
    home = hermes_home(os.environ)
    homes.refuse_missing(home, os.environ)
    recorded = install.users()
    others = homes.using_cortex(home, os.environ, recorded)
    users = [f"{name} ({place})" for name, place in others]
    packages, folders = install.removable()
    # What others use stays. Private folders lie in the checkout, if it is one.
    is_shared = any(plugin_folder.is_this_checkout(place) for _, place in others)
    folders, kept = ([], folders) if is_shared else (folders, [])
    # A list without homes is of an older version.
    is_user = not recorded or home.resolve() in recorded
    packages, kept_packages = (packages, {}) if is_user and not users else ({}, packages)
    what = _listed(folders, packages)
    edit = host_config.disabling(home)
    apply_edit(edit, args.dry_run, "Cortex is turned off in")
    place = plugin_folder.plugin_folder(home)
    is_linked = plugin_folder.is_linked(home)
    done |= {
        "home": str(home),
        "packages": dict(sorted(packages.items())),
        "folders": [str(folder) for folder in folders],
        "unlinked": is_linked,
        "disabled": edit.is_needed,
        "kept": _listed(kept, kept_packages),
    }
    if not args.dry_run:
        plugin_folder.remove_copied_skills(home)
        plugin_folder.unlink(home)
        if is_user and not users:
            install.remove(packages, folders)
        else:
            install.remove_folders(folders)
            install.remove_user(home)
    if is_linked:
        print(visible(f"{'would take' if args.dry_run else 'took'} away the link: {place}"))
    elif plugin_folder.is_cloned(home):
        hermes = host_itself(home, default_home(os.environ))
        print(visible(f"the plugin stays in {place}; to remove it: {hermes} plugins remove cortex"))
    elif os.path.lexists(place):
        print(visible(f"{place} is no link to this checkout and stays; remove it yourself"))
    if what:
        print(visible(f"{'would remove' if args.dry_run else 'removed'}: {what}"))
    if staying := _listed(kept, kept_packages):
        why = "this home never used them" if not users else f"the profile {users[0]} uses Cortex"
        if len(users) > 1:
            why = f"the profiles {', '.join(users)} use Cortex"
        print(visible(f"{'would keep' if args.dry_run else 'kept'}: {staying}, as {why}"))
    if args.dry_run:
        return 0
    print(visible(f"settings and index stay in {home / 'cortex'}; delete it to be rid of them"))
    return 0


def _listed(folders: Sequence[Path], packages: Mapping[str, str]) -> str:
    count = [counted(len(packages), "package")] if packages else []
    return ", ".join([*map(str, folders), *count])


def apply_edit(edit: Edit, dry_run: bool, done: str) -> None:
    """Write the edit and say so; on a dry run, print it. done: `Cortex is turned on in`."""
    from ..ops.host_config import write

    place = visible(str(edit.path))
    if not edit.is_needed:
        print(f"{done} {place} already")
    elif dry_run:
        print(visible(edit.diff(), keep="\n"))
    else:
        backup = write(edit)
        print(f"{done} {place}" + (f"; as it was: {visible(backup.name)}" if backup else ""))
