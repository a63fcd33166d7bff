"""Reports over the link graph by their names, and the graph in other formats."""

from __future__ import annotations

import datetime as dt
import inspect
import shlex
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from . import graph_diagnostics, graph_export
from .errors import UsageError
from .graph_artifacts import nodes
from .graph_diagnostics.faults import STALE_DAYS
from .search.corpus import Corpus
from .types import Json


@dataclass(frozen=True, slots=True)
class GraphReports:
    """What is asked of the graph in one folder, and of the notes it was built from.

    corpus: opens the index; asked only for what the graph does not hold. path_of: the path of the
    note that is named, as for Cortex.read_note. others: the files of the vault that are no notes.
    """

    folder: Path
    corpus: Callable[[], Corpus]
    path_of: Callable[[str], str]
    others: Callable[[], list[str]]
    today: dt.date

    def report(self, name: str, options: Mapping[str, Any]) -> dict[str, Json]:
        """As Cortex.graph describes. Raises UsageError for a report or an option there is not."""
        folder = self.folder
        made: dict[str, Callable[..., Any]] = {
            "status": self._status,
            "broken": self._broken,
            "orphans": partial(graph_diagnostics.orphans, folder),
            "centrality": partial(graph_diagnostics.centrality, folder),
            "stale": self._stale,
            "contradictions": partial(graph_diagnostics.contradictions, folder),
            "duplicates": self._duplicates,
            "path": self._path,
            "neighbors": self._neighbors,
        }
        if name not in made:
            raise UsageError(f"no graph report {name!r}; there are {', '.join(made)}")
        _check_options(name, made[name], options)
        report = made[name](**options)
        return report if isinstance(report, dict) else {name: report}

    def _notes(self) -> list[dict[str, Json]]:
        return list(self.corpus().notes.records())

    def _status(self) -> dict[str, Json]:
        notes = self._notes()
        stale = graph_diagnostics.stale(notes, self.today)
        return {
            **graph_diagnostics.status(self.folder),
            "stale_count": len(stale),
            "unverified_count": graph_diagnostics.unverified(notes),
        }

    def _broken(self) -> list[dict[str, Json]]:
        return graph_diagnostics.broken(self.folder, self._notes(), self.others())

    def _stale(self, stale_days: int = STALE_DAYS) -> list[dict[str, Json]]:
        return graph_diagnostics.stale(self._notes(), self.today, stale_days)

    def _duplicates(self, near: bool = False) -> list[dict[str, Json]]:
        corpus = self.corpus()
        notes = list(corpus.notes.records())
        return graph_diagnostics.duplicates(notes, corpus.chunks.records(), near=near)

    def _path(
        self, one: str, other: str, most: int = 3, via: Collection[str] = ()
    ) -> dict[str, Json]:
        ends = self._note(one), self._note(other)
        return graph_diagnostics.connections(self.folder, *ends, most=most, via=via)

    def _neighbors(self, note: str, depth: int = 1) -> dict[str, Json]:
        return graph_diagnostics.neighbors(self.folder, self._note(note), depth=depth)

    def _note(self, name: str) -> str:
        """The path of the note that is named; says so where that is a tag."""
        try:
            return self.path_of(name)
        except UsageError:
            tag = self._tag(name, {node["id"] for node in nodes(self.folder)})
            if tag is None:
                raise
            shown = f"#{tag.removeprefix('tag:')}"
            see = f"cortex graph export --neighborhood {shlex.quote(shown)}"
            raise UsageError(f"{shown} is a tag, and this is about notes; see: {see}") from None

    def exported(
        self,
        form: str,
        *,
        node_types: tuple[str, ...],
        edge_types: tuple[str, ...],
        neighborhood: str | None,
        depth: int,
        diagnostics: bool,
        pagerank: bool,
        direction: str,
    ) -> str:
        """As Cortex.export_graph describes."""
        is_told_stale = diagnostics and form == "d3-json"
        stale = {row["file"] for row in self._stale()} if is_told_stale else set()
        centre = None if neighborhood is None else self.node(neighborhood)
        return graph_export.exported(
            self.folder,
            form,
            selection=graph_export.Selection(node_types, edge_types, centre, depth),
            diagnostics=diagnostics,
            pagerank=pagerank,
            direction=direction,
            stale=stale,
        )

    def node(self, name: str) -> str:
        """As Cortex.graph_node describes."""
        known = {node["id"] for node in nodes(self.folder)}
        if name in known:
            return name
        tag = self._tag(name, known)
        if tag is not None:
            return tag
        node = f"note:{self.path_of(name.removeprefix('note:'))}"
        if node not in known:
            raise UsageError(
                f"{node.removeprefix('note:')} is not in the link graph yet; "
                "run: cortex index && cortex graph build"
            )
        return node

    @staticmethod
    def _tag(name: str, known: Collection[str]) -> str | None:
        """The id of the tag that `#name` or `tag:name` is, if there is one."""
        tag = name.removeprefix("tag:")
        if tag == name and not name.startswith("#"):
            return None
        tag_id = f"tag:{unicodedata.normalize('NFC', tag.lstrip('#')).casefold()}"
        return tag_id if tag_id in known else None


def _check_options(name: str, make: Callable[..., Any], options: Mapping[str, Any]) -> None:
    signature = inspect.signature(make)
    taken = ", ".join(signature.parameters) or "no options"
    for option in options:
        if option not in signature.parameters:
            raise UsageError(f"graph report {name!r} has no option {option!r}; it takes {taken}")
    try:
        signature.bind(**options)
    except TypeError as error:
        raise UsageError(f"graph report {name!r}: {error}; it takes {taken}") from None
