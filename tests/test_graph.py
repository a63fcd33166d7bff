"""The link graph: what build_graph writes for a vault, and what the diagnostics read from it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cortex import graph_diagnostics
from cortex.errors import CortexError, Damaged
from cortex.graph_index import GraphCounts, build_graph
from cortex.types import key64


def links_in(text: str, line: int, name: str | None = None) -> list[dict[str, Any]]:
    """The `[[links]]` and `![[embeds]]` of a literal text, as records."""
    links = []
    for offset, row in enumerate(text.split("\n")):
        for mark, inner in re.findall(r"(!?)\[\[([^\]]+)\]\]", row):
            target, _, label = inner.partition("|")
            target, _, subpath = target.partition("#")
            link = {
                "target": target,
                "subpath": subpath,
                "label": label,
                "kind": "embed" if mark else "link",
                "style": "wiki",
                "line": line + offset,
                "property": name,
            }
            links.append({key: value for key, value in link.items() if value})
            links[-1]["target"] = target
    return links


def build(
    folder: Path,
    texts: Mapping[str, str | dict[str, Any]],
    files: tuple[str, ...] = (),
) -> GraphCounts:
    """Build the graph of a small vault: path -> body, or what the note's record has and a "body".

    Each paragraph of a body is a chunk, as the real ones are parts of a note.
    """
    notes, chunks = [], []
    for path, given in sorted(texts.items()):
        more = {"body": given} if isinstance(given, str) else dict(given)
        body = more.pop("body", "")
        meta = more.get("frontmatter", {})
        properties = [
            link
            for name, value in meta.items()
            for item in (value if isinstance(value, list) else [value])
            if isinstance(item, str)
            for link in links_in(item, 2, name)
        ]
        tags = re.findall(r"(?<!\S)#(\w[\w/]*)", body)
        notes.append(
            {
                "file": path,
                "title": path.rpartition("/")[2][:-3],
                "frontmatter": {},
                "aliases": [],
                "links": properties,
                "headings": [],
                "blocks": {},
                "tags": list(dict.fromkeys(tags)),
                **more,
            }
        )
        line = 1
        for part in body.split("\n\n"):
            chunks.append(
                {
                    "file": path,
                    "heading_path": more.get("heading_path", []),
                    "text": part,
                    "start_line": line,
                    "end_line": line + part.count("\n"),
                    "links": links_in(part, line),
                    "tags": list(dict.fromkeys(re.findall(r"(?<!\S)#(\w[\w/]*)", part))),
                }
            )
            line += part.count("\n") + 2
    return build_graph(notes, chunks, files, folder)


def lines_of(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def edges_of(folder: Path, *kinds: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """(source, target, type) -> metadata of each edge, of these types if any are given."""
    edges = lines_of(folder, "graph_edges.jsonl")
    found = {(e["source"], e["target"], e["type"]): e["metadata"] for e in edges}
    assert len(found) == len(edges)
    return {key: value for key, value in found.items() if not kinds or key[2] in kinds}


def named_in(folder: Path) -> dict[tuple[str, str], str]:
    """(note, note that it names) -> by which words."""
    return {
        (source[len("note:") :], target[len("note:") :]): metadata["name"]
        for (source, target, _), metadata in edges_of(folder, "mentions").items()
    }


# Edges --------------------------------------------------------------------------------------


def test_links_of_one_kind_to_one_note_are_one_edge_with_a_count(tmp_path):
    build(tmp_path, {"Many.md": "[[T]] [[t.md]]\n\n[[T|tea]] ![[T]]", "T.md": "t"})
    assert edges_of(tmp_path) == {
        ("note:Many.md", "note:T.md", "links_to"): {"count": 3, "lines": [1, 3]},
        ("note:Many.md", "note:T.md", "embeds"): {"count": 1, "lines": [3]},
    }


def test_every_note_is_a_node_though_nothing_links_to_it(tmp_path):
    build(
        tmp_path,
        {"zero.md": "", "a/b.md": {"title": "Bee", "aliases": ["B"], "frontmatter": {"type": "x"}}},
    )
    assert lines_of(tmp_path, "graph_nodes.jsonl") == [
        {
            "id": "note:a/b.md",
            "type": "note",
            "label": "Bee",
            "file": "a/b.md",
            "metadata": {"type": "x", "aliases": ["B"]},
        },
        {"id": "note:zero.md", "type": "note", "label": "zero", "file": "zero.md"},
    ]


def test_headings_and_blocks_are_nodes_where_they_are_linked(tmp_path):
    build(
        tmp_path,
        {
            "Use.md": "[[Guide#Hob#Care]] [[Guide#^k3]]",
            "Guide.md": {
                "headings": [[1, "Hob", 3, []], [2, "Care", 5, ["Hob"]], [1, "Sink", 9, []]],
                "blocks": {"k3": 7, "k4": 8},
            },
        },
    )
    assert edges_of(tmp_path) == {
        ("note:Guide.md", "block:Guide.md#^k3", "contains"): {"count": 1},
        ("note:Guide.md", "heading:Guide.md#Hob#Care", "contains"): {"count": 1},
        ("note:Use.md", "block:Guide.md#^k3", "links_to"): {"count": 1, "lines": [1]},
        ("note:Use.md", "heading:Guide.md#Hob#Care", "links_to"): {"count": 1, "lines": [1]},
        ("note:Use.md", "note:Guide.md", "links_to"): {
            "count": 2,
            "lines": [1],
            "sections": ["Care", "^k3"],
        },
    }
    places = [n for n in lines_of(tmp_path, "graph_nodes.jsonl") if n["type"] != "note"]
    assert [(n["label"], n["file"], n["metadata"]["line"]) for n in places] == [
        ("^k3", "Guide.md", 7),
        ("Care", "Guide.md", 5),
    ]


def test_a_link_into_the_own_note_is_no_edge_to_itself_and_not_broken(tmp_path):
    build(tmp_path, {"a.md": {"headings": [[1, "Top", 1, []]], "body": "[[a]] [[#Top]] [[a#Top]]"}})
    assert edges_of(tmp_path) == {
        ("note:a.md", "heading:a.md#Top", "contains"): {"count": 1},
        ("note:a.md", "heading:a.md#Top", "links_to"): {"count": 2, "lines": [1]},
    }
    assert lines_of(tmp_path, "graph_broken.jsonl") == []


def test_attachments_are_nodes_where_they_are_linked(tmp_path):
    build(tmp_path, {"a.md": "![[cat.png|100]]"}, files=("img/cat.png", "img/dog.png"))
    assert edges_of(tmp_path) == {
        ("note:a.md", "attachment:img/cat.png", "embeds"): {"count": 1, "lines": [1]}
    }
    assert lines_of(tmp_path, "graph_nodes.jsonl")[0] == {
        "id": "attachment:img/cat.png",
        "type": "attachment",
        "label": "cat.png",
        "file": "img/cat.png",
    }


def test_a_tag_is_one_edge_a_note_however_often_and_in_what_case_it_stands(tmp_path):
    build(
        tmp_path,
        {
            "a.md": {
                "tags": ["Garden", "in-box/read"],
                "body": "#garden #Garden x#garden\n\n#GARDEN",
            },
            "b.md": "`#garden` #gardens",
        },
    )
    assert edges_of(tmp_path) == {
        ("note:a.md", "tag:garden", "tagged_with"): {"count": 3, "lines": [1, 3]},
        ("note:a.md", "tag:in-box/read", "tagged_with"): {"count": 1},
        ("note:b.md", "tag:gardens", "tagged_with"): {"count": 1, "lines": [1]},
    }
    labels = {n["id"]: n["label"] for n in lines_of(tmp_path, "graph_nodes.jsonl")}
    assert labels["tag:garden"] == "Garden"


def test_lifecycle_properties_have_edges_of_their_own_kind(tmp_path):
    build(
        tmp_path,
        {
            "new.md": {
                "frontmatter": {
                    "supersedes": "[[old]]",
                    "Superseded-By": "[[old]]",
                    "Derived From": ["[[a]]", "[[b.md]]"],
                    "supports": "[[b]]",
                    "contradicts": "[[b]]",
                    "related": ["[[a|the first]]", "[[a]]"],
                    "album": "[[a]]",
                }
            },
            **dict.fromkeys(("old.md", "a.md", "b.md"), ""),
        },
    )
    assert {(target, kind) for _, target, kind in edges_of(tmp_path)} == {
        ("note:old.md", "supersedes"),
        ("note:old.md", "superseded_by"),
        ("note:a.md", "derived_from"),
        ("note:b.md", "derived_from"),
        ("note:b.md", "supports"),
        ("note:b.md", "contradicts"),
        ("note:a.md", "related"),
        ("note:a.md", "links_to"),
    }
    edge = edges_of(tmp_path, "links_to")["note:new.md", "note:a.md", "links_to"]
    assert edge == {"count": 1, "lines": [2], "properties": ["album"]}
    assert lines_of(tmp_path, "graph_broken.jsonl") == []


# Broken links -------------------------------------------------------------------------------


def test_a_broken_link_is_listed_once_with_what_is_wrong_and_makes_no_node(tmp_path):
    counts = build(
        tmp_path,
        {
            "s.md": {
                "frontmatter": {"related": "[[Gone]]", "up": "[[Spec]]"},
                "body": "x\n[[Gone]] [[Gone]]\n\n"
                "[[Spec]] [[a/Spec#Sink]] [[a/Spec#^b]] ![[no.png]]",
            },
            "a/Spec.md": "",
            "b/Spec.md": "",
        },
    )
    found = [
        (r["target_raw"], r["kind"], r["context"], r["line"], r["count"])
        for r in lines_of(tmp_path, "graph_broken.jsonl")
    ]
    assert found == [
        ("Gone", "unresolved", "body", 2, 2),
        ("Gone", "unresolved", "frontmatter:related", 2, 1),
        ("Spec", "ambiguous", "body", 4, 1),
        ("Spec", "ambiguous", "frontmatter:up", 2, 1),
        ("a/Spec#Sink", "missing_heading", "body", 4, 1),
        ("a/Spec#^b", "missing_block", "body", 4, 1),
        ("no.png", "missing_attachment", "body", 4, 1),
    ]
    first, *_ = lines_of(tmp_path, "graph_broken.jsonl")
    assert (first["source"], first["source_node"]) == ("s.md", "note:s.md")
    tied = lines_of(tmp_path, "graph_broken.jsonl")[2]
    assert tied["candidates"] == ["a/Spec.md", "b/Spec.md"]
    assert {n["type"] for n in lines_of(tmp_path, "graph_nodes.jsonl")} == {"note"}
    assert edges_of(tmp_path) == {
        ("note:s.md", "note:a/Spec.md", "links_to"): {"count": 2, "lines": [4]}
    }
    assert counts.broken_by_kind == {
        "ambiguous": 2,
        "missing_attachment": 1,
        "missing_block": 1,
        "missing_heading": 1,
        "unresolved": 2,
    }


# Implied links ------------------------------------------------------------------------------

FILLER = {f"filler {i}.md": "nothing here" for i in range(12)}


def test_a_title_in_another_notes_text_is_an_implied_link(tmp_path):
    build(
        tmp_path,
        {
            "Trip.md": "one\n\nWe fired the Soda Kiln and then the soda\nkiln again.",
            "Soda Kiln.md": "The Soda Kiln is hot.",
            **FILLER,
        },
    )
    assert edges_of(tmp_path) == {
        ("note:Trip.md", "note:Soda Kiln.md", "mentions"): {
            "count": 2,
            "name": "Soda Kiln",
            "within_lines": [3, 4],
            "weight": 1.0,  # one note names it, and no other has the name
        }
    }


def test_the_longest_name_counts_and_what_stands_in_it_does_not(tmp_path):
    build(
        tmp_path,
        {"a.md": "Into York Minster Crypt.", "York Minster.md": "", "York Minster Crypt.md": ""},
    )
    assert named_in(tmp_path) == {("a.md", "York Minster Crypt.md"): "York Minster Crypt"}


def test_aliases_and_titles_without_their_parenthesis_are_names_too(tmp_path):
    build(
        tmp_path,
        {
            "a.md": "Seen: John Anderson's car at the old mill house.",
            "John Anderson (musician).md": "",
            "m7.md": {"aliases": ["Old Mill House", None, 7]},
        },
    )
    assert named_in(tmp_path) == {
        ("a.md", "John Anderson (musician).md"): "John Anderson",
        ("a.md", "m7.md"): "old mill house",
    }


def test_a_name_of_one_word_is_a_name_only_where_the_vault_capitalises_it(tmp_path):
    build(
        tmp_path,
        {
            "a.md": "Ask on Discord. Related reading. The Beatles play on an iPhone.",
            "b.md": "A related question, and related work; discord is rare.",
            "c.md": "On Discord, as ever, not about the beatles.",
            **dict.fromkeys(("Discord.md", "Related.md", "The Beatles.md", "iPhone.md"), ""),
            **FILLER,
        },
    )
    assert named_in(tmp_path) == {
        ("a.md", "Discord.md"): "Discord",
        ("c.md", "Discord.md"): "Discord",
        ("a.md", "The Beatles.md"): "The Beatles",
        ("a.md", "iPhone.md"): "iPhone",
    }


def test_a_name_of_one_word_that_a_fifth_of_the_notes_have_is_no_name(tmp_path):
    most = {f"n{i}.md": "All about Obsidian." for i in range(4)}
    build(tmp_path, {"Obsidian.md": "", "Docker.md": "", "x.md": "In Docker.", **most, **FILLER})
    assert named_in(tmp_path) == {("x.md", "Docker.md"): "Docker"}


@pytest.mark.parametrize(
    "name", ["Ape", "2023-09-12", "12 September 2023", "2023-W37", "How To Do It", "Monday", "???"]
)
def test_short_names_dates_and_function_words_are_no_names(tmp_path, name):
    build(tmp_path, {f"{name}.md": "", "a.md": f"So: {name} it is.", **FILLER})
    assert named_in(tmp_path) == {}


def test_a_name_that_three_notes_share_is_divided_and_one_of_four_is_nobodys(tmp_path):
    shared = {f"{i}/Team Notes.md": "" for i in range(3)} | {
        f"{i}/Daily Plan.md": "" for i in "abcd"
    }
    build(tmp_path, {"a.md": "See Team Notes and Daily Plan.", **shared, **FILLER})
    assert [metadata["sharing"] for metadata in edges_of(tmp_path, "mentions").values()] == [
        3,
        3,
        3,
    ]
    n = 1 + 3 + 4 + 12
    assert weights_of(tmp_path) == {
        ("a.md", f"{i}/Team Notes.md"): (1 / 3 * math.log(n / 1) / math.log(n), "mention")
        for i in range(3)
    }


def test_a_section_that_is_only_a_heading_names_nothing(tmp_path):
    heading = {"heading_path": ["Day", "Soda Kiln"], "body": "Soda Kiln"}
    build(tmp_path, {"a.md": heading, "b.md": "Soda Kiln", "Soda Kiln.md": ""})
    assert named_in(tmp_path) == {("b.md", "Soda Kiln.md"): "Soda Kiln"}


def test_a_note_that_uses_its_own_name_names_the_other_notes_of_that_name(tmp_path):
    build(tmp_path, {"x/Soda Kiln.md": "A Soda Kiln.", "y/Soda Kiln.md": "", **FILLER})
    assert named_in(tmp_path) == {("x/Soda Kiln.md", "y/Soda Kiln.md"): "Soda Kiln"}


def test_code_links_and_addresses_name_nothing(tmp_path):
    body = (
        "`Soda Kiln` and [[a|Soda Kiln]] at https://example.org/Soda Kiln/\n"
        "```\nSoda Kiln\n```\n~~~\nSoda Kiln\n"
    )
    build(tmp_path, {"a.md": "", "b.md": body.replace("Kiln/", "x"), "Soda Kiln.md": ""})
    assert named_in(tmp_path) == {}
    build(tmp_path, {"b.md": "[the Soda Kiln](https://example.org/x)", "Soda Kiln.md": ""})
    assert named_in(tmp_path) == {("b.md", "Soda Kiln.md"): "Soda Kiln"}


def test_names_without_blanks_between_words_are_found_by_their_characters(tmp_path):
    build(
        tmp_path,
        {
            "a.md": "我们用数字花园来整理卡片笔记和咖啡。",
            "数字花园.md": "",
            "咖啡.md": "",
            "片.md": "",
            "film.md": {"aliases": ["整理", "卡片笔"]},
            "卡片笔记.md": "",
            **FILLER,
        },
    )
    assert named_in(tmp_path) == {
        ("a.md", "数字花园.md"): "数字花园",
        ("a.md", "卡片笔记.md"): "卡片笔记",  # not the alias 卡片笔: the longest counts
        ("a.md", "咖啡.md"): "咖啡",  # two characters are enough for a title, not for an alias
    }


def test_a_korean_name_is_found_with_its_particle_and_not_inside_a_word(tmp_path):
    build(tmp_path, {"a.md": "회의록을 대회의록은", "b.md": "대회의록", "회의록.md": "", **FILLER})
    assert named_in(tmp_path) == {("a.md", "회의록.md"): "회의록을"}


# Weights ------------------------------------------------------------------------------------


def weights_of(folder: Path) -> dict[tuple[str, str], tuple[Any, str]]:
    """(source, target) -> (weight, kind), read from the arrays as search reads them."""
    arrays = {
        name: np.load(folder / f"adj_{name}.npy")
        for name in ("src", "ptr", "dst", "weight", "kind")
    }
    assert [arrays[name].dtype for name in arrays] == [
        np.uint64,
        np.int64,
        np.uint64,
        np.float32,
        np.uint8,
    ]
    assert list(arrays["src"]) == sorted(set(arrays["src"]))
    paths = {
        key64(n["file"]): n["file"]
        for n in lines_of(folder, "graph_nodes.jsonl")
        if n["type"] == "note"
    }
    found = {}
    for at, source in enumerate(arrays["src"]):
        for row in range(arrays["ptr"][at], arrays["ptr"][at + 1]):
            pair = paths[int(source)], paths[int(arrays["dst"][row])]
            weight = pytest.approx(float(arrays["weight"][row]), abs=1e-6)
            found[pair] = weight, ("link", "mention")[arrays["kind"][row]]
    assert len(found) == len(arrays["dst"]) == arrays["ptr"][-1]
    return found


def test_an_edge_weighs_less_the_more_notes_point_to_its_target(tmp_path):
    build(
        tmp_path,
        {
            "a.md": "[[hub]] ![[hub]] [[rare]]",
            "b.md": {"frontmatter": {"related": "[[hub]]"}},
            "c.md": "A word on the Soda Kiln.",
            "d.md": "[[Soda Kiln]] is a Soda Kiln, [[d]]",
            "hub.md": "",
            "rare.md": "",
            "Soda Kiln.md": "",
        },
    )
    n = 7
    assert weights_of(tmp_path) == {
        ("a.md", "hub.md"): (0.5 * math.log(n / 2) / math.log(n), "link"),
        ("a.md", "rare.md"): (0.5, "link"),
        ("b.md", "hub.md"): (0.5 * math.log(n / 2) / math.log(n), "link"),
        ("c.md", "Soda Kiln.md"): (math.log(n / 2) / math.log(n), "mention"),
        ("d.md", "Soda Kiln.md"): (math.log(n / 2) / math.log(n), "link"),  # both: the larger
    }


def test_links_weigh_something_in_a_vault_of_two_notes_too(tmp_path):
    build(tmp_path, {"a.md": "[[b]]", "b.md": "[[a]]"})
    assert weights_of(tmp_path) == {
        ("a.md", "b.md"): (0.5, "link"),
        ("b.md", "a.md"): (0.5, "link"),
    }


@pytest.mark.parametrize("texts", [{}, {"only.md": "[[only]] is only here"}])
def test_a_vault_without_links_has_empty_artifacts_and_no_failure(tmp_path, texts):
    counts = build(tmp_path, texts)
    assert (counts.node_count, counts.edge_count, counts.broken_count) == (len(texts), 0, 0)
    assert weights_of(tmp_path) == {}
    assert list(np.load(tmp_path / "adj_ptr.npy")) == [0]
    assert graph_diagnostics.broken(tmp_path) == []
    assert graph_diagnostics.centrality(tmp_path, pagerank=True)[1:] == []
    assert graph_diagnostics.status(tmp_path)["hubs"] == []


# Bytes --------------------------------------------------------------------------------------


def test_a_rebuild_gives_the_same_bytes_whatever_the_order_of_the_links(tmp_path):
    texts = {
        "é.md": "[[ü]] [[b]] [[nö]] #Tag #tag2 Große Straße",
        "ü.md": "[[b#x]] [[é]]",
        "b.md": {"frontmatter": {"related": ["[[é]]", "[[ü]]"]}},
        "Große Straße.md": "",
    }
    build(tmp_path / "one", texts)
    build(tmp_path / "two", dict(reversed(texts.items())))
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == [
        *(f"adj_{name}.npy" for name in ("dst", "kind", "ptr", "src", "weight")),
        *(f"graph_{name}.jsonl" for name in ("broken", "edges", "names", "nodes")),
        "graph_stats.json",
        *(f"holder_{name}.npy" for name in ("keys", "names", "ptr")),
        *(f"name_{name}.npy" for name in ("notes", "ptr", "text", "text_ptr", "weight")),
    ]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert "note:Große Straße.md" in (tmp_path / "one/graph_nodes.jsonl").read_text("utf-8")


def test_the_stats_count_what_the_files_hold(tmp_path):
    counts = build(tmp_path, {"a.md": "[[b]] [[c]] #t", "b.md": "[[a]]"})
    assert json.loads((tmp_path / "graph_stats.json").read_text("utf-8")) == {
        "node_count": 3,
        "edge_count": 3,
        "broken_count": 1,
        "nodes_by_type": {"note": 2, "tag": 1},
        "edges_by_type": {"links_to": 2, "tagged_with": 1},
        "broken_by_kind": {"unresolved": 1},
    }
    assert (counts.node_count, counts.edge_count, counts.broken_count) == (3, 3, 1)


def test_a_name_that_is_not_utf8_is_written_as_json_can_spell_it(tmp_path):
    build(tmp_path, {"a.md": "[[caf\udce9]]", "caf\udce9.md": ""})
    assert list(edges_of(tmp_path)) == [("note:a.md", "note:caf\udce9.md", "links_to")]


# Diagnostics --------------------------------------------------------------------------------

SMALL = {
    "hub.md": "[[a]] [[a]] ![[a]]",
    "a.md": "[[hub]] #t",
    "b.md": "[[hub]] [[gone]] #t",
    "lone.md": "[[lone]] #t Soda Kiln",
    "Soda Kiln.md": "![[x.png]]",
}


def test_orphans_have_no_written_link_from_or_to_another_note(tmp_path):
    build(tmp_path, SMALL, files=("x.png",))
    assert graph_diagnostics.orphans(tmp_path) == [
        {"node_id": "note:Soda Kiln.md", "label": "Soda Kiln", "file": "Soda Kiln.md"},
        {"node_id": "note:lone.md", "label": "lone", "file": "lone.md"},
    ]


def test_centrality_counts_neighbours_and_not_how_often_they_are_linked(tmp_path):
    build(tmp_path, SMALL, files=("x.png",))
    rows = graph_diagnostics.centrality(tmp_path, limit=3)
    assert [(r["file"], r["degree"], r["in_degree"], r["out_degree"]) for r in rows] == [
        ("hub.md", 3, 2, 1),
        ("a.md", 2, 1, 1),
        ("b.md", 1, 0, 1),
    ]
    assert "pagerank" not in rows[0]


def test_pagerank_is_what_networkx_says(tmp_path):
    pytest.importorskip("scipy", reason="networkx.pagerank needs it")
    import networkx as nx

    build(tmp_path, SMALL, files=("x.png",))
    graph = nx.DiGraph([("hub.md", "a.md"), ("a.md", "hub.md"), ("b.md", "hub.md")])
    graph.add_nodes_from(["lone.md", "Soda Kiln.md"])
    expected = nx.pagerank(graph, alpha=0.85, tol=1e-10, max_iter=1000)
    rows = graph_diagnostics.centrality(tmp_path, pagerank=True)
    assert {row["file"]: row["pagerank"] for row in rows} == pytest.approx(expected, abs=1e-6)
    assert [row["file"] for row in rows] == sorted(
        expected, key=lambda file: (-round(expected[file], 6), f"note:{file}")
    )


def test_the_status_names_counts_orphans_and_hubs(tmp_path):
    build(tmp_path, SMALL, files=("x.png",))
    status = graph_diagnostics.status(tmp_path)
    assert status["broken_by_kind"] == {"unresolved": 1}
    assert status["edges_by_type"] == {
        "embeds": 2,
        "links_to": 3,
        "mentions": 1,
        "tagged_with": 3,
    }
    assert status["orphan_count"] == 2
    assert [hub["file"] for hub in status["hubs"]] == ["hub.md", "a.md", "b.md"]
    assert graph_diagnostics.broken(tmp_path)[0]["target_raw"] == "gone"
    json.dumps(status, allow_nan=False)


def test_a_missing_or_damaged_graph_is_an_error_that_names_the_command(tmp_path):
    with pytest.raises(CortexError, match="run: cortex graph build"):
        graph_diagnostics.status(tmp_path)
    with pytest.raises(CortexError, match="run: cortex graph build"):
        graph_diagnostics.broken(tmp_path)
    build(tmp_path, SMALL)
    edges = tmp_path / "graph_edges.jsonl"
    edges.write_bytes(edges.read_bytes()[:-9])
    with pytest.raises(Damaged, match=r"graph_edges\.jsonl is damaged; run: cortex graph build"):
        graph_diagnostics.orphans(tmp_path)
