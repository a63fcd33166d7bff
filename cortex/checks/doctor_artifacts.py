"""Check-up of what was built: each artifact in itself, and all of them with one another."""

from __future__ import annotations

import datetime as dt
import filecmp
import os
import shlex
import shutil
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from ..config import Config
from ..errors import Damaged, Unavailable
from ..files import read_json, read_lines
from ..state import REMEDY, Stamp, State
from ..types import key64
from ..vault.scan import FolderRules
from . import status
from .doctor import BUILDERS, FIX, Finding, Found, listed, ok, plural, problems, told

LEAST_FREE = 100_000_000  # bytes, under which the next build may not end
_FILES, _FOLDERS = ("writer.lock",), ("generations", "lifecycle", "vectors")
_MODES = stat.S_IROTH | stat.S_IXOTH
_ROUNDING = 1e-3  # how far the length of a stored unit vector may be from 1

Free = Callable[[Path], int]  # bytes that are free where a folder lies


def free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


# The state folder


def state_folder(state: State, vault: Path | None, free: Free = free_bytes) -> Found:
    root = state.root
    if not root.is_dir():
        if os.path.lexists(root):
            yield Finding("problem", f"the state folder {root} is not a folder", "move that away")
        else:
            yield Finding("info", f"the state folder {root} is not there yet")
        return
    for path in _misplaced(root):
        kind = "file" if path.name in _FILES else "folder"
        yield Finding("problem", f"{path} must be a {kind}, and is none", "move it away")
    if not os.access(root, os.W_OK | os.X_OK):
        yield Finding("problem", f"{root} cannot be written to", "make it writable")
    used = _size(root)
    yield ok(f"{root}: {_megabytes(used)}")
    left = free(root)
    if left < LEAST_FREE:
        yield Finding(
            "problem",
            f"the disk has {_megabytes(left)} left, and a build may need {_megabytes(used)}",
            "free some space, before the next build stops half-way",
        )
    elif left < used:
        yield Finding(
            "warning",
            f"the disk has {_megabytes(left)} left, and all of the state is {_megabytes(used)}",
            "free some space: a build keeps the last state beside the next",
        )
    if os.name != "nt" and vault is not None and vault.is_dir():
        yield from _privacy(root, vault)


def _misplaced(root: Path) -> list[Path]:
    """What stands in the way of every build: no build replaces it, as Cortex did not make it."""
    files, folders = ([root / name for name in names] for names in (_FILES, _FOLDERS))
    found = [path for path in files if os.path.lexists(path) and not path.is_file()]
    return found + [path for path in folders if os.path.lexists(path) and not path.is_dir()]


def _privacy(root: Path, vault: Path) -> Found:
    """The index holds what the notes hold: it must not be open to more people than they are."""
    is_open = root.stat().st_mode & _MODES == _MODES
    if is_open and not vault.stat().st_mode & _MODES:
        yield Finding(
            "warning",
            f"everybody on this machine may read {root}, which holds the text of notes that only "
            "you may read",
            command=f"chmod go-rwx {shlex.quote(str(root))}",
        )


def _size(folder: Path) -> int:
    """Bytes below a folder; a file with several names counts once, and links are not followed."""
    seen: set[tuple[int, int]] = set()
    total = 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not os.path.islink(os.path.join(place, name))]
        for name in names:
            try:
                status_of = os.lstat(os.path.join(place, name))
            except OSError:
                continue
            if (key := (status_of.st_dev, status_of.st_ino)) not in seen:
                seen.add(key)
                total += status_of.st_size
    return total


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def runs(state: State) -> Found:
    """Who writes now, and how the last runs ended."""
    last = state.runs()
    is_held = is_locked(state)
    if is_held:
        yield Finding("info", "a run of Cortex is writing at this moment")
    for kind, run in last.items():
        began = dt.datetime.fromisoformat(run["started"]).astimezone()
        command = {"index": BUILDERS[0], "vectors": BUILDERS[1], "graph": BUILDERS[2]}[kind]
        at = f"{began:%Y-%m-%d %H:%M}"
        if run["outcome"] == "failed":
            text = f"the last `{command}` failed on {at}: {run['error'] or 'no reason is known'}"
            yield Finding("warning", text, command=command, fix=command)
        elif run["outcome"] == "killed" or (run["outcome"] == "running" and not is_held):
            text = f"the last `{command}`, begun on {at}, was killed"
            yield Finding("warning", text, command=command, fix=command)
        elif run["outcome"] == "stopped":
            text = f"the last `{command}`, begun on {at}, was stopped before its end"
            yield Finding("warning", text, command=command, fix=command)
    if not is_held and leftovers(state):
        found = leftovers(state)
        yield Finding(
            "warning",
            f"killed runs left {plural(len(found), 'file or folder', 'files and folders')}: "
            f"{listed(found)}",
            command=FIX,
            fix="remove leftovers",
            names=tuple(found),
        )


