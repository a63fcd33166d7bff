"""Write the page that shows the link graph."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CortexError, Damaged, UsageError
from ..files import read_lines
from ..graph_artifacts import NOT_WRITTEN
from ..state import Stamp, State
from ..types import Json
from .outputs import write_output

if TYPE_CHECKING:
    from ..protocols import Progress
    from ..vault.scan import FolderRules

FILE = "graph.html"  # in the state folder, where nothing else is named
_ENDINGS = (".html", ".htm")
_USUAL = "vault"  # what `cortex init` calls one: tells nobody which


@dataclass(frozen=True, slots=True)
class Viewer:
    """A page that was written, and what is in it."""

    path: Path
    bytes: int
    notes: int
    nodes: int  # notes, tags and whatever else links join; without what broken links name
    links: int  # from note to note, as the page counts when it opens
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
    progress: Progress | None = None,
) -> Viewer:
    """Write the page of the current graph to `output`, atomically; None is FILE in the state.

    rules: notes that they leave out have neither text nor properties in it. centre: id of a node;
    the page holds what is up to `depth` links away from it, and no more. Raises UsageError where
    `output` is no place for a page, CortexError without a graph, an index or D3.
    """
    from ..graph_diagnostics import stale
    from ..graph_export import Selection, d3_document
    from ..graph_viewer import PARTS, drawing_source, page, page_data

    path = _checked(state.root / FILE if output is None else output)
    drawing = drawing_source()
    graph, index = state.stamp("graph"), state.stamp("index")
    if index is None:
        raise CortexError("there is no index yet; run: cortex index")
    if graph is None:
        raise CortexError("there is no graph yet; run: cortex graph build")
    if progress:
        progress.start("graph viewer", PARTS + 2, "parts")
    notes = [note for note in _records(index, "notes.jsonl") if rules.takes(note["file"])]
    known = {note["file"] for note in notes}
    document = d3_document(
        graph.folder,
        selection=Selection(neighborhood=centre, depth=depth),
        diagnostics=True,
        stale={row["file"] for row in stale(notes, today)},
    )
    if progress:
        progress.advance()
    data = page_data(
        document,
        notes,
        (chunk for chunk in _records(index, "chunks.jsonl") if chunk["file"] in known),
        title=title,
        diagnostics=diagnostics,
        centre=centre,
        progress=progress,
    )
    text = page(data, drawing)
    is_note = {node["id"]: node["type"] == "note" for node in document["nodes"]}
    write_output(path, text)
    if progress:
        progress.advance()
        progress.finish()
    return Viewer(
        path=path,
        bytes=len(text.encode("utf-8")),
        notes=int(data["notes"]),
        nodes=sum(node["type"] != "diagnostic" for node in document["nodes"]),
        links=sum(_is_counted(edge, is_note, bool(data["mentions"])) for edge in document["edges"]),
        broken=sum(
            edge["type"] in ("diagnostic_unresolved", "diagnostic_ambiguous")
            for edge in document["edges"]
        ),
    )


def title_of(vault: Path, home: str) -> str:
    """The folder's name; with that of the one around it where all are called so.

    The page may be given away: the name of a person's home folder is not told.
    """
    around = vault.parent.name
    if vault.name.casefold() != _USUAL or not around or vault.parent == Path(home or "/").resolve():
        return vault.name
    return f"{around}/{vault.name}"


def _is_counted(edge: Mapping[str, Any], is_note: Mapping[str, bool], with_mentions: bool) -> bool:
    """Whether an edge is what the page calls a link, before anybody has filtered there."""
    kind = edge["type"]
    is_link = kind not in NOT_WRITTEN or (with_mentions and kind == "mentions")
    return is_link and is_note[edge["source"]] and is_note[edge["target"]]


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
