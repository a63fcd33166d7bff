"""A vault, Hermes homes and sessions, written out in a test, with a Cortex over them."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cortex import Cortex
from cortex.desk import Desk

NOW = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)
TODAY = dt.date(2026, 3, 1)
HOUR = 3600.0
# Shaped like secrets, and put together here so that none stands in the repository.
TOKEN = "ghp_" + "a1B2" * 9
PASSWORD = "hunter" + "2xQ!9"


class World:
    """Below one folder: `vault`, and `home` with the profiles in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.vault, self.home = root, root / "vault", root / "home"
        self.vault.mkdir(parents=True)
        self.config = self.home / "cortex" / "config.yaml"
        self.config.parent.mkdir(parents=True)
        self.set("")

    def set(self, settings: str) -> None:
        text = f"vault: {{path: '{self.vault}'}}\nembeddings: {{model: hashing}}\n{settings}"
        self.config.write_text(text, "utf-8")

    def write(self, notes: Mapping[str, str], modified: dt.datetime = NOW) -> None:
        for path, text in notes.items():
            file = self.vault / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            os.utime(file, (modified.timestamp(), modified.timestamp()))

    def profile(self, name: str) -> Path:
        home = self.home / "profiles" / name
        home.mkdir(parents=True, exist_ok=True)
        return home

    def cortex(self, home: Path | None = None, today: dt.date = TODAY) -> Cortex:
        return Cortex.open(self.config, env=self.env(home), today=today)

    def env(self, home: Path | None = None) -> dict[str, str]:
        return {"HERMES_HOME": str(home or self.home), "HOME": str(self.root)}

    def promote(self, *, day: dt.datetime = NOW) -> None:
        Desk.open(self.config, env=self.env(), now=day).nightly(write=True)

    def say(
        self,
        home: Path,
        session: str,
        *said: str,
        title: str = "",
        at: float = 0.0,
        source: str = "cli",
        root: str = "",
        **about: Any,
    ) -> None:
        """A session in the state.db of a home, made by the host's own code: user and assistant in
        turn, from `at` seconds after NOW on, a second apart. root: its git repository.
        """
        state = pytest.importorskip("hermes_state", reason="hermes-agent is not installed here")
        store = state.SessionDB(home / "state.db")
        try:
            store.create_session(session, source, **about)
            if title:
                store.set_session_title(session, title)
            if root:
                store.update_session_cwd(session, root, git_repo_root=root)
            for number, text in enumerate(said):
                time = NOW.timestamp() + at + number
                role = "assistant" if number % 2 else "user"
                store.append_message(session, role, text, timestamp=time)
        finally:
            store.close()


def section(pack: Any, name: str) -> Any:
    return next(one for one in pack.sections if one.name == name)


def texts(pack: Any, name: str) -> list[str]:
    return [item.text for item in section(pack, name).items]


def fact(text: str, **properties: str) -> str:
    return note("fact", text, **properties)


def note(kind: str, text: str, **properties: str) -> str:
    lines = [f"{name}: {value}" for name, value in {"type": kind, **properties}.items()]
    return "\n".join(["---", *lines, "---", text, ""])
