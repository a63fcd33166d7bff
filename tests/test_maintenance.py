"""The night's upkeep: what it runs, what it skips, and what a failure stops."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import CortexError, Unavailable

NOW = dt.datetime(2026, 3, 1, 2, 0, tzinfo=dt.UTC)
NOTES = {"a.md": "# A\nThe tide [[b]].\n", "b.md": "# B\nThe bell.\n"}

Maker = Callable[..., Cortex]


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Bytes and time of every file below a folder, and of the folders themselves."""
    return {
        str(path): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in [folder, *folder.rglob("*")]
    }


def outcomes(report: object) -> list[tuple[str, str]]:
    return [(step.step, step.outcome) for step in report.steps]  # type: ignore[attr-defined]


def test_it_builds_all_in_order_and_again_only_what_changed(
    cortex_with: Maker, tmp_path: Path
) -> None:
    desk = Desk(cortex_with(NOTES, build=False), now=NOW)
    report = desk.maintain()
    assert outcomes(report) == [("index", "OK"), ("embed", "OK"), ("graph", "OK")]
    index, embed, graph = (step.counts for step in report.steps)
    assert (index["added"], embed["encoded"], graph["edges"]) == (2, 2, 1)
    (tmp_path / "vault/b.md").write_text("# B\nThe bell rings.\n")
    index, embed, _ = (step.counts for step in desk.maintain().steps)
    assert (index["changed"], index["unchanged"], embed["encoded"]) == (1, 1, 1)
    assert report.is_ok


def test_a_dry_run_counts_and_writes_nothing(cortex_with: Maker, tmp_path: Path) -> None:
    desk = Desk(cortex_with(NOTES, build=False), now=NOW)
    before = files(tmp_path)
    report = desk.probe_maintenance()
    assert [(step.step, step.counts) for step in report.steps] == [
        ("probe", {"new": 2, "changed": 0, "removed": 0, "unchanged": 0})
    ]
    assert report.warnings == [
        "the index is not built yet",
        "the vectors are not built yet",
        "the graph is not built yet",
    ]
    assert files(tmp_path) == before
    desk.maintain()
    (tmp_path / "vault/a.md").unlink()
    (tmp_path / "vault/b.md").write_text("# B\nLonger than it was before.\n")
    (tmp_path / "vault/c.md").write_text("x\n")
    desk.cortex.index()
    (tmp_path / "vault/d.md").write_text("x\n")
    before = files(tmp_path)
    report = desk.probe_maintenance()
    assert report.steps[0].counts == {"new": 1, "changed": 0, "removed": 0, "unchanged": 2}
    assert report.warnings == [
        "the vectors lag behind the index",
        "the graph lags behind the index",
    ]
    assert files(tmp_path) == before


def test_a_failed_step_ends_it_and_the_rest_is_skipped(
    cortex_with: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES, build=False)

    def fail(*_: object) -> None:
        raise CortexError("the vault is not there")

    monkeypatch.setattr(cortex, "index", fail)
    report = Desk(cortex, now=NOW).maintain()
    assert outcomes(report) == [("index", "FAIL"), ("embed", "SKIP"), ("graph", "SKIP")]
    assert report.steps[0].message == "the vault is not there"
    assert report.steps[1].message == "index failed"
    assert not report.is_ok


