"""The layout of a new vault: folders, root files, templates, starter notes; nothing is overwritten.

What is written lies in `cortex/starter`; `{{today}}` in it becomes the day.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from ..errors import CortexError, UsageError
from ..files import create_below
from ..vault.note_schema import (
    FOLDER_TYPES,
    NOT_CURATED,
    RAW,
    RAW_FOLDERS,
    ROOT_FILES,
    TEMPLATES,
)
from ..vault.reading import spelt_there
from ..vault.scan import FolderRules
from .shipped import shipped_notes

CURATED = tuple(folder for folder, kind in FOLDER_TYPES.items() if kind is not None)
FOLDERS = (*FOLDER_TYPES, *RAW_FOLDERS)

Group = Literal["folders", "root files", "templates", "starter notes"]
KEEPER = ".gitkeep"  # git keeps no empty folders
_LISTS = "Begin with [[Start here]]"  # from here on index.md names the starter notes
_LISTS_NOTHING = "Link here what one should find first.\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """A folder or file of the layout that is missing."""

    group: Group
    path: str  # vault-relative, "/"-separated; of a folder without its KEEPER
    text: str


def missing(vault: Path, today: dt.date) -> list[Piece]:
    """What of the layout is not in the vault yet, in the order to write it.

    The starter notes come along only where is_empty, so never beside somebody's notes, and until
    SCHEMA.md and index.md are there: who deleted them later does not get them again. Raises
    UsageError if something is in the way, be it a folder or root file in another case, of which a
    synced copy elsewhere could hold only one.
    """
    is_ours = is_empty(vault)
    pieces = [Piece("folders", folder, "") for folder in FOLDERS]
    for path, source in _shipped():
        text = source.read_text("utf-8").replace("{{today}}", today.isoformat())
        if path == "index.md" and not is_ours:
            text = text.partition(_LISTS)[0] + _LISTS_NOTHING
        pieces.append(Piece(_group(path), path, text))
    for folder in sorted({path for piece in pieces for path in _folders_of(piece)}):
        _refuse_in_the_way(vault, folder)
    for name in (RAW, *FOLDERS, *ROOT_FILES):
        _refuse_another_case(vault, name)
    is_set_up = all(os.path.lexists(vault / name) for name in ("SCHEMA.md", "index.md"))
    has_starters = is_ours and not is_set_up
    lacking = [
        piece
        for piece in pieces
        if not _is_there(vault, piece.path) and (has_starters or piece.group != "starter notes")
    ]
    # Root files last: a run that was killed before them still brings the notes they link to.
    return sorted(lacking, key=lambda piece: piece.group == "root files")


def write(vault: Path, pieces: list[Piece]) -> None:
    """Write them; what appeared meanwhile stays as it is."""
    vault.mkdir(parents=True, exist_ok=True)
    for piece in pieces:
        path = f"{piece.path}/{KEEPER}" if piece.group == "folders" else piece.path
        try:
            create_below(vault, path, piece.text.encode("utf-8"))
        except FileExistsError:
            continue


def is_empty(vault: Path) -> bool:
    """Whether nothing visible lies there but what an earlier run of ours left, or nothing at all.

    Hidden files don't count: Obsidian and git make theirs before there is a note. A link, and what
    may not be looked into, is taken for something.
    """
    unreadable: list[OSError] = []
    ours = {path for path, _ in _shipped()}
    folders = {"/".join(parts[: n + 1]) for parts in _parts() for n in range(len(parts))}
    for place, inner, names in os.walk(vault, onerror=unreadable.append):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for known, found in ((folders, inner), (ours, names)):
            for name in found:
                file = os.path.join(place, name)
                path = os.path.relpath(file, vault).replace(os.sep, "/")
                if not name.startswith(".") and (path not in known or os.path.islink(file)):
                    return False
    return not any(os.path.lexists(error.filename) for error in unreadable)


def searched_anyway(rules: FolderRules) -> list[str]:
    """The folders that hold no knowledge yet, or none at all, and that `rules` take in."""
    return [folder for folder in NOT_CURATED if rules.takes(f"{folder}/note.md")]


def shipped_template(kind: str) -> str:
    """The template for notes of this type, as Cortex ships it."""
    for path, source in _shipped():
        if path == f"{TEMPLATES}/{kind}-note.md":
            return source.read_text("utf-8")
    raise CortexError(f"this installation has no template for {kind}; install hermes-cortex again")


def _group(path: str) -> Group:
    if path.startswith(f"{TEMPLATES}/"):
        return "templates"
    return "starter notes" if path.split("/")[0] in CURATED else "root files"


def _parts() -> Iterator[list[str]]:
    for folder in FOLDERS:
        yield folder.split("/")


def _folders_of(piece: Piece) -> Iterator[str]:
    parts = piece.path.split("/")
    for count in range(1, len(parts) + (piece.group == "folders")):
        yield "/".join(parts[:count])


def _refuse_in_the_way(vault: Path, folder: str) -> None:
    place = vault / folder
    if os.path.lexists(place) and (place.is_symlink() or not place.is_dir()):
        what = "a link" if place.is_symlink() else "no folder"
        raise UsageError(
            f"{place} is {what}, where a folder of the layout belongs; "
            "move it away, or leave --scaffold out"
        )


def _refuse_another_case(vault: Path, path: str) -> None:
    above, _, name = path.rpartition("/")
    there = spelt_there(vault / above, name)
    if there not in (None, name) and not os.path.lexists(vault / path):
        raise UsageError(
            f"{vault / above / there} is there, where {path} belongs; rename it, "
            "or leave --scaffold out"
        )


def _is_there(vault: Path, path: str) -> bool:
    """Whether something stands there, also in another case."""
    above, _, name = path.rpartition("/")
    return os.path.lexists(vault / path) or spelt_there(vault / above, name) is not None


def _shipped() -> list[tuple[str, Traversable]]:
    return shipped_notes("starter", "starter notes")
