"""`cortex reset`: what Cortex built goes, all else stays."""

from __future__ import annotations

import json
import os
import shutil
import sys
import uuid
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import CortexError
from cortex.ops.reset import PARTS

NOTES = {
    "bees.md": "---\ntags: [insect]\n---\n# Bees\nHoney of [[wasps]].",
    "wasps.md": "# Wasps\nPaper, and [[nothing]].",
}


@pytest.fixture
def cortex(cortex_with) -> Cortex:
    return cortex_with(NOTES)


def run(cortex: Cortex, *options: str) -> int:
    return main(["reset", *options, "--config", str(cortex.config.path)])


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def reset(cortex: Cortex, *parts: str) -> None:
    desk = Desk(cortex)
    desk.reset(parts, desk.plan_reset(parts))


def test_all_takes_all_that_was_built_and_nothing_else(cortex, capsys):
    state, vault = cortex.config.state, cortex.config.vault.path
    before = {name: (vault / name).read_bytes() for name in NOTES}
    kept = {
        "search-eval.yaml": "cases: []\n",
        "lifecycle/0001/run.json": "{}",
        "writes.jsonl": "{}\n",
        "models/weights.onnx": "weights",
        "candidates.json": "{}",
        "a note of mine.txt": "mine",
        "generations/mine/file": "mine",
        "vectors/mine/notes.txt": "mine",
        "chroma/mine.txt": "mine",
    }
    empty = ("notes of mine", "chroma/an empty folder of mine")
    for name in empty:
        (state / name).mkdir(parents=True, exist_ok=True)
    for name, text in kept.items():
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text(text, "utf-8")
    assert run(cortex, "--all", "--yes") == 0
    files = {name for name in names(state) if (state / name).is_file()}
    assert files == {*kept, "config.yaml", "writer.lock"}
    assert all((state / name).is_dir() for name in empty)
    assert {name: (vault / name).read_bytes() for name in NOTES} == before
    assert "to build it again: cortex index, cortex embed, cortex graph build" in (
        capsys.readouterr().out
    )
    shutil.rmtree(state / "chroma")
    assert run(cortex, "--all", "--yes") == 0
    assert "nothing of Cortex to remove" in capsys.readouterr().out


def test_what_was_reset_is_built_again(cortex):
    found = [hit.chunk.note for hit in cortex.search("honey").hits]
    reset(cortex, *PARTS)
    again = Cortex.open(cortex.config.path, env={})
    with pytest.raises(CortexError, match="cortex index"):
        again.search("honey")
    again.index()
    again.embed()
    again.build_graph()
    result = again.search("honey")
    assert ([hit.chunk.note for hit in result.hits], result.unavailable) == (found, ())


@pytest.mark.parametrize(
    ("part", "gone"),
    [
        ("chunks", {"index.json", "chunks.jsonl", "notes.jsonl"}),
        ("graph", {"graph.json", "graph_nodes.jsonl", "graph_edges.jsonl", "graph_stats.json"}),
        ("vectors", {"vectors.json", "vectors"}),
        ("chroma", {"chroma.json", "chroma"}),
    ],
)
def test_a_part_goes_alone(cortex, part, gone):
    state = cortex.config.state
    before = names(state)
    assert gone < before
    reset(cortex, part)
    left = names(state)
    assert not gone & left
    kind = {"chunks": "index"}.get(part, part)
    others = {
        name for name in before if name.startswith("generations/") and f"/{kind}-" not in name
    }
    assert others <= left
    assert not any(f"generations/{kind}-" in name for name in left)


def test_the_page_of_the_graph_goes_with_the_graph_and_a_page_of_others_stays(cortex):
    state = cortex.config.state
    page = Desk(cortex).write_viewer(None).path
    assert page == state / "graph.html"
    (state / "mine.html").write_text("<p>mine</p>", "utf-8")
    reset(cortex, "chunks")
    assert page.exists()
    reset(cortex, "graph")
    assert not page.exists()
    page.write_text("<!DOCTYPE html><title>mine</title>", "utf-8")
    reset(cortex, *PARTS)
    assert page.read_text("utf-8") == "<!DOCTYPE html><title>mine</title>"
    page.unlink()
    page.symlink_to(state / "mine.html")
    reset(cortex, *PARTS)
    assert page.is_symlink()
    assert (state / "mine.html").exists()


