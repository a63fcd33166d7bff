"""build_vectors: chunks -> vectors (only of texts never seen) -> Chroma."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CortexError, Damaged
from ..files import dumps, read_json, read_lines, write_json
from ..protocols import Embedder, Progress
from ..state import Stamp, State
from ..types import Chunk, Json, key64
from . import chroma
from .cache_files import CACHE_FILES
from .vectors import VectorCache, write_entries

_BATCH_WINDOWS = 256  # texts per call of the model, and per write of the cache
SPARE_ROWS = 4096  # out of use, that a cache may hold beside as many as are in use
_MAX_PREFIX_SHARE = 0.5  # of the window that title and headings may take


_Entry = tuple[str, int, str, tuple[int, int]]  # see _entries


@dataclass(slots=True)
class EmbedReport:
    """What a run did. vectors: in use now. encoded: texts the model was given in this run."""

    chunks: int = 0
    vectors: int = 0
    encoded: int = 0
    reused: int = 0
    removed: int = 0
    model: str = ""
    dimensions: int = 0
    chroma: int = 0  # vectors in Chroma now
    refilled: bool = False  # Chroma was missing, damaged or another model's
    chosen_because: str = ""  # where `auto` chose the model in this run; see choice.py
    chosen_before: str = ""  # the model that it had kept until then
    advice: str = ""  # what would serve the vault better
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class IndexView:
    """What build_vectors needs of an index generation; the composition root hands it over."""

    generation: str
    chunk_keys: Any  # (chunks,) uint64
    note_keys: Any  # (notes,) uint64
    first_chunk: Any  # (notes + 1,) the ordinal of each note's first chunk
    surfaces: Any  # (chunks, 16) uint8: Chunk.surface_key
    note_shas: Any  # (notes, 32) uint8
    chunk: Any  # ordinal -> Chunk
    note: Any  # ordinal -> notes.jsonl record


def build_vectors(
    state: State,
    index: IndexView,
    embedder: Embedder,
    chroma_path: Path,
    collection: str,
    *,
    force: bool = False,
    batch_size: int = 32,
    progress: Progress | None = None,
) -> EmbedReport:
    """Bring vectors and Chroma up to date with the index. Only the writer may call this.

    batch_size: texts the model is given at once, at least. force: encode every text again.
    Interrupted, it keeps what is done: the next run goes on there.
    Raises Unavailable when the model cannot work and there is something to encode.
    """
    began = time.perf_counter()
    previous = _previous(state)
    cache = _open_cache(state, embedder, previous, force)
    known = cache.known()
    surfaces = [row.tobytes() for row in index.surfaces]
    missing: dict[bytes, int] = {}  # surface -> ordinal of a chunk that has it
    for ordinal, surface in enumerate(surfaces):
        if surface not in known:
            missing.setdefault(surface, ordinal)
    report = EmbedReport(chunks=len(surfaces), model=embedder.name, dimensions=cache.dimensions)
    try:
        report.encoded = _encode(cache, index, embedder, missing, batch_size, progress)
    except KeyboardInterrupt:
        if previous is None or state.root / previous.values["cache"] == cache.folder:
            _publish(state, index, embedder, cache, surfaces, complete=False)
        raise
    cache = _compacted(cache, surfaces)
    stamp, entries = _publish(state, index, embedder, cache, surfaces, complete=True)
    report.vectors = stamp.values["entries"]
    report.reused = max(report.vectors - report.encoded, 0)
    if previous is not None:
        report.removed = max(previous.values["entries"] + report.encoded - report.vectors, 0)
    _fill_chroma(
        state,
        index,
        stamp,
        previous,
        entries,
        cache,
        chroma_path,
        collection,
        force,
        progress,
        report,
    )
    _drop_unused_caches(state, stamp)
    report.seconds = time.perf_counter() - began
    return report


def windows(embedder: Embedder, chunk: Chunk) -> list[str]:
    """A chunk's text as the model is to read it: pieces within its window, each with the place in
    front, that together hold every word."""
    text = chunk.search_text
    limit = embedder.window
    if len(text.encode("utf-8")) <= limit:
        return [text]  # no tokenizer makes more tokens than bytes
    starts = embedder.token_starts(text)
    if len(starts) <= limit:
        return [text]
    prefix = chunk.spelt_place
    prefix_starts = embedder.token_starts(prefix)
    room = int(limit * _MAX_PREFIX_SHARE)
    if len(prefix_starts) > room:
        prefix = prefix[: prefix_starts[room]]
        prefix_starts = prefix_starts[:room]
    limit -= len(prefix_starts) + 1
    body = chunk.text
    starts = embedder.token_starts(body)
    pieces = []
    first = 0
    while first < len(starts):
        last = min(first + limit, len(starts))
        if last < len(starts):
            last = _border(body, starts, first, last)
        end = starts[last] if last < len(starts) else len(body)
        pieces.append(f"{prefix}\n{body[starts[first] : end].strip()}")
        first = last
    return pieces or [prefix]  # a body of no tokens: the place is all there is


def _border(text: str, starts: Sequence[int], first: int, last: int) -> int:
    """The last token, in the last quarter of a window, that begins a line, sentence or word."""
    lowest = last - max((last - first) // 4, 1)
    for pattern in (r"\n\s*\Z", r"[.!?…。！？]\s*\Z", r"\s\Z"):
        for index in range(last, lowest, -1):
            if re.search(pattern, text[max(starts[index] - 3, 0) : starts[index]]):
                return index
    return last


def _encode(
    cache: VectorCache,
    index: IndexView,
    embedder: Embedder,
    missing: dict[bytes, int],
    batch_size: int,
    progress: Progress | None,
) -> int:
    """Encode what is missing, batch by batch, each kept as soon as it is done."""
    if not missing:
        return 0
    if progress:
        progress.start("embed", len(missing), "chunks")
    encoded = 0
    surfaces: list[tuple[bytes, int]] = []
    texts: list[str] = []

    def flush() -> None:
        nonlocal encoded
        vectors = embedder.embed_documents(texts)
        cache.append(surfaces, vectors)
        encoded += len(texts)
        if progress:
            progress.advance(len(surfaces))
        surfaces.clear()
        texts.clear()

    for surface, ordinal in missing.items():
        pieces = windows(embedder, index.chunk(ordinal))
        surfaces.append((surface, len(pieces)))
        texts.extend(pieces)
        if len(texts) >= max(_BATCH_WINDOWS, batch_size):
            flush()
    if texts:
        flush()
    if progress:
        progress.finish()
    return encoded


def _publish(
    state: State,
    index: IndexView,
    embedder: Embedder,
    cache: VectorCache,
    surfaces: list[bytes],
    *,
    complete: bool,
) -> tuple[Stamp, list[_Entry]]:
    """Switch readers to the vectors of this index generation, as far as they are there."""
    known = cache.known()
    rows: list[int] = []
    counts: list[int] = []
    chunk_keys: list[int] = []
    note_keys: list[int] = []
    chunks_of_note: list[int] = []
    first_chunk = index.first_chunk.tolist()
    for note in range(len(index.note_keys)):
        present = 0
        for ordinal in range(first_chunk[note], first_chunk[note + 1]):
            place = known.get(surfaces[ordinal])
            if place is None:
                continue
            rows.extend(range(place[0], place[0] + place[1]))
            counts.append(place[1])
            chunk_keys.append(int(index.chunk_keys[ordinal]))
            present += 1
        if present:
            note_keys.append(int(index.note_keys[note]))
            chunks_of_note.append(present)
    folder = state.new_folder("vectors")
    write_entries(
        folder,
        cache,
        np.array(rows, dtype=np.int64),
        np.array(counts, dtype=np.int64),
        np.array(chunk_keys, dtype=np.uint64),
        np.array(note_keys, dtype=np.uint64),
        np.array(chunks_of_note, dtype=np.int64),
    )
    entries = list(_entries(index, surfaces, known))
    with open(folder / "entries.jsonl", "wb") as file:
        for identity, _, digest, _ in entries:
            file.write(dumps([identity, digest]).encode("utf-8") + b"\n")
    generation = blake2b(f"{index.generation} {embedder.identity}".encode(), digest_size=8)
    stamp = state.publish(
        "vectors",
        generation.hexdigest(),
        folder,
        {
            "built_from": index.generation,
            "identity": embedder.identity,
            "model": embedder.name,
            "languages": list(embedder.languages),
            "dimensions": cache.dimensions,
            "cache": cache.folder.relative_to(state.root).as_posix(),
            "rows": len(cache),
            "entries": len(rows),
            "chunks": len(chunk_keys),
            "complete": complete,
        },
    )
    return stamp, entries


def _entries(
    index: IndexView, surfaces: list[bytes], known: dict[bytes, tuple[int, int]]
) -> Iterator[_Entry]:
    """(Chroma id, row, digest of vector and note, (chunk ordinal, note ordinal)) of each vector."""
    first_chunk = index.first_chunk.tolist()
    for note in range(len(index.note_keys)):
        sha = index.note_shas[note].tobytes()
        for ordinal in range(first_chunk[note], first_chunk[note + 1]):
            place = known.get(surfaces[ordinal])
            if place is None:
                continue
            digest = blake2b(surfaces[ordinal] + sha, digest_size=8).hexdigest()
            identity = f"{int(index.chunk_keys[ordinal]):016x}"
            for window in range(place[1]):
                name = identity if window == 0 else f"{identity}~{window + 1}"
                yield name, place[0] + window, digest, (ordinal, note)


def _fill_chroma(
    state: State,
    index: IndexView,
    stamp: Stamp,
    previous: Stamp | None,
    wanted: list[_Entry],
    cache: VectorCache,
    path: Path,
    collection: str,
    force: bool,
    progress: Progress | None,
    report: EmbedReport,
) -> None:
    """Bring Chroma to what the stamp says: by the difference where it is known, else in full."""
    marker = state.root / "chroma.json"
    synced: dict[str, Json] = {}
    if marker.exists():
        try:
            synced = read_json(marker)
        except ValueError:
            synced = {}
    present = chroma.count(path)
    is_synced = (
        not force
        and previous is not None
        and synced.get("folder") == previous.values["folder"]
        and synced.get("path") == str(path)
        and synced.get("collection") == collection
        and synced.get("identity") == stamp.values["identity"]
        and present == synced.get("count")
        and chroma.sizes(path) == synced.get("sizes")
    )
    old: dict[str, str] = {}
    if is_synced and previous is not None:
        try:
            old = dict(read_lines(previous.file("entries.jsonl")))
        except (Damaged, ValueError):
            is_synced = False
    upserts = [entry for entry in wanted if old.get(entry[0]) != entry[2]]
    names = {entry[0] for entry in wanted}
    deletes = [name for name in old if name not in names]
    report.refilled = not is_synced and bool(synced or present)
    if not is_synced or upserts or deletes:

        def entry_of(item: _Entry) -> chroma.Entry:
            name, row, _, (ordinal, note) = item
            return chroma.Entry(name, row, _metadata(index.chunk(ordinal), index.note(note)))

        rows = cache.rows()
        entries = [entry_of(item) for item in upserts]
        marker.unlink(missing_ok=True)  # until it is done, nobody knows what Chroma holds
        if not is_synced and not chroma.holds_others(path, collection):
            # What it holds is unknown or damaged, and a damaged index can end the whole process.
            chroma.remove(path)
        try:
            with chroma.Chroma(path, collection, stamp.values["identity"]) as store:
                if is_synced:
                    store.change(entries, deletes, rows, progress)
                else:
                    store.fill(entries, rows, progress)
        except CortexError:
            raise
        except Exception as error:  # Chroma raises bare exceptions of its native code
            raise CortexError(
                f"Chroma failed at {path} ({error}); the vectors are safe and serve searches; "
                "free some space or remove that folder, and run: cortex embed"
            ) from None
    report.chroma = chroma.count(path) or 0
    write_json(
        marker,
        {
            "schema_version": 1,
            "folder": stamp.values["folder"],
            "path": str(path),
            "collection": collection,
            "identity": stamp.values["identity"],
            "count": report.chroma,
            "sizes": chroma.sizes(path),
        },
    )


def _metadata(chunk: Chunk, note: dict[str, Json]) -> dict[str, Json]:
    """What filters need, in the types Chroma takes; what a note does not say is left out."""
    values: dict[str, Json] = {
        "chunk": chunk.id,
        "note": chunk.note,
        "note_key": str(key64(chunk.note)),
        "folder": chunk.note.rpartition("/")[0],
    }
    if note["tags"]:
        values["tags"] = "|" + "|".join(tag.casefold() for tag in note["tags"]) + "|"
    for key, value in note["frontmatter"].items():
        if isinstance(value, (str, bool, int, float)):
            too_big = isinstance(value, int) and abs(value) >= 1 << 63
            values[f"property:{key}"] = str(value) if too_big else value
        elif isinstance(value, list) and value:
            values[f"property:{key}"] = dumps(value)
    return values


def _previous(state: State) -> Stamp | None:
    try:
        return state.stamp("vectors")
    except Damaged:
        return None


def _open_cache(
    state: State, embedder: Embedder, previous: Stamp | None, force: bool
) -> VectorCache:
    """The cache of this embedder: the one in use, else one left by it before, else a new one."""
    if previous is not None and previous.values["identity"] == embedder.identity:
        cache = VectorCache(state.root / previous.values["cache"], previous.values["dimensions"])
    else:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", embedder.identity)[:80]
        folders = (state.root / "vectors").glob(f"{name}*")
        of_model = [f for f in folders if re.sub(r"\+\d+$", "", f.name) == name]
        caches = [VectorCache(f, embedder.dimensions) for f in sorted(of_model)]
        empty = VectorCache(state.root / "vectors" / name, embedder.dimensions)
        cache = max(caches, key=len, default=empty)
    if (force and len(cache)) or cache.is_blocked:
        cache = VectorCache(_free_folder(cache.folder), cache.dimensions)
    return cache


def _compacted(cache: VectorCache, surfaces: list[bytes]) -> VectorCache:
    """The cache, or a copy of what is in use once the rest would outweigh it."""
    known = cache.known()
    used = {surface: known[surface] for surface in surfaces if surface in known}
    live = sum(windows for _, windows in used.values())
    if len(cache) <= 2 * live + SPARE_ROWS:
        return cache
    compact = VectorCache(_free_folder(cache.folder), cache.dimensions)
    rows = cache.rows()
    items = list(used.items())
    for start in range(0, len(items), SPARE_ROWS):
        part = items[start : start + SPARE_ROWS]
        picked = [row + i for _, (row, windows) in part for i in range(windows)]
        compact.append([(surface, windows) for surface, (_, windows) in part], rows[picked])
    return compact


def _free_folder(folder: Path) -> Path:
    """A name for a second cache of a model, while readers still map the first."""
    stem = re.sub(r"\+\d+$", "", folder.name)
    suffix = 2
    while folder.with_name(f"{stem}+{suffix}").exists():
        suffix += 1
    return folder.with_name(f"{stem}+{suffix}")


def _drop_unused_caches(state: State, stamp: Stamp) -> None:
    """Remove the vectors of other models, now that these are whole."""
    used = state.root / stamp.values["cache"]
    folders = state.root / "vectors"
    for folder in folders.iterdir() if folders.is_dir() else ():
        holds = {file.name for file in folder.iterdir()} if folder.is_dir() else None
        if folder != used and holds is not None and holds <= set(CACHE_FILES):
            shutil.rmtree(folder, ignore_errors=True)