def test_without_a_model_the_graph_is_built_all_the_same(
    cortex_with: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(NOTES, build=False)
    embed = cortex.embed

    def absent(*_: object) -> None:
        raise Unavailable("vector", "no weights; run: cortex model fetch")

    monkeypatch.setattr(cortex, "embed", absent)
    desk = Desk(cortex, now=NOW)
    report = desk.maintain()
    assert outcomes(report) == [("index", "OK"), ("embed", "SKIP"), ("graph", "OK")]
    assert report.steps[1].message == "no weights; run: cortex model fetch"
    assert report.is_ok
    embed()  # once there are vectors, a model that is missing is a failure
    report = desk.maintain()
    assert outcomes(report) == [("index", "OK"), ("embed", "FAIL"), ("graph", "OK")]
    assert not report.is_ok


def test_a_note_that_cannot_be_read_is_told_and_fails_nothing(
    cortex_with: Maker, tmp_path: Path
) -> None:
    desk = Desk(cortex_with(NOTES, build=False), now=NOW)
    (tmp_path / "vault/picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe" * 40)
    report = desk.maintain()
    assert [row["file"] for row in report.unread] == ["picture.md"]
    assert report.is_ok


def test_the_log_gets_a_line_with_paths_of_the_vault_and_the_index_is_not_behind_it(
    cortex_with: Maker, tmp_path: Path
) -> None:
    desk = Desk(cortex_with({**NOTES, "log.md": "# Log\n"}, build=False), now=NOW)
    desk.maintain()
    lines = (tmp_path / "vault/log.md").read_text().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("- 2026-03-01T02:00:00Z maintenance mode=write status=ok index_not")
    assert lines[1].endswith('paths=["a.md", "b.md", "log.md"]')
    assert str(tmp_path) not in lines[1]
    assert desk.cortex.freshness().is_current
    assert desk.probe_maintenance().warnings == []


def test_the_log_gets_no_line_when_nothing_had_changed(cortex_with: Maker, tmp_path: Path) -> None:
    desk = Desk(cortex_with({**NOTES, "log.md": "# Log\n"}, build=False), now=NOW)
    log = tmp_path / "vault/log.md"

    def lines() -> int:
        return len(log.read_text().splitlines())

    desk.maintain()
    before = files(tmp_path / "vault")
    desk.maintain()
    (tmp_path / "vault/a.md").touch()  # a sync that writes what is there already
    before |= {str(tmp_path / "vault/a.md"): files(tmp_path / "vault")[f"{tmp_path}/vault/a.md"]}
    desk.maintain()
    assert files(tmp_path / "vault") == before
    (tmp_path / "vault/b.md").unlink()
    desk.maintain()
    assert lines() == 3
    (tmp_path / "vault/c.md").write_text("x\n")
    desk.cortex.index()
    desk.cortex.embed()
    desk.maintain()  # the graph is all that was behind
    assert lines() == 4
    desk.maintain(force=True)
    assert lines() == 5


def test_the_log_gets_a_line_when_a_step_fails(
    cortex_with: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with({**NOTES, "log.md": "# Log\n"})
    assert Desk(cortex, now=NOW).maintain().is_ok
    assert (tmp_path / "vault/log.md").read_text() == "# Log\n"

    def fail(*_: object) -> None:
        raise CortexError("the disk is full")

    monkeypatch.setattr(cortex, "build_graph", fail)
    Desk(cortex, now=NOW).maintain()
    assert " mode=write status=failed " in (tmp_path / "vault/log.md").read_text()


def test_what_is_told_is_how_it_stands_behind_the_line_in_an_indexed_log(
    cortex_with: Maker,
) -> None:
    notes = {"Brass Bolt.md": "A mark in the wall.\n", "log.md": "# Log\n"}
    desk = Desk(cortex_with(notes, build=False), now=NOW)
    index, embed, graph = desk.maintain().steps
    assert desk.cortex.graph("status")["edges_by_type"] == {"mentions": 1}  # the line names it
    assert graph.message == "2 nodes, 1 edge, 0 broken"
    assert index.message == "2 notes, 2 added, 0 changed, 0 removed, 0 unchanged"
    assert embed.counts["vectors"] == desk.cortex.state.stamp("vectors").values["entries"]


def test_force_encodes_once_although_the_log_is_indexed(cortex_with: Maker) -> None:
    desk = Desk(cortex_with({**NOTES, "log.md": "# Log\n"}), now=NOW)
    forced: list[bool] = []
    embed = desk.cortex.embed

    def counted(force: bool, progress: object) -> object:
        forced.append(force)
        return embed(force)

    desk.cortex.embed = counted
    assert desk.maintain(force=True).is_ok
    assert forced == [True, False]


def test_no_log_is_made(cortex_with: Maker, tmp_path: Path) -> None:
    Desk(cortex_with(NOTES, build=False), now=NOW).maintain()
    assert sorted(path.name for path in (tmp_path / "vault").iterdir()) == ["a.md", "b.md"]


def test_force_reads_and_encodes_all_again(cortex_with: Maker) -> None:
    desk = Desk(cortex_with(NOTES), now=NOW)
    assert desk.maintain().steps[1].counts["encoded"] == 0
    assert desk.maintain(force=True).steps[1].counts["encoded"] == 2


def test_the_command_prints_a_line_a_step_and_ends_with_1_on_a_failure(
    cortex_with: Maker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cortex_with(NOTES, build=False)
    config = ["--config", str(tmp_path / "state/config.yaml"), "--quiet"]
    assert main(["lifecycle", "maintenance", *config]) == 0
    words = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert words == [["OK", "index"], ["OK", "embed"], ["OK", "graph"]]
    (tmp_path / "state/graph_edges.jsonl").unlink()
    (tmp_path / "state/graph.json").write_text("{")
    (tmp_path / "state/index.json").unlink()
    (tmp_path / "state/index.json").mkdir()
    assert main(["lifecycle", "maintenance", "--json", *config]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["schema_version"], told["ok"]) == (1, False)
    assert [step["outcome"] for step in told["steps"]] == ["FAIL", "SKIP", "SKIP"]
