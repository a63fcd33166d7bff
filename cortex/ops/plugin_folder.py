"""The folder in the Hermes home by which the host finds Cortex: a link to the checkout.

Standard library only.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from .. import files
from ..errors import CortexError
from .packages import checkout_folder

HOST = "hermes-agent"  # the distribution


def plugin_folder(home: Path) -> Path:
    """Where the host looks for Cortex in `home`."""
    return home / "plugins" / "cortex"


def is_there(home: Path) -> bool:
    """Does Cortex lie in the plugins of `home`?"""
    return (plugin_folder(home) / "plugin.yaml").is_file()


def is_found(home: Path) -> bool:
    """Does the host find Cortex: in its home, or installed in its Python, which is this one?"""
    if is_there(home):
        return True
    from importlib.metadata import entry_points

    entries = entry_points(group="hermes_agent.plugins")
    return has_host() and any(entry.name == "cortex" for entry in entries)


def has_host() -> bool:
    """Is this the Python that Hermes runs in?"""
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(HOST)
    except PackageNotFoundError:
        return False
    return True


def is_cloned(home: Path) -> bool:
    """Is the plugin a folder of its own, as `hermes plugins install` makes it, and no link?"""
    place = plugin_folder(home)
    return place.is_dir() and not place.is_symlink()


def is_to_link(home: Path) -> bool:
    """Is the checkout not yet the plugin of `home`?

    Raises CortexError if something else lies there, or this is no checkout.
    """
    checkout, place = _checkout(), plugin_folder(home)
    if place.exists() and os.path.samefile(place, checkout):
        return False
    if os.path.lexists(place):
        what = f"a link to {os.readlink(place)}" if place.is_symlink() else "something else"
        what += "" if place.exists() else ", which is gone"
        raise CortexError(f"{place} is {what}, not this checkout; move it away and run this again")
    refuse_unwritable(place.parent, "the plugin can't be linked")
    return True


def link(home: Path) -> None:
    place = plugin_folder(home)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(_checkout(), target_is_directory=True)


def is_linked(home: Path) -> bool:
    """Is the plugin of `home` a link to this checkout?"""
    return plugin_folder(home).is_symlink() and is_this_checkout(home)


def is_this_checkout(home: Path) -> bool:
    """Is the plugin of `home` this checkout, by a link or in itself?"""
    checkout = checkout_folder()
    return checkout is not None and plugin_folder(home).resolve() == checkout.resolve()


def unlink(home: Path) -> bool:
    """Take the link away. False if there is none to this checkout; a folder is never removed."""
    if not is_linked(home):
        return False
    plugin_folder(home).unlink()
    return True


def skills_folder(home: Path, *, will_be_linked: bool = False) -> str | None:
    """The skills as `skills.external_dirs` of the host takes them; None if none are there.

    Relative to the home where the plugin lies in it, so that a home that is moved keeps them.
    will_be_linked: as if the checkout were there already.
    """
    source = _shipped_skills()
    linked = source if will_be_linked else plugin_folder(home) / "skills"
    if linked is not None and linked.is_dir() and _is_listed(linked):
        return "plugins/cortex/skills"
    if source is None:
        return None
    return str(source) if _is_listed(source) else _COPY


def copy_skills(home: Path) -> Path | None:
    """Bring the skills into the home, if the host would not list them where they lie.

    The folder if something was written. After an upgrade they are brought up to date.
    """
    source = _shipped_skills()
    if source is None or skills_folder(home) != _COPY:
        return None
    is_changed = False
    for file in sorted(source.glob("*/SKILL.md")):
        copy, text = home / _COPY / file.parent.name / file.name, file.read_text("utf-8")
        if not copy.is_file() or copy.read_text("utf-8", "replace") != text:
            files.write_text(copy, text)
            is_changed = True
    return home / _COPY if is_changed else None


def stale_skills(home: Path) -> list[str]:
    """Names of the skills that `copy_skills` would write now; none where no copy is needed."""
    source = _shipped_skills()
    if source is None or skills_folder(home) != _COPY:
        return []
    stale = []
    for file in sorted(source.glob("*/SKILL.md")):
        copy = home / _COPY / file.parent.name / file.name
        if not copy.is_file() or copy.read_bytes() != file.read_bytes():
            stale.append(file.parent.name)
    return stale


def remove_copied_skills(home: Path) -> None:
    """Take back what `copy_skills` wrote, and nothing else."""
    source = _shipped_skills()
    for folder in [] if source is None else source.iterdir():
        copy = home / _COPY / folder.name
        (copy / "SKILL.md").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            copy.rmdir()
    with contextlib.suppress(OSError):
        (home / _COPY).rmdir()


_COPY = "cortex/skills"
# No skill below a folder of such a name is listed (agent/skill_utils.py of the host).
_UNLISTED = {".venv", "venv", "site-packages", ".tox", ".nox", "node_modules", ".git", ".github"}


def _is_listed(folder: Path) -> bool:
    return _UNLISTED.isdisjoint(folder.resolve().parts)


def _shipped_skills() -> Path | None:
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "skills", package / "skills"):
        if (folder / "cortex-vault" / "SKILL.md").is_file():
            return folder
    return None


def refuse_unwritable(folder: Path, why: str) -> None:
    """Raises CortexError if nothing can be put into `folder`, which may be yet to make."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        raise CortexError(f"{why}: {place} can't be written to; run this as its owner")


def _checkout() -> Path:
    checkout = checkout_folder()
    if checkout is None:
        raise CortexError("this is no plugin checkout: pip has installed it; leave --link out")
    return checkout
