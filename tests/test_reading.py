"""Reading a note: by path, name, title or alias, from the file, and never anything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex, UsageError


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
