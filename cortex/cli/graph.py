"""`cortex graph build | status | broken | orphans | centrality`."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from ..types import Json
from .options import add_json, at_least
from .output import counted, print_json, table, visible
from .progress import progress_for


def configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action", metavar="build | status | broken | orphans | centrality", required=True
    )
    build = actions.add_parser("build", help="resolve all links to nodes, edges and broken links")
    build.add_argument("--force", action="store_true", help="accepted; it is always built in full")
    status = actions.add_parser("status", help="how many there are of what, and the main hubs")
    broken = actions.add_parser("broken", help="links that lead nowhere, or to more than one note")
    orphans = actions.add_parser("orphans", help="notes that no link joins to another")
    central = actions.add_parser("centrality", help="the notes with the most links")
    central.add_argument("--pagerank", action="store_true", help="by PageRank, not by links")
    central.add_argument(
        "--limit", type=at_least(1), default=20, metavar="N", help="how many notes (20)"
    )
    for listing in (broken, orphans):
        listing.add_argument("--limit", type=at_least(1), metavar="N", help="how many (all)")
    for action in (build, status, broken, orphans, central):
        add_json(action)


def run(args: argparse.Namespace) -> int:
    from ..app import Cortex

    cortex = Cortex.open(args.config, env=os.environ)
    if args.action == "build":
        report = cortex.build_graph(progress=progress_for(args))
        if args.json:
            print_json(asdict(report))
        else:
            print(
                f"{counted(report.notes, 'note')}: {counted(report.nodes, 'node')}, "
                f"{counted(report.edges, 'edge')}, {counted(report.broken, 'broken link')} "
                f"({report.seconds:.1f} s)"
            )
        return 0
    if args.action == "status":
        status = cortex.graph("status")
        if args.json:
            print_json(status)
        else:
            _print_status(status)
        return 0
    is_ranked = args.action == "centrality"
    options = {"pagerank": args.pagerank, "limit": args.limit} if is_ranked else {}
    rows: list[dict[str, Json]] = cortex.graph(args.action, **options)[args.action]
    shown = rows[: args.limit]
    if args.json:
        print_json({"count": len(rows), args.action: shown})
    elif args.action == "broken":
        _print_broken(shown, len(rows))
    elif args.action == "orphans":
        print("\n".join(visible(row["file"]) for row in shown) or "no orphans")
    else:
        print(table([_central_heads(args), *(_central_cells(row) for row in shown)]))
    return 0


def _print_status(status: dict[str, Json]) -> None:
    for total, kinds, one in (
        ("node_count", "nodes_by_type", "node"),
        ("edge_count", "edges_by_type", "edge"),
        ("broken_count", "broken_by_kind", "broken link"),
    ):
        parts = ", ".join(f"{kind} {count:,}" for kind, count in status[kinds].items())
        print(visible(counted(status[total], one) + (f": {parts}" if parts else "")))
    print(counted(status["orphan_count"], "orphan"))
    if status["hubs"]:
        print("most linked:")
        print(table([[f"  {hub['degree']}", hub["file"]] for hub in status["hubs"]]))


def _print_broken(rows: list[dict[str, Json]], total: int) -> None:
    if not rows:
        print("no broken links")
    for row in rows:
        place = f"{row['source']}:{row['line']}" if row["line"] else row["source"]
        times = f", {row['count']} times" if row["count"] > 1 else ""
        print(visible(f"{place}  {row['target_raw']}  ({row['kind']}{times})"))
        if candidates := row.get("candidates"):
            print(visible(f"  could be any of: {', '.join(candidates)}"))
    if len(rows) < total:
        print(f"and {total - len(rows):,} more")


def _central_heads(args: argparse.Namespace) -> list[str]:
    return ["links", "in", "out", *(["PageRank"] if args.pagerank else []), "note"]


def _central_cells(row: dict[str, Json]) -> list[str]:
    ranks = [f"{row['pagerank']:.4f}"] if "pagerank" in row else []
    counts = [str(row[name]) for name in ("degree", "in_degree", "out_degree")]
    return [*counts, *ranks, row["file"]]