def test_without_chroma_the_exact_vectors_answer_and_embed_fills_it_again(cortex):
    reset(cortex, "chroma")
    again = Cortex.open(cortex.config.path, env={})
    assert again.search("honey").unavailable == ()
    report = again.embed()
    assert (report.encoded, report.chroma) == (0, report.vectors)


def test_it_asks_and_without_a_terminal_removes_nothing(cortex, capsys):
    before = names(cortex.config.state)
    assert run(cortex, "--all") == 1
    told = capsys.readouterr()
    assert "index.json" in told.out and "add --yes" in told.err
    assert run(cortex, "--all", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema_version"], document["removed"]) == (1, False)
    assert run(cortex, "--all", "--dry-run") == 0
    assert run(cortex, "--all", "--dry-run", "--yes") == 0
    assert names(cortex.config.state) == before


def test_nothing_chosen_is_asked_wrongly(cortex, capsys):
    assert run(cortex, "--yes") == 2
    assert "--chunks, --vectors, --chroma, --graph or --all" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="terminals of POSIX")
@pytest.mark.parametrize(("answer", "is_gone"), [("y\n", True), ("n\n", False), ("\x04", False)])
def test_on_a_terminal_it_asks(cortex, answer, is_gone):
    import pty
    import select

    child, terminal = pty.fork()
    if child == 0:
        command = [sys.executable, "-m", "cortex", "reset", "--graph"]
        os.execv(command[0], [*command, "--config", str(cortex.config.path)])
    said = b""
    while b"[y/N]" not in said and select.select([terminal], [], [], 60)[0]:
        said += os.read(terminal, 4096)
    os.write(terminal, answer.encode())
    while select.select([terminal], [], [], 60)[0]:
        try:
            said += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    assert b"graph.json" in said
    assert (code, (cortex.config.state / "graph.json").exists()) == (not is_gone, not is_gone)


def chroma_of(path: Path, *collections: str) -> None:
    import chromadb
    import chromadb.api.shared_system_client as shared

    client = chromadb.PersistentClient(path=str(path))
    for name in collections:
        client.create_collection(name).add(ids=["a"], embeddings=[[1.0, 0.0]])
    shared.SharedSystemClient.clear_system_cache()


def test_a_store_of_others_is_refused_whatever_it_is_called(cortex_with, tmp_path, capsys):
    chroma_of(tmp_path / "theirs", "cortex-vault")  # our default name, and not our mark
    cortex = cortex_with(NOTES, f"index: {{chroma_path: '{tmp_path / 'theirs'}'}}", build=False)
    cortex.index()
    before = names(tmp_path / "theirs")
    assert run(cortex, "--chroma", "--yes") == 1
    assert "a collection cortex-vault that Cortex did not make" in capsys.readouterr().out
    assert run(cortex, "--all", "--yes") == 1  # the rest went
    assert not (cortex.config.state / "index.json").exists()
    assert names(tmp_path / "theirs") == before


def test_a_folder_that_is_no_store_is_refused(cortex_with, tmp_path, capsys):
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "thesis.md").write_text("# Years of work", "utf-8")
    cortex = cortex_with(NOTES, f"index: {{chroma_path: '{tmp_path / 'documents'}'}}", build=False)
    assert run(cortex, "--chroma", "--yes") == 1
    assert "is no Chroma store, so Cortex did not make it" in capsys.readouterr().out
    assert names(tmp_path / "documents") == {"thesis.md"}


def test_collections_of_others_in_our_store_stay(cortex):
    path = cortex.config.index.chroma_path
    chroma_of(path, "theirs")
    reset(cortex, "chroma")
    import chromadb
    import chromadb.api.shared_system_client as shared

    client = chromadb.PersistentClient(path=str(path))
    found = [collection.name for collection in client.list_collections()]
    assert found == ["theirs"]
    assert client.get_collection("theirs").count() == 1
    shared.SharedSystemClient.clear_system_cache()
    again = Cortex.open(cortex.config.path, env={})
    again.embed()
    assert len(Desk(again).plan_reset(["chroma"]).items) == 2


def test_a_damaged_database_goes_if_our_marker_names_it(cortex):
    path = cortex.config.index.chroma_path
    (path / "chroma.sqlite3").write_bytes(b"no database any more" * 100)
    reset(cortex, "chroma")
    assert not path.exists()


