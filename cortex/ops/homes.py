"""The Hermes homes: whether one is there, and which others lie beside it.

A profile of the host is a home of its own, in `profiles` of the root home. Standard library only.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import UsageError
from ..home import default_home
from . import plugin_folder


def refuse_missing(home: Path, env: Mapping[str, str]) -> None:
    """Raises UsageError if there is no `home`, unless it is the default one, which may be new."""
    if home.is_dir() or home == default_home(env):
        return
    named = home.name
    profiles = {place.name: place for root in _roots(home, env) for place in _profiles(root)}
    near = difflib.get_close_matches(named, profiles, n=1)
    remedy = "name the folder that Hermes uses, by HERMES_HOME or --home"
    if near:
        remedy = f"did you mean the profile {near[0]}, {profiles[near[0]]}?"
    elif home.parent.name == "profiles":
        remedy = f"make that profile first: hermes profile create {named}"
    raise UsageError(f"there is no Hermes home at {home}; {remedy}")


def beside(home: Path, env: Mapping[str, str]) -> list[tuple[str, Path]]:
    """(name as the host has it, folder) of every other home that shares a root with `home`.

    The default home and its profiles are among them, as they may share a Python with any other.
    """
    found: dict[Path, str] = {}
    for root in _roots(home, env):
        if root.is_dir():
            found.setdefault(root.resolve(), "default")
        for place in _profiles(root):
            found.setdefault(place.resolve(), place.name)
    found.pop(home.resolve(), None)
    return [(name, place) for place, name in found.items()]


def using_cortex(
    home: Path, env: Mapping[str, str], recorded: Iterable[Path]
) -> list[tuple[str, Path]]:
    """As `beside`, with the homes that are `recorded`: those with Cortex in them or turned on."""
    found = {place: name for name, place in beside(home, env)}
    for place in recorded:
        if place != home.resolve():
            is_profile = place.parent.name == "profiles"
            found.setdefault(place, place.name if is_profile else "default")
    return [(name, place) for place, name in found.items() if _uses_cortex(place)]


def _uses_cortex(home: Path) -> bool:
    """Also when that can't be looked up, as in the home of another user."""
    from .host_config import is_enabled

    try:
        if plugin_folder.is_there(home):
            return True
        config = home / "config.yaml"
        return is_enabled(home) is True or (config.is_file() and not os.access(config, os.R_OK))
    except OSError:
        return True


def _roots(home: Path, env: Mapping[str, str]) -> list[Path]:
    own = home.parent.parent if home.parent.name == "profiles" else home
    return list(dict.fromkeys([own, default_home(env)]))


def _profiles(root: Path) -> list[Path]:
    return sorted(place for place in root.glob("profiles/*") if place.is_dir())
