"""How notes are joined: the shortest ways between two, and what stands around one."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from .. import graph_artifacts
from ..errors import UsageError
from ..types import Json
from .faults import broken

VIA = ("mentions", "tags")  # what else than written links may carry a way on

_Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Joined:
    """The nodes that ways may lead over, and who is joined to whom."""

    nodes: Mapping[str, _Record]
    edges: Mapping[str, Mapping[str, list[_Record]]]  # source -> target -> edges
    reverse: Mapping[str, Mapping[str, list[_Record]]]  # target -> source -> the same edges

    def beside(self, node: str) -> set[str]:
        return {*self.edges.get(node, ()), *self.reverse.get(node, ())}

    def links(self, one: str, other: str) -> list[dict[str, Json]]:
        """What joins two neighbours: type, direction as seen from `one`, count and lines."""
        found = [("out", edge) for edge in self.edges.get(one, {}).get(other, ())]
        found += [("in", edge) for edge in self.reverse.get(one, {}).get(other, ())]
        return [
            {
                "type": edge["type"],
                "direction": direction,
                "count": edge["metadata"].get("count", 1),
                "lines": edge["metadata"].get("lines", []),
            }
            for direction, edge in found
        ]


def connections(
    folder: Path, one: str, other: str, *, most: int = 3, via: Collection[str] = ()
) -> dict[str, Json]:
    """The shortest ways between two notes, given by path, over written links in both directions.

    {from, to, connected, length, paths}: length is in links, None when nothing joins them, 0 from
    a note to itself. paths: at most `most` of the shortest, {nodes, steps}, those over notes with
    fewer neighbours first (an index that links to all tells little), then by id; a step has the
    `links` between a node and the next: {type, direction, count, lines}, direction "out" when the
    node links to the next one and "in" when that links back. via: of VIA, what may carry the way
    on beside written links. Raises UsageError for a note that is not in the graph.
    """
    for name in via:
        if name not in VIA:
            raise UsageError(f"no way leads over {name!r}; there are {', '.join(VIA)}")
    types = {"note", *(("tag",) if "tags" in via else ())}
    joined = _read(folder, types, with_mentions="mentions" in via)
    start, goal = (_node_of(path, joined.nodes) for path in (one, other))
    ways = _shortest(joined, start, goal, most)
    return {
        "from": _shown(joined.nodes[start]),
        "to": _shown(joined.nodes[goal]),
        "connected": bool(ways),
        "length": len(ways[0]) - 1 if ways else None,
        "paths": [
            {
                "nodes": [_shown(joined.nodes[node]) for node in way],
                "steps": [{"links": joined.links(here, there)} for here, there in pairwise(way)],
            }
            for way in ways
        ],
    }


def _shortest(joined: _Joined, start: str, goal: str, most: int) -> list[tuple[str, ...]]:
    """At most `most` of the shortest ways, least cost first: the logarithms of neighbour counts."""
    best: dict[str, list[tuple[float, tuple[str, ...]]]] = {start: [(0.0, (start,))]}
    seen = {start}
    border = {start}
    while border and goal not in border:
        reached: dict[str, list[tuple[float, tuple[str, ...]]]] = {}
        for node in border:
            beside = joined.beside(node) - seen
            price = math.log(1 + len(joined.beside(node))) if node != start else 0.0
            for there in beside:
                reached.setdefault(there, []).extend(
                    (cost + price, (*way, there)) for cost, way in best[node]
                )
        best = {node: heapq.nsmallest(most, ways) for node, ways in reached.items()}
        border = set(best)
        seen |= border
    return [way for _, way in best.get(goal, ())]


def neighbors(folder: Path, note: str, *, depth: int = 1) -> dict[str, Json]:
    """What stands around a note, given by path: {note, depth, in, out, …}, lists by label.

    in, out: notes that link here and that are linked from here, each {node_id, label, file, links}
    where links are {type, count, lines}, written ones. mentioned_in, mentions: the same of notes
    that name this one or are named in it without a link. tags, attachments: of the note. broken:
    its links that lead nowhere. further: with a depth above 1, notes 2 to `depth` written links
    away, {node_id, label, file, distance, through}, nearest first; through is the id of a
    neighbour on the way. Raises UsageError for a note that is not in the graph.
    """
    if depth < 1:
        raise UsageError(f"depth must be at least 1, found {depth}")
    joined = _read(folder, {"note", "tag", "attachment"}, with_mentions=True)
    node = _node_of(note, joined.nodes)
    found: dict[str, list[dict[str, Json]]] = {
        name: [] for name in ("in", "out", "mentioned_in", "mentions", "tags", "attachments")
    }
    for there in sorted(joined.beside(node), key=lambda n: (joined.nodes[n]["label"], n)):
        shown = joined.nodes[there]
        for direction in ("in", "out"):
            links = [
                {key: link[key] for key in ("type", "count", "lines")}
                for link in joined.links(node, there)
                if link["direction"] == direction
            ]
            written = [link for link in links if link["type"] != "mentions"]
            implied = [link for link in links if link["type"] == "mentions"]
            place = {"tag": "tags", "attachment": "attachments"}.get(shown["type"], direction)
            if written:
                found[place].append({**_shown(shown), "links": written})
            if implied:
                place = "mentions" if direction == "out" else "mentioned_in"
                found[place].append({**_shown(shown), "links": implied})
    faulty = [link for link in broken(folder) if f"note:{link['source']}" == node]
    written_only = _read(folder, {"note"}, with_mentions=False)
    return {
        "note": _shown(joined.nodes[node]),
        "depth": depth,
        **found,
        "broken": faulty,
        "further": list(_further(written_only, node, depth)),
    }


def _further(joined: _Joined, start: str, depth: int) -> Iterator[dict[str, Json]]:
    through = {start: start}
    border = [start]
    for distance in range(1, depth + 1):
        reached: dict[str, str] = {}
        for node in sorted(border):
            for there in sorted(joined.beside(node)):
                if there not in through:
                    reached.setdefault(there, node)
        if distance > 1:
            for there in sorted(reached, key=lambda n: (joined.nodes[n]["label"], n)):
                shown = _shown(joined.nodes[there])
                yield {**shown, "distance": distance, "through": reached[there]}
        through |= reached
        border = list(reached)


def _read(folder: Path, types: Collection[str], *, with_mentions: bool) -> _Joined:
    nodes = {node["id"]: node for node in graph_artifacts.nodes(folder) if node["type"] in types}
    edges: dict[str, dict[str, list[_Record]]] = {}
    reverse: dict[str, dict[str, list[_Record]]] = {}
    for edge in graph_artifacts.edges(folder):
        source, target, kind = edge["source"], edge["target"], edge["type"]
        is_taken = source != target and source in nodes and target in nodes and kind != "contains"
        if is_taken and (with_mentions or kind != "mentions"):
            edges.setdefault(source, {}).setdefault(target, []).append(edge)
            reverse.setdefault(target, {}).setdefault(source, []).append(edge)
    return _Joined(nodes, edges, reverse)


def _node_of(path: str, nodes: Mapping[str, _Record]) -> str:
    node = f"note:{path}"
    if node not in nodes:
        raise UsageError(
            f"{path} is not in the link graph yet; run: cortex index && cortex graph build"
        )
    return node


def _shown(node: _Record) -> dict[str, Json]:
    return {"node_id": node["id"], "label": node["label"], "file": node.get("file")}