def test_files_by_our_names_that_are_not_ours_stay(cortex_with):
    cortex = cortex_with(NOTES, build=False)
    state = cortex.config.state
    theirs = {
        "chunks.jsonl": '{"id": "of another program"}\n',
        "index.json": '{"pages": 3}',
        "graph.json": "not JSON",
        "runs.json": "[]",
        "model.json": "{}",
        "chroma.json": "{}",
    }
    for name, text in theirs.items():
        (state / name).write_text(text, "utf-8")
    assert Desk(cortex).plan_reset(PARTS).items == ()
    assert main(["reset", "--all", "--yes", "--config", str(cortex.config.path)]) == 0
    assert {name: (state / name).read_text("utf-8") for name in theirs} == theirs


def test_a_damaged_pointer_goes_with_its_generations(cortex):
    (cortex.config.state / "graph.json").write_text("{", "utf-8")
    # Taking the writer lock sweeps generations that no pointer names.
    reset(cortex, "graph")
    assert not any("graph" in name for name in names(cortex.config.state))


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_no_link_is_followed(cortex, tmp_path):
    state = cortex.config.state
    (tmp_path / "precious" / "sub").mkdir(parents=True)
    (tmp_path / "precious" / "file").write_text("precious", "utf-8")
    generation = next((state / "generations").glob("index-*"))
    (generation / "out").symlink_to(tmp_path / "precious")
    (state / "generations" / f"graph-{uuid.uuid4().hex[:12]}").symlink_to(tmp_path / "precious")
    (state / "vectors" / "linked").symlink_to(tmp_path / "precious")
    moved = tmp_path / "elsewhere"
    shutil.move(state / "chroma", moved)
    (state / "chroma").symlink_to(moved)
    before = names(moved)
    plan = Desk(cortex).plan_reset(PARTS)
    assert [left.why for left in plan.refused] == [
        "is no folder of its own, so nothing there was made by Cortex"
    ]
    Desk(cortex).reset(PARTS, plan)
    assert names(tmp_path / "precious") == {"sub", "file"}
    assert names(moved) == before
    assert not generation.exists()


@pytest.mark.parametrize("parts", [PARTS, ("chunks",), ("graph",), ("vectors",), ("chroma",)])
def test_killed_at_any_step_the_next_one_finishes_it(cortex, monkeypatch, parts):
    """Each removal in its turn is the last of a run; what is left must be known for ours still."""
    whole, state = cortex.config.state, cortex.config.state.with_name("whole")
    shutil.copytree(whole, state)
    unlink = Path.unlink
    for allowed in range(1000):
        left = allowed

        def dying(path: Path, missing_ok: bool = False) -> None:
            nonlocal left
            if left == 0 and not path.name.startswith(("writer", ".new")):
                raise SystemExit  # as no handler of errors would stop it
            left -= 1
            unlink(path, missing_ok)

        shutil.rmtree(whole)
        shutil.copytree(state, whole)
        desk = Desk(Cortex.open(whole / "config.yaml", env={}))
        monkeypatch.setattr(Path, "unlink", dying)
        try:
            desk.reset(parts, desk.plan_reset(parts))
        except SystemExit:
            is_done = False
        else:
            is_done = True
        monkeypatch.setattr(Path, "unlink", unlink)
        if is_done:
            break
        desk.reset(parts, desk.plan_reset(parts))
        if parts == PARTS:
            assert {file.name for file in whole.iterdir()} == {"config.yaml", "writer.lock"}
        assert desk.plan_reset(parts).items == ()
    assert allowed > 1


def test_it_waits_for_no_one_and_removes_nothing_that_was_not_shown(cortex):
    desk = Desk(cortex)
    shown = desk.plan_reset(PARTS)
    (cortex.config.vault.path / "new.md").write_text("# New\nThing.", "utf-8")
    cortex.index()
    with pytest.raises(CortexError, match="built something meanwhile; nothing was removed"):
        desk.reset(PARTS, shown)
    assert cortex.search("thing").hits


def test_sizes_are_those_of_the_files(cortex):
    plan = Desk(cortex).plan_reset(["chunks"])
    generation = next((cortex.config.state / "generations").glob("index-*"))
    files = [file for file in generation.rglob("*") if file.is_file()]
    item = next(item for item in plan.items if item.path == generation)
    assert item.size == sum(file.stat().st_size for file in files)
    assert len(item.files) == len(files)


def test_names_for_bytes_that_a_generation_holds_have_no_size_of_their_own(cortex, capsys):
    assert run(cortex, "--graph", "--chunks", "--dry-run") == 0
    listed = capsys.readouterr().out
    assert " 0 B " not in listed
    assert any(line.split()[1] == "-" for line in listed.splitlines() if line.startswith("  graph"))
