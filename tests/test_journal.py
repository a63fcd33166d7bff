"""Promotion that is killed, goes on, and is taken back: no note is lost at any moment."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from cortex.cli import main
from cortex.errors import CortexError, UsageError
from cortex.ops.journal import Journal
from cortex.ops.nightly import history, nightly
from cortex.ops.undo import undo_run
from cortex.state import State

NOW = dt.datetime(2026, 3, 1, 2, 0, tzinfo=dt.UTC)
VAULT = {
    "00_inbox/Port.md": (
        "---\r\n# by hand\r\ntype: fact\r\npromote: true\r\nsupersedes: [[Old Port]]\r\n---\r\n"
        "The gauge listens on port 8080.\r\n"
    ),
    "00_inbox/Ada.md": "---\ntype: person\npromote: true\n---\nMends clocks.\n",
    "10_facts/Old Port.md": "---\nstatus: active # still\n---\nIt listens on 80.\n",
    "10_facts/Other.md": "Nothing to do with it.\n",
    "log.md": "# Log\n",
}
TARGETS = {"00_inbox/Port.md": "10_facts/Port.md", "00_inbox/Ada.md": "50_people/Ada.md"}

# Kills itself with SIGKILL before the n-th call that changes a file; n goes up from 1 until the
# errand gets to its end. What stands then in each vault is looked at by the test.
DRIVER = """
import datetime as dt, os, pathlib, shutil, signal, sys
from cortex.ops.nightly import nightly
from cortex.ops.undo import undo_run
from cortex.state import State

start, errand, base = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
now = dt.datetime(2026, 3, 1, 2, 0, tzinfo=dt.UTC)
names = "mkdir link replace unlink rename rmdir fsync chmod utime".split()
plain = {name: getattr(os, name) for name in names}

def child(place, last):
    left = [last]
    def counted(name):
        def call(*args, **more):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            if name == "fsync":  # what it is for outlives a power cut, not a kill
                return None
            return plain[name](*args, **more)
        return call
    for name in names:
        setattr(os, name, counted(name))
    state, vault = State(place / "state"), place / "vault"
    if errand == "nightly":
        nightly(state, vault, now, write=True)
    else:
        undo_run(state, vault, now)
    os._exit(0)

n = 0
while True:
    n += 1
    place = base / str(n)
    shutil.copytree(start, place)
    pid = os.fork()
    if pid == 0:
        try:
            child(place, n)
        finally:
            os._exit(3)
    status = os.waitpid(pid, 0)[1]
    if os.WIFEXITED(status):
        sys.exit(os.WEXITSTATUS(status))
    assert os.WTERMSIG(status) == signal.SIGKILL
