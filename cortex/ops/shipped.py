"""The notes that the package brings along: the sample vault, and what a new vault starts from."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

from ..errors import CortexError


def shipped_notes(folder: str, what: str) -> list[tuple[str, Traversable]]:
    """(path, file) of each note in a folder of the package, sorted by path, "/"-separated.

    Raises CortexError when there is none: the installation has no `what`.
    """
    package = __name__.rsplit(".", 2)[0]
    found = sorted(_walk(files(package) / folder, ""), key=lambda pair: pair[0])
    if not found:
        raise CortexError(f"this installation has no {what}; install hermes-cortex again")
    return found


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield prefix + entry.name, entry
