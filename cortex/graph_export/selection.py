"""Which part of the link graph is exported, and what is wrong in it."""

from __future__ import annotations

import difflib
import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import graph_artifacts
from ..errors import UsageError
from ..graph_artifacts import NODE_TYPES, check_types
from ..graph_index import LIFECYCLE
from ..types import Json

EDGE_TYPES = ("links_to", "embeds", *LIFECYCLE, "tagged_with", "contains", "mentions")
DIAGNOSTIC = "diagnostic"  # the type of the nodes that stand for what a broken link names

_Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is left of a graph: what passes everything that is given here."""

    node_types: tuple[str, ...] = ()  # of NODE_TYPES; empty is all of them
    edge_types: tuple[str, ...] = ()  # of EDGE_TYPES; empty is all of them
    neighborhood: str | None = None  # id of a node: it, and what edges join to it, either way
    depth: int = 1  # how many edges away from it


EVERYTHING = Selection()


@dataclass(frozen=True)
class Subgraph:
    """The selected records, by id, and by source, target and type."""

    nodes: Sequence[_Record]
    edges: Sequence[_Record]
    filtered: bool  # whether something was asked to be left out
    orphans: frozenset[
        str
    ]  # ids of the selected notes that no written link joins, in all the graph
    faults: Mapping[str, int] | None = None  # kind of broken link -> how many; None: not asked for
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)  # note id -> labels, sorted

    @cached_property
    def real_edges(self) -> Sequence[_Record]:
        """Without those of diagnostics."""
        return [edge for edge in self.edges if not edge["type"].startswith(DIAGNOSTIC)]

    def pagerank(self) -> dict[str, float]:
        """Over the selected nodes and edges as they are, without diagnostics' edges; sums to 1."""
        links = [(edge["source"], edge["target"]) for edge in self.real_edges]
        return graph_artifacts.pagerank([node["id"] for node in self.nodes], links)

    def stats(self) -> dict[str, Json]:
        counts: dict[str, Json] = {
            "node_count": len(self.nodes),
            "edge_count": len(self.edges),
            "filtered": self.filtered,
        }
        if self.faults is not None:
            counts["diagnostics"] = {**self.faults, "orphans": len(self.orphans)}
        return counts


def select(folder: Path, selection: Selection, *, diagnostics: bool = False) -> Subgraph:
    """The part of the graph in `folder` that passes the selection; edges need both their ends.

    A neighbourhood is walked over what passes; the node that it is around stays whatever its type.
    diagnostics: add what the broken links of selected notes name, and orphans' marks. Raises
    UsageError for a type or node that there is not, CortexError when no graph was built.
    """
    known = {node["id"]: node for node in graph_artifacts.nodes(folder)}
    edges = list(graph_artifacts.edges(folder))
    check_types("node", selection.node_types, NODE_TYPES, (n["type"] for n in known.values()))
    check_types("edge", selection.edge_types, EDGE_TYPES, (edge["type"] for edge in edges))
    centre = selection.neighborhood
    if centre is not None and centre not in known:
        raise UsageError(f"there is no node {centre!r} in the graph{_near(centre, known)}")
    if selection.depth < 1:
        raise UsageError(f"depth must be at least 1, found {selection.depth}")

    kept = {
        name
        for name, node in known.items()
        if not selection.node_types or node["type"] in selection.node_types or name == centre
    }
    passing = [
        edge
        for edge in edges
        if edge["source"] in kept
        and edge["target"] in kept
        and (not selection.edge_types or edge["type"] in selection.edge_types)
    ]
    if centre is not None:
        kept = within(passing, centre, selection.depth)
        passing = [edge for edge in passing if edge["source"] in kept and edge["target"] in kept]
    tags: dict[str, list[str]] = {}
    for edge in edges:
        if edge["type"] == "tagged_with" and edge["source"] in kept and edge["target"] in known:
            tags.setdefault(edge["source"], []).append(known[edge["target"]]["label"])
    part = Subgraph(
        nodes=[node for name, node in sorted(known.items()) if name in kept],
        edges=sorted(passing, key=_place),
        filtered=selection != EVERYTHING,
        orphans=_orphans(known, edges) & kept,
        tags={note: sorted(labels) for note, labels in tags.items()},
    )
    return _with_diagnostics(part, graph_artifacts.broken(folder)) if diagnostics else part


