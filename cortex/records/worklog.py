"""What Cortex itself did to the notes, out of the records it keeps: read, never touched.

In the state folder lie `lifecycle/<number>/`, a folder for each run of promotion with the bytes it
wrote, and `writes.jsonl`, a line for each note that the agent wrote.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .messages import seconds

LIFECYCLE = "lifecycle"
WRITES = "writes.jsonl"
MOST_RUNS = 100  # the newest
MOST_BYTES = 16_000_000  # of one file; of writes.jsonl the end

Deed = Literal["promoted", "undone", "written"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """One thing that was done."""

    id: str  # of the run and the promotion in it, or of the line
    deed: Deed
    time: float  # Unix seconds
    path: str  # of the note that came of it, vault-relative
    type: str
    source: str = ""  # the note that was promoted
    superseded: tuple[str, ...] = ()
    bytes_at: Path | None = None  # the file that holds the note as it was written

    @property
    def record(self) -> str:
        """The record that tells of it."""
        return "writes" if self.deed == "written" else "journal"


@dataclass(frozen=True, slots=True)
class Worklog:
    receipts: tuple[Receipt, ...]  # newest first, then by id
    damaged: int  # runs and lines that cannot be read


def worklog(state: Path) -> Worklog:
    """What the records of a state folder tell. Raises OSError when a folder may not be read."""
    receipts: list[Receipt] = []
    damaged = 0
    for number in _numbers(state / LIFECYCLE)[:MOST_RUNS]:
        folder = state / LIFECYCLE / str(number)
        if not os.path.lexists(folder / "run.json"):
            continue  # it was killed before it did anything
        try:
            receipts += list(_of_run(folder, number))  # all of a run, or nothing
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            damaged += 1
    lines, odd = _of_writes(state / WRITES)
    receipts += lines
    receipts.sort(key=lambda receipt: (-receipt.time, receipt.id))
    return Worklog(tuple(receipts), damaged + odd)


def _numbers(folder: Path) -> list[int]:
    """The numbers of the runs, newest first."""
    if not os.path.lexists(folder):
        return []
    names = [entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    return sorted((int(name) for name in names if name.isascii() and name.isdigit()), reverse=True)


def _of_run(folder: Path, number: int) -> Iterator[Receipt]:
    run = json.loads(_read(folder / "run.json"))
    time = seconds(run["started"])
    if time is None:
        raise ValueError("a run without a time")
    ended = _ended(folder / "done.jsonl")
    is_undone = run["status"] in ("undone", "partly_undone")
    kept = {path for path, _ in run["kept"]} if is_undone else set()
    for at, promotion in enumerate(run["promotions"]):
        if ended.get(at, promotion["state"]) != "done":
            continue
        new, *others = promotion["writes"]
        digest = _word(new["after"])
        yield Receipt(
            id=f"{number}.{at + 1}",
            deed="undone" if is_undone and new["path"] not in kept else "promoted",
            time=time,
            path=_word(promotion["target"]),
            type=_word(promotion["type"]),
            source=_word(promotion["source"]),
            superseded=tuple(_word(write["path"]) for write in others[1:]),
            bytes_at=folder / digest if digest.isalnum() else None,
        )


def _ended(file: Path) -> dict[int, str]:
    """Promotion -> how it ended."""
    ended: dict[int, str] = {}
    with contextlib.suppress(FileNotFoundError):
        for line in _read(file).splitlines():
            with contextlib.suppress(ValueError, LookupError, TypeError):  # cut by a kill
                told = json.loads(line)
                ended[int(told["promotion"])] = _word(told["state"])
    return ended


def _of_writes(file: Path) -> tuple[list[Receipt], int]:
    """(a receipt for each note that the agent wrote, lines that cannot be read)."""
    if not os.path.lexists(file):
        return [], 0
    try:
        lines = _read(file, from_end=True).splitlines()
    except (OSError, ValueError):
        return [], 1
    found: dict[tuple[str, str], Receipt] = {}
    damaged = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told: Mapping[str, Any] = json.loads(line)
            time, place = seconds(told["time"]), (_word(told["path"]), _word(told["sha256"]))
            if told["event"] == "note_write_failed":
                found.pop(place, None)
            elif told["event"] == "note_write" and time is not None:
                name = f"line {number}"
                found[place] = Receipt(name, "written", time, place[0], _word(told["type"]))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            damaged += 1
    return list(found.values()), damaged


def _read(file: Path, *, from_end: bool = False) -> bytes:
    """A plain file. Raises OSError, and ValueError for one that is none or too large.

    from_end: of one that is too large the last whole lines.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(file, flags), "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("no plain file")
        if status.st_size <= MOST_BYTES:
            return opened.read(MOST_BYTES)
        if not from_end:
            raise ValueError("too large")
        opened.seek(-MOST_BYTES, os.SEEK_END)
        return opened.read(MOST_BYTES).partition(b"\n")[2]


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
