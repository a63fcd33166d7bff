"""vault_write_note: a preview of a new note, then the note that was previewed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..commands import as_typed
from ..errors import UsageError
from .answers import as_json, one_line, shown_path

if TYPE_CHECKING:
    from ..app import Cortex
    from ..platforms import Session
    from ..types import Json


def vault_write_note(cortex: Cortex, args: dict[str, Any], session: Session) -> str:
    """The answer, as JSON. Raises CortexError."""
    from ..desk import Desk
    from ..generated import escape
    from ..ops.notes import NewNote
    from ..platforms import origin_of

    if not cortex.config.tools.write:  # the host keeps for a while that it was offered
        raise UsageError("writing notes is off; the owner can set tools.write: true in the config")
    wanted = NewNote(
        title=args["title"],
        type=args["type"],
        folder=args.get("folder"),
        tags=tuple(args.get("tags") or ()),
        properties=args.get("properties") or {},
        body=args["body"],
    )
    desk = Desk(cortex)
    confirm = args.get("confirm")
    if confirm is None:
        shown = desk.preview_note(wanted)
        note, unlogged = shown.note, ""
        about: dict[str, Json] = {
            "written": False,
            "confirm": shown.confirm,
            "next": "show this to the user; to write it, the same arguments with confirm",
        }
    else:
        by = {"session": session.id, "platform": origin_of(session, desk.home).platform}
        note, unlogged = desk.write_previewed(wanted, confirm, by)
        if cortex.rules.takes(note.path):
            follows = "to find it by searching, run: cortex index"
        else:
            follows = "tell the user its path: the settings leave that folder out of searches"
        about = {"written": True, "next": as_typed(follows, cortex.program_in_host)}
    warnings = [issue.message for issue in note.warnings] + ([unlogged] if unlogged else [])
    answer: dict[str, Json] = {
        "success": True,
        "note": shown_path(note.path),
        **about,
        "searched": cortex.rules.takes(note.path),
        "warnings": [one_line(told, 200) for told in warnings[:6]],
    }
    if confirm is None:
        room = cortex.config.tools.max_result_chars - len(as_json({**answer, "text_is_cut": True}))
        text = escape(note.text)
        written = len(as_json(text))
        fitting = len(text) if written + 30 <= room else max(0, len(text) * (room - 60) // written)
        answer["text"] = text[:fitting]
        if fitting < len(text):
            answer["text_is_cut"] = True
    return as_json(answer)
