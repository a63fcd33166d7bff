"""Where the Hermes home and the config are, and paths as people write them; needs no package."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from .errors import ConfigError


def find(path: str | os.PathLike[str] | None, env: Mapping[str, str]) -> Path:
    """The file to read: `path`, else $CORTEX_CONFIG, else <hermes home>/cortex/config.yaml.

    Never one in the working directory: that would let any project choose the vault.
    Raises ConfigError if there is none; a file that was named is never replaced by the next.
    """
    file = chosen(path, env)
    if os.path.lexists(file):
        return file
    if path:
        raise ConfigError(
            f"there is no config {file}; run: cortex init --vault PATH --config {path}"
        )
    if env.get("CORTEX_CONFIG"):
        raise ConfigError(
            f"there is no config {file}, which CORTEX_CONFIG names; "
            "unset it, or run: cortex init --vault PATH"
        )
    raise ConfigError(f"no config yet at {file}; run: cortex init --vault PATH")


def chosen(path: str | os.PathLike[str] | None, env: Mapping[str, str]) -> Path:
    """Where the config is, or would be: see find."""
    named = os.fspath(path) if path else env.get("CORTEX_CONFIG")
    if named:
        return expand(named, working_folder(), env)
    return hermes_home(env) / "cortex" / "config.yaml"


def hermes_home(env: Mapping[str, str]) -> Path:
    """Where the host has its own, by the same rules."""
    named = env.get("HERMES_HOME", "").strip()
    if not named and sys.platform == "win32":
        local = env.get("LOCALAPPDATA", "").strip() or os.path.expanduser("~/AppData/Local")
        return Path(local, "hermes")
    return expand(named or "~/.hermes", working_folder(), env)


def default_home(env: Mapping[str, str]) -> Path:
    """Where plain `hermes` has its own, when nothing names another home."""
    return hermes_home({name: value for name, value in env.items() if name != "HERMES_HOME"})


def working_folder() -> Path:
    """Where relative paths start."""
    try:
        return Path.cwd()
    except OSError:  # somebody has removed it, and no relative path leads anywhere
        return Path(os.path.abspath(os.sep))


def expand(text: str, base: Path, env: Mapping[str, str]) -> Path:
    """A path as people write it, absolute: `~`, `$NAME`, `${NAME}`; `$$` is a dollar sign.

    A name that is not set stays as it is. base: where a relative path starts.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return "$" if name is None else env.get(name, match[0])

    text = re.sub(r"\$(?:\$|(\w+)|\{(\w+)\})", value, text)
    if text == "~" or text.startswith(("~/", "~" + os.sep)):
        text = (env.get("HOME") or os.path.expanduser("~")) + text[1:]
    elif text.startswith("~"):
        text = os.path.expanduser(text)
    return Path(os.path.normpath(base / text))
