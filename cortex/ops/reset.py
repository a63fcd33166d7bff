"""Take away what Cortex built, and nothing that it did not.

All of it can be built again from the notes. What is not recognised by its stamp stays: settings,
weights, the journal of promotions, and whatever others put beside it. No link is followed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..config import Config
from ..embedder.cache_files import CACHE_FILES
from ..embedder.choice import CHOICE
from ..errors import CortexError
from ..files import sync_folder
from ..state import RUNS, State
from ..types import Json
from . import reset_chroma
from .viewer import FILE as PAGE

PARTS = ("chunks", "vectors", "chroma", "graph", "rest")  # in the order they are told
KIND = {"chunks": "index", "vectors": "vectors", "graph": "graph"}
_REBUILT_BY = {
    "chunks": "cortex index",
    "vectors": "cortex embed",
    "chroma": "cortex embed",
    "graph": "cortex graph build",
}
MARKER = "chroma.json"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that goes: a file, a folder with all that is in it, or a collection of Chroma."""

    part: str
    path: Path
    what: str  # in words
    size: int  # bytes, of files that have no other name outside
    files: tuple[Path, ...]  # in the order they go; () for a collection
    collection: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """What stays although it lies where something of Cortex could be."""

    part: str
    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reset takes. items are in the order they go."""

    state: Path
    items: tuple[Item, ...] = ()
    refused: tuple[Left, ...] = ()  # was asked for by name, and is not of Cortex
    stays: tuple[Path, ...] = ()  # the rest of the state folder, sorted
    next: tuple[str, ...] = field(default=())  # what builds again what goes

    @property
    def size(self) -> int:
        return sum(item.size for item in self.items)

    def as_json(self) -> dict[str, Json]:
        return {
            "state": str(self.state),
            "items": [
                {
                    "part": item.part,
                    "path": str(item.path),
                    "what": item.what,
                    "files": len(item.files),
                    "bytes": item.size,
                    "collection": item.collection,
                }
                for item in self.items
            ],
            "bytes": self.size,
            "refused": [
                {"part": left.part, "path": str(left.path), "why": left.why}
                for left in self.refused
            ],
            "stays": [str(path) for path in self.stays],
            "next": list(self.next),
        }


def plan(state: State, config: Config, parts: Iterable[str]) -> Plan:
    """What there is of these parts, and is Cortex's; changes nothing.

    parts: of PARTS; `rest` is what no part has for itself, as the notes about the last runs.
    """
    wanted = set(parts)
    items: list[Item] = []
    refused: list[Left] = []
    for part in PARTS:
        if part not in wanted:
            continue
        if part == "chroma":
            found, left = _chroma(state, config)
            items += found
            refused += left
        elif part == "rest":
            items += _rest(state)
        else:
            items += _generations(state, part)
            items += _caches(state) if part == "vectors" else []
            items += _pages(state) if part == "graph" else []
    going = {item.path for item in items}
    rebuilt = [_REBUILT_BY[item.part] for item in items if item.part in _REBUILT_BY]
    return Plan(
        state.root,
        tuple(items),
        tuple(refused),
        tuple(path for path in _in_root(state) if not _goes(path, going)),
        tuple(command for command in dict.fromkeys(_REBUILT_BY.values()) if command in rebuilt),
    )


def carry_out(state: State, config: Config, parts: Iterable[str], shown: Plan) -> None:
    """Remove what `shown` lists, as the only writer.

    Raises CortexError, with nothing removed, if there is more by now than was shown, and Busy.
    Killed on the way, it leaves what the next reset recognises still.
    """
    if not shown.items:
        return
    with state.lock():
        now = plan(state, config, parts)
        listed = {file for item in shown.items for file in item.files}
        if any(file not in listed for item in now.items for file in item.files):
            raise CortexError(
                "another run of Cortex built something meanwhile; nothing was removed; run this "
                "again to see what would go now"
            )
        # As shown: the lock has swept what a damaged pointer no longer named, so that its files are
        # no longer known by their generation.
        for item in shown.items:
            if item.collection is not None:
                reset_chroma.delete_collection(item.path, item.collection)
            _remove(item)
        for folder in (state.root / "generations", state.root / "vectors"):
            with contextlib.suppress(OSError):  # something is in it still, or it is a link
                folder.rmdir()
        if state.root.is_dir():
            sync_folder(state.root)


def _remove(item: Item) -> None:
    for file in item.files:
        file.unlink(missing_ok=True)
        if item.part == "chroma" and file.parent != item.path:
            with contextlib.suppress(OSError):
                file.parent.rmdir()  # while the database is there, which shows whose it is
    if not _is_folder(item.path):
        return
    folders = {item.path}
    if item.path.parent.name == "generations":  # ours with all that is in it, empty folders too
        folders |= {Path(folder) for folder, _, _ in os.walk(item.path)}
    else:
        folders |= {file.parent for file in item.files}
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        with contextlib.suppress(OSError):  # something else is in it, which stays
            folder.rmdir()


# What there is


def _generations(state: State, part: str) -> Iterator[Item]:
    """The public names first, as their generation shows whose they are; then the pointer, so that
    a reader finds nothing, not a part."""
    kind = KIND[part]
    folders = [
        folder
        for folder in _entries(state.root / "generations")
        if re.fullmatch(rf"{kind}-[0-9a-f]{{12}}", folder.name) and _is_folder(folder)
    ]
    for path in _in_root(state):
        if _is_file(path) and any(_is_same(path, folder / path.name) for folder in folders):
            yield _file(part, path, f"the {_NOUN[part]} as other programs read it", size=0)
    pointer = state.root / f"{kind}.json"
    stamp = _json(pointer)
    if _is_file(pointer) and (_is_stamp(stamp, kind) or (stamp is None and folders)):
        yield _file(part, pointer, f"names the {_NOUN[part]} in use")
    for folder in folders:
        yield _folder(part, folder, f"a generation of the {_NOUN[part]}")


_NOUN = {"chunks": "index", "vectors": "vectors", "graph": "graph"}


def _caches(state: State) -> Iterator[Item]:
    """The vectors of each model, by the two files that a cache has."""
    for folder in _entries(state.root / "vectors"):
        names = {entry.name for entry in _entries(folder)} if _is_folder(folder) else set()
        if names and names <= set(CACHE_FILES):
            yield _folder("vectors", folder, "the vectors that a model made")


def _pages(state: State) -> Iterator[Item]:
    """The page of `cortex graph viewer` under its usual name; a page of somebody else's stays."""
    path = state.root / PAGE
    if _is_file(path) and _MADE_BY_US in _head(path):
        yield _file("graph", path, "the page that shows the graph")


