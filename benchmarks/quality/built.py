"""One vault as the library builds and searches it, and the plain rankings over the same build."""

from __future__ import annotations

import datetime as dt
import hashlib
import inspect
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from cortex import Cortex, CortexError, SearchResult
from cortex.embedder.models import make_embedder
from cortex.embedder.vectors import ExactVectors
from cortex.search.channels import DenseRanker
from cortex.types import key64

from . import reference

TODAY = dt.date(2026, 1, 1)  # for recency; boosts are off, so it only makes runs alike
DEPTH = 50  # chunks asked for, of which each note keeps its best


@dataclass(frozen=True, slots=True)
class Ranked:
    notes: list[str]  # by their best chunk, best first
    seconds: float


class Built:
    """A vault with index, vectors and graph in the cache; brought up to date when opened."""

    def __init__(self, vault: Path, cache: Path, models: Path, model: str | None = None) -> None:
        self.vault = vault
        self.folder = cache / state_name(vault, model)
        self.folder.mkdir(parents=True, exist_ok=True)
        settings: dict[str, Any] = {
            "vault": {"path": str(vault)},
            "embeddings": {"cache_folder": str(models)},
        }
        if model:
            settings["embeddings"]["model"] = model
        config = self.folder / "config.yaml"
        config.write_text(yaml.safe_dump(settings, allow_unicode=True), "utf-8")
        self.cortex = Cortex.open(config, env={"HERMES_HOME": str(self.folder)}, today=TODAY)
        self.models = models
        began = time.perf_counter()
        self.cortex.index()
        if not any(entry["chosen"] and entry["available"] is not False for entry in self._models()):
            self.cortex.fetch_model()
        self.cortex.embed()
        self.cortex.build_graph()
        self.built_s = time.perf_counter() - began

    def _models(self) -> list[dict[str, Any]]:
        return self.cortex.models()

    @property
    def model(self) -> str:
        """The model that made the vectors."""
        return str(self._vector_stamp.values["model"])

    def search(
        self, text: str, channels: Sequence[str] | None = None, chunks: int = DEPTH
    ) -> SearchResult:
        """What the library finds for plain text, boosts off."""
        plain = (
            {"plain": True} if "plain" in inspect.signature(self.cortex.search).parameters else {}
        )
        found = self.cortex.search(text, top_k=chunks, boosts=False, channels=channels, **plain)
        if found.unavailable:
            missing = found.unavailable[0]
            raise CortexError(f"{missing.what} could not run: {missing.why}")
        return found

    def rank(self, text: str, channels: Sequence[str] | None = None) -> Ranked:
        began = time.perf_counter()
        found = self.search(text, channels)
        seconds = time.perf_counter() - began
        return Ranked(list(dict.fromkeys(hit.chunk.note for hit in found.hits)), seconds)

    # The same vault for the references

    @cached_property
    def notes(self) -> list[dict[str, Any]]:
        return _records(self.folder / "notes.jsonl")

    @cached_property
    def chunks(self) -> list[dict[str, Any]]:
        return _records(self.folder / "chunks.jsonl")

    @cached_property
    def paths(self) -> list[str]:
        return sorted(note["file"] for note in self.notes)

    @cached_property
    def language(self) -> str:
        """What most of the notes are written in."""
        known = Counter(note["language"] for note in self.notes if note["language"] != "und")
        return known.most_common(1)[0][0] if known else "en"

    @cached_property
    def bm25(self) -> reference.BM25:
        texts = (reference.title_and_body(self.vault / path) for path in self.paths)
        return reference.BM25(texts, reference.tokenizer(self.language))

    @cached_property
    def bm25_of_files(self) -> reference.BM25:
        """The same over whole files: with the frontmatter."""
        texts = ((self.vault / path).read_text("utf-8", errors="replace") for path in self.paths)
        return reference.BM25(texts, reference.tokenizer(self.language))

    @cached_property
    def chunk_bm25(self) -> reference.BM25:
        texts = (
            " ".join((chunk["title"], *chunk["heading_path"], chunk["text"]))
            for chunk in self.chunks
        )
        return reference.BM25(texts, reference.tokenizer(self.language))

    @cached_property
    def _vector_stamp(self) -> Any:
        return self.cortex.state.stamp("vectors")

    @cached_property
    def _vectors(self) -> ExactVectors:
        return ExactVectors(self._vector_stamp, self.cortex.state.root)

    @cached_property
    def _embedder(self) -> Any:
        return make_embedder(
            self.model, models_folder=self.models, cache_folder=self.models, local_files_only=True
        )

    @cached_property
    def _chunk_at(self) -> NDArray[np.int64]:
        """For each vector's chunk, its place in `chunks`."""
        place = {key64(chunk["id"]): at for at, chunk in enumerate(self.chunks)}
        return np.array([place[key] for key in self._vectors.chunk_keys.tolist()], dtype=np.int64)

    def cosines(self, text: str) -> NDArray[np.float64]:
        """Of the query to each chunk, in the order of `chunks`; -1 for one without a vector."""
        found = np.full(len(self.chunks), -1.0)
        found[self._chunk_at] = self._vectors.scores(self._embedder.embed_query(text)).cosines
        return found

    def mean_cosine(self, text: str) -> float:
        """Of the query to the notes of the vault, as the vector channel counts from."""
        ranker = DenseRanker(self._vectors)
        return ranker.rank(self._embedder.embed_query(text), 1, None).mean

    @cached_property
    def owners(self) -> list[str]:
        return [chunk["file"] for chunk in self.chunks]

    def plain_rankings(self, text: str) -> dict[str, list[str]]:
        """The reference rows for one query: notes, best first."""
        words = reference.ranked(self.paths, self.bm25.scores(text))
        cosines = self.cosines(text)
        best = reference.by_note(self.owners, cosines)
        vectors = sorted(best, key=lambda note: (-best[note], note))[: reference.CUT]
        return {
            "BM25": words,
            "BM25, whole files": reference.ranked(self.paths, self.bm25_of_files.scores(text)),
            "vectors": vectors,
            "plain RRF": reference.fused([words, vectors]),
        }


def state_name(vault: Path, model: str | None) -> str:
    """The folder in the cache for a vault and a model."""
    where = str(vault.resolve())
    digest = hashlib.sha256(where.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", model or "default").strip("-")
    return f"{vault.resolve().parent.name}-{digest}-{slug}"


def _records(path: Path) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]
