"""Files written where somebody names them: never a note, and never over what is something else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import CortexError, UsageError
from ..files import write_text

_NOTES = (".md", ".markdown")
# What exports of each of graph_export.FORMATS are called; the first is told to people.
ENDINGS = {
    "json": (".json",),
    "d3-json": (".json",),
    "mermaid": (".mmd", ".mermaid"),
    "graphml": (".graphml",),
    "dot": (".dot", ".gv"),
}


def checked_output(path: Path, endings: Sequence[str], own: Path) -> Path:
    """The absolute path, if a file may be written there: a new one, or over one of `endings`.

    endings: lower-case suffixes that such files usually have. own: a folder whose files are of
    Cortex, where none may be put. Raises UsageError: also for what a note would be named.
    """
    name = f"name a file that ends in {endings[0]}"
    ending = path.suffix.casefold()
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it")
    if ending in _NOTES:
        raise UsageError(f"{path} has the name of a note; {name}")
    if Path(os.path.realpath(own)) in Path(os.path.realpath(path)).parents:
        raise UsageError(f"{path} lies in the state folder, with Cortex's own; name another folder")
    if os.path.lexists(path) and (ending not in endings or not path.is_file()):
        raise UsageError(f"{path} exists and may be something else, so it stays; {name}")
    return path.absolute()


def write_output(path: Path, text: str) -> None:
    """Write it, atomically. Raises CortexError that names the file."""
    try:
        write_text(path, text)
    except OSError as error:
        why = error.strerror or error
        raise CortexError(f"{path} cannot be written: {why}; name another file with -o") from None
