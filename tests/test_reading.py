"""Reading a note: by path, name, title or alias, from the file, and never anything else."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import CortexMaker
from cortex import Cortex, UsageError
from cortex.cli import main
from cortex.vault.reading import nearest


@pytest.fixture
def cortex(cortex_with: CortexMaker, tmp_path: Path) -> Cortex:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.md").write_text("TOPSECRET")
    made = cortex_with(
        {
            "Note.md": "---\ntitle: The Title\naliases: [Nick]\n---\n# A\none\n\n## Sub\ntwo\n\n# B\n## Sub\nthree\n",  # noqa: E501
            "deep/Other.md": "other",
            "deep/Twin.md": "x",
            "twin/Twin.md": "y",
            ".obsidian/plugins/data.md": "TOPSECRET",
            "Private/p.md": "TOPSECRET",
            "keys.pem": "TOPSECRET",
        },
        f"vault: {{path: '{tmp_path / 'vault'}', exclude_folders: [Private]}}",
    )
    (tmp_path / "vault/leak.md").symlink_to(tmp_path / "outside/secret.md")
    (tmp_path / "vault/dir").symlink_to(tmp_path / "outside")
    return made


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        ("Note.md", "Note.md"),
        ("Note", "Note.md"),
        ("note", "Note.md"),
        ("[[Note#A|x]]", "Note.md"),
        ("The Title", "Note.md"),
        ("nick", "Note.md"),
        ("Other", "deep/Other.md"),
        ("deep/../Note.md", "Note.md"),
        ("./deep/Twin.md", "deep/Twin.md"),
    ],
)
def test_a_note_is_found_by_path_name_title_and_alias(cortex: Cortex, ref: str, path: str) -> None:
    assert cortex.read_note(ref).path == path


@pytest.mark.parametrize(
    "ref",
    [
        "../outside/secret.md", "deep/../../outside/secret.md", "leak.md", "leak", "dir/secret.md",
        ".obsidian/plugins/data.md", "x/../.obsidian/plugins/data.md", "Private/p.md", "p",
        "keys.pem",
        "%2e%2e%2foutside/secret.md", "..\\outside\\secret.md", "Note.md\0.png", "", "  ", ".",
        "deep",
        "deep/", "/etc/hostname", "~/x", "../vault-old/note.md", "none of these",
    ],
)  # fmt: skip
def test_nothing_else_is_served(cortex: Cortex, ref: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        cortex.read_note(ref)
    assert "TOPSECRET" not in str(error.value) and str(tmp_path) not in str(error.value)


def test_an_absolute_path_into_the_vault_is_taken(cortex: Cortex, tmp_path: Path) -> None:
    assert cortex.read_note(str(tmp_path / "vault/deep/Other.md")).path == "deep/Other.md"


def test_a_name_of_several_notes_lists_them_and_a_miss_names_the_nearest(cortex: Cortex) -> None:
    with pytest.raises(UsageError, match=r"deep/Twin\.md, twin/Twin\.md"):
        cortex.read_note("Twin")
    with pytest.raises(UsageError, match=r"did you mean deep/Other\.md"):
        cortex.read_note("Othr")
    with pytest.raises(UsageError, match=r"did you mean twin/Twin\.md"):
        cortex.read_note("twin/Twinn.md")
    with pytest.raises(UsageError, match=r"in the vault; look for it with: cortex search$"):
        cortex.read_note("nix.md")  # all end in .md


@pytest.mark.parametrize(
    ("ref", "first_line"),
    [("[[Note#Sub]]", 8), ("Note#B#Sub", 12), ("[[Note#Sub|label]]", 8), ("[[Note#^block]]", 1)],
)
def test_a_link_is_read_as_far_as_it_points(cortex: Cortex, ref: str, first_line: int) -> None:
    assert cortex.read_note(ref).start_line == first_line


def test_a_name_that_is_no_text_is_not_served(cortex: Cortex, tmp_path: Path) -> None:
    try:
        (tmp_path / "vault/\udcff.md").write_text("x")
    except (OSError, UnicodeError):
        pytest.skip("this system keeps no such names")
    with pytest.raises(UsageError, match="there is no note"):
        cortex.read_note("\udcff.md")


@pytest.mark.parametrize(
    ("heading", "lines", "text"),
    [
        ("A", (5, 9), "# A\none\n\n## Sub\ntwo\n\n"),
        ("Sub", (8, 10), "## Sub\ntwo\n\n"),
        ("B#Sub", (12, 13), "## Sub\nthree\n"),
        ("B > Sub", (12, 13), "## Sub\nthree\n"),
    ],
)
def test_a_section_is_read_from_the_file(
    cortex: Cortex, heading: str, lines: tuple[int, int], text: str
) -> None:
    part = cortex.read_note("Note", heading=heading)
    assert part.text == text
    assert part.start_line == lines[0]
    with pytest.raises(UsageError, match="its headings: 'A'"):
        cortex.read_note("Note", heading="Nowhere")


def test_long_notes_come_in_pages_of_whole_lines(cortex_with: CortexMaker, tmp_path: Path) -> None:
    cortex = cortex_with({"l.md": "".join(f"line {i}\n" for i in range(1, 2001))})
    first = cortex.read_note("l.md", max_chars=100)
    assert (first.start_line, first.total_lines) == (1, 2000)
    assert len(first.text) <= 100 and first.text.endswith("\n") and first.more == first.end_line + 1
    after = cortex.read_note("l.md", lines=(first.more, first.more + 1))
    assert after.text == f"line {first.more}\nline {first.more + 1}\n" and after.more is None
    with pytest.raises(UsageError, match="2000 lines"):
        cortex.read_note("l.md", lines=(3000, 3001))
    (tmp_path / "vault/l.md").write_text("now another text")
    assert cortex.read_note("l.md").text == "now another text"


def test_a_line_longer_than_a_page_is_read_piece_by_piece(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"l.md": "first\n" + "word " * 100 + "\nlast\n"}, build=False)
    piece = cortex.read_note("l.md", lines=(2, 3), max_chars=200)
    assert (piece.text, piece.end_line, piece.more) == ("word " * 40, 2, 3)
    assert piece.cut_at == 200
    rest = cortex.read_note("l.md", lines=(2, 3), max_chars=400, from_char=200)
    assert rest.text == "word " * 60 + "\nlast\n" and rest.more is None and rest.cut_at == 0
    with pytest.raises(UsageError, match="has no character 502"):
        cortex.read_note("l.md", lines=(2, 3), from_char=502)


def test_a_part_that_was_cut_ends_with_what_was_asked(cortex_with: CortexMaker) -> None:
    cortex = cortex_with({"l.md": "a" * 50 + "\nnext\n"}, build=False)
    assert cortex.read_note("l.md", lines=(1, 1), max_chars=20).more is None


def test_a_file_system_without_case_opens_no_excluded_folder(
    cortex: Cortex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.stat

    def regardless_of_case(path: Any, **options: Any) -> os.stat_result:
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        return real(text.replace("private", "Private") if text else path, **options)

    monkeypatch.setattr(os, "stat", regardless_of_case)
    assert os.stat(tmp_path / "vault/private/p.md").st_size == 9
    with pytest.raises(UsageError, match="there is no note"):
        cortex.read_note("private/p.md")


def test_a_note_behind_a_link_that_settings_allow_is_read(
    cortex_with: CortexMaker, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/far.md").write_text("from afar")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/team").symlink_to(tmp_path / "shared")
    settings = f"vault: {{path: '{tmp_path / 'vault'}', allow_symlinks_outside: true}}"
    cortex = cortex_with({"a.md": "x"}, settings)
    assert cortex.read_note("team/far.md").text == "from afar"
    assert cortex.read_note("far").path == "team/far.md"


def test_a_name_longer_than_any_path_is_refused_shortly(cortex: Cortex) -> None:
    with pytest.raises(UsageError) as error:
        cortex.read_note("x" * 2_000_000)
    assert len(str(error.value)) < 200
    with pytest.raises(UsageError) as error:
        cortex.read_note("Note", heading="x" * 2_000_000)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("ref", "path"), [("Nebelgloke", "f.md"), ("Mira", "k.md"), ("tide", "t.md"), ("k.m", "k.md")]
)
def test_near_matches_are_titles_and_aliases_too(
    cortex_with: CortexMaker, ref: str, path: str
) -> None:
    cortex = cortex_with(
        {
            "f.md": "---\naliases: [Nebelglocke]\n---\nx",
            "k.md": "---\ntitle: Keeper Mira\n---\nx",
            "t.md": "---\ntitle: Tide Gauge\n---\nx",
        }
    )
    with pytest.raises(UsageError) as error:
        cortex.read_note(ref)
    if ref == "k.m":  # too short to hold anything for it
        assert str(error.value).endswith("look for it with: cortex search")
    else:
        assert str(error.value).endswith(f"did you mean {path}?")


def test_a_name_that_holds_the_word_goes_before_one_that_is_a_little_like_it() -> None:
    names = ["Catan", "2023 Japan Trip", "Japanese food in every town and season"]
    assert nearest("japan", names, 1) == ["2023 Japan Trip"]
    assert nearest("japn", ["2023 Japan Trip", "Japan"], 1) == ["Japan"]


@pytest.mark.parametrize("wanted", ["tide gauge wiring " * 10, "tide gauge wiring", "zzz", "a"])
def test_the_nearest_of_thousands_are_found_quickly(wanted: str) -> None:
    choose = random.Random(1)
    words = ["tide", "gauge", "wiring", "river", "notes", "of", "the", "meeting"]
    names = [f"{' '.join(choose.choices(words, k=5))} {i}" for i in range(10_000)]
    headings = [f"{i} {' '.join(choose.choices(words, k=60))[:300]}" for i in range(6000)]
    started = time.process_time()
    nearest(wanted, names, 3)
    nearest(wanted, headings, 1)
    assert time.process_time() - started < 2


def test_the_nearest_name_comes_first() -> None:
    names = ["Wiring", "Wiring of the old tide gauge", "River", "Wirings"]
    assert nearest("wirin", names, 3) == ["Wiring", "Wirings", "Wiring of the old tide gauge"]
    assert nearest("", names, 3) == nearest("x" * 300, names, 3) == []


def test_a_heading_that_is_nearly_right_is_suggested(cortex: Cortex) -> None:
    with pytest.raises(UsageError, match="did you mean 'Sub'"):
        cortex.read_note("Note", heading="Subb")


def test_what_is_left_out_is_told_to_the_owner_and_hidden_files_are_not(
    cortex: Cortex, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(note: str) -> str:
        assert main(["read", "--config", str(cortex.config.path), "--", note]) == 2
        return capsys.readouterr().err

    for note in ("p", "Private/p.md", "[[P]]"):
        assert told(note).startswith(
            "cortex: Private/p.md is left out of the index by the settings"
        )
    for note in ("data", ".obsidian/plugins/data.md", "../outside/secret", "leak", ".", "/"):
        assert "left out" not in told(note)
    with pytest.raises(UsageError, match="there is no note 'p' in the vault"):
        cortex.read_note("p")  # as the agent's tool reads
