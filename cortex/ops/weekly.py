"""The weekly review: what in the vault wants a person's hand. It writes nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import graph_artifacts
from ..checks.freshness import Freshness, behind
from ..errors import CortexError
from ..state import State
from ..text import one_line
from ..types import Json

STALE_DAYS, STALE_MIN_IMPORTANCE, CONSOLIDATION_MIN_DEGREE = 180, 4.0, 3
LEAST_NEIGHBOURS = 2  # of a note that others could be drawn together around
_PROPOSED = (
    "Notes with {} links or more (cron.weekly_review.consolidation_min_degree). Each might be "
    "merged with some of what stands beside it, or become a map of that."
)
_SHOWN = 20  # rows of a section in Markdown; the document has all

Rows = list[dict[str, Json]]


@dataclass(slots=True)
class WeeklyReport:
    """Rows as in the reports of graph_diagnostics; what there is none of is an empty list."""

    dry_run: bool
    graph_stats: dict[str, Json] = field(default_factory=dict)
    duplicate_groups: Rows = field(default_factory=list)
    stale_high_importance: Rows = field(default_factory=list)
    broken_references: Rows = field(default_factory=list)
    consolidation_proposals: Rows = field(default_factory=list)
    orphan_nodes: Rows = field(default_factory=list)
    contradiction_clusters: Rows = field(default_factory=list)
    parameters: dict[str, Json] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)  # the graph is behind the notes
    duration_seconds: float = 0.0


def weekly(
    graph: Callable[..., dict[str, Json]],
    freshness: Callable[[], Freshness | None],
    state: State,
    *,
    dry_run: bool = True,
    stale_days: int = STALE_DAYS,
    stale_min_importance: float = STALE_MIN_IMPORTANCE,
    consolidation_min_degree: int = CONSOLIDATION_MIN_DEGREE,
) -> WeeklyReport:
    """Review the vault by its link graph, as far as that is built.

    graph, freshness: of Cortex; a report by its name, and how far the index is behind. state:
    where the artifacts are. dry_run changes a label and nothing else: no run ever writes.
    Duplicates leave archived notes out, which keep the title of what they became. Raises
    CortexError without a graph.
    """
    began = time.monotonic()
    status = graph("status")
    stamp = state.stamp("graph")
    if stamp is None:
        raise CortexError("there is no graph yet; run: cortex graph build")
    folder = stamp.folder
    archived = _archived(folder)
    groups = []
    for group in graph("duplicates")["duplicates"]:
        nodes = [node for node in group["nodes"] if node not in archived]
        if len(nodes) > 1:
            groups.append(
                {name: group[name] for name in ("kind", "key", "name")} | {"nodes": nodes}
            )
    stale = graph("stale", stale_days=stale_days)["stale"]
    return WeeklyReport(
        dry_run=dry_run,
        graph_stats={name: value for name, value in status.items() if name != "hubs"},
        duplicate_groups=groups,
        stale_high_importance=[
            row for row in stale if (row["importance"] or 0) >= stale_min_importance
        ],
        broken_references=graph("broken")["broken"],
        consolidation_proposals=_proposals(folder, consolidation_min_degree),
        orphan_nodes=graph("orphans")["orphans"],
        contradiction_clusters=_clusters(graph("contradictions")["contradictions"]),
        parameters={
            "stale_days": stale_days,
            "stale_min_importance": stale_min_importance,
            "consolidation_min_degree": consolidation_min_degree,
        },
        warnings=list(behind(freshness, state)),
        duration_seconds=round(time.monotonic() - began, 3),
    )


def as_markdown(report: WeeklyReport) -> str:
    """The review as a document: at most 20 rows a section, and how many more there are."""
    counts = [
        ("groups of duplicates", report.duplicate_groups),
        ("stale notes of high importance", report.stale_high_importance),
        ("broken references", report.broken_references),
        ("proposals to consolidate", report.consolidation_proposals),
        ("orphans", report.orphan_nodes),
        ("clusters of contradictions", report.contradiction_clusters),
    ]
    kind = "dry run" if report.dry_run else "report"
    stats, days = report.graph_stats, report.parameters["stale_days"]
    least = report.parameters["stale_min_importance"]
    sections = [
        ("Summary", [f"{what}: {len(rows):,}" for what, rows in counts]),
        (
            "Graph Stats",
            [
                f"{stats.get(total, 0):,} {what}{_by(stats.get(kinds))}"
                for total, what, kinds in (
                    ("node_count", "nodes", "nodes_by_type"),
                    ("edge_count", "edges", "edges_by_type"),
                    ("broken_count", "broken links", "broken_by_kind"),
                )
            ],
        ),
        ("Duplicates", _shown(report.duplicate_groups, _duplicate)),
        ("Stale High-Importance Notes", _shown(report.stale_high_importance, _stale)),
        ("Broken References", _shown(report.broken_references, _broken)),
        ("Consolidation Proposals", _shown(report.consolidation_proposals, _proposal)),
        ("Orphan Nodes", _shown(report.orphan_nodes, lambda row: _code(row["file"]))),
        ("Contradictions", _shown(report.contradiction_clusters, _cluster)),
        (
            "Runtime",
            [
                f"{report.duration_seconds:.1f} s; nothing was written",
                f"stale: not verified for {days} days, importance {least:g} or more",
            ],
        ),
    ]
    lines = [f"# Weekly review ({kind})"]
    for warning in report.warnings:
        lines += ["", f"> {one_line(warning)}"]
    for title, rows in sections:
        lines += ["", f"## {title}", ""]
        if rows and title == "Consolidation Proposals":
            lines += [_PROPOSED.format(report.parameters["consolidation_min_degree"]), ""]
        lines += [f"- {row}" for row in rows or ["none"]]
    return "\n".join(lines)


def _archived(folder: Path) -> set[str]:
    return {
        node["id"]
        for node in graph_artifacts.nodes(folder)
        if str((node.get("metadata") or {}).get("status") or "").strip().casefold() == "archived"
    }


def _proposals(folder: Path, min_degree: int) -> Rows:
    """Notes with many written links, and what they could be drawn together with; most first.

    degree: the notes and attachments it is joined to, once for each direction.
    """
    nodes = {
        node["id"]: node
        for node in graph_artifacts.nodes(folder)
        if node["type"] in ("note", "attachment")
    }
    degrees: dict[str, int] = dict.fromkeys(nodes, 0)
    beside: dict[str, set[str]] = {}
    pairs = {
        (edge["source"], edge["target"])
        for edge in graph_artifacts.edges(folder)
        if edge["type"] not in graph_artifacts.NOT_WRITTEN
    }
    for source, target in pairs:
        if source == target or source not in nodes or target not in nodes:
            continue
        for one, other in ((source, target), (target, source)):
            degrees[one] += 1
            if nodes[other]["type"] == "note":
                beside.setdefault(one, set()).add(other)
    rows = [
        {
            "parent": node,
            "label": nodes[node]["label"],
            "degree": degree,
            "note_neighbor_count": len(beside.get(node, ())),
            "neighbors": sorted(beside.get(node, ())),
        }
        for node, degree in degrees.items()
        if nodes[node]["type"] == "note"
        and degree >= min_degree
        and len(beside.get(node, ())) >= LEAST_NEIGHBOURS
    ]
    return sorted(rows, key=lambda row: (-row["degree"], row["parent"]))


def _clusters(pairs: Iterable[dict[str, Any]]) -> Rows:
    """Contradictions that hang together: {nodes, labels, pairs}, by their first node."""
    rows = sorted(pairs, key=lambda row: (row["source"], row["target"]))
    leader: dict[str, str] = {}

    def first(node: str) -> str:
        while leader.setdefault(node, node) != node:
            node = leader[node]
        return node

    for row in rows:
        one, other = sorted((first(row["source"]), first(row["target"])))
        leader[other] = one
    labels = {row[end]: row[f"{end}_label"] for row in rows for end in ("source", "target")}
    clusters: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        clusters.setdefault(first(row["source"]), []).append(row)
    found: Rows = []
    for members in clusters.values():
        nodes = sorted({row[end] for row in members for end in ("source", "target")})
        found.append({"nodes": nodes, "labels": [labels[n] for n in nodes], "pairs": members})
    return sorted(found, key=lambda cluster: cluster["nodes"])


def _shown(rows: Rows, line: Callable[[dict[str, Any]], str]) -> list[str]:
    lines = [line(row) for row in rows[:_SHOWN]]
    return lines + ([f"and {len(rows) - _SHOWN:,} more"] if len(rows) > _SHOWN else [])


def _by(kinds: Json) -> str:
    parts = ", ".join(f"{kind} {count:,}" for kind, count in (kinds or {}).items())
    return f" ({parts})" if parts else ""


def _code(text: str) -> str:
    """A name out of the vault, so that nothing in it is Markdown."""
    flat = one_line(text)
    fence = "`"
    while fence in flat:
        fence += "`"
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def _paths(nodes: Collection[str]) -> str:
    return ", ".join(_code(node.removeprefix("note:")) for node in nodes)


def _duplicate(row: dict[str, Any]) -> str:
    kinds = {"title": "title", "alias": "alias", "content_hash": "text"}
    name = f" {_code(row['name'])}" if row["kind"] in ("title", "alias") else ""
    return f"same {kinds.get(row['kind'], row['kind'])}{name}: {_paths(row['nodes'])}"


def _stale(row: dict[str, Any]) -> str:
    days = row["days_since_verified"]
    since = f"{days:,} days" if days is not None else str(row["reason"]).replace("_", " ")
    return f"{_code(row['file'])}: {since}, importance {row['importance']:g}"


def _broken(row: dict[str, Any]) -> str:
    line = f":{row['line']}" if row.get("line") else ""
    meant = f"; did you mean {_code(row['suggestion'])}?" if row.get("suggestion") else ""
    target = _code(row["target_raw"])
    return f"{_code(row['source'] + line)}: {target} ({row['kind'].replace('_', ' ')}){meant}"


def _proposal(row: dict[str, Any]) -> str:
    shown = row["neighbors"][:5]
    more = f" and {len(row['neighbors']) - 5:,} more" if len(row["neighbors"]) > 5 else ""
    path = _code(row["parent"].removeprefix("note:"))
    return f"{path}: {row['degree']:,} links; beside it {_paths(shown)}{more}"


def _cluster(row: dict[str, Any]) -> str:
    pairs = row["pairs"]
    return "; ".join(
        f"{_paths([pair['source']])} contradicts {_paths([pair['target']])}" for pair in pairs
    )
