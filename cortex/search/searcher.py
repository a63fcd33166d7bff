"""The pipeline: filter, rank by each channel, fuse, boost, cut."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import Damaged, Unavailable, UsageError
from ..files import read_json
from ..indexer.build import REPLACEMENTS
from ..indexer.chunks import CHUNKS, NOTES, RecordFile, chunk_of, property_texts
from ..indexer.names import NameIndex
from ..indexer.tokens import LexicalQuery, query_terms
from ..indexer.vocabulary import Vocabulary
from ..patience import Background, Late
from ..protocols import LexicalIndex, Reranker, Vectors
from ..state import Stamp
from ..text import brief
from ..types import ChannelTrace, Chunk, Hit, Json, Missing, Query, SearchResult, Trace, key64
from ..vault.frontmatter import day_of
from . import boosts as boosting
from .channels import (
    CHANNELS,
    CHUNK_SHARE,
    MIN_TRUST,
    TITLE_GAIN,
    UNKNOWN_PULL,
    USUAL_KNOWN_SHARE,
    Dense,
    DenseRanker,
    Gains,
    Lexical,
    LinkGraph,
    rank_lexical,
)
from .diversity import repeat_factor, thinned
from .evidence import (
    NOTHING_MATCHES,
    SNIPPET_CHARS,
    calibration_of,
    match,
    snippet,
    strength,
    word_weights,
)
from .exact import EXACT_WEIGHT, Exact, by_name, by_text
from .explain import WEAK
from .filters import Filters
from .fusion import ChannelScores, fuse
from .names import is_name, mentioned, named, title_shares
from .ranked import Ranked
from .rerank import is_exact, reranked
from .selection import Selection
from .spelling import SHORT, correct
from .syntax import ParsedQuery, parse, plain
from .truth import Pair, Truth, newest_above
from .wording import around, chunk_holds, spaced

MAX_QUERY_CHARS = 20_000  # of a question that is embedded; words are taken from all of it
TITLES_LOOKED_AT = 40  # of the best notes: does the query name one?
MIN_GAIN_SHARE = 0.1  # of the best gain by links, for a place in an ordinal ranking
INHERITED_EVIDENCE = 0.7  # of a note's, by what it lifted
MIN_POOL = 300  # notes that each channel ranks, at least: the first hits do not depend on top_k
NEAR_SHARE = 0.5  # of the vectors' best, for a chunk without a word of the question to match
SPARE_CHUNKS = 3
EITHER_WEIGHT = 0.001  # less than any word or vector says
PHRASE_MARGIN = (
    0.01  # as a channel's weight: by so much a chunk with the phrase is its note's first
)


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
    rerank_top_n: int = 20
    max_per_note: int = 4  # chunks among the hits; 0 is any number
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

    def serves(self, path: str) -> bool:
        """Whether the settings serve the note at `path` now."""
        return self._takes(path)

    def ordinal_of(self, path: str) -> int:
        """Which note lies at `path`; -1 for none."""
        return int(self.notes.ordinals([key64(path)])[0])

    def note_at(self, path: str) -> dict[str, Json] | None:
        at = self.ordinal_of(path)
        return self.note(at) if at >= 0 else None

    def owner(self, chunk: int) -> int:
        """The ordinal of a chunk's note."""
        return int(np.searchsorted(self.first_chunk, chunk, side="right")) - 1

    @cached_property
    def names(self) -> NameIndex | None:
        """Which notes have a name; None in an older index."""
        return NameIndex.open(self.stamp)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary.open(self.stamp)

    @cached_property
    def replacements(self) -> Mapping[str, Sequence[Pair]]:
        """path -> what the notes say replaced the note there; nothing from an older index."""
        found: dict[str, list[Pair]] = {}
        if REPLACEMENTS not in self.stamp.values["files"]:
            return found
        path = self.stamp.file(REPLACEMENTS)
        try:
            for older, newer, by_older in read_json(path):
                found.setdefault(older, []).append((newer, by_older))
        except (ValueError, TypeError):
            raise Damaged(f"{path} is damaged; run: cortex index --force") from None
        return found

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
    model: str = ""  # that made the vectors: what a cosine is worth depends on it
    readable: float = 1.0  # the share of the question in scripts that the model knows


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
        reranker: Reranker | None = None,
    ) -> SearchResult:
        """Hits best first; at most `query.top_k`, ties in the order of the vault.

        A hit's score is the fused score times its factors. vector_wait_s: how long the vector
        channel may load its model and embed the query; None is as long as it takes. reranker:
        puts the best in a new order, see rerank.py. Raises UsageError for an unknown channel or a
        top_k below 1; no text is an error.
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
        parsed = self._parsed(query)
        run = _Run(
            self,
            replace(query, text=parsed.text),
            wanted,
            named_by_caller=channels is not None,
            vector_wait_s=vector_wait_s,
        )
        run.reranker = reranker
        run.phrases = (*parsed.phrases, *filters.texts.get("phrases", ()))
        run.is_status_asked = "status" in (*filters.lists, *parsed.fields)
        allowed, warnings, parsed = self._allowed(run, filters, parsed)
        if query.as_of:
            allowed = self._held(run.truth, allowed)
        clock.lap("filter")
        if not run.query.text.strip():
            return self._listed(run, query, filters, allowed, parsed.understood, warnings, clock)
        self._correct(run)
        lexical = run.attempt("bm25", lambda: self._rank_lexical(run, allowed))
        clock.lap("bm25")
        dense = run.attempt("vector", lambda: self._rank_dense(run, allowed))
        clock.lap("vector")
        candidates = self._candidates(run, lexical, dense)
        run.known_share = self._known_share(run, candidates)
        run.exact = self._exact(run, query.text, candidates, allowed)
        run.titles = self._titles(run, candidates, allowed)
        gains = run.attempt("graph", lambda: self._spread(run, candidates, allowed))
        clock.lap("graph")
        run.holding = self._holding(run, candidates, lexical, dense)
        if parsed.has_alternatives and allowed is not None:
            run.passing = self._others_passing(run, candidates, allowed, lexical, dense)
        fused = self._fuse(run, candidates, gains, lexical, dense)
        self._put_phrases_first(run, fused, candidates)
        hits, more = self._finish(run, fused, candidates, gains, filters, boosts, allowed)
        clock.lap("rank")
        evidence = max((hit.evidence for hit in hits), default=0.0)
        if hits and evidence < WEAK:
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
            understood=parsed.understood,
            corrections=run.corrections,
            evidence=evidence,
        )

    def _parsed(self, query: Query) -> ParsedQuery:
        if query.plain or is_name(self._corpus, query.text):
            return plain(query.text)
        return parse(query.text, query.today, lambda: self._corpus.properties)

    def _allowed(
        self, run: _Run, filters: Filters, parsed: ParsedQuery
    ) -> tuple[set[int] | None, list[str], ParsedQuery]:
        """The keys of the notes that pass, None for all; what to tell of that; the query as read.

        A question with a phrase in it that no note holds is read without the quotes.
        """
        warnings = list(parsed.hints)
        if not filters and parsed.condition is None:
            return None, warnings, parsed
        selection = Selection(self._corpus, self._lexical, self._graph)
        passed = selection.passing(filters, parsed.condition)
        if not passed:
            unheld = selection.held_by_none(run.phrases)
            looser = parsed.without_quotes(unheld)
            if looser.condition != parsed.condition:
                for phrase in unheld:
                    told = f'no note holds "{brief(phrase)}"'
                    warnings.append(f"{told}; its words are searched, without the quotes")
                run.phrases = tuple(phrase for phrase in run.phrases if phrase not in unheld)
                again, more, parsed = self._allowed(run, filters, replace(looser, hints=()))
                return again, [*warnings, *more], parsed
            selection.tell_nothing_passed(unheld)
        run.unavailable.extend(selection.missing)
        return passed, [*warnings, *selection.warnings], parsed

    def _listed(
        self,
        run: _Run,
        query: Query,
        filters: Filters,
        allowed: set[int] | None,
        understood: str,
        warnings: Sequence[str],
        clock: _Clock,
    ) -> SearchResult:
        """The notes that pass, newest first, each by its beginning: no words rank them."""
        corpus, k = self._corpus, self._settings.rrf_k
        keys = corpus.notes.keys.tolist()
        dated: list[tuple[dt.date, float, int]] = []
        for note, key in enumerate(keys):
            if allowed is None or key in allowed:
                record = corpus.note(note)
                if corpus.serves(record["file"]):
                    modified = record["modified"]
                    dated.append((day_of(record["frontmatter"], modified), modified, -note))
        dated.sort(reverse=True)
        starts = [int(corpus.first_chunk[-note]) for _, _, note in dated]
        places = {chunk: place for place, chunk in enumerate(starts[: max(4 * query.top_k, 60)])}
        candidates = self._looked_at(np.array(list(places), dtype=np.int64), None, None)
        shares = {chunk: k / (k + place) for chunk, place in places.items()}
        fused = fuse([ChannelScores("newest", 1.0, shares, shares)], k, "calibrated")
        hits, more = self._finish(run, fused, candidates, None, filters, False, allowed)
        clock.lap("rank")
        return SearchResult(
            query=query.text,
            hits=tuple(replace(hit, evidence=1.0) for hit in hits),  # all that was asked for
            evidence=1.0 if hits else 0.0,
            ran=(),
            unavailable=tuple(run.unavailable),
            warnings=(*self._warnings, *warnings),
            generation=corpus.stamp.generation,
            timings_ms=clock.laps,
            more=more,
            understood=understood,
        )

    def _holding(
        self,
        run: _Run,
        candidates: dict[int, _Candidate],
        lexical: Lexical | None,
        dense: Dense | None,
    ) -> set[int]:
        """The chunks of the candidates' notes that hold a phrase; they become candidates too.

        Where a note holds it in its names alone, these are all chunks of it that were found.
        """
        phrases = [words for phrase in run.phrases if (words := spaced(phrase))]
        if not phrases:
            return set()
        corpus = self._corpus
        found: set[int] = set()
        own: dict[int, list[int]] = {}
        for ordinal, candidate in candidates.items():
            own.setdefault(candidate.note, []).append(ordinal)
        for note, ordinals in own.items():
            record = corpus.note(note)
            said = property_texts(record["frontmatter"])
            names = (
                record["title"],
                *record["aliases"],
                *record["tags"],
                *said,
                record["file"][:-3],
            )
            in_names = any(words in spaced(name) for name in names for words in phrases)
            first, last = corpus.first_chunk[note : note + 2].tolist()
            holding = []
            for ordinal in range(first, last):
                chunk = corpus.chunks.record(ordinal)
                if any(chunk_holds(words, chunk) for words in phrases):
                    holding.append(ordinal)
            found.update(holding or (ordinals if in_names else ()))
        fresh = np.array([i for i in found if i not in candidates], dtype=np.int64)
        candidates.update(self._looked_at(fresh, lexical, dense))
        return found

    def _put_phrases_first(
        self,
        run: _Run,
        fused: dict[int, tuple[float, dict[str, ChannelTrace]]],
        candidates: Mapping[int, _Candidate],
    ) -> None:
        """Give the chunks that hold a phrase what they lack to be their note's first.

        And no more, so that among the notes, which all hold it, the other channels decide.
        """
        k = self._settings.rrf_k
        best: dict[int, float] = {}  # note -> score of its best chunk
        holding: dict[int, float] = {}  # the same of those that hold the phrase
        for ordinal in {*fused, *run.holding}:
            note, total = candidates[ordinal].note, fused.get(ordinal, (0.0, {}))[0]
            best[note] = max(best.get(note, 0.0), total)
            if ordinal in run.holding:
                holding[note] = max(holding.get(note, 0.0), total)
        lacking = {note: best[note] - own + PHRASE_MARGIN / k for note, own in holding.items()}
        for ordinal in run.holding:
            given = lacking[candidates[ordinal].note]
            total, channels = fused.get(ordinal, (0.0, {}))
            trace = ChannelTrace(1, 1.0, None, 0.0, given * k, given)
            fused[ordinal] = (total + given, {**channels, "phrase": trace})

    def _others_passing(
        self,
        run: _Run,
        candidates: dict[int, _Candidate],
        allowed: set[int],
        lexical: Lexical | None,
        dense: Dense | None,
    ) -> set[int]:
        """A chunk of each note that passes an OR, so that none is left out for want of words.

        Of notes that no channel found it becomes a candidate.
        """
        corpus = self._corpus
        known = {candidate.note_key: ordinal for ordinal, candidate in candidates.items()}
        others = sorted(allowed - known.keys())[: run.pool]
        ordinals = corpus.notes.ordinals(others)
        chosen = [self._best_chunk(i, dense) for i in ordinals[ordinals >= 0].tolist()]
        fresh = np.array([chunk for chunk in chosen if chunk is not None], dtype=np.int64)
        candidates.update(self._looked_at(fresh, lexical, dense))
        return {*fresh.tolist(), *(known[key] for key in allowed & known.keys())}

    def _held(self, truth: Truth, allowed: set[int] | None) -> set[int]:
        """Those of the notes allowed that existed and held on the day."""
        corpus = self._corpus
        keys = corpus.notes.keys.tolist()
        return {
            key
            for ordinal, key in enumerate(keys)
            if (allowed is None or key in allowed) and truth.held(corpus.note(ordinal))
        }

    def _rank_lexical(self, run: _Run, allowed: set[int] | None) -> Lexical:
        if isinstance(self._lexical, Unavailable):
            raise self._lexical
        return rank_lexical(self._lexical, run.weighed, run.pool, allowed)

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
        run.model = embedded.model if embedded.readable >= 0.5 else ""
        dense = embedded.ranker.rank(embedded.vector, 8 * run.pool, allowed)
        return replace(dense, trust=max(dense.trust * embedded.readable, MIN_TRUST))

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

    def _known_share(self, run: _Run, candidates: Mapping[int, _Candidate]) -> float | None:
        """The share of the question's words, by rarity, that the best chunk by words holds."""
        ordinal = max(candidates, key=lambda i: (candidates[i].bm25, -i), default=None)
        if ordinal is None or candidates[ordinal].bm25 <= 0:
            return None
        language = self._corpus.language(self._corpus.note(candidates[ordinal].note))
        chunk = self._corpus.chunk(ordinal)
        return match(run.words, self._word_weights(run), chunk, (), language).share

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
        gains = graph.spread(by_note, self._settings.hops, allowed, run.query.text)
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

    def _correct(self, run: _Run) -> None:
        """Ask for the words of the notes in place of those that are misspelt."""
        if run.uses_words and not isinstance(self._lexical, Unavailable):
            try:
                found = correct(self._corpus, run.query.text, run.words, self._frequency)
            except Damaged as error:
                run.unavailable.append(Missing("spelling", str(error)))
                return
            run.words, run.weighed = found.words, found.weighed
            run.spelt, run.corrections = found.text, found.corrections

    def _exact(
        self,
        run: _Run,
        typed: str,
        candidates: dict[int, _Candidate],
        allowed: set[int] | None,
    ) -> dict[int, Exact]:
        """The chunks asked for by name or letter by letter; they become candidates too."""
        if not run.uses_words:
            return {}
        corpus, text = self._corpus, run.query.text
        best_chunk = partial(self._best_chunk, dense=run.found.get("vector"))
        found: dict[int, Exact] = {}
        if not isinstance(self._lexical, Unavailable):
            found = by_text(corpus, self._lexical, text, candidates, allowed, best_chunk)
        run.named = self._may_show({**named(corpus, text), **named(corpus, typed)}, allowed)
        if len(run.spelt) > SHORT and run.corrections and not run.named:
            run.named = self._may_show(named(corpus, run.spelt), allowed)
            found.update(by_name(run.named, candidates, best_chunk, misspelt=True))
        else:
            found.update(by_name(run.named, candidates, best_chunk))
        self._add(run, candidates, found)
        return found

    def _may_show(self, notes: Mapping[int, float], allowed: set[int] | None) -> dict[int, float]:
        """Those of some notes, by ordinal, that are served and pass the filters."""
        corpus = self._corpus
        return {
            note: value
            for note, value in notes.items()
            if (allowed is None or int(corpus.notes.keys[note]) in allowed)
            and corpus.serves(corpus.note(note)["file"])
        }

    def _add(
        self, run: _Run, candidates: dict[int, _Candidate], chunks: Iterable[int | None]
    ) -> None:
        """Make candidates of chunks, by ordinal, that are none yet."""
        fresh = [chunk for chunk in chunks if chunk is not None and chunk not in candidates]
        lexical, dense = run.found.get("bm25"), run.found.get("vector")
        candidates.update(self._looked_at(np.array(fresh, dtype=np.int64), lexical, dense))

    def _titles(
        self, run: _Run, candidates: dict[int, _Candidate], allowed: set[int] | None
    ) -> dict[int, float]:
        """note key -> what it gains because the query names its title or an alias in full.

        Of the best notes, and of all that have a name that stands in the query: their chunks
        become candidates.
        """
        corpus = self._corpus
        count = len(corpus.notes)
        if "bm25" not in run.ran or count < 2:
            return {}
        asked = {t for word in run.words.words if word.count >= 1 for t in word.variants}
        rarity = {
            term: math.log(count / (1 + df)) / math.log(count)
            for term, df in self._frequency(asked).items()
        }
        by_note = self._by_note(run, candidates)
        ordinal_of = {candidate.note_key: candidate.note for candidate in candidates.values()}
        best = sorted(by_note, key=lambda note: (-by_note[note], note))[:TITLES_LOOKED_AT]
        others = self._may_show(dict.fromkeys(mentioned(corpus, run.spelt), 1.0), allowed)
        looked_at = dict.fromkeys([*(ordinal_of[note] for note in best), *others])
        shares = title_shares(corpus, looked_at, run.named, run.words, rarity)
        known = set(ordinal_of.values())
        dense = run.found.get("vector")
        fresh = [note for note in shares if note not in known]
        self._add(run, candidates, [self._best_chunk(note, dense) for note in fresh])
        unit = TITLE_GAIN * max(self._settings.bm25_weight, self._settings.vector_weight)
        return {int(corpus.notes.keys[note]): unit * share for note, share in shares.items()}

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
        if run.passing:
            shares = dict.fromkeys(run.passing, 1.0)
            channels.append(ChannelScores("either", EITHER_WEIGHT, shares, shares))
        if run.exact:
            shares = {i: exact.share for i, exact in run.exact.items()}
            weight = EXACT_WEIGHT * sum(channel.weight for channel in channels)
            channels.append(ChannelScores("exact", weight or 1.0, shares, shares))
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
        candidates: dict[int, _Candidate],
        gains: Gains | None,
        filters: Filters,
        boosts: bool,
        allowed: set[int] | None,
    ) -> tuple[list[Hit], bool]:
        """Boost the best of the fused, put what replaced a note above it, thin them out and cut.

        The second value says whether anything was cut off.
        """
        corpus, settings, query = self._corpus, self._settings, run.query
        is_status_filtered = run.is_status_asked
        per_note = settings.max_per_note if query.max_per_note is None else query.max_per_note
        if query.group == "note":
            per_note = 1

        def boosted(ordinal: int) -> Ranked:
            candidate = candidates[ordinal]
            total, channels = fused.get(ordinal, (0.0, {}))
            chunk, record = corpus.chunk(ordinal), corpus.note(candidate.note)
            item = Ranked(ordinal, candidate.note, candidate.note_key, chunk, total, channels)
            if boosts:
                item.factors, item.remarks = boosting.factors(
                    chunk,
                    record["frontmatter"],
                    query.text,
                    query.today,
                    settings.boosts,
                    labels=() if is_status_filtered else run.truth.labels(record),
                    is_past=query.as_of,
                )
            if ordinal in run.exact or ordinal in run.holding:
                item.factors.pop("quality", None)  # however poor in words, it was asked for
                item.remarks.pop("quality", None)
            if ordinal in run.exact:
                item.remarks["exact"] = run.exact[ordinal].what
            return item

        def brought(path: str) -> Ranked | None:
            ordinal = self._chunk_to_bring(run, path, fused, candidates, allowed)
            return None if ordinal is None else boosted(ordinal)

        spread = self._spread_out(fused, candidates, max(4 * query.top_k, 60), per_note)
        ranked = [item for item in map(boosted, spread) if corpus.serves(item.chunk.note)]
        ranked.sort(key=lambda item: (-item.score, item.ordinal))
        seen: Counter[int] = Counter()
        for item in ranked:
            seen[item.note] += 1
            if seen[item.note] > 1:
                item.factors["repeat"] = repeat_factor(seen[item.note])
        ranked.sort(key=lambda item: (-item.score, item.ordinal))
        if ranked and settings.min_score > 0:
            others = (item.score for item in ranked if item.ordinal not in run.exact)
            least = settings.min_score * max(others, default=0.0)
            ranked = [item for item in ranked if item.score >= least]
        ranked = self._reranked(run, ranked)
        ranked = newest_above(ranked, run.truth, brought, settings.rrf_k, settings.rank)
        matching = self._matching(run, fused, candidates)
        shown, more = thinned(ranked, query.top_k, per_note, matching)
        weights = self._word_weights(run)
        hits: list[Hit] = []
        for item in shown:
            candidate, chunk, remarks = candidates[item.ordinal], item.chunk, item.remarks
            record = corpus.note(candidate.note)
            said = property_texts(record["frontmatter"])
            names = (*record["aliases"], *record["tags"], *said, record["file"][:-3])
            matched = match(run.words, weights, chunk, names, corpus.language(record))
            places = around(run.phrases, chunk.text, matched.spans, SNIPPET_CHARS // 3)
            excerpt, marks = snippet(chunk.text, places)
            if gains is not None and candidate.note_key in gains.notes:
                tie = gains.linked_from.get(candidate.note_key)
                at = int(corpus.notes.ordinals([tie.seed])[0]) if tie is not None else -1
                if tie is not None and at >= 0:
                    remarks["linked_from"] = corpus.note(at)["file"]
                    remarks["link_kind"] = tie.kind
                    if tie.name:
                        remarks["link_name"] = tie.name
            hits.append(
                Hit(
                    chunk=chunk,
                    score=item.score,
                    trace=Trace(item.channels, settings.rrf_k, item.fused, item.factors, remarks),
                    snippet=excerpt,
                    matches=marks,
                    text_matches=matched.spans,
                    evidence=1.0
                    if remarks.get("exact") in ("name", "text")
                    else run.evidence(matched.share, candidate.cosine),
                    meta=record["frontmatter"],
                    modified=record["modified"],
                    tags=tuple(record["tags"]),
                    labels=run.truth.labels(record),
                    replaced_by=tuple(filter(corpus.serves, run.truth.newer(record["file"]))),
                    duplicates=tuple(item.duplicates),
                    more_in_note=item.more_in_note,
                )
            )
        return _with_inherited_evidence(hits), more

    def _reranked(self, run: _Run, ranked: list[Ranked]) -> list[Ranked]:
        """With the best in the reranker's order, if there is one and it can work."""
        if run.reranker is None or not run.query.text.strip():
            return ranked
        # No part of a title in a longer question gains as much as a title that is all of it.
        partly = TITLE_GAIN * max(self._settings.bm25_weight, self._settings.vector_weight)
        try:
            return reranked(
                ranked,
                run.query.text[:MAX_QUERY_CHARS],
                run.reranker,
                self._settings.rerank_top_n,
                lambda item: is_exact(item, partly),
            )
        except Unavailable as error:
            run.unavailable.append(Missing(error.what, error.why))
            return ranked

    def _chunk_to_bring(
        self,
        run: _Run,
        path: str,
        fused: Mapping[int, tuple[float, dict[str, Any]]],
        candidates: dict[int, _Candidate],
        allowed: set[int] | None,
    ) -> int | None:
        """The chunk that shows a note which no channel brought far enough; None if it may not."""
        corpus = self._corpus
        at = corpus.ordinal_of(path)
        if at < 0 or not corpus.serves(path):
            return None
        if allowed is not None and int(corpus.notes.keys[at]) not in allowed:
            return None
        own = [ordinal for ordinal in fused if candidates[ordinal].note == at]
        if own:
            return max(own, key=lambda ordinal: (fused[ordinal][0], -ordinal))
        lexical, dense = run.found.get("bm25"), run.found.get("vector")
        ordinal = self._best_chunk(at, dense)
        if ordinal is not None and ordinal not in candidates:
            candidates.update(self._looked_at(np.array([ordinal]), lexical, dense))
        return ordinal

    def _matching(
        self,
        run: _Run,
        fused: Mapping[int, tuple[float, dict[str, Any]]],
        candidates: Mapping[int, _Candidate],
    ) -> Counter[int]:
        """note -> how many of its chunks hold a word of the question, or are near to it."""
        lexical, dense = run.found.get("bm25"), run.found.get("vector")
        worded: Mapping[int, Any] = {} if lexical is None else lexical.chunks
        keys = self._corpus.chunks.keys
        found: Counter[int] = Counter()
        for ordinal in fused:
            candidate = candidates[ordinal]
            near = 0.0
            if dense is not None and candidate.cosine is not None:
                near = dense.calibrated(candidate.cosine)
            if near >= NEAR_SHARE or int(keys[ordinal]) in worded:
                found[candidate.note] += 1
        return found

    def _spread_out(
        self,
        fused: Mapping[int, tuple[float, dict[str, Any]]],
        candidates: Mapping[int, _Candidate],
        limit: int,
        per_note: int,
    ) -> list[int]:
        """The `limit` best, a note's further chunks at less of their score: none crowds the rest.

        per_note: how many of a note will be shown, 0 for any number; a few more stay, since copies
        of others will not be.
        """
        seen: Counter[int] = Counter()
        shares: dict[int, float] = {}
        for ordinal in sorted(fused, key=lambda i: (-fused[i][0], i)):
            note = candidates[ordinal].note
            seen[note] += 1
            if not per_note or seen[note] <= per_note + SPARE_CHUNKS:
                shares[ordinal] = fused[ordinal][0] * repeat_factor(seen[note])
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


def _with_inherited_evidence(hits: list[Hit]) -> list[Hit]:
    """Give a hit that links brought in a part of the evidence of the note that brought it."""
    own: dict[str, float] = {}
    for hit in hits:
        own[hit.chunk.note] = max(own.get(hit.chunk.note, 0.0), hit.evidence)
    passed = []
    for hit in hits:
        if (older := hit.trace.notes.get("replaces")) in own:
            hit = replace(hit, evidence=max(hit.evidence, own[older]))  # it stands for that one
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
        self.weighed = self.words  # the same for BM25, where what was misspelt counts less
        self.ran: list[str] = []
        self.unavailable: list[Missing] = []
        self.found: dict[str, Any] = {}
        self.known_share: float | None = None  # see Searcher._known_share; None without words
        self.titles: dict[int, float] = {}
        self.spelt = query.text  # with its corrections
        self.corrections: tuple[tuple[str, str], ...] = ()
        self.named: dict[int, float] = {}  # ordinals of notes of which the query is the name
        self.exact: dict[int, Exact] = {}  # by ordinal of the chunk
        self.reranker: Reranker | None = None
        self.phrases: tuple[str, ...] = ()  # that a note must hold, or may instead of another
        self.holding: set[int] = set()  # ordinals of the chunks that hold one of them
        self.passing: set[int] = set()  # the same of notes that pass by the other side of an OR
        self.is_status_asked = False  # by a filter: then it is no reason to stand behind
        self.truth = Truth(searcher.corpus, query.today, is_past=query.as_of)
        self.model = ""  # that made the vectors; "" where it cannot read the question

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

    @property
    def uses_words(self) -> bool:
        return "bm25" in self.wanted and self._weight("bm25") > 0

    def _weight(self, channel: str) -> float:
        settings = self._settings
        if channel == "graph":
            return settings.graph_weight if settings.hops else 0.0
        return settings.bm25_weight if channel == "bm25" else settings.vector_weight

    def vector_weight(self, dense: Dense) -> float:
        if self._settings.rank == "ordinal":
            return self._settings.vector_weight
        return self._settings.vector_weight * self.trust(dense)

    def trust(self, dense: Dense) -> float:
        """What the vectors are worth: more where no chunk holds most words of the question."""
        if self.known_share is None:
            return dense.trust
        lacking = USUAL_KNOWN_SHARE - self.known_share
        return dense.trust * (1 + lacking * (UNKNOWN_PULL if lacking > 0 else 1))

    def evidence(self, share: float, cosine: float | None) -> float:
        """How strong a hit's evidence is, by the share of the words and the cosine it has."""
        dense: Dense | None = self.found.get("vector")
        mean = 0.0 if dense is None else dense.mean
        return strength(share, cosine, mean, calibration_of(self.model))

    def bm25_share(self, candidate: _Candidate, lexical: Lexical | None) -> float:
        if lexical is None or not lexical.best:
            return 0.0
        return self._settings.bm25_weight * candidate.bm25 / lexical.best

    def vector_share(self, candidate: _Candidate, dense: Dense | None) -> float:
        if dense is None or candidate.cosine is None:
            return 0.0
        return self._settings.vector_weight * self.trust(dense) * dense.calibrated(candidate.cosine)


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now
