"""The sentinel proves what packs promise, on any machine, and each of its proofs can fail."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from cortex import Cortex
from cortex.desk import Desk
from cortex.errors import Unavailable
from cortex.pack import proofs, sentinel, world
from cortex.pack.host_schema import MEMORY_STORE, STATE_DB, TRIGRAM, execute, make_state_db
from cortex.pack.model import Pack
from host_driver import CHECKOUT

# What the sentinel must do without: the host, models, vectors, and any connection.
ALONE = """
import socket, sys
for name in ("hermes_state", "onnxruntime", "chromadb", "torch", "sentence_transformers"):
    sys.modules[name] = None

class NoSocket(socket.socket):
    def connect(self, *_): raise AssertionError("a connection was tried")

socket.socket = NoSocket
from cortex.cli import main
sys.exit(main(["pack", "sentinel"]))
"""


def promote(config: Path, env: Mapping[str, str]) -> object:
    return Desk.open(config, env=env).nightly(write=True)


def opened(config: Path, env: Mapping[str, str]) -> Cortex:
    return Cortex.open(config, env=env)


def ran(open_cortex: Callable[..., Any] = opened) -> tuple[int, list[str]]:
    lines: list[str] = []
    return sentinel.run(lines.append, open_cortex=open_cortex, promote=promote), lines


# On any machine


def environment(home: Path, temporary: Path) -> dict[str, str]:
    for folder in (home, temporary):
        folder.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
    }


@pytest.mark.slow
def test_it_holds_without_a_vault_a_config_a_host_or_a_network_and_leaves_nothing(tmp_path):
    env = environment(tmp_path / "home", tmp_path / "tmp")
    folder = tmp_path / "working folder"
    folder.mkdir(mode=0o555)
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, last = done.stdout.splitlines()
    assert lines == [f"ok  {says}" for says, _ in proofs.PROOFS] + [f"ok  {sentinel.UNTOUCHED}"]
    assert (
        last == f"{len(lines)} of {len(lines)} proofs hold; session databases as Cortex knows them"
    )
    for place in (tmp_path / "home", tmp_path / "tmp", folder):
        assert list(place.iterdir()) == []


@pytest.mark.slow
def test_where_a_vault_and_a_host_are_it_holds_too_and_looks_into_neither(tmp_path):
    env = environment(tmp_path / "home", tmp_path / "tmp")
    home = tmp_path / "home" / ".hermes"
    (home / "cortex").mkdir(parents=True)
    (home / "cortex" / "config.yaml").write_text("vault: [this is no config\n", "utf-8")
    (home / "state.db").write_bytes(b"no database")
    before = {path: path.stat() for path in sorted(home.rglob("*"))}
    done = subprocess.run(
        [sys.executable, "-m", "cortex", "pack", "sentinel"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path: path.stat() for path in sorted(home.rglob("*"))} == before
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="sends a signal of a POSIX system")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_leaves_nothing(tmp_path, number, code):
    env = environment(tmp_path / "home", tmp_path / "tmp")
    process = subprocess.Popen(
        [sys.executable, "-m", "cortex", "pack", "sentinel"],
        cwd=tmp_path,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    assert process.stdout is not None
    assert process.stdout.readline().startswith("ok  ")  # it is at work
    assert list((tmp_path / "tmp").iterdir()) != [] and time.monotonic() < until
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == code
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.slow
def test_code_that_was_never_run_before_is_not_compiled_into_files(tmp_path):
    env = environment(tmp_path / "home", tmp_path / "tmp") | {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(tmp_path / "cache"),
    }
    command = [sys.executable, "-m", "cortex", "pack", "sentinel"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_room_for_a_world_it_says_so(monkeypatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(world, "build", full)
    code, lines = ran()
    assert code == 1
    assert lines[0].startswith("FAIL ") and "No space left on device" in lines[0]
    assert lines[1] == f"ok  {sentinel.UNTOUCHED}"


def test_a_host_that_cannot_be_imported_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "hermes_state.py").write_text("import what_the_host_lacks\n", "utf-8")
    monkeypatch.delitem(sys.modules, "hermes_state", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert make_state_db(tmp_path / "state.db") == "as Cortex knows them"
    assert columns(tmp_path / "state.db", "messages_fts_trigram") != []


# The host's schema


def columns(database: Path, table: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(f"PRAGMA table_info({table})").fetchall()


def found(database: Path, table: str, words: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid", (words,)
        ).fetchall()


def triggers(database: Path) -> dict[str, str]:
    """Name -> what it does, without regard to blanks; those of the host's other tables too."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        return {name: "".join(sql.split()) for name, sql in rows}


