"""Writing so that a reader sees the old file or the new one, never a part."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .types import Json

STAGED = ".new-"  # how the name of a file begins that is not whole yet


def dumps(value: Json) -> str:
    """One line of strict JSON: UTF-8 unescaped, no NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(", ", ": "))


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes the place of `path` when the block ends, and vanishes if it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=STAGED, dir=path.parent)
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


def create_below(root: Path, path: str, data: bytes) -> None:
    """Make the file `path`, "/"-separated and below `root`, whole or not at all.

    Folders on the way are made. Raises FileExistsError if something stands there, and OSError if
    a part of the way is no folder or a link: what is swapped for one meanwhile leads nowhere.
    """
    *folders, name = path.split("/")
    if any(part in ("", ".", "..") for part in (*folders, name)):
        raise ValueError(f"{path!r} is not a path below a folder")
    if os.open not in os.supports_dir_fd:  # Windows
        place = root.joinpath(*folders)
        place.mkdir(parents=True, exist_ok=True)
        if os.path.realpath(place) != os.path.join(os.path.realpath(root), *folders):
            raise NotADirectoryError(errno.ENOTDIR, "a link is on the way", str(place))
        with open(place / name, "xb") as file:
            file.write(data)
        return
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, dir_fd=handle)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
            inner = os.open(folder, flags, dir_fd=handle)
            os.close(handle)
            handle = inner
        _create_in(handle, name, data)
    except OSError as error:
        error.filename, error.filename2 = str(root / path), None  # it names the last part at most
        raise
    finally:
        os.close(handle)


def _create_in(folder: int, name: str, data: bytes) -> None:
    """folder: a descriptor, so that it stays the same one whatever is renamed."""
    staged = f"{STAGED}{uuid.uuid4().hex}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(os.open(staged, flags, 0o644, dir_fd=folder), "wb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            try:
                os.link(staged, name, src_dir_fd=folder, dst_dir_fd=folder)
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links
                with open(os.open(name, flags, 0o644, dir_fd=folder), "wb") as target:
                    try:
                        target.write(data)
                        target.flush()
                        os.fsync(target.fileno())
                    except BaseException:
                        os.unlink(name, dir_fd=folder)
                        raise
        finally:
            os.unlink(staged, dir_fd=folder)
    os.fsync(folder)


def append_event(path: Path, time: dt.datetime, event: str, about: Mapping[str, Json]) -> None:
    """Append a line of JSON, for its owner alone, and see it on the disk whole. Raises OSError.

    time: with a zone.
    """
    told = {"time": time.astimezone(dt.UTC).isoformat(timespec="seconds"), "event": event, **about}
    line = f"{dumps(told)}\n".encode("utf-8", "backslashreplace")
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0) as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a full disk had cut a line short
                line = b"\n" + line
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())


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
