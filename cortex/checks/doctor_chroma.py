"""Check-up of Chroma against the vectors: by its database, read-only, and by opening it as search
does, in a process of its own, because a damaged index can end the process that opens it."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..config import Config
from ..embedder import chroma
from ..embedder.cache_files import whole_rows
from ..errors import Damaged
from ..files import read_json, read_lines
from ..state import Stamp, State
from . import status
from .doctor import FIX, REFILL, Finding, Found, listed, ok, plural

MOST_COPIED = 2_000_000_000  # bytes of a store
OPEN_S = 120.0  # for one query of a store
_ERROR = re.compile(r"[A-Za-z_]\w*(\.\w+)*: ")  # the class, as a traceback ends
_PACKAGE = Path(__file__).resolve().parents[1]
# Asks for the neighbours of the first stored vector: ends with 0 when its own chunk is the first.
_PROBE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from cortex.ops.packages import activate_private_packages
activate_private_packages()
from cortex.embedder.chroma import ChromaVectors
from cortex.embedder.vectors import ExactVectors
from cortex.errors import CortexError
from cortex.state import State
root, path, name = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
stamp = State(root).stamp("vectors")
try:
    exact = ExactVectors(stamp, root)
    vector = exact._vectors[exact._rows[0]]
    asked = min(10, len(exact.chunk_keys))
    right = {chunk for chunk, _, _ in exact.nearest(vector, asked, None)}
except CortexError:
    sys.exit(0)  # told by the check of the vectors
store = ChromaVectors(path, name, stamp.values["identity"])
found = store.nearest(vector, asked, None)
sys.exit(0 if len(found) == asked and right & {chunk for chunk, _, _ in found} else 3)
"""


@dataclass(frozen=True, slots=True)
class Held:
    """What the database of a store says. ids: of our collection; None if it is not there."""

    ids: frozenset[str] | None
    identity: str | None
    others: tuple[str, ...]  # names of the other collections


def store(state: State, config: Config, env: Mapping[str, str], *, quick: bool) -> Found:
    path, name = config.index.chroma_path, config.index.collection
    try:
        stamp = status.whole(state, "vectors")
        count = None if stamp is None else chroma.count(path)
    except Damaged:
        return
    if stamp is None or count is None:
        return  # told, as all that is damaged, by the check of the vectors
    faults = _database_faults(path) or _faults(state, stamp, config, read(path, name))
    for fault in faults:
        yield Finding("problem", fault, command=FIX, fix=REFILL)
    if faults:
        return
    yield ok(f"{path}: {plural(count, 'vector')}")
    if others := read(path, name).others:
        what = f"collections of others lie in {path}, which Cortex leaves alone: {listed(others)}"
        yield Finding("info", what)
    cache = state.root / stamp.values["cache"]
    is_whole = whole_rows(cache, stamp.values["dimensions"]) >= stamp.values["rows"]
    if not quick and stamp.values["entries"] and is_whole:
        yield from _opened(state, path, name, env)


def read(path: Path, name: str) -> Held:
    """What a store holds, without importing chromadb. Raises sqlite3.Error."""
    with contextlib.closing(_connected(path)) as database:
        names = dict(database.execute("SELECT name, id FROM collections"))
        others = tuple(sorted(other for other in names if other != name))
        if name not in names:
            return Held(None, None, others)
        ids = database.execute(
            "SELECT e.embedding_id FROM embeddings e JOIN segments s ON s.id = e.segment_id "
            "WHERE s.collection = ? AND s.scope = 'METADATA'",
            (names[name],),
        )
        told = database.execute(
            "SELECT str_value FROM collection_metadata WHERE collection_id = ? AND key = ?",
            (names[name], "identity"),
        ).fetchone()
        return Held(frozenset(row[0] for row in ids), told[0] if told else None, others)


def _connected(path: Path) -> sqlite3.Connection:
    uri = f"{(path / 'chroma.sqlite3').resolve().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=5)


def _database_faults(path: Path) -> list[str]:
    try:
        with contextlib.closing(_connected(path)) as database:
            said = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        said = str(error)
    return [] if said == "ok" else [f"the database of {path} is damaged ({said})"]


def _faults(state: State, stamp: Stamp, config: Config, held: Held) -> list[str]:
    path = config.index.chroma_path
    if held.ids is None:
        return [f"Chroma at {path} has no collection {config.index.collection}"]
    if held.identity != stamp.values["identity"]:
        return [f"Chroma at {path} holds another model's vectors"]
    wanted = {identity for identity, _ in read_lines(stamp.file("entries.jsonl"))}
    lost, strange = len(wanted - held.ids), len(held.ids - wanted)
    if lost or strange:
        parts = [f"{lost:,} are missing"] if lost else []
        parts += [f"{strange:,} belong to no chunk"] if strange else []
        return [f"Chroma at {path} does not hold the vectors in use: {', '.join(parts)}"]
    try:
        marker = read_json(state.root / "chroma.json")
        is_right = marker["folder"] == stamp.values["folder"] and marker["path"] == str(path)
        is_whole = marker["sizes"] == chroma.sizes(path)
    except (OSError, ValueError, KeyError, TypeError):
        return [f"nothing says what Chroma at {path} was filled with"]
    if not is_right:
        return [f"Chroma at {path} was filled from other vectors"]
    if not is_whole:
        return [f"files of Chroma at {path} are not of the sizes they were left with"]
    return []


def _opened(state: State, path: Path, name: str, env: Mapping[str, str]) -> Found:
    """A real query, as `search.vector_engine: chroma` would ask it, of a copy: opening writes."""
    size = sum(chroma.sizes(path).values())
    if size > MOST_COPIED or size > shutil.disk_usage(tempfile.gettempdir()).free // 2:
        yield Finding("info", f"Chroma at {path} is too large to be tried out on a copy")
        return
    with tempfile.TemporaryDirectory(prefix="cortex-doctor-") as place:
        copy = Path(place, "chroma")
        shutil.copytree(path, copy, copy_function=shutil.copyfile)  # without the rights of theirs
        for folder in (copy, *filter(Path.is_dir, copy.iterdir())):
            folder.chmod(0o700)
        yield from _asked(state, path, copy, name, env)


def _asked(state: State, path: Path, copy: Path, name: str, env: Mapping[str, str]) -> Found:
    command = [
        sys.executable,
        "-P",
        "-c",
        _PROBE,
        str(_PACKAGE.parent),
        str(state.root),
        str(copy),
        name,
    ]
    given = {**os.environ, **env, "ANONYMIZED_TELEMETRY": "False"}
    try:
        ran = subprocess.run(
            command, env=given, capture_output=True, timeout=OPEN_S, text=True, errors="replace"
        )
    except subprocess.TimeoutExpired:
        what = f"Chroma at {path} did not answer within {OPEN_S:.0f} s"
        yield Finding("problem", what, command=FIX, fix=REFILL)
        return
    if ran.returncode == 0:
        return
    last = (ran.stderr.strip().splitlines() or ["no reason is known"])[-1][:300]
    if match := _ERROR.match(last):
        last = last[match.end() :]
    if ran.returncode == 3:
        last = "it does not find what it holds"
    elif ran.returncode < 0:
        last = f"it ends the process: {signal.strsignal(-ran.returncode)}"
    what = f"Chroma at {path} cannot be asked: {last}"
    yield Finding("problem", what, command=FIX, fix=REFILL)