_MADE_BY_US = b'<meta name="generator" content="Hermes Cortex">'  # see graph_viewer/page/page.html


def _chroma(state: State, config: Config) -> tuple[list[Item], list[Left]]:
    path, name = config.index.chroma_path, config.index.collection
    marker_file = state.root / MARKER
    told = _json(marker_file)
    marker = (
        told if isinstance(told, dict) and {"path", "collection", "identity"} <= set(told) else None
    )
    store = reset_chroma.look_at(path, name, marker)
    items = []
    if store.collection is not None:
        what = f"the collection {name} of Cortex; those of others there stay"
        items.append(Item("chroma", path, what, 0, (), store.collection))
    elif store.is_ours:
        items.append(Item("chroma", path, "the vector store", _size(store.files), store.files))
    # Last: where the database is damaged, it alone shows that the store is ours.
    if marker is not None and _is_file(marker_file) and store.refused is None:
        items.append(_file("chroma", marker_file, "what the vector store holds"))
    left = [] if store.refused is None else [Left("chroma", path, store.refused)]
    return items, left


def _rest(state: State) -> Iterator[Item]:
    runs = _json(state.root / RUNS)
    if _is_file(state.root / RUNS) and isinstance(runs, dict) and "runs" in runs:
        yield _file("rest", state.root / RUNS, "when each builder last ran")
    choice = _json(state.root / CHOICE)
    if _is_file(state.root / CHOICE) and isinstance(choice, dict) and "model" in choice:
        yield _file("rest", state.root / CHOICE, "the model that auto chose")


def _is_stamp(value: Json, kind: str) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("generation"), str)
        and isinstance(value.get("files"), dict)
        and re.fullmatch(rf"generations/{kind}-[0-9a-f]{{12}}", str(value.get("folder")))
        is not None
    )


def _is_same(path: Path, original: Path) -> bool:
    """A hard link; where the system has none, a copy, byte for byte."""
    try:
        if path.samefile(original):
            return True
        return path.stat().st_size == original.stat().st_size and (
            path.read_bytes() == original.read_bytes()
        )
    except OSError:
        return False


def _json(path: Path) -> Json:
    """None for what is no JSON, or no plain file."""
    try:
        return json.loads(path.read_bytes()) if _is_file(path) else None
    except (OSError, ValueError, RecursionError):
        return None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError:
        return b""


def _file(part: str, path: Path, what: str, size: int | None = None) -> Item:
    return Item(part, path, what, _size([path]) if size is None else size, (path,))


def _folder(part: str, path: Path, what: str) -> Item:
    files = tuple(
        Path(folder, name)
        for folder, folders, names in os.walk(path)
        for name in sorted((*names, *(one for one in folders if Path(folder, one).is_symlink())))
    )
    return Item(part, path, what, _size(files), files)


def _size(paths: Sequence[Path]) -> int:
    total = 0
    for path in paths:
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total


def _is_file(path: Path) -> bool:
    return _mode(path, stat.S_ISREG)


def _is_folder(path: Path) -> bool:
    return _mode(path, stat.S_ISDIR)


def _mode(path: Path, is_so: Callable[[int], bool]) -> bool:
    try:
        return is_so(path.lstat().st_mode)
    except OSError:
        return False


def _in_root(state: State) -> list[Path]:
    """What lies in the state folder, which may itself be a link of the user's."""
    try:
        return sorted(state.root.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _entries(folder: Path) -> list[Path]:
    """[] for a link."""
    try:
        return sorted(folder.iterdir()) if _is_folder(folder) else []
    except OSError:
        return []


def _goes(path: Path, going: set[Path]) -> bool:
    """Whether the entry, or all that is in it, is removed."""
    if path in going:
        return True
    inside = _entries(path) if _is_folder(path) else []
    return bool(inside) and all(entry in going for entry in inside)
