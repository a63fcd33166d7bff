"""Notes of conversations as sessions in a database that the host's own code has made."""

from __future__ import annotations

import datetime as dt
import re
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

BETWEEN_S = 30.0  # of two turns; the notes say only when a session began

_FRONTMATTER = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_FIELD = re.compile(r'^(title|date): "(.*)"$', re.MULTILINE)
_TURN = re.compile(r"^\*\*([^*:]+):\*\* (.*)$")


@dataclass(frozen=True, slots=True)
class Conversation:
    """One note: a session of two people."""

    note: str  # path from the vault
    title: str
    began: float  # Unix seconds, UTC
    turns: tuple[tuple[str, str], ...]  # (speaker, what was said)

    @property
    def session_id(self) -> str:
        """As the host writes ids: a moment, and six hexadecimal digits, here of the note's path."""
        from hashlib import blake2b

        moment = dt.datetime.fromtimestamp(self.began, dt.UTC).strftime("%Y%m%d_%H%M%S")
        return f"{moment}_{blake2b(self.note.encode(), digest_size=3).hexdigest()}"


def read_conversations(vault: Path) -> list[Conversation]:
    """All conversations of a vault, in order of their paths."""
    found = []
    for file in sorted(vault.rglob("*.md")):
        text = file.read_text("utf-8")
        header = _FRONTMATTER.match(text)
        fields = dict(_FIELD.findall(header[1])) if header else {}
        lines = text.splitlines()
        turns = tuple((turn[1], turn[2]) for line in lines if (turn := _TURN.match(line)))
        if turns and "date" in fields:
            began = dt.datetime.fromisoformat(fields["date"]).replace(tzinfo=dt.UTC).timestamp()
            note = file.relative_to(vault).as_posix()
            found.append(Conversation(note, fields.get("title", file.stem), began, turns))
    return found


def write_sessions(
    database: Path,
    conversations: Iterable[Conversation],
    *,
    with_names: bool = True,
    with_titles: bool = True,
) -> dict[str, str]:
    """Write each conversation as a session of the host's; session id -> path of its note.

    The first to speak is the user. with_names: each text begins with who said it, for a role
    tells two people apart, but not whom. Needs the package of the host.
    """
    from hermes_state import SessionDB

    conversations = list(conversations)
    store = SessionDB(database)
    try:
        for one in conversations:
            store.create_session(one.session_id, "cli")
            if with_titles:
                store.set_session_title(one.session_id, one.title)
            for number, (speaker, said) in enumerate(one.turns):
                store.append_message(
                    one.session_id,
                    "user" if speaker == one.turns[0][0] else "assistant",
                    f"{speaker}: {said}" if with_names else said,
                    timestamp=one.began + number * BETWEEN_S,
                )
            store.end_session(one.session_id, "cli_close")
    finally:
        store.close()
    _backdate(database, conversations)
    return {one.session_id: one.note for one in conversations}


def _backdate(database: Path, conversations: Sequence[Conversation]) -> None:
    """When the sessions began and ended: the host writes that they do so now."""
    times = [
        (one.began, one.began + len(one.turns) * BETWEEN_S, one.session_id) for one in conversations
    ]
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany(
            "UPDATE sessions SET started_at = ?, ended_at = ? WHERE id = ?", times
        )
