"""What the link graph shows about a vault: read-only, over the artifacts of one folder.

Every function takes the folder that holds graph_nodes.jsonl, graph_edges.jsonl, graph_broken.jsonl
and graph_stats.json, and returns what json.dumps takes; what there is none of is an empty list.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import CortexError, Damaged
from .types import Json

if TYPE_CHECKING:
    import networkx as nx

_NOT_WRITTEN = ("contains", "mentions", "tagged_with")  # edge types that no link between notes is
_HUBS_SHOWN = 10
_DAMPING = 0.85
_ITERATIONS = 100
_TOLERANCE = 1e-9  # of the summed change of the ranks, which sum to 1


def status(folder: Path) -> dict[str, Json]:
    """The counts of graph_stats.json, how many notes are orphans, and the notes most linked."""
    try:
        stats = json.loads((folder / "graph_stats.json").read_text("utf-8"))
    except FileNotFoundError:
        raise _absent(folder) from None
    except ValueError:
        raise _damaged(folder / "graph_stats.json") from None
    graph = _note_graph(folder)
    hubs = [hub for hub in _by_centrality(graph, _HUBS_SHOWN, {}) if hub["degree"]]
    return {**stats, "orphan_count": len(_unlinked(graph)), "hubs": hubs}


def broken(folder: Path) -> list[dict[str, Json]]:
    """The links that lead nowhere or to more than one note, by note; as in graph_broken.jsonl."""
    return list(_records(folder / "graph_broken.jsonl"))


def orphans(folder: Path) -> list[dict[str, Json]]:
    """The notes that no written link leaves for, or reaches from, another note; by path.

    Tags and implied links do not make a note less of an orphan, nor does a link to an attachment:
    the list is for a person who wants every note to hang together by hand.
    """
    graph = _note_graph(folder)
    return [{"node_id": node, **graph.nodes[node]} for node in _unlinked(graph)]


def centrality(folder: Path, limit: int = 20, pagerank: bool = False) -> list[dict[str, Json]]:
    """The `limit` notes with the most neighbours by written links, most first, ties by id.

    Two notes count once for each direction, however many links join them. pagerank: add it
    (damping 0.85; the ranks of all notes sum to 1) and go by it instead.
    """
    graph = _note_graph(folder)
    return _by_centrality(graph, limit, _pagerank(graph) if pagerank else {})


def _unlinked(graph: nx.DiGraph[str]) -> list[str]:
    return sorted(node for node, degree in graph.degree() if degree == 0)


def _by_centrality(
    graph: nx.DiGraph[str], limit: int, ranks: Mapping[str, float]
) -> list[dict[str, Json]]:
    degrees = dict(graph.degree())
    best = heapq.nsmallest(max(0, limit), graph, key=lambda node: (-(ranks or degrees)[node], node))
    return [
        {
            "node_id": node,
            **graph.nodes[node],
            "degree": degrees[node],
            "in_degree": graph.in_degree(node),
            "out_degree": graph.out_degree(node),
        }
        | ({"pagerank": ranks[node]} if ranks else {})
        for node in best
    ]


def _note_graph(folder: Path) -> nx.DiGraph[str]:
    """The notes and the written links between them; self links left out."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in _records(folder / "graph_nodes.jsonl"):
        if node["type"] == "note":
            graph.add_node(node["id"], label=node["label"], file=node["file"])
    for edge in _records(folder / "graph_edges.jsonl"):
        source, target = edge["source"], edge["target"]
        is_between_notes = source != target and source in graph and target in graph
        if is_between_notes and edge["type"] not in _NOT_WRITTEN:
            graph.add_edge(source, target)
    return graph


def _pagerank(graph: nx.DiGraph[str]) -> dict[str, float]:
    """networkx.pagerank, which needs scipy; the default install does not have that."""
    nodes = list(graph)
    if not nodes:
        return {}
    at = {node: index for index, node in enumerate(nodes)}
    pairs = np.array([(at[a], at[b]) for a, b in graph.edges], dtype=np.int64).reshape(-1, 2)
    source, target = pairs[:, 0], pairs[:, 1]
    count = len(nodes)
    out = np.bincount(source, minlength=count)
    ranks = np.full(count, 1 / count)
    for _ in range(_ITERATIONS):
        before = ranks
        flow = np.bincount(target, before[source] / out[source], minlength=count)
        ranks = _DAMPING * (flow + before[out == 0].sum() / count) + (1 - _DAMPING) / count
        if np.abs(ranks - before).sum() < _TOLERANCE:
            break
    return {node: float(rank) for node, rank in zip(nodes, ranks, strict=True)}


def _records(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            for line in file:
                yield json.loads(line)
    except FileNotFoundError:
        raise _absent(path.parent) from None
    except ValueError:
        raise _damaged(path) from None


def _absent(folder: Path) -> CortexError:
    return CortexError(f"no link graph in {folder}; run: cortex graph build")


def _damaged(path: Path) -> Damaged:
    return Damaged(f"{path} is damaged; run: cortex graph build --force")
