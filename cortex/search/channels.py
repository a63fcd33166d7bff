"""The three ways to rank: words, vectors and links. Why these formulas: ARCHITECTURE.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..embedder.vectors import ExactVectors
from ..graph_names import NAME_ARRAYS, SharedNames, names_in
from ..indexer.tokens import LexicalQuery, QueryWord
from ..protocols import LexicalIndex, Vectors, VectorStore
from ..state import Stamp

CHANNELS = ("bm25", "vector", "graph")

CHUNK_SHARE = 0.4  # of the BM25 of a chunk's best window beside its note's
NOTE_COSINE_SHARE = 0.5  # of the cosine to the note's mean vector beside the chunk's own
SMALL_VAULT = 30  # notes; below that the spread of cosines says nothing of the vector channel
SMALL_VAULT_TRUST = 0.7
SMALL_VAULT_SPREAD = 0.25  # of cosine
USUAL_KNOWN_SHARE = 0.6  # of a question's words, by rarity, in the best chunk by words
UNKNOWN_PULL = 1.5  # how much more the vectors are worth, by the share that lacks of that
MIN_TRUST = 0.02  # so that a search by vectors alone always ranks
TITLE_GAIN = 0.2  # for a note whose title the query names in full
EXACT_TITLE = 5.0  # times that when the query is nothing but the title: as much as the best BM25
HOP_GAINS = (0.35, 0.175, 0.0875)  # for what the best notes link to, hop by hop
SEEDS = 5
NAME_GAIN = 0.2  # for what shares a rare name with the best notes
NAME_SEEDS = 3
# By the share of a question's words, by rarity, that no single chunk holds:
NAMES_FROM = 0.05  # names tie nothing where less is lacking
LINKS_IN_FULL_FROM = 0.25
LEAST_NEED = 0.6  # of what links lift, where nothing is lacking


@dataclass(frozen=True, slots=True)
class Lexical:
    """Notes and chunks by BM25. A chunk's score is its note's plus a share of its own."""

    notes: Mapping[int, float]
    chunks: Mapping[int, tuple[int, float]]  # chunk key -> (note key, own BM25)
    best: float  # the highest score of any chunk; 0 when nothing matched


def rank_lexical(
    index: LexicalIndex, query: LexicalQuery, limit: int, allowed: Collection[int] | None
) -> Lexical:
    """The `limit` best notes and the chunks of them that match."""
    notes = dict(index.rank_notes(query, limit, allowed))
    chunks = {
        chunk: (note, own)
        for chunk, note, own in index.rank_chunks(query, 8 * limit, notes)
        if note in notes
    }
    best = max(
        max(notes.values(), default=0.0),
        max((notes[note] + CHUNK_SHARE * own for note, own in chunks.values()), default=0.0),
    )
    return Lexical(notes, chunks, best)


@dataclass(frozen=True, slots=True)
class Dense:
    """Every chunk, or the nearest ones, by cosine, and how far the best stands out."""

    keys: NDArray[np.uint64]  # chunk keys, ascending
    notes: NDArray[np.uint64]  # the note of each
    scores: NDArray[np.float64]
    mean: float  # of the notes' best scores
    best: float  # among the notes allowed
    trust: float  # 0 to 1.5: how far the best note stands out from the vault
    least_spread: float = 0.0  # from the best to a score of 0; above 0 in small vaults

    def positions(self, chunks: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Where each chunk key is in `keys`; -1 for one without a vector."""
        if not len(self.keys):
            return np.full(len(chunks), -1, dtype=np.int64)
        at = np.searchsorted(self.keys, chunks)
        at[at == len(self.keys)] = 0
        return np.where(self.keys[at] == chunks, at, -1)

    def calibrated(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores in [0, 1]: 0 at the vault's mean, 1 for the best."""
        spread = max(self.best - self.mean, self.least_spread)
        if spread <= 1e-9:
            return np.where(scores >= self.best, 1.0, 0.0)
        return np.clip(1 - (self.best - scores) / spread, 0.0, 1.0)

    def trusted(self, known_share: float | None) -> float:
        """What the vectors are worth: more where no chunk holds most words of the question.

        known_share: of its words, by rarity, in the best chunk by words; None without words.
        """
        if known_share is None:
            return self.trust
        lacking = USUAL_KNOWN_SHARE - known_share
        return self.trust * (1 + lacking * (UNKNOWN_PULL if lacking > 0 else 1))


class DenseRanker:
    """The vector channel over exact vectors or over an approximate store."""

    def __init__(self, vectors: ExactVectors, store: VectorStore | None = None) -> None:
        self._vectors = vectors
        self._store = store
        self._order = np.argsort(vectors.chunk_keys, kind="stable")
        self._keys = vectors.chunk_keys[self._order]
        self._notes = vectors.note_keys[vectors.chunk_notes][self._order]

    def rank(self, vector: Vectors, limit: int, allowed: Collection[int] | None) -> Dense:
        """Scores of a query's unit vector, shape (dimensions,)."""
        if self._store is not None:
            return self._approximate(vector, limit, allowed)
        scores = self._vectors.scores(vector)
        if not len(scores.cosines):
            return Dense(self._keys, self._notes, np.zeros(0), 0.0, 0.0, 0.0)
        mixed = _mixed(scores.cosines, scores.note_cosines[scores.chunk_notes])
        first = np.flatnonzero(np.r_[True, np.diff(scores.chunk_notes) > 0])
        by_note = np.maximum.reduceat(mixed, first)
        keys, notes, ordered = self._keys, self._notes, mixed[self._order]
        best = float(by_note.max())
        if allowed is not None:
            keep = np.isin(notes, np.fromiter(allowed, dtype=np.uint64, count=len(allowed)))
            keys, notes, ordered = keys[keep], notes[keep], ordered[keep]
            best = float(ordered.max()) if len(ordered) else 0.0
        mean, spread = float(by_note.mean()), float(by_note.std())
        trust = _trust(len(by_note), best, mean, spread)
        if len(ordered):  # of notes that a filter left, some may be below the vault's mean
            mean = min(mean, float(ordered.mean()))
        return Dense(keys, notes, ordered, mean, best, trust, _least_spread(len(by_note)))

    def _approximate(self, vector: Vectors, limit: int, allowed: Collection[int] | None) -> Dense:
        """The notes that an approximate store finds nearest, scored as exactly as the others."""
        assert self._store is not None
        found = {note for _, note, _ in self._store.nearest(vector, limit, allowed)}
        keys, notes, cosines, note_cosines = self._vectors.scores_of(vector, found)
        order = np.argsort(keys, kind="stable")
        scores = _mixed(cosines, note_cosines)[order]
        mean, spread = self._vectors.moments(vector)
        best = float(scores.max()) if len(scores) else 0.0
        trust = _trust(len(self._vectors.note_keys), best, mean, spread)
        least = _least_spread(len(self._vectors.note_keys))
        return Dense(keys[order], notes[order], scores, min(mean, best), best, trust, least)


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A question as the vector channel needs it."""

    vector: Vectors
    ranker: DenseRanker
    warnings: tuple[str, ...] = ()
    model: str = ""  # that made the vectors: what a cosine is worth depends on it
    readable: float = 1.0  # the share of the question in scripts that the model knows


def _mixed(cosines: NDArray[np.float32], note_cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    own = (1 - NOTE_COSINE_SHARE) * cosines.astype(np.float64)
    return own + NOTE_COSINE_SHARE * note_cosines


def _least_spread(notes: int) -> float:
    """In a vault of a few notes the mean is near the best: a hair between equals must stay one."""
    return SMALL_VAULT_SPREAD if notes < SMALL_VAULT else 0.0


def _trust(notes: int, best: float, mean: float, spread: float) -> float:
    """How much the vectors are worth for this query: by how many deviations the best stands out."""
    if notes < SMALL_VAULT or spread <= 1e-9:
        return SMALL_VAULT_TRUST
    return min(max(((best - mean) / spread - 2) / 3, MIN_TRUST), 1.5)


@dataclass(frozen=True, slots=True)
class Tie:
    """What leads from one note to another."""

    seed: int  # key of the note that it leads from
    kind: str  # link, mention or name
    name: str = ""  # that both notes have


@dataclass(frozen=True, slots=True)
class Gains:
    """What links add to notes, in the units of the scores that were propagated."""

    notes: Mapping[int, float]
    linked_from: Mapping[int, Tie]  # note -> by what it gained first
    supporters: Mapping[int, int]  # note -> how many of the best notes link to it


@dataclass(slots=True)
class LinkGraph:
    """Who links to whom, as build_graph left it for search."""

    sources: NDArray[np.uint64]
    pointers: NDArray[np.int64]
    targets: NDArray[np.uint64]
    weights: NDArray[np.float32]
    kinds: NDArray[np.uint8]
    names: SharedNames
    built_from: str = ""
    kind_names: tuple[str, ...] = ("link", "mention")
    _cache: dict[int, tuple[list[int], list[float], list[int]]] = field(default_factory=dict)

    @classmethod
    def open(cls, stamp: Stamp) -> LinkGraph:
        def load(name: str) -> Any:
            return stamp.array(f"adj_{name}.npy")

        names: dict[str, NDArray[Any]] = {}
        if f"{NAME_ARRAYS[0]}.npy" in stamp.values["files"]:  # not in an older graph
            names = {name: stamp.array(f"{name}.npy") for name in NAME_ARRAYS}
        return cls(
            load("src"),
            load("ptr"),
            load("dst"),
            load("weight"),
            load("kind"),
            SharedNames(names),
            stamp.built_from,
        )

    def edges(self, note: int) -> tuple[list[int], list[float], list[int]]:
        """(targets, weights, kinds) of the links that go out from a note."""
        found = self._cache.get(note)  # another thread may empty the cache meanwhile
        if found is None:
            at = int(np.searchsorted(self.sources, np.uint64(note)))
            if at == len(self.sources) or int(self.sources[at]) != note:
                return [], [], []
            part = slice(int(self.pointers[at]), int(self.pointers[at + 1]))
            if len(self._cache) >= 10_000:
                self._cache.clear()
            found = self._cache[note] = (
                self.targets[part].tolist(),
                self.weights[part].tolist(),
                self.kinds[part].tolist(),
            )
        return found

    def spread(
        self,
        scores: Mapping[int, float],
        hops: int,
        allowed: Collection[int] | None,
        asked: str = "",
        lacking: float = 1.0,
    ) -> Gains:
        """Let the best notes lift what shares a rare name with them, and what they link to.

        scores: of notes, in fused units. asked: the question; its own names tie nothing, for words
        have spoken for them. lacking: the share of its words that no single chunk holds; where
        little is lacking there is little to go on for. A target gains from its best seed alone.
        Links go hop by hop, and a seed's force is shared among its links by the root of their
        number, so that menus lift nothing.
        """
        gains: dict[int, float] = {}
        ties: dict[int, Tie] = {}
        supporters: dict[int, set[int]] = {}
        total = dict(scores)
        steps = []
        if hops and lacking > NAMES_FROM:
            steps.append((self._shared(asked), NAME_GAIN, NAME_SEEDS))
        need = min(max(lacking / LINKS_IN_FULL_FROM, LEAST_NEED), 1.0)
        steps += [(self._links, need * gain, SEEDS) for gain in HOP_GAINS[:hops]]
        for ties_of, gain, count in steps:
            best: dict[int, tuple[float, Tie]] = {}
            for seed in sorted(total, key=lambda note: (-total[note], note))[:count]:
                for target, weight, tie in ties_of(seed):
                    if allowed is not None and target not in allowed:
                        continue
                    supporters.setdefault(target, set()).add(seed)
                    value = gain * total[seed] * weight
                    if value > 0 and (target not in best or value > best[target][0]):
                        best[target] = value, tie
            for target, (value, tie) in best.items():
                total[target] = total.get(target, 0.0) + value
                gains[target] = gains.get(target, 0.0) + value
                ties.setdefault(target, tie)
        counts = {note: len(seeds) for note, seeds in supporters.items()}
        return Gains(gains, ties, counts)

    def _links(self, seed: int) -> Iterator[tuple[int, float, Tie]]:
        targets, weights, kinds = self.edges(seed)
        share = 1 / math.sqrt(max(len(targets), 1))
        for target, weight, kind in zip(targets, weights, kinds, strict=True):
            yield target, weight * share, Tie(seed, self.kind_names[kind])

    def _shared(self, asked: str) -> Callable[[int], Iterator[tuple[int, float, Tie]]]:
        known = names_in(asked)

        def shared(seed: int) -> Iterator[tuple[int, float, Tie]]:
            for index in self.names.of_note(seed):
                name = self.names.text(index)
                if name.casefold() not in known:
                    tie, weight = Tie(seed, "name", name), self.names.weight(index)
                    for target in self.names.notes(index):
                        if target != seed:
                            yield target, weight, tie

        return shared


def title_share(
    title: Sequence[QueryWord], query: Sequence[QueryWord], rarity: Mapping[str, float]
) -> float:
    """How fully a query names a title: 0 unless it has every word of it.

    Then from 0 to 1 by how rare the words are, and EXACT_TITLE where it has no word beside them.
    rarity: ln(n / (1 + df)) / ln(n) of each term, 1 for one that no other note has.
    """
    # Parts of a compound (the "net" of ".NET") count less than a word, and neither name nor matter.
    wanted = [word for word in title if word.count >= 1]
    given = [word for word in query if word.count >= 1]
    asked = {term for word in given for term in word.variants}
    own = {term for word in wanted for term in word.variants}
    if not wanted or not all(asked.intersection(word.variants) for word in wanted):
        return 0.0
    if all(own.intersection(word.variants) for word in given):
        return EXACT_TITLE
    known = [max(rarity.get(t, 1.0) for t in word.variants if t in asked) for word in wanted]
    return min(1.0, sum(max(value, 0.0) for value in known) / 1.5) ** 2
