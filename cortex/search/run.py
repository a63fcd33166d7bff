"""One query on its way through the pipeline: what it asks for, and what was found out so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeVar

from ..errors import Damaged, Unavailable
from ..indexer.tokens import LexicalQuery, query_terms
from ..protocols import LexicalIndex
from ..types import Missing, Query
from .boosts import BoostSettings
from .channels import TITLE_GAIN
from .corpus import Corpus
from .evidence import counts, gate_weights, word_weights
from .exact import Exact
from .truth import Truth

MAX_QUERY_CHARS = 20_000  # of a question that a model reads; words are taken from all of it
MIN_DEPTH = 300  # notes that each channel ranks, at least: the first hits do not depend on top_k

Found = TypeVar("Found")


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
    boosts: BoostSettings = field(default_factory=BoostSettings)

    def weight(self, channel: str) -> float:
        """Of one of CHANNELS; 0 where it is off."""
        if channel == "graph":
            return self.graph_weight if self.hops else 0.0
        return self.bm25_weight if channel == "bm25" else self.vector_weight

    @property
    def title_gain(self) -> float:
        """What a note gains whose title stands in a longer question, in fused units."""
        return TITLE_GAIN * max(self.bm25_weight, self.vector_weight)


class Run:
    """The state of one query. The steps of the pipeline fill it in their order.

    typed: the text of the query before its operators were read. wanted: of CHANNELS. is_choice:
    whether somebody named these channels.
    """

    def __init__(
        self,
        corpus: Corpus,
        lexical: LexicalIndex | Unavailable,
        settings: SearchSettings,
        query: Query,
        *,
        typed: str,
        wanted: Sequence[str],
        is_choice: bool,
    ) -> None:
        self._is_choice = is_choice
        self.corpus = corpus
        self.lexical = lexical
        self.settings = settings
        self.query = query
        self.typed = typed
        self.wanted = wanted
        self.truth = Truth(corpus, query.today, is_past=query.as_of)
        self.depth = min(  # how many notes each channel ranks
            max(query.top_k * settings.fetch_multiplier, MIN_DEPTH), max(len(corpus.chunks), 1)
        )
        self.ran: list[str] = []
        self.unavailable: list[Missing] = []
        self.warnings: list[str] = []
        self.model_warnings: tuple[str, ...] = ()
        # Of what was typed
        self.words: LexicalQuery = query_terms(query.text, corpus.languages)
        self.weighed = self.words  # the same for BM25, where what was misspelt counts less
        self.spelt = query.text  # with its corrections
        self.corrections: tuple[tuple[str, str], ...] = ()
        self.phrases: tuple[str, ...] = ()  # that a note must hold, or may instead of another
        self.is_status_asked = False  # by a filter: then it is no reason to stand behind
        self.allowed: set[int] | None = None  # keys of the notes that pass; None is all
        # Of what was found
        self.model = ""  # that made the vectors; "" where it cannot read the question
        self.known_share: float | None = None  # of the words, in the best chunk by words
        self.named: dict[int, float] = {}  # ordinals of notes of which the query is the name
        self.exact: dict[int, Exact] = {}  # by ordinal of the chunk
        self.titles: dict[int, float] = {}  # note key -> gain for its title in the query
        self.holding: set[int] = set()  # ordinals of the chunks that hold one of the phrases
        self.passing: set[int] = set()  # the same of notes that pass by the other side of an OR

    def attempt(self, channel: str, rank: Callable[[], Found]) -> Found | None:
        """What a channel answers; None if it is off or cannot run, which is then reported."""
        if channel not in self.wanted:
            return None
        if not self.settings.weight(channel):
            if self._is_choice:
                why = f"search.{channel}_weight is 0; give it a weight in the config"
                self.unavailable.append(Missing(channel, why))
            return None
        try:
            found = rank()
        except (Unavailable, Damaged) as error:
            why = error.why if isinstance(error, Unavailable) else str(error)
            self.unavailable.append(Missing(channel, why))
            return None
        self.ran.append(channel)
        return found

    @property
    def uses_words(self) -> bool:
        return "bm25" in self.wanted and self.settings.weight("bm25") > 0

    @cached_property
    def word_weights(self) -> list[float]:
        """How rare each of `words` is; ask once they are corrected."""
        if isinstance(self.lexical, Unavailable):
            return [1.0] * len(self.words.words)
        return word_weights(self.words, self._frequency, self.lexical.note_count)

    @cached_property
    def gate_weights(self) -> list[float]:
        """The same, as `evidence.gate_weights` has it."""
        if isinstance(self.lexical, Unavailable):
            return [1.0] * len(self.words.words)
        return gate_weights(counts(self.words, self._frequency), self.lexical.note_count)

    @cached_property
    def _frequency(self) -> Mapping[str, int]:
        return self.frequency({term for word in self.words.words for term in word.variants})

    def frequency(self, terms: set[str]) -> Mapping[str, int]:
        """In how many notes each term stands; nothing from an index that cannot tell."""
        try:
            if not isinstance(self.lexical, Unavailable):
                return self.lexical.document_frequency(terms)
        except Unavailable:
            pass  # the channel has reported it
        return {}

    def is_allowed(self, note: int) -> bool:
        """Whether a note, by ordinal, is served and passes the filters."""
        corpus = self.corpus
        passes = self.allowed is None or int(corpus.notes.keys[note]) in self.allowed
        return passes and corpus.serves(corpus.note(note)["file"])
