"""Which notes pass filters and what was typed: conditions as sets of notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import Unavailable
from ..indexer.chunks import property_texts
from ..indexer.tokens import LexicalQuery, QueryWord, query_terms
from ..protocols import LexicalIndex
from ..text import brief
from ..types import Json, Missing
from ..vault.reading import nearest
from .channels import LinkGraph
from .filters import Filters
from .links import Names, WrittenLinks
from .syntax import Condition, Either, Every, Holds, Not, Passes
from .wording import holds_all, spaced

if TYPE_CHECKING:
    from .corpus import Corpus

MAX_WARNINGS = 6
FEW = 200  # notes whose texts are read at once, rather than asking the index for one more word

_LINK_FILTERS = {"links_to": "links-to", "linked_from": "linked-from", "near": "near"}


class Selection:
    """Chooses among the notes that are served; tells of names and values that none of them has."""

    def __init__(
        self,
        corpus: Corpus,
        lexical: LexicalIndex | Unavailable,
        graph: LinkGraph | Unavailable,
    ) -> None:
        self._corpus = corpus
        self._lexical = lexical
        self._graph = graph
        self.warnings: list[str] = []
        self.missing: list[Missing] = []

    def passing(self, filters: Filters, condition: Condition | None) -> set[int]:
        """The keys of the notes that pass both."""
        passed = self._passing(filters, set(self._notes))
        if condition is not None:
            passed = self._meeting(condition, passed)
        return passed

    def held_by_none(self, phrases: Sequence[str]) -> tuple[str, ...]:
        """Those of the phrases that no note holds."""
        notes = set(self._notes)
        return tuple(p for p in phrases if not self._holding(Holds(p, in_order=True), notes))

    def tell_nothing_passed(self, phrases: Sequence[str]) -> None:
        """Warn of what nobody has. phrases: those that no note holds."""
        for phrase in phrases:
            self._warn(f'no note holds "{brief(phrase)}"; try it without the quotes')
        if self._notes and not self.warnings and not self.missing:
            self._warn("no note passes the filters")

    @cached_property
    def _notes(self) -> dict[int, Mapping[str, Json]]:
        """key -> record."""
        corpus = self._corpus
        keys = corpus.notes.keys.tolist()
        records = ((key, corpus.note(ordinal)) for ordinal, key in enumerate(keys))
        return {key: record for key, record in records if corpus.serves(record["file"])}

    @cached_property
    def _names(self) -> Names:
        return Names(list(self._notes.values()))

    @cached_property
    def _links(self) -> WrittenLinks | None:
        if isinstance(self._graph, Unavailable):
            self.missing.append(Missing("filtering by links", self._graph.why))
            return None
        return WrittenLinks(self._graph)

    def _warn(self, text: str) -> None:
        if text not in self.warnings and len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(text)

    # Conditions

    def _meeting(self, condition: Condition, notes: set[int]) -> set[int]:
        """Those of `notes` that are as a condition says."""
        if isinstance(condition, Passes):
            filters = condition.filters.with_values_that_hold(list(self._notes.values()))
            return self._passing(filters, notes, condition.following)
        if isinstance(condition, Not):
            return notes - self._meeting(condition.part, notes)
        if isinstance(condition, Every):
            # What reads the least goes first.
            for part in sorted(condition.parts, key=lambda part: not isinstance(part, Passes)):
                notes = self._meeting(part, notes)
            return notes
        if isinstance(condition, Either):
            return set().union(*(self._meeting(part, notes) for part in condition.parts))
        return self._holding(condition, notes)

    def _passing(
        self, filters: Filters, notes: set[int], following: Sequence[str] = ()
    ) -> set[int]:
        if not filters:
            return notes
        served = list(self._notes.values())
        filters = filters.with_parts_of_words(served)
        self._tell_unknown(filters, served)
        passed = {key for key in notes if filters.matches(self._notes[key])}
        for field, refs in filters.links.items():
            asked = [ref for ref in refs if not ref.startswith("!")]
            if asked:
                passed &= set().union(*(self._linked(field, ref, following) for ref in asked))
            for ref in refs:
                if ref.startswith("!"):
                    passed -= self._linked(field, ref.lstrip("! "), ())
        for phrase in filters.texts.get("phrases", ()):
            passed = self._holding(Holds(phrase, in_order=True), passed)
        for text in filters.texts.get("exclude", ()):
            passed -= self._holding(Holds(text, in_order=len(text.split()) > 1), passed)
        return passed

    # Links

    def _linked(self, field: str, ref: str, following: Sequence[str]) -> set[int]:
        """The notes beside one. following: words that may belong to its name, if it needs them."""
        if self._links is None:
            return set()
        found: list[str] = []
        for count in range(len(following) + 1):
            name = " ".join((ref, *following[:count]))
            if found := self._names.named(name):
                if count:
                    told = f"{_LINK_FILTERS[field]}: {brief(name)!r} is the name of a note"
                    self._warn(f"{told}, and taken as one; put quotes around it")
                break
        if len(found) > 1:
            self._warn(
                f"{_LINK_FILTERS[field]}: {len(found)} notes are named {brief(ref)!r}, and all "
                "of them count; give the path of one"
            )
        if found and field == "near":
            return self._links.around(found)
        if found:
            way = self._links.sources_of if field == "links_to" else self._links.targets_of
            return way(found)
        if field == "links_to":  # notes may link to one that nobody has written yet
            written = Filters(lists={"wikilinks_any": (ref.strip("[] ").casefold(),)})
            to_nothing = {key for key, note in self._notes.items() if written.matches(note)}
            if to_nothing:
                return to_nothing
        near = self._names.nearest(ref)
        meant = f"; did you mean {near}?" if near else ""
        self._warn(f"{_LINK_FILTERS[field]}: there is no note {brief(ref)!r}{meant}")
        return set()

    # Words and phrases

    def _holding(self, sought: Holds, notes: set[int]) -> set[int]:
        """Those of `notes` that hold a phrase, or all of some words in any of their forms."""
        words = spaced(sought.text)
        if not words:
            return set()
        in_order = sought.in_order or _is_compound(sought.text)
        asked = self._asked(words)
        found, unasked = self._by_index(asked, notes, all_words=not in_order)
        if in_order or unasked:
            texts = [words] if in_order else [f" {word} " for word in words.split()]
            found = {key for key in found if self._has_all(key, texts)}
        return found

    def _asked(self, words: str) -> list[QueryWord]:
        """Words as the index knows them; parts that only make up one of them are left out."""
        asked = query_terms(words, self._corpus.languages).words
        return [word for word in asked if word.count >= 1]

    def _by_index(
        self, asked: Sequence[QueryWord], notes: set[int], *, all_words: bool
    ) -> tuple[set[int], bool]:
        """Notes that the keyword index says hold the words, and whether it could not be asked.

        Not all_words: until few are left.
        """
        lexical = self._lexical
        if isinstance(lexical, Unavailable) or not asked:
            return notes, True
        try:
            frequency = lexical.document_frequency({t for word in asked for t in word.variants})
            rarest_first = sorted(
                asked, key=lambda word: sum(frequency.get(term, 0) for term in word.variants)
            )
            for word in rarest_first:
                one = LexicalQuery((word,), ())
                held = lexical.rank_notes(one, lexical.note_count, None)
                notes = notes.intersection(key for key, _ in held)
                if len(notes) <= FEW and not all_words:
                    break
        except Unavailable:  # the channel reports it
            return notes, True
        return notes, False

    def _has_all(self, key: int, texts: Sequence[str]) -> bool:
        record = self._notes[key]
        said = property_texts(record["frontmatter"])
        return holds_all(texts, record, said, self._chunks(key))

    def _chunks(self, key: int) -> Iterator[Mapping[str, Json]]:
        corpus = self._corpus
        [ordinal] = corpus.notes.ordinals([key]).tolist()
        first, last = corpus.first_chunk[ordinal : ordinal + 2].tolist()
        return map(corpus.chunks.record, range(first, last))

    # What nobody has

    def _tell_unknown(self, filters: Filters, notes: Sequence[Mapping[str, Json]]) -> None:
        unknown = filters.unknown_properties(notes)
        for name in unknown:
            near = nearest(name[:80], self._corpus.properties, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            self._warn(f"no note has the property {name!r}, so it matches none{meant}")
        for what, value, known in filters.unknown_values(notes):
            value = value.strip("*")
            near = nearest(value[:80], known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            self._warn(f"{what} {brief(value)!r}{meant}")


def _is_compound(text: str) -> bool:
    """Whether what was typed as one word is several: `multi-stage`, `茶道`."""
    return len(text.split()) == 1 and len(spaced(text).split()) > 1
