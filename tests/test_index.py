"""cortex index: incremental by content, complete in its report, the same bytes from nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import cortex as cortex_package
from conftest import CortexMaker
from cortex import Busy, Cortex, CortexError
from cortex.state import State


def lines(cortex: Cortex, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (cortex.config.state / name).read_bytes().splitlines()]


def test_a_run_says_what_was_added_changed_removed_and_unchanged(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "# A\none", "b.md": "# B\ntwo", "c.md": "three"}, build=False)
    first = cortex.index()
    assert (first.added, first.changed, first.removed, first.unchanged) == (3, 0, 0, 0)
    (tmp_path / "vault/a.md").write_text("# A\nother")
    (tmp_path / "vault/b.md").unlink()
    (tmp_path / "vault/d.md").write_text("new")
    second = cortex.index()
    assert (second.added, second.changed, second.removed, second.unchanged) == (1, 1, 1, 1)
    assert (second.notes, second.chunks) == (3, 3)
    third = cortex.index()
    assert (third.added, third.changed, third.removed, third.unchanged) == (0, 0, 0, 3)
    assert third.generation == second.generation != first.generation


def test_rebuilding_from_nothing_gives_the_same_bytes(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({f"n{i}.md": f"# N{i}\ntext {i}\n\n## S\nmore" for i in range(20)})
    (tmp_path / "vault/n3.md").write_text("# N3\nchanged")
    cortex.index()
    grown = (tmp_path / "state/chunks.jsonl").read_bytes()
    for name in ("generations", "chunks.jsonl", "notes.jsonl", "index.json"):
        path = tmp_path / "state" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    cortex.index()
    assert (tmp_path / "state/chunks.jsonl").read_bytes() == grown
    cortex.index(force=True)
    assert (tmp_path / "state/chunks.jsonl").read_bytes() == grown


def test_the_graph_of_a_grown_index_is_that_of_a_fresh_one_to_the_byte(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    sample = Path(cortex_package.__file__).parent / "sample"
    notes = {
        path.relative_to(sample).as_posix(): path.read_text("utf-8")
        for path in sample.rglob("*.md")
    }
    cortex = cortex_with({**notes, "log.md": "# Log\n- The Brass Bolt, the Stilling Well\n"})

    def graph() -> dict[str, bytes]:
        cortex.index()
        cortex.build_graph()
        stamp = cortex.state.stamp("graph")
        return {name: stamp.file(name).read_bytes() for name in stamp.values["files"]}

    first = graph()
    assert graph() == first
    log, bolt = tmp_path / "vault/log.md", tmp_path / "vault/10_facts/The Brass Bolt.md"
    log.rename(tmp_path / "vault/zz.md")
    bolt.write_text("Gone.\n")
    assert graph() != first
    (tmp_path / "vault/zz.md").rename(log)
    bolt.write_text(notes["10_facts/The Brass Bolt.md"], "utf-8")
    assert graph() == first
    cortex.index(force=True)
    assert graph() == first


def test_an_incremental_index_answers_like_a_fresh_one(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({f"n{i}.md": f"honey bees and wasps {i} " * (i + 1) for i in range(30)})
    for i in range(0, 30, 3):
        (tmp_path / f"vault/n{i}.md").write_text(f"honey from hive {i}, bees asleep")
    (tmp_path / "vault/n1.md").unlink()
    cortex.index()
    grown = [(h.chunk.id, round(h.score, 6)) for h in cortex.search("honey hive").hits]
    cortex.index(force=True)
    fresh = [(h.chunk.id, round(h.score, 6)) for h in cortex.search("honey hive").hits]
    assert grown == fresh


def test_thirty_rounds_of_edits_leave_what_a_build_from_nothing_makes(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    words = (
        "Odile Marvadour naïve STRASSE straße cafe\u0301 東京 北京 error42 C++ don't ﬁne İdil ΣΑΣ"
    )
    chance = random.Random(11)

    def text() -> str:
        said = " ".join(chance.choices(words.split(), k=chance.randint(0, 12)))
        alias, tag = chance.choice(words.split()), chance.randint(0, 3)
        head = f"---\naliases: [{alias} Bell]\ntags: [{tag}x]\n"
        return f"{head}---\n# {said[:20]}\n\n{said}\n\n## Part\n\n{said} tide gauge\n"

    cortex = cortex_with({f"n{at}.md": text() for at in range(9)}, build=False)
    vault = cortex.config.vault.path
    assert vault is not None
    (tmp_path / "fresh").mkdir()
    shutil.copyfile(cortex.config.path, tmp_path / "fresh/config.yaml")
    fresh = Cortex.open(tmp_path / "fresh/config.yaml", env={})

    def made(by: Cortex) -> tuple[dict[str, bytes], list[Any]]:
        stamp = by.state.stamp("index")
        assert stamp is not None
        files = {
            str(file.relative_to(stamp.folder)): file.read_bytes()
            for file in stamp.folder.rglob("*")
            if file.is_file() and "lexical" not in file.parts
        }
        asked = (
            "tide gauge bell",
            "Odile Marvadour",
            "strasse naive café",
            "東京",
            "don't error42",
        )
        results = [by.search(query, 50, channels=["bm25"], boosts=False).hits for query in asked]
        return files, [[(hit.chunk.id, hit.score) for hit in hits] for hits in results]

    for number in range(30):
        for _ in range(chance.randint(1, 4)):
            note = chance.choice(sorted(vault.glob("*.md")))
            match chance.randrange(4):
                case 0:
                    note.write_text(text(), "utf-8")
                case 1 if len(list(vault.glob("*.md"))) > 3:
                    note.unlink()
                case 2:
                    note.rename(vault / f"{chance.choice(words.split())} {number}.md")
                case _:
                    (vault / f"new {number} {chance.randint(0, 9)}.md").write_text(text(), "utf-8")
        cortex.index()
        if number % 5 == 4:
            fresh.index(force=True)
            assert made(cortex) == made(fresh), number


def test_a_note_that_cannot_be_read_keeps_its_last_chunks_and_is_reported(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "# A\nkeepword", "b.md": "other"})
    (tmp_path / "vault/a.md").write_bytes(b"\x00\x01\x02\xff\xfe" * 200)
    report = cortex.index()
    assert report.kept == ["a.md"]
    assert [p.note for p in report.problems] == ["a.md"]
    assert [h.chunk.note for h in cortex.search("keepword", channels=["bm25"]).hits] == ["a.md"]
    (tmp_path / "vault/a.md").write_text("# A\nmended")
    assert cortex.index().problems == []


def test_a_broken_header_is_reported_on_every_run_with_its_line(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "---\ngood: 1\nbad: [unclosed\n---\nbody", "b.md": "x"})
    for _ in range(2):
        [problem] = cortex.index().problems
        assert problem.note == "a.md" and problem.line in (3, 4)
        (tmp_path / "vault/b.md").write_text("changed")
    assert not any("unclosed" in chunk["text"] for chunk in lines(cortex, "chunks.jsonl"))


def test_touching_a_note_changes_its_time_and_nothing_else(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "one"})
    chunks = (tmp_path / "state/chunks.jsonl").read_bytes()
    os.utime(tmp_path / "vault/a.md", (1e9, 1e9))
    report = cortex.index()
    assert (report.changed, report.unchanged) == (0, 1)
    assert lines(cortex, "notes.jsonl")[0]["modified"] == 1e9
    assert (tmp_path / "state/chunks.jsonl").read_bytes() == chunks
    assert cortex.embed().encoded == 0


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("{}", ["Temp/x.md", "a/Temp/z.md", "a/b/n.md", "root.md"]),
        ("{exclude_folders: [Temp/]}", ["a/Temp/z.md", "a/b/n.md", "root.md"]),
        ("{exclude_folders: ['**/Temp']}", ["a/b/n.md", "root.md"]),
        ("{include_folders: [a]}", ["a/Temp/z.md", "a/b/n.md"]),
        ("{include_folders: ['a/*', '.']}", ["a/Temp/z.md", "a/b/n.md", "root.md"]),
        ("{include_folders: [a], exclude_folders: ['a/T*']}", ["a/b/n.md"]),
        ("{exclude_folders: ['a/**', '**/Temp/**']}", ["root.md"]),
        ("{exclude_folders: ['root.md', '**/n.md', 'Temp/*']}", ["a/Temp/z.md"]),
        ("{exclude_folders: ['ro*', 'T*']}", ["a/Temp/z.md", "a/b/n.md", "root.md"]),
    ],
)
def test_folders_are_chosen_by_globs(
    cortex_with: CortexMaker, tmp_path: Path, settings: str, expected: list[str]
) -> None:
    notes = {"root.md": "x", "Temp/x.md": "x", "a/Temp/z.md": "x", "a/b/n.md": "x", ".o/h.md": "x"}
    vault = settings.replace("{", f"{{path: '{tmp_path / 'vault'}', ", 1).replace(", }", "}")
    cortex = cortex_with(notes, f"vault: {vault}", build=False)
    cortex.index()
    assert [note["file"] for note in lines(cortex, "notes.jsonl")] == expected


def test_links_out_of_the_vault_are_not_followed_unless_asked_for(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/o.md").write_text("outside")
    cortex = cortex_with({"a.md": "inside"}, build=False)
    (tmp_path / "vault/link").symlink_to(tmp_path / "outside")
    (tmp_path / "vault/loop").symlink_to(tmp_path / "vault")
    (tmp_path / "vault/again.md").symlink_to(tmp_path / "vault/a.md")
    report = cortex.index()
    assert report.notes == 1
    assert [(p.note, p.code) for p in report.problems] == [("link", "link_out_of_vault")]
    allowed = f"vault: {{path: '{tmp_path / 'vault'}', allow_symlinks_outside: true}}"
    assert cortex_with({}, allowed, build=False).index().notes == 2


def test_a_missing_vault_is_one_clear_error(cortex_with: CortexMaker, tmp_path: Path) -> None:
    cortex = cortex_with({}, build=False)
    (tmp_path / "vault").rmdir()
    with pytest.raises(CortexError, match=r"vault.*vault\.path"):
        cortex.index()


def test_a_second_writer_is_told_so(tmp_path: Path) -> None:
    with State(tmp_path).lock():
        code = (
            "import sys; from pathlib import Path; from cortex.state import State\n"
            "from cortex import Busy\n"
            "try:\n"
            "    with State(Path(sys.argv[1])).lock(wait_s=0.2): print('locked')\n"
            "except Busy as error: print(error)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
        )
    assert "another cortex run is writing" in done.stdout
    with State(tmp_path).lock(wait_s=0.2):
        pass
    assert issubclass(Busy, CortexError)


@pytest.mark.parametrize("name", ["chunks.jsonl", "notes.jsonl", "notes.keys.npy"])
def test_a_cut_artifact_is_named_and_the_next_run_mends_it(
    cortex_with: CortexMaker, tmp_path: Path, name: str
) -> None:
    cortex = cortex_with({"a.md": "# A\nword", "b.md": "# B\nword"})
    [folder] = (tmp_path / "state/generations").glob("index-*")
    data = (folder / name).read_bytes()
    with open(folder / name, "r+b") as file:
        file.truncate(len(data) - 10)
    with pytest.raises(CortexError, match="run: cortex index --force"):
        Cortex.open(tmp_path / "state/config.yaml", env={}).search("word")
    cortex.index()
    assert len(cortex.search("word", channels=["bm25"]).hits) == 2


def test_unreadable_notes_and_folders_keep_their_chunks_even_when_all_is_read_again(
    cortex_with: CortexMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with({"a.md": "# A\nkeepword", "deep/b.md": "deepword", "c.md": "other"})
    (tmp_path / "vault/a.md").write_bytes(b"\x00\x01\x02\xff\xfe" * 200)
    listed = os.scandir

    def refused(folder: str) -> object:
        if str(folder).endswith("deep"):
            raise PermissionError(13, "Permission denied", folder)
        return listed(folder)

    monkeypatch.setattr(os, "scandir", refused)
    for force in (True, False):
        report = cortex.index(force=force)
        assert sorted(report.kept) == ["a.md", "deep/b.md"]
        assert (report.added, report.removed, report.notes) == (0, 0, 3)
    monkeypatch.undo()
    for word, note in (("keepword", "a.md"), ("deepword", "deep/b.md")):
        assert cortex.search(word, channels=["bm25"]).hits[0].chunk.note == note


def test_what_is_not_ours_in_the_state_folder_is_left_alone(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({"a.md": "one"}, build=False)
    theirs = [tmp_path / "state" / name for name in ("generations/smith/f.md", "vectors/la/m.md")]
    for path in theirs:
        path.parent.mkdir(parents=True)
        path.write_text("mine")
    for _ in range(2):
        cortex.index(force=True)
        cortex.embed(force=True)
        cortex.build_graph()
    assert all(path.read_text() == "mine" for path in theirs)


def test_a_state_folder_among_the_notes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "config.yaml").write_text(f"vault: {{path: '{tmp_path}'}}")
    with pytest.raises(CortexError, match="inside the vault"):
        Cortex.open(tmp_path / "config.yaml", env={}).index()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "config.yaml"]


@pytest.mark.skipif(os.name == "nt", reason="limits of a process are those of POSIX")
@pytest.mark.parametrize("limit", [3_000, 30_000, 60_000])
def test_what_the_system_refuses_is_one_line_and_the_last_state_stays(
    cortex_with: CortexMaker, tmp_path: Path, limit: int
) -> None:
    cortex = cortex_with({f"n{i}.md": f"# N{i}\nold word {i}" for i in range(5)})
    for i in range(400):
        (tmp_path / f"vault/n{i}.md").write_text(f"# N{i}\n" + f"fresh word{i} " * 40)
    code = (
        "import resource, sys; from cortex.cli import main\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    config = str(tmp_path / "state/config.yaml")
    done = subprocess.run(
        [sys.executable, "-c", code, "--config", config, "index"], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "File too large" in done.stderr and "bug" not in done.stderr
    assert {hit.chunk.text for hit in cortex.search("word", channels=["bm25"]).hits} == {
        f"old word {i}" for i in range(5)
    }
    assert cortex.index().notes == 400


@pytest.mark.slow
def test_a_killed_run_leaves_the_last_state_and_the_next_run_completes(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    cortex = cortex_with({f"n{i}.md": f"# N{i}\nold word" for i in range(300)})
    for i in range(300):
        (tmp_path / f"vault/n{i}.md").write_text(f"# N{i}\nfresh word")
    config = str(tmp_path / "state/config.yaml")
    for delay in (0.15, 0.3, 0.45, 0.6):
        process = subprocess.Popen(
            [sys.executable, "-m", "cortex.cli", "--config", config, "index", "--quiet"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = {h.chunk.text for h in cortex.search("word", top_k=300).hits}
        assert found in ({"old word"}, {"fresh word"})
    cortex.index()
    assert {h.chunk.text for h in cortex.search("word", top_k=300).hits} == {"fresh word"}
    assert cortex.index().unchanged == 300


def test_an_empty_vault_is_told_on_stderr(cortex_with, capsys):
    from cortex.cli import main

    words = ["index", "--quiet", "--config"]
    assert main([*words, str(cortex_with({}, build=False).config.path)]) == 0
    assert "no note was found in the vault" in capsys.readouterr().err
    assert main([*words, str(cortex_with({"a.md": "# A"}, build=False).config.path)]) == 0
    assert capsys.readouterr().err == ""
