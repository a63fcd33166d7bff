"""The folder in the Hermes home by which the host finds Cortex: a link to the checkout.

Standard library only.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import CortexError
from .packages import checkout_folder


def plugin_folder(home: Path) -> Path:
    """Where the host looks for Cortex in `home`."""
    return home / "plugins" / "cortex"


def is_found(home: Path) -> bool:
    """Does the host find Cortex: in its home, or installed in this Python?"""
    if (plugin_folder(home) / "plugin.yaml").is_file():
        return True
    from importlib.metadata import entry_points

    return any(entry.name == "cortex" for entry in entry_points(group="hermes_agent.plugins"))


def is_to_link(home: Path) -> bool:
    """Is the checkout not yet the plugin of `home`?

    Raises CortexError if something else lies there, or this is no checkout.
    """
    checkout, place = _checkout(), plugin_folder(home)
    if place.exists() and os.path.samefile(place, checkout):
        return False
    if os.path.lexists(place):
        what = f"a link to {os.readlink(place)}" if place.is_symlink() else "something else"
        raise CortexError(f"{place} is {what}, not this checkout; move it away and run this again")
    return True


def link(home: Path) -> None:
    place = plugin_folder(home)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(_checkout(), target_is_directory=True)


def unlink(home: Path) -> bool:
    """Take the link away. False if there is none to this checkout; a folder is never removed."""
    checkout, place = checkout_folder(), plugin_folder(home)
    if checkout is None or not place.is_symlink() or place.resolve() != checkout.resolve():
        return False
    place.unlink()
    return True


def skills_folder(home: Path, *, will_be_linked: bool = False) -> str | None:
    """The skills as `skills.external_dirs` of the host takes them; None if none are there.

    Relative to the home where the plugin lies in it, so that a home that is moved keeps them.
    will_be_linked: as if the checkout were there already.
    """
    if will_be_linked or (plugin_folder(home) / "skills").is_dir():
        return "plugins/cortex/skills"
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "skills", package / "skills"):
        if (folder / "cortex-vault" / "SKILL.md").is_file():
            return str(folder)
    return None


def _checkout() -> Path:
    checkout = checkout_folder()
    if checkout is None:
        raise CortexError("this is no plugin checkout: pip has installed it; leave --link out")
    return checkout
