"""Whether the vault has changed since the index: by path, time and size, without reading a note."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import Damaged
from ..files import read_json, read_lines
from ..state import Stamp, State
from ..vault.scan import FolderRules, Scan, scan

NOTES, LEFT_OUT = "notes.jsonl", "left_out.json"


@dataclass(frozen=True, slots=True)
class Freshness:
    """How many notes differ from what the index recorded."""

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def is_current(self) -> bool:
        return not (self.added or self.changed or self.removed)

    def told(self) -> str:
        """`2 added, 1 removed`; `nothing has changed`."""
        counts = (("added", self.added), ("changed", self.changed), ("removed", self.removed))
        return ", ".join(f"{n:,} {what}" for what, n in counts if n) or "nothing has changed"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What an index generation remembers of files; the same as long as the generation is."""

    notes: Mapping[str, tuple[int, float]]  # path -> size in bytes, Unix seconds
    left_out: frozenset[str]  # paths of files that were no text
    written: float  # Unix seconds


def freshness(vault: Path, rules: FolderRules, follow_outside: bool, stamp: Stamp) -> Freshness:
    """The vault as it is now against an index generation. Raises Damaged."""
    return compare(recorded(stamp), scan(vault, rules, follow_outside=follow_outside))


def recorded(stamp: Stamp) -> Recorded:
    """What the index generation `stamp` was built from. Raises Damaged."""
    path = stamp.file(NOTES)
    try:
        notes = {r["file"]: (int(r["size"]), float(r["modified"])) for r in read_lines(path)}
        # A generation of an older version has no such list.
        known = LEFT_OUT in stamp.values["files"]
        left_out = frozenset(read_json(stamp.file(LEFT_OUT)) if known else ())
        written = os.stat(path).st_mtime
    except (ValueError, KeyError, TypeError):
        raise Damaged(f"{path} is damaged; run: cortex index --force") from None
    return Recorded(notes, left_out, written)


def behind(freshness: Callable[[], Freshness | None], state: State) -> Iterator[str]:
    """How far what the link graph says is about notes as they no longer are, with the remedy.

    freshness: how far the index is behind the notes. Nothing where the graph is up to date.
    """
    try:
        drift, index, graph = freshness(), state.stamp("index"), state.stamp("graph")
    except Damaged as error:
        yield str(error)
        return
    if drift is not None and not drift.is_current:
        count = drift.added + drift.changed + drift.removed
        notes = "1 note" if count == 1 else f"{count:,} notes"
        since = f"changed since the index was built ({drift.told()})"
        yield f"{notes} {since}; run: cortex lifecycle maintenance"
    elif index is not None and graph is not None and graph.built_from != index.generation:
        yield "the graph lags behind the index; run: cortex graph build"


def compare(record: Recorded, found: Scan) -> Freshness:
    """A folder that cannot be listed hides its notes without removing them, as for the index."""
    added = changed = seen = 0
    for note in found.notes:
        was = record.notes.get(note.path)
        if was is None:
            # What the index had to leave out is found each time, and may be mended only when it
            # was touched; what may not be read is not added by indexing either.
            is_new = note.path not in record.left_out or note.modified > record.written
            added += is_new and os.access(note.file, os.R_OK)
            continue
        seen += 1
        changed += was != (note.size, note.modified)
    removed = len(record.notes) - seen
    if removed and found.unreadable:
        there = {note.path for note in found.notes}
        removed -= sum(
            any(not folder or path.startswith(f"{folder}/") for folder in found.unreadable)
            for path in record.notes.keys() - there
        )
    return Freshness(added, changed, removed)
