"""What the page knows of the graph: columns of numbers and texts, every text without secrets."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..graph_layout import place
from ..redaction import governing, mask, occurrences, redact, secret_kind
from ..types import Json

if TYPE_CHECKING:
    from ..protocols import Progress

ORPHAN, STALE, CONTRADICTION, BROKEN, NO_TYPE, NO_STATUS = 1, 2, 4, 8, 16, 32

_EXCERPT = 900  # characters of a note's text at most
_EXCERPTS = 5_000_000  # characters of all together: a page of 10,000 notes stays under 15 MB
_BEYOND = 1500  # characters that are looked at behind the end of an excerpt, for what is secret
_PROPERTIES = 24  # of a note, and
_VALUE = 300  # characters of one
_LABEL = 300
_HIDDEN = ("tags", "tag", "aliases", "alias", "cssclasses", "cssclass")
# How hard a link pulls its ends together; a written one by 1.
_PULLS = {"mentions": 0.25, "tagged_with": 0.2, "contains": 1.0}
_GROUP = 4  # notes that make a group, at least
_WIDE = 16.0  # units of radius of the best linked note, at most

PARTS = 2  # of the work: the places, then the texts and groups

_Record = Mapping[str, Any]


def page_data(
    graph: _Record,
    notes: Iterable[_Record],
    chunks: Iterable[_Record],
    *,
    title: str,
    diagnostics: bool = False,
    centre: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Json]:
    """The document that the page reads; equal for equal input.

    graph: of graph_export.d3_document, with diagnostics. notes, chunks: the records of notes.jsonl
    and chunks.jsonl in their order. diagnostics: whether problems are marked at first. centre: id
    of the node that is chosen at first. progress: is advanced after each of PARTS.

    nodes and links are columns of equal length; type, status, tag, group and kind are indices into
    `names`, where 0 of fmTypes, statuses and groups is "". A group is of notes that hang together,
    and has the name of the one with most links. x, y and radius are in units of the map. flags
    are bits: 1 orphan, 2 stale, 4 contradiction, 8 broken links, 16 no type, 32 no status.
    """
    nodes, edges = graph["nodes"], graph["edges"]
    at = {node["id"]: index for index, node in enumerate(nodes)}
    types, fm_types, statuses, tags, kinds = _Words(), _Words(""), _Words(""), _Words(), _Words()
    links = [(at[edge["source"]], at[edge["target"]]) for edge in edges]
    link_kinds = [kinds.of(edge["type"]) for edge in edges]
    radii = _radii(nodes, edges, at)
    points = place(len(nodes), links, [_PULLS.get(edge["type"], 1.0) for edge in edges], radii)
    if progress:
        progress.advance()
    wrong = {edge["source"] for edge in edges if edge["type"] in _FAULTS}
    own = [node for node in nodes if node["type"] == "note"]
    excerpts = _excerpts(chunks, min(_EXCERPT, _EXCERPTS // max(len(own), 1)))
    properties = {note["file"]: _properties(note.get("frontmatter") or {}) for note in notes}
    is_note = [node["type"] == "note" for node in nodes]
    columns: dict[str, list[Json]] = {
        "label": [_shown(node["label"], _LABEL) for node in nodes],
        "type": [types.of(node["type"]) for node in nodes],
        "file": [_shown(node["file"], 1000) if node.get("file") else None for node in nodes],
        "fmType": [fm_types.of(_word(node.get("fm_type"))) for node in nodes],
        "status": [statuses.of(_word(node.get("fm_status"))) for node in nodes],
        "tags": [
            [tags.of(_shown(tag, _LABEL)) for tag in node.get("tags") or ()] for node in nodes
        ],
        "flags": [_flags(node, node["id"] in wrong) for node in nodes],
        "fault": [node.get("kind") for node in nodes],
        "excerpt": [
            excerpts.get(node["file"], "") if of_note else ""
            for node, of_note in zip(nodes, is_note, strict=True)
        ],
        "properties": [
            properties.get(node["file"], []) if of_note else []
            for node, of_note in zip(nodes, is_note, strict=True)
        ],
        "x": [round(float(x), 1) for x in points[:, 0]],
        "y": [round(float(y), 1) for y in points[:, 1]],
        "radius": [round(radius, 1) for radius in radii],
    }
    pulls = [_PULLS.get(edge["type"], 1.0) for edge in edges]
    groups = _Words("")
    columns["group"] = [groups.of(name) for name in _groups(columns, is_note, links, pulls)]
    if progress:
        progress.advance()
    many = Counter(edge["type"] for edge in edges)
    written = sum(many[kind] for kind in many if kind not in _PULLS and kind not in _GHOSTLY)
    return {
        "schema_version": 1,
        "title": _shown(title, _LABEL),
        "notes": len(own),
        "diagnostics": diagnostics,
        "mentions": 2 * written < len(own),  # shown at first: hardly anything else joins the notes
        "centre": at[centre] if centre is not None else None,
        "names": {
            "types": types.words,
            "fmTypes": fm_types.words,
            "statuses": statuses.words,
            "tags": tags.words,
            "groups": groups.words,
            "kinds": kinds.words,
        },
        "nodes": columns,
        "links": {
            "from": [source for source, _ in links],
            "to": [target for _, target in links],
            "kind": link_kinds,
        },
    }


_FAULTS = ("diagnostic_unresolved", "diagnostic_ambiguous")
_GHOSTLY = (*_FAULTS, "diagnostic_candidate")


class _Words:
    """Words and the numbers they got, in the order they came."""

    def __init__(self, *first: str) -> None:
        self.words = list(first)
        self._at = {word: index for index, word in enumerate(first)}

    def of(self, word: str) -> int:
        index = self._at.setdefault(word, len(self.words))
        if index == len(self.words):
            self.words.append(word)
        return index


def _radii(
    nodes: Sequence[_Record], edges: Sequence[_Record], at: Mapping[str, int]
) -> list[float]:
    """By the root of how many links a note has; tags less, what lies inside a note little."""
    joined = [0.0] * len(nodes)
    for edge in edges:
        weight = {"contains": 0.0, "mentions": 0.3}.get(edge["type"], 1.0)
        for end in (edge["source"], edge["target"]):
            joined[at[end]] += weight
    shares = {"note": 1.35, "tag": 0.5, "attachment": 0.5}
    return [
        min(_WIDE, 3.6 + shares.get(node["type"], 0.2) * math.sqrt(many))
        if node["type"] in shares
        else 3.0
        for node, many in zip(nodes, joined, strict=True)
    ]


def _groups(
    columns: Mapping[str, Sequence[Any]],
    is_note: Sequence[bool],
    links: Sequence[tuple[int, int]],
    pulls: Sequence[float],
) -> list[str]:
    """For each node the name of its group (Louvain's method), "" where that has few notes."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(is_note)))
    for (source, target), pull in zip(links, pulls, strict=True):
        if source != target:
            before = graph.get_edge_data(source, target, {"weight": 0})["weight"]
            graph.add_edge(source, target, weight=before + pull)
    named = [""] * len(is_note)
    found = nx.community.louvain_communities(graph, seed=7) if links else []
    sizes = columns["radius"]
    for group in sorted((sorted(one) for one in found), key=lambda one: (-len(one), one)):
        notes = [node for node in group if is_note[node]]
        if len(notes) >= _GROUP:
            hub = min(notes, key=lambda node: (-sizes[node], node))
            for node in group:
                named[node] = columns["label"][hub]
    return named


def _flags(node: _Record, has_broken_links: bool) -> int:
    if node["type"] != "note":
        return 0
    return (
        (ORPHAN if node.get("orphan") else 0)
        | (STALE if node.get("stale") else 0)
        | (CONTRADICTION if node.get("contradiction") else 0)
        | (BROKEN if has_broken_links else 0)
        | (0 if _word(node.get("fm_type")) else NO_TYPE)
        | (0 if _word(node.get("fm_status")) else NO_STATUS)
    )


def _excerpts(chunks: Iterable[_Record], limit: int) -> dict[str, str]:
    """Note -> the beginning of its text, masked before it is cut: a part of a key is a secret too.

    Chunks of a note follow each other; those behind the limit are not looked at. One whose text is
    its heading stands for a section without any.
    """
    found: dict[str, str] = {}
    for chunk in chunks:
        name = chunk["file"]
        if chunk["text"] in (chunk.get("heading_path") or ())[-1:]:
            continue
        before = found.get(name, "")
        if len(before) >= limit:
            continue
        text = _head(str(chunk["text"]), limit + _BEYOND)
        text = redact(text, occurrences(text, chunk.get("secrets") or ()))[0].strip()
        if text:
            found[name] = f"{before}\n\n{text}" if before else text
    return {name: _cut(text, limit) for name, text in found.items()}


def _head(text: str, size: int) -> str:
    """The first `size` characters, up to the last that can stand in no key: none is cut in two."""
    if len(text) <= size:
        return text
    found = _WHOLE.match(text[:size])
    return found[0] if found else ""


_WHOLE = re.compile(r".*[\s\u0080-\U0010ffff]", re.DOTALL)


def _properties(frontmatter: Mapping[str, Json]) -> list[list[str]]:
    shown = []
    for name, value in frontmatter.items():
        if name.casefold() in _HIDDEN or value in (None, "", [], {}):
            continue
        text = ", ".join(_texts(name, value))
        shown.append([_shown(str(name), 80), _cut(text, _VALUE)])
    return shown[:_PROPERTIES]


def _texts(name: str, value: Json, depth: int = 0) -> Iterator[str]:
    """The values below a property as text, secrets masked by what stands in them and their name."""
    if isinstance(value, Mapping) and depth < 6:
        for key, part in value.items():
            for text in _texts(governing(name, str(key)), part, depth + 1):
                yield f"{redact(str(key))[0]}: {text}"
    elif isinstance(value, list) and depth < 6:
        for part in value:
            yield from _texts(name, part, depth + 1)
    else:
        text = json.dumps(value) if isinstance(value, bool) else str("" if value is None else value)
        kind = secret_kind(name, text)
        yield mask(kind) if kind else redact(text)[0]


def _word(value: Json) -> str:
    """A type or status as one word of a filter: of a list its first, of a link what it shows."""
    while isinstance(value, list):
        value = value[0] if value else None
    if value is None or isinstance(value, Mapping):
        return ""
    text = str(value).strip()
    link = _LINK.fullmatch(text)
    return _shown((link[2] or link[1]).strip() if link else text, 60)


_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]")


def _shown(text: str, limit: int) -> str:
    return _cut(redact(text)[0], limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    short = text[: limit - 1]
    at = max(short.rfind(" "), short.rfind("\n"))
    return (short[:at] if at > limit * 0.7 else short).rstrip() + "…"
