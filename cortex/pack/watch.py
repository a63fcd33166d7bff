"""What this process opens and writes while it is watched, by Python's own audit events."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# event -> which of its arguments are paths
_CHANGES = {
    "os.mkdir": (0,),
    "os.rename": (0, 1),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.link": (0, 1),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.utime": (0,),
}
_DEVICES = ("/dev/", "/proc/")


@dataclass
class Seen:
    """Absolute paths; of a thread that runs meanwhile too."""

    opened: set[str] = field(default_factory=set)  # to be read or written, databases included
    written: set[str] = field(default_factory=set)  # files and folders made, changed or removed

    def opened_below(self, folder: Path) -> list[str]:
        return sorted(path for path in self.opened if Path(path).is_relative_to(folder))

    def written_outside(self, folder: Path) -> list[str]:
        return sorted(path for path in self.written if not Path(path).is_relative_to(folder))


_lock = threading.Lock()
_watching: list[Seen] = []
_is_hooked = False


@contextmanager
def watched() -> Iterator[Seen]:
    """What is opened and written inside the block. What libraries in C or Rust do is not seen,
    but for SQLite's databases; a child process is not followed."""
    global _is_hooked
    seen = Seen()
    with _lock:
        if not _is_hooked:  # a hook stays as long as the process does
            sys.addaudithook(_hear)
            _is_hooked = True
        _watching.append(seen)
    try:
        yield seen
    finally:
        with _lock:
            _watching.remove(seen)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    if event == "open":
        path, mode, flags = arguments
        _note(path, is_written=bool((flags or 0) & _WRITES), from_folder=mode is None)
    elif event == "sqlite3.connect":
        database = os.fsdecode(arguments[0])
        if database.startswith("file:"):
            from urllib.parse import unquote, urlsplit

            database = unquote(urlsplit(database).path)
        _note(database, is_written=False)
    elif event in _CHANGES:
        for at in _CHANGES[event]:
            _note(arguments[at], is_written=True, from_folder=True)


def _note(path: object, *, is_written: bool, from_folder: bool = False) -> None:
    """from_folder: a relative path may begin at a folder that was opened before, by its name."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return  # a descriptor, whose file was opened by name before
    name = os.fsdecode(path)
    if name.startswith((*_DEVICES, ":memory:")) or (from_folder and not os.path.isabs(name)):
        return
    name = os.path.abspath(name)
    for seen in list(_watching):
        seen.opened.add(name)
        if is_written:
            seen.written.add(name)
