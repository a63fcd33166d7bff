"""The files of a built link graph, read: what reports, exports and the viewer start from."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .errors import CortexError, Damaged, UsageError
from .types import Json

NODE_TYPES = ("note", "tag", "heading", "block", "attachment")
# Edge types that nobody wrote as a link from one note to another.
NOT_WRITTEN = ("contains", "mentions", "tagged_with")

_DAMPING = 0.85
_ITERATIONS = 100
_TOLERANCE = 1e-9  # of the summed change of the ranks, which sum to 1


def nodes(folder: Path) -> Iterator[dict[str, Any]]:
    """The records of graph_nodes.jsonl, by id: id, type, label, and file and metadata if any."""
    return _records(folder / "graph_nodes.jsonl", ("id", "type", "label"))


def edges(folder: Path) -> Iterator[dict[str, Any]]:
    """The records of graph_edges.jsonl, by source, target and type; each has metadata."""
    return _records(folder / "graph_edges.jsonl", ("source", "target", "type", "metadata"))


def broken(folder: Path) -> Iterator[dict[str, Any]]:
    """The records of graph_broken.jsonl, by note, target and kind."""
    return _records(folder / "graph_broken.jsonl", ("source", "target_raw", "kind", "context"))


def stats(folder: Path) -> dict[str, Json]:
    """graph_stats.json: how many nodes, edges and broken links there are of each type."""
    path = folder / "graph_stats.json"
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise _absent(folder) from None
    except ValueError:
        raise _damaged(path) from None
    if not isinstance(found, dict):
        raise _damaged(path)
    return found


def check_types(
    what: str, asked: Iterable[str], named: Iterable[str], found: Iterable[str]
) -> None:
    """Raise UsageError, with a near one, for a type that is neither `named` nor `found`.

    what: of what the types are, "node" or "edge".
    """
    known = list(dict.fromkeys((*named, *found)))
    for kind in asked:
        if kind not in known:
            near = difflib.get_close_matches(kind, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"the graph has no {what} type {kind!r}; {hint}")


def pagerank(names: Sequence[str], links: Sequence[tuple[str, str]]) -> dict[str, float]:
    """The PageRank of each name, as networkx.pagerank has it (which needs scipy).

    links: pairs of names; two equal ones count twice. Damping is 0.85, what a name without links
    has to give goes to all; the ranks sum to 1.
    """
    count = len(names)
    if not count:
        return {}
    at = {name: index for index, name in enumerate(names)}
    pairs = np.array([(at[a], at[b]) for a, b in links], dtype=np.int64).reshape(-1, 2)
    source, target = pairs[:, 0], pairs[:, 1]
    out = np.bincount(source, minlength=count)
    ranks = np.full(count, 1 / count)
    for _ in range(_ITERATIONS):
        before = ranks
        flow = np.bincount(target, before[source] / out[source], minlength=count)
        ranks = _DAMPING * (flow + before[out == 0].sum() / count) + (1 - _DAMPING) / count
        if np.abs(ranks - before).sum() < _TOLERANCE:
            break
    return {name: float(rank) for name, rank in zip(names, ranks, strict=True)}


def _records(path: Path, required: Sequence[str]) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            for line in file:
                record = json.loads(line)
                for key in required:
                    record[key]
                yield record
    except FileNotFoundError:
        raise _absent(path.parent) from None
    except (ValueError, KeyError, TypeError, IndexError):
        raise _damaged(path) from None


def _absent(folder: Path) -> CortexError:
    return CortexError(f"no link graph in {folder}; run: cortex graph build")


def _damaged(path: Path) -> Damaged:
    return Damaged(f"{path} is damaged; run: cortex graph build --force")
