"""The link graph for other programs: JSON, d3-json, Mermaid, GraphML and DOT.

Every format draws the same part of the graph, see `Selection`; equal input gives equal text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from ..errors import UsageError
from ..graph_artifacts import NODE_TYPES
from ..types import Json
from .d3 import d3_document
from .diagrams import DIRECTIONS, dot, mermaid
from .graphml import graphml
from .selection import EDGE_TYPES, EVERYTHING, Selection, Subgraph, select

FORMATS = ("json", "d3-json", "mermaid", "graphml", "dot")

__all__ = (
    "DIRECTIONS",
    "EDGE_TYPES",
    "EVERYTHING",
    "FORMATS",
    "NODE_TYPES",
    "Selection",
    "d3_document",
    "exported",
    "json_document",
)


def exported(
    folder: Path,
    form: str,
    *,
    selection: Selection = EVERYTHING,
    diagnostics: bool = False,
    pagerank: bool = False,
    direction: str = "LR",
    stale: Collection[str] = (),
) -> str:
    """The graph of `folder` in one of FORMATS, as text that ends with a line end.

    pagerank: of each node, in json, d3-json and graphml. direction: one of DIRECTIONS, of mermaid
    and dot. The rest is as of d3_document. Raises UsageError for a format, type, node or direction
    that there is not, CortexError when no graph was built.
    """
    if form == "d3-json":
        return json_text(
            d3_document(
                folder,
                selection=selection,
                diagnostics=diagnostics,
                pagerank=pagerank,
                stale=stale,
            )
        )
    if form not in FORMATS:
        raise UsageError(f"no format {form!r}; there are {', '.join(FORMATS)}")
    if direction not in DIRECTIONS:
        raise UsageError(f"no direction {direction!r}; there are {', '.join(DIRECTIONS)}")
    part = select(folder, selection, diagnostics=diagnostics)
    draw: Mapping[str, Callable[[], str]] = {
        "json": lambda: json_text(json_document(part, pagerank=pagerank)),
        "mermaid": lambda: mermaid(part, direction),
        "graphml": lambda: graphml(part, pagerank=pagerank),
        "dot": lambda: dot(part, direction),
    }
    return draw[form]()


def json_document(part: Subgraph, *, pagerank: bool = False) -> dict[str, Json]:
    """{nodes, edges, stats}: the records of the artifacts, sorted, and how many there are.

    stats: node_count, edge_count, filtered (whether something was left out by the selection), and
    diagnostics where they were asked for.
    """
    ranks = part.pagerank() if pagerank else {}
    return {
        "nodes": [
            {**node, **({"pagerank": ranks[node["id"]]} if ranks else {})} for node in part.nodes
        ],
        "edges": list(part.edges),
        "stats": part.stats(),
    }


def json_text(document: Mapping[str, Json]) -> str:
    """A document with schema_version in front, one node and one edge a line.

    What no terminal should get, and bytes of names that are not UTF-8, stand in it as escapes.
    """
    lines = ['{"schema_version": 1']
    for key, value in document.items():
        if isinstance(value, list) and value:
            rows = ",\n  ".join(map(_line, value))
            lines.append(f'"{key}": [\n  {rows}\n]')
        else:
            lines.append(f'"{key}": {_line(value)}')
    return ",\n".join(lines) + "\n}\n"


def _line(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return _BEYOND.sub(
        lambda match: match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1], text
    )


_BEYOND = re.compile("[^\x20-\x7e]")
