"""The graph as d3 and most drawing libraries want it: flat nodes, edges by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..types import Json
from .selection import DIAGNOSTIC, EVERYTHING, Selection, select


def d3_document(
    folder: Path,
    *,
    selection: Selection = EVERYTHING,
    diagnostics: bool = False,
    pagerank: bool = False,
    stale: Collection[str] = (),
) -> dict[str, Json]:
    """{nodes, edges, stats} of the graph in `folder`; nodes by id, edges by source, target, type.

    A node: id (`note:PATH`, `tag:NAME`, `heading:PATH#A#B`, `block:PATH#^ID`, `attachment:PATH`),
    label, type, file (vault-relative; None for tags), degree, in_degree and out_degree (edges of
    this document, each once; in + out = degree), fm_status, fm_type, importance and last_verified
    (of the frontmatter; None where it says nothing), tags (labels, sorted). With pagerank also
    pagerank, over this document, summing to 1. An edge: source, target, type. stats: node_count,
    edge_count, filtered.

    diagnostics adds to nodes, where it holds, `orphan`, `stale` (those whose path is in `stale`)
    and `contradiction`: true. What a broken link names becomes a node `diagnostic:KIND:DIGEST` of
    type "diagnostic" with `kind` (unresolved, ambiguous, missing_heading, missing_block or
    missing_attachment) and `visual` ("red", of ambiguous "orange"), the same node for the same
    words; edges `diagnostic_unresolved` or `diagnostic_ambiguous` lead to it, and from an ambiguous
    one `diagnostic_candidate` to each note that could be meant. These edges count in the degrees of
    diagnostic nodes alone. stats.diagnostics: {each kind: broken links, orphans: notes}.

    Raises UsageError for a type or node that there is not, CortexError when no graph was built.
    """
    part = select(folder, selection, diagnostics=diagnostics)
    ranks = part.pagerank() if pagerank else {}
    incoming: Counter[str] = Counter()
    outgoing: Counter[str] = Counter()
    torn: set[str] = set()  # notes at either end of a contradiction
    for edge in part.edges:
        ends, is_real = (edge["source"], edge["target"]), not edge["type"].startswith(DIAGNOSTIC)
        if is_real or ends[0].startswith(f"{DIAGNOSTIC}:"):
            outgoing[ends[0]] += 1
        if is_real or ends[1].startswith(f"{DIAGNOSTIC}:"):
            incoming[ends[1]] += 1
        if edge["type"] == "contradicts":
            torn.update(ends)
    nodes = []
    for node in part.nodes:
        name, meta = node["id"], node.get("metadata") or {}
        shown: dict[str, Any] = {
            "id": name,
            "label": node["label"],
            "type": node["type"],
            "file": node.get("file"),
            "degree": incoming[name] + outgoing[name],
            "in_degree": incoming[name],
            "out_degree": outgoing[name],
            "fm_status": meta.get("status"),
            "fm_type": meta.get("type"),
            "importance": meta.get("importance"),
            "last_verified": meta.get("last_verified"),
            "tags": list(part.tags.get(name, ())),
        }
        if node["type"] == DIAGNOSTIC:
            shown |= {"kind": meta["kind"], "visual": meta["visual"]}
        if diagnostics:
            flags = {
                "orphan": name in part.orphans,
                "stale": node["type"] == "note" and node.get("file") in stale,
                "contradiction": name in torn,
            }
            shown |= {flag: True for flag, holds in flags.items() if holds}
        if ranks:
            shown["pagerank"] = ranks[name]
        nodes.append(shown)
    edges = [{key: edge[key] for key in ("source", "target", "type")} for edge in part.edges]
    return {"nodes": nodes, "edges": edges, "stats": part.stats()}
