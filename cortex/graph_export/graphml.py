"""The graph as GraphML, for Gephi, yEd, networkx and the like."""

from __future__ import annotations

import io
import re
from typing import Any

from .selection import Subgraph

# What XML 1.0 cannot hold, line ends (which readers change) and halves of characters.
_NO_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def graphml(part: Subgraph, *, pagerank: bool = False) -> str:
    """A directed multigraph. Characters that XML cannot hold are U+FFFD.

    Nodes have label, type, file, status, fm_type, tags (joined with ", "), importance, confidence
    and last_verified where there are any; edges have type and count.
    """
    import networkx as nx

    ranks = part.pagerank() if pagerank else {}
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    names: dict[str, str] = {}
    for node in part.nodes:
        meta = node.get("metadata") or {}
        shown: dict[str, Any] = {
            "label": node["label"],
            "type": node["type"],
            "file": node.get("file"),
            "status": meta.get("status"),
            "fm_type": meta.get("type"),
            "tags": ", ".join(part.tags.get(node["id"], ())),
            # As text: a number in one note may be a word in another, GraphML wants one type.
            **{key: meta.get(key) for key in ("importance", "confidence", "last_verified", "kind")},
        }
        name = names[node["id"]] = _distinct(_clean(node["id"]), graph)
        graph.add_node(
            name, **{key: _clean(str(value)) for key, value in shown.items() if value or value == 0}
        )
        if ranks:
            graph.nodes[name]["pagerank"] = ranks[node["id"]]
    for edge in part.edges:
        count = int((edge.get("metadata") or {}).get("count", 1))
        ends = names[edge["source"]], names[edge["target"]]
        graph.add_edge(*ends, key=_clean(edge["type"]), type=_clean(edge["type"]), count=count)
    written = io.BytesIO()
    nx.write_graphml_xml(graph, written)  # not by lxml where that happens to be: equal bytes
    return written.getvalue().decode("utf-8").rstrip() + "\n"


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


def _distinct(name: str, taken: Any) -> str:
    """Two names may differ in nothing but what XML cannot hold."""
    count, free = 1, name
    while free in taken:
        count += 1
        free = f"{name} ({count})"
    return free
