"""cortex embed: only texts never seen, resumable, one model at a time, Chroma in step."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import cortex.app
from conftest import CortexMaker
from cortex import Cortex, Unavailable
from cortex.embedder import build, chroma
from cortex.embedder.build import windows
from cortex.embedder.models import HashingEmbedder
from cortex.embedder.vectors import ExactVectors
from cortex.protocols import Vectors
from cortex.types import Chunk

NOTES = {"a.md": "# A\none\n\n## B\ntwo", "c.md": "# C\nthree"}


def test_only_texts_never_seen_are_encoded(cortex_with: CortexMaker, tmp_path: Path) -> None:
    cortex = cortex_with(NOTES, build=False)
    cortex.index()
    first = cortex.embed()
    assert (first.encoded, first.vectors, first.chroma) == (3, 3, 3)
    assert cortex.embed().encoded == 0
    (tmp_path / "vault/a.md").write_text("# A\none\n\n## B\nother")
    cortex.index()
    assert cortex.embed().encoded == 1
    (tmp_path / "vault/deep").mkdir()
    (tmp_path / "vault/c.md").rename(tmp_path / "vault/deep/c.md")
    cortex.index()
    moved = cortex.embed()
    assert (moved.encoded, moved.vectors, moved.chroma) == (0, 3, 3)


def test_a_changed_title_encodes_the_texts_that_carry_it(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with(NOTES)
    (tmp_path / "vault/a.md").write_text("---\ntitle: New\n---\n" + NOTES["a.md"])
    cortex.index()
    assert cortex.embed().encoded == 2


def test_forcing_the_index_keeps_the_vectors(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(NOTES)
    cortex.index(force=True)
    assert cortex.embed().encoded == 0
    assert cortex.embed(force=True).encoded == 3
    assert cortex.search("three").hits[0].chunk.note == "c.md"


def test_vectors_of_deleted_notes_go(cortex_with: CortexMaker, tmp_path: Path) -> None:
    cortex = cortex_with(NOTES)
    (tmp_path / "vault/a.md").unlink()
    cortex.index()
    report = cortex.embed()
    assert (report.vectors, report.chroma, report.encoded) == (1, 1, 0)
    (tmp_path / "vault/c.md").unlink()
    cortex.index()
    report = cortex.embed()
    assert (report.vectors, report.chroma) == (0, 0)
    assert cortex.search("three").hits == ()


def test_vectors_out_of_use_are_dropped_before_they_outweigh_the_rest(
    cortex_with: CortexMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "SPARE_ROWS", 10)
    cortex = cortex_with({f"n{i}.md": f"# N{i}\ntext {i}" for i in range(30)})
    for i in range(25):
        (tmp_path / f"vault/n{i}.md").unlink()
    cortex.index()
    report = cortex.embed()
    assert (report.vectors, report.encoded) == (5, 0)
    stamp = cortex.state.stamp("vectors")
    assert stamp is not None and stamp.values["rows"] == 5
    assert cortex.search("text 29").hits[0].chunk.note == "n29.md"
    assert cortex.embed().encoded == 0


@pytest.mark.parametrize("damage", ["gone", "emptied", "garbage", "cut"])
def test_a_lost_chroma_is_refilled_without_the_model(
    cortex_with: CortexMaker, tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES)
    folder = tmp_path / "state/chroma"
    if damage == "gone":
        shutil.rmtree(folder)
    elif damage == "emptied":
        with chroma.Chroma(folder, "cortex-vault", "hashing-64-1") as store:
            store.fill([], np.zeros((0, 64), np.float32))
    elif damage == "cut":
        with open(folder / "chroma.sqlite3", "r+b") as file:
            file.truncate((folder / "chroma.sqlite3").stat().st_size - 50)
    else:
        (folder / "chroma.sqlite3").write_bytes(b"no database at all" * 100)

    def never(*_: object) -> Vectors:
        raise AssertionError("the model was asked")

    monkeypatch.setattr(HashingEmbedder, "embed_documents", never)
    report = cortex.embed()
    assert (report.encoded, report.chroma, report.refilled) == (0, 3, True)


class Stopping(HashingEmbedder):
    """Is interrupted after a number of calls."""

    calls_left = 2

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        if self.calls_left == 0:
            raise KeyboardInterrupt
        type(self).calls_left -= 1
        return super().embed_documents(texts)


def test_an_interrupted_run_goes_on_where_it_stopped(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with({f"n{i}.md": f"# N{i}\ntext {i}" for i in range(700)}, build=False)
    cortex.index()
    monkeypatch.setattr(cortex, "_embedder", lambda _: Stopping())
    with pytest.raises(KeyboardInterrupt):
        cortex.embed()
    partial = cortex.search("text 3")
    assert "vector" in partial.ran
    assert any("512 of 700 chunks have vectors" in warning for warning in partial.warnings)
    monkeypatch.undo()
    assert cortex.embed().encoded == 700 - 512


def test_another_model_is_noticed_and_never_mixed(cortex_with: CortexMaker) -> None:
    cortex_with(NOTES)
    other = cortex_with({}, "embeddings: {model: hashing-128}", build=False)
    before = other.search("three")
    assert "vector" in before.ran  # the old model can still embed the query
    assert any("built with hashing" in w and "cortex embed" in w for w in before.warnings)
    assert other.embed().encoded == 3
    after = other.search("three")
    assert after.warnings == () and after.hits[0].chunk.note == "c.md"
    same_size = cortex_with({}, "embeddings: {model: hashing-128-b}", build=False)
    assert same_size.embed().encoded == 3


def test_without_the_old_model_words_answer_and_the_result_says_so(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES)
    original = cortex._embedder

    def only_new(model: str) -> object:
        if model != "hashing-128":
            raise Unavailable("vector", "hashing is gone; run: cortex embed")
        return original(model)

    other = cortex_with({}, "embeddings: {model: hashing-128}", build=False)
    monkeypatch.setattr(other, "_embedder", only_new)
    result = other.search("three")
    assert result.ran == ("bm25", "graph")
    assert [missing.what for missing in result.unavailable] == ["vector"]
    assert result.hits[0].chunk.note == "c.md"


def test_a_missing_model_leaves_words_and_names_the_fetch(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    settings = f"embeddings: {{cache_folder: '{tmp_path / 'no-models'}'}}"
    cortex = cortex_with(NOTES, settings, build=False)
    cortex.index()
    with pytest.raises(Unavailable, match="run: cortex model fetch"):
        cortex.embed()
    result = cortex.search("three")
    assert result.hits[0].chunk.note == "c.md"
    assert "vector" in [missing.what for missing in result.unavailable]


def test_a_damaged_vector_index_of_chroma_is_replaced_and_not_opened(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"many.md": "".join(f"# H{i}\n\nword{i}\n\n" for i in range(1200))})
    [header] = (tmp_path / "state/chroma").rglob("header.bin")
    with open(header, "r+b") as file:
        file.truncate(header.stat().st_size // 2)
    (tmp_path / "vault/new.md").write_text("fresh")
    cortex.index()
    report = cortex.embed()  # opening it would end the process
    assert (report.encoded, report.chroma, report.refilled) == (1, 1201, True)


def test_a_note_of_no_tokens_under_a_long_title_is_embedded_by_its_place(
    cortex_with: CortexMaker,
) -> None:
    title = " ".join(f"t{i}" for i in range(800))
    cortex = cortex_with({"a.md": f"---\ntitle: {title}\n---\n\u200b\u200d\n", "b.md": "x"})
    assert cortex.embed().vectors == 2


def chunk(text: str, place: tuple[str, ...] = ("Heading",)) -> Chunk:
    return Chunk("id", "n.md", "Title", place, 0, 0, 1, 1, text)


def test_a_long_chunk_gets_several_windows_that_hold_every_word() -> None:
    embedder = HashingEmbedder()
    text = "\n\n".join(f"word{i} of the text, and more of it." for i in range(400))
    pieces = windows(embedder, chunk(text))
    assert len(pieces) > 1
    assert all(len(embedder.token_starts(piece)) <= embedder.window for piece in pieces)
    assert all(piece.startswith("Title > Heading\n") for piece in pieces)
    found = {word for piece in pieces for word in piece.split()}
    assert set(text.split()) <= found
    assert windows(embedder, chunk("short")) == ["Title > Heading\nshort"]


def test_a_text_at_the_end_of_a_long_chunk_is_within_reach(
    cortex_with: CortexMaker, models_folder: Path
) -> None:
    settings = f"embeddings: {{cache_folder: '{models_folder}'}}"
    filler = " ".join(["lorem"] * 50)
    table = "\n".join(f"| {filler} | {i} |" for i in range(5))
    cortex = cortex_with(
        {
            "long.md": f"# Misc\n{table}\n| the heron sleeps on one leg | 9 |",
            "other.md": "# Tax\nforms",
        },
        settings,
    )
    [first, *_] = cortex.search("a bird resting", channels=["vector"]).hits
    assert first.chunk.note == "long.md"


def test_exact_cosine_and_chroma_give_the_same_answers(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({f"n{i}.md": f"word{i} word{i % 7} word{i % 11} end" for i in range(200)})
    stamp = cortex.state.stamp("vectors")
    assert stamp is not None
    exact = ExactVectors(stamp, cortex.state.root)
    approximate = chroma.ChromaVectors(
        tmp_path / "state/chroma", "cortex-vault", stamp.values["identity"]
    )
    for i in range(0, 200, 10):
        vector = HashingEmbedder().embed_query(f"word{i} word{i % 7}")
        left = exact.nearest(vector, 10, None)
        right = approximate.nearest(vector, 10, None)
        np.testing.assert_allclose([c for *_, c in left], [c for *_, c in right], atol=1e-5)
        allowed = {note for _, note, _ in left[3:6]}
        assert {note for _, note, _ in exact.nearest(vector, 5, allowed)} == allowed
        assert {note for _, note, _ in approximate.nearest(vector, 5, allowed)} == allowed
    assert exact.nearest(vector, 5, set()) == approximate.nearest(vector, 5, set()) == []


def test_search_over_chroma_ranks_like_search_over_exact_vectors(cortex_with: CortexMaker) -> None:
    notes = {f"n{i}.md": f"word{i} word{i % 7} end" for i in range(60)}
    exact = cortex_with(notes, "search: {vector_engine: exact}")
    other = cortex_with({}, "search: {vector_engine: chroma}", build=False)
    left = exact.search("word3 word10", channels=["vector"], top_k=5)
    right = other.search("word3 word10", channels=["vector"], top_k=5)
    assert right.unavailable == ()
    assert left.hits[0].chunk.id == right.hits[0].chunk.id


def test_files_of_others_beside_the_store_stay_and_do_not_disturb_it(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with(NOTES)
    (tmp_path / "state/chroma/precious.txt").write_text("mine")
    assert cortex.embed().refilled is False
    (tmp_path / "state/chroma/chroma.sqlite3").write_bytes(b"broken" * 99)
    assert cortex.embed().refilled is True
    assert (tmp_path / "state/chroma/precious.txt").read_text() == "mine"


def test_a_folder_that_is_no_chroma_store_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/file.txt").write_text("x")
    with pytest.raises(cortex.app.CortexError, match="left alone"):
        chroma.remove(tmp_path / "precious")
    assert (tmp_path / "precious/file.txt").read_text() == "x"


def test_a_running_reader_sees_a_new_generation(cortex_with: CortexMaker, tmp_path: Path) -> None:
    reader = cortex_with(NOTES)
    assert reader.search("three").hits[0].chunk.note == "c.md"
    writer = Cortex.open(tmp_path / "state/config.yaml", env={})
    (tmp_path / "vault/new.md").write_text("brandnewword")
    writer.index()
    result = reader.search("brandnewword")
    assert result.hits[0].chunk.note == "new.md"
    assert any("vectors lag" in warning for warning in result.warnings)
    writer.embed()
    writer.build_graph()
    assert reader.search("brandnewword").warnings == ()
