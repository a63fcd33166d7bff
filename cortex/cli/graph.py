"""`cortex graph`: build the link graph, report on it, export it."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict

from . import graph_export, graph_reports, graph_viewer
from .options import add_json
from .output import counted, print_json
from .progress import progress_for

EXAMPLES = (
    ("graph build", "resolve all links; run it after cortex index"),
    *graph_reports.EXAMPLES,
    *graph_export.EXAMPLES,
    *graph_viewer.EXAMPLES,
)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Build the graph of notes, tags and links, and look at it. Every report only reads what "
        "the last build wrote, and says so when notes changed since; none changes a note. Exit "
        "codes: 0 done (also when a report is empty), 1 no graph was built yet, 2 asked wrongly."
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    build = actions.add_parser(
        "build",
        help="resolve all links to nodes, edges and broken links",
        description="Resolve all links of the index to nodes, edges and broken links, and write "
        "graph_nodes, graph_edges, graph_broken and graph_names.jsonl and graph_stats.json into "
        "the state folder, all at once. Needs an index; never touches a note.",
    )
    build.add_argument("--force", action="store_true", help="accepted; it is always built in full")
    add_json(build)
    build.set_defaults(handler=_build)
    graph_reports.add(actions)
    graph_export.add(actions)
    graph_viewer.add(actions)


def run(args: argparse.Namespace) -> int:
    code: int = args.handler(args)
    return code


def _build(args: argparse.Namespace) -> int:
    from ..app import Cortex

    report = Cortex.open(args.config, env=os.environ).build_graph(progress=progress_for(args))
    if args.json:
        print_json(asdict(report))
    else:
        print(
            f"{counted(report.notes, 'note')}: {counted(report.nodes, 'node')}, "
            f"{counted(report.edges, 'edge')}, {counted(report.broken, 'broken link')} "
            f"({report.seconds:.1f} s)"
        )
    return 0
