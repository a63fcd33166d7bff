"""Writing so that a reader sees the old file or the new one, never a part."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .types import Json


def dumps(value: Json) -> str:
    """One line of strict JSON: UTF-8 unescaped, no NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when the block ends, and vanishes if it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def write_json(path: Path, value: Json) -> None:
    write_text(path, json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def read_json(path: Path) -> Json:
    return json.loads(path.read_bytes())


def read_lines(path: Path) -> Iterator[Json]:
    with open(path, "rb") as file:
        for line in file:
            yield json.loads(line)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power cut, where the system can."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