"""

needs_fork = pytest.mark.skipif(os.name == "nt", reason="a kill is a POSIX signal")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "place"
    write(place / "vault", VAULT)
    return place


def write(vault: Path, notes: Mapping[str, str | bytes]) -> None:
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def files(vault: Path) -> dict[str, bytes]:
    """Every file of the vault, hidden ones too, by path."""
    return {
        path.relative_to(vault).as_posix(): path.read_bytes()
        for path in vault.rglob("*")
        if path.is_file()
    }


def without_log(notes: Mapping[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in notes.items() if path != "log.md"}


def killed(start: Path, errand: str, base: Path) -> list[Path]:
    """A copy of `start` for each moment at which the errand was killed, and one where it ended."""
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DRIVER), str(start), errand, str(base)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    places = sorted(base.iterdir(), key=lambda path: int(path.name))
    assert len(places) > 20
    return places


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """VAULT and its state at each moment at which promotion can be killed."""
    base = tmp_path_factory.mktemp("stopped")
    write(base / "start" / "vault", VAULT)
    return killed(base / "start", "nightly", base / "places")


def promoted(state: Path, vault: Path) -> dict[str, bytes]:
    """What an undisturbed run makes of the same vault."""
    report = nightly(State(state), vault, NOW, write=True)
    assert [row["file"] for row in report.promoted] == ["50_people/Ada.md", "10_facts/Port.md"]
    return files(vault)


def check_nothing_is_lost(vault: Path, whole: Mapping[str, bytes]) -> None:
    """Each note is in force at one place at least, whole, and no source is archived before."""
    found = files(vault)
    for source, target in TARGETS.items():
        is_archived = b"archived" in found[source]
        assert found[source] in (VAULT[source].encode(), whole[source])
        assert target not in found or found[target] == whole[target]
        assert not is_archived or target in found
    old = "10_facts/Old Port.md"
    assert found[old] in (VAULT[old].encode(), whole[old])
    assert found["10_facts/Other.md"] == VAULT["10_facts/Other.md"].encode()


@needs_fork
def test_a_promotion_killed_at_any_moment_is_finished_by_the_next_run(
    stopped: list[Path], tmp_path: Path
) -> None:
    other = tmp_path / "undisturbed"
    write(other / "vault", VAULT)
    whole = promoted(other / "state", other / "vault")
    was_open = 0
    for stop in stopped:
        after = tmp_path / stop.name
        shutil.copytree(stop, after)
        vault, state = after / "vault", State(after / "state")
        check_nothing_is_lost(vault, whole)
        report = nightly(state, vault, NOW, write=True)
        assert report.error is None
        assert report.warnings == []
        was_open += bool(report.finished)
        now = files(vault)
        assert without_log(now) == without_log(whole)  # and no leftover, hidden or not
        told = now["log.md"].decode().splitlines()
        assert sum("nightly run=1 " in line for line in told) == 1
        undone = undo_run(state, vault, NOW)
        assert (undone.run, undone.outcome, undone.kept) == (1, "undone", [])
        assert without_log(files(vault)) == without_log(encoded(VAULT))
        assert not (vault / "50_people").exists()  # which the run had made
    assert was_open > 20


@needs_fork
def test_undoing_killed_at_any_moment_is_finished_by_the_next_undo_or_run(
    place: Path, tmp_path: Path
) -> None:
    whole = promoted(place / "state", place / "vault")
    for index, after in enumerate(killed(place, "undo", tmp_path / "killed")):
        vault, state = after / "vault", State(after / "state")
        check_nothing_is_lost(vault, whole)
        run = history(state)[0]
        if run["status"] == "undoing" and index % 2:
            report = nightly(state, vault, NOW, write=True)
            assert [row["outcome"] for row in report.finished] == ["undone"]
            assert report.promoted == []  # what was taken back is not promoted again by itself
        elif run["status"] != "undone":
            assert undo_run(state, vault, NOW).outcome == "undone"
        assert without_log(files(vault)) == without_log(encoded(VAULT))
        assert history(state)[0]["status"] == "undone"


def encoded(notes: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in notes.items()}


def half_made(stopped: list[Path], tmp_path: Path, made: str, source: str) -> tuple[State, Path]:
    """A copy of the first place where `made` is there and `source` is not archived yet."""
    for place in stopped:
        found = files(place / "vault")
        if made in found and found[source] == VAULT[source].encode():
            shutil.copytree(place, tmp_path / "half made")
            return State(tmp_path / "half made" / "state"), tmp_path / "half made" / "vault"
    raise AssertionError(made)


@needs_fork
def test_a_source_that_is_edited_after_the_kill_is_not_archived(
    stopped: list[Path], tmp_path: Path
) -> None:
    state, vault = half_made(stopped, tmp_path, "50_people/Ada.md", "00_inbox/Ada.md")
    newer = "---\ntype: person\npromote: true\n---\nMends clocks and bells.\n"
    write(vault, {"00_inbox/Ada.md": newer})
    report = nightly(state, vault, NOW, write=True)
    assert report.finished[0]["dropped"] == [
        {"file": "00_inbox/Ada.md", "message": "00_inbox/Ada.md was changed meanwhile"}
    ]
    # The half made note was taken back, so the newer text is promoted in the same run.
    assert [row["file"] for row in report.promoted] == ["50_people/Ada.md"]
    assert b"clocks and bells" in (vault / "50_people/Ada.md").read_bytes()


@needs_fork
def test_a_source_that_is_gone_after_the_kill_leaves_the_new_note(
    stopped: list[Path], tmp_path: Path
) -> None:
    state, vault = half_made(stopped, tmp_path, "50_people/Ada.md", "00_inbox/Ada.md")
    (vault / "00_inbox/Ada.md").unlink()
    report = nightly(state, vault, NOW, write=True)
    assert (vault / "50_people/Ada.md").exists()
    assert report.warnings == ["00_inbox/Ada.md is gone; 50_people/Ada.md stays"]
    undone = undo_run(state, vault, NOW)
    assert undone.outcome == "partly_undone"
    assert (vault / "50_people/Ada.md").exists()  # the only copy there is


@needs_fork
def test_a_new_note_that_is_edited_after_the_kill_stays_and_its_source_too(
    stopped: list[Path], tmp_path: Path
) -> None:
    state, vault = half_made(stopped, tmp_path, "50_people/Ada.md", "00_inbox/Ada.md")
    write(vault, {"50_people/Ada.md": "my own words\n"})
    report = nightly(state, vault, NOW, write=True)
    assert (vault / "50_people/Ada.md").read_text() == "my own words\n"
    assert (vault / "00_inbox/Ada.md").read_bytes() == VAULT["00_inbox/Ada.md"].encode()
    assert [row["reason"] for row in report.skipped_duplicates] == ["file"]


@needs_fork
def test_a_superseded_note_that_is_edited_after_the_kill_keeps_the_edit(
    stopped: list[Path], tmp_path: Path
) -> None:
    state, vault = half_made(stopped, tmp_path, "10_facts/Port.md", "00_inbox/Port.md")
    write(vault, {"10_facts/Old Port.md": "---\nstatus: active # still\n---\nIt listened.\n"})
    report = nightly(state, vault, NOW, write=True)
    assert report.finished[0]["dropped"] == []
    assert (vault / "10_facts/Old Port.md").read_text() == (
        "---\nstatus: superseded # still\nupdated: 2026-03-01\n"
        'superseded_by: "[[10_facts/Port]]"\n---\nIt listened.\n'
    )
    undo_run(state, vault, NOW)
    assert (vault / "10_facts/Old Port.md").read_text() == (
        "---\nstatus: active # still\n---\nIt listened.\n"
    )


def test_undo_leaves_what_was_changed_since_and_says_so(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    write(vault, {"10_facts/Port.md": "edited\n", "00_inbox/Ada.md": "edited\n"})
    report = undo_run(state, vault, NOW)
    assert report.outcome == "partly_undone"
    assert report.restored == ["00_inbox/Port.md", "10_facts/Old Port.md"]
    assert report.removed == []
    assert report.kept == [
        {"file": "10_facts/Port.md", "message": "it was changed since"},
        {"file": "00_inbox/Ada.md", "message": "it was changed since"},
        {
            "file": "50_people/Ada.md",
            "message": "its source 00_inbox/Ada.md is not as it was archived",
        },
    ]
    assert (vault / "50_people/Ada.md").exists()
    assert (vault / "10_facts/Port.md").read_text() == "edited\n"


def test_a_dry_undo_tells_the_same_and_changes_nothing(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    before = files(place)
    told = undo_run(state, vault, NOW, dry_run=True)
    assert files(place) == before
    done = undo_run(state, vault, NOW)
    assert (told.restored, told.removed, told.kept) == (done.restored, done.removed, done.kept)
    assert told.dry_run and not done.dry_run


def test_undo_gives_back_the_times_and_rights_of_notes(place: Path) -> None:
    vault, source = place / "vault", place / "vault/00_inbox/Ada.md"
    os.utime(source, (1_700_000_000, 1_700_000_000))
    os.chmod(source, 0o640)
    promoted(place / "state", vault)
    assert source.stat().st_mode & 0o777 == 0o640
    assert (vault / "50_people/Ada.md").stat().st_mode & 0o777 == 0o640
    undo_run(State(place / "state"), vault, NOW)
    assert source.stat().st_mtime == 1_700_000_000
    assert source.stat().st_mode & 0o777 == 0o640


def test_what_was_undone_is_promoted_again_only_when_changed_or_asked_for(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    undo_run(state, vault, NOW)
    report = nightly(state, vault, NOW, write=True)
    assert [(row["file"], row["reason"]) for row in report.skipped] == [
        ("00_inbox/Ada.md", "undone"),
        ("00_inbox/Port.md", "undone"),
    ]
    write(vault, {"00_inbox/Ada.md": "---\ntype: person\npromote: true\n---\nMends bells.\n"})
    report = nightly(state, vault, NOW, write=True)
    assert [row["file"] for row in report.promoted] == ["50_people/Ada.md"]
    report = nightly(state, vault, NOW, write=True, again=True)
    assert [row["file"] for row in report.promoted] == ["10_facts/Port.md"]
    assert [run["run"] for run in history(state)] == [3, 2, 1]


def test_runs_are_undone_by_number_and_only_once(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    with pytest.raises(CortexError, match="no promotion to undo"):
        undo_run(state, vault, NOW)
    promoted(place / "state", vault)
    with pytest.raises(UsageError, match="no run 7"):
        undo_run(state, vault, NOW, 7)
    undo_run(state, vault, NOW, 1)
    with pytest.raises(UsageError, match="undone already"):
        undo_run(state, vault, NOW, 1)
    with pytest.raises(CortexError, match="no promotion to undo"):
        undo_run(state, vault, NOW)


@needs_fork
def test_a_run_that_was_stopped_in_another_vault_is_not_finished_in_this_one(
    stopped: list[Path], tmp_path: Path
) -> None:
    state, _ = half_made(stopped, tmp_path, "50_people/Ada.md", "00_inbox/Ada.md")
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, {"00_inbox/New.md": "---\npromote: true\n---\nx\n"})
    with pytest.raises(CortexError, match="was made in another vault"):
        nightly(state, elsewhere, NOW, write=True)
    assert set(files(elsewhere)) == {"00_inbox/New.md"}


def test_a_run_is_not_undone_in_another_vault(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    for dry_run in (True, False):
        with pytest.raises(CortexError, match="was made in another vault"):
            undo_run(state, elsewhere, NOW, dry_run=dry_run)
    assert history(state)[0]["status"] == "done"
    moved = place / "moved"
    vault.rename(moved)
    assert undo_run(state, moved, NOW).outcome == "undone"


def test_a_line_of_the_journal_that_a_kill_cut_short_does_not_swallow_the_next(
    place: Path,
) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    journal = Journal(state.root)
    run = journal.runs()[0]
    with open(state.root / "lifecycle/1/done.jsonl", "wb") as file:
        file.write(b'{"promotion": 0, "sta')
    journal.note_end(run, 1, replace(run.promotions[1], why="noted"))
    assert [one.why for one in journal.runs()[0].promotions] == ["", "noted"]


def test_two_profiles_prepare_their_files_under_names_of_their_own(place: Path) -> None:
    vault = place / "vault"
    temps = set()
    for name in ("one", "two"):
        state = State(place / name)
        nightly(state, vault, NOW, write=True)
        run = Journal(state.root).runs()[0]
        temps.add((run.number, run.temp(run.promotions[0].writes[0])))
        undo_run(state, vault, NOW)
    assert len(temps) == 2
    assert {number for number, _ in temps} == {1}


def test_a_damaged_journal_is_told_and_stops_what_writes(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    record = state.root / "lifecycle" / "1" / "run.json"
    record.write_text(record.read_text()[:-40])
    before = files(vault)
    with pytest.raises(CortexError, match=r"run\.json is damaged"):
        nightly(state, vault, NOW, write=True)
    with pytest.raises(CortexError, match=r"run\.json is damaged"):
        undo_run(state, vault, NOW)
    assert files(vault) == before


def test_a_damaged_copy_in_the_journal_is_never_written_into_the_vault(place: Path) -> None:
    vault, state = place / "vault", State(place / "state")
    promoted(place / "state", vault)
    run = json.loads((state.root / "lifecycle/1/run.json").read_text())
    for promotion in run["promotions"]:
        copy = state.root / "lifecycle/1" / promotion["writes"][1]["before"]
        copy.write_bytes(b"something else")
    before = without_log(files(vault))
    with pytest.raises(CortexError, match="is damaged"):
        undo_run(state, vault, NOW)
    assert without_log(files(vault)) == before


@needs_fork
def test_the_command_tells_what_it_finished_first(
    stopped: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state, vault = half_made(stopped, tmp_path, "50_people/Ada.md", "00_inbox/Ada.md")
    config = state.root / "config.yaml"
    config.write_text(f"vault: {{path: {vault}}}\n")
    assert main(["lifecycle", "undo", "--config", str(config)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == [
        "run 1 had been stopped and is now finished",
        "  00_inbox/Ada.md -> 50_people/Ada.md",
    ]
    assert "run 1 is undone" in told


def test_the_command_ends_with_1_when_something_had_to_stay(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    promoted(place / "state", place / "vault")
    write(place / "vault", {"10_facts/Port.md": "edited\n"})
    config = place / "state" / "config.yaml"
    config.write_text("vault: {path: ../vault}\n")
    assert main(["lifecycle", "undo", "--dry-run", "--config", str(config)]) == 1
    assert "would be restored: 00_inbox/Ada.md" in capsys.readouterr().out
    assert main(["lifecycle", "undo", "--json", "--config", str(config)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["schema_version"], told["outcome"]) == (1, "partly_undone")
    assert told["kept"] == [{"file": "10_facts/Port.md", "message": "it was changed since"}]
    assert main(["lifecycle", "undo", "1", "--config", str(config)]) == 1
    assert "to try again what was left, run: cortex lifecycle undo 1\n" in capsys.readouterr().out
    assert main(["lifecycle", "history", "--config", str(config)]) == 0
    assert "undone in part" in capsys.readouterr().out


def test_a_run_that_is_undone_in_part_is_named_where_the_next_undo_passes_it_over(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vault, state = place / "vault", State(place / "state")
    nightly(state, vault, NOW, write=True)
    write(vault, {"00_inbox/Late.md": "---\npromote: true\n---\nx\n"})
    nightly(state, vault, NOW, write=True)
    write(vault, {"10_facts/Late.md": "edited\n"})
    assert undo_run(state, vault, NOW).outcome == "partly_undone"
    remedy = "to try again what was left, run: cortex lifecycle undo 2"
    report = undo_run(state, vault, NOW, dry_run=True)
    assert report.warnings == [f"run 2 is undone in part, so this is run 1; {remedy}"]
    config = state.root / "config.yaml"
    config.write_text("vault: {path: ../vault}\n")
    assert main(["lifecycle", "undo", "--config", str(config)]) == 0
    told = capsys.readouterr()
    assert told.err == f"cortex: {report.warnings[0]}\n"
    assert told.out.splitlines()[0] == "run 1 is undone"
    assert told.out.splitlines()[-1] == "next: cortex lifecycle maintenance"
    assert main(["lifecycle", "undo", "--config", str(config)]) == 1
    assert capsys.readouterr().err == (
        f"cortex: run 2 is undone in part, and there is no other promotion to undo; {remedy}\n"
    )
