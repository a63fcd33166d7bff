"""Check-up of the Python that Cortex runs in: its version, its locale, and our requirements only.

Standard library only: this is asked when nothing else is installed.
"""

from __future__ import annotations

import importlib
import re
import sqlite3
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata

from ..checks.doctor import Finding, Found, ok, plural
from .packages import FILES_ALONE, MODULES, REMEDY

OLDEST = (3, 11)
_COMMAND = REMEDY.removeprefix("run: hermes ")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def python() -> Found:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        yield Finding("problem", f"this is Python {version}", f"Cortex needs {wanted} or newer")
    yield ok(f"Python {version}, {sys.executable}")
    if sys.getfilesystemencoding().lower() != "utf-8":
        yield Finding(
            "warning",
            f"names of files are read as {sys.getfilesystemencoding()}, so é.md cannot be opened",
            "set PYTHONUTF8=1, or LANG to a UTF-8 locale",
        )
    if sqlite3.sqlite_version_info < (3, 35):
        what = f"SQLite {sqlite3.sqlite_version} is older than Chroma can use"
        yield Finding("problem", what, "use a Python with SQLite 3.35 or newer")


def packages(requirements: Sequence[str], *, quick: bool) -> Found:
    """Are they there, of a version that we can use, and does each load? quick: none is loaded.

    Whether packages of others go together is not ours to say.
    """
    found: dict[str, str] = {}
    for text in requirements:
        match = _NAME.match(text)
        if match is None or ";" in text:
            continue
        try:
            found[match[0]] = metadata.version(match[0])
        except metadata.PackageNotFoundError:
            yield Finding("problem", f"{match[0]} is missing in this Python", command=_COMMAND)
            continue
        if not _fits(text, found[match[0]]):
            what = f"{match[0]} {found[match[0]]} is not the {text} that Cortex needs"
            yield Finding("problem", what, command=_COMMAND)
    broken = {} if quick else _unloadable(MODULES, found)
    for name, why in broken.items():
        yield Finding("problem", f"{name} cannot be loaded: {why}", command=_COMMAND)
    if not broken:
        yield ok(plural(len(found), "package"))


def _fits(requirement: str, version: str) -> bool:
    try:
        from packaging.requirements import Requirement
    except ImportError:  # then only whether it is there can be said
        return True
    return Requirement(requirement).specifier.contains(version, prereleases=True)


def _unloadable(modules: Mapping[str, str], there: Mapping[str, str]) -> dict[str, str]:
    """Distribution -> why it does not load, e.g. a library of the system that it lacks."""
    broken = {}
    for module, name in modules.items():
        if name not in there or module in FILES_ALONE:
            continue
        try:
            importlib.import_module(module)
        except Exception as error:  # native packages raise what they like
            lines = str(error).splitlines() or [""]
            broken[name] = f"{type(error).__name__}: {lines[0]}"[:300]
    return broken
