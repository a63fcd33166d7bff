"""What was said before the conversation that asks began, of conversations that go on beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from .messages import seconds

OVER_AFTER_S = 600.0  # the host marks no end after `chat -q`: silence for so long is one too


class Beside:
    """What of a session counts as earlier for the one that asks.

    All of it, as soon as the host has marked its end, or nobody has said anything in it for
    OVER_AFTER_S. While it goes on, what was said before the asking conversation began.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        columns: Mapping[str, AbstractSet[str]],
        own: Sequence[str],
        now: float,
    ) -> None:
        """own: the ids of the conversation that asks. now: Unix seconds."""
        self._connection = connection
        self._ended = "ended_at" if "ended_at" in columns["sessions"] else "NULL"
        self._has_times = "timestamp" in columns["messages"]
        self._now = now
        marks = ", ".join("?" * len(own))
        rows = connection.execute(f"SELECT started_at FROM sessions WHERE id IN ({marks})", own)
        times = [time for (began,) in rows if (time := seconds(began)) is not None]
        self._began = min(times, default=None)  # None: nobody knows, and all is earlier

    def earlier(
        self, session: str, rows: Mapping[int, AbstractSet[int]]
    ) -> Mapping[int, AbstractSet[int]]:
        """Those of a session's messages, with what they hold, that count."""
        if self._began is None or not self._has_times or not self._goes_on(session):
            return rows
        marks = ", ".join("?" * len(rows))
        times = dict(
            self._connection.execute(
                f"SELECT id, timestamp FROM messages WHERE id IN ({marks})", list(rows)
            ).fetchall()
        )
        return {
            id: held
            for id, held in rows.items()
            if (time := seconds(times.get(id))) is not None and time < self._began
        }

    def _goes_on(self, session: str) -> bool:
        row = self._connection.execute(
            f"SELECT {self._ended}, (SELECT MAX(timestamp) FROM messages WHERE session_id = s.id) "
            "FROM sessions AS s WHERE id = ?",
            (session,),
        ).fetchone()
        last = None if row is None or row[0] is not None else seconds(row[1])
        return last is not None and 0 <= self._now - last < OVER_AFTER_S
