"""The sections of a pack, each gathered from where it lies: in full, neither guarded nor cut."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ..errors import CortexError, Unavailable
from ..records.worklog import Receipt, worklog
from ..text import Undecodable
from ..vault.frontmatter import HEAD_BYTES, is_in_scope, projects_of, values_in
from .conversations import conversations
from .excerpt import excerpt
from .gathered import (
    LEAST_SHARE,
    LONGEST,
    MOST_MATCHED,
    Found,
    Gathered,
    Ground,
    best_first,
    newest_first,
)
from .guard import searched
from .memory import remembered
from .model import Asked, Item, Provenance, utc

if TYPE_CHECKING:
    from ..search.plain_scan import NoteHit
    from ..search.standing import StandingNote
    from ..types import Json

HANDOFF = ("handoff",)


def gather(ground: Ground, asked: Asked) -> Iterator[tuple[str, Gathered]]:
    """The sections by name, in their order. Raises Unavailable past the deadline of `ground`."""
    for name, gathered in _in_order(ground, asked):
        if ground.deadline is not None and time.monotonic() > ground.deadline:
            raise Unavailable("pack", f"no time was left after {name}")
        yield name, gathered


def _in_order(ground: Ground, asked: Asked) -> Iterator[tuple[str, Gathered]]:
    facts, handoffs = _standing(ground, asked)
    yield "temporal_facts", _with_remembered(ground, facts)
    yield "handoffs", handoffs
    yield "receipts", receipts(ground, asked)
    yield "session_context", conversations(ground, asked)
    yield "semantic", semantic(ground, asked)


def _standing(ground: Ground, asked: Asked) -> tuple[Gathered, Gathered]:
    """(notes of type fact that hold today, notes of type handoff that nothing replaced)."""
    kinds = (ground.vault.config.inject.facts.types, HANDOFF)
    try:
        found = ground.vault.standing_kinds(kinds, asked.project, ground.seconds)
    except CortexError as error:
        return ground.lacks(error), ground.lacks(error)
    facts, handoffs = (
        Gathered(
            newest_first([Found(_note(note, one.by), note.time) for note in one.notes]),
            one.matched,
            ground.told(one.why),
        )
        for one in found
    )
    return facts, handoffs


def _with_remembered(ground: Ground, notes: Gathered) -> Gathered:
    """Facts of the notes, and those of the host's memory plugin."""
    facts = remembered(ground)
    if facts is None:
        return notes
    return Gathered(
        newest_first([*notes.found, *facts.found]),
        notes.matched + facts.matched,
        "; ".join(filter(None, (notes.why, facts.why))),
        notes.is_available or facts.is_available,
    )


def receipts(ground: Ground, asked: Asked) -> Gathered:
    """What promotion did to the notes, and which the agent wrote."""
    try:
        log = worklog(ground.vault.config.state)
    except OSError:
        return Gathered(why="the journal in the state folder cannot be read", is_available=False)
    found = []
    for receipt in log.receipts:
        projects = _projects(ground, receipt, asked.project)
        if projects is not None:
            found.append(Found(_receipt(receipt, projects), receipt.time))
    why = f"{log.damaged} of the records cannot be read" if log.damaged else ""
    is_available = bool(log.receipts) or not log.damaged
    return Gathered(tuple(found[:MOST_MATCHED]), len(found), why, is_available)


def semantic(ground: Ground, asked: Asked) -> Gathered:
    """Passages of the notes that hold the words of the query; of the best the newest first."""
    query = searched(asked.query or "")
    if not query.strip():
        return Gathered(why="no --query was given")
    try:
        recalled = ground.vault.recall_notes(
            query, 2 * asked.max_items, asked.project, ground.seconds
        )
    except CortexError as error:
        return ground.lacks(error)
    hits = [hit for hit in recalled.hits if hit.share >= LEAST_SHARE]
    words = ground.words_of(query, 1)
    best = []
    for hit in hits[: 2 * asked.max_items]:
        text = excerpt(hit.text, () if hit.secrets else words, asked.max_bytes // LONGEST)
        best.append(Found(_passage(hit, text, recalled.by), hit.time, hit.secrets, hit.share))
    return Gathered(best_first(best), len(hits), ground.told(recalled.why))


def _note(note: StandingNote, by: str) -> Item:
    days = {"valid_from": note.valid_from, "valid_until": note.valid_until}
    return Item(
        f"{note.title}: {note.text}" if note.text else note.title,
        Provenance(
            source="vault",
            engine=by,
            ids=(note.path,),
            at=utc(note.time),
            at_from=note.time_from,
            times={name: day for name, day in days.items() if day is not None},
            path=note.path,
            project=note.project,
        ),
    )


def _passage(hit: NoteHit, text: str, by: str) -> Item:
    place = " > ".join(dict.fromkeys((hit.title, *filter(None, hit.heading_path))))
    doubts = f" ({', '.join(hit.labels)})" if hit.labels else ""
    return Item(
        f"{place}{doubts}: {text}" if text not in ("", hit.title) else f"{place}{doubts}",
        Provenance(
            source="vault",
            engine=by,
            ids=(hit.place,),  # a chunk's own holds its heading, in a form nothing looks through
            at=utc(hit.time),
            at_from=hit.time_from,
            path=hit.path,
            lines=(hit.start_line, hit.end_line),
            project=hit.project,
        ),
    )


def _receipt(receipt: Receipt, projects: Sequence[str]) -> Item:
    kind = f" ({receipt.type})" if receipt.type else ""
    older = f", superseding {', '.join(receipt.superseded)}" if receipt.superseded else ""
    done = {
        "promoted": f"Promoted {receipt.source} to {receipt.path}{kind}{older}",
        "undone": f"Took back the promotion of {receipt.source} to {receipt.path}{kind}",
        "written": f"The agent wrote {receipt.path}{kind}",
    }
    return Item(
        done[receipt.deed],
        Provenance(
            source=receipt.record,
            engine="lifecycle" if receipt.record == "journal" else "vault_write_note",
            ids=(receipt.id,),
            at=utc(receipt.time),
            at_from="run" if receipt.record == "journal" else "write",
            path=receipt.path,
            project=", ".join(projects) or None,
        ),
    )


def _projects(ground: Ground, receipt: Receipt, project: str | None) -> tuple[str, ...] | None:
    """The projects of the note that a receipt is about; None where it may not be told of.

    As the note was written, and as it says now. For a project's pack one of them must be known.
    """
    root = ground.vault.config.vault.path
    path = PurePosixPath(receipt.path)
    is_inside = root is not None and not path.is_absolute() and ".." not in path.parts
    places = [receipt.bytes_at, root / path if root is not None and is_inside else None]
    known = [values for place in places if (values := _properties(place)) is not None]
    if project is not None and not (known and all(is_in_scope(one, project) for one in known)):
        return None
    return projects_of(known[-1]) if known else ()


def _properties(file: Path | None) -> Mapping[str, Json] | None:
    """What stands at the head of a note; None when it cannot be read."""
    if file is None or not file.is_file():
        return None
    try:
        with open(file, "rb") as opened:
            return values_in(opened.read(HEAD_BYTES))
    except (OSError, ValueError, Undecodable):
        return None
