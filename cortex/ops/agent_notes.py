"""Notes that the agent writes: previewed first, confirmed by the preview's token, then recorded."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from ..errors import CortexError, UsageError
from ..files import append_event
from ..generated import strip
from ..types import Json
from ..vault.note_schema import FOLDER_TYPES, RAW, TEMPLATES
from ..vault.reading import nearest
from .notes import Draft, NewNote, draft, write
from .vault_log import append_line, log_line

RECORD = "writes.jsonl"  # in the state folder: a line of JSON for each note the agent wrote
VALID_FOR = dt.timedelta(hours=1)  # that a preview may be confirmed


@dataclass(frozen=True, slots=True)
class Preview:
    note: Draft
    confirm: str  # stands for this note and no other


def preview(vault: Path, wanted: NewNote, now: dt.datetime) -> Preview:
    """The note as it would be written; nothing is.

    Raises UsageError as ops.notes.draft does, and for text that holds a secret, a folder that is
    not there, and the folders for templates and sources.
    """
    if wanted.body is not None:
        wanted = replace(wanted, body=strip(wanted.body))
        if not (wanted.body or "").strip():
            raise UsageError("the body holds nothing but what Cortex itself had put there")
    note = draft(vault, wanted, now)
    folder = note.path.rpartition("/")[0]
    if folder.split("/")[0] in (TEMPLATES, RAW):
        raise UsageError(f"{folder} is not for notes; leave the folder out to go by the type")
    is_new = any(issue.code == "new_folder" for issue in note.warnings)
    if is_new and folder not in FOLDER_TYPES:
        near = nearest(folder, _folders(vault), 3)
        hint = f"did you mean {', '.join(near)}?" if near else "leave it out to go by the type"
        raise UsageError(f"there is no folder {folder} in the vault; {hint}")
    if note.secrets:
        told = ", ".join(f"{kind} in line {line}" for line, kind in note.secrets[:5])
        raise UsageError(
            f"this looks like a secret: {told}; leave it out, notes are no place for it"
        )
    digest = sha256(f"{note.path}\0{note.text}".encode()).hexdigest()[:16]
    return Preview(note, f"{now.astimezone(dt.UTC):%Y%m%dT%H%M%SZ}-{digest}")


def write_confirmed(
    vault: Path,
    state: Path,
    wanted: NewNote,
    confirm: str,
    now: dt.datetime,
    by: Mapping[str, Json],
) -> tuple[Draft, str]:
    """Write the note whose preview gave `confirm`; the note, and what went wrong with log.md.

    A line with time, path, digest and `by` (who: session, platform) goes to writes.jsonl in the
    state folder before the note is made, another if it could not be made after all, and one to
    the vault's log.md where that is. Raises UsageError as preview does, for a token of another or
    an old preview, and CortexError if writes.jsonl cannot be written: then the note is not either.
    """
    again = "call it without confirm for a new preview"
    match = re.fullmatch(r"(\d{8}T\d{6}Z)-[0-9a-f]{16}", confirm.strip())
    if match is None:
        raise UsageError(f"confirm is not what a preview gave; {again}")
    try:
        then = dt.datetime.strptime(match[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
    except ValueError:
        raise UsageError(f"confirm is not what a preview gave; {again}") from None
    if not dt.timedelta(seconds=-60) <= now - then <= VALID_FOR:
        raise UsageError(f"that preview is too old; {again}")
    # As of the preview, or a template's {{time}} would make another note of it.
    shown = preview(vault, wanted, then.astimezone(now.tzinfo))
    if shown.confirm != confirm.strip():
        raise UsageError(f"this is not the note that was previewed; {again}")
    content = shown.note.text.encode("utf-8")
    about: dict[str, Json] = {
        "path": shown.note.path,
        "type": wanted.type,
        "bytes": len(content),
        "sha256": sha256(content).hexdigest(),
        **by,
    }
    # First, and for good: a note that could not be recorded is not written.
    _record(state, now, "note_write", about)
    try:
        _make(vault, shown.note, content)
    except (CortexError, OSError):
        with contextlib.suppress(CortexError):
            _record(state, now, "note_write_failed", about)
        raise
    told = log_line(now, "note", "agent", "ok", {"written": 1}, [shown.note.path])
    return shown.note, append_line(vault, told)


def _record(state: Path, now: dt.datetime, event: str, about: Mapping[str, Json]) -> None:
    """Append a line to writes.jsonl. Raises CortexError."""
    try:
        append_event(state / RECORD, now, event, about)
    except OSError as error:
        why = error.strerror or error
        raise CortexError(f"the record of writes, {RECORD}, cannot be written: {why}") from None


def _make(vault: Path, note: Draft, content: bytes) -> None:
    """Write the note; what the system refuses once it stands there whole is no failure."""
    try:
        write(vault, note)
    except OSError:
        with contextlib.suppress(OSError):
            if (vault / note.path).read_bytes() == content:
                return
        raise


def _folders(vault: Path) -> list[str]:
    """The visible folders of the vault, two levels deep."""
    found = []
    for place, inner, _ in os.walk(vault):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        depth = os.path.relpath(place, vault).count(os.sep)
        found += [
            os.path.relpath(os.path.join(place, name), vault).replace(os.sep, "/") for name in inner
        ]
        if depth or len(found) > 2000:
            inner.clear()
    return found
