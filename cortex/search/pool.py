"""The chunks that a query may show, and what words and vectors say of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .channels import CHUNK_SHARE, Dense, Lexical
from .corpus import Corpus
from .evidence import match
from .run import Run


@dataclass(slots=True)
class Candidate:
    note: int  # ordinal
    note_key: int
    bm25: float  # of the note, and a share of the chunk's own; 0 without a word
    holds_words: bool  # whether the chunk itself matches
    cosine: float | None  # None without a vector
    near: float  # the cosine calibrated: 0 at the vault's mean or without a vector, 1 for the best


class Pool:
    """The candidates of one query, by ordinal of the chunk; steps after the channels add more."""

    def __init__(self, corpus: Corpus, lexical: Lexical | None, dense: Dense | None) -> None:
        self._corpus = corpus
        self._weights: tuple[float, float] | None = None
        self.lexical = lexical
        self.dense = dense
        self.candidates: dict[int, Candidate] = {}
        # note key -> the score of its best chunk by words and vectors, in fused units; see weigh
        self.by_note: dict[int, float] = {}

    def add_found(self, depth: int) -> None:
        """Add what the two channels found; of a note that only its names match, the first chunk.

        depth: how many notes they ranked.
        """
        corpus, lexical, dense = self._corpus, self.lexical, self.dense
        keys: set[int] = set()
        if lexical is not None:
            keys.update(lexical.chunks)
            seen = {note for note, _ in lexical.chunks.values()}
            bare = [note for note in lexical.notes if note not in seen]
            ordinals = corpus.notes.ordinals(bare)
            for ordinal in ordinals[ordinals >= 0].tolist():
                first, last = corpus.first_chunk[ordinal : ordinal + 2].tolist()
                if first < last:
                    keys.add(int(corpus.chunks.keys[first]))
        if dense is not None and len(dense.scores):
            count = min(4 * depth, len(dense.scores))
            top = np.argpartition(-dense.scores, count - 1)[:count]
            keys.update(dense.keys[top].tolist())
        listed = np.fromiter(keys, dtype=np.uint64, count=len(keys))
        ordinals = corpus.chunks.ordinals(listed)
        self._look_at(ordinals[ordinals >= 0])

    def add(self, chunks: Iterable[int | None]) -> None:
        """Make candidates of chunks, by ordinal, that are none yet; None is no chunk."""
        fresh = {i for i in chunks if i is not None and i not in self.candidates}
        self._look_at(np.fromiter(fresh, dtype=np.int64, count=len(fresh)))

    def _look_at(self, ordinals: NDArray[np.int64]) -> None:
        corpus, lexical, dense = self._corpus, self.lexical, self.dense
        ordinals = np.sort(ordinals)
        keys = corpus.chunks.keys[ordinals]
        owners = np.searchsorted(corpus.first_chunk, ordinals, side="right") - 1
        owner_keys: list[int] = corpus.notes.keys[owners].tolist()
        cosines: list[float | None] = [None] * len(ordinals)
        near = [0.0] * len(ordinals)
        if dense is not None and len(dense.scores):
            at = dense.positions(keys)
            scores = dense.scores[np.maximum(at, 0)]
            near = np.where(at >= 0, dense.calibrated(scores), 0.0).tolist()
            cosines = scores.tolist()
            for missing in np.flatnonzero(at < 0).tolist():
                cosines[missing] = None
        bm25 = [0.0] * len(ordinals)
        holds = [False] * len(ordinals)
        if lexical is not None:
            of_notes, of_chunks = lexical.notes, lexical.chunks
            own = [of_chunks.get(key) for key in keys.tolist()]
            holds = [found is not None for found in own]
            bm25 = [
                of_notes[note] + CHUNK_SHARE * (found[1] if found else 0.0)
                if note in of_notes
                else 0.0
                for note, found in zip(owner_keys, own, strict=True)
            ]
        added = list(map(Candidate, owners.tolist(), owner_keys, bm25, holds, cosines, near))
        self.candidates.update(zip(ordinals.tolist(), added, strict=True))
        if self._weights is not None:
            self._count(added)

    def weigh(self, bm25_weight: float, vector_weight: float, known_share: float | None) -> None:
        """Set what the channels count in `by_note`; known_share: see Dense.trusted."""
        words = vectors = 0.0
        if self.lexical is not None and self.lexical.best:
            words = bm25_weight
        if self.dense is not None:
            self.dense = replace(self.dense, trust=self.dense.trusted(known_share))
            vectors = vector_weight * self.dense.trust
        self._weights = words, vectors
        self._count(self.candidates.values())

    def _count(self, candidates: Iterable[Candidate]) -> None:
        assert self._weights is not None
        words, vectors = self._weights
        best = self.lexical.best if self.lexical is not None and words else 1.0
        by_note = self.by_note
        for candidate in candidates:
            score = words * candidate.bm25 / best + vectors * candidate.near
            if score >= by_note.get(candidate.note_key, 0.0):
                by_note[candidate.note_key] = score

    def best_chunk(self, note: int) -> int | None:
        """The chunk of a note that is nearest to the query, the first one without vectors."""
        dense = self.dense
        first, last = self._corpus.first_chunk[note : note + 2].tolist()
        if first == last:
            return None
        if dense is None or not len(dense.scores):
            return int(first)
        at = dense.positions(self._corpus.chunks.keys[first:last])
        scores = np.where(at >= 0, dense.scores[np.maximum(at, 0)], -2.0)
        return int(first + int(np.argmax(scores)))


def known_share(run: Run, pool: Pool) -> float | None:
    """The share of the question's words, by rarity, that the best chunk by words holds."""
    scores = ((candidate.bm25, -ordinal) for ordinal, candidate in pool.candidates.items())
    bm25, ordinal = max(scores, default=(0.0, 0))
    if bm25 <= 0:
        return None
    chunk = run.corpus.chunk(-ordinal)
    language = run.corpus.language(run.corpus.note(pool.candidates[-ordinal].note))
    return match(run.words, run.word_weights, chunk, (), language).share
