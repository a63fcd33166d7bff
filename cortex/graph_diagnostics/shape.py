"""How a vault hangs together: counts, orphans, and what most links join."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .. import graph_artifacts
from ..types import Json

if TYPE_CHECKING:
    import networkx as nx

_HUBS_SHOWN = 10


def status(folder: Path) -> dict[str, Json]:
    """The counts of graph_stats.json, what is wrong in numbers, and the ten notes most linked.

    unresolved_count counts all links that lead nowhere, also to a heading or file that is not
    there; the exact kinds are in broken_by_kind.
    """
    stats = graph_artifacts.stats(folder)
    graph = _graph(folder, ("note",))
    hubs = [hub for hub in _by_centrality(graph, _HUBS_SHOWN, {}, ("note",)) if hub["degree"]]
    ambiguous = stats["broken_by_kind"].get("ambiguous", 0)
    return {
        **stats,
        "unresolved_count": stats["broken_count"] - ambiguous,
        "ambiguous_count": ambiguous,
        "orphan_count": len(_unlinked(graph)),
        "contradiction_count": stats["edges_by_type"].get("contradicts", 0),
        "hubs": hubs,
    }


def orphans(folder: Path) -> list[dict[str, Json]]:
    """The notes that no written link leaves for, or reaches from, another note; by path.

    Tags and implied links do not make a note less of an orphan, nor does a link to an attachment:
    the list is for a person who wants every note to hang together by hand.
    """
    graph = _graph(folder, ("note",))
    return [
        {"node_id": node, "label": graph.nodes[node]["label"], "file": graph.nodes[node]["file"]}
        for node in _unlinked(graph)
    ]


def centrality(
    folder: Path,
    limit: int | None = 20,
    pagerank: bool = False,
    node_types: Collection[str] = ("note",),
) -> list[dict[str, Json]]:
    """The `limit` nodes of these types with the most neighbours, most first, ties by id; None: all.

    Among notes alone, neighbours are those by written links. With other types, a tag's are the
    notes that have it, and those of headings, blocks and attachments what links to them. Two nodes
    count once for each direction, however many links join them: long notes gain nothing. pagerank:
    add it (damping 0.85; the ranks of all nodes of these types, and of notes, sum to 1) and go by
    it instead. Raises UsageError for a type that there is not.
    """
    found = (node["type"] for node in graph_artifacts.nodes(folder))
    graph_artifacts.check_types("node", node_types, graph_artifacts.NODE_TYPES, found)
    graph = _graph(folder, {"note", *node_types})
    ranks = graph_artifacts.pagerank(list(graph), list(graph.edges)) if pagerank else {}
    return _by_centrality(graph, limit, ranks, node_types)


def _unlinked(graph: nx.DiGraph[str]) -> list[str]:
    return sorted(node for node, degree in graph.degree() if degree == 0)


def _by_centrality(
    graph: nx.DiGraph[str], limit: int | None, ranks: Mapping[str, float], types: Collection[str]
) -> list[dict[str, Json]]:
    degrees = dict(graph.degree())
    listed = [node for node in graph if graph.nodes[node]["type"] in types]
    best = heapq.nsmallest(
        len(listed) if limit is None else max(0, limit),
        listed,
        key=lambda node: (-(ranks or degrees)[node], node),
    )
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


def _graph(folder: Path, types: Collection[str]) -> nx.DiGraph[str]:
    """The nodes of these types, and who links to whom or has which tag; self links left out."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    for node in graph_artifacts.nodes(folder):
        if node["type"] in types:
            graph.add_node(
                node["id"], label=node["label"], file=node.get("file"), type=node["type"]
            )
    for edge in graph_artifacts.edges(folder):
        source, target = edge["source"], edge["target"]
        is_between = source != target and source in graph and target in graph
        if is_between and edge["type"] not in ("contains", "mentions"):
            graph.add_edge(source, target)
    return graph
