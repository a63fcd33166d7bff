"""`cortex doctor`: each thing that can break is broken for real, named, and mended as it says."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cortex import Cortex
from cortex.checks import doctor_artifacts, doctor_chroma, doctor_model
from cortex.checks.doctor import BUILDERS, FIX, Check, Finding, examined, told
from cortex.checkup import CheckUp, check_up
from cortex.cli import main
from cortex.embedder import chroma
from cortex.ops import doctor_host, doctor_python

NOTES = {
    "bees.md": "---\ntags: [garden]\n---\n# Bees\nThey dance for [[honey]] and [[wax]].",
    "honey.md": "# Honey\nSweet, and kept by [[bees]].",
    "old/box.md": "# Box\nEmpty, but for a tide table.",
}
REBUILD = ["cortex index", "cortex embed", "cortex graph build"]
Break = Callable[[Cortex], object]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "hermes-home"


@pytest.fixture
def env(home: Path, tmp_path: Path) -> dict[str, str]:
    return {"HERMES_HOME": str(home), "HOME": str(tmp_path), "PATH": os.environ.get("PATH", "")}


def examine(cortex: Cortex, env: dict[str, str], **options: bool) -> CheckUp:
    return check_up(cortex.config.path, env, **options)


def wrong(result: CheckUp, *levels: str) -> list[Finding]:
    return [f for f in result.findings if f.level in (levels or ("problem", "warning"))]


def test_what_is_sound_is_found_sound_and_nothing_is_written(cortex_with, env):
    cortex = cortex_with(NOTES)
    before = everything(cortex)
    result = examine(cortex, env)
    assert wrong(result) == []
    assert result.is_sound and result.next() == []
    seen = {f.group for f in result.findings if f.level == "ok"}
    assert seen >= {"python", "config", "vault", "state", "index", "model", "vectors", "search"}
    assert [f.what for f in result.findings if f.command == "cortex graph broken"] == [
        "links in notes that lead nowhere: 1"
    ]
    assert everything(cortex) == before


def everything(cortex: Cortex) -> dict[str, bytes]:
    """All files of state and vault, but for SQLite's own passing ones and the empty lock."""
    roots = (cortex.config.state, cortex.config.vault.path)
    files = [p for root in roots if root for p in sorted(root.rglob("*")) if p.is_file()]
    return {str(p): p.read_bytes() for p in files if not p.name.endswith((".lock", "-journal"))}


# Breakages of what was built. Each: how to break it, what is said, the command that mends it.


def overwrite(path: Path, old: bytes, new: bytes) -> None:
    """Another content of the same length, in the very file that has several names."""
    data = path.read_bytes()
    assert old in data and len(old) == len(new)
    with open(path, "r+b") as file:
        file.write(data.replace(old, new))


def generation(cortex: Cortex, kind: str) -> Path:
    stamp = cortex.state.stamp(kind)
    assert stamp is not None
    return stamp.folder


def add_row_to_chroma(cortex: Cortex, statement: str) -> None:
    with sqlite3.connect(cortex.config.index.chroma_path / "chroma.sqlite3") as database:
        database.execute(statement)
    database.close()


def scramble_vectors(cortex: Cortex, value: Callable[[np.ndarray], np.ndarray]) -> None:
    stamp = cortex.state.stamp("vectors")
    assert stamp is not None
    path = cortex.state.root / stamp.values["cache"] / "vectors.f32"
    rows = np.fromfile(path, dtype=np.float32).reshape(-1, stamp.values["dimensions"])
    value(rows).astype(np.float32).tofile(path)


