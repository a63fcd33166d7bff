"""The pipeline: filter, rank by each channel, fuse, boost, cut."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import Damaged, Unavailable, UsageError
from ..indexer.chunks import CHUNKS, NOTES, RecordFile, chunk_of, property_texts
from ..indexer.tokens import LexicalQuery, QueryWord, query_terms
from ..patience import Background, Late
from ..protocols import LexicalIndex, Vectors
from ..state import Stamp
from ..types import Chunk, Hit, Json, Missing, Query, SearchResult, Trace
from . import boosts as boosting
from .channels import (
    CHANNELS,
    CHUNK_SHARE,
    TITLE_GAIN,
    Dense,
    DenseRanker,
    Gains,
    Lexical,
    LinkGraph,
    rank_lexical,
    title_share,
)
from .evidence import least_evidence, match, snippet, word_weights
from .filters import Filters
from .fusion import ChannelScores, fuse

NOTHING_MATCHES = "nothing matches well; these are the nearest"
MAX_QUERY_CHARS = 20_000  # of a question that is embedded; words are taken from all of it
TITLES_LOOKED_AT = 40  # of the best notes: does the query name one?
MAX_NAME = 200  # characters of a title or alias that a query may name
MIN_GAIN_SHARE = 0.1  # of the best gain by links, for a place in an ordinal ranking
INHERITED_EVIDENCE = 0.7  # of a note's, by what it lifted
MIN_POOL = 100  # notes that each channel ranks, at least


@dataclass(frozen=True, slots=True)
class SearchSettings:
    bm25_weight: float = 0.5
    vector_weight: float = 0.5
    graph_weight: float = 0.2
    rrf_k: float = 60
    rank: Literal["calibrated", "ordinal"] = "calibrated"
    fetch_multiplier: int = 6
    hops: int = 2
    min_score: float = 0.0
    boosts: boosting.BoostSettings = field(default_factory=boosting.BoostSettings)


class Corpus:
    """The chunks and notes of one index generation, read one at a time.

    takes: whether a note's path is one that the settings serve now.
    """

    def __init__(self, stamp: Stamp, takes: Callable[[str], bool]) -> None:
        self.stamp = stamp
        self._takes = takes
        self.chunks = RecordFile(stamp, CHUNKS)
        self.notes = RecordFile(stamp, NOTES)
        self.first_chunk = stamp.array("notes.first_chunk.npy")
        main: str = stamp.values["main_language"]
        self._main_language = main
        found = (main if code == "und" else code for code in stamp.values["languages"])
        self.languages: tuple[str, ...] = tuple(dict.fromkeys(found))  # commonest first
        self._note_cache: dict[int, dict[str, Json]] = {}

    def language(self, note: Mapping[str, Json]) -> str:
        """What a note's terms are in: its own language, the vault's where it is too short."""
        return self._main_language if note["language"] == "und" else str(note["language"])

    def array(self, name: str) -> Any:
        """An array that the index keeps beside its records."""
        return self.stamp.array(name)

    def note(self, ordinal: int) -> dict[str, Json]:
        found = self._note_cache.get(ordinal)  # another thread may empty the cache meanwhile
        if found is None:
            if len(self._note_cache) > 50_000:
                self._note_cache.clear()
            found = self._note_cache[ordinal] = self.notes.record(ordinal)
        return found

    @cached_property
    def properties(self) -> frozenset[str]:
        """The names of all frontmatter properties of notes that are served, casefolded."""
        notes = (self.note(ordinal) for ordinal in range(len(self.notes)))
        served = (note for note in notes if self._takes(note["file"]))
        return frozenset(name.casefold() for note in served for name in note["frontmatter"])

    def chunk(self, ordinal: int) -> Chunk:
        return chunk_of(self.chunks.record(ordinal))


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A question as the vector channel needs it."""

    vector: Vectors
    ranker: DenseRanker
    warnings: tuple[str, ...] = ()


