"""vault_read_note: a note as its file is now, in pieces that one answer holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .answers import NOTICE, as_json, line_range, one_line, shown_path
from .schemas import LAST_LINE

if TYPE_CHECKING:
    from ..app import Cortex
    from ..redaction import Finding
    from ..types import Json
    from ..vault.reading import NoteText

_MOST_HEADINGS = 30


def vault_read_note(cortex: Cortex, args: dict[str, Any]) -> str:
    """The answer, as JSON. Raises CortexError."""
    from ..vault.frontmatter import secret_spans
    from ..vault.reading import shortened

    limit = cortex.config.tools.max_result_chars
    first, last = args.get("start_line"), args.get("end_line")
    if args["start_char"] and first is None:
        raise UsageError("start_char counts within start_line; give that too")
    lines = None
    if first is not None or last is not None:
        lines = (first or 1, last if last is not None else LAST_LINE)
        if lines[1] < lines[0]:
            raise UsageError(f"end_line {lines[1]} is before start_line {lines[0]}")
    most = min(args.get("max_chars") or limit, limit)
    read = partial(
        cortex.read_note,
        heading=args.get("heading"),
        lines=lines,
        max_chars=most,
        from_char=args["start_char"],
    )
    try:
        note = read(args["note"])
    except UsageError:
        if "&lt;" not in args["note"]:
            raise
        note = read(args["note"].replace("&lt;", "<"))  # as we tell such a path
    secrets = secret_spans(note.whole)
    while True:
        answer = _note_answer(note, secrets, limit)
        told = as_json(answer)
        if len(told) <= limit:
            return told
        size = len(note.text)
        if size <= 1:
            raise UsageError("the answer does not fit; give a heading or lines")
        written = len(as_json(answer["text"]))  # quotes and line ends take two characters
        room = max(limit - (len(told) - written), 0)
        note = shortened(note, max(1, min(size - 1, size * room // written)))


def _note_answer(note: NoteText, secrets: list[Finding], limit: int) -> dict[str, Json]:
    from ..generated import escape
    from ..redaction import redact_part

    text, hidden = redact_part(note.whole, note.start, note.start + len(note.text), secrets)
    answer: dict[str, Json] = {
        "success": True,
        "note": shown_path(note.path),
        "title": one_line(note.title, 200),
        "lines": line_range(note.start_line, note.end_line),
        "total_lines": note.total_lines,
        "next_line": note.end_line if note.cut_at else note.more,
        "text": escape(re.sub("\r\n?", "\n", text)),
    }
    if note.cut_at:
        answer["next_char"] = note.cut_at
    if hidden:
        answer["redacted"] = hidden
    return {**answer, "headings": list(_outline(note, limit // 8)), "notice": NOTICE}


def _outline(note: NoteText, limit: int) -> Iterator[str]:
    """`12 ## Setup`: the line of each heading, as far as they fit."""
    for number, heading in enumerate(note.headings):
        told = f"{heading.line} {'#' * heading.level} {one_line(heading.text, 120)}"
        limit -= len(told) + 4
        if limit < 0 or number == _MOST_HEADINGS:
            yield f"… and {len(note.headings) - number} more"
            return
        yield told
