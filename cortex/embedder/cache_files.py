"""The two files of a vector cache, and how many vectors they hold: told by their lengths alone."""

from __future__ import annotations

import stat
from pathlib import Path

CACHE_FILES = ("vectors.f32", "vectors.keys")
KEY_BYTES = 20  # of each vector: 16 of its text's hash, 2 and 2 of which window of how many
_FLOAT_BYTES = 4


def whole_rows(folder: Path, dimensions: int) -> int:
    """Vectors that are there in full, with their keys; 0 without the files."""
    rows, keys = (_size(folder / name) for name in CACHE_FILES)
    return min(rows // (_FLOAT_BYTES * dimensions), keys // KEY_BYTES)


def _size(path: Path) -> int:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
