"""What agents noted, in a folder of dated entries, as far as it is on what was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ..config.inject import FabricSourceConfig
from ..errors import Unavailable
from ..home import expand, working_folder
from ..records.fabric import Entry, Fabric, read_fabric
from .matching import counted, matches
from .source import SPARE, Ask, Item, Recall
from .words import pieces

FOLDER = "FABRIC_DIR"  # of the environment
UNDATED = "undated"
TEXT_CHARS = 400  # of an entry's body, at most; whole pieces of it

_FOLDERS = 8  # whose entries are kept
_LOOKED_AT = 10  # times what is told of a text: for secrets, so that none is cut in two


class FabricSource:
    """The entries that hold most of the message's words."""

    name = "fabric"
    heading = "what agents noted, on this message:"

    def __init__(self, config: FabricSourceConfig, env: Mapping[str, str]) -> None:
        self._config = config
        self._folder = folder_of(config, env)

    def recall(self, ask: Ask) -> Iterator[Recall]:
        if self._folder is None:
            yield Recall("empty", why=f"no folder: neither inject.fabric.path nor {FOLDER} is set")
            return
        try:
            fabric, terms = _shelf(self._folder).read()
        except Unavailable as error:
            yield Recall("unavailable", why=error.why)
            return
        found, words = matches(ask.message, terms)
        passed = [match for match in found if match.share >= self._config.threshold]
        items = tuple(
            _item(
                fabric.entries[match.place],
                match.share,
                f"{match.held} of {words} words, {match.share:.2f} of their weight",
            )
            for match in passed[: SPARE * self._config.top_k]
        )
        whys = []
        if not items:
            whys.append(f"of {len(fabric.entries)} entries none holds enough of the words")
        if fabric.skipped:
            whys.append(f"{fabric.skipped} files could not be read or say nothing")
        if fabric.unread:
            whys.append(f"{fabric.unread} older files were not read")
        yield Recall(
            "ok" if items else "empty",
            items,
            len(found),
            len(found) - len(passed),
            "; ".join(whys),
            "scan",
        )


class _Shelf:
    """A folder as it was read last: a source lives for a turn, the entries for months."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._fabric: Fabric | None = None
        self._terms: dict[Entry, Mapping[str, int]] = {}

    def read(self) -> tuple[Fabric, list[Mapping[str, int]]]:
        """The entries as they are now, and the terms of each. Raises Unavailable."""
        with self._lock:
            fabric, known = read_fabric(self._folder, self._fabric), self._terms
            terms = {
                entry: known[entry] if entry in known else counted(_text_of(entry))
                for entry in fabric.entries
            }
            self._fabric, self._terms = fabric, terms
            return fabric, list(terms.values())


@lru_cache(maxsize=_FOLDERS)
def _shelf(folder: Path) -> _Shelf:
    return _Shelf(folder)


def folder_of(config: FabricSourceConfig, env: Mapping[str, str]) -> Path | None:
    """The folder of the entries; None where none is named."""
    named = env.get(FOLDER, "").strip()
    return config.path or (expand(named, working_folder(), env) if named else None)


def _text_of(entry: Entry) -> str:
    return "\n".join((entry.summary, " ".join(entry.tags), entry.project, entry.agent, entry.body))


def _item(entry: Entry, held: float, why: str) -> Item:
    return Item(
        id=f"fabric:{entry.id}",
        label=entry.day or UNDATED,
        head=f"{entry.agent}: {entry.summary}",
        text=beginning(entry.body, TEXT_CHARS),
        score=held,
        why=why,
    )


def beginning(text: str, limit: int) -> str:
    """How a text begins, in whole pieces of at most `limit` characters, marked where it is cut."""
    told = ""
    for piece in pieces(text[: _LOOKED_AT * limit]):
        if told and len(told) + len(piece) > limit:
            return f"{told}…"
        told = f"{told}\n{piece}" if told else piece
    return told
