"""What promotion is about to do, on disk before it is done: to go on after a kill, and to undo.

A run has a folder `lifecycle/<number>/` in the state folder. It holds `run.json`, with every write
as digests of the file before and after; the bytes behind those digests; and `done.jsonl`, one
line a promotion that has come to its end. The vault is touched only after `run.json` is there,
so a folder without one has done nothing.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from ..errors import Damaged
from ..files import dumps, read_json, replacing, sync_folder, write_json
from ..types import Json
from .vault_writes import Write, digest

FOLDER = "lifecycle"  # in the state folder; no builder and no reset touches it
Status = Literal["begun", "done", "undoing", "undone", "partly_undone"]
State = Literal["pending", "done", "dropped", "failed"]  # dropped: the vault had changed


@dataclass(frozen=True, slots=True)
class Promotion:
    """One note to its place: its writes in order are the new note, the source, the superseded."""

    source: str
    target: str
    type: str
    derived_from: str  # how the new note names the source
    writes: tuple[Write, ...]
    state: State = "pending"
    why: str = ""  # it came to nothing, or what was left out of it

    @property
    def superseded(self) -> tuple[str, ...]:
        return tuple(write.path for write in self.writes[2:])

    @classmethod
    def from_json(cls, values: Mapping[str, Json]) -> Promotion:
        plain = {name: values[name] for name in cls.__slots__ if name != "writes"}
        return cls(**plain, writes=tuple(map(Write.from_json, values["writes"])))


@dataclass(frozen=True, slots=True)
class Run:
    number: int
    vault: str  # as it was reached then
    started: str  # ISO, UTC
    day: str  # the date that was written into the notes
    status: Status
    promotions: tuple[Promotion, ...]
    kept: tuple[tuple[str, str], ...] = ()  # (path, why) that undoing had to leave
    # Tells its files from those of another profile, which may promote in the same vault just now.
    mark: str = ""

    @property
    def is_open(self) -> bool:
        """Was it killed before it came to its end?"""
        return self.status in ("begun", "undoing")

    def temp(self, write: Write) -> str:
        """The name of the file in which a write is prepared; hidden, and told apart by its run."""
        name = digest(f"{self.mark}{write.path}".encode())[:12]
        return f".cortex-{self.number}-{name}.tmp"


class Journal:
    """The runs of one state folder. Whoever writes holds its lock."""

    def __init__(self, state: Path) -> None:
        self.folder = state / FOLDER

    def runs(self) -> list[Run]:
        """All runs, oldest first. Raises Damaged."""
        return [self._read(number) for number in self._numbers() if self._file(number).exists()]

    def open_run(self) -> Run | None:
        """The run that was killed before its end, if there is one. Raises Damaged."""
        return next((run for run in self.runs() if run.is_open), None)

    def begin(
        self, vault: Path, promotions: Iterable[Promotion], blobs: Iterable[bytes], now: dt.datetime
    ) -> Run:
        """Write down a run that is about to begin. blobs: every content its writes name."""
        number = max(self._numbers(), default=0) + 1
        folder = self.folder / str(number)
        folder.mkdir(parents=True)
        with contextlib.suppress(OSError):
            os.chmod(self.folder, 0o700)  # it holds copies of notes
        self.add(number, blobs)
        started = now.astimezone(dt.UTC).isoformat(timespec="seconds")
        day = now.date().isoformat()
        run = Run(
            number=number,
            vault=os.path.realpath(vault),
            started=started,
            day=day,
            status="begun",
            promotions=tuple(promotions),
            mark=digest(os.fsencode(os.path.realpath(folder)))[:12],
        )
        self.save(run)
        sync_folder(self.folder)
        return run

    def add(self, number: int, blobs: Iterable[bytes]) -> None:
        for data in blobs:
            with replacing(self.folder / str(number) / digest(data)) as file:
                file.write(data)

    def bytes_of(self, run: Run, wanted: str) -> bytes:
        """The content with a digest. Raises Damaged if it is not there as it was."""
        path = self.folder / str(run.number) / wanted
        try:
            data = path.read_bytes()
        except OSError as error:
            raise Damaged(f"{path} cannot be read ({error.strerror}); {_REMEDY}") from None
        if digest(data) != wanted:
            raise Damaged(f"{path} is damaged; {_REMEDY}")
        return data

    def note_end(self, run: Run, index: int, promotion: Promotion) -> None:
        """That one promotion of a run has come to its end."""
        line = dumps({"promotion": index, "state": promotion.state, "why": promotion.why})
        with open(self._file(run.number, "done.jsonl"), "ab") as file:
            # The line end before it: what was cut short by a kill must not swallow this one too.
            file.write(f"\n{line}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def save(self, run: Run) -> None:
        values = {name: getattr(run, name) for name in Run.__slots__}
        values["promotions"] = [asdict(promotion) for promotion in run.promotions]
        write_json(self._file(run.number), {"schema_version": 1, **values})

    def sweep(self) -> None:
        """Remove what runs left that were killed before they did anything."""
        for number in self._numbers():
            if not self._file(number).exists():
                shutil.rmtree(self.folder / str(number), ignore_errors=True)

    def _numbers(self) -> list[int]:
        if not self.folder.is_dir():
            return []
        names = [entry.name for entry in self.folder.iterdir() if entry.is_dir()]
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def _file(self, number: int, name: str = "run.json") -> Path:
        return self.folder / str(number) / name

    def _read(self, number: int) -> Run:
        path = self._file(number)
        try:
            values = read_json(path)
            promotions = [Promotion.from_json(value) for value in values["promotions"]]
            for index, state, why in self._ended(number):
                promotions[index] = replace(promotions[index], state=state, why=why)
            return Run(
                number=number,
                vault=values["vault"],
                started=values["started"],
                day=values["day"],
                status=values["status"],
                promotions=tuple(promotions),
                kept=tuple((path, why) for path, why in values["kept"]),
                mark=values.get("mark", ""),
            )
        except OSError as error:
            raise Damaged(f"{path} cannot be read ({error.strerror}); {_REMEDY}") from None
        except (ValueError, KeyError, TypeError, IndexError):
            raise Damaged(f"{path} is damaged; {_REMEDY}") from None

    def _ended(self, number: int) -> list[tuple[int, State, str]]:
        try:
            lines = self._file(number, "done.jsonl").read_bytes().splitlines()
        except FileNotFoundError:
            return []
        ended: list[tuple[int, State, str]] = []
        for line in lines:
            with contextlib.suppress(ValueError):  # the last line, cut by a kill
                value = json.loads(line)
                ended.append((value["promotion"], value["state"], value["why"]))
        return ended


_REMEDY = "look at the notes it names, then move its folder away"
