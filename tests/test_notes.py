"""`cortex note new`: a note from a template, checked, in its folder, and never over another one."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import sys
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from cortex import Cortex
from cortex.checks.frontmatter import issues_in
from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import UsageError
from cortex.files import create_below
from cortex.ops import notes, scaffold
from cortex.ops.note_template import filled
from cortex.ops.notes import NewNote
from cortex.vault.frontmatter import split

NOW = dt.datetime(2026, 3, 1, 14, 5, tzinfo=dt.UTC)


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """One that was laid out by us."""
    scaffold.write(tmp_path / "vault", scaffold.missing(tmp_path / "vault", NOW.date()))
    return tmp_path / "vault"


@pytest.fixture
def desk(vault: Path, tmp_path: Path) -> Desk:
    config = tmp_path / "state" / "config.yaml"
    config.parent.mkdir()
    config.write_text(
        f"vault: {{path: '{vault}', exclude_folders: [00_inbox]}}\nembeddings: {{model: hashing}}\n"
    )
    return Desk.open(config, env={}, now=NOW)


@pytest.fixture
def run(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def run(*arguments: str) -> Ran:
        code = main(["note", "new", *arguments, "--config", str(desk.config.path)])
        return Ran(code, *capsys.readouterr())

    return run


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    return folder


def drafted(vault: Path, title: str = "Slate", **wanted: Any) -> notes.Draft:
    return notes.draft(vault, NewNote(title, **wanted), NOW)


# Where it goes, and what it says


@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        ("fact", "10_facts"),
        ("decision", "20_decisions"),
        ("project", "30_projects"),
        ("runbook", "40_runbooks"),
        ("person", "50_people"),
        ("map", "60_maps"),
        ("note", "00_inbox"),
    ],
)
def test_a_note_of_each_type_is_valid_and_lies_in_its_folder(
    desk: Desk, vault: Path, kind: str, folder: str
) -> None:
    note = desk.new_note(NewNote("Slate instead of tiles", kind))
    assert note.path == f"{folder}/Slate instead of tiles.md"
    text = (vault / note.path).read_text("utf-8")
    assert text == note.text
    assert issues_in(note.path, text) == []
    assert split(text).values["type"] == kind
    assert split(text).values["created"] == "2026-03-01"
    assert "\n# Slate instead of tiles\n" in text and "{{" not in text
    assert note.template == f"80_templates/{kind}-note.md"


def test_a_note_is_written_found_and_read(desk: Desk) -> None:
    desk.new_note(NewNote("Slate", "decision", body="Slate lasts; the zebra roof leaked."))
    desk.cortex.index()
    (hit, *_) = desk.cortex.search("zebra roof").hits
    assert hit.chunk.note == "20_decisions/Slate.md"


def test_tags_and_properties_are_put_where_they_stand_and_the_rest_stays(vault: Path) -> None:
    template = (
        "---\n# how sure\nconfidence: low   # say why\ntags:\n  - old\ntype: x\n"
        'status: draft\nimportance: 2\nstability: stable\ndomain: "{{title}}"\n---\n'
        "Body {{title}}\n"
    )
    write(vault, **{"80_templates__fact-note.md": template})
    note = drafted(
        vault,
        "A 'b'",
        type="fact",
        tags=("#roof/slate", "old"),
        properties={"importance": 4, "related": ["[[Start here]]"], "since": "2026-02-01"},
    )
    assert note.text == (
        "---\n# how sure\nconfidence: low   # say why\ntags:\n  - old\n  - roof/slate\ntype: fact\n"
        "status: draft\nimportance: 4\nstability: stable\ndomain: \"A 'b'\"\n"
        "related: [\"[[Start here]]\"]\nsince: 2026-02-01\n---\nBody A 'b'\n"
    )


def test_a_body_takes_the_place_of_the_sections_and_keeps_its_own_heading(vault: Path) -> None:
    assert drafted(vault, body="One.\r\n\r\nTwo.\n\n").text.endswith(
        "\n---\n\n# Slate\n\nOne.\n\nTwo.\n"
    )
    assert drafted(vault, body="# Other\nOne.").text.endswith("\n---\n\n# Other\nOne.\n")
    # What looks like properties in it is text.
    text = drafted(vault, body="---\ntype: map\n---\nx").text
    assert split(text).values["type"] == "note"


def test_in_a_vault_of_another_order_it_goes_to_the_root_with_what_notes_need(
    tmp_path: Path,
) -> None:
    write(tmp_path, **{"Garden__Bees.md": "# Bees\n"})
    assert drafted(tmp_path, type="fact").path == "Slate.md"
    note = drafted(tmp_path, type="fact", folder="garden")
    assert note.path == "Garden/Slate.md"
    assert note.template is None
    assert issues_in(note.path, note.text) == []


def test_templates_are_found_where_obsidian_has_them_and_by_what_people_call_them(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        **{
            ".obsidian__templates.json": '{"folder": "Meta/Forms"}',
            "Meta__Forms__Fact Template.md": "# {{title}}\nof {{date:dddd, D. MMMM YYYY}}\n",
            "Own.md": "mine\n",
        },
    )
    note = drafted(tmp_path, type="fact")
    assert note.template == "Meta/Forms/Fact Template.md"
    assert note.text == (
        "---\ntype: fact\nstatus: active\ntags: []\nconfidence: medium\nimportance: 3\n"
        "stability: evolving\ncreated: 2026-03-01\n---\n# Slate\nof Sunday, 1. March 2026\n"
    )
    assert drafted(tmp_path, template="Own").text.endswith("---\nmine\n")
    write(tmp_path, **{"Templates__person.md": "---\nborn: {{date}}\n---\n"})
    assert drafted(tmp_path, type="person").text.startswith("---\nborn: 2026-03-01\ntype: person")
    with pytest.raises(UsageError, match="no template Gone in the vault"):
        drafted(tmp_path, template="Gone")


def test_a_template_with_windows_line_ends_keeps_them(vault: Path) -> None:
    text = scaffold.shipped_template("fact").replace("\n", "\r\n")
    write(vault, **{"80_templates__fact-note.md": text})
    note = drafted(vault, type="fact", body="One.\nTwo.")
    assert "\n" not in note.text.replace("\r\n", "")
    assert issues_in(note.path, note.text) == []


# Placeholders


@pytest.mark.parametrize(
    ("layout", "written"),
    [
        ("{{date}}", "2026-03-01"),
        ("{{time}}", "14:05"),
        ("{{ DATE : YYYY-MM-DD }}", "2026-03-01"),
        ("{{date:dddd D MMM 'YY, [week] WW, Do}}", "Sunday 1 Mar '26, week 09, 1st"),
        ("{{time:h:mm a Z}}", "2:05 pm +00:00"),
        ("{{date:DDDD d Q}}", "060 0 1"),
        ("{{unknown}} <% tp.date %>", "{{unknown}} <% tp.date %>"),
    ],
)
def test_date_and_time_are_written_as_obsidian_does(layout: str, written: str) -> None:
    assert filled(layout, "T", NOW) == written


@pytest.mark.parametrize(
    "header",
    [
        "x: {{title}}",
        'x: "{{title}}"',
        "x: '{{title}}'",
        "x: {{title}}   # why",
    ],
)
@pytest.mark.parametrize("title", ["a: b", "it's #1", 'say "no"', "- [x]", "back\\slash", "true"])
def test_any_title_stays_one_text_in_the_properties(header: str, title: str) -> None:
    text = filled(f"---\n{header}\ny: 1\n---\n", title, NOW)
    assert split(text).values == {"x": title, "y": 1}
    assert split(text).problems == ()


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp"]), max_size=30))
def test_a_title_in_a_list_or_between_words_is_one_text_too(title: str) -> None:
    text = filled('---\nx: [{{title}}, "of {{title}}"]\nd: {{date}}\n---\n', title, NOW)
    assert yaml.safe_load(text.split("\n")[1])["x"] == [title, f"of {title}"]
    assert split(text).values["d"] == "2026-03-01"


def test_a_placeholder_that_is_left_is_told(vault: Path) -> None:
    write(vault, **{"80_templates__fact-note.md": "# {{title}}\n\n{{weather}}\n"})
    (warning, *_) = [w for w in drafted(vault, type="fact").warnings if w.code == "placeholder"]
    assert (warning.message, warning.line) == ("{{weather}} is left as it is", 12)


# What is refused


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("", "a note needs a title"),
        ("  .md", "a note needs a title"),
        ("../out", "cannot hold '/'"),
        ("a\\b", r"cannot hold '\\\\'"),
        (
            "Roof: slate",
            "cannot hold ':', as it is the name of a file and of links; try 'Roof - sl",
        ),
        ("a#b", "cannot hold '#'"),
        ("a^b", "cannot hold '\\^'"),
        ("[[a]]", "cannot hold '\\['"),
        ("a|b", "cannot hold '\\|'"),
        ("why?", "cannot hold '\\?'.*; try 'why'"),
        ("a\x00b", "cannot hold U\\+0000"),
        ("a\u202eb", "cannot hold U\\+202E"),
        (".hidden", "cannot begin with a dot"),
        ("end.", "cannot end with a dot"),
        ("CON", "a name that Windows keeps for itself"),
        ("lpt1.x", "a name that Windows keeps for itself"),
        ("ö" * 91, "is longer than 180 bytes"),
    ],
)
def test_a_title_that_is_no_name_for_file_and_link_is_refused(
    vault: Path, title: str, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        drafted(vault, title)


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("..", "leads out of the vault"),
        ("10_facts/../../x", "leads out of the vault"),
        ("a\\..\\..", "leads out of the vault"),
        ("/etc", "is not inside the vault"),
        ("C:/x", "is not inside the vault"),
        (".obsidian", "is hidden from searches"),
        ("a/.trash/b", "is hidden from searches"),
        ("node_modules", "is hidden from searches"),
        ("link", "is a link"),
        ("link/deeper", "is a link"),
        ("index.md", "is no folder"),
        ("new:one", "is no name for one"),
        ("aux", "is no name for one"),
        ("x /y", "is no name for one"),
    ],
)
def test_a_folder_that_leads_elsewhere_is_refused(
    vault: Path, tmp_path: Path, folder: str, said: str
) -> None:
    (tmp_path / "outside").mkdir()
    (vault / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match=said):
        drafted(vault, folder=folder)
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("there", ["Café.md", unicodedata.normalize("NFD", "Café.md"), "CAFÉ.MD"])
def test_a_note_that_is_there_in_any_case_and_composition_is_not_overwritten(
    vault: Path, there: str
) -> None:
    (vault / "10_facts" / there).write_text("mine")
    with pytest.raises(UsageError, match="is there already; give another title"):
        drafted(vault, unicodedata.normalize("NFD", "café"), type="fact")


def test_one_that_appears_between_draft_and_writing_stays(vault: Path) -> None:
    note = drafted(vault, type="fact")
    (vault / note.path).write_text("mine")
    with pytest.raises(UsageError, match=r"10_facts/Slate\.md is there already"):
        notes.write(vault, note)
    assert (vault / note.path).read_text() == "mine"
    assert [path for path in os.listdir(vault / "10_facts") if path.startswith(".new")] == []


def test_of_several_that_write_the_same_note_at_once_one_does(vault: Path) -> None:
    drafts = [drafted(vault, type="fact", body=f"Writer {number}.") for number in range(8)]

    def wrote(note: notes.Draft) -> bool:
        try:
            notes.write(vault, note)
        except UsageError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(wrote, drafts))
    assert outcomes.count(True) == 1
    assert (vault / "10_facts" / "Slate.md").read_text() == drafts[outcomes.index(True)].text


def test_a_folder_that_is_swapped_for_a_link_leads_nowhere(vault: Path, tmp_path: Path) -> None:
    note = drafted(vault, folder="New/Deep")
    (tmp_path / "outside").mkdir()
    (vault / "New").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError):
        notes.write(vault, note)
    assert list((tmp_path / "outside").iterdir()) == []


def test_where_hard_links_are_missing_it_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*paths: object, **about: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    create_below(tmp_path, "a/b.md", b"text")
    assert (tmp_path / "a" / "b.md").read_bytes() == b"text"
    assert os.listdir(tmp_path / "a") == ["b.md"]
    with pytest.raises(FileExistsError):
        create_below(tmp_path, "a/b.md", b"other")
    assert (tmp_path / "a" / "b.md").read_bytes() == b"text"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"type": "fct"}, "'fct' is no type of note; did you mean fact"),
        ({"type": "zzz"}, "types are fact, decision"),
        ({"properties": {"status": "actve"}}, "line 3: .*'actve' .*active"),
        ({"properties": {"importance": "much"}}, "importance"),
        ({"properties": {"last_verified": "soon"}}, "last_verified"),
        ({"properties": {"type": "map"}}, "give it as --type"),
        ({"properties": {"a: b": 1}}, "is no name for a property"),
        ({"properties": {"deep": {"a": 1}}}, "holds properties of its own"),
        ({"properties": {"deep": [[1]]}}, "is a list in a list"),
        ({"tags": ("two words",)}, "'two words' is no tag; try two-words"),
        ({"tags": ("2024",)}, "'2024' is no tag; give a word"),
        ({"tags": ("",)}, "is no tag; give a word"),
        ({"tags": ("caf\udce9",)}, "some of the text is not UTF-8"),
        ({"properties": {"x": ["caf\udce9"]}}, "some of the text is not UTF-8"),
        ({"body": "caf\udce9"}, "some of the text is not UTF-8"),
    ],
)
def test_what_validate_frontmatter_would_complain_of_is_refused(
    vault: Path, wanted: dict[str, Any], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        drafted(vault, **wanted)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (b"---\ntype: [fact\n---\n# {{title}}\n", "the template 80_templates/fact-note.md: line"),
        (b"---\ntype: fact\ntype: map\n---\n", "the template 80_templates/fact-note.md: line 3"),
        (b"---\ntype: fact\n", "the template 80_templates/fact-note.md: line 1"),
        (b"caf\xe9\n", "the template 80_templates/fact-note.md is not UTF-8"),
        (b"\x00\x01\x02\xff\xfe\x03\x00" * 20, "the template 80_templates/fact-note.md is no"),
    ],
)
def test_a_template_that_cannot_be_used_is_named(vault: Path, template: bytes, said: str) -> None:
    (vault / "80_templates" / "fact-note.md").write_bytes(template)
    with pytest.raises(UsageError, match=said):
        drafted(vault, type="fact")


def test_a_template_that_may_not_be_read_is_named_and_no_other_taken_for_it(
    vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UsageError, match=r"80_templates/fact-note\.md cannot be read: Permission"):
        drafted(vault, type="fact")


def test_a_folder_that_may_not_be_written_is_named(
    run: Callable[..., Ran], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "x")

    monkeypatch.setattr(notes, "create_below", refuse)
    assert run("--title", "Slate") == Ran(
        1,
        "",
        f"cortex: {vault}/00_inbox/Slate.md cannot be written: Permission denied; "
        "give yourself the right to write there\n",
    )


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=20))
def test_whatever_is_asked_for_lands_inside_as_a_valid_note_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, title: str, folder: str, value: str
) -> None:
    vault = tmp_path_factory.mktemp("vault")
    try:
        note = notes.draft(vault, NewNote(title, folder=folder, properties={"x": value}), NOW)
    except UsageError:
        return
    notes.write(vault, note)
    (written,) = [path for path in vault.rglob("*") if path.is_file()]
    assert written.relative_to(vault).as_posix() == note.path
    assert split(written.read_bytes().decode("utf-8")).values["x"] == value
    assert issues_in(note.path, note.text) == [
        issue for issue in note.warnings if issue.code not in ("new_folder", "same_name")
    ]


# The command


def test_the_command_says_where_it_wrote_and_what_is_next(
    run: Callable[..., Ran], vault: Path, desk: Desk
) -> None:
    ran = run("--type", "fact", "--title", "Slate", "--tag", "roof", "--set", "importance=5")
    assert ran == Ran(
        0,
        "wrote 10_facts/Slate.md from the template 80_templates/fact-note.md\n"
        f"next: cortex index --config {desk.config.path}\n",
        "",
    )
    values = split((vault / "10_facts" / "Slate.md").read_text()).values
    assert (values["tags"], values["importance"]) == (["roof"], 5)
    again = run("--type", "fact", "--title", "slate")
    assert (again.code, again.out) == (2, "")
    assert again.err.startswith("cortex: 10_facts/Slate.md is there already; ")


def test_a_dry_run_prints_the_note_and_writes_nothing(run: Callable[..., Ran], vault: Path) -> None:
    before = sorted(vault.rglob("*"))
    ran = run("--title", "Start here", "--body", "token: ghp_" + "a1B2" * 9, "--dry-run")
    assert ran.out.startswith("---\ntype: note\n")
    assert ran.out.endswith("a1B2\n")
    told = ran.err.splitlines()
    assert told[0].startswith("cortex: would write 00_inbox/Start here.md from ")
    assert told[1] == "cortex: links by that name could mean 60_maps/Start here.md too"
    assert "this looks like a secret" in told[2]
    assert told[3] == "cortex: the settings leave that folder out, so the note is not searched"
    assert sorted(vault.rglob("*")) == before


def test_json_and_a_body_from_stdin(
    run: Callable[..., Ran], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfOne.\r\nTwo.\n")))
    document = json.loads(run("--title", "Slate", "--folder", ".", "--body", "-", "--json").out)
    assert document["schema_version"] == 1
    assert document["path"] == "Slate.md"
    assert document["file"] == f"{vault}/Slate.md"
    assert (document["written"], document["searched"]) == (True, True)
    assert document["text"].endswith("# Slate\n\nOne.\nTwo.\n")
    assert (vault / "Slate.md").read_text() == document["text"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "the following arguments are required: --title"),
        (("--title", "x", "--set", "a"), "--set 'a' is not KEY=VALUE, e.g. --set importance=4"),
        (("--title", "x", "--set", "a=1", "--set", "a=2"), "--set a is given twice"),
        (("--title", "x", "--set", "a=caf\udce9"), "some of the text is not UTF-8"),
    ],
)
def test_asked_wrongly_is_one_line_and_2(
    run: Callable[..., Ran], arguments: tuple[str, ...], said: str
) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err and ran.err.count("\n") == 1


def test_a_full_disk_is_told_and_leaves_nothing(
    run: Callable[..., Ran], vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    before = sorted(vault.rglob("*"))
    monkeypatch.setattr(os, "fsync", full)
    ran = run("--title", "Slate")
    assert (ran.code, ran.out) == (1, "")
    assert f"{vault}/00_inbox/Slate.md: No space left on device" in ran.err
    assert sorted(vault.rglob("*")) == before


def test_ten_thousand_notes_do_not_keep_it_waiting(tmp_path: Path) -> None:
    for number in range(10_000):
        folder = tmp_path / str(number % 100)
        folder.mkdir(exist_ok=True)
        (folder / f"Note {number}.md").touch()
    assert [w.code for w in drafted(tmp_path, "note 77").warnings if w.code == "same_name"] == [
        "same_name"
    ]


def test_the_vault_has_to_be_there(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"vault: {{path: '{tmp_path}/gone'}}\n")
    with pytest.raises(UsageError, match="does not exist"):
        Desk(Cortex.open(config, env={})).new_note(NewNote("Slate"))
