"""The pipeline: filter, rank by each channel, fuse, boost, cut."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ..errors import Damaged, Unavailable, UsageError
from ..patience import Background, Late
from ..protocols import LexicalIndex, Reranker
from ..text import brief
from ..types import Hit, Missing, Query, SearchResult
from ..vault.frontmatter import day_of
from .asked import find_exact, find_passing, find_phrases, find_titles
from .channels import (
    CHANNELS,
    MIN_TRUST,
    Dense,
    EmbeddedQuery,
    Gains,
    Lexical,
    LinkGraph,
    rank_lexical,
)
from .corpus import Corpus
from .evidence import NOTHING_MATCHES
from .explain import WEAK
from .filters import Filters
from .finish import finish
from .fused import fused, put_phrases_first
from .fusion import ChannelScores, fuse
from .names import is_name
from .pool import Pool, known_share
from .run import MAX_QUERY_CHARS, Run, SearchSettings
from .selection import Selection
from .spelling import correct
from .syntax import ParsedQuery, parse, plain


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
        _check(query, channels)
        clock = Clock()
        parsed = self._parsed(query)
        run = Run(
            self._corpus,
            self._lexical,
            self._settings,
            replace(query, text=parsed.text),
            typed=query.text,
            wanted=tuple(channels or CHANNELS),
            is_choice=channels is not None,
        )
        run.phrases = (*parsed.phrases, *filters.texts.get("phrases", ()))
        run.is_status_asked = "status" in (*filters.lists, *parsed.fields)
        run.allowed, parsed = self._allowed(run, filters, parsed)
        if query.as_of:
            run.allowed = self._held(run)
        clock.lap("filter")
        if not run.query.text.strip():
            hits, more = self._newest(run)
            clock.lap("rank")
            return self._result(run, parsed, clock, hits, more)
        self._correct(run)
        lexical = run.attempt("bm25", lambda: self._rank_lexical(run))
        clock.lap("bm25")
        dense = run.attempt("vector", lambda: self._rank_dense(run, vector_wait_s))
        clock.lap("vector")
        pool = Pool(self._corpus, lexical, dense)
        pool.add_found(run.depth)
        run.known_share = known_share(run, pool)
        pool.weigh(self._settings.bm25_weight, self._settings.vector_weight, run.known_share)
        find_exact(run, pool)
        find_titles(run, pool)
        gains = run.attempt("graph", lambda: self._spread(run, pool))
        clock.lap("graph")
        find_phrases(run, pool)
        if parsed.has_alternatives:
            find_passing(run, pool)
        fusion = fused(run, pool, gains)
        put_phrases_first(run, pool, fusion)
        hits, more = finish(run, pool, fusion, gains, boosts=boosts, reranker=reranker)
        clock.lap("rank")
        if hits and max(hit.evidence for hit in hits) < WEAK:
            run.warnings.append(NOTHING_MATCHES)
        return self._result(run, parsed, clock, hits, more)

    def _parsed(self, query: Query) -> ParsedQuery:
        if query.plain or is_name(self._corpus, query.text):
            return plain(query.text)
        return parse(query.text, query.today, lambda: self._corpus.properties)

    def _allowed(
        self, run: Run, filters: Filters, parsed: ParsedQuery
    ) -> tuple[set[int] | None, ParsedQuery]:
        """The keys of the notes that pass, None for all; the query as it was read after all.

        A question with a phrase in it that no note holds is read without the quotes.
        """
        run.warnings.extend(parsed.hints)
        if not filters and parsed.condition is None:
            return None, parsed
        selection = Selection(self._corpus, self._lexical, self._graph)
        passed = selection.passing(filters, parsed.condition)
        if not passed:
            unheld = selection.held_by_none(run.phrases)
            looser = parsed.without_quotes(unheld)
            if looser.condition != parsed.condition:
                for phrase in unheld:
                    told = f'no note holds "{brief(phrase)}"'
                    run.warnings.append(f"{told}; its words are searched, without the quotes")
                run.phrases = tuple(phrase for phrase in run.phrases if phrase not in unheld)
                return self._allowed(run, filters, replace(looser, hints=()))
            selection.tell_nothing_passed(unheld)
        run.unavailable.extend(selection.missing)
        run.warnings.extend(selection.warnings)
        return passed, parsed

    def _held(self, run: Run) -> set[int]:
        """Those of the notes allowed that existed and held on the day."""
        corpus, allowed = self._corpus, run.allowed
        return {
            key
            for note, key in enumerate(corpus.notes.keys.tolist())
            if (allowed is None or key in allowed) and run.truth.held(corpus.note(note))
        }

    def _newest(self, run: Run) -> tuple[list[Hit], bool]:
        """The notes that pass, newest first, each by its beginning: no words rank them."""
        corpus, settings = self._corpus, self._settings
        dated: list[tuple[dt.date, float, int]] = []
        for note in filter(run.is_allowed, range(len(corpus.notes))):
            record = corpus.note(note)
            modified = record["modified"]
            dated.append((day_of(record["frontmatter"], modified, record["file"]), modified, -note))
        dated.sort(reverse=True)
        starts = [int(corpus.first_chunk[-note]) for _, _, note in dated]
        count = max(4 * run.query.top_k, 60)
        places = {chunk: place for place, chunk in enumerate(starts[:count])}
        pool = Pool(corpus, None, None)
        pool.add(places)
        k = settings.rrf_k
        shares = {chunk: k / (k + place) for chunk, place in places.items()}
        fusion = fuse([ChannelScores("newest", 1.0, shares, shares)], k, "calibrated")
        hits, more = finish(run, pool, fusion, None, boosts=False)
        return [replace(hit, evidence=1.0) for hit in hits], more  # all that was asked for

    def _correct(self, run: Run) -> None:
        """Ask for the words of the notes in place of those that are misspelt."""
        if run.uses_words and not isinstance(self._lexical, Unavailable):
            try:
                found = correct(self._corpus, run.query.text, run.words, run.frequency)
            except Damaged as error:
                run.unavailable.append(Missing("spelling", str(error)))
                return
            run.words, run.weighed = found.words, found.weighed
            run.spelt, run.corrections = found.text, found.corrections

    def _rank_lexical(self, run: Run) -> Lexical:
        if isinstance(self._lexical, Unavailable):
            raise self._lexical
        return rank_lexical(self._lexical, run.weighed, run.depth, run.allowed)

    def _rank_dense(self, run: Run, wait_s: float | None) -> Dense:
        embed = self._embed
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
        run.model_warnings = embedded.warnings
        run.model = embedded.model if embedded.readable >= 0.5 else ""
        dense = embedded.ranker.rank(embedded.vector, 8 * run.depth, run.allowed)
        return replace(dense, trust=max(dense.trust * embedded.readable, MIN_TRUST))

    def _spread(self, run: Run, pool: Pool) -> Gains:
        """Lift what the best notes link to, and add the chunks of what that brings in."""
        if isinstance(self._graph, Unavailable):
            raise self._graph
        scores = dict(pool.by_note)
        for note, gain in run.titles.items():
            scores[note] = scores.get(note, 0.0) + gain
        lacking = 1 - (run.known_share or 0.0)
        gains = self._graph.spread(
            scores, self._settings.hops, run.allowed, run.query.text, lacking
        )
        fresh = [note for note in gains.notes if note not in pool.by_note]
        ordinals = self._corpus.notes.ordinals(fresh)
        pool.add(pool.best_chunk(note) for note in ordinals[ordinals >= 0].tolist())
        return gains

    def _result(
        self, run: Run, parsed: ParsedQuery, clock: Clock, hits: Sequence[Hit], more: bool
    ) -> SearchResult:
        return SearchResult(
            query=run.typed,
            hits=tuple(hits),
            ran=tuple(run.ran),
            unavailable=tuple(run.unavailable),
            warnings=(*self._warnings, *run.model_warnings, *run.warnings),
            generation=self._corpus.stamp.generation,
            timings_ms=clock.laps,
            more=more,
            understood=parsed.understood,
            corrections=run.corrections,
            evidence=max((hit.evidence for hit in hits), default=0.0),
        )


def _check(query: Query, channels: Sequence[str] | None) -> None:
    wanted = channels or CHANNELS
    unknown = [name for name in wanted if name not in CHANNELS]
    if unknown:
        raise UsageError(f"no channel {unknown[0]!r}; there are {', '.join(CHANNELS)}")
    if "bm25" not in wanted and "vector" not in wanted:
        raise UsageError("graph goes on from what bm25 or vector found; name one of them too")
    if query.top_k < 1:
        raise UsageError(f"top_k must be at least 1, not {query.top_k}")


class Clock:
    """How long each step of a query took."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}  # in ms
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = round((now - self._last) * 1000, 3)
        self._last = now
