"""Vectors on disk: every text's vectors by its hash, and the exact search over those in use.

The cache only grows: rows first, then the keys that make them count, so a killed run keeps every
whole batch and a reader's mapping never changes under it. What a generation uses of it is a few
small arrays, in the order of the chunks.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Damaged
from ..protocols import Vectors
from ..state import Stamp
from .cache_files import CACHE_FILES, KEY_BYTES, whole_rows

_KEY = np.dtype([("surface", "V16"), ("window", "<u2"), ("windows", "<u2")])
assert _KEY.itemsize == KEY_BYTES

Floats = NDArray[np.float32]


class VectorCache:
    """All vectors of one model: append-only, found by the hash of the text they are of."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self.folder = folder
        self.dimensions = dimensions
        self._rows_path, self._keys_path = (folder / name for name in CACHE_FILES)

    def __len__(self) -> int:
        return whole_rows(self.folder, self.dimensions)

    @property
    def is_blocked(self) -> bool:
        """Whether something else, such as a folder, lies where a file of it belongs."""
        paths = (self._rows_path, self._keys_path)
        return any(path.exists() and not path.is_file() for path in paths)

    def rows(self) -> Vectors:
        """(n, dimensions) float32, mapped; rows do not change once written."""
        count = len(self)
        if not count:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return np.memmap(
            self._rows_path, dtype=np.float32, mode="r", shape=(count, self.dimensions)
        )

    def known(self) -> dict[bytes, tuple[int, int]]:
        """surface key -> (first row, number of windows), of texts whose windows are all there."""
        count = len(self)
        if not count:
            return {}
        keys = np.fromfile(self._keys_path, dtype=_KEY, count=count)
        first = np.flatnonzero(keys["window"] == 0)
        windows = keys["windows"][first]
        whole = first + windows <= count
        surfaces = keys["surface"][first[whole]]
        return {
            bytes(surface): (row, number)
            for surface, row, number in zip(
                surfaces.tolist(), first[whole].tolist(), windows[whole].tolist(), strict=True
            )
        }

    def append(self, surfaces: Sequence[tuple[bytes, int]], vectors: Vectors) -> None:
        """Keep the vectors of texts, given as (surface key, number of windows), in order."""
        self.folder.mkdir(parents=True, exist_ok=True)
        count = len(self)
        keys = np.zeros(len(vectors), dtype=_KEY)
        at = 0
        for surface, windows in surfaces:
            keys["surface"][at : at + windows] = np.void(surface)
            keys["window"][at : at + windows] = np.arange(windows)
            keys["windows"][at : at + windows] = windows
            at += windows
        assert at == len(vectors)
        for path, width, data in (
            (self._rows_path, 4 * self.dimensions, np.ascontiguousarray(vectors, np.float32)),
            (self._keys_path, _KEY.itemsize, keys),
        ):
            with open(path, "r+b" if path.exists() else "w+b") as file:
                file.truncate(count * width)  # what a killed run left half-written
                file.seek(0, os.SEEK_END)
                file.write(data.tobytes())
                file.flush()
                os.fsync(file.fileno())


@dataclass(frozen=True, slots=True)
class Scores:
    """One query against every vector in use; arrays are in the order of the chunks and notes."""

    chunk_keys: NDArray[np.uint64]
    chunk_notes: NDArray[np.int64]  # for each chunk, the position of its note in note_keys
    note_keys: NDArray[np.uint64]
    cosines: Floats  # of each chunk: its best window
    note_cosines: Floats  # of each note: to the mean of its vectors