def within(edges: Iterable[_Record], centre: str, depth: int) -> set[str]:
    """The ids of what is at most `depth` edges from `centre`, in either direction."""
    beside: dict[str, list[str]] = {}
    for edge in edges:
        beside.setdefault(edge["source"], []).append(edge["target"])
        beside.setdefault(edge["target"], []).append(edge["source"])
    found, border = {centre}, [centre]
    for _ in range(depth):
        border = list({other for node in border for other in beside.get(node, ())} - found)
        if not border:
            break
        found.update(border)
    return found


def _orphans(known: Mapping[str, _Record], edges: Iterable[_Record]) -> frozenset[str]:
    """As `cortex graph orphans` lists them: the notes that no written link joins to another."""
    notes = {name for name, node in known.items() if node["type"] == "note"}
    joined = {
        end
        for edge in edges
        if edge["type"] not in graph_artifacts.NOT_WRITTEN
        and edge["source"] in notes
        and edge["target"] in notes
        and edge["source"] != edge["target"]
        for end in (edge["source"], edge["target"])
    }
    return frozenset(notes - joined)


def _with_diagnostics(part: Subgraph, broken: Iterable[_Record]) -> Subgraph:
    """One node for each thing that broken links of selected notes name, and edges to it."""
    present = {node["id"] for node in part.nodes}
    ghosts: dict[str, dict[str, Any]] = {}
    edges: dict[tuple[str, str, str], dict[str, Any]] = {}
    faults = Counter(
        dict.fromkeys(("unresolved", "ambiguous", *("missing_" + what for what in _PLACES)), 0)
    )

    def join(source: str, target: str, kind: str, count: int) -> None:
        edge = {"source": source, "target": target, "type": kind, "metadata": {"count": count}}
        edges.setdefault(_place(edge), edge)

    for link in broken:
        source, kind = f"note:{link['source']}", link["kind"]
        if source not in present:
            continue
        faults[kind] += 1
        candidates = link.get("candidates") or []
        ghost = _ghost_id(kind, link["target_raw"], candidates)
        is_tie = kind == "ambiguous"
        ghosts.setdefault(
            ghost,
            {
                "id": ghost,
                "type": DIAGNOSTIC,
                "label": link["target_raw"],
                "metadata": {"kind": kind, "visual": "orange" if is_tie else "red"},
            },
        )
        named = f"{DIAGNOSTIC}_{'ambiguous' if is_tie else 'unresolved'}"
        join(source, ghost, named, link.get("count", 1))
        for candidate in candidates:
            if f"note:{candidate}" in present:
                join(ghost, f"note:{candidate}", f"{DIAGNOSTIC}_candidate", 1)
    return Subgraph(
        nodes=sorted([*part.nodes, *ghosts.values()], key=lambda node: str(node["id"])),
        edges=sorted([*part.edges, *edges.values()], key=_place),
        filtered=part.filtered,
        orphans=part.orphans,
        faults=faults,
        tags=part.tags,
    )


_PLACES = ("attachment", "block", "heading")


def _ghost_id(kind: str, raw: str, candidates: Sequence[str]) -> str:
    """The same for the same words; an ambiguous link means other notes from another folder."""
    told = "\n".join((kind, raw, *candidates)).encode("utf-8", "surrogatepass")
    return f"{DIAGNOSTIC}:{kind}:{hashlib.sha1(told, usedforsecurity=False).hexdigest()[:12]}"


def _place(edge: _Record) -> tuple[str, str, str]:
    return edge["source"], edge["target"], edge["type"]


def _near(node: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(node, known, n=1, cutoff=0.8)
    return f"; did you mean {near[0]}?" if near else "; see: cortex graph export --format json"
