"""A note asked for by name comes first, and before all else what holds an identifier as it is."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex
from cortex.indexer.names import name_key
from cortex.search.explain import why
from cortex.search.literals import holding, literals_in

# Notes that say more of each word than the note that is called by it.
WORDY = {
    f"wordy/{number}.md": f"# Log {number}\nGarden garden plan, tide gauge, tide gauge. " * 3
    for number in range(8)
}


def first(cortex: Cortex, query: str, count: int = 1) -> list[str]:
    hits = cortex.search(query, top_k=10).hits
    return list(dict.fromkeys(hit.chunk.note for hit in hits))[:count]


@pytest.mark.parametrize(
    "query",
    [
        "Tide Gauge",
        "tide gauge",
        "TIDE-GAUGE",
        "tide_gauge",
        "TideGauge",
        "🌊 tide gauge.md",
        "[[Tide gauge]]",
        "[[Tide gauge#Setup|the gauge]]",
        "Instruments/Tide Gauge",
        "station/instruments/tide gauge.md",
        '"tide gauge"',
        "Pegel",
        "pegel am Kai",
        "PEGEL AM KAI!",
    ],
)
def test_a_note_asked_for_by_any_of_its_names_comes_first(cortex_with: CortexMaker, query: str):
    note = "---\naliases: [Pegel, Pegel am Kai]\n---\nReads levels. See [[Log 1]]."
    cortex = cortex_with({**WORDY, "station/instruments/🌊 Tide Gauge.md": note})
    hit = cortex.search(query, top_k=5).hits[0]
    assert hit.chunk.note == "station/instruments/🌊 Tide Gauge.md"
    assert hit.trace.notes["exact"] == "name"
    assert "exact #1" in why(hit.trace)


def test_a_name_is_found_however_its_letters_are_composed(cortex_with: CortexMaker):
    name = unicodedata.normalize("NFD", "Küchenöfen")
    cortex = cortex_with({**WORDY, f"{name}.md": "Iron.", "b.md": "Küchenöfen " * 9})
    assert first(cortex, unicodedata.normalize("NFC", "küchenöfen")) == [f"{name}.md"]


@pytest.mark.parametrize("name", ["(●—●)", "🐤", "C++", ".NET", "港", "???"])
def test_a_name_of_signs_or_of_one_letter_is_found(cortex_with: CortexMaker, name: str):
    notes = {f"{i}.md": "C C NET 港口 港口. See also what there is." for i in range(5)}
    cortex = cortex_with({**notes, "x.md": f"---\ntitle: '{name}'\n---\nNothing of the kind."})
    assert first(cortex, name) == ["x.md"]


def test_a_sign_that_tells_languages_apart_tells_names_apart(cortex_with: CortexMaker):
    titles = ("C++", "C#", "C", ".NET", "Net")
    cortex = cortex_with({f"{i}.md": f"---\ntitle: {t}\n---\nX." for i, t in enumerate(titles)})
    assert [first(cortex, title.lower()) for title in titles] == [[f"{i}.md"] for i in range(5)]


def test_a_name_that_many_better_notes_outdo_is_found_all_the_same(cortex_with: CortexMaker):
    notes = {f"{i}.md": "Gauge gauge gauge. " * 5 for i in range(60)}
    notes["z.md"] = "---\naliases: [gauge]\n---\n" + "Words of another kind entirely. " * 200
    assert first(cortex_with(notes), "gauge") == ["z.md"]


def test_all_notes_of_a_name_come_first_and_the_better_one_ahead(cortex_with: CortexMaker):
    cortex = cortex_with(
        {
            **WORDY,
            "a/Plan.md": "What is to come.",
            "b/Plan.md": "A plan of plans: plan the plan.",
            "c/other.md": "---\naliases: [Plan]\n---\nMore.",
        }
    )
    hits = cortex.search("plan", channels=["bm25"]).hits
    assert [hit.chunk.note for hit in hits][:3] == ["b/Plan.md", "a/Plan.md", "c/other.md"]
    assert first(cortex, "a/plan") == ["a/Plan.md"]


def test_neither_boosts_nor_an_empty_body_keep_a_named_note_from_the_top(cortex_with: CortexMaker):
    dated = {
        f"{i}.md": "---\nimportance: 5\nupdated: 2025-12-31\n---\nGarden plan, garden plan."
        for i in range(5)
    }
    cortex = cortex_with({**dated, "Garden plan.md": "---\nimportance: 1\n---\n"})
    assert first(cortex, "garden plan") == ["Garden plan.md"]


@pytest.mark.parametrize(
    "settings",
    ["search: {rank: ordinal}", "search: {lexical_engine: rank_bm25}", "search: {min_score: 0.5}"],
)
def test_what_was_asked_for_as_such_is_first_and_the_rest_stays_whatever_ranks(
    cortex_with: CortexMaker, settings: str
):
    notes = {**WORDY, "Tide gauge.md": "Levels.", "it.md": "Once: src/net/poll.c, on a log."}
    cortex = cortex_with(notes, settings)
    assert first(cortex, "tide gauge") == ["Tide gauge.md"]
    assert len(first(cortex, "tide gauge", 5)) == 5
    assert first(cortex, "log src/net/poll.c") == ["it.md"]


def test_filters_hold_for_a_note_asked_for_by_name(cortex_with: CortexMaker):
    cortex = cortex_with({"in/Other.md": "Gauge.", "out/Gauge.md": "Gauge."})
    hits = cortex.search("Gauge", filters={"folders": ["in"]}).hits
    assert [hit.chunk.note for hit in hits] == ["in/Other.md"]


def test_a_name_with_signs_of_the_query_syntax_is_a_name(cortex_with: CortexMaker):
    cortex = cortex_with({"Pros -cons.md": "Cons.", "Tea OR coffee.md": "Both.", "a.md": "Tea."})
    assert first(cortex, "Pros -cons") == ["Pros -cons.md"]
    assert first(cortex, "tea or coffee") == ["Tea OR coffee.md"]


def test_an_exclusion_is_none_the_less_one_where_a_note_is_called_by_its_word(
    cortex_with: CortexMaker,
):
    cortex = cortex_with({"Draft.md": "Gauge.", "b.md": "Gauge and more."})
    assert [hit.chunk.note for hit in cortex.search("gauge -draft").hits] == ["b.md"]


def test_without_the_words_a_name_counts_for_nothing(cortex_with: CortexMaker):
    hits = cortex_with({**WORDY, "Gauge.md": "X."}).search("gauge", channels=["vector"]).hits
    assert all("exact" not in hit.trace.channels for hit in hits)


@pytest.mark.parametrize(
    ("literal", "line"),
    [
        ("ERR_CONN_4012", "It said ERR_CONN_4012 twice."),
        ("src/net/poll.c", "Look at src/net/poll.c:42 for it."),
        ("TypeError: x is not a function", "Uncaught TypeError: x is not\na function in it."),
        ("v4.1.7", "Since v4.1.7."),
        ("computeTideLevel", "Calls computeTideLevel()."),
        ("550e8400-e29b-41d4-a716-446655440000", "id 550e8400-e29b-41d4-a716-446655440000"),
        ("ada@example.org", "Write to <ada@example.org>."),
        ("9fceb02d0ae5", "Commit 9fceb02d0ae5."),
        ("std::vector<int>", "Use `std::vector<int>` there."),
        ("C:\\logs\\tide.log", "See C:\\logs\\tide.log."),
    ],
)
def test_what_holds_an_identifier_as_it_is_comes_before_its_parts(
    cortex_with: CortexMaker, literal: str, line: str
):
    parts = (
        "ERR CONN 4012, src net poll c, type error x function, 4.1 and 7, compute tide level, "
        "550e8400 e29b 41d4 a716 446655440000, ada example org, 9fceb02d, std vector int, C logs. "
    )
    notes = {f"parts/{i}.md": f"# Part {i}\n{parts * 3}" for i in range(6)}
    cortex = cortex_with({**notes, "it.md": f"# Diary\n{'Plain talk of the day. ' * 60}\n{line}"})
    for query in (literal, f"where did I see `{literal}`"):
        hit = cortex.search(query, top_k=3).hits[0]
        assert (hit.chunk.note, hit.trace.notes["exact"]) == ("it.md", "text")


def test_an_identifier_in_a_question_leads_to_what_holds_it(cortex_with: CortexMaker):
    notes = {f"{i}.md": "How to fix a broken connection, how to fix errors." for i in range(5)}
    cortex = cortex_with({**notes, "it.md": "Seen once: ERR_CONN_4012."})
    assert first(cortex, "how do I fix ERR_CONN_4012?") == ["it.md"]


def test_the_case_that_was_typed_goes_before_another(cortex_with: CortexMaker):
    cortex = cortex_with(
        {
            "a.md": "computetidelevel computetidelevel computetidelevel",
            "b.md": "Some words around computeTideLevel, and some more words around it.",
        }
    )
    assert first(cortex, "computeTideLevel", 2) == ["b.md", "a.md"]


def test_an_index_from_before_there_were_names_answers_by_words(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex = cortex_with({**WORDY, "Gauge.md": "Reads levels."})
    pointer = tmp_path / "state" / "index.json"
    stamp = json.loads(pointer.read_bytes())
    for name in ("names.keys.npy", "names.notes.npy", "vocabulary.txt"):
        del stamp["files"][name]
        stamp["sums"].pop(name, None)
    del stamp["versions"]["names"]
    pointer.write_text(json.dumps(stamp), "utf-8")
    found = cortex.search("gauge")
    assert found.hits and all("exact" not in hit.trace.notes for hit in found.hits)
    assert cortex.search("guage levels").corrections == ()
    cortex.index()
    assert first(cortex, "gauge") == ["Gauge.md"]


def test_a_version_is_not_its_longer_neighbour():
    assert holding(["since v4.1.7."], "v4.1.7") == 2
    assert holding(["since V4.1.7."], "v4.1.7") == 1
    assert holding(["since 4.1.7"], "4.1") == 0
    assert holding(["ERR_4012"], "ERR_40") == 0
    assert holding(["ERR_CONN_4012"], "ERR_CONN") == 0
    assert holding(["in src/net/poll.c."], "poll.c") == 2
    assert holding(["in poll.cpp"], "poll.c") == 0
    assert holding(["see a.topic.list-old and a.topic.list.x"], "a.topic.list") == 0
    assert holding(["see a.topic.list."], "a.topic.list") == 2
    assert holding(["since v4.1.7-rc1"], "v4.1.7") == 0
    assert holding(["用computeTideLevel计算"], "computeTideLevel") == 2


@pytest.mark.parametrize(
    "query",
    [
        "how to calibrate the tide gauge",
        "state of the art",
        "IL-6",
        "when was Caroline at the museum in May 2023?",
        "what is TCP/IP and client/server, 24/7",
        "a GitHub project by McDonald, e.g. in the U.S.A.",
        "潮位计怎么校准",
    ],
)
def test_prose_is_no_identifier(query: str):
    assert [literal.text for literal in literals_in(query) if len(literal.text.split()) == 1] in (
        [],
        [query],
    )


def test_names_that_differ_in_case_marks_spaces_and_signs_have_one_key():
    same = ("Tide Gauge", "tide-gauge", "TIDE_GAUGE", "🌊 Tide, gauge!", "tide\u00a0gauge")
    assert {name_key(name) for name in same} == {"tidegauge"}
    assert name_key("हिन्दी") == unicodedata.normalize("NFKC", "हिन्दी")
    assert name_key(" ") == ""


def test_the_only_heading_of_level_1_that_a_note_begins_with_is_a_name_behind_the_others(
    cortex_with: CortexMaker,
):
    cortex = cortex_with(
        {
            **WORDY,
            "202501.md": "# Tide gauge\n\nIn the shed.",
            "x.md": "---\naliases: [tide gauge]\n---\nUnder the pier.",
            "two.md": "# Tide gauge\n\nOne of\n\n# Several\n\nparts.",
            "below.md": "## Tide gauge\n\nA section.",
        }
    )
    assert first(cortex, "tide gauge", 2) == ["x.md", "202501.md"]
    hits = {
        hit.chunk.note: hit.trace.notes.get("exact") for hit in cortex.search("Tide gauge").hits
    }
    assert hits["202501.md"] == "name"
    assert not {hits.get("two.md"), hits.get("below.md")} & {"name"}
    assert first(cortex, "shed title:tide") == ["202501.md"]