def test_the_session_database_that_is_brought_along_is_the_hosts(tmp_path):
    state = pytest.importorskip("hermes_state", reason="hermes-agent is not installed here")
    theirs, ours = tmp_path / "theirs.db", tmp_path / "ours.db"
    state.SessionDB(db_path=theirs).close()
    execute(ours, STATE_DB + TRIGRAM)
    for table in ("sessions", "messages", "state_meta", "schema_version"):
        assert columns(ours, table) == columns(theirs, table) != []
    for table in ("messages_fts", "messages_fts_trigram"):
        assert columns(ours, table) == columns(theirs, table) != []
    assert triggers(ours) == triggers(theirs) != {}
    for database in (theirs, ours):
        world.add_session(database, "s", "Title", "The quince tree.", 1.0)
        with contextlib.closing(sqlite3.connect(database)) as connection, connection:
            assert connection.execute("SELECT version FROM schema_version").fetchall() == [(22,)]
            connection.execute("UPDATE messages SET content = 'A pear.' WHERE role = 'assistant'")
        assert found(database, "messages_fts", "quince") == [(1,)]
        assert found(database, "messages_fts_trigram", "uinc") == [(1,)]
        assert found(database, "messages_fts", "pear") == [(2,)]


def test_the_memory_store_that_is_brought_along_is_the_hosts(tmp_path):
    reason = "hermes-agent is not installed here"
    store = pytest.importorskip("plugins.memory.holographic.store", reason=reason)
    theirs, ours = tmp_path / "theirs.db", tmp_path / "ours.db"
    opened = store.MemoryStore(db_path=theirs)
    opened.add_fact("The quince tree.")
    opened.close()
    execute(ours, MEMORY_STORE + "INSERT INTO facts (content) VALUES ('The quince tree.');")
    assert columns(ours, "facts") == columns(theirs, "facts") != []
    assert columns(ours, "facts_fts") == columns(theirs, "facts_fts") != []
    assert triggers(ours) == triggers(theirs) != {}
    assert found(ours, "facts_fts", "quince") == found(theirs, "facts_fts", "quince") == [(1,)]


# Each proof can fail


class Spoilt:
    """A Cortex one of whose answers is another."""

    def __init__(self, cortex: Cortex, answers: Mapping[str, Callable[..., Any]]) -> None:
        self._cortex = cortex
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        if name in self._answers:
            return lambda *args, **named: self._answers[name](self._cortex, *args, **named)
        return getattr(self._cortex, name)


def changed(pack: Pack, name: str, **values: Any) -> Pack:
    """A pack one of whose sections is another."""
    sections = [
        dataclasses.replace(section, **values) if section.name == name else section
        for section in pack.sections
    ]
    return dataclasses.replace(pack, sections=tuple(sections))


def worded(pack: Pack, word: str) -> Pack:
    """A pack whose first item of the first section that has one holds a word more."""
    section = next(section for section in pack.sections if section.items)
    first, *others = section.items
    items = (dataclasses.replace(first, text=f"{first.text} {word}"), *others)
    return changed(pack, section.name, items=items)


def _and_writes(cortex: Cortex, **asked: Any) -> Pack:
    (cortex.config.path.parent / "packed").touch()
    return cortex.pack(**asked)


def _reversed(cortex: Cortex, **asked: Any) -> Pack:
    pack = cortex.pack(**asked)
    section = next(section for section in pack.sections if section.name == "temporal_facts")
    return changed(pack, section.name, items=section.items[::-1])


def _logging(cortex: Cortex, **asked: Any) -> Pack:
    logging.getLogger("cortex.pack").warning(
        "packed %s", cortex.pack(**{**asked, "redact": False, "allow_secret": True}).as_json()
    )
    return cortex.pack(**asked)


def _needing_an_index(cortex: Cortex, **asked: Any) -> Pack:
    if cortex.state.stamp("index") is None:
        raise Unavailable("pack", "there is no index")
    return cortex.pack(**asked)


def _fresh(cortex: Cortex, pack: object, **asked: Any) -> Any:
    verdict = cortex.verify_pack(cortex.pack(), **asked)
    return dataclasses.replace(verdict, status="fresh")


