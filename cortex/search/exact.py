"""The chunks that a query asks for by the name of their note, or that hold what it says as it is.

They stand before anything else: the channel `exact` weighs EXACT_WEIGHT times as much as all
others of the query together, so that neither they nor any factor bring another chunk above.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..errors import Unavailable
from ..indexer.chunks import property_texts
from ..indexer.tokens import LexicalQuery, query_terms
from ..protocols import LexicalIndex
from .literals import Literal, holding, literals_in

if TYPE_CHECKING:
    from .corpus import Corpus

EXACT_WEIGHT = 4.0  # times the other channels together
# Of that weight: each step is more than the other channels together, so they order equals only.
NAME_SHARE = 1.0
TYPED_SHARE = 0.7  # for what stands there as it was typed
FOLDED_SHARE = 0.4  # but for its case
RESPELT_SHARE = 0.3  # for a name that was misspelt

NOTES_LOOKED_AT, CHUNKS_LOOKED_AT = 60, 200  # by BM25 of the literal's own words
BEST_LOOKED_AT = 12  # of the candidates, for prose


@dataclass(frozen=True, slots=True)
class Exact:
    share: float  # of the channel's weight, in (0, 1]
    what: str  # name, text, misspelt name


class Scored(Protocol):
    """A candidate: the ordinal of its note, and what two channels say of it."""

    note: int
    bm25: float
    cosine: float | None


def by_name(
    named: Mapping[int, float],
    candidates: Mapping[int, Scored],
    best_chunk: Callable[[int], int | None],
    *,
    misspelt: bool = False,
) -> dict[int, Exact]:
    """The chunk that stands for each note named: the best of the candidates, else `best_chunk`."""
    own: dict[int, list[int]] = {note: [] for note in named}
    for ordinal, candidate in candidates.items() if named else ():
        if candidate.note in own:
            own[candidate.note].append(ordinal)

    def worth(ordinal: int) -> tuple[float, float, int]:
        candidate = candidates[ordinal]
        return candidate.bm25, candidate.cosine or 0.0, -ordinal

    found: dict[int, Exact] = {}
    for note, likeness in named.items():
        chosen = max(own[note], key=worth) if own[note] else best_chunk(note)
        if chosen is not None:
            share = RESPELT_SHARE if misspelt else NAME_SHARE
            found[chosen] = Exact(share * likeness, "misspelt name" if misspelt else "name")
    return found


def by_text(
    corpus: Corpus,
    lexical: LexicalIndex,
    query: str,
    candidates: Mapping[int, Scored],
    allowed: Collection[int] | None,
    best_chunk: Callable[[int], int | None],
) -> dict[int, Exact]:
    """The chunks that hold what of `query` is an identifier, a path or an error, as it is.

    Sought among the notes and chunks that are best by its words. Nothing while the lexical index
    cannot be asked.
    """
    found: dict[int, Exact] = {}
    for literal in literals_in(query):
        if literal.is_prose:
            best = sorted(candidates, key=lambda i: (-candidates[i].bm25, i))
            held = _held_by(corpus, literal, best[:BEST_LOOKED_AT])
            for ordinal in best[:BEST_LOOKED_AT]:
                case = _held_by_names(corpus, literal, corpus.owner(ordinal))
                if case:
                    held.setdefault(ordinal, case)
        else:
            try:
                held = _held(corpus, lexical, literal, allowed, best_chunk)
            except Unavailable:  # the channel has reported it
                return found
        owners = {corpus.owner(ordinal) for ordinal in held}
        if literal.most is not None and len(owners) > literal.most:
            continue
        for ordinal, case in held.items():
            share = TYPED_SHARE if case == 2 else FOLDED_SHARE
            if ordinal not in found or found[ordinal].share < share:
                found[ordinal] = Exact(share, "text")
    return found


def _held(
    corpus: Corpus,
    lexical: LexicalIndex,
    literal: Literal,
    allowed: Collection[int] | None,
    best_chunk: Callable[[int], int | None],
) -> dict[int, int]:
    """chunk ordinal -> 2 where it holds the literal as typed, 1 but for case."""
    words = query_terms(literal.text, corpus.languages)
    frequency = lexical.document_frequency({t for word in words.words for t in word.variants})
    rarity = {word: max(frequency.get(t, 0) for t in word.variants) for word in words.words}
    known = [word for word in words.words if rarity[word]]
    if not known:
        return {}
    rarest = LexicalQuery((min(known, key=lambda word: rarity[word]),), ())
    notes = dict(lexical.rank_notes(words, NOTES_LOOKED_AT, allowed))
    notes.update(lexical.rank_notes(rarest, NOTES_LOOKED_AT, allowed))
    chunks = lexical.rank_chunks(words, CHUNKS_LOOKED_AT, notes)
    ordinals = corpus.chunks.ordinals([key for key, _, _ in chunks]).tolist()
    held = _held_by(corpus, literal, ordinals)
    owners = {corpus.owner(ordinal) for ordinal in held}
    for note in corpus.notes.ordinals(list(notes)).tolist():
        if note < 0 or note in owners:
            continue
        case = _held_by_names(corpus, literal, note)
        chosen = best_chunk(note) if case else None
        if chosen is not None:
            held[chosen] = case
    return held


def _held_by_names(corpus: Corpus, literal: Literal, note: int) -> int:
    """The same of what a note says beside its text: names, tags, properties, path."""
    record = corpus.note(note)
    said = property_texts(record["frontmatter"])
    names = (record["title"], *record["aliases"], *record["tags"], *said, record["file"])
    return holding(names, literal.text)


def _held_by(corpus: Corpus, literal: Literal, ordinals: Iterable[int]) -> dict[int, int]:
    held = {}
    for ordinal in ordinals:
        if ordinal < 0:
            continue
        chunk = corpus.chunk(ordinal)
        if case := holding((chunk.text, *chunk.heading_path), literal.text):
            held[ordinal] = case
    return held
