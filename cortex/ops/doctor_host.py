"""Check-up of how Hermes is wired to Cortex: the plugin, its skills and tools, hooks, profiles."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from .._version import __version__
from ..checks.doctor import FIX, Finding, Found, listed, ok
from ..commands import IN_HOST, host_itself, in_host
from ..home import default_home
from ..switch import SWITCH, is_switched_off
from . import homes, host_config, plugin_folder

COPY_SKILLS = "copy the skills"
TOOLSET = "cortex"
ENABLE = "cortex init --enable"
_VERSION = re.compile(r"""^(?:__version__\s*=|version:)\s*["']?([^\s"']+)""", re.MULTILINE)


def host(home: Path, env: Mapping[str, str]) -> Found:
    """The home that is in force, the host in this Python, and whether it has Cortex on."""
    if plugin_folder.has_host():
        version = metadata.version(plugin_folder.HOST)
        yield ok(f"{plugin_folder.HOST} {version} is in this Python")
    if not home.is_dir():
        yield Finding("info", f"there is no Hermes home at {home}; Cortex serves the shell alone")
        return
    yield ok(f"the Hermes home is {home}")
    if is_switched_off(env):
        what = f"{SWITCH} is off here, so nothing is put into conversations"
        yield Finding("info", what)
    yield from _plugin(home)
    settings = home / "config.yaml"
    if not settings.is_file():
        return
    hermes = host_itself(home, default_home(env))
    if (parsed := read_settings(settings)) is None:
        what = f"{settings} cannot be read as YAML settings, so what is on in Hermes is not known"
        yield Finding("problem", what, f"mend it; `{hermes} doctor` may say more")
        return
    yield from _wiring(home, parsed, hermes)
    yield from _shell_hooks(parsed)


def read_settings(path: Path) -> dict[str, Any] | None:
    """The host's config.yaml; None if it is not readable, {} if nothing stands in it."""
    import yaml

    try:
        settings = yaml.load(path.read_bytes(), Loader=yaml.SafeLoader)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    return settings if isinstance(settings, dict) else {} if settings is None else None


def _plugin(home: Path) -> Found:
    place = plugin_folder.plugin_folder(home)
    if place.is_symlink() and not place.exists():
        yield Finding(
            "problem",
            f"{place} is a link to {os.readlink(place)}, which is gone",
            "remove that link, and run ./install.sh in the checkout",
        )
        return
    if not plugin_folder.is_there(home):
        return
    yield ok(f"the plugin lies in {place}")
    manifest = (place / "plugin.yaml").read_text("utf-8", "replace")
    match = _VERSION.search(manifest)
    if match and match[1] != __version__:
        what = f"Hermes loads Cortex {match[1]} from {place}, and this is {__version__}"
        yield Finding("warning", what, "bring one of the two up to date")


def _wiring(home: Path, settings: Mapping[str, Any], hermes: str) -> Found:
    is_on = host_config.is_enabled(home)
    if is_on and not plugin_folder.is_found(home):
        yield Finding(
            "problem",
            "Cortex is turned on in Hermes, which does not find it",
            "run ./install.sh --link in the checkout",
        )
    if parts := host_config.lacking(home):
        can_find = plugin_folder.is_there(home) or plugin_folder.has_host()
        yield Finding(
            "warning" if is_on or plugin_folder.is_there(home) else "info",
            f"not on in Hermes yet: {' and '.join(parts)} of Cortex",
            "" if can_find else "./install.sh --enable in a checkout",
            ENABLE if can_find else "",
        )
    elif is_on:
        yield ok("the plugin and its skills are on")
    if is_on:
        yield from _toolset(settings, hermes)
        if stale := plugin_folder.stale_skills(home):
            what = f"copies of skills in the home are not those of this version: {listed(stale)}"
            yield Finding("warning", what, command=FIX, fix=COPY_SKILLS, names=tuple(stale))


def _toolset(settings: Mapping[str, Any], hermes: str) -> Found:
    """Where a user has turned the tools off: by `agent.disabled_toolsets`, or in `hermes tools`."""
    agent = settings.get("agent")
    disabled = agent.get("disabled_toolsets") if isinstance(agent, dict) else None
    if isinstance(disabled, list) and TOOLSET in disabled:
        what = "agent.disabled_toolsets of Hermes turns the vault tools off"
        yield Finding("warning", what, f"take {TOOLSET} out of that list")
    known, listed_for = (
        part if isinstance(part, dict) else {}
        for part in map(settings.get, ("known_plugin_toolsets", "platform_toolsets"))
    )
    off = [
        str(platform)
        for platform, seen in known.items()
        if isinstance(seen, list)
        and TOOLSET in seen
        and isinstance(listed_for.get(platform), list)
        and TOOLSET not in listed_for[platform]
    ]
    if off:
        what = f"the vault tools are turned off for {listed(off)}"
        yield Finding("info", what, f"{hermes} tools turns them on")


def _shell_hooks(settings: Mapping[str, Any]) -> Found:
    """Hooks that run `cortex hook`: is the program there that they name?"""
    hooks = settings.get("hooks")
    for event, command in _hook_commands(hooks if isinstance(hooks, dict) else {}):
        try:
            words = shlex.split(command)
        except ValueError:
            words = command.split()
        if "hook" not in words or not any("cortex" in word for word in words):
            continue
        if shutil.which(os.path.expanduser(os.path.expandvars(words[0]))) is None:
            what = f"the shell hook {event} of Hermes runs {words[0]}, which is not there"
            yield Finding("problem", what, "mend its command in the config.yaml of Hermes")
        else:
            yield ok(f"a shell hook answers {event}")


def _hook_commands(hooks: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for event, entries in hooks.items():
        for entry in entries if isinstance(entries, list) else [entries]:
            command = entry.get("command") if isinstance(entry, dict) else None
            if isinstance(command, str) and command.strip():
                yield str(event), command


def profiles(home: Path, env: Mapping[str, str]) -> Found:
    """The other homes beside this one, and whether Cortex is on in each."""
    for name, place in homes.beside(home, env):
        program = in_host(place, default_home(env))
        if program == IN_HOST and place != default_home(env):  # a home that no name leads to
            program = f"HERMES_HOME={shlex.quote(str(place))} {IN_HOST}"
        told = {True: "is on", False: "is not on", None: "is not known to be on"}
        is_on = host_config.is_enabled(place)
        config = place / "cortex" / "config.yaml"
        if is_on and not config.is_file():
            yield Finding(
                "warning",
                f"Cortex is on in the profile {name}, which has no config for it",
                command=f"{program} init --vault PATH",
            )
        else:
            yield Finding("info", f"Cortex {told[is_on]} in the profile {name} ({place})")
