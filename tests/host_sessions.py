"""Session databases that the host's own code has made."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

DAY = 86_400.0
SPRING = 1_800_000_000.0  # 2027-01-15, Unix seconds

Turn = tuple[str, Any]  # role, content


class Home:
    """A Hermes home with a state.db."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.database = folder / "state.db"
        self._count = 0

    def session(
        self,
        session_id: str,
        turns: Sequence[Turn],
        *,
        title: str | None = None,
        source: str = "cli",
        began: float | None = None,
        **about: Any,
    ) -> None:
        """Written by the host; times set afterwards, for it writes that all is now."""
        from hermes_state import SessionDB

        self._count += 1
        began = SPRING + self._count * DAY if began is None else began
        store = SessionDB(self.database)
        try:
            store.create_session(session_id, source, **about)
            if title is not None:
                store.set_session_title(session_id, title)
            for number, (role, content) in enumerate(turns):
                store.append_message(session_id, role, content, timestamp=began + 60 * number)
        finally:
            store.close()
        self.sql("UPDATE sessions SET started_at = ? WHERE id = ?", began, session_id)

    def sql(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(statement, values)

    def script(self, statements: str) -> None:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.executescript(statements)
