"""The state folder: one writer at a time, and generations that are switched whole.

A builder fills a folder of its own below `generations/` and then replaces `<kind>.json`, which
names that folder. That one rename is the switch: a reader that opens the pointer gets files that
belong together, and a run killed before it leaves the last good state. The files that people and
other programs read (`chunks.jsonl`, `graph_edges.jsonl`, ...) are hard links into that folder.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import math
import os
import re
import shutil
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import Busy, CortexError, Damaged
from .files import dumps, sync_folder, write_json
from .types import Json

if TYPE_CHECKING:
    from numpy.typing import NDArray

REMEDY = {
    "index": "cortex index --force",
    "vectors": "cortex embed",
    "graph": "cortex graph build",
}
REQUIRED = {  # what readers count on in a stamp
    "index": ("versions", "notes", "chunks", "languages", "main_language"),
    "vectors": ("built_from", "identity", "model", "dimensions", "cache", "rows", "entries"),
    "graph": ("built_from",),
}
_LEAST = {"notes": 0, "chunks": 0, "dimensions": 1, "rows": 0, "entries": 0}  # of numbers in it
LOCK_WAIT_S = 60.0
RUNS = "runs.json"
_ERROR_CHARS = 300
_GENERATION = re.compile(rf"(?:{'|'.join(REMEDY)})-[0-9a-f]{{12}}")


class Unreadable(Damaged):
    """An artifact that the system does not let us read. No rebuild mends it: names no command."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a pointer file says of the current generation of one kind."""

    kind: str
    generation: str  # a digest of what it was built from and by
    folder: Path
    values: Mapping[str, Json]

    @property
    def built_from(self) -> str:
        """The index generation that vectors and graph were built from."""
        return str(self.values.get("built_from", ""))

    def file(self, name: str) -> Path:
        """A file of this generation, checked against the size that was stamped."""
        path = self.folder / name
        expected = self.values["files"].get(name)
        try:
            size = path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            size = None
        except OSError as error:
            raise _unreadable(path, error) from None
        if expected is None or size != expected:
            what = "is missing" if size is None else f"has {size} bytes, expected {expected}"
            raise Damaged(f"{path} {what}; run: {REMEDY[self.kind]}")
        return path

    def check(self) -> None:
        """Raises Damaged if a file is missing, or not of the size or sum that was stamped.

        Only arrays, which are small, have a sum.
        """
        for name in self.values["files"]:
            if name in self.values["sums"]:
                self._summed(name)
            else:
                self.file(name)

    def damaged(self) -> list[str]:
        """Names of the files whose contents are not what was stamped. Reads all of them.

        Those of a generation from before contents were summed count as whole. Raises OSError.
        """
        sums = {**self.values.get("content_sums", {}), **self.values["sums"]}
        return [name for name in sorted(sums) if file_sum(self.folder / name) != sums[name]]

    def array(self, name: str) -> NDArray[Any]:
        """An array of this generation, checked against the sum that was stamped."""
        data = self._summed(name)
        import numpy as np

        array: NDArray[Any] = np.load(io.BytesIO(data))
        return array

    def _summed(self, name: str) -> bytes:
        path = self.file(name)
        try:
            data = path.read_bytes()
        except PermissionError as error:
            raise _unreadable(path, error) from None
        if zlib.crc32(data) != self.values["sums"].get(name):
            raise Damaged(f"{path} is damaged; run: {REMEDY[self.kind]}")
        return data


