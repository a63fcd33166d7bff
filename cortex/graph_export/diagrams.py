"""The graph as text that other programs draw: Mermaid in Markdown, DOT by Graphviz."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from .selection import DIAGNOSTIC, Subgraph

DIRECTIONS = ("LR", "RL", "TB", "BT")
LABEL_CHARS = 40

# Node type -> what stands on either side of its label.
_SHAPES = {
    "note": ("[", "]"),
    "tag": ("([", "])"),
    "heading": ("(", ")"),
    "block": ("[/", "/]"),
    "attachment": ("[(", ")]"),
    DIAGNOSTIC: ("{{", "}}"),
}
_ARROWS = {
    "links_to": "-->",
    "embeds": "==>",
    "tagged_with": "-.-",
    "contains": "---",
    "mentions": "-.->",
}
_KEPT = " -_.,:'’()/+!?%=@~§°…–—·"  # beside letters, digits and symbols such as emoji


def mermaid(part: Subgraph, direction: str = "LR") -> str:
    """A flowchart: a subgraph and a shape for each node type, an arrow for each edge type.

    Ids are n0, n1, … in the order of the nodes. Of labels, characters that could mean something to
    Mermaid, Markdown or HTML are left out, and LABEL_CHARS are shown.
    """
    names = {str(node["id"]): f"n{at}" for at, node in enumerate(part.nodes)}
    by_type: dict[str, list[str]] = {}
    for node in part.nodes:
        before, after = _SHAPES.get(node["type"], ("[", "]"))
        label = _plain(node["label"]) or _plain(node["id"]) or node["type"]
        by_type.setdefault(node["type"], []).append(
            f'    {names[node["id"]]}{before}"{label}"{after}'
        )
    lines = [f"graph {direction}"]
    for at, kind in enumerate(sorted(by_type)):
        lines += [f'  subgraph t{at}["{_plain(kind)}"]', *by_type[kind], "  end"]
    for edge in part.edges:
        kind = edge["type"]
        arrow = _ARROWS.get(kind)
        if arrow is None:
            line = "-.->" if kind.startswith(DIAGNOSTIC) else "-->"
            arrow = f"{line}|{_plain(kind.removeprefix(DIAGNOSTIC + '_')).replace('_', ' ')}|"
        lines.append(f"  {names[edge['source']]} {arrow} {names[edge['target']]}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """On one line, cut, and without what Mermaid, Markdown or HTML would read."""
    kept = [
        char if char in _KEPT or unicodedata.category(char)[0] in "LMN" or _is_sign(char) else " "
        for char in unicodedata.normalize("NFC", text)
    ]
    words = " ".join("".join(kept).split())
    words = _LIST.sub(
        r"\1 ", words
    ).strip()  # "1. Tide" would be a list, which Mermaid does not draw
    return words if len(words) <= LABEL_CHARS else words[: LABEL_CHARS - 1].rstrip() + "…"


_LIST = re.compile(r"^(\d+)[.)]\s|^[-+]\s")


def _is_sign(char: str) -> bool:
    return ord(char) > 0x7F and unicodedata.category(char) in ("So", "Sc")


_DOT_NODES: Mapping[str, str] = {
    "note": 'shape=box, style="rounded,filled", fillcolor="#e8eef7"',
    "tag": 'shape=ellipse, style=filled, fillcolor="#e6f4ea"',
    "heading": 'shape=box, style=dashed, color="#888888"',
    "block": 'shape=parallelogram, color="#888888"',
    "attachment": 'shape=folder, style=filled, fillcolor="#f5f0e1"',
}
_DOT_EDGES: Mapping[str, str] = {
    "links_to": "",
    "embeds": "style=bold",
    "tagged_with": 'style=dotted, arrowhead=none, color="#6aa84f"',
    "contains": 'arrowhead=none, color="#bbbbbb"',
    "mentions": 'style=dashed, color="#999999"',
}
_DOT_FAULTS = {"red": "#f4c7c3", "orange": "#fce0b8"}


def dot(part: Subgraph, direction: str = "LR") -> str:
    """A digraph for Graphviz: node ids n0, n1, … with label and tooltip, the edge type as label.

    Every text is one that Graphviz shows as it is: its escapes and entities are escaped.
    """
    names = {str(node["id"]): f"n{at}" for at, node in enumerate(part.nodes)}
    lines = [
        "digraph cortex {",
        f"  graph [rankdir={direction}];",
        '  node [fontname="sans-serif", fontsize=11];',
        '  edge [fontname="sans-serif", fontsize=9];',
    ]
    for node in part.nodes:
        style = _DOT_NODES.get(node["type"], "shape=box")
        if node["type"] == DIAGNOSTIC:
            fill = _DOT_FAULTS[node["metadata"]["visual"]]
            style = f'shape=octagon, style="dashed,filled", fillcolor="{fill}"'
        label, told = _quoted(node["label"]), _quoted(node["id"])
        lines.append(f"  {names[node['id']]} [label={label}, tooltip={told}, {style}];")
    for edge in part.edges:
        label = f"label={_quoted(edge['type'].removeprefix(DIAGNOSTIC + '_'))}"
        style = _DOT_EDGES.get(edge["type"], label)
        told = f" [{style}]" if style else ""
        lines.append(f"  {names[edge['source']]} -> {names[edge['target']]}{told};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """A DOT string that is shown just so."""
    shown = re.sub("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", "\ufffd", text)
    shown = shown.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{shown}"'