def is_locked(state: State) -> bool:
    """Whether somebody holds the writer lock. Makes no file."""
    path = state.root / "writer.lock"
    if not path.is_file() or not os.access(path, os.W_OK):
        return False
    import filelock

    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        return True
    lock.release()
    return False


def leftovers(state: State) -> list[str]:
    """What a killed run left, relative to the state folder; the next writer removes just that.

    A generation older than the pointer that replaced it is no leftover: readers may have it open.
    """
    found = [path.name for path in state.root.glob(".new-*") if path.is_file()]
    folder = state.root / "generations"
    for kind in REMEDY:
        try:
            stamp = state.stamp(kind)
            switched = (state.root / f"{kind}.json").stat().st_mtime
        except (Damaged, OSError):
            continue  # nobody knows what it names; the next build removes the rest
        for made in folder.glob(f"{kind}-*"):
            is_newer = made.is_dir() and made.stat().st_mtime > switched
            if stamp is not None and made != stamp.folder and is_newer:
                found.append(f"generations/{made.name}")
    return sorted(found, key=lambda name: (name.startswith("."), name))


# The index


def index(state: State, config: Config, rules: FolderRules, *, quick: bool) -> Found:
    stamp = status.whole(state, "index")
    drift = None
    if not list(status.vault_problems(config)):
        drift = status.drifted(config, rules, stamp)
    yield from problems(status.index_problems(stamp, drift, {}))
    if stamp is None:
        return
    values = stamp.values
    counts = f"{plural(values['notes'], 'note')}, {plural(values['chunks'], 'chunk')}"
    yield ok(f"{counts}, generation {stamp.generation}")
    yield from problems(status.copy_problems(state, {"index": stamp}))
    yield from _lexical(stamp)
    if not quick:
        yield from problems(_content_faults(state, stamp))
        yield from problems(_record_faults(stamp, rules))


def _content_faults(state: State, stamp: Stamp) -> Iterator[str]:
    """Every byte of a generation against its sums, and its public copies against it."""
    force = REMEDY[stamp.kind]
    if names := stamp.damaged():
        yield f"contents of {stamp.folder} have changed: {listed(names)}; run: {force}"
        return
    for name in status.PUBLIC[stamp.kind]:
        made, copy = stamp.folder / name, state.root / name
        if (
            copy.is_file()
            and not os.path.samefile(made, copy)
            and not filecmp.cmp(made, copy, False)
        ):
            yield f"{copy} is missing or damaged; run: {status.COPIED_BY[stamp.kind]}"


def _lexical(stamp: Stamp) -> Found:
    from ..indexer.build import LEXICAL
    from ..indexer.lexical import FieldWeights, TantivyIndex

    try:
        held = TantivyIndex.open(stamp.folder / LEXICAL, FieldWeights()).note_count
    except Unavailable as error:
        yield told("problem", error.why)
        return
    if held != stamp.values["notes"]:
        yield told(
            "problem",
            f"the keyword index holds {plural(held, 'note')}, the index "
            f"{stamp.values['notes']:,}; run: cortex index --force",
        )


def _record_faults(stamp: Stamp, rules: FolderRules) -> Iterator[str]:
    """Every record read, and held against the sums and keys beside it."""
    from ..search.corpus import Corpus

    corpus = Corpus(stamp, rules.takes)
    for what, held, stamped in (
        ("notes", len(corpus.notes), stamp.values["notes"]),
        ("chunks", len(corpus.chunks), stamp.values["chunks"]),
    ):
        if held != stamped:
            yield f"the index has {held:,} {what}, its stamp {stamped:,}; run: cortex index --force"
    surfaces = corpus.array("chunks.surface.npy")
    damaged: list[str] = []
    owners: set[str] = set()
    for ordinal in range(len(corpus.chunks)):
        try:
            chunk = corpus.chunk(ordinal)
            is_whole = (
                key64(chunk.id) == int(corpus.chunks.keys[ordinal])
                and chunk.surface_key == surfaces[ordinal].tobytes()
            )
            owners.add(chunk.note)
        except (Damaged, KeyError, TypeError, ValueError):
            is_whole = False
        if not is_whole:
            damaged.append(f"chunk {ordinal}")
    notes: set[str] = set()
    for ordinal in range(len(corpus.notes)):
        try:
            path = corpus.notes.record(ordinal)["file"]
            is_whole = key64(path) == int(corpus.notes.keys[ordinal])
            notes.add(path)
        except (Damaged, KeyError, TypeError, ValueError):
            is_whole = False
        if not is_whole:
            damaged.append(f"note {ordinal}")
    if damaged:
        yield f"records of the index are damaged: {listed(damaged)}; run: cortex index --force"
    elif owners != notes:
        yield "chunks and notes of the index do not belong together; run: cortex index --force"


# The vectors


