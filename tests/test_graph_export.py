"""The link graph for other programs: what is selected, and that every format reads it back."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import UsageError
from cortex.graph_export import EDGE_TYPES, FORMATS, Selection, d3_document

VAULT = {
    "a.md": "---\ntags: [tide]\nstatus: active\ntype: fact\n---\n[[b]] [[b]] ![[b]] [[gone]]",
    "b.md": "[[c]] #tide",
    "c.md": "---\ncontradicts: '[[a]]'\n---\n[[One]]",
    "lone.md": "[[gone]]",
    "x/One.md": "",
    "y/One.md": "",
}
HOSTILE = (
    "</script><script>alert(1)</script>",
    'quo"te \\N \\" &lt; <b> \\',
    "1. list `x` *y* _z_ #quot; [a](b) {c} |d|",
    "end",
    "- dash",
    "\u202eRTL \u05dc\u05d9\u05dc\u05d4",
    "🐝 👩\u200d🚀",
    "語" * 60,
    "new\nline\ttab\x1b[31m",
)


@pytest.fixture
def hostile(cortex_with):
    """A vault whose titles and links are written to break what reads them."""
    notes = {
        f"n{at}.md": f"---\ntitle: {json.dumps(title)}\n---\n[[hub]] [[{title[:20].strip()}]]"
        for at, title in enumerate(HOSTILE)
    }
    return cortex_with({**notes, "hub.md": "---\ntags: ['a\"b']\n---\n[[n0]]"})


def folder_of(cortex: Any) -> Path:
    return Path(cortex.state.stamp("graph").folder)


def ids(document: dict[str, Any]) -> list[str]:
    return [node["id"] for node in document["nodes"]]


def run(capsys: pytest.CaptureFixture[str], cortex: Any, *words: str) -> tuple[int, str, str]:
    code = main(["graph", "export", *words, "--config", str(cortex.config.path)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


# What is selected -----------------------------------------------------------------------------


def test_all_of_it_is_the_records_of_the_artifacts_in_their_order(cortex_with):
    cortex = cortex_with(VAULT)
    document = json.loads(cortex.export_graph("json"))
    stats = json.loads((folder_of(cortex) / "graph_stats.json").read_text("utf-8"))
    assert document["schema_version"] == 1
    assert document["stats"] == {
        "node_count": stats["node_count"],
        "edge_count": stats["edge_count"],
        "filtered": False,
    }
    lines = (folder_of(cortex) / "graph_nodes.jsonl").read_text("utf-8").splitlines()
    assert document["nodes"] == list(map(json.loads, lines))


def test_what_is_asked_for_must_all_hold_and_edges_need_both_ends(cortex_with):
    folder = folder_of(cortex_with(VAULT))
    notes = d3_document(folder, selection=Selection(node_types=("note",)))
    assert {edge["type"] for edge in notes["edges"]} == {"links_to", "embeds", "contradicts"}
    both = d3_document(folder, selection=Selection(("note",), ("embeds",)))
    assert both["edges"] == [{"source": "note:a.md", "target": "note:b.md", "type": "embeds"}]
    assert both["stats"] == {"node_count": 6, "edge_count": 1, "filtered": True}
    tags = d3_document(folder, selection=Selection(node_types=("tag",)))
    assert (ids(tags), tags["edges"]) == (["tag:tide"], [])


def test_a_neighbourhood_reaches_so_many_edges_in_both_directions(cortex_with):
    cortex = cortex_with(VAULT)
    near = json.loads(cortex.export_graph(neighborhood="B", node_types=["note"]))
    assert ids(near) == ["note:a.md", "note:b.md", "note:c.md"]
    assert len(near["edges"]) == 4  # a links to and embeds b, b links to c, c contradicts a
    by_tag = json.loads(cortex.export_graph(neighborhood="#Tide"))
    assert ids(by_tag) == ["note:a.md", "note:b.md", "tag:tide"]
    written = json.loads(
        cortex.export_graph(neighborhood="note:a.md", edge_types=["links_to"], depth=2)
    )
    assert ids(written) == ["note:a.md", "note:b.md", "note:c.md"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--neighborhood", "Lon"], "there is no note 'Lon' in the vault; did you mean lone.md"),
        (["--neighborhood", "One"], "several notes are named 'One': x/One.md, y/One.md"),
        (["--node-type", "notes"], "the graph has no node type 'notes'; did you mean note?"),
        (["--edge-type", "link_to"], "has no edge type 'link_to'; did you mean links_to?"),
        (["--depth", "2"], "--depth goes with --neighborhood"),
        (["--format", "grapml"], "has no 'grapml'; did you mean graphml?"),
    ],
)
def test_what_there_is_not_is_asked_wrongly(cortex_with, capsys, words, told):
    code, out, err = run(capsys, cortex_with(VAULT), *words)
    assert (code, out) == (2, "")
    assert told in err


def test_every_type_that_is_documented_may_be_asked_for_in_any_vault(cortex_with):
    cortex = cortex_with({})
    document = json.loads(cortex.export_graph(edge_types=EDGE_TYPES))
    assert (document["nodes"], document["edges"]) == ([], [])


# d3-json ---------------------------------------------------------------------------------------


def test_a_node_has_its_properties_and_the_degrees_of_the_document(cortex_with):
    folder = folder_of(cortex_with(VAULT))
    node = d3_document(folder, selection=Selection(node_types=("note",)))["nodes"][0]
    assert node == {
        "id": "note:a.md",
        "label": "a",
        "type": "note",
        "file": "a.md",
        "degree": 3,  # links to b, embeds b, is contradicted by c: the tag is left out
        "in_degree": 1,
        "out_degree": 2,
        "fm_status": "active",
        "fm_type": "fact",
        "importance": None,
        "last_verified": None,
        "tags": ["tide"],
    }
    document = d3_document(folder)
    assert sum(node["in_degree"] for node in document["nodes"]) == len(document["edges"])
    assert sum(node["out_degree"] for node in document["nodes"]) == len(document["edges"])


def test_a_long_note_has_no_higher_degree_for_its_length(cortex_with):
    long = "\n\n".join(f"## Part {at}\nText {at} #tide" for at in range(30))
    document = d3_document(folder_of(cortex_with({"long.md": long, "short.md": "#tide"})))
    degrees = {node["id"]: node["degree"] for node in document["nodes"]}
    assert degrees == {"note:long.md": 1, "note:short.md": 1, "tag:tide": 2}


def test_pageranks_sum_to_one_over_what_is_exported(cortex_with):
    folder = folder_of(cortex_with(VAULT))
    for selection in (Selection(), Selection(node_types=("note",))):
        ranks = [
            n["pagerank"] for n in d3_document(folder, selection=selection, pagerank=True)["nodes"]
        ]
        assert sum(ranks) == pytest.approx(1)
    assert "pagerank" not in d3_document(folder)["nodes"][0]


def test_diagnostics_draw_what_is_missing_once_and_only_from_what_is_shown(cortex_with):
    cortex = cortex_with(VAULT)
    document = json.loads(cortex.export_graph("d3-json", diagnostics=True))
    assert document["stats"]["diagnostics"] == {
        "unresolved": 2,
        "ambiguous": 1,
        "missing_attachment": 0,
        "missing_block": 0,
        "missing_heading": 0,
        "orphans": 3,
    }
    ghosts = {n["label"]: n for n in document["nodes"] if n["type"] == "diagnostic"}
    assert {(n["kind"], n["visual"]) for n in ghosts.values()} == {
        ("unresolved", "red"),
        ("ambiguous", "orange"),
    }
    assert re.fullmatch("diagnostic:unresolved:[0-9a-f]{12}", ghosts["gone"]["id"])
    assert ghosts["gone"]["degree"] == 2  # from a and from lone
    kinds = [edge["type"] for edge in document["edges"] if edge["type"].startswith("diagnostic")]
    assert sorted(kinds) == [
        "diagnostic_ambiguous",
        *["diagnostic_candidate"] * 2,
        *["diagnostic_unresolved"] * 2,
    ]
    marked = {n["id"] for n in document["nodes"] if n.get("orphan")}
    assert marked == {"note:lone.md", "note:x/One.md", "note:y/One.md"}
    torn = {n["id"] for n in document["nodes"] if n.get("contradiction")}
    assert torn == {"note:a.md", "note:c.md"}
    near = json.loads(cortex.export_graph("d3-json", diagnostics=True, neighborhood="c"))
    assert {n["label"] for n in near["nodes"] if n["type"] == "diagnostic"} == {"gone", "One"}
    assert ghosts["gone"]["id"] in ids(near)  # the same for the same words


# Other formats ---------------------------------------------------------------------------------


def test_graphml_is_read_back_by_networkx_whatever_the_titles(hostile):
    import networkx as nx

    text = hostile.export_graph("graphml", diagnostics=True, pagerank=True)
    graph = nx.read_graphml(io.BytesIO(text.encode("utf-8")), force_multigraph=True)
    document = json.loads(hostile.export_graph("json", diagnostics=True))
    assert graph.is_directed()
    assert graph.number_of_nodes() == document["stats"]["node_count"]
    assert graph.number_of_edges() == document["stats"]["edge_count"]
    assert graph.nodes["note:n0.md"]["label"] == HOSTILE[0]
    assert graph.nodes["note:n1.md"]["label"] == HOSTILE[1]
    assert "\x1b" not in text
    assert sum(rank for _, rank in graph.nodes(data="pagerank")) == pytest.approx(1)


DOT_STRING = r'"(?:[^"\\\n]|\\["\\])*"'
DOT_ATTRIBUTES = rf"\[\w+=(?:{DOT_STRING}|\w+)(?:, \w+=(?:{DOT_STRING}|\w+))*\]"
DOT_LINE = re.compile(rf"  (?:n\d+(?: -> n\d+)?|graph|node|edge)(?: {DOT_ATTRIBUTES})?;")


def test_dot_is_valid_line_by_line_whatever_the_titles(hostile):
    lines = hostile.export_graph("dot", diagnostics=True, direction="TB").splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("digraph cortex {", "  graph [rankdir=TB];", "}")
    assert [line for line in lines[1:-1] if not DOT_LINE.fullmatch(line)] == []


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_every_node_and_shows_the_titles_as_they_are(hostile):
    drawn = subprocess.run(
        ["dot", "-Tsvg"],
        input=hostile.export_graph("dot").encode("utf-8"),
        capture_output=True,
        timeout=120,
        check=True,
    )
    svg = drawn.stdout.decode("utf-8")
    nodes = json.loads(hostile.export_graph("json"))["nodes"]
    assert svg.count('class="node"') == len(nodes)
    assert "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in svg
    assert "&amp;lt; &lt;b&gt;" in svg  # of the second: an entity that stays one
    assert drawn.stderr.decode("utf-8").count("syntax error") == 0


MERMAID_LINE = re.compile(
    r"""graph\ LR|\ \ subgraph\ t\d+\["[a-z]+"\]|\ \ end
    |\ {4}n\d+(?:\["[^"]+"\]|\(\["[^"]+"\]\)|\("[^"]+"\)|\[/"[^"]+"/\]
    |\[\("[^"]+"\)\]|\{\{"[^"]+"\}\})
    |\ \ n\d+\ (?:-->|==>|---|-\.-|-\.->)(?:\|[a-z ]+\|)?\ n\d+""",
    re.VERBOSE,
)


def test_mermaid_has_ids_of_its_own_and_labels_that_mean_nothing_to_it(hostile):
    text = hostile.export_graph("mermaid", diagnostics=True)
    assert [line for line in text.splitlines() if not MERMAID_LINE.fullmatch(line)] == []
    made = re.findall(r"^ {4}(n\d+)", text, re.MULTILINE)
    nodes = json.loads(hostile.export_graph("json", diagnostics=True))["nodes"]
    assert made and len(made) == len(set(made)) == len(nodes)
    labels = re.findall(r'^ {4}n\d+\W*?"([^"]+)"', text, re.MULTILINE)
    assert max(map(len, labels)) == 40
    assert not re.search(r"[<>#`\\&;{}|\[\]]", "".join(labels))
    assert not [label for label in labels if re.match(r"\d+\. |- ", label)]  # no list in Markdown


@pytest.mark.parametrize("form", FORMATS)
def test_equal_graphs_give_equal_text_and_an_empty_one_is_well_formed(cortex_with, form):
    cortex = cortex_with({})
    text = cortex.export_graph(form, diagnostics=True, pagerank=True)
    assert text.endswith("\n") and not text.endswith("\n\n")
    assert text == cortex.export_graph(form, diagnostics=True, pagerank=True)


def test_the_command_writes_a_file_whole_and_says_so_on_stderr(cortex_with, capsys, tmp_path):
    cortex = cortex_with(VAULT)
    out = tmp_path / "made" / "graph.json"
    code, printed, err = run(capsys, cortex, "-o", str(out))
    assert (code, printed, err) == (0, "", f"cortex: wrote {out}\n")
    assert out.read_text("utf-8") == run(capsys, cortex)[1]
    assert Desk(cortex).export_graph("json") == out.read_text("utf-8")


def test_a_diagram_beyond_mermaids_limits_says_how_to_narrow_it(cortex_with, capsys):
    notes = {f"n{at}.md": " ".join(f"[[n{to}]]" for to in range(30)) for at in range(30)}
    _, _, err = run(capsys, cortex_with(notes), "--format", "mermaid")
    assert "Mermaid draws at most 500 edges" in err
    assert "this has 870" in err


def test_a_direction_that_there_is_not_is_asked_wrongly(cortex_with):
    with pytest.raises(UsageError, match="no direction 'XY'; there are LR, RL, TB, BT"):
        cortex_with({}).export_graph("dot", direction="XY")


USUAL = [
    *(("json", "x.json"), ("d3-json", "x.JSON"), ("mermaid", "x.mmd"), ("mermaid", "x.mermaid")),
    *(("graphml", "x.graphml"), ("dot", "x.dot"), ("dot", "x.gv")),
]


@pytest.mark.parametrize(("form", "name"), USUAL)
def test_an_export_takes_the_place_of_an_earlier_one(cortex_with, tmp_path, form, name):
    desk = Desk(cortex_with(VAULT))
    (tmp_path / name).write_text("earlier")
    text = desk.export_graph(form, tmp_path / name)
    assert (tmp_path / name).read_text("utf-8") == text


@pytest.mark.parametrize("form", FORMATS)
def test_no_export_takes_the_place_of_anything_else(cortex_with, capsys, tmp_path, form):
    cortex = cortex_with(VAULT)
    (tmp_path / "thesis.tex").write_text("mine")
    (tmp_path / "x.html").symlink_to(tmp_path / "thesis.tex")
    stamp = (tmp_path / "state" / "graph.json").read_text("utf-8")
    ending = USUAL[[one for one, _ in USUAL].index(form)][1][1:].lower()
    for place, said in (
        ("vault/a.md", "has the name of a note"),
        ("vault/new.MD", "has the name of a note"),
        ("new.markdown", "has the name of a note"),
        ("thesis.tex", "exists and may be something else, so it stays"),
        ("x.html", "exists and may be something else, so it stays"),
    ):
        code, out, err = run(capsys, cortex, "--format", form, "-o", str(tmp_path / place))
        assert (code, out) == (2, "")
        assert err == f"cortex: {tmp_path / place} {said}; name a file that ends in {ending}\n"
    for place, said in (
        ("state/graph.json", "lies in the state folder"),
        ("vault", "is a folder; name a file in it"),
    ):
        code, out, err = run(capsys, cortex, "--format", form, "-o", str(tmp_path / place))
        assert (code, out) == (2, "") and said in err
    assert (tmp_path / "vault/a.md").read_text("utf-8") == VAULT["a.md"]
    assert not (tmp_path / "vault/new.MD").exists() and not (tmp_path / "new.markdown").exists()
    assert (tmp_path / "thesis.tex").read_text() == "mine" and (tmp_path / "x.html").is_symlink()
    assert (tmp_path / "state/graph.json").read_text("utf-8") == stamp
    assert run(capsys, cortex, "--format", form, "-o", str(tmp_path / "new.txt"))[0] == 0


def test_a_place_where_nothing_can_be_written_is_named(cortex_with, capsys, tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "x.json"
    code, _, err = run(capsys, cortex_with(VAULT), "-o", str(target))
    assert code == 1
    assert err.startswith(f"cortex: {target} cannot be written: ")


def test_json_is_the_format_of_that_name_and_goes_with_no_other(cortex_with, capsys):
    config = ["--config", str(cortex_with(VAULT).config.path)]
    assert main(["graph", "export", *config]) == 0
    usual = capsys.readouterr().out
    assert main(["graph", "export", "--json", *config]) == 0
    assert capsys.readouterr().out == usual
    assert json.loads(usual)["schema_version"] == 1
    assert main(["graph", "export", "--json", "--format", "dot", *config]) == 2