class Searcher:
    """Answers queries from one generation; what cannot run is named in each result.

    Safe to use from several threads.
    """

    def __init__(
        self,
        corpus: Corpus,
        lexical: LexicalIndex | Unavailable,
        embed: Callable[[str], EmbeddedQuery] | Unavailable,
        graph: LinkGraph | Unavailable,
        settings: SearchSettings,
        warnings: Sequence[str] = (),
    ) -> None:
        self._corpus = corpus
        self._lexical = lexical
        self._embed = embed
        self._embedding = Background("cortex-embed")
        self._graph = graph
        self._settings = settings
        self._warnings = tuple(warnings)

    @property
    def corpus(self) -> Corpus:
        return self._corpus

    def search(
        self,
        query: Query,
        filters: Filters,
        *,
        boosts: bool = True,
        channels: Sequence[str] | None = None,
        vector_wait_s: float | None = None,
    ) -> SearchResult:
        """Hits best first; at most `query.top_k`, ties in the order of the vault.

        A hit's score is the fused score times its factors. vector_wait_s: how long the vector
        channel may load its model and embed the query; None is as long as it takes. Raises
        UsageError for an unknown channel or a top_k below 1; no text is an error.
        """
        wanted = tuple(channels or CHANNELS)
        unknown = [name for name in wanted if name not in CHANNELS]
        if unknown:
            raise UsageError(f"no channel {unknown[0]!r}; there are {', '.join(CHANNELS)}")
        if "bm25" not in wanted and "vector" not in wanted:
            raise UsageError("graph goes on from what bm25 or vector found; name one of them too")
        if query.top_k < 1:
            raise UsageError(f"top_k must be at least 1, not {query.top_k}")
        clock = _Clock()
        run = _Run(
            self,
            query,
            wanted,
            named_by_caller=channels is not None,
            vector_wait_s=vector_wait_s,
        )
        allowed, warnings = self._allowed(filters)
        clock.lap("filter")
        lexical = run.attempt("bm25", lambda: self._rank_lexical(run, allowed))
        clock.lap("bm25")
        dense = run.attempt("vector", lambda: self._rank_dense(run, allowed))
        clock.lap("vector")
        candidates = self._candidates(run, lexical, dense)
        run.titles = self._titles(run, candidates)
        gains = run.attempt("graph", lambda: self._spread(run, candidates, allowed))
        clock.lap("graph")
        fused = self._fuse(run, candidates, gains, lexical, dense)
        hits, more = self._finish(run, fused, candidates, gains, filters, boosts)
        clock.lap("rank")
        if hits and max(hit.evidence for hit in hits) < least_evidence(run.ran):
            warnings.append(NOTHING_MATCHES)
        return SearchResult(
            query=query.text,
            hits=tuple(hits),
            ran=tuple(run.ran),
            unavailable=tuple(run.unavailable),
            warnings=(*self._warnings, *run.warnings, *warnings),
            generation=self._corpus.stamp.generation,
            timings_ms=clock.laps,
            more=more,
        )

    def _allowed(self, filters: Filters) -> tuple[set[int] | None, list[str]]:
        """The keys of the notes that pass, None for all; and what to tell about the filters."""
        if not filters:
            return None, []
        corpus = self._corpus
        notes = [corpus.note(ordinal) for ordinal in range(len(corpus.notes))]
        unknown = filters.unknown_properties(notes)
        warnings = [f"no note has the property {name!r}, so it matches none" for name in unknown]
        keys = corpus.notes.keys.tolist()
        passed = {key for key, note in zip(keys, notes, strict=True) if filters.matches(note)}
        if notes and not passed and not warnings:
            warnings.append("no note passes the filters")
        return passed, warnings

    def _rank_lexical(self, run: _Run, allowed: set[int] | None) -> Lexical:
        if isinstance(self._lexical, Unavailable):
            raise self._lexical
        return rank_lexical(self._lexical, run.words, run.pool, allowed)

    def _rank_dense(self, run: _Run, allowed: set[int] | None) -> Dense:
        embed, wait_s = self._embed, run.vector_wait_s
        if isinstance(embed, Unavailable):
            raise embed
        text = run.query.text.strip()[:MAX_QUERY_CHARS]
        if not any(char.isalnum() for char in text):
            return Dense(*(np.zeros(0, np.uint64),) * 2, np.zeros(0), 0.0, 0.0, 0.0)
        if wait_s is None:
            embedded = embed(text)
        else:
            try:
                embedded = self._embedding.within(wait_s, lambda: embed(text))
            except Late:
                raise Unavailable(
                    "vector",
                    f"the model was not ready within {wait_s * 1000:.0f} ms; ask again later",
                ) from None
        run.warnings.extend(embedded.warnings)
        return embedded.ranker.rank(embedded.vector, 8 * run.pool, allowed)

    def _candidates(
        self, run: _Run, lexical: Lexical | None, dense: Dense | None
    ) -> dict[int, _Candidate]:
        """chunk ordinal -> what the two retrieving channels say of it."""
        corpus = self._corpus
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
            count = min(4 * run.pool, len(dense.scores))
            top = np.argpartition(-dense.scores, count - 1)[:count]
            keys.update(dense.keys[top].tolist())
        listed = np.fromiter(keys, dtype=np.uint64, count=len(keys))
        ordinals = corpus.chunks.ordinals(listed)
        return self._looked_at(ordinals[ordinals >= 0], lexical, dense)

    def _looked_at(
        self, ordinals: NDArray[np.int64], lexical: Lexical | None, dense: Dense | None
    ) -> dict[int, _Candidate]:
        """What the retrieving channels say of chunks, by ordinal; in the order of the vault."""
        corpus = self._corpus
        ordinals = np.sort(ordinals)
        keys = corpus.chunks.keys[ordinals]
        owners = np.searchsorted(corpus.first_chunk, ordinals, side="right") - 1
        cosines: list[float | None] = [None] * len(ordinals)
        if dense is not None and len(dense.scores):
            at = dense.positions(keys)
            scores = dense.scores[np.maximum(at, 0)].tolist()
            cosines = [score if i >= 0 else None for score, i in zip(scores, at, strict=True)]
        found = {}
        for ordinal, key, owner, owner_key, cosine in zip(
            ordinals.tolist(),
            keys.tolist(),
            owners.tolist(),
            corpus.notes.keys[owners].tolist(),
            cosines,
            strict=True,
        ):
            candidate = found[ordinal] = _Candidate(owner, owner_key, cosine=cosine)
            if lexical is not None and owner_key in lexical.notes:
                own = lexical.chunks.get(key, (owner_key, 0.0))[1]
                candidate.bm25 = lexical.notes[owner_key] + CHUNK_SHARE * own
        return found

    def _spread(
        self, run: _Run, candidates: dict[int, _Candidate], allowed: set[int] | None
    ) -> Gains:
        """Lift what the best notes link to, and add the chunks of what that brings in."""
        graph = self._graph
        if isinstance(graph, Unavailable):
            raise graph
        by_note = self._by_note(run, candidates)
        for note, gain in run.titles.items():
            by_note[note] = by_note.get(note, 0.0) + gain
        gains = graph.spread(by_note, self._settings.hops, allowed)
        known = {candidate.note_key for candidate in candidates.values()}
        lexical, dense = run.found.get("bm25"), run.found.get("vector")
        fresh = [note for note in gains.notes if note not in known]
        ordinals = self._corpus.notes.ordinals(fresh)
        chosen = [self._best_chunk(i, dense) for i in ordinals[ordinals >= 0].tolist()]
        added = np.array([chunk for chunk in chosen if chunk is not None], dtype=np.int64)
        candidates.update(self._looked_at(added, lexical, dense))
        return gains

    def _best_chunk(self, note: int, dense: Dense | None) -> int | None:
        """The chunk of a note that is nearest to the query, the first one without vectors."""
        first, last = self._corpus.first_chunk[note : note + 2].tolist()
        if first == last:
            return None
        if dense is None:
            return int(first)
        at = dense.positions(self._corpus.chunks.keys[first:last])
        scores = (
            np.where(at >= 0, dense.scores[np.maximum(at, 0)], -2.0) if len(dense.scores) else at
        )
        return int(first + int(np.argmax(scores)))

    def _by_note(self, run: _Run, candidates: Mapping[int, _Candidate]) -> dict[int, float]:
        """note key -> the score of its best chunk by words and vectors, in fused units."""
        lexical, dense = run.found.get("bm25"), run.found.get("vector")
        by_note: dict[int, float] = {}
        for candidate in candidates.values():
            score = run.bm25_share(candidate, lexical) + run.vector_share(candidate, dense)
            by_note[candidate.note_key] = max(score, by_note.get(candidate.note_key, 0.0))
        return by_note

    def _titles(self, run: _Run, candidates: Mapping[int, _Candidate]) -> dict[int, float]:
        """note key -> what it gains because the query names its title or an alias in full."""
        count = len(self._corpus.notes)
        if "bm25" not in run.ran or not run.words or count < 2:
            return {}
        asked = {t for word in run.words.words if word.count >= 1 for t in word.variants}
        rarity = {
            term: math.log(count / (1 + df)) / math.log(count)
            for term, df in self._frequency(asked).items()
        }
        by_note = self._by_note(run, candidates)
        ordinal_of = {candidate.note_key: candidate.note for candidate in candidates.values()}
        best = sorted(by_note, key=lambda note: (-by_note[note], note))[:TITLES_LOOKED_AT]
        owners: dict[tuple[QueryWord, ...], list[tuple[int, float]]] = {}
        for note in best:
            record = self._corpus.note(ordinal_of[note])
            for name in (record["title"], *record["aliases"]):
                words = _words_of_name(name[:MAX_NAME], self._corpus.languages)
                share = title_share(words, run.words.words, rarity)
                if share > 0:
                    owners.setdefault(words, []).append((note, share))
        unit = TITLE_GAIN * max(self._settings.bm25_weight, self._settings.vector_weight)
        gains: dict[int, float] = {}
        for shared in owners.values():
            for note, share in shared:
                gains[note] = max(gains.get(note, 0.0), unit * share / math.sqrt(len(shared)))
        return gains

    def _fuse(
        self,
        run: _Run,
        candidates: Mapping[int, _Candidate],
        gains: Gains | None,
        lexical: Lexical | None,
        dense: Dense | None,
    ) -> dict[int, tuple[float, dict[str, Any]]]:
        settings = self._settings
        channels = []
        if lexical is not None and lexical.best > 0:
            scores = {i: c.bm25 for i, c in candidates.items() if c.bm25 > 0}
            shares = {i: score / lexical.best for i, score in scores.items()}
            channels.append(ChannelScores("bm25", settings.bm25_weight, scores, shares))
        if dense is not None:
            scores = {
                i: c.cosine
                for i, c in candidates.items()
                if c.cosine is not None and dense.calibrated(c.cosine) > 0
            }
            shares = {i: dense.calibrated(score) for i, score in scores.items()}
            weight = run.vector_weight(dense)
            channels.append(ChannelScores("vector", weight, scores, shares))
        if run.titles:
            scores = {i: run.titles.get(c.note_key, 0.0) for i, c in candidates.items()}
            scores = {i: score for i, score in scores.items() if score > 0}
            best = max(scores.values(), default=0.0)
            shares = {i: score / best for i, score in scores.items()}
            channels.append(ChannelScores("title", best, scores, shares))
        if gains is not None and gains.notes:
            scores = {
                i: gains.notes[c.note_key]
                for i, c in candidates.items()
                if c.note_key in gains.notes
            }
            best = max(scores.values(), default=0.0)
            if best > 0:
                if settings.rank == "ordinal":  # a place says nothing of how small a gain is
                    scores = {i: s for i, s in scores.items() if s >= MIN_GAIN_SHARE * best}
                shares = {i: score / best for i, score in scores.items()}
                # The gains are in fused units already at the default weight of 0.2.
                weight = settings.graph_weight / 0.2 * best
                if settings.rank == "ordinal":
                    weight = settings.graph_weight
                channels.append(ChannelScores("graph", weight, scores, shares))
        fused = fuse(channels, settings.rrf_k, settings.rank)
        if gains is None or "vector" not in run.ran:
            return fused
        # What neither words nor vectors speak for needs more than one good note that links to it.
        return {
            i: found
            for i, found in fused.items()
            if found[1].keys() != {"graph"} or gains.supporters.get(candidates[i].note_key, 0) > 1
        }

    def _finish(
        self,
        run: _Run,
        fused: Mapping[int, tuple[float, dict[str, Any]]],
        candidates: Mapping[int, _Candidate],
        gains: Gains | None,
        filters: Filters,
        boosts: bool,
    ) -> tuple[list[Hit], bool]:
        """Boost the best of the fused, put a note's further chunks behind, and cut.

        The second value says whether anything was cut off.
        """
        corpus, settings = self._corpus, self._settings
        ranked = self._spread_out(fused, candidates, max(4 * run.query.top_k, 60))
        boosted: list[tuple[float, int, dict[str, float], dict[str, Json], Chunk]] = []
        for ordinal in ranked:
            chunk = corpus.chunk(ordinal)
            record = corpus.note(candidates[ordinal].note)
            factors: dict[str, float] = {}
            remarks: dict[str, Json] = {}
            if boosts:
                factors, remarks = boosting.factors(
                    chunk,
                    record["frontmatter"],
                    run.query.text,
                    run.query.today,
                    settings.boosts,
                    status_is_filtered="status" in filters.lists,
                )
            score = fused[ordinal][0] * math.prod(factors.values())
            boosted.append((score, ordinal, factors, remarks, chunk))
        boosted.sort(key=lambda item: (-item[0], item[1]))
        seen: dict[int, int] = {}
        final: list[tuple[float, int, dict[str, float], dict[str, Json], Chunk]] = []
        for score, ordinal, factors, remarks, chunk in boosted:
            count = seen[candidates[ordinal].note] = seen.get(candidates[ordinal].note, 0) + 1
            if count > 1:
                factors["repeat"] = 1 / count  # a note's n-th best chunk: others have their turn
                score /= count
            final.append((score, ordinal, factors, remarks, chunk))
        final.sort(key=lambda item: (-item[0], item[1]))
        if final and settings.min_score > 0:
            final = [item for item in final if item[0] >= settings.min_score * final[0][0]]
        weights = self._word_weights(run)
        hits: list[Hit] = []
        for score, ordinal, factors, remarks, chunk in final[: run.query.top_k]:
            candidate = candidates[ordinal]
            record = corpus.note(candidate.note)
            said = property_texts(record["frontmatter"])
            names = (*record["aliases"], *record["tags"], *said, record["file"][:-3])
            matched = match(run.words, weights, chunk, names, corpus.language(record))
            excerpt, marks = snippet(chunk.text, matched.spans)
            if gains is not None and candidate.note_key in gains.notes:
                source = gains.linked_from.get(candidate.note_key)
                at = int(corpus.notes.ordinals([source[0]])[0]) if source is not None else -1
                if source is not None and at >= 0:
                    remarks["linked_from"] = corpus.note(at)["file"]
                    remarks["link_kind"] = source[1]
            total, trace = fused[ordinal]
            hits.append(
                Hit(
                    chunk=chunk,
                    score=score,
                    trace=Trace(trace, settings.rrf_k, total, factors, remarks),
                    snippet=excerpt,
                    matches=marks,
                    text_matches=matched.spans,
                    evidence=matched.share + max(candidate.cosine or 0.0, 0.0),
                    meta=record["frontmatter"],
                    modified=record["modified"],
                    tags=tuple(record["tags"]),
                )
            )
        return _with_inherited_evidence(hits), len(final) > run.query.top_k

    def _spread_out(
        self,
        fused: Mapping[int, tuple[float, dict[str, Any]]],
        candidates: Mapping[int, _Candidate],
        limit: int,
    ) -> list[int]:
        """The `limit` best, a note's n-th chunk at 1/n of its score: no note crowds the rest."""
        seen: dict[int, int] = {}
        shares: dict[int, float] = {}
        for ordinal in sorted(fused, key=lambda i: (-fused[i][0], i)):
            note = candidates[ordinal].note
            seen[note] = seen.get(note, 0) + 1
            shares[ordinal] = fused[ordinal][0] / seen[note]
        return sorted(shares, key=lambda i: (-shares[i], i))[:limit]

    def _word_weights(self, run: _Run) -> list[float]:
        if isinstance(self._lexical, Unavailable):
            return [1.0] * len(run.words.words)
        asked = {term for word in run.words.words for term in word.variants}
        return word_weights(run.words, self._frequency(asked), self._lexical.note_count)

    def _frequency(self, asked: set[str]) -> Mapping[str, int]:
        """In how many notes each term stands; nothing from an index that cannot tell."""
        try:
            if not isinstance(self._lexical, Unavailable):
                return self._lexical.document_frequency(asked)
        except Unavailable:
            pass  # the channel has reported it
        return {}


