"""Diversity: so many chunks of a note, one hit a note when asked, and each text once."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from conftest import CortexMaker
from cortex import SearchResult, UsageError
from cortex.cli import main
from cortex.plugin import Tools
from cortex.runtime import Runtime


def files(result: SearchResult) -> list[str]:
    return [hit.chunk.note for hit in result.hits]


LONG = "".join(f"# Part {i}\n\nbarley of kind {i}\n\n" for i in range(12))
FIELDS = {
    "long.md": LONG + "# Wheat\n\nnothing of it here\n\n",
    "o.md": "barley, once",
    "p.md": "# One\n\nbarley in the field\n\n# Two\n\nbarley in the barn\n",
}


def test_four_chunks_of_a_note_are_shown_and_the_last_counts_the_others(
    cortex_with: CortexMaker,
) -> None:
    result = cortex_with(FIELDS).search("barley", channels=["bm25"])
    assert Counter(files(result)) == {"long.md": 4, "p.md": 2, "o.md": 1}
    counts = [(hit.chunk.note, hit.more_in_note) for hit in result.hits]
    assert [count for note, count in counts if note == "long.md"] == [0, 0, 0, 12 - 4]
    assert all(count == 0 for note, count in counts if note != "long.md")


@pytest.mark.parametrize(("limit", "shown"), [(1, 1), (2, 2), (0, 12)])
def test_the_limit_is_a_setting_and_a_parameter(
    cortex_with: CortexMaker, limit: int, shown: int
) -> None:
    by_parameter = cortex_with(FIELDS).search("barley", channels=["bm25"], max_per_note=limit)
    assert files(by_parameter).count("long.md") == shown
    cortex = cortex_with(FIELDS, f"search: {{max_chunks_per_note: {limit}}}")
    by_setting = cortex.search("barley", channels=["bm25"])
    assert files(by_setting) == files(by_parameter)


def test_a_list_is_filled_although_one_note_holds_the_best_chunks(
    cortex_with: CortexMaker,
) -> None:
    world = {
        "long.md": "".join(f"# Part {i}\n\nbarley barley {i}\n\n" for i in range(200)),
        **{f"n{i}.md": f"In the place with number {i} grows some barley too." for i in range(16)},
    }
    result = cortex_with(world).search("barley", top_k=20)
    assert Counter(files(result))["long.md"] == 4 and len(result.hits) == 20


def test_grouped_by_note_each_note_is_one_hit_that_counts_its_other_chunks(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(FIELDS)
    for channels in (["bm25"], None):
        result = cortex.search("barley", group="note", channels=channels)
        found = {hit.chunk.note: hit.more_in_note for hit in result.hits}
        assert len(result.hits) == 3 and not result.more
        assert found == {"long.md": 11, "p.md": 1, "o.md": 0}
    best = cortex.search("barley barn", group="note").hits[0]
    assert (best.chunk.note, best.chunk.heading_path) == ("p.md", ("Two",))


PARAGRAPH = (
    "The tide gauge stands at the end of the pier, behind the green door. Its float hangs in a "
    "stilling well of oak, and the clock that drives the drum is wound each Monday morning by "
    "whoever opens the house first; the key hangs on the nail beside the window."
)


def test_a_text_that_stands_in_several_notes_is_shown_once_with_the_others_named(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(
        {
            "Gauge.md": PARAGRAPH,
            "copies/upper.md": "# Copy\n\n" + PARAGRAPH.upper().replace(". ", " …\n\n"),
            "copies/spaced.md": "\n".join(PARAGRAPH.split(" ")),
            "copies/near.md": PARAGRAPH.replace("window", "windows"),
            "other.md": "The tide gauge is painted green.",
        }
    )
    result = cortex.search("tide gauge stilling well")
    assert len(result.hits) == 2
    [hit] = [hit for hit in result.hits if hit.chunk.note != "other.md"]
    assert {place.rpartition(":")[0] for place in hit.duplicates} | {hit.chunk.note} == {
        "Gauge.md",
        "copies/upper.md",
        "copies/spaced.md",
        "copies/near.md",
    }
    upper = "copies/upper.md:1-5"
    assert hit.chunk.note == "copies/upper.md" or upper in hit.duplicates


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (PARAGRAPH, PARAGRAPH + " Depth: 12 cm."),  # says more
        (f"{PARAGRAPH} Depth: 12 cm.", f"{PARAGRAPH} Depth: 13 cm."),  # another number
        (f"{PARAGRAPH} Error: -5.", f"{PARAGRAPH} Error: 5."),
        ("Phone: unknown.", "Phone: unknown."),  # of two people
        ("潮位計は桟橋の端にある。", "潮位計は桟橋の横にある。"),
    ],
)
def test_texts_that_say_different_things_are_both_shown(
    cortex_with: CortexMaker, one: str, other: str
) -> None:
    cortex = cortex_with({"Nell.md": one, "Wilf.md": other})
    result = cortex.search(one[:40])
    assert set(files(result)) == {"Nell.md", "Wilf.md"}
    assert all(hit.duplicates == () for hit in result.hits)


def test_copies_are_known_in_scripts_without_blanks_and_of_short_notes_by_title(
    cortex_with: CortexMaker,
) -> None:
    text = "潮位計は桟橋の端、緑の扉の裏にある。浮きは樫の井戸の中に下がっている。"
    cortex = cortex_with({"甲.md": text, "乙.md": text, "a/Nell.md": "Hi.", "b/Nell.md": "Hi."})
    [hit] = cortex.search("桟橋の潮位計", channels=["bm25"]).hits
    assert {hit.chunk.note, *hit.duplicates} == {"乙.md", "甲.md:1"} or (
        {hit.chunk.note, *hit.duplicates} == {"甲.md", "乙.md:1"}
    )
    [hit] = cortex.search("Nell", channels=["bm25"]).hits
    assert {hit.chunk.note, *hit.duplicates} == {"a/Nell.md", "b/Nell.md:1"}


def test_copies_in_notes_that_the_settings_leave_out_now_are_not_named(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with({"a/one.md": PARAGRAPH, "b/two.md": PARAGRAPH, "c/three.md": PARAGRAPH})
    text = cortex.config.path.read_text("utf-8").replace("'}", "', exclude_folders: [a, b]}", 1)
    cortex.config.path.write_text(text, "utf-8")
    [hit] = type(cortex).open(cortex.config.path, env={}).search("tide gauge").hits
    assert hit.chunk.note == "c/three.md" and hit.duplicates == ()


@pytest.mark.parametrize("group", ["chunk", "note"])
def test_pages_of_the_tool_show_nothing_twice_and_leave_nothing_out(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    world = {
        f"f{i}.md": "".join(f"# P{k}\n\nbarley of kind {i} and {k}\n\n" for k in range(5))
        for i in range(40)
    }
    world |= {f"copy{i}.md": f"{PARAGRAPH} Barley stands beside it." for i in range(9)}
    cortex = cortex_with(world)
    monkeypatch.setenv("CORTEX_CONFIG", str(cortex.config.path))
    tools, seen, page, notes = Tools(Runtime()), [], 1, Counter[str]()
    while page:
        asked = {"query": "barley", "top_k": 10, "page": page, "group": group}
        answer = json.loads(tools.vault_search(asked))
        for entry in answer["results"]:
            seen.append((entry["note"], entry["lines"]))
            notes[entry["note"]] += 1
        page = answer["next_page"]
    assert len(seen) == len(set(seen))
    fields = [note for note in notes if note.startswith("f")]
    assert len(fields) == 40
    assert max(notes.values()) == (1 if group == "note" else 4)
    assert len([note for note in notes if note.startswith("copy")]) == 1


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"group": "folder"}, "group must be chunk or note, not 'folder'"),
        ({"max_per_note": -1}, "max_per_note must be a whole number, 0 for any number of chunks"),
        ({"max_per_note": True}, "max_per_note must be a whole number, 0 for any number of chunks"),
    ],
)
def test_what_is_asked_wrongly_is_told(
    cortex_with: CortexMaker, asked: dict[str, object], message: str
) -> None:
    cortex = cortex_with({"a.md": "barley"})
    with pytest.raises(UsageError, match=message):
        cortex.search("barley", **asked)


def test_commands_and_tools_tell_of_copies_and_of_further_chunks(
    cortex_with: CortexMaker,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cortex = cortex_with({**FIELDS, "a.md": PARAGRAPH, "b.md": PARAGRAPH})
    monkeypatch.setenv("CORTEX_CONFIG", str(cortex.config.path))
    assert main(["search", "barley", "--group", "note", "--channels", "bm25"]) == 0
    assert "11 more chunks of this note" in capsys.readouterr().out
    assert main(["search", "barley", "--max-per-note", "1", "--channels", "bm25", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [entry["more_in_note"] for entry in document["results"]].count(11) == 1
    assert main(["search", "tide gauge", "--json"]) == 0
    [entry] = [e for e in json.loads(capsys.readouterr().out)["results"] if e["duplicates"]]
    assert {entry["file"], *entry["duplicates"]} in ({"a.md", "b.md:1"}, {"b.md", "a.md:1"})
    assert main(["search", "tide gauge"]) == 0
    assert f"also in: {entry['duplicates'][0]}" in capsys.readouterr().out
    assert main(["search", "barley", "--group", "folder"]) == 2
    assert main(["search", "barley", "--max-per-note", "-1"]) == 2
    capsys.readouterr()
    tools = Tools(Runtime())
    answer = json.loads(tools.vault_search({"query": "tide gauge"}))
    assert answer["results"][0]["same_text_in"] == entry["duplicates"]
    answer = json.loads(tools.vault_search({"query": "barley", "group": "note"}))
    assert {e["note"]: e.get("more_in_note") for e in answer["results"]}["long.md"] == 11
    assert f"also in <{entry['duplicates'][0][:-2]}>" in cortex.build_context("tide gauge").text
