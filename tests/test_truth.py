"""Time and truth: what no longer holds never stands above what replaced it, and is labelled."""

from __future__ import annotations

import datetime as dt
import json
import math

import pytest

from conftest import CortexMaker
from cortex import Cortex, SearchResult, UsageError
from cortex.cli import main
from cortex.plugin import Tools
from cortex.runtime import Runtime
from cortex.search.explain import why


def files(result: SearchResult) -> list[str]:
    return [hit.chunk.note for hit in result.hits]


def labels(result: SearchResult) -> dict[str, tuple[str, ...]]:
    return {hit.chunk.note: hit.labels for hit in result.hits}


OLD = "Boiler boiler boiler setting: the boiler setting is sixty degrees."
NEW = "Heating in the house: fifty-five is enough."


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("superseded_by: '[[New plan]]'", ""),
        ("superseded_by: [[New plan]]", ""),
        ("superseded_by: New plan", ""),
        ("superseded-by: plans/New plan.md", ""),
        ("Replaced By: '[[New plan|the new one]]'", ""),
        ("status: superseded by [[New plan]]", ""),
        ("status: archived", "supersedes: ['[[old]]']"),
        ("", "supersedes: ['[[old]]']"),
        ("", "replaces: old"),
        ("", "replaces: '[[old]]'"),
        ("title: Boiler 2024", "supersedes: Boiler 2024"),
        ("id: adr-0007", "supersedes: ADR-0007"),
        ("aliases: [B7]", "supersedes: '[[B7]]'"),
        ("valid_until: 2025-06-30", "supersedes: '[[old]]'"),
    ],
)
def test_what_replaced_a_note_stands_right_above_it(
    cortex_with: CortexMaker, old: str, new: str
) -> None:
    cortex = cortex_with(
        {
            "old.md": f"---\n{old}\n---\n{OLD}",
            "plans/New plan.md": f"---\n{new}\n---\n{NEW}",
            "other.md": "The boiler setting is written on the door.",
            **{f"n{i}.md": f"Another thing, number {i}." for i in range(9)},
        }
    )
    for query in ("boiler setting", "boiler setting sixty degrees", "old"):
        result = cortex.search(query)
        found = files(result)
        assert found.index("plans/New plan.md") < found.index("old.md")
        assert "superseded" in labels(result)["old.md"]
        [hit] = [hit for hit in result.hits if hit.chunk.note == "old.md"]
        assert hit.replaced_by == ("plans/New plan.md",)
        assert labels(result)["plans/New plan.md"] == ()
        assert files(cortex.search(query, boosts=False)).index("plans/New plan.md") < files(
            cortex.search(query, boosts=False)
        ).index("old.md")


@pytest.mark.parametrize("rank", ["calibrated", "ordinal"])
def test_a_replacement_that_matches_nothing_is_brought_in_with_a_score_from_its_trace(
    cortex_with: CortexMaker, rank: str
) -> None:
    cortex = cortex_with(
        {
            "old.md": f"---\nsuperseded_by: '[[new]]'\n---\n{OLD}",
            "new.md": NEW,
            **{f"n{i}.md": f"Another thing, number {i}." for i in range(40)},
        },
        f"search: {{rank: {rank}}}",
    )
    result = cortex.search("boiler setting", channels=["bm25"], top_k=5)
    assert files(result) == ["new.md", "old.md"]
    new, old = result.hits
    assert new.trace.notes["replaces"] == "old.md" and new.evidence == old.evidence
    parts = [c.weight / (60 + c.effective_rank) for c in new.trace.channels.values()]
    assert new.trace.fused == pytest.approx(sum(parts))
    assert new.score == pytest.approx(sum(parts) * math.prod(new.trace.factors.values()))
    assert new.score == pytest.approx(old.score)
    assert why(new.trace) == "replaces old.md"


