"""The weekly review: what it finds, and that it never writes."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import CortexError
from cortex.ops.weekly import as_markdown

NOW = dt.datetime(2026, 3, 1, 8, 0, tzinfo=dt.UTC)
VERIFIED = "last_verified: 2026-02-20"
NOTES = {
    "hub.md": f"---\n{VERIFIED}\n---\n# Hub\n[[one]] [[two]] [[three]] [[nowhere]]\n",
    "one.md": f"---\n{VERIFIED}\ncontradicts: [[two]]\n---\nSaid once.\n",
    "two.md": f"---\n{VERIFIED}\n---\nSaid twice.\n",
    "three.md": f"---\n{VERIFIED}\n---\nSaid twice.\n",
    "alone.md": "---\nimportance: 5\nlast_verified: 2025-01-01\n---\nNobody links here.\n",
    "minor.md": "---\nimportance: 2\nlast_verified: 2025-01-01\n---\n[[hub]]\n",
    "x/One.md": f"---\ntitle: ONE\n{VERIFIED}\n---\n[[hub]]\n",
    "x/gone.md": f"---\ntitle: Alone\nstatus: archived\n{VERIFIED}\n---\n[[hub]] of old\n",
}

Maker = Callable[..., Cortex]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in [folder, *folder.rglob("*")]
    }


def test_it_finds_what_wants_a_hand_and_writes_nothing(cortex_with: Maker, tmp_path: Path) -> None:
    desk = Desk(cortex_with(NOTES, today="2026-03-01"), now=NOW)
    before = files(tmp_path)
    report = desk.weekly()
    assert files(tmp_path) == before
    assert report.graph_stats["broken_count"] == 1
    groups = {(group["kind"], *group["nodes"]) for group in report.duplicate_groups}
    # `alone` and the archived note of that title are no pair.
    assert groups == {
        ("title", "note:one.md", "note:x/One.md"),
        ("content_hash", "note:minor.md", "note:x/One.md"),
        ("content_hash", "note:three.md", "note:two.md"),
    }
    assert [row["file"] for row in report.stale_high_importance] == ["alone.md"]
    assert [row["target_raw"] for row in report.broken_references] == ["nowhere"]
    assert [row["file"] for row in report.orphan_nodes] == ["alone.md"]
    assert [cluster["nodes"] for cluster in report.contradiction_clusters] == [
        ["note:one.md", "note:two.md"]
    ]
    (hub,) = report.consolidation_proposals
    assert (hub["parent"], hub["degree"]) == ("note:hub.md", 3 + 3)
    assert hub["note_neighbor_count"] == 6
    assert (
        "## Consolidation Proposals\n\n"
        "Notes with 3 links or more (cron.weekly_review.consolidation_min_degree). Each might be "
        "merged with some of what stands beside it, or become a map of that.\n\n"
        "- `hub.md`: 6 links; beside it `minor.md`, "
    ) in as_markdown(report)


def test_it_says_when_it_is_about_notes_as_they_were(cortex_with: Maker, tmp_path: Path) -> None:
    cortex = cortex_with(NOTES)
    desk = Desk(cortex, now=NOW)
    assert desk.weekly().warnings == []
    (tmp_path / "vault/hub.md").write_text("Now without links.\n")
    (tmp_path / "vault/more.md").write_text("x\n")
    behind = (
        "2 notes changed since the index was built (1 added, 1 changed); "
        "run: cortex lifecycle maintenance"
    )
    report = Desk(Cortex.open(cortex.config), now=NOW).weekly()
    assert report.warnings == [behind]
    assert as_markdown(report).startswith(f"# Weekly review (report)\n\n> {behind}\n\n## Summary")
    cortex.index()
    assert desk.weekly().warnings == ["the graph lags behind the index; run: cortex graph build"]


def test_its_bounds_are_those_of_the_config_or_of_the_call(cortex_with: Maker) -> None:
    settings = "cron: {weekly_review: {stale_min_importance: 1, consolidation_min_degree: 7}}"
    desk = Desk(cortex_with(NOTES, settings, today="2026-03-01"), now=NOW)
    report = desk.weekly()
    assert [row["file"] for row in report.stale_high_importance] == ["alone.md", "minor.md"]
    assert report.consolidation_proposals == []
    report = desk.weekly(stale_days=1000, consolidation_min_degree=2)
    assert report.stale_high_importance == []
    parents = [row["parent"] for row in report.consolidation_proposals]
    assert parents == ["note:hub.md", "note:one.md", "note:two.md"]


def test_a_dry_run_differs_in_its_label_alone(cortex_with: Maker) -> None:
    desk = Desk(cortex_with(NOTES, today="2026-03-01"), now=NOW)
    report, dry = desk.weekly(), desk.weekly(dry_run=True)
    report.duration_seconds = dry.duration_seconds = 0.0
    told, told_dry = as_markdown(report), as_markdown(dry)
    assert told.startswith("# Weekly review (report)\n")
    assert told_dry == told.replace("(report)", "(dry run)")


def test_its_sections_stand_in_order_also_when_there_is_nothing(cortex_with: Maker) -> None:
    told = as_markdown(Desk(cortex_with({}), now=NOW).weekly())
    assert [line[3:] for line in told.splitlines() if line.startswith("## ")] == [
        "Summary",
        "Graph Stats",
        "Duplicates",
        "Stale High-Importance Notes",
        "Broken References",
        "Consolidation Proposals",
        "Orphan Nodes",
        "Contradictions",
        "Runtime",
    ]
    assert told.count("- none") == 6


def test_a_name_is_no_markdown_in_it(cortex_with: Maker) -> None:
    name = "# `x` [y](z) <b>"
    report = Desk(cortex_with({f"{name}.md": "x\n"}), now=NOW).weekly()
    assert f"\n- ``{name}.md``\n" in as_markdown(report)


def test_without_a_graph_it_says_what_to_run(
    cortex_with: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cortex = cortex_with(NOTES, build=False)
    cortex.index()
    with pytest.raises(CortexError, match="run: cortex graph build"):
        Desk(cortex, now=NOW).weekly()
    config = ["--config", str(tmp_path / "state/config.yaml")]
    assert main(["lifecycle", "weekly", *config]) == 1
    assert main(["lifecycle", "weekly", "--stale-days", "0", *config]) == 2
    capsys.readouterr()


def test_the_document_has_every_list_also_when_empty(
    cortex_with: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cortex_with({})
    assert main(["lifecycle", "weekly", "--json", "--config", f"{tmp_path}/state/config.yaml"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    lists = {name for name, value in told.items() if value == []}
    assert lists == {
        "duplicate_groups",
        "stale_high_importance",
        "broken_references",
        "consolidation_proposals",
        "orphan_nodes",
        "contradiction_clusters",
        "warnings",
    }
