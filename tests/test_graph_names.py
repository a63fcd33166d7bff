"""Names that a few notes share: which words are one, and what they tie together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import pytest

from cortex import Cortex
from cortex.graph_names import (
    MAX_HOLDERS,
    ONE_WORD_WEIGHT,
    NameCollector,
    SharedName,
    SharedNames,
    name_arrays,
    names_in,
)

CortexMaker = Callable[..., Cortex]
EMPTY = frozenset({"the", "in", "of", "she", "monday"})


def shared(texts: Mapping[str, str], vault: int = 40) -> dict[str, tuple[int, ...]]:
    """The names that the notes of these titles and texts share: name -> which notes."""
    collector = NameCollector(vault, EMPTY)
    for at, (title, text) in enumerate(texts.items()):
        collector.read_title(at, title)
        collector.read(at, text)
    return {name.text: name.notes for name in collector.found()}


def test_a_name_that_two_notes_hold_is_shared_and_its_parts_are_too() -> None:
    found = shared(
        {
            "one": "The bell was cast by Odile Marvadour in spring.",
            "two": "A letter from Odile Marvadour came.",
            "three": "Nobody is named here.",
        }
    )
    assert found == {"Odile": (0, 1), "Marvadour": (0, 1), "Odile Marvadour": (0, 1)}


@pytest.mark.parametrize(
    "texts",
    [
        {"a": "Rope is strong.", "b": "Rope is wet."},  # only at the beginning of a sentence
        {"a": "We met the Baker.", "b": "Ask the Baker. A baker, any baker, will do."},
        {"a": "Seen by the Ebb in May.", "b": "Of the Ebb."},  # three letters
        {"a": "Closed on a Monday in spring", "b": "Open on a Monday"},  # a word that is no name
        {"a": "ask for Ebbstone", "b": "see example.org/Ebbstone and #Ebbstone"},
    ],
)
def test_what_is_no_name(texts: dict[str, str]) -> None:
    assert shared(texts) == {}


def test_titles_hold_names_but_prove_none() -> None:
    assert shared({"Getting Started": "x", "How Getting Started Works": "y"}) == {}
    assert shared({"Prague Clock": "old", "Purkyně": "he died in Prague at noon"}) == {
        "Prague": (0, 1)
    }


def test_names_of_other_alphabets_count() -> None:
    found = shared({"a": "die Brücke von Österheim ist alt", "b": "er kam aus Österheim her"})
    assert found["Österheim"] == (0, 1)
    assert shared({"a": "мост в Киеве стар", "b": "он был в Киеве"}) == {"Киеве": (0, 1)}


def test_a_name_that_many_notes_hold_is_a_topic_and_none() -> None:
    few = {f"n{at}": "all about Ebbstone" for at in range(MAX_HOLDERS)}
    assert "Ebbstone" in shared(few)
    assert shared({**few, "one more": "and of Ebbstone"}) == {}


def test_rarer_names_weigh_more_and_a_single_word_less() -> None:
    collector = NameCollector(100, EMPTY)
    for at in range(5):
        collector.read(at, "near the Fog Bell" if at < 2 else "near the Bell and the Fog")
    weights = {name.text: name.weight for name in collector.found()}
    assert weights["Fog Bell"] == pytest.approx((math.log(100 / 2) / math.log(100)) ** 2)
    assert (
        weights["Fog Bell"]
        > weights.get("Bell", 0.0)
        == pytest.approx(ONE_WORD_WEIGHT * (math.log(100 / 5) / math.log(100)) ** 2)
    )


def test_the_arrays_lead_both_ways() -> None:
    names = [SharedName("Fog Bell", (0, 2), 0.5), SharedName("Österheim", (1, 2), 0.25)]
    opened = SharedNames(name_arrays(names, [70, 50, 60]))
    assert [opened.text(at) for at in (0, 1)] == ["Fog Bell", "Österheim"]
    assert opened.of_note(60) == [0, 1]
    assert opened.of_note(70) == [0]
    assert opened.of_note(99) == []
    assert opened.notes(1) == [50, 60]
    assert opened.weight(1) == 0.25
    assert SharedNames({}).of_note(60) == []


def test_a_question_names_its_words_and_pairs() -> None:
    assert names_in("Who cast the Fog Bell?") >= {"fog", "bell", "fog bell", "the fog"}


WORLD = {
    "Signmark.md": "Signmark is a rapper who grew up in Finland, they say, near the sea.",
    "Markka.md": "Before the euro, in Finland, people paid with the markka.",
    **{f"n{at}.md": f"A note about rain and number {at}, and the wind." for at in range(40)},
}


def test_a_search_goes_on_over_a_shared_name_and_says_so(cortex_with: CortexMaker) -> None:
    result = cortex_with(WORLD).search(
        "which currency did the rapper Signmark spend", channels=["bm25", "graph"]
    )
    assert [hit.chunk.note for hit in result.hits[:2]] == ["Signmark.md", "Markka.md"]
    told = result.hits[1].trace.notes
    assert (told["linked_from"], told["link_kind"], told["link_name"]) == (
        "Signmark.md",
        "name",
        "Finland",
    )


def test_a_name_in_the_question_ties_nothing_for_its_words_have_spoken(
    cortex_with: CortexMaker,
) -> None:
    result = cortex_with(WORLD).search("rapper from Finland", channels=["bm25", "graph"])
    assert all("link_name" not in hit.trace.notes for hit in result.hits)
