"""Every seam: each has two or more implementations, tested by one contract suite."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:  # or each command that names an embedder would load numpy
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"


class Progress(Protocol):
    """Told how long work goes on. `total` may be unknown (0) at first."""

    def start(self, label: str, total: int, unit: str) -> None: ...
    def advance(self, count: int = 1) -> None: ...
    def finish(self) -> None: ...


class Embedder(Protocol):
    """Text -> unit vectors. Loads its model when first asked to embed, not when made."""

    @property
    def identity(self) -> str:
        """A fingerprint: equal if and only if the vectors may be mixed."""

    @property
    def name(self) -> str:
        """What config calls the model."""

    @property
    def dimensions(self) -> int: ...

    @property
    def window(self) -> int:
        """How many tokens of one text it reads, special tokens not counted."""

    @property
    def languages(self) -> tuple[str, ...]:
        """ISO 639-1 codes it knows; empty means many."""

    def token_starts(self, text: str) -> Sequence[int]:
        """Where each of its tokens begins in `text`, in characters."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dimensions) float32 unit rows, in order. Raises Unavailable."""

    def embed_query(self, text: str) -> Vectors:
        """(dimensions,) float32, unit length; a text over the window is cut. Raises Unavailable."""


class Reranker(Protocol):
    """Reads texts together with a question. Slow: meant for a handful."""

    @property
    def name(self) -> str:
        """What config calls the model."""

    def load(self) -> None:
        """Have everything ready. Raises Unavailable, with the reason."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """One number a text, in order, higher for a better answer. Raises Unavailable."""


class LexicalIndex(Protocol):
    """BM25 over notes and over their chunks, by fields; keys are key64 of path and of chunk id."""

    def rank_notes(
        self, query: Any, limit: int, allowed: Collection[int] | None
    ) -> list[tuple[int, float]]:
        """(note key, score), best first, ties by key; only scores above 0.

        allowed: None means every note, an empty collection none.
        """

    def rank_chunks(
        self, query: Any, limit: int, notes: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        """(chunk key, note key, score), best first, ties by chunk key; only scores above 0."""

    def document_frequency(self, terms: Collection[str]) -> Mapping[str, int]:
        """In how many notes each term stands (any field)."""

    @property
    def note_count(self) -> int: ...


class VectorStore(Protocol):
    """What a vector query is answered from."""

    def nearest(
        self, vector: Vectors, limit: int, allowed: Collection[int] | None
    ) -> list[tuple[int, int, float]]:
        """(chunk key, note key, cosine) of the closest chunks, best first, by their best vector."""