def half(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size // 2)


def stamped(cortex: Cortex, kind: str, **values: object) -> None:
    path = cortex.state.root / f"{kind}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def run_that(outcome: str) -> Break:
    def note(cortex: Cortex) -> None:
        path = cortex.state.root / "runs.json"
        document = json.loads(path.read_text())
        document["runs"]["graph"] |= {"outcome": outcome, "error": "the disk was full"}
        path.write_text(json.dumps(document))

    return note


def vault_of(cortex: Cortex) -> Path:
    assert cortex.config.vault.path is not None
    return cortex.config.vault.path


BUILT: dict[str, tuple[Break, str, str]] = {
    "no index": (
        lambda c: (c.state.root / "index.json").unlink(),
        "there is no index yet",
        "cortex index",
    ),
    "index stamp is no JSON": (
        lambda c: (c.state.root / "index.json").write_text("{"),
        "index.json is damaged",
        "cortex index --force",
    ),
    "chunks are cut short": (
        lambda c: half(generation(c, "index") / "chunks.jsonl"),
        "chunks.jsonl has",
        "cortex index --force",
    ),
    "a file of the index is gone": (
        lambda c: (generation(c, "index") / "notes.jsonl").unlink(),
        "notes.jsonl is missing",
        "cortex index --force",
    ),
    "an array of the index is damaged": (
        lambda c: overwrite(generation(c, "index") / "notes.keys.npy", b"NUMPY", b"NUMPI"),
        "notes.keys.npy is damaged",
        "cortex index --force",
    ),
    "a chunk says something else": (
        lambda c: overwrite(generation(c, "index") / "chunks.jsonl", b"Sweet", b"Bitte"),
        "records of the index are damaged: chunk 1",
        "cortex index --force",
    ),
    "a note of the index is no JSON": (
        lambda c: overwrite(generation(c, "index") / "notes.jsonl", b'"file"', b'"file '),
        "damaged",
        "cortex index --force",
    ),
    "the keyword index is gone": (
        lambda c: shutil.rmtree(generation(c, "index") / "lexical"),
        "lexical",
        "cortex index --force",
    ),
    "the generation is gone": (
        lambda c: shutil.rmtree(generation(c, "index")),
        "is missing",
        "cortex index --force",
    ),
    "the public copy is gone": (
        lambda c: (c.state.root / "chunks.jsonl").unlink(),
        "chunks.jsonl is missing or damaged",
        "cortex index",
    ),
    "the vault has changed": (
        lambda c: (vault_of(c) / "new.md").write_text("# New\nA fresh note."),
        "the vault has changed since the index (1 added)",
        "cortex index",
    ),
    "no vectors": (
        lambda c: (c.state.root / "vectors.json").unlink(),
        "nothing has been embedded yet",
        "cortex embed",
    ),
    "vectors lag": (
        lambda c: ((vault_of(c) / "new.md").write_text("# New\nFresh."), c.index()),
        "the vectors lag behind the index",
        "cortex embed",
    ),
    "vectors were lost": (
        lambda c: half(next(c.state.root.glob("vectors/*/vectors.f32"))),
        "has lost vectors",
        "cortex embed",
    ),
    "vectors are not of length 1": (
        lambda c: scramble_vectors(c, lambda rows: rows * 3),
        "3 of 3 stored vectors are damaged",
        "cortex embed --force",
    ),
    "vectors are no numbers": (
        lambda c: scramble_vectors(c, lambda rows: rows * np.float32("nan")),
        "3 of 3 stored vectors are damaged",
        "cortex embed --force",
    ),
    "vectors are of other texts": (
        lambda c: scramble_vectors(c, lambda rows: np.roll(rows, 1, axis=1)),
        "3 of 3 stored vectors are not what the model gives",
        "cortex embed --force",
    ),
    "vectors are of another model": (
        lambda c: stamped(c, "vectors", model="elsewhere/other-model"),
        "the vectors were built with elsewhere/other-model",
        "cortex embed",
    ),
    "the model has become another": (
        lambda c: stamped(c, "vectors", identity="hashing:other"),
        "not with hashing-64 as it is now",
        "cortex embed",
    ),
    "no Chroma": (
        lambda c: shutil.rmtree(c.config.index.chroma_path),
        "chroma is missing or damaged",
        "cortex embed",
    ),
    "Chroma is no database": (
        lambda c: (c.config.index.chroma_path / "chroma.sqlite3").write_bytes(b"no database"),
        "chroma is missing or damaged",
        "cortex embed",
    ),
    "Chroma lacks a vector": (
        lambda c: add_row_to_chroma(c, "DELETE FROM embeddings WHERE id = 1"),
        "does not hold the vectors in use: 1 are missing",
        FIX,
    ),
    "Chroma has a stranger": (
        lambda c: add_row_to_chroma(
            c,
            "INSERT INTO embeddings (segment_id, embedding_id, seq_id) "
            "SELECT segment_id, 'stranger', 99 FROM embeddings LIMIT 1",
        ),
        "1 belong to no chunk",
        FIX,
    ),
    "Chroma is another model's": (
        lambda c: add_row_to_chroma(c, "UPDATE collection_metadata SET str_value = 'other'"),
        "holds another model's vectors",
        FIX,
    ),
    "Chroma's marker is gone": (
        lambda c: (c.state.root / "chroma.json").unlink(),
        "nothing says what Chroma",
        FIX,
    ),
    "the collection is gone": (
        lambda c: add_row_to_chroma(c, "UPDATE collections SET name = 'somebody-elses'"),
        "has no collection",
        FIX,
    ),
    "no graph": (
        lambda c: (c.state.root / "graph.json").unlink(),
        "there is no graph yet",
        "cortex graph build",
    ),
    "the graph is cut short": (
        lambda c: half(generation(c, "graph") / "graph_edges.jsonl"),
        "graph_edges.jsonl has",
        "cortex graph build",
    ),
    "the counts of the graph are no JSON": (
        lambda c: overwrite(generation(c, "graph") / "graph_stats.json", b"{", b"["),
        "graph_stats.json",
        "cortex graph build",
    ),
    "an edge leads to no node": (
        lambda c: overwrite(
            generation(c, "graph") / "graph_edges.jsonl", b'"note:honey.md"', b'"note:honez.md"'
        ),
        "lead to no node",
        "cortex graph build",
    ),
    "the last build failed": (
        run_that("failed"),
        "failed on",
        "cortex graph build",
    ),
    "the last build was killed": (
        run_that("running"),
        "was killed",
        "cortex graph build",
    ),
    "killed runs left something": (
        lambda c: (
            (c.state.root / "generations" / "index-0123456789ab").mkdir(),
            (c.state.root / ".new-half").write_text("x"),
        ),
        "killed runs left 2 files and folders: generations/index-0123456789ab, .new-half",
        FIX,
    ),
}


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chroma is asked in a process of its own, which costs seconds: only where that is tested."""
    monkeypatch.setattr(doctor_chroma, "_opened", lambda *_: iter(()))


@pytest.mark.parametrize("what", BUILT)
def test_what_breaks_is_named_and_its_command_mends_it(
    what, cortex_with, env, capsys, monkeypatch, in_process
):
    break_it, said, command = BUILT[what]
    cortex = cortex_with(NOTES)
    break_it(cortex)
    result = examine(cortex, env)
    found = [f for f in wrong(result) if said in f.what]
    assert found, [f.what for f in wrong(result)]
    assert found[0].command == command
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    config = ["--quiet", "--config", str(cortex.config.path)]
    steps = [command] if command == FIX else result.next()
    assert command in steps
    # Whatever else it may name, e.g. `cortex install`, would change the Python of these tests.
    assert all(step == FIX or step.startswith(BUILDERS) for step in steps), steps
    for step in steps:
        main([*shlex.split(step)[1:], *config])
    capsys.readouterr()
    assert wrong(examine(cortex, env)) == []


@pytest.mark.parametrize("what", BUILT)
def test_fix_mends_it_by_itself_and_says_what_it_did(what, cortex_with, env, in_process):
    cortex = cortex_with(NOTES)
    BUILT[what][0](cortex)
    notes = {p: p.read_bytes() for p in vault_of(cortex).rglob("*.md")}
    result = examine(cortex, env, fix=True)
    assert wrong(result) == []
    assert result.fixed and not result.failed
    assert {p: p.read_bytes() for p in vault_of(cortex).rglob("*.md")} == notes
    hit = cortex.search("sweet honey", top_k=1)
    assert hit.hits[0].chunk.note == "honey.md" and not hit.unavailable


def test_a_byte_that_has_changed_anywhere_in_a_generation_is_found(cortex_with, env):
    cortex = cortex_with(NOTES)
    for kind in ("index", "vectors", "graph"):
        stamp = cortex.state.stamp(kind)
        assert stamp is not None and stamp.damaged() == []
        for name in stamp.values["files"]:
            path = stamp.folder / name
            data = path.read_bytes()
            if data:
                with open(path, "r+b") as file:
                    file.write(bytes([data[0] ^ 1]))
                assert stamp.damaged() == [name]
                with open(path, "r+b") as file:
                    file.write(data[:1])
    with open(generation(cortex, "graph") / "graph_nodes.jsonl", "r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(b" ")
    found = wrong(examine(cortex, env), "problem")
    assert "graph_nodes.jsonl" in found[0].what
    assert found[0].command == "cortex graph build"


def test_a_damaged_chroma_that_ends_the_process_does_not_end_the_doctor(cortex_with, env):
    cortex = cortex_with({f"n{i}.md": f"# Note {i}\nAbout {i}." for i in range(1100)})
    segments = [p for p in cortex.config.index.chroma_path.iterdir() if p.is_dir()]
    assert segments, "over 1,000 vectors Chroma writes its index to disk"
    for file in segments[0].iterdir():
        size = file.stat().st_size
        file.write_bytes(b"\xff" * size)
    result = examine(cortex, env)
    found = [f for f in result.findings if "chroma" in f.what and f.level == "problem"]
    assert found and found[0].command == FIX
    assert wrong(examine(cortex, env, fix=True)) == []


def test_others_in_a_shared_chroma_are_left_alone(cortex_with, env):
    cortex = cortex_with(NOTES)
    import chromadb

    client = chroma._open(cortex.config.index.chroma_path)
    client.create_collection("theirs", embedding_function=None).add(ids=["x"], embeddings=[[1.0]])
    chroma._let_go()
    del client
    (cortex.state.root / "chroma.json").unlink()
    result = examine(cortex, env, fix=True)
    assert wrong(result) == []
    assert any("collections of others" in f.what and "theirs" in f.what for f in result.findings)
    client = chromadb.PersistentClient(str(cortex.config.index.chroma_path))
    assert client.get_collection("theirs").count() == 1
    chroma._let_go()


# Breakages of what only people can mend


def test_a_config_that_is_wrong_is_a_finding_and_the_rest_is_checked_all_the_same(cortex_with, env):
    cortex = cortex_with(NOTES)
    cortex.config.path.write_text("vault: {pth: here}\nserch: {}\n")
    result = examine(cortex, env)
    found = wrong(result)
    mend = f"mend it in {cortex.config.path}"
    assert [(f.group, f.what, f.remedy) for f in found] == [
        ("config", "line 1: vault.pth is not a setting; did you mean path?", mend),
        ("config", "line 2: serch is not a section; did you mean search?", mend),
    ]
    assert {f.group for f in result.findings} >= {"python", "config", "hermes"}


def test_a_config_that_is_no_yaml_is_told_with_what_to_do(cortex_with, env):
    cortex = cortex_with(NOTES, build=False)
    cortex.config.path.write_text("vault: [\n")
    (found,) = wrong(examine(cortex, env))
    assert found.what.startswith(f"{cortex.config.path}: line 2, column 1: ")
    assert found.remedy == "mend the file"


def test_what_was_never_built_is_told_once(cortex_with, env):
    cortex = cortex_with(NOTES, build=False)
    told_of = {f.what: f.level for f in examine(cortex, env).findings}
    assert told_of["there is no index yet"] == "problem"
    cortex.index()
    cortex.build_graph()
    about = [(f.level, f.what) for f in examine(cortex, env).findings if "embedded" in f.what]
    assert about == [("problem", "nothing has been embedded yet")]


def test_without_a_config_it_says_how_to_begin(tmp_path, env):
    result = check_up(None, env)
    assert [f.command for f in wrong(result)] == ["cortex init --vault PATH"]
    assert result.next() == ["cortex init --vault PATH"]
    assert not (tmp_path / "hermes-home").exists()


def test_a_vault_that_is_gone_is_named_and_nothing_is_thrown_away(cortex_with, env):
    cortex = cortex_with(NOTES)
    vault_of(cortex).rename(vault_of(cortex).with_name("elsewhere"))
    result = examine(cortex, env, fix=True)
    assert "is not a folder" in wrong(result, "problem")[0].what
    assert result.fixed == []
    assert cortex.state.stamp("index").values["notes"] == 3


IN_THE_WAY: dict[str, tuple[Break, str, str]] = {
    "the lock is a folder": (
        lambda c: ((c.state.root / "writer.lock").unlink(), (c.state.root / "writer.lock").mkdir()),
        "writer.lock must be a file, and is none",
        "move it away",
    ),
    "the generations are a file": (
        lambda c: (
            shutil.rmtree(c.state.root / "generations"),
            (c.state.root / "generations").write_text("mine"),
        ),
        "generations must be a folder, and is none",
        "move it away",
    ),
    "Chroma's place is taken": (
        lambda c: (
            shutil.rmtree(c.config.index.chroma_path),
            c.config.index.chroma_path.write_text("mine"),
        ),
        "is no Chroma store",
        "name another folder in index.chroma_path",
    ),
}


@pytest.mark.parametrize("what", IN_THE_WAY)
def test_what_no_build_may_replace_is_named_and_stays(what, cortex_with, env, in_process):
    break_it, said, remedy = IN_THE_WAY[what]
    cortex = cortex_with(NOTES)
    break_it(cortex)
    found = [f for f in wrong(examine(cortex, env, fix=True), "problem") if said in f.what]
    assert [(f.remedy, f.command, f.fix) for f in found] == [(remedy, "", "")]
    kept = [p for p in cortex.state.root.iterdir() if p.is_file() and p.read_bytes() == b"mine"]
    assert len(kept) == (what != "the lock is a folder")


def test_what_is_damaged_is_told_once_and_by_its_own_check(cortex_with, env, in_process):
    cortex = cortex_with(NOTES)
    shutil.rmtree(cortex.state.root / "generations")
    found = [(f.group, f.command) for f in wrong(examine(cortex, env))]
    assert found == [
        ("index", "cortex index --force"),
        ("vectors", "cortex embed"),
        ("graph", "cortex graph build"),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "command"),
    [("index", "notes", "cortex index --force"), ("vectors", "dimensions", "cortex embed")],
)
def test_a_stamp_whose_numbers_are_none_is_damaged_and_is_mended(
    kind, name, command, cortex_with, env, in_process
):
    cortex = cortex_with(NOTES)
    stamped(cortex, kind, **{name: "many"})
    assert [(f.group, f.command) for f in wrong(examine(cortex, env))] == [(kind, command)]
    assert wrong(examine(cortex, env, fix=True)) == []


def test_a_fix_that_breaks_in_a_way_nobody_thought_of_is_told(cortex_with, env, monkeypatch):
    cortex = cortex_with(NOTES, build=False)
    monkeypatch.setattr(Cortex, "index", lambda self, force=False: 1 / 0)
    result = examine(cortex, env, fix=True)
    assert result.failed["cortex index"] == "ZeroDivisionError: division by zero"


WARNED: dict[str, tuple[Break, str]] = {
    "no note": (
        lambda c: [p.unlink() for p in vault_of(c).rglob("*.md")],
        "there is no note in the vault",
    ),
    "a copy of a sync": (
        lambda c: (vault_of(c) / "bees.sync-conflict-20260101-010101-AB.md").write_text("# B"),
        "1 copy that a sync left",
    ),
    "names that differ in capitals": (
        lambda c: (vault_of(c) / "BEES.md").write_text("# B"),
        "names that differ in capitals or accents alone: BEES.md, bees.md",
    ),
    "names that differ in how an accent is written": (
        lambda c: [
            (vault_of(c) / name).write_text("# Café") for name in ("caf\u00e9.md", "cafe\u0301.md")
        ],
        "names that differ in capitals or accents alone",
    ),
    "a name that is not UTF-8": (
        lambda c: Path(os.fsdecode(os.fsencode(vault_of(c)) + b"/\xff.md")).write_text("# X"),
        "1 file with a name that is not UTF-8",
    ),
    "a key in the config": (
        lambda c: c.config.path.write_text(
            c.config.path.read_text() + "# OPENAI_API_KEY=sk-proj-Zk3v9Qm2Xw7Lp4Rt8Yb1Nc6Hd5Jf0Gs\n"
        ),
        "what looks like a key or password stands in it, line 3",
    ),
    "everybody may write the config": (
        lambda c: c.config.path.chmod(0o666),
        "everybody may write",
    ),
    "everybody may read what only you should": (
        lambda c: (vault_of(c).chmod(0o700), c.state.root.chmod(0o755)),
        "everybody on this machine may read",
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="rights and names as POSIX has them")
@pytest.mark.parametrize("what", WARNED)
def test_what_may_go_wrong_is_warned_of(what, cortex_with, env):
    break_it, said = WARNED[what]
    cortex = cortex_with(NOTES)
    cortex.state.root.chmod(0o700)
    try:
        break_it(cortex)
    except OSError as error:
        pytest.skip(f"this file system takes no such name: {error}")
    cortex.index()
    cortex.embed()
    cortex.build_graph()
    result = examine(cortex, env)
    assert any(said in f.what for f in wrong(result, "warning")), wrong(result)
    for finding in wrong(result, "warning"):
        if finding.command.startswith("chmod"):
            subprocess.run(finding.command, shell=True, check=True)
            assert finding.what not in [f.what for f in wrong(examine(cortex, env))]


def test_a_folder_rule_that_takes_nothing_is_named(cortex_with, env):
    settings = "vault: {path: '%s', include_folders: [Old, old]}\n"
    cortex = cortex_with(NOTES, build=False)
    text = settings % vault_of(cortex) + "embeddings: {model: hashing}\n"
    cortex.config.path.write_text(text)
    said = [f.what for f in wrong(examine(cortex, env), "warning")]
    assert said == ["vault.include_folders: Old takes no note"]


def test_a_folder_of_the_rules_may_be_empty(cortex_with, env):
    cortex = cortex_with(NOTES, build=False)
    (vault_of(cortex) / "people").mkdir()
    text = (
        f"vault: {{path: '{vault_of(cortex)}', include_folders: [old, people, /people/, ., Gone]}}"
        "\nembeddings: {model: hashing}\n"
    )
    cortex.config.path.write_text(text)
    said = [f.what for f in wrong(examine(cortex, env), "warning")]
    assert said == ["vault.include_folders: Gone takes no note"]


def test_a_vault_as_init_lays_it_out_is_sound(tmp_path, env, monkeypatch):
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    config = ["--config", str(tmp_path / "state" / "config.yaml")]
    assert main(["init", "--vault", str(tmp_path / "vault"), "--scaffold", *config]) == 0
    text = Path(config[1]).read_text("utf-8")
    changed = text.replace('  # model: "auto"\n', "  model: hashing\n", 1)
    assert changed != text
    Path(config[1]).write_text(changed, "utf-8")
    for step in REBUILD:
        assert main([*step.split()[1:], "--quiet", *config]) == 0
    assert wrong(check_up(config[1], env)) == []


def test_a_link_out_of_the_vault_is_told_and_is_no_fault(cortex_with, env, tmp_path):
    (tmp_path / "outside.md").write_text("# Outside")
    cortex = cortex_with(NOTES, build=False)
    (vault_of(cortex) / "out.md").symlink_to(tmp_path / "outside.md")
    result = examine(cortex, env, fix=True)
    assert result.is_sound
    assert any("link out of the vault not followed: out.md" in f.what for f in result.findings)


def test_a_full_disk_is_told_before_the_next_build_stops(cortex_with):
    cortex = cortex_with(NOTES)
    look = doctor_artifacts.state_folder

    def found(free: int) -> list[Finding]:
        return [f for f in look(cortex.state, None, lambda _: free) if f.level != "ok"]

    assert [f.level for f in found(5_000_000)] == ["problem"]
    assert found(10**12) == []


def test_notes_and_folders_that_may_not_be_read_are_named(cortex_with, env):
    cortex = cortex_with(NOTES)
    (vault_of(cortex) / "bees.md").chmod(0)
    (vault_of(cortex) / "old").chmod(0)
    if os.access(vault_of(cortex) / "bees.md", os.R_OK):
        pytest.skip("whoever runs this may read everything")
    said = [f.what for f in wrong(examine(cortex, env), "problem")]
    (vault_of(cortex) / "old").chmod(0o700)
    assert any("1 note cannot be read" in what and "bees.md" in what for what in said)
    assert any("1 folder cannot be listed: old" in what for what in said)


def test_a_run_that_writes_now_is_told_and_waited_for_by_nobody(cortex_with, env):
    cortex = cortex_with(NOTES)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with cortex.state.lock():
            held.set()
            done.wait(60)

    writer = threading.Thread(target=hold)
    writer.start()
    held.wait(60)
    result = examine(cortex, env)
    done.set()
    writer.join()
    assert "a run of Cortex is writing at this moment" in [f.what for f in result.findings]


def test_a_killed_builder_is_told_and_fixed(cortex_with, env):
    cortex = cortex_with(NOTES)
    code = (
        "import os, signal, sys\n"
        "from cortex import Cortex\n"
        "from cortex.indexer import build\n"
        "build._Builder = None\n"
        "from cortex.state import State\n"
        "State.publish = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Cortex.open(sys.argv[1]).index(force=True)\n"
    ).replace("build._Builder = None\n", "")
    ran = subprocess.run([sys.executable, "-c", code, str(cortex.config.path)], check=False)
    assert ran.returncode == -signal.SIGKILL
    said = [f.what for f in wrong(examine(cortex, env), "warning")]
    assert any("the last `cortex index`" in what and "was killed" in what for what in said)
    assert any("killed runs left 1 file or folder" in what for what in said)
    assert wrong(examine(cortex, env, fix=True)) == []


def test_an_index_with_odd_notes_names_them_as_something_to_know(cortex_with, env):
    cortex = cortex_with({**NOTES, "odd.md": "---\na: [b\n---\n# Odd\nText."})
    result = examine(cortex, env)
    told_of = [f for f in result.findings if "frontmatter that is no YAML" in f.what]
    assert [(f.level, f.names) for f in told_of] == [("info", ("odd.md",))]
    assert result.is_sound


def test_frontmatter_and_the_contract_are_told_in_a_line_with_the_command_that_tells_all(
    cortex_with, env
):
    cortex = cortex_with({**NOTES, "typed.md": "---\ntype: fct\nstatus: actve\n---\n# T\nText."})
    found = {f.check: f for f in examine(cortex, env).findings if f.group == "vault"}
    assert found["frontmatter"].level == "info"
    assert found["frontmatter"].command == "cortex validate-frontmatter"
    assert "wiki" not in {f.check for f in wrong(examine(cortex, env))}
    (vault_of(cortex) / "SCHEMA.md").write_text("# Schema\n")
    found = {f.check: f for f in examine(cortex, env).findings if f.group == "vault"}
    assert (found["wiki"].level, found["wiki"].command) == ("warning", "cortex wiki-health")


def test_a_promotion_that_was_interrupted_is_told(cortex_with, env):
    cortex = cortex_with(NOTES)
    driver = (
        "import datetime, os, signal, sys\n"
        "from cortex.desk import Desk\n"
        "from cortex.ops.journal import Journal\n"
        "Journal.note_end = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Desk.open(sys.argv[1]).nightly(write=True)\n"
    )
    inbox = vault_of(cortex) / "00_inbox"
    inbox.mkdir()
    (inbox / "fact.md").write_text(FACT)
    ran = subprocess.run([sys.executable, "-c", driver, str(cortex.config.path)], check=False)
    assert ran.returncode == -signal.SIGKILL
    told_of = [f for f in wrong(examine(cortex, env)) if f.check == "promotion"]
    assert [f.command for f in told_of] == ["cortex lifecycle nightly --write"]
    assert "was interrupted, with 1 note to go" in told_of[0].what


FACT = """---
type: fact
title: Bees dance
status: active
promote: true
review_status: reviewed
confidence: high
importance: 3
created: 2026-01-01
updated: 2026-01-01
source: observed
tags: [bees]
---
# Bees dance

They tell of the way.
"""


# The model


def test_wrong_weights_are_named_with_the_command_that_fetches_them(cortex_with, env):
    cortex = cortex_with(NOTES, "embeddings: {model: all-MiniLM-L6-v2}\n", build=False)
    found = [f for f in wrong(examine(cortex, env), "problem") if f.group == "model"]
    assert [f.command for f in found] == ["cortex model fetch"]
    assert "is not here" in found[0].what


def test_a_model_of_the_hub_is_never_fetched_by_a_check_up(cortex_with, env, tmp_path, monkeypatch):
    sentence_transformers = pytest.importorskip("sentence_transformers")

    def load(*_: object, **__: object) -> None:
        pytest.fail("a model was asked for")

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", load)
    settings = f"embeddings: {{model: nobody/nothing, cache_folder: '{tmp_path / 'hub'}'}}\n"
    cortex = cortex_with(NOTES, settings, build=False)
    found = [(f.what, f.command) for f in wrong(examine(cortex, env)) if f.group == "model"]
    assert found == [("the model nobody/nothing is not on this machine yet", "cortex embed")]
    assert not (tmp_path / "hub").exists()


def test_the_key_of_a_service_that_is_not_set_is_named(cortex_with, env):
    service = "{url: 'http://127.0.0.1:9/v1', api_key_env: MY_KEY, retries: 0}"
    cortex = cortex_with(NOTES, f"embeddings: {{model: m, endpoint: {service}}}\n", build=False)
    said = [f.what for f in wrong(examine(cortex, env), "problem")]
    assert "embeddings.endpoint.api_key_env names MY_KEY, which is not set" in said


# Hermes


def test_without_a_hermes_home_that_is_said_and_is_no_fault(env, home):
    found = list(doctor_host.host(home, env))
    assert not [f for f in found if f.level in ("problem", "warning")]


HOST: dict[str, tuple[str, str, str]] = {
    "no YAML": ("plugins: [", "problem", "cannot be read as YAML settings"),
    "a toolset turned off": (
        "plugins: {enabled: [cortex]}\nagent: {disabled_toolsets: [cortex]}\n",
        "warning",
        "agent.disabled_toolsets of Hermes turns the vault tools off",
    ),
    "turned off on a platform": (
        "plugins: {enabled: [cortex]}\nknown_plugin_toolsets: {telegram: [cortex]}\n"
        "platform_toolsets: {telegram: [web]}\n",
        "info",
        "the vault tools are turned off for telegram",
    ),
    "a shell hook of a program that is gone": (
        "hooks: {pre_llm_call: [{command: '/gone/cortex hook pre_llm_call'}]}\n",
        "problem",
        "the shell hook pre_llm_call of Hermes runs /gone/cortex, which is not there",
    ),
    "not turned on": (
        "model: x\n",
        "info",
        "not on in Hermes yet: the plugin and the skills of Cortex",
    ),
}


@pytest.mark.parametrize("what", HOST)
def test_how_hermes_is_wired_is_told(what, home, env):
    text, level, said = HOST[what]
    home.mkdir()
    (home / "config.yaml").write_text(text)
    found = list(doctor_host.host(home, env))
    assert any(f.level == level and said in f.what for f in found), found


def test_a_dangling_link_to_a_checkout_is_a_problem(home, env, tmp_path):
    (home / "plugins").mkdir(parents=True)
    (home / "plugins" / "cortex").symlink_to(tmp_path / "gone")
    found = [f for f in doctor_host.host(home, env) if f.level == "problem"]
    assert "which is gone" in found[0].what


def test_another_version_in_the_home_is_told(home, env):
    place = home / "plugins" / "cortex"
    place.mkdir(parents=True)
    (place / "plugin.yaml").write_text("name: cortex\nversion: 0.0.9\n")
    said = [f.what for f in doctor_host.host(home, env) if f.level == "warning"]
    assert any("Hermes loads Cortex 0.0.9" in what for what in said)


def test_jobs_that_are_enabled_and_not_installed_are_told(cortex_with, env, home):
    pytest.importorskip("cron.jobs")
    home.mkdir()
    (home / "config.yaml").write_text("model: x\n")
    cortex = cortex_with(NOTES, "cron: {maintenance: {enabled: true}}\n")
    found = [f for f in wrong(examine(cortex, env)) if f.check == "jobs"]
    assert [f.command for f in found][:1] == ["cortex cron install --job maintenance"]
    assert "is enabled in the config and not in the scheduler" in found[0].what
    both = "cron: {maintenance: {enabled: true}, weekly_review: {enabled: true}}\n"
    found = [f for f in wrong(examine(cortex_with(NOTES, both), env)) if f.check == "jobs"]
    assert [(f.command, f.what.startswith("2 jobs are enabled")) for f in found] == [
        ("cortex cron install", True)
    ]


def test_a_job_with_another_schedule_is_told_in_a_sentence():
    from cortex.ops.cron import Standing
    from cortex.ops.cron_faults import faults

    about = ("weekly", "review", "0 3 * * 0", "origin", True, "differs", None, ("schedule",))
    job = Standing(*about, mend="cortex cron install --job weekly")
    assert list(faults([job])) == [
        "the job review stands in the scheduler with another schedule; "
        "run: cortex cron install --job weekly"
    ]


def test_profiles_are_told_and_one_that_is_on_without_a_config_is_warned_of(home, env):
    for name, text in (("work", "plugins: {enabled: [cortex]}\n"), ("play", "model: x\n")):
        (home / "profiles" / name).mkdir(parents=True)
        (home / "profiles" / name / "config.yaml").write_text(text)
    found = {f.what.split(" (")[0]: f for f in doctor_host.profiles(home, env)}
    warned = found["Cortex is on in the profile work, which has no config for it"]
    assert warned.level == "warning" and "init --vault PATH" in warned.command
    assert found["Cortex is not on in the profile play"].level == "info"


# Python


def test_a_package_that_lacks_or_is_too_old_is_named_with_its_command():
    found = list(doctor_python.packages(["no-such-package-of-ours>=1", "numpy>=999"], quick=True))
    assert [(f.what.split(" ")[0], f.command) for f in found if f.level == "problem"] == [
        ("no-such-package-of-ours", "cortex install"),
        ("numpy", "cortex install"),
    ]


def test_a_package_that_does_not_load_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "rank_bm25", None)
    found = list(doctor_python.packages(["rank-bm25>=0.2"], quick=False))
    assert "rank-bm25 cannot be loaded" in found[0].what


# The report


def test_a_check_that_raises_is_itself_a_finding():
    def look() -> list[Finding]:
        raise ZeroDivisionError("oh")

    found = examined(Check("vault", "notes", look))
    assert [(f.level, f.group) for f in found] == [("problem", "vault")]
    assert "the check itself failed (ZeroDivisionError: oh)" in found[0].what


def test_a_message_of_ours_is_taken_apart_into_what_and_command():
    assert told("problem", "it lags; run: cortex embed") == Finding(
        "problem", "it lags", command="cortex embed", fix="cortex embed"
    )
    assert told("problem", "it is shut; open it") == Finding("problem", "it is shut", "open it")


def test_the_document_has_every_finding_and_the_steps_with_their_config(
    cortex_with, env, capsys, monkeypatch
):
    cortex = cortex_with(NOTES, build=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    config = ["--config", str(cortex.config.path)]
    assert main(["doctor", "--json", *config]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema_version"] == 1
    assert (document["sound"], document["fixed"]) == (False, [])
    assert document["next"] == [f"{step} --config {cortex.config.path}" for step in REBUILD]
    keys = {"group", "check", "level", "what", "remedy", "command", "fixable", "names"}
    assert all(set(finding) == keys for finding in document["findings"])
    assert document["counts"]["problem"] == 1
    assert main(["doctor", "--fix", "--json", "--quiet", *config]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["fixed"] == REBUILD
    assert said.err == ""


def test_what_stands_in_a_name_of_a_note_is_never_obeyed(cortex_with, env, capsys, monkeypatch):
    nasty = "\x1b[31mred.md"
    cortex = cortex_with({**NOTES, nasty: "---\na: [b\n---\n# R\nText."})
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert main(["doctor", "--config", str(cortex.config.path)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_quick_loads_no_model_and_asks_no_store(cortex_with, env, monkeypatch):
    cortex = cortex_with(NOTES)
    monkeypatch.setattr(Cortex, "embedder", lambda self: pytest.fail("a model was asked for"))
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("a process was begun"))
    result = examine(cortex, env, quick=True)
    assert wrong(result) == []


def test_fix_says_what_it_could_not_do_and_does_not_try_for_ever(cortex_with, env, monkeypatch):
    cortex = cortex_with(NOTES)
    (cortex.state.root / "index.json").unlink()
    tried: list[str] = []

    def refuse(self: Cortex, force: bool = False) -> None:
        tried.append("index")
        raise OSError(28, "No space left on device", "/state")

    monkeypatch.setattr(Cortex, "index", refuse)
    result = examine(cortex, env, fix=True)
    assert tried == ["index"]
    assert "No space left" in result.failed["cortex index"]
    assert not result.is_sound


def test_where_no_vectors_are_asked_for_none_are_missed(cortex_with, env):
    config = "search: {vector_weight: 0, bm25_weight: 1}\nembeddings: {model: all-MiniLM-L6-v2}\n"
    cortex = cortex_with(NOTES, config, build=False)
    cortex.index()
    cortex.build_graph()
    result = examine(cortex, env)
    assert wrong(result) == []
    assert any("search.vector_weight: 0 asks for none" in f.what for f in result.findings)


def test_sizes_of_weights_are_told_whole(cortex_with):
    def verify() -> list[tuple[str, bool, str]]:
        return [("model.safetensors", True, "90,868,376 bytes, sha256 53aa")]

    config = cortex_with(NOTES, build=False).config
    row = {"name": "m", "available": True, "get": "cortex model fetch"}
    found = list(doctor_model.weights(config, row, verify))
    assert [f.what for f in found] == ["model.safetensors: 90,868,376 bytes as published"]


def test_notes_that_are_left_out_are_named_with_the_setting(cortex_with, env, tmp_path):
    settings = f"vault: {{path: '{tmp_path / 'vault'}', exclude_folders: [old]}}\n"
    cortex = cortex_with(NOTES, settings)
    whats = [f.what for f in examine(cortex, env, quick=True).findings]
    assert "1 note left out by vault.exclude_folders: old/box.md" in whats


def test_that_agents_may_write_is_told(cortex_with, env):
    found = examine(cortex_with(NOTES, "tools: {write: true}\n"), env, quick=True).findings
    assert ("info", "tools.write is true: agents may add notes to the vault") in [
        (f.level, f.what) for f in found
    ]


def test_damaged_vectors_are_told_once_and_in_words(cortex_with, env, capfd):
    cortex = cortex_with(NOTES)
    scramble_vectors(cortex, lambda rows: rows * 0 + np.float32(3e38))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = wrong(examine(cortex, env))
    assert [f.what for f in found if f.group == "vectors"] == [
        "3 of 3 stored vectors are damaged: not of length 1"
    ]
    assert capfd.readouterr().err == ""


def test_what_ends_the_probe_of_chroma_is_told_without_the_name_of_its_class(
    cortex_with, env, monkeypatch
):
    cortex = cortex_with(NOTES)
    monkeypatch.setattr(doctor_chroma, "_PROBE", "raise LookupError('no such segment')")
    found = [f.what for f in wrong(examine(cortex, env)) if "cannot be asked" in f.what]
    assert found == [
        f"Chroma at {cortex.config.index.chroma_path} cannot be asked: no such segment"
    ]


def test_without_the_vault_nothing_is_told_of_how_its_notes_were_read(cortex_with, env):
    cortex = cortex_with({**NOTES, "odd.md": "---\na: [b\n---\n# Odd\nText."})
    shutil.rmtree(vault_of(cortex))
    assert not any("no YAML" in f.what for f in examine(cortex, env, quick=True).findings)