def packing(change: Callable[[Pack], Pack], **instead: Any) -> dict[str, Callable[..., Any]]:
    return {"pack": lambda cortex, **asked: change(cortex.pack(**{**asked, **instead}))}


def same(pack: Pack) -> Pack:
    return pack


MUTATIONS: list[tuple[str, Callable[..., None], Mapping[str, Callable[..., Any]], str]] = [
    (
        "lacks a source",
        proofs.holds_what_is_known,
        packing(lambda pack: changed(pack, "semantic", items=())),
        "semantic lacks",
    ),
    (
        "tells what has expired",
        proofs.leaves_out_what_no_longer_holds,
        packing(lambda pack: worded(pack, world.PAST_FACT)),
        f"holds {world.PAST_FACT}",
    ),
    (
        "tells what was superseded",
        proofs.leaves_out_what_no_longer_holds,
        packing(lambda pack: worded(pack, world.PAST_HANDOFF)),
        f"holds {world.PAST_HANDOFF}",
    ),
    ("has another order", proofs.is_ordered, {"pack": _reversed}, "does not begin with the newest"),
    (
        "is another each time",
        proofs.is_stable,
        packing(lambda pack: worded(pack, str(time.monotonic_ns()))),
        "the digest: expected",
    ),
    ("writes a file", proofs.writes_nothing, {"pack": _and_writes}, "building a pack wrote"),
    (
        "tells another profile's session",
        proofs.keeps_profiles_apart,
        packing(lambda pack: worded(pack, world.WORK_SESSION)),
        f"the pack of the default profile holds {world.WORK_SESSION}",
    ),
    (
        "tells the default profile's session to another",
        proofs.keeps_profiles_apart,
        packing(lambda pack: worded(pack, world.ROOT_SESSION)),
        f"the pack of work holds {world.ROOT_SESSION}",
    ),
    (
        "tells a secret",
        proofs.drops_secrets,
        packing(same, allow_secret=True),
        "holds the secret of a fact as it is",
    ),
    ("logs a secret", proofs.drops_secrets, {"pack": _logging}, "stands in the log"),
    (
        "does not count what it dropped",
        proofs.drops_secrets,
        packing(lambda pack: changed(pack, "handoffs", refused=0)),
        "handoffs counts no item",
    ),
    (
        "calls refused what is empty",
        proofs.says_that_all_was_refused,
        packing(lambda pack: changed(pack, "handoffs", status="empty")),
        "expected 'refused-secret', found 'empty'",
    ),
    (
        "drops where it should mask",
        proofs.masks_secrets,
        packing(same, redact=False),
        "holds no item with its secret masked",
    ),
    (
        "makes up what a missing database would say",
        proofs.says_when_sessions_are_not_there,
        packing(lambda pack: changed(pack, "session_context", status="ok")),
        "with no database: expected 'unavailable', found 'ok'",
    ),
    (
        "needs an index",
        proofs.says_when_notes_are_not_there,
        {"pack": _needing_an_index},
        "there is no index",
    ),
    (
        "tells of all projects",
        proofs.keeps_projects_apart,
        packing(same, project=None),
        f"the pack of {world.PROJECT} holds",
    ),
    (
        "takes more room",
        proofs.stays_within_its_bounds,
        packing(same, max_bytes=60_000),
        "a pack of at most 1024 bytes has",
    ),
    (
        "calls a stale pack fresh",
        proofs.tells_fresh_from_stale_and_aged,
        {"verify_pack": _fresh},
        "the verdict a day later: expected 'aged', found 'fresh'",
    ),
    (
        "calls a changed pack fresh",
        proofs.tells_a_broken_seal,
        {"verify_pack": _fresh},
        "the verdict on another word: expected 'broken', found 'fresh'",
    ),
]


@pytest.mark.parametrize(
    ("proof", "answers", "why"),
    [mutation[1:] for mutation in MUTATIONS],
    ids=[mutation[0] for mutation in MUTATIONS],
)
def test_a_pack_that_breaks_its_promise_fails_the_proof(proof, answers, why, monkeypatch):
    (row,) = [row for row in proofs.PROOFS if row[1] is proof]
    monkeypatch.setattr(sentinel, "PROOFS", (row,))
    code, lines = ran(lambda config, env: Spoilt(opened(config, env), answers))
    assert code == 1
    assert lines[0].startswith(f"FAIL {row[0]}: ") and why in lines[0], lines[0]
    assert lines[-1] == "1 of 2 proofs hold; see what says FAIL"


