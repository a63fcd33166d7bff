"""`cortex graph viewer`: one HTML file to look at the graph with."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .drift import told_drift
from .named import naming
from .options import add_json, at_least
from .output import counted, print_json, say, visible
from .progress import progress_for

EXAMPLES = (
    ("graph viewer --open", "write the page and look at it in the browser"),
    ("graph viewer --diagnostics -o graph.html", "with problems marked, into this folder"),
    ('graph viewer --neighborhood "Fog Bell" --depth 2', "a note and what is two links around it"),
)


def add(actions: Any) -> None:
    viewer = actions.add_parser(
        "viewer",
        help="one HTML file to look at the graph with, search and filter it",
        description="Write one HTML file that shows the graph: search, filters by type, status, "
        "tag, folder and kind of link, the text, properties and links of a note, its "
        "neighbourhood, problems. The file holds all it needs and fetches nothing, so it can be "
        "kept and passed on; with it go the beginnings of the notes' texts, in which secrets are "
        "masked by their looks. It shows what the last cortex index and cortex graph build read. "
        "Never changes a note. Exit codes: 0 done, 1 no graph was built yet or D3 is missing, "
        "2 asked wrongly.",
    )
    viewer.add_argument(
        "-o", "--output", metavar="FILE", help="where to (graph.html in the state folder)"
    )
    viewer.add_argument(
        "--neighborhood",
        metavar="NOTE",
        help="only a note (its path, name, title or alias), a #tag or a node's id, and what is "
        "joined to it in either direction",
    )
    viewer.add_argument(
        "--depth", type=at_least(1), metavar="N", help="how many links away from it (1)"
    )
    viewer.add_argument(
        "--diagnostics",
        action="store_true",
        help="open with problems marked and with what broken links name; the page can show "
        "both at any time",
    )
    viewer.add_argument("--open", action="store_true", help="open it in the browser as well")
    add_json(viewer)
    viewer.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..errors import UsageError

    if args.depth is not None and args.neighborhood is None:
        raise UsageError("--depth goes with --neighborhood; give the note that it is around")
    desk = Desk.open(args.config, env=os.environ)
    with naming(desk.cortex, args.neighborhood):
        viewer = desk.write_viewer(
            Path(args.output).expanduser() if args.output else None,
            diagnostics=args.diagnostics,
            neighborhood=args.neighborhood,
            depth=args.depth or 1,
            progress=progress_for(args),
        )
    warnings = told_drift(desk.cortex)
    if args.json:
        print_json(
            {
                "path": str(viewer.path),
                "bytes": viewer.bytes,
                "notes": viewer.notes,
                "nodes": viewer.nodes,
                "links": viewer.links,
                "broken": viewer.broken,
                "warnings": warnings,
            }
        )
    else:
        print(visible(str(viewer.path)))
        say(
            f"{counted(viewer.notes, 'note')}, {counted(viewer.links, 'link')}, "
            f"{counted(viewer.broken, 'broken link')}, {viewer.bytes / 1e6:.1f} MB"
        )
    if args.open:
        import webbrowser

        if not webbrowser.open(viewer.path.as_uri()):
            say("no browser could be started; open the file by hand")
    return 0
