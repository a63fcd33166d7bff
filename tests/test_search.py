"""cortex search: what ranks where, why, and what is said when a part cannot run."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import CortexError, Hit, UsageError
from cortex.search.fusion import ChannelScores, fuse, reciprocal_rank_fusion


def notes(hits: tuple[Hit, ...]) -> list[str]:
    return list(dict.fromkeys(hit.chunk.note for hit in hits))


def test_rank_fusion_adds_weight_over_k_plus_rank() -> None:
    fused = dict(reciprocal_rank_fusion({"a": ["m"], "b": ["n", "o", "m"]}, {"a": 1, "b": 2}, 60))
    assert fused == {"m": 1 / 61 + 2 / 63, "n": 2 / 61, "o": 2 / 62}
    assert dict(reciprocal_rank_fusion({"a": ["m", "n", "m"]}, {}, 60)) == {
        "m": 1 / 61,
        "n": 1 / 62,
    }


def test_a_calibrated_rank_gives_a_share_of_what_the_first_gets() -> None:
    channels = [
        ChannelScores("bm25", 0.5, {1: 8.0, 2: 4.0, 3: 2.0}, {1: 1.0, 2: 0.5, 3: 0.25}),
        ChannelScores("vector", 0.3, {2: 0.9}, {2: 1.0}),
    ]
    fused = fuse(channels, 60, "calibrated")
    assert fused[1][0] == pytest.approx(0.5 / 60)
    assert fused[2][0] == pytest.approx(0.5 * 0.5 / 60 + 0.3 / 60)
    assert fused[2][1]["bm25"].effective_rank == pytest.approx(60 * (1 / 0.5 - 1))
    ordinal = fuse(channels, 60, "ordinal")
    assert ordinal[2][0] == pytest.approx(0.5 / 62 + 0.3 / 61)


@pytest.mark.parametrize("rank", ["calibrated", "ordinal"])
def test_a_score_can_be_recomputed_from_its_trace(cortex_with: CortexMaker, rank: str) -> None:
    cortex = cortex_with(
        {
            "a.md": "---\nimportance: 5\nupdated: 2025-12-20\n---\n# B\nhoney [[b]]\n\n# C\nhoney",
            "b.md": "# Wasps\nno sweetness here",
            "c.md": "honey and wasps",
            **{f"n{i}.md": f"filler {i} about hives" for i in range(40)},
        },
        f"search: {{rank: {rank}}}",
    )
    result = cortex.search("honey wasps")
    assert {name for hit in result.hits for name in hit.trace.channels} == {
        "bm25",
        "vector",
        "graph",
    }
    for hit in result.hits:
        parts = [
            channel.weight / (60 + channel.effective_rank)
            for channel in hit.trace.channels.values()
        ]
        assert hit.trace.fused == pytest.approx(sum(parts))
        assert hit.score == pytest.approx(sum(parts) * math.prod(hit.trace.factors.values()))
        for channel in hit.trace.channels.values():
            if rank == "calibrated":
                assert channel.calibrated is not None
                assert channel.effective_rank == pytest.approx(60 * (1 / channel.calibrated - 1))
            else:
                assert channel.effective_rank == channel.rank
    assert [hit.score for hit in result.hits] == sorted(
        (h.score for h in result.hits), reverse=True
    )


def test_importance_lifts_a_note_and_its_absence_says_nothing(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(
        {
            "plain.md": "# Bees\nHoney.",
            "vital.md": "---\nimportance: 5\n---\n# Bees\nHoney.",
            "label.md": "---\nimportance: high\n---\n# Bees\nHoney.",
        }
    )
    hits = {hit.chunk.note: hit for hit in cortex.search("honey").hits}
    assert hits["vital.md"].trace.factors["importance"] == 1 + (5 - 1) / 4 * 0.30
    assert hits["label.md"].trace.factors["importance"] == 1 + (5 - 1) / 4 * 0.30
    assert hits["vital.md"].trace.factors["cap"] == pytest.approx(1.20 / 1.30)
    assert hits["plain.md"].trace.factors == {}  # unknown, not medium


def test_recency_halves_with_its_half_life_and_the_future_is_today(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(
        {
            "today.md": "---\nupdated: 2026-01-01\n---\nhoney",
            "old.md": "---\nupdated: 2025-10-03\n---\nhoney",  # 90 days before
            "future.md": "---\nupdated: 2030-01-01\n---\nhoney",
            "none.md": "honey",
        },
        today="2026-01-01",
    )
    hits = {hit.chunk.note: hit.trace.factors for hit in cortex.search("honey").hits}
    assert hits["today.md"]["recency"] == 1 + 0.20
    assert hits["old.md"]["recency"] == pytest.approx(1 + 0.20 / 2)
    assert hits["future.md"]["recency"] == 1 + 0.20
    assert "recency" not in hits["none.md"]
    plain = cortex.search("honey", boosts=False).hits
    assert all(hit.trace.factors == {} for hit in plain)


def test_a_superseded_note_stands_behind_its_equal(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(
        {
            "a.md": "---\nstatus: superseded\n---\nhoney price",
            "b.md": "---\nstatus: active\n---\nhoney price",
        }
    )
    assert notes(cortex.search("honey price", channels=["bm25"]).hits) == ["b.md", "a.md"]
    asked = cortex.search("honey price", filters={"status": "superseded"})
    assert notes(asked.hits) == ["a.md"] and "status" not in asked.hits[0].trace.factors


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("lighthouse", "t.md"),  # title
        ("lamp house", "t.md"),  # alias
        ("beacons", "t.md"),  # tag
        ("coastal", "coastal/p.md"),  # path
        ("foghorn", "h.md"),  # heading
    ],
)
def test_every_field_of_a_note_is_searched(
    cortex_with: CortexMaker, query: str, expected: str
) -> None:
    cortex = cortex_with(
        {
            "t.md": "---\ntitle: Lighthouse\naliases: [Lamp House]\ntags: [beacons]\n---\n",
            "coastal/p.md": "text",
            "h.md": "# Foghorn\n\nloud",
            "x.md": "nothing of it",
        }
    )
    assert cortex.search(query, channels=["bm25"]).hits[0].chunk.note == expected


def test_a_plain_question_needs_not_all_its_words(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"a.md": "The gauge is restarted with the red switch.", "b.md": "Bread."})
    hits = cortex.search("how would I ever restart that silly gauge again?").hits
    assert hits[0].chunk.note == "a.md"


def test_a_note_that_good_hits_link_to_rises_and_links_never_flood(
    cortex_with: CortexMaker,
) -> None:
    world = {
        "a.md": "Flood boards stuck? Ask [[Wilf]].",
        "b.md": "Flood boards and the bell: [[Wilf]] has the key.",
        "Wilf.md": "Phone 12, mornings only.",
        "menu.md": "flood " + " ".join(f"[[n{i}]]" for i in range(60)),
        **{f"n{i}.md": f"other thing {i}" for i in range(60)},
    }
    cortex = cortex_with(world)
    result = cortex.search("flood boards", top_k=8)
    found = notes(result.hits)
    assert "Wilf.md" in found[:4]
    [wilf] = [hit for hit in result.hits if hit.chunk.note == "Wilf.md"]
    assert "graph" in wilf.trace.channels and "bm25" not in wilf.trace.channels
    assert wilf.trace.notes["linked_from"] in ("a.md", "b.md")
    assert set(found[:2]) == {"a.md", "b.md"}
    without = cortex.search("flood boards", top_k=8, channels=["bm25"])
    assert "Wilf.md" not in notes(without.hits)


def test_a_note_has_its_say_four_times_before_others_have_theirs(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(
        {
            "long.md": "".join(f"# S{i}\n\nbarley barley {i}\n\n" for i in range(30)),
            "o.md": "barley, once",
        },
    )
    hits = cortex.search("barley", top_k=5).hits
    assert [hit.chunk.note for hit in hits] == ["long.md"] * 4 + ["o.md"]
    assert len({hit.chunk.id for hit in hits}) == 5
    repeats = [hit.trace.factors["repeat"] for hit in hits if "repeat" in hit.trace.factors]
    assert repeats == [pytest.approx(1 / (1 + 0.05 * n)) for n in (1, 2, 3)]


FILTERED = {
    "Art/one.md": "---\ntype: fact\ntags: [a/b]\nimportance: 4\nrating: 7\ndone: false\n---\nglaze [[T]]",  # noqa: E501
    "Art/sub/two.md": "---\ntype: Decision\ntags: [a]\nimportance: low\nrating: '7'\n---\nglaze",
    "Artist/three.md": "---\nstatus: archived\nauthor: '[[Nell]]'\n---\nglaze #b",
    "T.md": "glaze",
}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"folder": "Art"}, {"Art/one.md", "Art/sub/two.md"}),
        ({"folders": ["art/sub", "Artist"]}, {"Art/sub/two.md", "Artist/three.md"}),
        ({"type": "decision"}, {"Art/sub/two.md"}),
        ({"type": ["fact", "decision"]}, {"Art/one.md", "Art/sub/two.md"}),
        ({"tags_any": "a"}, {"Art/one.md", "Art/sub/two.md"}),
        ({"tags": ["#a/b"]}, {"Art/one.md"}),
        ({"tags_all": ["a", "a/b"]}, {"Art/one.md"}),
        ({"tags": "b"}, {"Artist/three.md"}),
        ({"tags": []}, set(FILTERED)),
        ({"wikilinks_any": "t"}, {"Art/one.md"}),
        ({"importance_min": 3}, {"Art/one.md"}),  # one that says nothing never matches
        ({"importance_max": 3}, {"Art/sub/two.md"}),
        ({"rating": 7}, {"Art/one.md", "Art/sub/two.md"}),
        ({"rating": ["7.0", 10**400, "x"]}, {"Art/one.md"}),
        ({"done": 0}, set()),
        ({"done": False}, {"Art/one.md"}),
        ({"author": "nell"}, {"Artist/three.md"}),
        ({"status": "!archived"}, {"Art/one.md", "Art/sub/two.md", "T.md"}),
        ({"type": None}, set(FILTERED)),
        ({"type": "fact", "folder": "Artist"}, set()),
    ],
)
def test_filters_choose_notes(
    cortex_with: CortexMaker, filters: dict[str, object], expected: set[str]
) -> None:
    cortex = cortex_with(FILTERED)
    assert set(notes(cortex.search("glaze", filters=filters).hits)) == expected


def test_a_filter_is_applied_before_any_cut(cortex_with: CortexMaker) -> None:
    world = {f"n{i}.md": "lamp oil lamp oil" for i in range(150)}
    world["rare.md"] = (
        "---\ntags: [rare]\n---\nlamp somewhere, oil elsewhere, and much more text around"
    )
    cortex = cortex_with(world)
    for channels in (["bm25"], ["vector"], None):
        hits = cortex.search("lamp oil", top_k=3, filters={"tags": "rare"}, channels=channels).hits
        assert notes(hits) == ["rare.md"]


def test_a_property_that_no_note_has_finds_nothing_and_says_so(cortex_with: CortexMaker) -> None:
    result = cortex_with(FILTERED).search("glaze", filters={"nosuch": "x"})
    assert result.hits == ()
    assert any("no note has the property 'nosuch'" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"modified_after": "yesterday"}, "YYYY-MM-DD"),
        ({"modified_after": "2025-02-30"}, "YYYY-MM-DD"),
        ({"importance_min": "much"}, "one number"),
        ({"importance_min": True}, "one number, not True"),
        ({"importance_min": "inf"}, "one number"),
        ({"importance_min": float("nan")}, "one number"),
        ({"importance_max": 10**400}, "one number"),
        ({"folders": ["a"] * 100, "type": ["b"] * 101}, "201 values; at most 200 are taken"),
        ({"importance_min": 4, "importance_max": 2}, "above"),
        ({"type": {"a": 1}}, "a value or a list"),
    ],
)
def test_a_malformed_filter_is_named(
    cortex_with: CortexMaker, filters: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        cortex_with({"a.md": "x"}, build=False).search("x", filters=filters)


@pytest.mark.parametrize(
    "query",
    [
        "the of and",
        "?!*",
        "日",
        "\U0001f600",
        "a" * 100_000,
        "tidal gauge " * 9_000,
        "[[x",
        "'; --",
        "NOT",
        "a\u0000b",
    ],
)
def test_any_query_is_answered(cortex_with: CortexMaker, query: str) -> None:
    result = cortex_with({"a.md": "tidal gauge", "b.md": "other"}).search(query)
    assert result.unavailable == ()


@pytest.mark.parametrize("vault", [{}, {"only.md": "stoneware"}])
def test_the_smallest_vaults_are_searched(cortex_with: CortexMaker, vault: dict[str, str]) -> None:
    result = cortex_with(vault).search("stoneware")
    assert notes(result.hits) == list(vault)
    assert result.unavailable == ()


@pytest.mark.parametrize("top_k", [0, -1, 1.5, "x", True])
def test_a_count_below_one_is_refused(cortex_with: CortexMaker, top_k: object) -> None:
    with pytest.raises(UsageError, match="top_k"):
        cortex_with({"a.md": "x"}, build=False).search("x", top_k=top_k)


def test_an_empty_query_and_a_missing_index_are_told_apart(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"a.md": "x"}, build=False)
    with pytest.raises(UsageError, match="empty"):
        cortex.search("  ")
    with pytest.raises(CortexError, match="run: cortex index"):
        cortex.search("x")


def test_a_channel_that_cannot_run_is_reported_and_the_rest_answers(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "# A\nhoney", "b.md": "# B\nbread"}, build=False)
    cortex.index()
    bare = cortex.search("honey")
    assert bare.ran == ("bm25",)
    assert {m.what: m.why.rpartition("run: ")[2] for m in bare.unavailable} == {
        "vector": "cortex embed",
        "graph": "cortex graph build",
    }
    cortex.embed()
    cortex.build_graph()
    [folder] = (tmp_path / "state/generations").glob("index-*")
    shutil.rmtree(folder / "lexical")
    (tmp_path / "state/index.json").touch()
    broken = cortex.search("honey")
    assert [missing.what for missing in broken.unavailable] == ["bm25"]
    assert "vector" in broken.ran and len(broken.hits) > 0


def test_a_deleted_note_is_not_served_before_the_next_index(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"temp.md": "tempword", "keep.md": "tempword too"})
    (tmp_path / "vault/temp.md").unlink()
    (tmp_path / "vault/keep.md").write_text("tempword changed")
    result = cortex.search("tempword")
    assert notes(result.hits) == ["keep.md"]
    assert any("no longer in the vault: temp.md" in warning for warning in result.warnings)
    assert any("changed since it was indexed: keep.md" in warning for warning in result.warnings)


def test_snippets_show_and_mark_what_matched(cortex_with: CortexMaker) -> None:
    text = "word " * 300 + "the heron sleeps standing " + "more " * 300
    cortex = cortex_with({"a.md": f"# Birds\n{text}"})
    [hit, *_] = cortex.search("sleeping herons", channels=["bm25"]).hits
    marked = [hit.snippet[start:end] for start, end in hit.matches]
    assert marked == ["heron", "sleeps"]
    assert len(hit.snippet) < 300 and "\n" not in hit.snippet


def test_min_score_is_a_share_of_the_best(cortex_with: CortexMaker) -> None:
    world = {"a.md": "anvil repair borax", "b.md": "anvil " + "other " * 50}
    everything = cortex_with(world).search("anvil repair borax")
    strict = cortex_with({}, "search: {min_score: 0.9}").search("anvil repair borax")
    assert notes(everything.hits) == ["a.md", "b.md"]
    assert notes(strict.hits) == ["a.md"]


def test_both_lexical_engines_answer_alike(cortex_with: CortexMaker) -> None:
    world = {
        f"n{i}.md": f"# Part {i}\nhoney {'bees ' * (i % 5)} hive {i % 3} text" for i in range(40)
    }
    left = cortex_with(world).search("honey bees hive 2", channels=["bm25"])
    right = cortex_with({}, "search: {lexical_engine: rank_bm25}").search(
        "honey bees hive 2", channels=["bm25"]
    )
    assert left.hits[0].chunk.id == right.hits[0].chunk.id
    for one, other in zip(left.hits, right.hits, strict=True):
        assert one.score == pytest.approx(other.score, rel=0.1)


def test_a_long_note_does_not_crowd_others_out_of_a_short_list(cortex_with: CortexMaker) -> None:
    world = {
        "Honey.md": "".join(f"# Part {i}\n\nhoney of kind {i}\n\n" for i in range(90)),
        **{f"h{i}.md": f"some honey, seen in place {i}, and much else besides" for i in range(5)},
        **{f"n{i}.md": f"another thing number {i}" for i in range(40)},
    }
    found = notes(cortex_with(world).search("honey", top_k=10).hits)
    assert len([note for note in found if note.startswith("h")]) >= 4


def test_without_a_limit_a_single_note_gives_as_many_hits_as_are_asked_for(
    cortex_with: CortexMaker,
) -> None:
    text = "".join(f"# Part {i}\n\nhoney of kind {i}\n\n" for i in range(120))
    cortex = cortex_with({"Honey.md": text}, "search: {max_chunks_per_note: 0}")
    for channels in (None, ["bm25"], ["vector"]):
        assert len(cortex.search("honey", top_k=50, channels=channels).hits) == 50


def test_a_part_of_a_compound_names_no_note(cortex_with: CortexMaker) -> None:
    world = {
        "net.md": "The net caught fish.",
        "dotnet.md": "Services in .NET run everywhere.",
        **{f"n{i}.md": f"another thing number {i}" for i in range(40)},
    }
    for rank in ("calibrated", "ordinal"):
        cortex = cortex_with(world, f"search: {{rank: {rank}}}")
        assert cortex.search(".NET", channels=["bm25", "graph"]).hits[0].chunk.note == "dotnet.md"


def test_channels_that_cannot_answer_alone_or_have_no_weight_say_so(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with({"a.md": "honey"}, "search: {vector_weight: 0}")
    with pytest.raises(UsageError, match="name one of them too"):
        cortex.search("honey", channels=["graph"])
    result = cortex.search("honey", channels=["vector"])
    assert "vector_weight is 0" in result.unavailable[0].why
    assert cortex.search("honey").unavailable == ()


def test_a_vault_that_is_gone_is_said(cortex_with: CortexMaker, tmp_path: Path) -> None:
    cortex = cortex_with({"a.md": "honey"})
    (tmp_path / "vault").rename(tmp_path / "elsewhere")
    assert any("is not there" in warning for warning in cortex.search("honey").warnings)
    assert any("set vault.path" in problem for problem in cortex.status()["problems"])


@pytest.mark.parametrize(
    "pattern",
    ["index-*/notes.first_chunk.npy", "index-*/chunks.order.npy", "graph-*/adj_dst.npy",
     "graph-*/adj_kind.npy", "vectors-*/rows.npy", "vectors-*/chunk_ptr.npy",
     "index-*/replacements.json"],
)  # fmt: skip
def test_a_flipped_byte_is_damage_and_not_a_bug(
    cortex_with: CortexMaker, tmp_path: Path, pattern: str
) -> None:
    cortex = cortex_with({"a.md": "honey [[b]]", "b.md": "bread"})
    [path] = (tmp_path / "state/generations").glob(pattern)
    data = bytearray(path.read_bytes())
    data[-3] ^= 0xFF
    path.write_bytes(bytes(data))
    cortex = cortex_with({}, build=False)
    try:
        result = cortex.search("honey")
        assert any("is damaged; run: cortex" in missing.why for missing in result.unavailable)
    except CortexError as error:
        assert "is damaged; run: cortex index --force" in str(error)


def test_broken_vectors_are_reported_and_words_answer(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "honey", "b.md": "bread"})
    [path] = (tmp_path / "state/vectors").rglob("vectors.f32")
    path.write_bytes(b"\xff" * path.stat().st_size)
    result = cortex.search("honey")
    assert "cortex embed --force" in result.unavailable[0].why
    assert result.hits[0].chunk.note == "a.md"


@pytest.mark.parametrize("name", ["C#", "v4.1.7", "2024-01-05", "pond_survey", "node.js", "home"])
@pytest.mark.parametrize("graph", [True, False])
def test_a_title_of_signs_and_parts_is_found_first_too(
    cortex_with: CortexMaker, name: str, graph: bool
) -> None:
    world = {
        f"{name}.md": "Short.",
        **{f"n{i}.md": f"about {name} and {name} and {name}, {i}" for i in range(12)},
        **{f"{name} part {i}.md": f"{name} {i}" for i in range(12)},
    }
    cortex = cortex_with(world, build=graph)
    if not graph:
        cortex.index()
    [first, *_] = cortex.search(name, channels=None if graph else ["bm25"]).hits
    assert first.chunk.note == f"{name}.md"
    assert first.trace.channels["title"].rank == 1


@pytest.mark.parametrize("query", ["Sluice gate", "sluice gates", "常青笔记", "the old mill"])
def test_a_query_that_is_a_title_or_alias_finds_its_note_first(
    cortex_with: CortexMaker, query: str
) -> None:
    title = {"常青笔记": "常青笔记", "the old mill": "Weir"}.get(query, "Sluice gate")
    world = {
        "Sluice gate.md": "Made of oak.",
        "常青笔记.md": "定义。",
        "Weir.md": "---\naliases: [Old Mill]\n---\nStone.",
        **{f"Sluice gate {i}.md": f"sluice gate sluice gate {i}" for i in range(20)},
        **{f"常青笔记之{i}.md": f"常青笔记 常青笔记 {i}" for i in range(20)},
        **{f"Old mill {i}.md": f"the old mill, an old mill {i}" for i in range(20)},
    }
    assert cortex_with(world).search(query).hits[0].chunk.note == f"{title}.md"