@lru_cache(maxsize=8192)
def _words_of_name(name: str, languages: tuple[str, ...]) -> tuple[QueryWord, ...]:
    return query_terms(name, languages).words


def _with_inherited_evidence(hits: list[Hit]) -> list[Hit]:
    """Give a hit that links brought in a part of the evidence of the note that brought it."""
    own: dict[str, float] = {}
    for hit in hits:
        own[hit.chunk.note] = max(own.get(hit.chunk.note, 0.0), hit.evidence)
    passed = []
    for hit in hits:
        source = hit.trace.notes.get("linked_from")
        graph = hit.trace.channels.get("graph")
        if source in own and graph is not None and hit.trace.fused > 0:
            share = graph.contribution / hit.trace.fused
            inherited = INHERITED_EVIDENCE * share * own[source]
            hit = replace(hit, evidence=max(hit.evidence, inherited))
        passed.append(hit)
    return passed


@dataclass(slots=True)
class _Candidate:
    note: int  # ordinal
    note_key: int
    bm25: float = 0.0
    cosine: float | None = None


class _Run:
    """One query on its way through the pipeline."""

    def __init__(
        self,
        searcher: Searcher,
        query: Query,
        wanted: tuple[str, ...],
        *,
        named_by_caller: bool,
        vector_wait_s: float | None,
    ) -> None:
        self._named_by_caller = named_by_caller
        self._settings = searcher._settings
        self.query = query
        self.wanted = wanted
        self.vector_wait_s = vector_wait_s
        self.warnings: list[str] = []
        self.pool = min(
            max(query.top_k * self._settings.fetch_multiplier, MIN_POOL),
            max(len(searcher.corpus.chunks), 1),
        )
        self.words: LexicalQuery = query_terms(query.text, searcher.corpus.languages)
        self.ran: list[str] = []
        self.unavailable: list[Missing] = []
        self.found: dict[str, Any] = {}
        self.titles: dict[int, float] = {}

    def attempt(self, channel: str, rank: Callable[[], Any]) -> Any:
        """What a channel answers; None if it is off or cannot run, which is then reported."""
        if channel not in self.wanted:
            return None
        if not self._weight(channel):
            if self._named_by_caller:
                why = f"search.{channel}_weight is 0; give it a weight in the config"
                self.unavailable.append(Missing(channel, why))
            return None
        try:
            self.found[channel] = rank()
        except (Unavailable, Damaged) as error:
            why = error.why if isinstance(error, Unavailable) else str(error)
            self.unavailable.append(Missing(channel, why))
            return None
        self.ran.append(channel)
        return self.found[channel]

    def _weight(self, channel: str) -> float:
        settings = self._settings
        if channel == "graph":
            return settings.graph_weight if settings.hops else 0.0
        return settings.bm25_weight if channel == "bm25" else settings.vector_weight

    def vector_weight(self, dense: Dense) -> float:
        if self._settings.rank == "ordinal":
            return self._settings.vector_weight
        return self._settings.vector_weight * dense.trust

    def bm25_share(self, candidate: _Candidate, lexical: Lexical | None) -> float:
        if lexical is None or not lexical.best:
            return 0.0
        return self._settings.bm25_weight * candidate.bm25 / lexical.best

    def vector_share(self, candidate: _Candidate, dense: Dense | None) -> float:
        if dense is None or candidate.cosine is None:
            return 0.0
        return self._settings.vector_weight * dense.trust * dense.calibrated(candidate.cosine)


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now
