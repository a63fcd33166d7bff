"""`cortex graph export`: the link graph for other programs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from .drift import told_drift
from .named import naming
from .options import NODE_TYPES, at_least, comma_separated, offering
from .output import say

FORMATS = ("json", "d3-json", "mermaid", "graphml", "dot")
DIRECTIONS = ("LR", "RL", "TB", "BT")
_MERMAID_EDGES, _MERMAID_CHARS = 500, 50_000  # Mermaid's own limits, where nobody raised them

EXAMPLES = (
    ("graph export --format graphml -o graph.graphml", "all of it, for Gephi or networkx"),
    (
        'graph export --format mermaid --neighborhood "Fog Bell" --node-type note',
        "a note and those around it, as a diagram for Markdown",
    ),
    (
        "graph export --format d3-json --diagnostics --pagerank -o graph.json",
        "for a drawing of one's own, broken links and orphans marked",
    ),
    ("graph export --format dot --edge-type links_to,embeds", "written links for Graphviz"),
)


def add(actions: Any) -> None:
    export = actions.add_parser(
        "export",
        help="the graph as JSON, d3-json, Mermaid, GraphML or DOT",
        description="Print the graph, or the part of it that passes all that is given, sorted and "
        "always the same for the same graph. Node types: note, tag, heading, block, attachment. "
        "Edge types: links_to, embeds, derived_from, supports, contradicts, supersedes, "
        "superseded_by, related, tagged_with, contains, mentions. Exit codes: 0 done, 1 no graph "
        "was built yet, 2 asked wrongly, as for a note or a type that there is not.",
    )
    form = export.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=FORMATS, default="json", metavar="|".join(FORMATS), help="(json)"
    )
    form.add_argument(
        "--json", action="store_const", dest="format", const="json", help="the same as without"
    )
    kept = export.add_argument(
        "--node-type", metavar="A,B", default="", help="nodes of these types alone"
    )
    offering(kept, NODE_TYPES)
    export.add_argument("--edge-type", metavar="A,B", default="", help="edges of these types alone")
    export.add_argument(
        "--neighborhood",
        metavar="NOTE",
        help="a note (its path, name, title or alias), a #tag or a node's id, and what is joined "
        "to it in either direction",
    )
    export.add_argument(
        "--depth", type=at_least(1), metavar="N", help="how many edges away from it (1)"
    )
    export.add_argument(
        "--diagnostics",
        action="store_true",
        help="add what broken links name, and mark orphans, stale notes and contradictions",
    )
    export.add_argument(
        "--pagerank", action="store_true", help="of each node, in json, d3-json and graphml"
    )
    export.add_argument(
        "--direction", choices=DIRECTIONS, default="LR", help="of mermaid and dot (LR)"
    )
    export.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write it there, not to stdout; never to a name that ends in .md, and over a file "
        "that is there only if it has the format's usual ending: .json, .mmd, .graphml, .dot",
    )
    export.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..errors import UsageError

    if args.depth is not None and args.neighborhood is None:
        raise UsageError("--depth goes with --neighborhood; give the note that it is around")
    output = Path(args.output) if args.output and args.output != "-" else None
    desk = Desk.open(args.config, env=os.environ)
    with naming(desk.cortex, args.neighborhood):
        text = desk.export_graph(
            args.format,
            output=output,
            node_types=comma_separated(args.node_type),
            edge_types=comma_separated(args.edge_type),
            neighborhood=args.neighborhood,
            depth=args.depth or 1,
            diagnostics=args.diagnostics,
            pagerank=args.pagerank,
            direction=args.direction,
        )
    if output:
        say(f"wrote {output}")
    else:
        sys.stdout.write(text)
    told_drift(desk.cortex)
    if args.format == "mermaid":
        edges = text.count("\n  n")
        if edges > _MERMAID_EDGES or len(text) > _MERMAID_CHARS:
            say(
                f"Mermaid draws at most {_MERMAID_EDGES} edges and {_MERMAID_CHARS:,} characters "
                f"unless its limits are raised, and this has {edges:,} and {len(text):,}; "
                "narrow it with --neighborhood, --node-type or --edge-type"
            )
    return 0
