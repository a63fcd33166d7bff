"""What `cortex graph` reports: by the Python calls, and by the command where its text matters."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cortex import Cortex
from cortex.cli import main
from cortex.errors import CortexError, UsageError

HOUSE = {
    "index.md": "# Index\n[[Tide Gauge]] [[Fog Bell]]",
    "10_facts/Tide Gauge.md": (
        "---\nlast_verified: 2025-01-01\nimportance: high\naliases: [Pegel]\n---\n"
        "# Tide Gauge\nKept by [[Wilf]]. ![[well.png]]\n\n## Cold Start\nWait."
    ),
    "30_projects/Fog Bell.md": "---\ntags: [bell]\n---\n# Fog Bell\n[[Wilf]] #bell",
    "50_people/Wilf.md": "Wilf.",
    "lone.md": "Nobody links here. #bell",
    "well.png": "no picture",
}


def run(capsys: pytest.CaptureFixture[str], cortex: Any, *words: str) -> tuple[int, str, str]:
    code = main(["graph", *words, "--config", str(cortex.config.path)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def suggested(cortex: Any) -> dict[str, str | None]:
    """What is written -> what is suggested, as it would be linked."""
    return {row["target_raw"]: row["suggested_link"] for row in cortex.graph("broken")["broken"]}


# Broken ---------------------------------------------------------------------------------------


def test_broken_links_of_a_note_come_by_line(cortex_with, capsys):
    cortex = cortex_with({"b.md": "[[z]]\n\n[[a]] [[b2]]\n\n[[m]]", "a.md": "\n\n[[late]]"})
    rows = cortex.graph("broken")["broken"]
    wanted = [("a.md", "late"), ("b.md", "z"), ("b.md", "a2"), ("b.md", "b2"), ("b.md", "m")]
    wanted.remove(("b.md", "a2"))  # [[a]] is there
    assert [(row["source"], row["target_raw"]) for row in rows] == wanted
    around = cortex.graph("neighbors", note="b")["broken"]
    assert [row["target_raw"] for row in around] == ["z", "b2", "m"]


def test_a_short_heading_is_seen_through_a_slip_where_only_one_is_so_near(cortex_with):
    cortex = cortex_with(
        {
            "Ada.md": "## Who\n\nx\n\n## When\n\ny",
            "Bo.md": "## Mat\n\nx\n\n## Man\n\ny",
            "a.md": "[[Ada#Whoo]] [[Bo#Map]] [[Ada#Ohw]]",
        }
    )
    assert suggested(cortex) == {"Ada#Whoo": "[[Ada#Who]]", "Bo#Map": None, "Ada#Ohw": None}


def test_a_markdown_link_is_suggested_as_one(cortex_with):
    notes = {
        "60_maps/Start here.md": "## Cold Start\n\nx",
        "10_facts/a.md": "[x](../60_maps/Strat%20here.md)\n"
        "[y](../60_maps/Start%20here.md#cold-strat)",
    }
    assert suggested(cortex_with(notes)) == {
        "../60_maps/Strat here.md": "[Start here](../60_maps/Start%20here.md)",
        "../60_maps/Start here.md#cold-strat": (
            "[Start here](../60_maps/Start%20here.md#Cold%20Start)"
        ),
    }


def test_a_broken_link_suggests_the_note_that_was_meant(cortex_with):
    cortex = cortex_with(
        {
            **HOUSE,
            "new/Deep Water.md": "",
            "Über uns.md": "",
            "a.md": "[[Tide Guage]] [[tide-gauge]] [[old/place/Deep Water]] [[Peegel]] "
            "[[Uber uns]] [[Bell Fog]] [[Tide Gauge#Cold Strat]] [[Tide Gauge#^none]] "
            "![[wel.png]] [[Nothing]]",
        }
    )
    assert suggested(cortex) == {
        "Tide Guage": "[[Tide Gauge]]",  # two letters swapped
        "tide-gauge": "[[Tide Gauge]]",  # another spelling
        "old/place/Deep Water": "[[Deep Water]]",  # moved
        "Peegel": "[[Tide Gauge]]",  # its alias
        "Uber uns": "[[Über uns]]",
        "Bell Fog": "[[Fog Bell]]",
        "Tide Gauge#Cold Strat": "[[Tide Gauge#Cold Start]]",
        "Tide Gauge#^none": None,
        "wel.png": None,  # three letters are too few for a slip
        "Nothing": None,
    }
    moved = next(row for row in cortex.graph("broken")["broken"] if "Deep" in row["target_raw"])
    assert moved["suggestion"] == "new/Deep Water.md"
    assert moved["suggestions"] == ["new/Deep Water.md"]


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ("Chapter 1", "Chapter 2"),
        ("Meeting 2024-01-05", "Meeting 2024-05-01"),
        ("2022-04-07", "2022-07-04"),
        ("Data", "Date"),
        ("Internal Audit", "External Audit"),
        ("Inductive Reasoning", "Deductive Reasoning"),
        ("Scudo", "sudo"),
        ("Class A", "Class B"),
        ("阿里云盘", "阿里云"),
        ("proj.kiln", "proj.kiln.glaze"),
        ("Letters", "Letters from the Pilots"),
    ],
)
def test_what_is_alike_but_another_thing_is_not_suggested(cortex_with, there, written):
    cortex = cortex_with({f"{there}.md": "", "a.md": f"[[{written}]]"})
    assert suggested(cortex) == {written: None}


@pytest.mark.parametrize(
    ("there", "written"),
    [
        ("Organization", "Organisation"),
        ("Notes", "Note"),
        ("Reading list", "Readinglist"),
        ("数据结构与算法", "数据结构和算法"),
        ("🎬何以为家", "何以为家"),
        ("new.place.soda-firing", "old.place.soda-firing"),
        ("Digital Tide Gauge", "Tide Gauge!"),
    ],
)
def test_slips_and_spellings_are_seen_through(cortex_with, there, written):
    cortex = cortex_with({f"{there}.md": "", "a.md": f"[[{written}]]"})
    assert suggested(cortex) == {written: f"[[{there}]]"}


def test_of_several_notes_of_a_name_the_one_in_like_folders_comes_first(cortex_with):
    notes = {
        "a/boats/Wren Log.md": "",
        "a/bells/Wren Log.md": "",
        "x.md": "[[old/bells/Wren-Log]]",
    }
    row = cortex_with(notes).graph("broken")["broken"][0]
    assert row["suggestions"] == ["a/bells/Wren Log.md", "a/boats/Wren Log.md"]
    assert row["suggested_link"] == "[[a/bells/Wren Log]]"  # the name alone would be ambiguous


def test_what_a_note_replaces_is_a_link_of_its_life_also_when_it_names_nothing(cortex_with):
    cortex = cortex_with({"old.md": "x", "a.md": "---\nreplaces: old\nReplaced by: Nobody\n---\nx"})
    row = cortex.graph("broken")["broken"][0]
    assert (row["target_raw"], row["context"]) == ("Nobody", "frontmatter:Replaced by")
    assert cortex.graph("status")["edges_by_type"] == {"supersedes": 1}


def test_a_link_to_two_notes_lists_both_and_suggests_none(cortex_with, capsys):
    cortex = cortex_with({"a/One.md": "", "b/One.md": "", "x.md": "[[One]]"})
    row = cortex.graph("broken")["broken"][0]
    assert (row["kind"], row["candidates"], row["suggestion"]) == (
        "ambiguous",
        ["a/One.md", "b/One.md"],
        None,
    )
    assert run(capsys, cortex, "broken") == (
        0,
        "x.md:1  One  (ambiguous)\n  could be any of: a/One.md, b/One.md\n",
        "",
    )


def test_the_command_asks_whether_the_near_note_was_meant(cortex_with, capsys):
    cortex = cortex_with({"Fog Bell.md": "", "x.md": "\n[[Fog Bel]]"})
    assert run(capsys, cortex, "broken")[1] == (
        "x.md:2  Fog Bel  (unresolved)\n  did you mean [[Fog Bell]]? Fog Bell.md\n"
    )


# Stale, contradictions, duplicates -------------------------------------------------------------


def test_stale_notes_come_by_importance_and_age_with_a_reason(cortex_with):
    cortex = cortex_with(
        {
            "old.md": "---\nlast_verified: 2024-01-01\n---\nx",
            "older.md": "---\nlast_verified: 2023-01-01\n---\nx",
            "vital.md": "---\nlast_verified: 2025-07-05\nimportance: critical\n---\nx",
            "fresh.md": "---\nlast_verified: 2025-07-06\n---\nx",
            "soon.md": "---\nlast_verified: soon\n---\nx",
            "template.md": "---\nlast_verified: '{{date}}'\n---\nx",
        },
        today="2026-01-01",
    )
    rows = cortex.graph("stale")["stale"]
    assert [(row["file"], row["days_since_verified"], row["reason"]) for row in rows] == [
        ("vital.md", 180, "age"),  # the day itself counts
        ("older.md", 1096, "age"),
        ("old.md", 731, "age"),
        ("soon.md", None, "unparseable_date"),
    ]
    assert rows[0] == {
        "node_id": "note:vital.md",
        "label": "vital",
        "file": "vital.md",
        "last_verified": "2025-07-05",
        "modified_date": rows[0]["modified_date"],
        "days_since_verified": 180,
        "importance": 5.0,
        "reason": "age",
    }
    assert [row["file"] for row in cortex.graph("stale", stale_days=1000)["stale"]] == [
        "older.md",
        "soon.md",
    ]


def test_a_note_without_a_verified_day_goes_by_the_day_of_its_file(cortex_with, tmp_path):
    cortex = cortex_with({"a.md": "x"}, build=False, today="2026-01-01")
    os.utime(tmp_path / "vault/a.md", (1_735_732_800, 1_735_732_800))  # 2025-01-01, noon in UTC
    cortex.index()
    cortex.build_graph()
    row = cortex.graph("stale")["stale"][0]
    assert (row["last_verified"], row["modified_date"]) == (None, "2025-01-01")
    assert (row["days_since_verified"], row["importance"]) == (365, None)


def test_contradictions_name_both_notes_and_whether_each_says_so(cortex_with, capsys):
    cortex = cortex_with(
        {
            "a.md": "---\ncontradicts: '[[b]]'\n---\nx",
            "b.md": "---\ncontradicts: ['[[a]]', '[[c]]']\n---\nx",
            "c.md": "x",
        }
    )
    rows = cortex.graph("contradictions")["contradictions"]
    assert [(r["source"], r["target"], r["source_label"], r["mutual"]) for r in rows] == [
        ("note:a.md", "note:b.md", "a", True),
        ("note:b.md", "note:a.md", "b", True),
        ("note:b.md", "note:c.md", "b", False),
    ]
    assert run(capsys, cortex, "contradictions")[1] == (
        "a.md:2  contradicts  b.md  (each says so of the other)\nb.md:2  contradicts  c.md\n"
    )


LONG = "The bell is rung by hand when the fog comes in, and whoever rings it writes down the hour "
LONG += "in the book by the door, with the wind and what could be heard from the bar. "


def test_duplicates_by_title_alias_and_text(cortex_with):
    cortex = cortex_with(
        {
            "a/Log.md": "---\nstatus: draft\n---\n# Watch\nSame text.",
            "b/log.md": "# Watch\nSame text.  ",
            "c.md": "---\naliases: [Glocke]\n---\nx",
            "d.md": "---\naliases: [glocke]\n---\ny",
            "Glocke.md": "z",
            "empty.md": "",
            "empty too.md": "",
        }
    )
    groups = cortex.graph("duplicates")["duplicates"]
    assert [(g["kind"], g["files"]) for g in groups] == [
        ("title", ["a/Log.md", "b/log.md"]),
        ("alias", ["Glocke.md", "c.md", "d.md"]),
        ("content_hash", ["a/Log.md", "b/log.md"]),
    ]
    assert (groups[0]["key"], groups[1]["key"]) == ("log", "glocke")
    assert [group["name"] for group in groups] == ["Log", "Glocke", None]  # as the first writes it
    assert groups[0]["nodes"] == ["note:a/Log.md", "note:b/log.md"]
    assert len(groups[2]["key"]) == 64


def test_near_duplicates_are_told_when_asked_for_and_only_with_equal_numbers(cortex_with):
    cortex = cortex_with(
        {
            "one.md": LONG * 3 + "That is all.",
            "two.md": LONG * 3 + "That is all there is.",
            "three.md": LONG * 3 + "That is all 3.",
            "other.md": "Nothing of this has to do with bells at all, " * 5,
        }
    )
    assert cortex.graph("duplicates")["duplicates"] == []
    found = cortex.graph("duplicates", near=True)["duplicates"]
    assert [(g["kind"], g["key"], g["files"]) for g in found] == [
        ("near", "one.md", ["one.md", "two.md"])
    ]


# Ways and neighbours ---------------------------------------------------------------------------


def test_a_path_follows_links_in_both_directions_and_says_which(cortex_with, capsys):
    cortex = cortex_with(HOUSE)
    found = cortex.graph("path", one="fog bell", other="Pegel")
    assert (found["connected"], found["length"]) == (True, 2)
    ways = [
        [
            (node["file"], *(link["direction"] for link in step["links"]))
            for node, step in zip(way["nodes"], [*way["steps"], {"links": []}], strict=True)
        ]
        for way in found["paths"]
    ]
    assert ways == [
        [
            ("30_projects/Fog Bell.md", "out"),
            ("50_people/Wilf.md", "in"),
            ("10_facts/Tide Gauge.md",),
        ],
        [("30_projects/Fog Bell.md", "in"), ("index.md", "out"), ("10_facts/Tide Gauge.md",)],
    ]
    step = found["paths"][0]["steps"][0]["links"][0]
    assert step == {"type": "links_to", "direction": "out", "count": 1, "lines": [5]}
    assert run(capsys, cortex, "path", "Fog Bell", "Wilf")[1] == (
        "30_projects/Fog Bell.md to 50_people/Wilf.md: 1 link\n\n"
        "  30_projects/Fog Bell.md\n  -> 50_people/Wilf.md  (links_to, line 5)\n"
    )


def test_ways_over_notes_with_fewer_neighbours_come_first(cortex_with):
    notes = {f"n{at}.md": "" for at in range(9)}
    links = " ".join(f"[[n{at}]]" for at in range(9))
    cortex = cortex_with({**notes, "a hub.md": links, "quiet.md": "[[n0]] [[n1]]"})
    ways = cortex.graph("path", one="n0", other="n1", most=1)["paths"]
    assert [node["file"] for node in ways[0]["nodes"]] == ["n0.md", "quiet.md", "n1.md"]


def test_that_nothing_joins_two_notes_is_an_answer(cortex_with, capsys):
    cortex = cortex_with(HOUSE)
    found = cortex.graph("path", one="lone", other="Wilf")
    assert (found["connected"], found["length"], found["paths"]) == (False, None, [])
    assert run(capsys, cortex, "path", "lone", "Wilf")[:2] == (
        0,
        "lone.md and 50_people/Wilf.md are not connected\n",
    )
    over_tags = cortex.graph("path", one="lone", other="Fog Bell", via=["tags"])
    assert [node["node_id"] for node in over_tags["paths"][0]["nodes"]] == [
        "note:lone.md",
        "tag:bell",
        "note:30_projects/Fog Bell.md",
    ]


def test_neighbors_tell_what_links_here_and_there(cortex_with):
    cortex = cortex_with({**HOUSE, "x.md": "[[Fog Bell]] [[gone]]"})
    found = cortex.graph("neighbors", note="Fog Bell", depth=2)
    assert [row["file"] for row in found["in"]] == ["index.md", "x.md"]
    assert [(row["file"], row["links"]) for row in found["out"]] == [
        ("50_people/Wilf.md", [{"type": "links_to", "count": 1, "lines": [5]}])
    ]
    assert [row["label"] for row in found["tags"]] == ["bell"]
    assert [(row["file"], row["distance"]) for row in found["further"]] == [
        ("10_facts/Tide Gauge.md", 2)
    ]
    gauge = cortex.graph("neighbors", note="Tide Gauge")
    assert [row["file"] for row in gauge["attachments"]] == ["well.png"]
    assert [row["target_raw"] for row in cortex.graph("neighbors", note="x")["broken"]] == ["gone"]


@pytest.mark.parametrize("words", [["neighbors", "Fog Bel"], ["path", "Fog Bel", "Wilf"]])
def test_an_unknown_note_is_asked_wrongly_and_names_the_near_one(cortex_with, capsys, words):
    cortex = cortex_with(HOUSE)
    assert run(capsys, cortex, *words) == (
        2,
        "",
        "cortex: there is no note 'Fog Bel' in the vault; did you mean 30_projects/Fog Bell.md?\n",
    )


@pytest.mark.parametrize("words", [["neighbors", "#Bell"], ["path", "lone", "tag:bell"]])
def test_a_tag_is_no_note_and_names_what_shows_it(cortex_with, capsys, words):
    assert run(capsys, cortex_with(HOUSE), *words) == (
        2,
        "",
        "cortex: #bell is a tag, and this is about notes; "
        "see: cortex graph export --neighborhood '#bell'\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        ["neighbors", "index"],
        ["path", "lone", "[[Index]]"],
        ["export", "--neighborhood", "index.md"],
        ["viewer", "--neighborhood", "INDEX"],
    ],
)
def test_a_note_that_the_settings_leave_out_is_told_to_its_owner(
    cortex_with, tmp_path, capsys, words
):
    settings = f"vault: {{path: '{tmp_path}/vault', exclude_folders: [index.md]}}\n"
    assert run(capsys, cortex_with(HOUSE, settings), *words) == (
        2,
        "",
        "cortex: index.md is left out of the index by the settings; see: cortex config show\n",
    )


def test_a_note_that_is_newer_than_the_graph_names_the_commands(cortex_with, tmp_path):
    cortex = cortex_with(HOUSE)
    (tmp_path / "vault/late.md").write_text("x", "utf-8")
    with pytest.raises(
        UsageError, match=r"late\.md is not in the link graph yet; run: cortex index"
    ):
        cortex.graph("neighbors", note="late")


# Status and the rest ---------------------------------------------------------------------------


def test_the_status_counts_what_is_wrong(cortex_with):
    cortex = cortex_with({**HOUSE, "x.md": "[[gone]] [[One]]", "a/One.md": "", "b/One.md": ""})
    status = cortex.graph("status")
    counts = {name: value for name, value in status.items() if name.endswith("_count")}
    assert counts == {
        "node_count": 10,  # 8 notes, a tag, an attachment
        "edge_count": counts["edge_count"],
        "broken_count": 2,
        "unresolved_count": 1,
        "ambiguous_count": 1,
        "orphan_count": 4,
        "contradiction_count": 0,
        "stale_count": 1,
        "unverified_count": 7,
    }
    assert status["hubs"][0]["degree"] == 2


def test_a_tags_degree_is_how_many_notes_have_it_however_long_they_are(cortex_with):
    long = "\n\n".join(f"## Part {at}\nText {at} #bell" for at in range(30))
    cortex = cortex_with({**HOUSE, "long.md": long})
    rows = cortex.graph("centrality", node_types=["tag"])["centrality"]
    assert [(row["node_id"], row["in_degree"]) for row in rows] == [("tag:bell", 3)]
    with pytest.raises(UsageError, match=r"no node type 'nott'; did you mean note\?"):
        cortex.graph("centrality", node_types=["nott"])
    assert cortex.graph("centrality", node_types=["block"]) == {"centrality": []}
    notes = cortex.graph("centrality")["centrality"]
    assert {row["file"]: row["degree"] for row in notes}["long.md"] == 0


REPORTS = ("broken", "orphans", "centrality", "stale", "contradictions", "duplicates")


@pytest.mark.parametrize("name", REPORTS)
def test_an_empty_report_is_a_document_all_the_same(cortex_with, capsys, name):
    cortex = cortex_with({})
    code, out, err = run(capsys, cortex, name, "--json")
    document = {"schema_version": 1, "count": 0, name: [], "warnings": []}
    assert (code, json.loads(out), err) == (0, document, "")
    code, out, err = run(capsys, cortex, name)
    assert (code, len(out.splitlines()), err) == (0, 1, "")


@pytest.mark.parametrize("words", [["broken"], ["status"], ["neighbors", "x"], ["export"]])
def test_what_the_graph_does_not_know_yet_is_told(cortex_with, tmp_path, capsys, words):
    cortex = cortex_with({"x.md": "[[p]]", "p.md": "P"})
    assert run(capsys, cortex, *words)[2] == ""
    (tmp_path / "vault/x.md").write_text("[[p]] [[nowhere]]", "utf-8")
    warning = (
        "1 note changed since the index was built (1 changed); run: cortex lifecycle maintenance"
    )
    for expected in (warning, "the graph lags behind the index; run: cortex graph build"):
        code, out, err = run(capsys, cortex, *words)
        assert (code, "nowhere" in out, err) == (0, False, f"cortex: {expected}\n")
        if words != ["export"]:
            told = json.loads(run(capsys, cortex, *words, "--json")[1])
            assert told["warnings"] == [expected]
        Cortex.open(cortex.config).index()
    Cortex.open(cortex.config).build_graph()
    assert run(capsys, cortex, *words)[2] == ""


@pytest.mark.parametrize("words", [[name] for name in REPORTS] + [["status"], ["export"]])
def test_without_a_graph_the_command_to_build_one_is_named(cortex_with, capsys, words):
    cortex = cortex_with(HOUSE, build=False)
    cortex.index()
    code, out, err = run(capsys, cortex, *words)
    assert (code, out) == (1, "")
    assert err == "cortex: there is no graph yet; run: cortex graph build\n"


def test_a_limit_shortens_what_is_shown_and_not_the_count(cortex_with, capsys):
    cortex = cortex_with({"x.md": "[[p]] [[q]] [[r]]"})
    code, out, _ = run(capsys, cortex, "broken", "--limit", "1", "--json")
    document = json.loads(out)
    assert (code, document["count"], len(document["broken"])) == (0, 3, 1)
    assert run(capsys, cortex, "broken", "--limit", "1")[1].endswith("and 2 more\n")


def test_a_limit_of_0_is_none(cortex_with, capsys):
    cortex = cortex_with({f"{at}.md": f"[[none {at}]]" for at in range(30)})
    for name in ("broken", "orphans", "centrality"):
        code, out, _ = run(capsys, cortex, name, "--limit", "0", "--json")
        assert (code, len(json.loads(out)[name])) == (0, 30)
    assert len(run(capsys, cortex, "centrality")[1].splitlines()) == 21


def test_the_status_says_how_many_notes_do_not_say_when_they_were_verified(cortex_with, capsys):
    verified = "---\nlast_verified: 2026-03-01\n---\nx"
    blank = "---\nlast_verified: '{{date}}'\n---\nx"
    cortex = cortex_with({"a.md": verified, "b.md": "x", "c.md": blank})
    assert cortex.graph("status")["unverified_count"] == 2
    out = run(capsys, cortex, "status")[1]
    assert " (2 notes without last_verified: the day the file was changed counts)\n" in out


def test_no_report_of_that_name_lists_those_there_are(cortex_with):
    cortex = cortex_with({})
    with pytest.raises(UsageError, match="no graph report 'nope'; there are status, broken"):
        cortex.graph("nope")


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        (
            "orphans",
            {"limit": 3},
            "graph report 'orphans' has no option 'limit'; it takes no options",
        ),
        ("stale", {"days": 3}, "has no option 'days'; it takes stale_days"),
        (
            "path",
            {"one": "lone"},
            "missing a required argument: 'other'; it takes one, other, most",
        ),
    ],
)
def test_an_option_that_a_report_has_not_is_asked_wrongly(cortex_with, name, options, told):
    with pytest.raises(UsageError, match=told):
        cortex_with(HOUSE).graph(name, **options)


def test_a_damaged_graph_names_the_command_that_mends_it(cortex_with, tmp_path):
    cortex = cortex_with(HOUSE)
    nodes = Path(cortex.state.stamp("graph").folder) / "graph_nodes.jsonl"
    nodes.write_text('["no record"]\n', "utf-8")
    with pytest.raises(CortexError, match=r"is damaged; run: cortex graph build"):
        cortex.graph("neighbors", note="lone")


@pytest.mark.parametrize("words", [["status"], ["broken"], ["viewer"], ["export"]])
def test_without_an_index_that_is_what_is_asked_for_first(words, cortex_with, capsys):
    cortex = cortex_with({"a.md": "# A"}, build=False)
    assert main(["graph", *words, "--config", str(cortex.config.path)]) == 1
    assert "there is no index yet; run: cortex index" in capsys.readouterr().err
