"""Write the page that shows the link graph."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CortexError, Damaged, UsageError
from ..files import read_lines, write_text
from ..state import Stamp, State
from ..types import Json

if TYPE_CHECKING:
    from ..vault.scan import FolderRules

FILE = "graph.html"  # in the state folder, where nothing else is named
_ENDINGS = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class Viewer:
    """A page that was written, and what is in it."""

    path: Path
    bytes: int
    notes: int
    nodes: int  # notes, tags and whatever else links join; without what broken links name
    links: int  # that lead somewhere
    broken: int  # that do not, or to several notes


def write_viewer(
    state: State,
    output: Path | None,
    *,
    title: str,
    today: dt.date,
    rules: FolderRules,
    diagnostics: bool = False,
    centre: str | None = None,
    depth: int = 1,
) -> Viewer:
    """Write the page of the current graph to `output`, atomically; None is FILE in the state.

    rules: notes that they leave out have neither text nor properties in it. centre: id of a node;
    the page holds what is up to `depth` links away from it, and no more. Raises UsageError where
    `output` is no place for a page, CortexError without a graph, an index or D3.
    """
    from ..graph_diagnostics import stale
    from ..graph_export import Selection, d3_document
    from ..graph_viewer import drawing_source, page, page_data

    path = _checked(output or state.root / FILE)
    drawing = drawing_source()
    graph, index = state.stamp("graph"), state.stamp("index")
    if graph is None:
        raise CortexError("there is no graph yet; run: cortex graph build")
    if index is None:
        raise CortexError("there is no index yet; run: cortex index")
    notes = [note for note in _records(index, "notes.jsonl") if rules.takes(note["file"])]
    known = {note["file"] for note in notes}
    document = d3_document(
        graph.folder,
        selection=Selection(neighborhood=centre, depth=depth),
        diagnostics=True,
        stale={row["file"] for row in stale(notes, today)},
    )
    data = page_data(
        document,
        notes,
        (chunk for chunk in _records(index, "chunks.jsonl") if chunk["file"] in known),
        title=title,
        diagnostics=diagnostics,
        centre=centre,
    )
    text = page(data, drawing)
    write_text(path, text)
    return Viewer(
        path=path,
        bytes=len(text.encode("utf-8")),
        notes=int(data["notes"]),
        nodes=sum(node["type"] != "diagnostic" for node in document["nodes"]),
        links=sum(not edge["type"].startswith("diagnostic_") for edge in document["edges"]),
        broken=sum(
            edge["type"] in ("diagnostic_unresolved", "diagnostic_ambiguous")
            for edge in document["edges"]
        ),
    )


def _records(index: Stamp, name: str) -> Iterator[dict[str, Json]]:
    path = index.file(name)
    lines = read_lines(path)
    while True:
        try:
            record = next(lines)
        except StopIteration:
            return
        except ValueError:
            raise Damaged(f"{path} is damaged; run: cortex index --force") from None
        yield record


def _checked(path: Path) -> Path:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file in it, e.g. {path / FILE}")
    if path.suffix.casefold() not in _ENDINGS:  # no note, above all
        raise UsageError(f"{path} is no name of a page; name a file that ends in .html")
    return path.absolute()