def test_chains_are_followed_and_circles_say_nothing(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(
        {
            "a.md": f"---\nsuperseded_by: '[[b]]'\n---\n{OLD}",
            "b.md": f"---\nsuperseded_by: '[[c]]'\n---\n{OLD} Or a little less.",
            "c.md": NEW,
            "x.md": f"---\nsupersedes: '[[y]]'\n---\n{OLD} In the cellar.",
            "y.md": f"---\nsupersedes: '[[x]]'\n---\n{OLD} In the attic.",
            "self.md": f"---\nsupersedes: '[[self]]'\n---\n{OLD} In the hall.",
        }
    )
    result = cortex.search("boiler setting")
    found = files(result)
    assert found.index("c.md") < found.index("b.md") < found.index("a.md")
    assert labels(result)["a.md"] == labels(result)["b.md"] == ("superseded",)
    assert labels(result)["x.md"] == labels(result)["y.md"] == labels(result)["self.md"] == ()


def test_a_note_that_two_replaced_stands_below_both_the_newer_first(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(
        {
            "a.md": OLD,
            "one.md": f"---\ncreated: 2025-01-01\nsupersedes: a\n---\n{NEW}",
            "two.md": "---\ncreated: 2025-05-05\nsupersedes: a\n---\nThe cellar stays cold.",
        }
    )
    assert files(cortex.search("boiler setting", channels=["bm25"])) == ["two.md", "one.md", "a.md"]
    assert cortex.search("boiler").hits[-1].replaced_by == ("one.md", "two.md")


def test_a_note_replaced_by_one_that_is_not_there_is_labelled_all_the_same(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with({"a.md": f"---\nsuperseded_by: '[[Lost]]'\n---\n{OLD}"})
    [hit] = cortex.search("boiler setting").hits
    assert (hit.labels, hit.replaced_by) == (("superseded",), ())


def test_what_is_to_be_replaced_holds_until_the_newer_one_does(cortex_with: CortexMaker) -> None:
    world = {
        "a.md": f"---\nsuperseded_by: '[[b]]'\n---\n{OLD}",
        "b.md": f"---\nvalid_from: 2026-02-01\n---\n{NEW} The boiler setting will be lower.",
    }
    before = cortex_with(world, today="2026-01-31").search("boiler setting")
    assert files(before) == ["a.md", "b.md"]
    assert labels(before) == {"a.md": (), "b.md": ("not-yet-valid",)}
    after = cortex_with(world, today="2026-02-01").search("boiler setting")
    assert files(after) == ["b.md", "a.md"]
    assert labels(after) == {"a.md": ("superseded",), "b.md": ()}


def test_every_chunk_of_a_replaced_note_stands_below_the_best_of_the_other(
    cortex_with: CortexMaker,
) -> None:
    sections = "".join(f"# Part {i}\n\nboiler setting {i}\n\n" for i in range(5))
    cortex = cortex_with({"a.md": sections, "b.md": f"---\nsupersedes: '[[a]]'\n---\n{NEW}"})
    assert files(cortex.search("boiler setting")) == ["b.md", *["a.md"] * 4]


def test_a_replacement_that_the_filters_or_settings_leave_out_stays_out(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(
        {
            "a/old.md": f"---\nstatus: superseded\n---\n{OLD}",
            "b/new.md": f"---\nsupersedes: '[[old]]'\n---\n{NEW}",
        }
    )
    result = cortex.search("boiler", filters={"folders": "a"})
    assert files(result) == ["a/old.md"]
    assert result.hits[0].replaced_by == ("b/new.md",)
    asked = cortex.search("boiler", filters={"status": "superseded"})
    assert files(asked) == ["a/old.md"] and "status" not in asked.hits[0].trace.factors
    text = cortex.config.path.read_text("utf-8").replace("'}", "', exclude_folders: [b]}", 1)
    cortex.config.path.write_text(text, "utf-8")
    without = Cortex.open(cortex.config.path, env={}).search("boiler")
    assert files(without) == ["a/old.md"] and without.hits[0].replaced_by == ()


def test_a_draft_replaces_nothing_before_the_older_note_says_so(cortex_with: CortexMaker) -> None:
    world = {
        "old.md": f"---\nstatus: accepted\n---\n{OLD}",
        "new.md": f"---\nstatus: proposed\nsupersedes: '[[old]]'\n---\n{NEW}",
    }
    assert files(cortex_with(world).search("boiler setting"))[0] == "old.md"
    world["old.md"] = f"---\nstatus: superseded\nsuperseded_by: '[[new]]'\n---\n{OLD}"
    assert files(cortex_with(world).search("boiler setting"))[0] == "new.md"


@pytest.mark.parametrize(
    ("frontmatter", "expected"),
    [
        ("valid_until: 2025-12-31", ("expired",)),
        ("valid_until: 2026-01-01", ()),  # the last day counts
        ("valid_until: 2026", ()),  # to its end
        ("valid_until: 2025-12", ("expired",)),
        ("expires: 2025-01-01T10:00:00Z", ("expired",)),
        ("valid_from: 2026-01-02", ("not-yet-valid",)),
        ("valid_from: 2026-01-01", ()),
        ("status: Archived", ("archived",)),
        ("status: [draft, stale]", ("stale",)),
        ("status: obsolete", ("deprecated",)),
        ("archived: true", ("archived",)),
        ("archived: false", ()),
        ("archived: 2025-02-02", ("archived",)),
        ("status: archived\nvalid_until: 2020-01-01", ("archived", "expired")),
        ("status: archived-ideas", ()),
        ("status: active", ()),
    ],
)
def test_notes_that_do_not_hold_are_labelled_and_stand_behind_their_equals(
    cortex_with: CortexMaker, frontmatter: str, expected: tuple[str, ...]
) -> None:
    cortex = cortex_with(
        {"a.md": f"---\n{frontmatter}\n---\nhoney price", "b.md": "---\nx: y\n---\nhoney price"},
        today="2026-01-01",
    )
    result = cortex.search("honey price", channels=["bm25"])
    assert labels(result) == {"a.md": expected, "b.md": ()}
    [hit] = [hit for hit in result.hits if hit.chunk.note == "a.md"]
    assert hit.trace.factors.get("status", 1.0) == (0.85 if expected else 1.0)
    assert not expected or files(result) == ["b.md", "a.md"]


def test_the_factor_of_what_does_not_hold_is_a_setting(cortex_with: CortexMaker) -> None:
    world = {"a.md": "---\nstatus: stale\n---\nhoney"}
    hit = cortex_with(world, "search: {inactive_factor: 0.5}").search("honey").hits[0]
    assert hit.trace.factors["status"] == 0.5
    hit = cortex_with(world, "search: {inactive_factor: 1}").search("honey").hits[0]
    assert "status" not in hit.trace.factors and hit.labels == ("stale",)


PRICES = {
    "price 2023.md": "---\ncreated: 2023-01-01\nvalid_until: 2023-12-31\n---\nhoney price: five",
    "price 2024.md": "---\ncreated: 2023-12-20\nvalid_from: 2024-01-01\n---\nhoney price: six",
    "price 2025.md": (
        "---\ncreated: 2025-03-01\nsupersedes: '[[price 2024]]'\n---\nhoney price: seven"
    ),
    "undated.md": "honey price: ask Nell",
    "2025-05-05 market.md": "honey price: sold ten at the market",
}


@pytest.mark.parametrize(
    ("day", "expected"),
    [
        ("2022-06-01", {"undated.md"}),
        ("2023-06-01", {"undated.md", "price 2023.md"}),
        ("2023-12-31", {"undated.md", "price 2023.md"}),
        ("2024-01-01", {"undated.md", "price 2024.md"}),
        ("2025-03-01", {"undated.md", "price 2024.md", "price 2025.md"}),
        (
            "2025-05-05",
            {"undated.md", "price 2024.md", "price 2025.md", "2025-05-05 market.md"},
        ),
    ],
)
def test_a_past_day_is_asked_of(cortex_with: CortexMaker, day: str, expected: set[str]) -> None:
    cortex = cortex_with(PRICES)
    result = cortex.search("honey price", as_of=day)
    assert set(files(result)) == expected
    is_replaced = day >= "2025-03-01"
    if "price 2024.md" in expected:
        assert labels(result)["price 2024.md"] == (("superseded",) if is_replaced else ())
    assert files(cortex.search("honey price", as_of=dt.date.fromisoformat(day))) == files(result)


def test_what_a_status_says_of_a_past_day_depends_on_since_when(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(
        {
            "a.md": "---\ncreated: 2024-01-01\narchived: 2025-06-01\n---\nhive",
            "b.md": "---\ncreated: 2024-01-01\nstatus: archived\nupdated: 2024-02-01\n---\nhive",
            "c.md": "---\ncreated: 2024-01-01\nstatus: superseded\nsuperseded_by: d\n---\nhive",
            "d.md": "---\ncreated: 2025-06-01\n---\nhive",
        }
    )
    before = labels(cortex.search("hive", as_of="2025-01-01"))
    assert before == {"a.md": (), "b.md": ("archived",), "c.md": ()}
    after = labels(cortex.search("hive", as_of="2025-07-01"))
    assert after == {
        "a.md": ("archived",),
        "b.md": ("archived",),
        "c.md": ("superseded",),
        "d.md": (),
    }


def test_recency_counts_from_the_day_that_is_asked_of(cortex_with: CortexMaker) -> None:
    cortex = cortex_with(
        {
            "a.md": "---\ncreated: 2024-01-01\n---\nhive",
            "b.md": "---\ncreated: 2023-01-01\nupdated: 2025-01-01\n---\nhive",
        }
    )
    hits = {hit.chunk.note: hit for hit in cortex.search("hive", as_of="2024-01-01").hits}
    assert hits["a.md"].trace.factors["recency"] == 1 + 0.20
    # What was written afterwards was not there yet; it began 365 days before.
    assert hits["b.md"].trace.factors["recency"] == pytest.approx(1 + 0.20 * 0.5 ** (365 / 90))


def test_folders_and_types_are_exempt_from_recency(cortex_with: CortexMaker) -> None:
    head = "---\nupdated: 2026-01-01\ntype: {}\n---\nhive"
    world = {
        "People/Ada.md": head.format("person"),
        "Log/day.md": head.format("note"),
        "plain.md": head.format("note"),
    }
    settings = "search: {recency_exempt_folders: [Log], recency_exempt_types: [Person]}"
    cortex = cortex_with(world, settings, today="2026-01-01")
    hits = {hit.chunk.note: hit.trace.factors for hit in cortex.search("hive").hits}
    assert "recency" not in hits["People/Ada.md"] and "recency" not in hits["Log/day.md"]
    assert hits["plain.md"]["recency"] == 1.20


def test_a_replacement_counts_without_a_graph_and_after_each_index(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with({"old.md": OLD, "new.md": NEW}, build=False)
    cortex.index()
    assert files(cortex.search("boiler setting"))[0] == "old.md"
    vault = cortex.config.vault.path
    assert vault is not None
    (vault / "new.md").write_text(f"---\nsupersedes: '[[old]]'\n---\n{NEW}", "utf-8")
    cortex.index()
    assert files(cortex.search("boiler setting")) == ["new.md", "old.md"]
    (vault / "other.md").write_text("Nothing of it.", "utf-8")
    cortex.index()  # what says so was not read again
    assert files(cortex.search("boiler setting"))[:2] == ["new.md", "old.md"]
    (vault / "new.md").unlink()
    cortex.index()
    assert labels(cortex.search("boiler setting"))["old.md"] == ()


@pytest.mark.parametrize("day", ["", "soon", "2025-13-01", "31.02.2025", 3.5, True])
def test_a_day_that_is_none_is_told(cortex_with: CortexMaker, day: object) -> None:
    cortex = cortex_with({"a.md": "hive"})
    with pytest.raises(UsageError, match=r"as_of: give a day as YYYY-MM-DD, not "):
        cortex.search("hive", as_of=day)  # type: ignore[arg-type]


def test_commands_tools_and_contexts_say_what_no_longer_holds(
    cortex_with: CortexMaker,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cortex = cortex_with(
        {
            "old.md": f"---\ncreated: 2024-01-01\nsuperseded_by: '[[new]]'\n---\n{OLD}",
            "new.md": "---\ncreated: 2025-01-01\n---\nThe boiler setting is fifty-five now.",
        }
    )
    monkeypatch.setenv("CORTEX_CONFIG", str(cortex.config.path))
    assert main(["search", "boiler setting"]) == 0
    told = capsys.readouterr().out
    assert "[superseded by new.md]" in told and told.index("new.md:") < told.index("old.md:")
    assert main(["search", "boiler setting", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["results"]
    assert (first["labels"], first["replaced_by"]) == ([], [])
    assert (second["labels"], second["replaced_by"]) == (["superseded"], ["new.md"])
    assert main(["search", "boiler setting", "--as-of", "2024-06-01"]) == 0
    assert "new.md" not in capsys.readouterr().out
    assert main(["context", "boiler setting", "--as-of", "2024-06-01"]) == 0
    told = capsys.readouterr().out
    assert "<old.md>" in told and "new.md" not in told
    assert main(["search", "boiler", "--as-of", "sometime"]) == 2
    assert "as_of: give a day as YYYY-MM-DD, not 'sometime'" in capsys.readouterr().err
    context = cortex.build_context("boiler")
    assert "(<old.md>) line 5 (superseded by <new.md>)" in context.text
    assert context.citations[1].labels == ("superseded",)
    assert context.citations[1].replaced_by == ("new.md",)

    tools = Tools(Runtime())
    answer = json.loads(tools.vault_search({"query": "boiler setting"}))
    assert "labels" not in answer["results"][0]
    assert answer["results"][1]["labels"] == ["superseded"]
    assert answer["results"][1]["replaced_by"] == ["new.md"]
    answer = json.loads(tools.vault_search({"query": "boiler", "as_of": "2024-06-01"}))
    assert [entry["note"] for entry in answer["results"]] == ["old.md"]
    answer = json.loads(tools.vault_build_context({"query": "boiler", "as_of": "2024-06-01"}))
    assert [cited["note"] for cited in answer["citations"]] == ["old.md"]
    answer = json.loads(tools.vault_build_context({"query": "boiler setting"}))
    assert answer["citations"][1]["labels"] == ["superseded"]
