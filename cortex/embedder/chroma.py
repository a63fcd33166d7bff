"""Chroma, embedded: the durable store of the vectors, and a search where exact would be slow.

It has one writer, under the writer lock, and is filled from the vector cache. A second process that
holds the folder open is told of no change, so a reader opens it anew when the generation moved.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CortexError, Unavailable
from ..protocols import Progress, Vectors
from ..types import Json, key64

_MOST_IN_WHERE = 5000  # notes in one condition; SQLite takes some 30,000 variables
_SEGMENT = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # a folder of Chroma's
_BATCH = 2000  # Chroma takes 5,461 at most; smaller batches show progress


@dataclass(frozen=True, slots=True)
class Entry:
    """One vector as Chroma holds it."""

    id: str
    row: int  # of the vector cache
    metadata: dict[str, Json]  # text, int, float and bool only


def count(path: Path) -> int | None:
    """How many vectors a Chroma folder holds, without importing chromadb; None if it is damaged."""
    database = path / "chroma.sqlite3"
    if not database.is_file():
        return None
    try:
        uri = f"{database.resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
            segments = connection.execute(
                "SELECT id FROM segments WHERE scope = 'VECTOR'"
            ).fetchall()
            found = connection.execute("SELECT count(*) FROM embeddings").fetchone()[0]
    except sqlite3.Error:
        return None
    if found >= 1000 and not all((path / segment).is_dir() for (segment,) in segments):
        return None  # Chroma writes its vector index to disk every 1,000 changes
    return int(found)


def is_foreign(path: Path) -> bool:
    """Whether something lies at `path`, and nothing of it is Chroma's."""
    return path.exists() and bool(entries := _entries(path)) and not any(map(_is_own, entries))


def _entries(path: Path) -> list[Path]:
    return list(path.iterdir()) if path.is_dir() else [path]


def _is_own(entry: Path) -> bool:
    name = entry.name
    return name.startswith("chroma.sqlite3") or _SEGMENT.fullmatch(name) is not None


def holds_others(path: Path, name: str) -> bool:
    """Whether a store has collections beside the one of this name: somebody else's."""
    if not (path / "chroma.sqlite3").is_file():
        return False
    try:
        uri = f"{(path / 'chroma.sqlite3').resolve().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=5)) as connection:
            names = {found for (found,) in connection.execute("SELECT name FROM collections")}
            return bool(names - {name})
    except sqlite3.OperationalError:
        return True  # locked: somebody is at work in it
    except sqlite3.Error:
        return False  # no database any more


def sizes(path: Path) -> dict[str, int]:
    """The sizes of a store's lasting files: other ones than were noted mean that it was damaged."""
    own = [path / "chroma.sqlite3"]
    for folder in path.iterdir() if path.is_dir() else ():
        if _SEGMENT.fullmatch(folder.name):
            own.extend(folder.iterdir())
    return {
        file.relative_to(path).as_posix(): file.stat().st_size
        for file in sorted(own)
        if file.is_file()
    }


