"""A small world to prove packs in: a vault, the homes of two profiles, memory and a fabric folder.

All of it is made up, and every passage holds a word of its own by which it is known again.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .host_schema import MEMORY_STORE, execute, make_state_db

QUERY = "the quince tree"
PROJECT, OTHER_PROJECT = "orchard", "harbour"
PROFILE = "work"  # the second one; the first is the host's default
ROOT_NAMES = ("default", "custom")  # what the host calls the profile of its root home

# Words that stand in one passage each. In no query, and in no path.
FACT, PAST_FACT, PROJECT_FACT, OTHER_FACT = "quillmoss", "drabfen", "alphagorse", "betasedge"
HANDOFF, PAST_HANDOFF = "tarnbell", "murkoak"
NOTE, PROJECT_NOTE, OTHER_NOTE = "fernwick", "gammarush", "deltareed"
ROOT_SESSION, WORK_SESSION, FOREIGN_SESSION = "amberheron", "cobaltotter", "duskmarten"
MEMORY, FABRIC, STORED = "hazelmemo", "willowfab", "lindenstore"
PROMOTED = "Slipway rope"  # the name of a note that waits to be promoted

NOTES = {
    "Facts/Boiler.md": ("type: fact\nvalid_from: 2020-01-01", f"The boiler holds {FACT} at noon."),
    "Facts/Rent.md": ("type: fact\nvalid_until: 2001-01-01", f"The rent was {PAST_FACT}."),
    "Facts/Orchard.md": (
        f"type: fact\nproject: {PROJECT}",
        f"The orchard is watered with {PROJECT_FACT}.",
    ),
    "Facts/Harbour.md": (
        f"type: fact\nproject: {OTHER_PROJECT}",
        f"The harbour is dredged with {OTHER_FACT}.",
    ),
    "Handoffs/Gate.md": ("type: handoff", f"Go on with the gate at {HANDOFF}."),
    "Handoffs/Gate before.md": (
        'type: handoff\nsuperseded_by: "[[Handoffs/Gate]]"',
        f"Go on with the gate at {PAST_HANDOFF}.",
    ),
    "Notes/Garden.md": ("type: note", f"The quince tree stands behind {NOTE}."),
    "Notes/Quinces.md": (
        f"type: note\nproject: {PROJECT}",
        f"The quince tree of the orchard is a {PROJECT_NOTE}.",
    ),
    "Notes/Quay.md": (
        f"type: note\nproject: {OTHER_PROJECT}",
        f"The quince tree of the quay is a {OTHER_NOTE}.",
    ),
    f"00_inbox/{PROMOTED}.md": (
        "type: fact\nstatus: draft\npromote: true",
        "The rope hangs by the slipway.",
    ),
}


@dataclass(frozen=True, slots=True)
class World:
    root: Path
    vault: Path
    home: Path  # of the default profile
    work: Path  # the home of the profile PROFILE
    fabric: Path
    now: float  # Unix seconds, when it was made
    schema: str  # whose that of the session databases is
    secrets: Mapping[str, str]  # where it stands -> a secret, made up anew for each world

    @property
    def config(self) -> Path:
        return self.home / "cortex" / "config.yaml"

    @property
    def work_config(self) -> Path:
        return self.work / "cortex" / "config.yaml"

    def env(self, home: Path | None = None, /, **more: str) -> dict[str, str]:
        """The whole environment of a command in this world."""
        return {"HOME": str(self.root), "HERMES_HOME": str(home or self.home), **more}


def build(root: Path, now: float) -> World:
    """Writes a world into the folder `root`, which is not there yet. now: Unix seconds.

    Raises OSError and sqlite3.Error.
    """
    root.mkdir()
    home = root / "hermes"
    work = home / "profiles" / PROFILE
    world = World(
        root=root,
        vault=root / "vault",
        home=home,
        work=work,
        fabric=root / "fabric",
        now=now,
        schema=_sessions(home, work, now),
        secrets=_made_up_secrets(),
    )
    for path, (properties, text) in NOTES.items():
        write_note(world, path, properties, text)
    for profile, state in ((home, world.config), (work, world.work_config)):
        configure(world, state)
        memories = profile / "memories"
        memories.mkdir()
        for name in ("MEMORY.md", "USER.md"):
            (memories / name).write_text(f"The quince tree is {MEMORY}.\n", "utf-8")
        execute(profile / "memory_store.db", MEMORY_STORE)
        with _writing(profile / "memory_store.db") as store:
            store.execute(
                "INSERT INTO facts (content, trust_score) VALUES (?, 0.9)",
                (f"The quince tree was grafted by {STORED}.",),
            )
    world.fabric.mkdir()
    (world.fabric / "2026-01-01-gardener.md").write_text(
        f"---\ndate: 2026-01-01\nagent: gardener\nsummary: quinces\n---\nPruned by {FABRIC}.\n",
        "utf-8",
    )
    return world


def write_note(world: World, path: str, properties: str, text: str) -> None:
    file = world.vault / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{properties}\n---\n# {file.stem}\n\n{text}\n", "utf-8")


def add_secrets(world: World) -> None:
    """Puts a secret into a passage of each kind; each would be packed but for it."""
    put, now = world.secrets, world.now
    write_note(
        world, "Facts/Router.md", "type: fact", f"The router takes password: {put['a fact']}"
    )
    write_note(world, "Handoffs/Keys.md", "type: handoff", f"The key is {put['a handoff']} now.")
    write_note(
        world, "Notes/Fence.md", "type: note", f"The quince tree fence opens by {put['a note']}."
    )
    said = f"The quince tree alarm has the key {put['a message']}."
    add_session(world.home / "state.db", "20260101_100000_5ec7e7", "Alarm", said, now - 60)
    said = "The quince tree is under the alarm."
    title = f"The key {put['a title']}"
    add_session(world.home / "state.db", "20260101_100000_717135", title, said, now - 90)


def configure(world: World, config: Path, more: str = "") -> None:
    """Settings that name nothing outside of the world."""
    config.parent.mkdir(parents=True, exist_ok=True)
    vault = json.dumps(str(world.vault))  # a JSON string is a YAML string
    text = f"vault: {{path: {vault}}}\nembeddings: {{model: hashing}}\n{more}"
    config.write_text(text, "utf-8")


def add_session(
    database: Path, session: str, title: str, said: str, time: float, profile: str | None = None
) -> None:
    """A session of two messages. time: Unix seconds."""
    with _writing(database) as connection:
        connection.execute(
            "INSERT INTO sessions (id, source, started_at, ended_at, title, message_count, "
            "profile_name) VALUES (?, 'cli', ?, ?, ?, 2, ?)",
            (session, time, time + 1, title, profile),
        )
        for role, content in (("user", said), ("assistant", "Noted.")):
            connection.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
                (session, role, content, time),
            )


def _sessions(home: Path, work: Path, now: float) -> str:
    for folder in (home, work):
        folder.mkdir(parents=True)
        made_by = make_state_db(folder / "state.db")
    told = "The quince tree was planted by"
    add_session(
        home / "state.db", "20260101_090000_a0a0a0", "Quinces", f"{told} {ROOT_SESSION}.", now - 900
    )
    # A gateway that serves several profiles keeps all their sessions in one database.
    add_session(
        home / "state.db",
        "20260101_090000_c0c0c0",
        "Quinces elsewhere",
        f"{told} {FOREIGN_SESSION}.",
        now - 800,
        PROFILE,
    )
    add_session(
        work / "state.db", "20260101_090000_b0b0b0", "Quinces", f"{told} {WORK_SESSION}.", now - 700
    )
    return made_by


def _made_up_secrets() -> dict[str, str]:
    letters = string.ascii_letters + string.digits

    def some(count: int, of: str = letters) -> str:
        return "".join(secrets.choice(of) for _ in range(count))

    return {
        "a fact": f"{some(9)}-{some(6, string.digits)}-{some(9)}",
        "a handoff": "AKIA" + some(16, string.ascii_uppercase + "234567"),
        "a note": "ghp_" + some(36),
        "a message": "sk-ant-" + "api03-" + some(40),
        "a title": "xoxb-" + some(11, string.digits) + "-" + some(24),
    }


@contextlib.contextmanager
def _writing(database: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        yield connection
