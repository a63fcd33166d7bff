"""One line at the end of the vault's own log.md, where the operator keeps one; never a new file."""

from __future__ import annotations

import datetime as dt
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..files import dumps

NAME = "log.md"
_TAIL = 64 * 1024  # bytes at the end that are searched for a line that is there already


def log_line(
    now: dt.datetime,
    event: str,
    mode: str,
    status: str,
    counts: Mapping[str, int],
    paths: Iterable[str],
) -> str:
    """`- 2026-03-01T02:00:00Z nightly mode=write status=ok promoted=1 paths=["10_facts/A.md"]`."""
    time = now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    numbers = " ".join(f"{name}={count}" for name, count in counts.items())
    listed = dumps(sorted(set(paths)))
    return " ".join(
        part
        for part in (f"- {time} {event} mode={mode} status={status}", numbers, f"paths={listed}")
        if part
    )


def append_line(vault: Path, line: str, unless: str = "") -> str:
    """Append a line if log.md is a regular file; what went wrong, else "".

    unless: a text; where one of the last lines holds it, that is this line, and nothing is done.
    A file whose last line has no end gets one first.
    """
    path = vault / NAME
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(path, flags), "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
            if unless and f" {unless} ".encode() in tail:
                return ""
            newline = b"\r\n" if b"\r\n" in tail else b"\n"
            text = line.encode("utf-8", "backslashreplace") + newline
            file.write(text if not tail or tail.endswith((b"\n", b"\r")) else newline + text)
            os.fsync(file.fileno())
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{NAME} could not be appended to: {error.strerror or error}"
    return ""
