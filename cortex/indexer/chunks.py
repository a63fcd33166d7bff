"""chunks.jsonl and notes.jsonl: as records, and read one at a time by offset."""

from __future__ import annotations

import json
import os
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from ..errors import Damaged
from ..state import Stamp
from ..types import Chunk, Json, Link, Note

CHUNKS, NOTES = "chunks.jsonl", "notes.jsonl"

Offsets = NDArray[np.uint64]
Keys = NDArray[np.uint64]


def link_record(link: Link) -> dict[str, Json]:
    record = {
        "target": link.target,
        "subpath": link.subpath,
        "label": link.label,
        "kind": link.kind,
        "style": link.style,
        "line": link.line,
        "property": link.property,
    }
    return {key: value for key, value in record.items() if value is not None}


def link_of(record: Mapping[str, Json]) -> Link:
    return Link(
        record["target"],
        record.get("subpath"),
        record.get("label"),
        record["kind"],
        record["style"],
        record["line"],
        record.get("property"),
    )


def note_record(note: Note, size: int, chunks: Sequence[Chunk]) -> dict[str, Json]:
    targets = [link.target for link in note.links]
    targets.extend(link.target for chunk in chunks for link in chunk.links)
    return {
        "file": note.path,
        "title": note.title,
        "sha256": note.sha256,
        "size": size,
        "modified": note.modified,
        "language": note.language,
        "frontmatter": dict(note.frontmatter),
        "tags": list(note.tags),
        "aliases": list(note.aliases),
        "links": [link_record(link) for link in note.links],
        "wikilinks": list(dict.fromkeys(target for target in targets if target)),
        "headings": [[h.level, h.text, h.line, list(h.parents)] for h in note.headings],
        "blocks": dict(note.blocks),
        "chunks": len(chunks),
        "problems": [{"code": p.code, "message": p.message, "line": p.line} for p in note.problems],
    }


def chunk_record(chunk: Chunk) -> dict[str, Json]:
    return {
        "id": chunk.id,
        "file": chunk.note,
        "title": chunk.title,
        "heading_path": list(chunk.heading_path),
        "start": chunk.start,
        "end": chunk.end,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "text": chunk.text,
        "tags": list(chunk.tags),
        "links": [link_record(link) for link in chunk.links],
        **({"secrets": list(chunk.secrets)} if chunk.secrets else {}),
    }


def chunk_of(record: Mapping[str, Json]) -> Chunk:
    return Chunk(
        id=record["id"],
        note=record["file"],
        title=record["title"],
        heading_path=tuple(record["heading_path"]),
        start=record["start"],
        end=record["end"],
        start_line=record["start_line"],
        end_line=record["end_line"],
        text=record["text"],
        tags=tuple(record["tags"]),
        links=tuple(link_of(link) for link in record["links"]),
        secrets=tuple(record.get("secrets", ())),
    )


_NO_PROSE = frozenset({"title", "aliases", "alias", "tags", "tag", "id", "uid", "cssclass"})
_ID_OR_DATE = re.compile(r"[\dT:.+Z-]*|(?=\S*\d)[\x21-\x7e]{20,}|[a-z]+://\S*", re.IGNORECASE)
MAX_PROPERTY_TEXTS = 50


def property_texts(frontmatter: Mapping[str, Json]) -> list[str]:
    """What a note's properties say in words: their texts, without ids, dates and addresses."""
    texts: list[str] = []
    for key, value in frontmatter.items():
        if key.casefold() in _NO_PROSE:
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and not _ID_OR_DATE.fullmatch(item.strip()):
                texts.append(item[:200])
    return texts[:MAX_PROPERTY_TEXTS]


class RecordFile:
    """A JSON Lines file whose records are found by ordinal or by key, without reading the rest."""

    def __init__(self, stamp: Stamp, name: str) -> None:
        stem = name.removesuffix(".jsonl")
        self._path = stamp.file(name)
        self._offsets: Offsets = stamp.array(f"{stem}.offsets.npy")
        self.keys: Keys = stamp.array(f"{stem}.keys.npy")
        self._order: NDArray[np.uint32] = stamp.array(f"{stem}.order.npy")
        self._sorted = self.keys[self._order] if len(self.keys) < 4096 else None
        # Not mapped: a program that cuts the public name of the file would end this process.
        self._handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        # Not at exit: a search that still runs then would read from whatever has the number next.
        weakref.finalize(self, os.close, self._handle).atexit = False
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self.keys)

    def line(self, ordinal: int) -> bytes:
        """One record as it stands in the file, with its line end."""
        start, end = int(self._offsets[ordinal]), int(self._offsets[ordinal + 1])
        if hasattr(os, "pread"):
            return os.pread(self._handle, end - start, start)
        with self._lock:
            os.lseek(self._handle, start, os.SEEK_SET)
            return os.read(self._handle, end - start)

    def record(self, ordinal: int) -> dict[str, Json]:
        try:
            record = json.loads(self.line(ordinal))
            assert isinstance(record, dict)
            return record
        except (ValueError, AssertionError):
            raise Damaged(
                f"{self._path} is damaged at record {ordinal}; run: cortex index --force"
            ) from None

    def records(self) -> Iterator[dict[str, Json]]:
        return (self.record(ordinal) for ordinal in range(len(self)))

    def ordinals(self, keys: Sequence[int] | Keys) -> NDArray[np.int64]:
        """Where each key is; -1 for one that is not here."""
        wanted = np.asarray(keys, dtype=np.uint64)
        if not len(self.keys) or not len(wanted):
            return np.full(len(wanted), -1, dtype=np.int64)
        if self._sorted is None:
            self._sorted = self.keys[self._order]
        at = np.searchsorted(self._sorted, wanted)
        at[at == len(self._sorted)] = 0
        found = self._sorted[at] == wanted
        return np.where(found, self._order[at].astype(np.int64), -1)


def write_arrays(folder: Path, name: str, offsets: Iterable[int], keys: Iterable[int]) -> None:
    """The arrays beside a JSON Lines file that RecordFile finds records with."""
    stem = name.removesuffix(".jsonl")
    array = np.fromiter(keys, dtype=np.uint64)
    np.save(folder / f"{stem}.offsets.npy", np.fromiter(offsets, dtype=np.uint64))
    np.save(folder / f"{stem}.keys.npy", array)
    np.save(folder / f"{stem}.order.npy", np.argsort(array, kind="stable").astype(np.uint32))