class State:
    """The folder that holds all that Cortex builds."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def lock(self, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
        """Be the only writer. Raises Busy when another process stays it for `wait_s` seconds."""
        import filelock

        try:
            self.root.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(self.root / "writer.lock")
            lock.acquire(timeout=wait_s)
        except filelock.Timeout:
            raise Busy(
                f"another cortex run is writing to {self.root}; "
                "wait for it to end and run this again"
            ) from None
        except OSError as error:
            raise CortexError(
                f"cannot write to the state folder {self.root} ({error.strerror or error}); "
                "make it writable, or name another one in index.chunks_path"
            ) from None
        try:
            self._sweep()
            yield
        finally:
            lock.release()

    @contextmanager
    def run(self, kind: str, clock: Callable[[], float] = time.time) -> Iterator[None]:
        """Be the only writer, and note when this run of a builder was and how it ended.

        Its outcome is `running`, then `done`, `failed` or `stopped` (by the user); `killed` is what
        the next run finds still running. Raises as `lock` does.
        """
        with self.lock():
            began = time.monotonic()
            told: dict[str, Json] = {
                "started": dt.datetime.fromtimestamp(clock(), dt.UTC).isoformat(timespec="seconds"),
                "seconds": None,
                "outcome": "running",
                "error": None,
            }
            self._note_run(kind, told)
            try:
                yield
                told["outcome"] = "done"
            except BaseException as error:
                is_stop = isinstance(error, (KeyboardInterrupt, SystemExit))
                told["outcome"] = "stopped" if is_stop else "failed"
                known = isinstance(error, (CortexError, OSError))
                told["error"] = None if is_stop else str(error) if known else type(error).__name__
                # A byte of a name that is not UTF-8 would not be written.
                told["error"] = told["error"] and _encodable(told["error"][:_ERROR_CHARS])
                raise
            finally:
                told["seconds"] = round(time.monotonic() - began, 3)
                self._note_run(kind, told)

    def runs(self) -> dict[str, dict[str, Json]]:
        """The last run of each builder: started (ISO, UTC), seconds, outcome, error.

        What is missing or unreadable is left out: nothing depends on it.
        """
        found: Json = None
        with contextlib.suppress(OSError, ValueError, RecursionError):
            found = json.loads((self.root / RUNS).read_bytes())
        runs: dict[str, dict[str, Json]] = {}
        for kind in REMEDY:
            with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError, OSError):
                run = found["runs"][kind]
                dt.datetime.fromisoformat(run["started"]).astimezone()
                seconds, error = run["seconds"], run["error"]
                if seconds is None or math.isfinite(seconds):
                    runs[kind] = {
                        "started": run["started"],
                        "seconds": None if seconds is None else float(seconds),
                        "outcome": _encodable(str(run["outcome"])),
                        "error": None if error is None else _encodable(str(error)[:_ERROR_CHARS]),
                    }
        return runs

    def _note_run(self, kind: str, told: Mapping[str, Json]) -> None:
        runs = self.runs()
        for other in runs.values():
            if other["outcome"] == "running":  # and yet we hold the lock
                other["outcome"] = "killed"
        # Replaced, and not synced: nothing depends on it, and many a run has little to do.
        staged = self.root / f".new-{RUNS}"
        text = dumps({"schema_version": 1, "runs": {**runs, kind: dict(told)}})
        with contextlib.suppress(OSError):  # a full disk is told by what failed on it
            staged.write_text(f"{text}\n", "utf-8")
            os.replace(staged, self.root / RUNS)

    def stamp(self, kind: str) -> Stamp | None:
        """The current generation of a kind, None if nothing was built. Raises Damaged."""
        path = self.root / f"{kind}.json"
        try:
            values = json.loads(path.read_bytes())
            for key in ("files", "sums"):
                values[key].items()
            for key in REQUIRED[kind]:
                if key in _LEAST and not (type(values[key]) is int and values[key] >= _LEAST[key]):
                    raise ValueError(key)
            return Stamp(kind, values["generation"], self.root / values["folder"], values)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unreadable(path, error) from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise Damaged(f"{path} is damaged; run: {REMEDY[kind]}") from None

    def new_folder(self, kind: str) -> Path:
        """An empty folder for a generation in the making; only under the lock."""
        folder = self.root / "generations" / f"{kind}-{uuid.uuid4().hex[:12]}"
        folder.mkdir(parents=True)
        return folder

    def publish(
        self,
        kind: str,
        generation: str,
        folder: Path,
        values: Mapping[str, Json],
        public: Sequence[str] = (),
    ) -> Stamp:
        """Switch readers to `folder`, whose plain files are complete; only under the lock."""
        files = {
            path.relative_to(folder).as_posix(): path.stat().st_size
            for path in folder.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        }
        for name in files:
            handle = os.open(folder / name, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_folder(folder)
        stamp = {
            "schema_version": 1,
            "generation": generation,
            "folder": folder.relative_to(self.root).as_posix(),
            **values,
            "files": dict(sorted(files.items())),
            "sums": {
                name: zlib.crc32((folder / name).read_bytes())
                for name in sorted(files)
                if name.endswith(".npy")
            },
            # Of all the others, which can be large: looked at when somebody asks for a check-up.
            "content_sums": {
                name: file_sum(folder / name) for name in sorted(files) if not name.endswith(".npy")
            },
        }
        write_json(self.root / f"{kind}.json", stamp)
        self.expose(folder, public)
        return Stamp(kind, generation, folder, stamp)

    def expose(self, folder: Path, public: Sequence[str]) -> None:
        """Give the files of a generation their public names in the state folder."""
        for name in public:
            target = self.root / name
            with contextlib.suppress(OSError):
                if os.path.samefile(folder / name, target):
                    continue
            staged = self.root / f".new-{name}"
            staged.unlink(missing_ok=True)
            try:
                os.link(folder / name, staged)
            except OSError:  # a file system without hard links
                shutil.copyfile(folder / name, staged)
            os.replace(staged, target)

    def _sweep(self) -> None:
        """Remove what killed runs left, and generations no pointer names any more.

        A reader that still has one of those open keeps its files until it lets go. While a pointer
        may not be read, nobody knows what it names, and all stays.
        """
        keep = set()
        for kind in REMEDY:
            try:
                stamp = self.stamp(kind)
            except Unreadable:
                return
            except Damaged:
                continue
            if stamp is not None:
                keep.add(stamp.folder)
        generations = self.root / "generations"
        if generations.is_dir():
            for folder in generations.iterdir():
                if folder not in keep and _GENERATION.fullmatch(folder.name):
                    shutil.rmtree(folder, ignore_errors=True)
        for leftover in self.root.glob(".new-*"):
            if leftover.is_file():
                leftover.unlink(missing_ok=True)


def file_sum(path: Path) -> int:
    """The CRC-32 of a file."""
    total = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            total = zlib.crc32(block, total)
    return total


def _unreadable(path: Path, error: OSError) -> Unreadable:
    return Unreadable(f"{path} cannot be read ({error.strerror or error}); mend that first")


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
