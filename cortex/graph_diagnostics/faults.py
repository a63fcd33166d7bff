"""What somebody should mend: links that lead nowhere, notes nobody checked, contradictions."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from .. import graph_artifacts
from ..types import Json
from ..vault.frontmatter import date_of, file_day, importance_of
from .suggestions import Suggester

_Record = Mapping[str, Any]

STALE_DAYS = 180
_USUAL_IMPORTANCE = 3.0  # of a note that does not say
_PLACEHOLDER = re.compile(r"\{\{|<%")  # of templates: `{{date}}` is not a date gone wrong


def broken(
    folder: Path, notes: Iterable[_Record] | None = None, files: Collection[str] = ()
) -> list[dict[str, Json]]:
    """The links that lead nowhere or to more than one note, by note, line and what is written.

    Records as in graph_broken.jsonl; those without a line come first in their note.
    notes: the records of notes.jsonl; with them each link has `suggestion`, the path of the nearest
    note (of the nearest of `files`, for a missing attachment), or None where nothing is near enough
    to be meant; `suggested_link`, as it would be written: `[[Name]]`, `[[Name#Heading]]`, and
    `[Name](../path/Name.md)` where the broken link ends in .md; and
    `suggestions`, all that are as near, at most three, best first.
    """
    links = sorted(
        graph_artifacts.broken(folder),
        key=lambda link: (link["source"], link["line"] or 0, link["target_raw"], link["kind"]),
    )
    if notes is None:
        return links
    suggester = Suggester(notes, files) if links else None
    for link in links:
        assert suggester is not None
        link.update(suggester.for_link(link))
    return links


def stale(
    notes: Iterable[_Record], today: dt.date, stale_days: int = STALE_DAYS
) -> list[dict[str, Json]]:
    """The notes last verified `stale_days` or more days ago; by importance, then age, then path.

    notes: the records of notes.jsonl. A note without last_verified goes by the day its file was
    changed. Each has node_id, label, file, last_verified and modified_date (YYYY-MM-DD; None when
    there is none), days_since_verified, importance (1 to 5, None when it does not say; it is
    sorted as 3) and reason: "age", "unparseable_date" (last_verified is no day, as it is written in
    `last_verified`; days None, after the others) or "no_date" (neither is known). A template's
    placeholder is no last_verified.
    """
    found: list[tuple[tuple[Any, ...], dict[str, Json]]] = []
    for note in notes:
        meta = note.get("frontmatter") or {}
        written = _last_verified(meta)
        verified = date_of(written)
        seconds = note.get("modified")
        modified = file_day(seconds) if isinstance(seconds, (int, float)) else None
        day = verified or (modified if written is None else None)
        days = (today - day).days if day else None
        reason = "unparseable_date" if written is not None and not verified else "no_date"
        if days is not None:
            if days < stale_days:
                continue
            reason = "age"
        importance = importance_of(meta)
        row = {
            "node_id": f"note:{note['file']}",
            "label": note["title"],
            "file": note["file"],
            "last_verified": verified.isoformat() if verified else _as_written(written),
            "modified_date": modified.isoformat() if modified else None,
            "days_since_verified": days,
            "importance": importance,
            "reason": reason,
        }
        weight = _USUAL_IMPORTANCE if importance is None else importance
        found.append(((-weight, days is None, -(days or 0), note["file"]), row))
    return [row for _, row in sorted(found, key=lambda one: one[0])]


def unverified(notes: Iterable[_Record]) -> int:
    """How many notes do not say when they were verified; `stale` has only their files to go by."""
    return sum(_last_verified(note.get("frontmatter") or {}) is None for note in notes)


def _last_verified(meta: _Record) -> Json:
    """As it is written; None for nothing and for a template's placeholder."""
    written = meta.get("last_verified")
    is_none = isinstance(written, str) and (not written.strip() or _PLACEHOLDER.search(written))
    return None if is_none else written


def _as_written(value: Json) -> str | None:
    return None if value is None else str(value)[:80]


def contradictions(folder: Path) -> list[dict[str, Json]]:
    """The notes that say that they contradict another, by id of source and target.

    Each has source and target (node ids), their labels and files, the line of the property, and
    `mutual`: whether the other says so too (and is in the list as well).
    """
    labels = {
        node["id"]: (node["label"], node.get("file"))
        for node in graph_artifacts.nodes(folder)
        if node["type"] == "note"
    }
    edges = {
        (edge["source"], edge["target"]): edge["metadata"]
        for edge in graph_artifacts.edges(folder)
        if edge["type"] == "contradicts" and edge["source"] in labels and edge["target"] in labels
    }
    return [
        {
            "source": source,
            "target": target,
            "source_label": labels[source][0],
            "target_label": labels[target][0],
            "source_file": labels[source][1],
            "target_file": labels[target][1],
            "line": min(metadata.get("lines") or [0]) or None,
            "mutual": (target, source) in edges,
        }
        for (source, target), metadata in sorted(edges.items())
    ]
