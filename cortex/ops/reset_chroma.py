"""What of a Chroma folder Cortex made: its collection, and the files if they hold nothing else."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import CortexError
from ..types import Json

DATABASE = "chroma.sqlite3"
_SEGMENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SEGMENT_FILES = frozenset(
    ("header.bin", "data_level0.bin", "length.bin", "link_lists.bin", "index_metadata.pickle")
)


@dataclass(frozen=True, slots=True)
class Store:
    """What was found at index.chroma_path."""

    is_ours: bool = False  # all of it
    files: tuple[Path, ...] = ()  # then: in the order they are to go
    collection: str | None = None  # only this goes, as others have theirs beside it
    refused: str | None = None  # nothing goes: why


def look_at(path: Path, name: str, marker: Mapping[str, Json] | None) -> Store:
    """What a reset may take of the folder `path`; changes nothing.

    name: of our collection. marker: what chroma.json says, None without one.
    A collection is ours by its name and the mark that only Cortex gives it; a database that cannot
    be read, by chroma.json naming this very folder and collection.
    """
    if not path.exists() and not path.is_symlink():
        return Store()
    if path.is_symlink() or not path.is_dir():
        return Store(refused="is no folder of its own, so nothing there was made by Cortex")
    is_marked = (
        marker is not None and marker.get("path") == str(path) and marker.get("collection") == name
    )
    database = path / DATABASE
    if not database.is_file() or database.is_symlink():
        if next(path.iterdir(), None) is None:  # perhaps a reset was killed just before the end
            return Store(is_ours=is_marked)
        return Store(refused="is no Chroma store, so Cortex did not make it")
    try:
        marks = _collections(database)
    except sqlite3.OperationalError as error:
        return Store(refused=f"cannot be read ({error}); try again when nobody is at work in it")
    except sqlite3.Error:
        if is_marked:
            return Store(is_ours=True, files=_files(path))
        return Store(refused="is damaged, and nothing shows that Cortex made it")
    others = sorted(set(marks) - {name})
    if not marks.get(name, is_marked and not others):
        who = f"holds the collections of others ({', '.join(others)})" if others else "is empty"
        if name in marks:
            who = f"has a collection {name} that Cortex did not make"
        return Store(refused=f"{who}, and none of Cortex")
    if others:
        return Store(collection=name)
    return Store(is_ours=True, files=_files(path))


def _collections(database: Path) -> dict[str, bool]:
    """The collections by name, and whether each has the mark of Cortex."""
    uri = f"{database.resolve().as_uri()}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
        rows = connection.execute(
            "SELECT name, EXISTS (SELECT 1 FROM collection_metadata AS m WHERE "
            "m.collection_id = c.id AND m.key = 'identity') FROM collections AS c"
        )
        return {str(name): bool(marked) for name, marked in rows}


def _files(path: Path) -> tuple[Path, ...]:
    """Chroma's own, the database last: while it is there, the rest is known for what it is."""
    segments = [
        folder
        for folder in sorted(path.iterdir())
        if _SEGMENT.fullmatch(folder.name)
        and folder.is_dir()
        and not folder.is_symlink()
        and {file.name for file in folder.iterdir()} <= _SEGMENT_FILES
    ]
    files = [file for folder in segments for file in sorted(folder.iterdir())]
    names = [f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal", DATABASE]
    return (*files, *(path / name for name in names if (path / name).is_file()))


def delete_collection(path: Path, name: str) -> None:
    """Take our collection out of a store that others use too. Raises CortexError."""
    import chromadb
    import chromadb.api.shared_system_client as shared
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False, allow_reset=False)
    try:
        shared.SharedSystemClient.clear_system_cache()
        chromadb.PersistentClient(path=str(path), settings=settings).delete_collection(name)
    except Exception as error:  # Chroma raises bare exceptions of its native code
        raise CortexError(
            f"Chroma could not delete the collection {name} at {path} ({error}); try again"
        ) from None
    finally:
        shared.SharedSystemClient.clear_system_cache()
