"""Open what was built, as the settings want it searched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..config import Config
from ..config.schema import SearchConfig
from ..embedder.scripts import readable_share
from ..embedder.vectors import ExactVectors
from ..errors import Damaged, Unavailable
from ..indexer.build import LEXICAL, lexical_notes
from ..indexer.lexical import FieldWeights, RankBM25Index, TantivyIndex
from ..protocols import Embedder
from ..state import Stamp, State
from .boosts import BoostSettings
from .channels import DenseRanker, EmbeddedQuery, LinkGraph
from .corpus import Corpus
from .run import SearchSettings
from .searcher import Searcher

MakeEmbedder = Callable[[str], Embedder]  # of the model with that name


def open_searcher(
    corpus: Corpus, state: State, config: Config, model: Callable[[], str], embedder: MakeEmbedder
) -> Searcher:
    """The searcher over `corpus` and what was built from it; parts that cannot work say why.

    model: names the model in force. embedder: gives the one of a name. The model is asked and
    loaded when the first question comes.
    """
    settings = config.search
    warnings: list[str] = []

    def lexical() -> Any:
        if settings.lexical_engine == "rank_bm25":
            return RankBM25Index(lexical_notes(corpus.stamp), FieldWeights())
        return TantivyIndex.open(corpus.stamp.folder / LEXICAL, FieldWeights())

    def vector() -> _VectorChannel:
        return _vector_channel(corpus, state, config, model, embedder, warnings)

    def graph() -> LinkGraph:
        stamp = state.stamp("graph")
        if stamp is None:
            raise Unavailable("graph", "there is no graph yet; run: cortex graph build")
        if stamp.built_from != corpus.stamp.generation:
            warnings.append("the graph lags behind the index; run: cortex graph build")
        return LinkGraph.open(stamp)

    def attempt(what: str, make: Any) -> Any:
        try:
            return make()
        except Damaged as error:
            return Unavailable(what, str(error))
        except Unavailable as error:
            return error

    parts = attempt("bm25", lexical), attempt("vector", vector), attempt("graph", graph)
    return Searcher(
        corpus,
        *parts,
        settings=_settings(settings),
        warnings=warnings,
    )


def _settings(settings: SearchConfig) -> SearchSettings:
    return SearchSettings(
        bm25_weight=settings.bm25_weight,
        vector_weight=settings.vector_weight,
        graph_weight=settings.graph_weight,
        rrf_k=settings.rrf_k,
        rank=settings.rank,
        fetch_multiplier=settings.fetch_multiplier,
        hops=settings.wikilink_traversal,
        min_score=settings.min_score,
        rerank_top_n=settings.rerank_top_n,
        max_per_note=settings.max_chunks_per_note,
        boosts=BoostSettings(
            recency=settings.recency_boost,
            recency_max=settings.recency_max_boost,
            half_life_days=settings.recency_half_life_days,
            importance=settings.importance_boost,
            importance_max=settings.importance_max_boost,
            max_multiplier=settings.max_boost_multiplier,
            link_chunk_penalty=settings.link_chunk_penalty,
            recency_exempt_folders=settings.recency_exempt_folders,
            recency_exempt_types=settings.recency_exempt_types,
            inactive=settings.inactive_factor,
        ),
    )


def _vector_channel(
    corpus: Corpus,
    state: State,
    config: Config,
    model: Callable[[], str],
    embedder: MakeEmbedder,
    warnings: list[str],
) -> _VectorChannel:
    stamp = state.stamp("vectors")
    if stamp is None:
        raise Unavailable("vector", "nothing has been embedded yet; run: cortex embed")
    if stamp.built_from != corpus.stamp.generation:
        warnings.append("the vectors lag behind the index; run: cortex embed")
    elif not stamp.values["complete"]:
        done, total = stamp.values["chunks"], corpus.stamp.values["chunks"]
        warnings.append(f"{done} of {total} chunks have vectors; run: cortex embed")
    vectors = ExactVectors(stamp, state.root)
    return _VectorChannel(lambda: _open_dense(stamp, vectors, config, model(), embedder))


def _open_dense(
    stamp: Stamp, vectors: ExactVectors, config: Config, model: str, embedder: MakeEmbedder
) -> tuple[DenseRanker, Embedder, tuple[str, ...]]:
    """What ranks by `vectors`, the model that made them, and what to warn of.

    Slow: an embedder may read its weights, load its model or ask a server to tell who it is.
    """
    warnings: tuple[str, ...] = ()
    chosen = embedder(model)
    built_with = stamp.values["model"]
    message = (
        f"the vectors were built with {built_with}, config says "
        f"{config.embeddings.told(model)}; run: cortex embed"
    )
    try:
        is_same = chosen.identity == stamp.values["identity"]
    except Unavailable as error:
        if built_with == model:
            raise
        is_same, message = False, error.why
    if not is_same:  # what is there serves until the new model's vectors are whole
        chosen = embedder(built_with)
        if chosen.identity != stamp.values["identity"]:
            raise Unavailable("vector", message)
        warnings = (message,)
    settings = config.search
    store = None
    if settings.vector_engine == "chroma" or (
        settings.vector_engine == "auto" and len(vectors) > settings.chroma_min_vectors
    ):
        from ..embedder.chroma import ChromaVectors

        store = ChromaVectors(
            config.index.chroma_path,
            config.index.collection,
            stamp.values["identity"],
        )
    return DenseRanker(vectors, store), chosen, warnings


class _VectorChannel:
    """Embeds questions; vectors and model are opened together when the first one comes."""

    def __init__(self, open_dense: Callable[[], tuple[DenseRanker, Embedder, tuple[str, ...]]]):
        self._open = open_dense
        self._opened: tuple[DenseRanker, Embedder, tuple[str, ...]] | None = None
        self._lock = threading.Lock()

    def __call__(self, text: str) -> EmbeddedQuery:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
        ranker, embedder, warnings = self._opened
        share = readable_share(text, embedder.languages)
        return EmbeddedQuery(embedder.embed_query(text), ranker, warnings, embedder.name, share)