def only(proof: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple(row for row in proofs.PROOFS if row[1] is proof)
    assert len(rows) == 1
    monkeypatch.setattr(sentinel, "PROOFS", rows)


def test_no_proof_is_without_a_mutation():
    tried = {mutation[1] for mutation in MUTATIONS}
    others = {proofs.obeys_the_switch, proofs.renders_what_it_holds}  # below
    assert tried | others == {proof for _, proof in proofs.PROOFS}


def test_a_switch_that_is_not_obeyed_fails_the_proof(monkeypatch):
    only(proofs.obeys_the_switch, monkeypatch)
    run_command = proofs.run_command

    def unswitched(words: Any, env: Mapping[str, str], folder: Path) -> Any:
        return run_command(words, {**env, "HERMES_CORTEX_CONTEXT": "on"}, folder)

    monkeypatch.setattr(proofs, "run_command", unswitched)
    code, lines = ran()
    assert code == 1
    assert "what is printed with HERMES_CORTEX_CONTEXT=off: expected" in lines[0]


def test_a_switch_that_is_obeyed_after_a_look_fails_the_proof(monkeypatch):
    only(proofs.obeys_the_switch, monkeypatch)
    run_command = proofs.run_command

    def late(words: Any, env: Mapping[str, str], folder: Path) -> Any:
        opened = run_command(words, {**env, "HERMES_CORTEX_CONTEXT": "on"}, folder).opened
        return dataclasses.replace(run_command(words, env, folder), opened=opened)

    monkeypatch.setattr(proofs, "run_command", late)
    code, lines = ran()
    assert code == 1
    assert "switched off, it opened config.yaml" in lines[0]


def test_markdown_that_ends_its_frame_fails_the_proof(monkeypatch):
    only(proofs.renders_what_it_holds, monkeypatch)
    render = proofs.to_markdown
    monkeypatch.setattr(proofs, "to_markdown", lambda pack: f"{render(pack)}\n</cortex_context>")
    code, lines = ran()
    assert code == 1
    assert "a note can end the frame" in lines[0]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One proof that does what the test makes of it."""
    monkeypatch.setattr(sentinel, "PROOFS", (("it does", lambda stage: stage.cortex().do()),))
    yield


def doing(what: Callable[[], object]) -> Callable[..., Any]:
    return lambda config, env: Spoilt(opened(config, env), {"do": lambda _: what()})


def test_what_is_written_elsewhere_fails_the_last_proof(tmp_path, quick):
    code, lines = ran(doing((tmp_path / "elsewhere").touch))
    assert code == 1
    assert lines[1] == f"FAIL {sentinel.UNTOUCHED}: written: {tmp_path / 'elsewhere'}"


def test_a_database_opened_elsewhere_fails_the_last_proof(tmp_path, quick):
    database = tmp_path / "state.db"
    execute(database, STATE_DB)

    def look() -> None:
        uri = f"{database.as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True)):
            pass

    code, lines = ran(doing(look))
    assert code == 1
    assert lines[1] == f"FAIL {sentinel.UNTOUCHED}: opened: {database}"


def test_a_look_into_the_users_own_home_fails_the_last_proof(tmp_path, quick, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "MEMORY.md").write_text("mine", "utf-8")
    code, lines = ran(doing((tmp_path / "memories" / "MEMORY.md").read_text))
    assert code == 1
    assert "MEMORY.md" in lines[1]


def test_a_changed_environment_fails_the_last_proof(quick, monkeypatch):
    monkeypatch.setenv("CORTEX_SENTINEL_TEST", "before")
    code, lines = ran(doing(lambda: monkeypatch.setenv("CORTEX_SENTINEL_TEST", "after")))
    assert code == 1
    assert "the environment or the working folder" in lines[1]


def test_a_bug_fails_its_proof_and_the_others_go_on(monkeypatch):
    def bug(stage: Any) -> None:
        raise KeyError(stage.world.secrets["a note"])

    monkeypatch.setattr(sentinel, "PROOFS", (("it works", bug), ("it holds", lambda stage: None)))
    code, lines = ran()
    assert code == 1
    assert lines[0] == "FAIL it works: KeyError: '[the secret of a note]'"
    assert lines[1] == "ok  it holds"
