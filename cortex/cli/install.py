"""`cortex install`. Must run when no package of others is there: standard library only."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from .output import counted, say, visible

if TYPE_CHECKING:
    from ..ops.host_config import Edit


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Install what Cortex needs into the Python that this runs in: inside Hermes, the host's. "
        "Nothing that is installed there is changed; what does not fit is refused."
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="into a folder of the plugin's own, which only Cortex reads",
    )
    parser.add_argument(
        "--link", action="store_true", help="make this checkout a plugin of the Hermes home"
    )
    parser.add_argument(
        "--enable", action="store_true", help="turn the plugin on in the host's config.yaml"
    )
    parser.add_argument(
        "--uninstall",
        action="store_true",
        help="turn the plugin off, take its link and the packages that it brought away",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")


def run(args: argparse.Namespace) -> int:
    return _uninstall(args) if args.uninstall else _install(args)


def _install(args: argparse.Namespace) -> int:
    from ..errors import CortexError
    from ..home import chosen, hermes_home
    from ..ops import install, plugin_folder

    home = hermes_home(os.environ)
    # Every reason to refuse comes before the first change.
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
    plan = install.plan(private=args.private, tell=say)

    place = visible(str(plan.folder or plan.python))
    if not plan.add:
        print(f"all that Cortex needs is there already: {place}")
    elif args.dry_run:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(plan.add.items()))
        print(f"would install {counted(len(plan.add), 'package')} into {place}: {visible(listed)}")
    else:
        install.carry_out(plan, say)
        print(
            f"installed {counted(len(plan.add), 'package')} into {place}; "
            "what was there before is as it was"
        )
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
    if edit is None and args.link and not _is_on(home):
        print("to turn it on in Hermes: ./install.sh --enable")
    if not chosen(None, os.environ).exists():
        print("next: hermes cortex init --vault PATH")
    if plan.add or is_to_link or (edit is not None and edit.is_needed):
        print("running sessions, the gateway too, keep the old code until they restart")
    return 0


def _is_on(home: Path) -> bool:
    try:
        from ..ops.host_config import is_enabled
    except ImportError:  # PyYAML
        return False
    return bool(is_enabled(home))


def _uninstall(args: argparse.Namespace) -> int:
    from ..home import hermes_home
    from ..ops import host_config, install, plugin_folder

    home = hermes_home(os.environ)
    packages, folders = install.removable()
    parts = [*map(str, folders), *([counted(len(packages), "package")] if packages else [])]
    what = ", ".join(parts)
    edit = host_config.disabling(home)
    apply_edit(edit, args.dry_run, "Cortex is turned off in")
    place = plugin_folder.plugin_folder(home)
    if args.dry_run:
        if plugin_folder.is_linked(home):
            print(visible(f"would take away the link: {place}"))
        if what:
            print(visible(f"would remove: {what}"))
        return 0
    plugin_folder.remove_copied_skills(home)
    if plugin_folder.unlink(home):
        print(visible(f"took away the link: {place}"))
    elif place.is_dir():
        print(visible(f"the plugin lies in {place}; remove that folder yourself"))
    install.remove(packages, folders)
    if what:
        print(visible(f"removed: {what}"))
    print(visible(f"settings and index stay in {home / 'cortex'}; delete it to be rid of them"))
    return 0


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
