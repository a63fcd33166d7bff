"""Reranking: by a real cross-encoder, made here of a dozen words and random weights."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex
from cortex.cli import main
from cortex.embedder import cross_encoder as cross_encoder_module
from cortex.embedder.cross_encoder import CrossEncoderReranker
from cortex.embedder.models import quiet_transformers
from cortex.errors import Unavailable, UsageError
from cortex.plugin import Tools
from cortex.runtime import Runtime
from cortex.search import rerank
from cortex.search.ranked import Ranked
from cortex.types import ChannelTrace, Chunk

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY += ["pier", "boards", "salt", "storm", "gauge", "tide", "bell", "hut", "nail", "oak"]
NOTES = {
    f"{name}.md": f"# {name.title()}\n{text}\n"
    for name, text in {
        "alder": "The pier has boards of oak and salt.",
        "birch": "A storm took boards of the pier.",
        "cedar": "The pier, the bell and the tide gauge.",
        "elder": "Nail the boards of the pier before the storm.",
        "maple": "The hut by the pier.",
    }.items()
}


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("cross-encoder"), labels=1)


def made(folder: Path, labels: int) -> Path:
    torch = pytest.importorskip("torch", reason="sentence-transformers is not installed")
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    (folder / "vocab.txt").write_text("\n".join(VOCABULARY), "utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        initializer_range=1.0,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_the_best_hits_stand_as_the_formula_says(
    cortex_with: CortexMaker, cross_encoder: Path
) -> None:
    query = "boards of the pier in a storm"
    settings = f"search: {{reranker: '{cross_encoder}', rerank_top_n: 4}}\n"
    cortex = cortex_with(NOTES, settings)
    before = cortex.search(query, rerank=False).hits
    after = cortex.search(query).hits
    assert len(before) == 5

    given = CrossEncoderReranker(str(cross_encoder), "cpu").scores(
        query, [hit.chunk.search_text for hit in before[:4]]
    )
    low, high = min(given), max(given)
    assert high > low
    worth = {
        hit.chunk.note: 0.5 * hit.score / before[0].score + 0.5 * (score - low) / (high - low)
        for hit, score in zip(before[:4], given, strict=True)
    }
    expected = sorted(worth, key=lambda note: -worth[note])
    assert [hit.chunk.note for hit in after] == [*expected, before[4].chunk.note]
    assert expected != [hit.chunk.note for hit in before[:4]]  # or this would show nothing

    # The scores are dealt out anew; the trace still multiplies to the score, and tells why.
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])
    places = {hit.chunk.note: place for place, hit in enumerate(before, 1)}
    scores = {hit.chunk.note: score for hit, score in zip(before, given, strict=False)}
    for hit in after[:4]:
        factors = hit.trace.factors
        product = hit.trace.fused
        for factor in factors.values():
            product *= factor
        assert product == pytest.approx(hit.score)
        assert hit.trace.notes["rerank"]["from"] == places[hit.chunk.note]
        assert hit.trace.notes["rerank"]["score"] == pytest.approx(scores[hit.chunk.note], abs=1e-4)
    assert "rerank" not in after[4].trace.factors


def test_without_a_reranker_and_with_no_rerank_nothing_is_loaded(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    cortex = cortex_with(NOTES)
    plain = cortex.search("boards of the pier")
    assert all("rerank" not in hit.trace.factors for hit in plain.hits)
    with_model = Cortex.open(
        write(cortex, "search: {reranker: some/cross-encoder}"), env={}, today=cortex._today
    )
    assert with_model.search("boards of the pier", rerank=False).hits == plain.hits
    with pytest.raises(UsageError, match="sentence-transformers cannot be imported"):
        with_model.search("boards of the pier")


def write(cortex: Cortex, settings: str) -> Path:
    path = cortex.config.path
    path.write_text(f"{path.read_text('utf-8')}\n{settings}\n", "utf-8")
    return path


def test_the_superseded_stays_below_what_replaced_it_whatever_the_model_says(
    cortex_with: CortexMaker, cross_encoder: Path
) -> None:
    old = "---\nsuperseded_by: '[[new]]'\n---\n# Old\nBoards of the pier in a storm.\n"
    notes = {**NOTES, "old.md": old, "new.md": "# New\nBoards of the pier in a storm, anew.\n"}
    cortex = cortex_with(notes, f"search: {{reranker: '{cross_encoder}'}}\n")
    for query in ("boards of the pier", "storm", "boards storm", "a pier in a storm", "pier salt"):
        ranked = [hit.chunk.note for hit in cortex.search(query).hits]
        assert ranked.index("new.md") < ranked.index("old.md"), query


def test_a_note_asked_for_by_its_title_keeps_its_place(
    cortex_with: CortexMaker, cross_encoder: Path
) -> None:
    cortex = cortex_with(NOTES, f"search: {{reranker: '{cross_encoder}'}}\n")
    for name in NOTES:
        first = cortex.search(name.removesuffix(".md")).hits[0]
        assert first.chunk.note == name


# The order itself, with a model whose word is known


class Says:
    name = "says"

    def __init__(self, *scores: float) -> None:
        self._scores = list(scores)

    def load(self) -> None:
        raise AssertionError("it is loaded already")

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return self._scores[: len(texts)]


def ranked(*scores: float, exact: Sequence[int] = ()) -> list[Ranked]:
    items = []
    for ordinal, score in enumerate(scores):
        chunk = Chunk(f"c{ordinal}", f"n{ordinal}.md", "N", (), 0, 1, 1, 1, "text", (), ())
        item = Ranked(ordinal, ordinal, ordinal, chunk, score, {})
        if ordinal in exact:
            item.remarks["exact"] = True
        items.append(item)
    return items


def order(items: Sequence[Ranked], top_n: int, *scores: float) -> list[int]:
    found = rerank.reranked(
        items, "q", Says(*scores), top_n, lambda item: rerank.is_exact(item, 0.1)
    )
    assert [item.score for item in found] == pytest.approx(sorted(i.score for i in items)[::-1])
    return [item.ordinal for item in found]


def test_only_the_first_n_change_places() -> None:
    # .5 + .5 * 0 = .5; .45 + .5 * 1 = .95; .4 + .5 * .5 = .65
    assert order(ranked(1.0, 0.9, 0.8, 0.7, 0.6), 3, -2.0, 2.0, 0.0) == [1, 2, 0, 3, 4]


def test_a_model_that_says_one_thing_of_all_changes_nothing() -> None:
    assert order(ranked(1.0, 0.9, 0.8), 3, 0.3, 0.3, 0.3) == [0, 1, 2]


def test_what_is_exact_may_rise_and_never_falls() -> None:
    assert order(ranked(1.0, 0.9, 0.8, exact=[0]), 3, 0.0, 1.0, 1.0) == [0, 1, 2]
    assert order(ranked(1.0, 0.9, 0.8, 0.7, exact=[1]), 4, 0.2, 0.0, 0.5, 1.0) == [3, 1, 2, 0]
    assert order(ranked(1.0, 0.9, 0.8, exact=[2]), 3, 0.0, 0.0, 1.0) == [2, 0, 1]
    assert order(ranked(1.0, 0.9, 0.8, exact=[0, 1]), 3, 0.0, 0.0, 1.0) == [0, 1, 2]


def test_a_title_that_is_all_of_the_question_is_exact_and_one_within_it_is_not() -> None:
    [item] = ranked(1.0)
    item.channels["title"] = ChannelTrace(1, 0.5, 1.0, 0.0, 0.5, 0.008)
    assert rerank.is_exact(item, 0.1)
    item.channels["title"] = ChannelTrace(1, 0.1, 1.0, 0.0, 0.1, 0.002)
    assert not rerank.is_exact(item, 0.1)


# What is not there


def test_a_reranker_that_is_not_there_is_one_line_at_start(
    cortex_with: CortexMaker,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    cross_encoder: Path,
) -> None:
    gone = tmp_path / "gone"
    cortex = cortex_with(NOTES, f"search: {{reranker: '{gone}'}}\n")
    config = str(cortex.config.path)
    assert main(["search", "pier", "--config", config]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err == (
        f"cortex: search.reranker: the model {gone} cannot be used (no such folder); mend that, "
        f'set it to "" in {config}, or leave it out once with --no-rerank\n'
    )
    assert main(["context", "pier", "--config", config]) == 2
    assert main(["search", "pier", "--no-rerank", "--config", config]) == 0
    assert main(["context", "pier", "--no-rerank", "--config", config]) == 0
    capsys.readouterr()
    tools = Tools(Runtime({"CORTEX_CONFIG": config, "HERMES_HOME": str(tmp_path / "home")}))
    assert "search.reranker: " in json.loads(tools.vault_search({"query": "pier"}))["error"]


def test_a_folder_that_holds_no_such_model_says_why(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="sentence-transformers is not installed")
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", made_with_two_labels(tmp_path)):
        with pytest.raises(Unavailable) as caught:
            CrossEncoderReranker(str(folder), "cpu").load()
        assert "\n" not in str(caught.value)
        assert f"the model {folder} cannot be used (" in str(caught.value)
    assert "it gives 2 numbers a pair, not one" in str(caught.value)


def made_with_two_labels(folder: Path) -> Path:
    (folder / "two").mkdir()
    return made(folder / "two", labels=2)


def test_a_hub_model_that_is_not_here_is_not_fetched_where_that_is_forbidden(
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch", reason="sentence-transformers is not installed")
    reranker = CrossEncoderReranker("some/ranker", "cpu", tmp_path, local_files_only=True)
    with pytest.raises(Unavailable, match="not in the cache, and local_files_only"):
        reranker.load()


def test_status_misses_the_package_that_a_reranker_needs(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES, "search: {reranker: some/ranker}")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    [problem] = cortex.status({})["problems"]
    assert problem.startswith("sentence-transformers, which some/ranker needs, is missing; run: ")


def test_a_model_that_fails_at_a_question_is_named_and_the_rest_answers(
    cortex_with: CortexMaker, cross_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES, f"search: {{reranker: '{cross_encoder}'}}\n")

    def fails(self: object, query: str, texts: Sequence[str]) -> list[float]:
        raise Unavailable("rerank", "no memory left")

    monkeypatch.setattr(CrossEncoderReranker, "scores", fails)
    result = cortex.search("boards of the pier")
    assert [(part.what, part.why) for part in result.unavailable] == [("rerank", "no memory left")]
    assert result.hits == cortex.search("boards of the pier", rerank=False).hits


def test_a_hub_that_cannot_give_the_model_is_asked_once_and_not_at_each_question(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES, "search: {reranker: some/absent-ranker}")
    asked: list[str] = []

    def refuses(self: CrossEncoderReranker) -> None:
        asked.append(self.name)
        raise Unavailable("rerank", "no way to the hub")

    monkeypatch.setattr(CrossEncoderReranker, "_loaded", refuses)
    for _ in range(3):
        with pytest.raises(UsageError, match=r"search\.reranker: no way to the hub; mend that"):
            cortex.search("pier")
    assert asked == ["some/absent-ranker"]
    monkeypatch.setattr(cross_encoder_module, "RETRY_AFTER_S", 0)  # as when that time is over
    with pytest.raises(UsageError):
        cortex.search("pier")
    assert len(asked) == 2


def test_a_folder_that_is_not_there_is_told_without_loading_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(Unavailable, match="no such folder"):
        CrossEncoderReranker(str(tmp_path / "gone"), "cpu").load()


def test_what_a_hub_tries_again_is_not_told_line_by_line() -> None:
    pytest.importorskip("transformers", reason="sentence-transformers is not installed")
    library = logging.getLogger("huggingface_hub")
    before = library.level
    with quiet_transformers():
        assert not library.isEnabledFor(logging.WARNING)
        assert library.isEnabledFor(logging.ERROR)
    assert library.level == before