class Chroma:
    """The collection of one vault, open for writing; use it as a context."""

    def __init__(self, path: Path, name: str, identity: str) -> None:
        self._path = path
        self._name = name
        self._identity = identity
        self._client: Any = None

    def __enter__(self) -> Chroma:
        self._client = _open(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        self._client = None
        _let_go()

    def fill(
        self, entries: Sequence[Entry], vectors: Vectors, progress: Progress | None = None
    ) -> None:
        """Make the collection hold these entries and nothing else."""
        collection = self._collection()
        wanted = {entry.id for entry in entries}
        present = collection.get(include=[])["ids"]
        self._delete(collection, [identity for identity in present if identity not in wanted])
        self._upsert(collection, entries, vectors, progress)

    def change(
        self,
        upserts: Sequence[Entry],
        deletes: Sequence[str],
        vectors: Vectors,
        progress: Progress | None = None,
    ) -> None:
        collection = self._collection()
        self._delete(collection, deletes)
        self._upsert(collection, upserts, vectors, progress)

    def _collection(self) -> Any:
        for collection in self._client.list_collections():
            if collection.name == self._name:
                if (collection.metadata or {}).get("identity") == self._identity:
                    return collection
                self._client.delete_collection(self._name)  # another model's: never mixed
        return self._client.create_collection(
            self._name,
            embedding_function=None,
            configuration={"hnsw": {"space": "cosine"}},
            metadata={"identity": self._identity},
        )

    def _upsert(
        self,
        collection: Any,
        entries: Sequence[Entry],
        vectors: Vectors,
        progress: Progress | None,
    ) -> None:
        if progress and entries:
            progress.start("chroma", len(entries), "vectors")
        for part in _parts(entries):
            collection.upsert(
                ids=[entry.id for entry in part],
                embeddings=vectors[[entry.row for entry in part]],
                metadatas=[entry.metadata for entry in part],
            )
            if progress:
                progress.advance(len(part))
        if progress and entries:
            progress.finish()

    def _delete(self, collection: Any, ids: Sequence[str]) -> None:
        for part in _parts(ids):
            collection.delete(ids=list(part))


class ChromaVectors:
    """A reader over Chroma's own approximate index."""

    def __init__(self, path: Path, name: str, identity: str) -> None:
        if count(path) is None:
            raise Unavailable("vector", f"there is no Chroma store at {path}; run: cortex embed")
        _let_go()  # a client of this process may hold an older state
        client = _open(path)
        found = {collection.name: collection for collection in client.list_collections()}
        self._collection: Any = found.get(name)
        if (
            self._collection is None
            or (self._collection.metadata or {}).get("identity") != identity
        ):
            raise Unavailable("vector", "Chroma holds another model's vectors; run: cortex embed")

    def nearest(
        self, vector: Vectors, limit: int, allowed: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        """(chunk key, note key, cosine), best first; approximate."""
        total = self._collection.count()
        if (allowed is not None and not allowed) or not total or limit <= 0:
            return []
        where = None
        if allowed is not None and len(allowed) <= _MOST_IN_WHERE:
            where = {"note_key": {"$in": [str(key) for key in allowed]}}
        count = 2 * limit  # a chunk may have several vectors
        while True:
            best = self._query(vector, min(count, total), where, allowed)
            if len(best) >= limit or count >= total or (where is not None and count > 4 * limit):
                break
            count *= 4
        ranked = sorted(best.items(), key=lambda item: (-item[1][1], item[0]))[:limit]
        return [(chunk, note, cosine) for chunk, (note, cosine) in ranked]

    def _query(
        self, vector: Vectors, count: int, where: Any, allowed: Collection[int] | None
    ) -> dict[int, tuple[int, float]]:
        """chunk key -> (note key, cosine of its best vector), of the `count` nearest vectors."""
        try:
            answer = self._collection.query(
                query_embeddings=[vector],
                n_results=count,
                where=where,
                include=["metadatas", "distances"],
            )
        except Exception as error:  # Chroma raises bare exceptions of its native code
            raise Unavailable("vector", f"Chroma failed ({error}); run: cortex embed") from None
        best: dict[int, tuple[int, float]] = {}
        for metadata, distance in zip(answer["metadatas"][0], answer["distances"][0], strict=True):
            note = int(metadata["note_key"])
            if where is None and allowed is not None and note not in allowed:
                continue
            chunk, cosine = key64(metadata["chunk"]), 1.0 - float(distance)
            if chunk not in best or cosine > best[chunk][1]:
                best[chunk] = (note, cosine)
        return best


def remove(path: Path) -> None:
    """Delete the files of a Chroma store, and its folder if nothing else is in it.

    Raises CortexError for a folder that is no Chroma store.
    """
    if not path.exists():
        return
    _let_go()
    if is_foreign(path):
        raise CortexError(
            f"{path} is no Chroma store, so it was left alone; "
            "name another folder in index.chroma_path"
        )
    entries = _entries(path)
    own = list(filter(_is_own, entries))
    for entry in own:
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    if len(own) == len(entries):
        path.rmdir()


def _open(path: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    path.mkdir(parents=True, exist_ok=True)
    return chromadb.PersistentClient(
        path=str(path), settings=Settings(anonymized_telemetry=False, allow_reset=False)
    )


def _let_go() -> None:
    """Forget the clients of this process, so that the next one reads the disk."""
    import chromadb.api.shared_system_client as shared

    shared.SharedSystemClient.clear_system_cache()


def _parts(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