class ExactVectors:
    """Every vector of a generation ranked by cosine, exactly."""

    def __init__(self, stamp: Stamp, root: Path) -> None:
        values = stamp.values
        self.dimensions: int = values["dimensions"]
        cache = VectorCache(root / values["cache"], self.dimensions)
        self._folder = cache.folder
        try:
            self._vectors = cache.rows()
        except OSError as error:
            why = error.strerror or error
            raise Damaged(
                f"{cache.folder} cannot be read ({why}); run: cortex embed --force"
            ) from None
        if len(self._vectors) < values["rows"]:
            raise Damaged(f"{cache.folder} has lost vectors; run: cortex embed")
        self._rows = stamp.array("rows.npy")
        self._chunk_ptr = stamp.array("chunk_ptr.npy")
        self._note_ptr = stamp.array("note_ptr.npy")
        self._norms = stamp.array("note_norms.npy")
        self._mean = stamp.array("mean.npy")
        self._covariance = stamp.array("covariance.npy")
        self.chunk_keys: NDArray[np.uint64] = stamp.array("chunk_keys.npy")
        self.note_keys: NDArray[np.uint64] = stamp.array("note_keys.npy")
        self.chunk_notes: NDArray[np.int64] = stamp.array("chunk_notes.npy")
        self._in_order = bool(values["rows"] == len(self._rows)) and bool(
            (self._rows == np.arange(len(self._rows))).all()
        )

    def __len__(self) -> int:
        return len(self._rows)

    def scores(self, vector: Vectors) -> Scores:
        """Cosines of a unit vector, shape (dimensions,), to all chunks and notes."""
        if not len(self._rows):
            empty = np.zeros(0, dtype=np.float32)
            return Scores(self.chunk_keys, self.chunk_notes, self.note_keys, empty, empty)
        dots = self._vectors @ vector
        if not self._in_order:
            dots = dots[self._rows]
        if not np.isfinite(dots).all():
            raise Damaged(f"{self._folder} holds broken vectors; run: cortex embed --force")
        cosines = np.maximum.reduceat(dots, self._chunk_ptr)
        means = np.add.reduceat(dots, self._note_ptr) / self._norms
        return Scores(self.chunk_keys, self.chunk_notes, self.note_keys, cosines, means)

    def scores_of(
        self, vector: Vectors, notes: Collection[int]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Floats, Floats]:
        """(chunk keys, their notes, cosines, cosines of their notes) of some notes alone."""
        wanted = np.isin(self.note_keys, np.fromiter(notes, np.uint64, len(notes)))
        picked = wanted[self.chunk_notes]
        chunk_ends = np.append(self._chunk_ptr[1:], len(self._rows))
        chunks = np.flatnonzero(picked)
        counts = (chunk_ends - self._chunk_ptr)[chunks]
        if not len(chunks):
            none = np.zeros(0, np.float32)
            return self.chunk_keys[:0], self.note_keys[:0], none, none
        entries = np.concatenate(
            [
                np.arange(s, e)
                for s, e in zip(self._chunk_ptr[chunks], chunk_ends[chunks], strict=True)
            ]
        )
        dots = self._vectors[self._rows[entries]] @ vector
        starts = np.concatenate(([0], np.cumsum(counts)))[:-1]
        cosines = np.maximum.reduceat(dots, starts)
        owners = self.chunk_notes[chunks]
        first = np.flatnonzero(np.r_[True, np.diff(owners) > 0])
        means = np.add.reduceat(dots, starts[first]) / self._norms[owners[first]]
        note_cosines = np.repeat(means, np.diff(np.r_[first, len(owners)]))
        return self.chunk_keys[chunks], self.note_keys[owners], cosines, note_cosines

    def moments(self, vector: Vectors) -> tuple[float, float]:
        """Mean and deviation of the cosines of a unit vector to all vectors, without a scan."""
        mean = float(self._mean @ vector)
        return mean, float(np.sqrt(max(float(vector @ self._covariance @ vector), 0.0)))

    def nearest(
        self, vector: Vectors, limit: int, allowed: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        """(chunk key, note key, cosine) of the closest chunks of allowed notes, best first."""
        scores = self.scores(vector)
        notes = self.note_keys[self.chunk_notes]
        keep = np.arange(len(scores.cosines))
        if allowed is not None:
            keep = np.flatnonzero(np.isin(notes, np.fromiter(allowed, dtype=np.uint64)))
        order = keep[np.lexsort((self.chunk_keys[keep], -scores.cosines[keep]))][: max(limit, 0)]
        return [(int(self.chunk_keys[i]), int(notes[i]), float(scores.cosines[i])) for i in order]


def write_entries(
    folder: Path,
    cache: VectorCache,
    rows: NDArray[np.int64],
    windows: NDArray[np.int64],
    chunk_keys: NDArray[np.uint64],
    note_keys: NDArray[np.uint64],
    chunks_of_note: NDArray[np.int64],
) -> None:
    """The arrays of a generation: for each chunk, in order, its rows of the cache.

    windows: vectors of each chunk (at least 1). chunks_of_note: chunks of each note (at least 1).
    """
    vectors = cache.rows()
    chunk_ptr = np.concatenate(([0], np.cumsum(windows)))[:-1].astype(np.int64)
    first_chunk = np.concatenate(([0], np.cumsum(chunks_of_note)))[:-1].astype(np.int64)
    note_ptr = chunk_ptr[first_chunk] if len(first_chunk) else first_chunk
    norms = np.ones(len(note_keys), dtype=np.float32)
    ends = np.append(note_ptr[1:], len(rows)) if len(note_ptr) else note_ptr
    for index, (start, end) in enumerate(zip(note_ptr.tolist(), ends.tolist(), strict=True)):
        total = vectors[rows[start:end]].sum(axis=0)
        norms[index] = max(float(np.linalg.norm(total)), 1e-6)
    mean, covariance = _moments(vectors, rows)
    arrays: dict[str, NDArray[Any]] = {
        "mean": mean,
        "covariance": covariance,
        "rows": rows,
        "chunk_ptr": chunk_ptr,
        "note_ptr": note_ptr,
        "note_norms": norms,
        "chunk_keys": chunk_keys,
        "note_keys": note_keys,
        "chunk_notes": np.repeat(np.arange(len(note_keys)), chunks_of_note),
    }
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)


def _moments(vectors: Vectors, rows: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Mean, (d,), and covariance, (d, d), of the rows in use."""
    dimensions = vectors.shape[1]
    total = np.zeros(dimensions)
    products = np.zeros((dimensions, dimensions))
    for start in range(0, len(rows), 8192):
        part = vectors[rows[start : start + 8192]]
        total += part.sum(axis=0)
        products += part.T @ part
    count = max(len(rows), 1)
    mean = total / count
    covariance = products / count - np.outer(mean, mean)
    return mean.astype(np.float32), covariance.astype(np.float32)