def vectors(state: State, config: Config, model: str, *, quick: bool) -> Found:
    try:
        index_stamp = state.stamp("index")
    except Damaged:
        return  # told by its own check
    stamp = status.whole(state, "vectors")
    texts = list(status.vector_problems(state, config, model, index_stamp, stamp, {}))
    yield from problems(texts)
    if stamp is None:
        if not config.search.vector_weight:
            yield Finding("info", "there are none, and search.vector_weight: 0 asks for none")
        elif index_stamp is None:
            yield Finding("info", "nothing has been embedded yet")
        return
    values = stamp.values
    yield ok(f"{plural(values['entries'], 'vector')} of {values['model']}")
    if not quick:
        yield from problems(_content_faults(state, stamp))
    if not quick and index_stamp is not None and not texts:
        yield from problems(_vector_faults(state, index_stamp, stamp))


def _vector_faults(state: State, index_stamp: Stamp, stamp: Stamp) -> Iterator[str]:
    """Are they unit vectors, one or more a chunk, and each in the row of its chunk's text?"""
    import numpy as np

    from ..embedder.vectors import VectorCache

    cache = VectorCache(state.root / stamp.values["cache"], stamp.values["dimensions"])
    rows, starts = stamp.array("rows.npy"), stamp.array("chunk_ptr.npy")
    stored = cache.rows()
    if len(rows) and int(rows.max()) >= len(stored):
        yield f"{cache.folder} has lost vectors; run: cortex embed"
        return
    bad = 0
    for start in range(0, len(rows), 8192):
        with np.errstate(over="ignore", invalid="ignore"):  # damaged bytes may be any number
            lengths = np.linalg.norm(stored[rows[start : start + 8192]], axis=1)
        bad += int(np.count_nonzero(~(np.abs(lengths - 1) < _ROUNDING)))
    if bad:
        yield (
            f"{bad:,} of {len(rows):,} stored vectors are damaged: not of length 1; "
            "run: cortex embed --force"
        )
    if stamp.built_from != index_stamp.generation:
        return
    wanted = index_stamp.array("chunks.keys.npy")
    held = stamp.array("chunk_keys.npy")
    if len(wanted) != len(held) or not (np.sort(wanted) == np.sort(held)).all():
        lost = len(np.setdiff1d(wanted, held))
        yield f"{plural(lost, 'chunk')} of the index have no vector; run: cortex embed"
        return
    known, surfaces = cache.known(), index_stamp.array("chunks.surface.npy")
    first = rows[starts] if len(starts) else rows
    astray = sum(
        known.get(surface.tobytes(), (-1, 0))[0] != int(row)
        for surface, row in zip(surfaces, first, strict=True)
    )
    if astray:
        yield f"{plural(astray, 'chunk')} would be ranked by another's vector; run: cortex embed"


# The graph


def graph(state: State, *, quick: bool) -> Found:
    try:
        index_stamp = state.stamp("index")
    except Damaged:
        return
    stamp = status.whole(state, "graph")
    yield from problems(status.graph_problems(index_stamp, stamp, {}))
    if stamp is None:
        if index_stamp is None:
            yield Finding("info", "there is no graph yet")
        return
    counts = status.graph_counts(stamp)
    assert counts is not None
    yield ok(f"{plural(counts['nodes'], 'node')}, {plural(counts['edges'], 'edge')}")
    yield from problems(status.copy_problems(state, {"graph": stamp}))
    if not quick:
        yield from problems(_content_faults(state, stamp))
        yield from problems(_graph_faults(stamp))


def _graph_faults(stamp: Stamp) -> Iterator[str]:
    stats = read_json(stamp.file(status.GRAPH_STATS))
    path = stamp.file("graph_nodes.jsonl")
    try:
        nodes = {record["id"] for record in read_lines(path)}
        path = stamp.file("graph_edges.jsonl")
        ends = [(record["source"], record["target"]) for record in read_lines(path)]
        path = stamp.file("graph_broken.jsonl")
        broken = sum(1 for _ in read_lines(path))
    except (ValueError, KeyError, TypeError):
        raise Damaged(f"{path} is damaged; run: cortex graph build") from None
    if (len(nodes), len(ends), broken) != tuple(
        stats[name] for name in ("node_count", "edge_count", "broken_count")
    ):
        yield "the graph holds more or less than its counts say; run: cortex graph build"
    loose = sum(not (source in nodes and target in nodes) for source, target in ends)
    if loose:
        yield f"{plural(loose, 'edge')} of the graph lead to no node; run: cortex graph build"


def links(state: State) -> Found:
    """Links of the notes that lead nowhere: for whoever writes them, no fault of the graph."""
    try:
        stamp = status.whole(state, "graph")
    except Damaged:
        return  # told by its own check
    if stamp is None:
        return
    path = stamp.file("graph_broken.jsonl")
    try:
        counts = Counter("candidates" in record for record in read_lines(path))
    except (ValueError, TypeError):
        raise Damaged(f"{path} is damaged; run: cortex graph build") from None
    for is_ambiguous, what in ((False, "nowhere"), (True, "to more than one note")):
        if counts[is_ambiguous]:
            text = f"links in notes that lead {what}: {counts[is_ambiguous]:,}"
            yield Finding("info", text, command="cortex graph broken")
