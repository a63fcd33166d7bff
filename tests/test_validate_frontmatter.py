"""`cortex validate-frontmatter`: what is wrong in the properties of notes, where, the remedy."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.checks.frontmatter import issues_in
from cortex.checks.issue import Issue
from cortex.cli import main
from cortex.desk import Desk
from cortex.errors import CortexError, UsageError

PROPERTIES = """\
type: fact
status: active
tags: [sea]
confidence: high
importance: 4
stability: stable
domain: harbour
"""
GOOD = f"---\n{PROPERTIES}---\n# Tide\n"


def with_line(line: str, text: str = GOOD) -> str:
    """A good note whose header ends with one more line: line 9 of the file."""
    return text.replace("domain: harbour\n", f"domain: harbour\n{line}\n")


def without(name: str) -> str:
    return "".join(line for line in GOOD.splitlines(True) if not line.startswith(f"{name}:"))


def told(text: str, path: str = "note.md") -> list[tuple[str, str | None, int | None, str | None]]:
    return [(i.code, i.field, i.line, i.suggestion) for i in issues_in(path, text)]


def test_a_note_that_keeps_the_schema_has_no_issues():
    assert issues_in("note.md", GOOD) == []


@pytest.mark.parametrize(
    "line",
    [
        "created: 2025-01-31",
        "created: 2025-01-31T10:00:00+01:00",
        "updated: '2025-01-31 10:00'",
        "last_verified:",
        "related: [[Some Note]]",
        "aliases: [a, 'b: c']",
        "decision_state: proposed",
        "aliases: []",
    ],
)
def test_what_the_schema_allows_is_no_issue(line):
    assert issues_in("note.md", with_line(line)) == []


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_other_line_ends_change_neither_issues_nor_lines(ends):
    assert told(with_line("created: soon").replace("\n", ends)) == [
        ("normalization_warning", "created", 9, "write the day as YYYY-MM-DD")
    ]


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("type", "type: note"),
        ("status", "status: active"),
        ("tags", "tags: []"),
        ("confidence", "confidence: medium"),
        ("importance", "importance: medium"),
        ("stability", "stability: evolving"),
    ],
)
def test_a_required_property_that_is_missing_or_empty_is_an_error_and_what_is_suggested_mends_it(
    name, write
):
    assert told(without(name)) == [("missing_required", name, 1, f"add `{write}`")]
    line = without(name).count("\n", 0, without(name).index("---\n#")) + 1
    for empty in ("", " ''", " ~"):
        text = without(name).replace("---\n#", f"{name}:{empty}\n---\n#")
        assert told(text) == [("missing_required", name, line, f"write `{write}`")]
    mended = without(name).replace("---\n#", f"{write}\n---\n#")
    assert issues_in("note.md", mended) == []


def test_the_type_that_is_suggested_goes_by_the_folder():
    (issue,) = issues_in("40_runbooks/Ring the bell.md", without("type"))
    assert issue.suggestion == "add `type: runbook`"


def test_an_empty_list_of_tags_says_that_there_are_none():
    assert issues_in("note.md", GOOD.replace("tags: [sea]", "tags: []")) == []


@pytest.mark.parametrize("spelt", ["Type", "typ", "types"])
def test_a_required_property_under_another_spelling_is_named(spelt):
    text = GOOD.replace("type: fact", f"{spelt}: fact")
    assert told(text) == [("missing_required", "type", 2, f"rename `{spelt}` to `type`")]


@pytest.mark.parametrize("line", ["", "domain:\n", "domain: ' '\n"])
def test_a_missing_or_blank_domain_is_a_warning(line):
    (issue,) = issues_in("note.md", GOOD.replace("domain: harbour\n", line))
    assert (issue.severity, issue.code, issue.field) == ("warning", "missing_domain", "domain")
    assert issue.line == (8 if line else 1)


@pytest.mark.parametrize(
    ("given", "write"),
    [
        ("type: Fact", "type: fact"),
        ("type: facts", "type: fact"),
        ("type: [fact]", "type: fact"),
        ("type: people", "type: person"),
        ("status: actve", "status: active"),
        ("status: ['[[Active]]']", "status: active"),
        ("stability: stabel", "stability: stable"),
        ("confidence: hgh", "confidence: high"),
        ("confidence: 80%", "confidence: 0.8"),
        ("importance: '0,5'", "importance: 3"),
        ("importance: critcal", "importance: critical"),
    ],
)
def test_the_word_or_number_that_was_meant_is_suggested(given, write):
    name = given.partition(":")[0]
    text = without(name).replace("---\n#", f"{given}\n---\n#")
    assert told(text) == [("normalization_warning", name, 8, f"write `{write}`")]


@pytest.mark.parametrize(
    "given",
    [
        *("type: Movie", "type: 5", "status: {a: b}", "status: '{{status}}'", "stability: true"),
        *("confidence: 5.1", "confidence: -1", "confidence: .nan", "confidence: [high, low]"),
        *("importance: 9", "importance: -0.5", "importance: true", "importance: verified"),
        "tags: {sea: 1}",
    ],
)
def test_a_value_outside_the_schema_is_a_warning_with_its_line(given):
    name = given.partition(":")[0]
    (issue,) = issues_in("note.md", without(name).replace("---\n#", f"{given}\n---\n#"))
    assert (issue.severity, issue.code) == ("warning", "normalization_warning")
    assert (issue.field, issue.line) == (name, 8)


@pytest.mark.parametrize(
    "given",
    [
        *("confidence: 0", "confidence: 1", "confidence: 5", "confidence: '0.7'"),
        *("confidence: unknown", "confidence: Verified", "importance: 0", "importance: 0.5"),
        *("importance: 5", "importance: MED", "tags: a, b", "tags: sea"),
    ],
)
def test_every_way_of_the_schema_to_rate_and_tag_is_allowed(given):
    name = given.partition(":")[0]
    assert issues_in("note.md", without(name).replace("---\n#", f"{given}\n---\n#")) == []


def test_the_label_of_a_workflow_is_sent_to_where_it_belongs():
    (issue,) = issues_in("note.md", GOOD.replace("status: active", "status: in-progress"))
    assert issue.suggestion is not None
    assert "review_status or lifecycle_status or decision_state" in issue.suggestion


@pytest.mark.parametrize(
    ("written", "suggestion"),
    [
        ("2.1.2025", "write `created: 2025-01-02`"),
        ("2 Jan 2025", "write `created: 2025-01-02`"),
        ('"[[2025-01-02]]"', "write `created: 2025-01-02`"),
        ("1735776000", "write `created: 2025-01-02`"),
        ("2025-02-30", "write the day as YYYY-MM-DD"),
        ("01/02/2025", "write the day as YYYY-MM-DD"),
        ("'{{date}}'", "write the day as YYYY-MM-DD"),
    ],
)
def test_a_day_that_is_not_iso_is_a_warning_and_one_that_is_understood_is_written_out(
    written, suggestion
):
    (issue,) = issues_in("note.md", with_line(f"created: {written}"))
    assert (issue.code, issue.field, issue.line) == ("normalization_warning", "created", 9)
    assert issue.suggestion == suggestion


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("title: Tides: a story", 'title: "Tides: a story"'),
        ("title: 'it's high'", 'title: "it\'s high"'),
        ('title: "open', 'title: "open"'),
        ("author: @ada", 'author: "@ada"'),
        ("share: %x", 'share: "%x"'),
        ("kind: !odd one", 'kind: "!odd one"'),
        ("other: *gone", 'other: "*gone"'),
        ("title: Ebbe: „tief“", 'title: "Ebbe: „tief“"'),
        ("title: {{title}} - {{date}}", 'title: "{{title}} - {{date}}"'),
        ("created: {{date}}", 'created: "{{date}}"'),
        ("created: {{date:YYYY-MM-DD}}", 'created: "{{date:YYYY-MM-DD}}"'),
    ],
)
def test_a_line_that_is_no_yaml_is_told_with_one_that_is(line, mended):
    issues = issues_in("80_templates/form.md", with_line(line))
    assert [(i.severity, i.code, i.line, i.suggestion) for i in issues] == [
        ("error", "yaml_parse_error", 9, mended)
    ]
    assert issues_in("80_templates/form.md", with_line(mended)) == []


@pytest.mark.parametrize(
    ("lines", "at", "remedy"),
    [
        ("nested:\n\ta: 1", 9, "indent it with spaces, not with tabs"),
        ("list: [a, b", 9, "its brackets do not match, or an entry must be put in quotes"),
        ("this is loose", 9, "write it as `key: value`"),
        ("type: fact", 9, "remove line 9, or the earlier one; the last value counts"),
        ("bell: a\x07b", 9, "remove it"),
        ("list:\n  - a\n  - {{b}}", 11, '- "{{b}}"'),
    ],
)
def test_what_yaml_forbids_is_an_error_on_its_line_of_the_file(lines, at, remedy):
    assert [(code, line, how) for code, _, line, how in told(with_line(lines))] == [
        ("yaml_parse_error", at, remedy)
    ]


def test_colons_without_a_blank_are_told_by_the_line_that_is_meant():
    assert told("---\ntype:fact\nstatus:active\n---\n") == [
        ("yaml_parse_error", None, 2, "type: fact")
    ]


def test_nesting_without_end_is_an_error_and_not_the_end():
    for text in (with_line("x: " + "[" * 5000), "---\n" + "[" * 50_000 + "\n---\n"):
        assert [issue.code for issue in issues_in("note.md", text)] == ["yaml_parse_error"]


@pytest.mark.parametrize("block", ["- a\n- b\n", "only some prose\n", "# a heading\n"])
def test_a_block_that_is_no_mapping_is_told(block):
    (issue,) = issues_in("note.md", f"---\n{block}---\nText.")
    assert (issue.severity, issue.code, issue.line) == ("error", "frontmatter_not_mapping", 1)


@pytest.mark.parametrize(
    ("text", "line", "remedy"),
    [
        ("\n\n" + GOOD, 3, "remove the empty lines above them"),
        ("# Tide\n" + GOOD, 2, "move them to the top"),
        ("-" + GOOD, 1, "make the first line ---"),
        (" " + GOOD, 1, "make the first line ---"),
        ("+++\ntype = 'fact'\n+++\n", 1, "write them as YAML between lines of ---"),
        (f"---\n{PROPERTIES}\n# Tide\nText.", 1, "write --- on a line of its own below line 8"),
        (f"---\n{PROPERTIES}list:\n- a\n", 1, "write --- on a line of its own below line 10"),
    ],
)
def test_a_block_that_does_not_count_is_missing_and_why_is_told(text, line, remedy):
    assert told(text) == [("missing_frontmatter", None, line, remedy)]


@pytest.mark.parametrize("text", ["", "Only text.", "---\n\nA rule, and text.\n", "\n"])
def test_a_note_without_properties_is_shown_all_that_it_needs(text):
    ((code, _, line, remedy),) = told(text, "20_decisions/a.md")
    assert (code, line) == ("missing_frontmatter", 1)
    assert remedy is not None
    lines = remedy.removeprefix("begin the note with these lines:\n").split("\n")
    assert lines[1] == "type: decision"
    assert issues_in("note.md", "\n".join([*lines, ""])) == []


def test_an_empty_block_lacks_everything():
    assert [(code, field) for code, field, _, _ in told("---\n---\n")] == [
        *(("missing_required", name) for name in ("type", "status", "tags", "confidence")),
        *(("missing_required", name) for name in ("importance", "stability")),
        ("missing_domain", "domain"),
    ]


TEMPLATE = """\
---
type:
status: "{{status}}"
tags: []
confidence: "{{c}}"
importance: <% tp.importance %>
stability: stable
domain: ""
created: "{{date:YYYY-MM-DD}}"
---
"""


def test_what_a_template_leaves_to_be_filled_in_is_an_issue_elsewhere_alone():
    for folder in ("80_templates", "Extras/Templates", "01 - Template"):
        assert issues_in(f"{folder}/form.md", TEMPLATE) == []
    assert [issue.field for issue in issues_in("10_facts/form.md", TEMPLATE)] == [
        *("type", "status", "confidence", "importance", "domain", "created")
    ]


# Over a vault


def write(vault: Path, notes: dict[str, str | bytes]) -> None:
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def desk_over(tmp_path: Path):
    """A Desk over a vault in tmp_path/vault; nothing is built."""

    def make(notes: dict[str, str | bytes], settings: str = "") -> Desk:
        (tmp_path / "vault").mkdir(exist_ok=True)
        write(tmp_path / "vault", notes)
        config = tmp_path / "state" / "config.yaml"
        config.parent.mkdir(exist_ok=True)
        config.write_text(f"vault: {{path: '{tmp_path / 'vault'}'{settings}}}\n", "utf-8")
        return Desk(Cortex.open(config, env={}))

    return make


def test_every_note_has_its_entry_in_one_report_also_those_that_cannot_be_read(desk_over):
    desk = desk_over(
        {
            "b/good.md": GOOD,
            "a.md": without("type"),
            "latin.md": "---\ntype: fact\ntitle: Müller\n---\n".encode("latin-1"),
            "utf16.md": GOOD.encode("utf-16"),
            "picture.md": bytes(range(256)) * 40,
            "mark.md": b"\xef\xbb\xbf" + GOOD.encode(),
            "drawing.png": b"\x89PNG",
        }
    )
    report = desk.validate_frontmatter()
    assert [(note.file, [issue.code for issue in note.issues]) for note in report.notes] == [
        ("a.md", ["missing_required"]),
        ("b/good.md", []),
        ("latin.md", ["read_error"]),
        ("mark.md", []),
        ("picture.md", ["read_error"]),
        ("utf16.md", ["read_error"]),
    ]
    by_file = {note.file: note.issues for note in report.notes}
    assert by_file["latin.md"] == (
        Issue(
            "error",
            "read_error",
            "some bytes are not UTF-8; they were read as Windows-1252",
            None,
            3,
            "save it as UTF-8",
        ),
    )
    assert (report.errors, report.warnings) == (4, 0)


def test_a_note_that_the_system_refuses_is_an_entry(desk_over, monkeypatch):
    desk = desk_over({"a.md": GOOD, "b.md": GOOD})
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == "a.md":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    first, second = desk.validate_frontmatter().notes
    assert [issue.code for issue in first.issues] == ["read_error"]
    assert "Permission denied" in first.issues[0].message
    assert second.issues == ()


def test_a_vault_that_may_not_be_read_is_no_empty_one(desk_over, monkeypatch):
    desk = desk_over({"a.md": GOOD})
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    for check in (desk.validate_frontmatter, desk.wiki_health):
        with pytest.raises(CortexError, match="cannot be read; give yourself the right"):
            check()


def test_what_is_not_indexed_is_checked_when_it_is_named_alone(desk_over):
    notes = {
        "10_facts/a.md": GOOD,
        "raw/articles/b.md": GOOD,
        "raw/c.md": GOOD,
        ".hidden/d.md": GOOD,
    }
    desk = desk_over(notes, ", exclude_folders: [raw]")

    def checked(*paths: str) -> list[str]:
        return [note.file for note in desk.validate_frontmatter(paths).notes]

    assert checked() == ["10_facts/a.md"]
    assert checked(".") == ["10_facts/a.md"]
    assert checked("raw") == ["raw/articles/b.md", "raw/c.md"]
    assert checked("raw/c.md", "10_facts", "./raw/c.md") == ["10_facts/a.md", "raw/c.md"]
    assert checked(str(desk.config.vault.path / "raw" / "articles")) == ["raw/articles/b.md"]


def test_a_folder_that_is_taken_in_part_keeps_to_its_part(desk_over):
    desk = desk_over({"a/x/1.md": GOOD, "a/y/2.md": GOOD}, ", include_folders: [a/x]")
    assert [note.file for note in desk.validate_frontmatter(["a"]).notes] == ["a/x/1.md"]


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("10_facts/Tide", "did you mean 10_facts/Tide.md?"),
        ("10_fact", "did you mean 10_facts?"),
        ("Tyde.md", "did you mean 10_facts/Tide.md?"),
        ("zzzzzz.md", "name a note or a folder of the vault"),
    ],
)
def test_a_path_that_is_not_there_is_an_entry_with_the_near_name(desk_over, asked, hint):
    (note,) = desk_over({"10_facts/Tide.md": GOOD}).validate_frontmatter([asked]).notes
    (issue,) = note.issues
    assert (note.file, issue.severity, issue.code) == (asked, "error", "read_error")
    assert issue.suggestion == hint


@pytest.mark.parametrize("asked", ["..", "../other.md", "a/../../other.md", "/etc/hosts", "", "\0"])
def test_a_path_that_leads_out_of_the_vault_is_refused(desk_over, tmp_path, asked):
    (tmp_path / "other.md").write_text(GOOD, "utf-8")
    with pytest.raises(UsageError):
        desk_over({"a.md": GOOD}).validate_frontmatter([asked])


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need rights there")
def test_a_link_out_of_the_vault_is_neither_walked_nor_named(desk_over, tmp_path):
    desk = desk_over({"a.md": GOOD})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.md").write_text("secret", "utf-8")
    (tmp_path / "vault" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "vault" / "b.md").symlink_to(tmp_path / "outside" / "b.md")
    (tmp_path / "vault" / "gone.md").symlink_to(tmp_path / "vault" / "nowhere.md")
    assert [note.file for note in desk.validate_frontmatter().notes] == ["a.md"]
    for asked in ("link", "link/b.md", "b.md"):
        with pytest.raises(UsageError, match="out of the vault"):
            desk.validate_frontmatter([asked])
    (gone,) = desk.validate_frontmatter(["gone.md"]).notes
    assert [issue.code for issue in gone.issues] == ["read_error"]


def test_the_sample_vault_has_nothing_to_mend(desk_over, tmp_path):
    from cortex import ops

    sample = Path(ops.__file__).resolve().parent.parent / "sample"
    shutil.copytree(sample, tmp_path / "vault")
    report = desk_over({}).validate_frontmatter()
    assert len(report.notes) == 38
    assert [note.file for note in report.notes if note.issues] == []


# The command


@pytest.fixture
def ran(desk_over, capsys):
    """Runs the command over a vault: (exit code, stdout, stderr)."""

    def run(notes: dict[str, str | bytes], *options: str) -> tuple[int, str, str]:
        desk = desk_over(notes)
        capsys.readouterr()
        code = main(["validate-frontmatter", "--config", str(desk.config.path), *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_the_document_has_the_fields_of_its_schema_and_names_clean_notes_too(ran, tmp_path):
    code, out, err = ran({"a.md": GOOD, "b.md": without("domain")}, "--json")
    vault = tmp_path / "vault"
    assert json.loads(out) == {
        "schema_version": 1,
        "vault_path": str(vault),
        "checked_count": 2,
        "error_count": 0,
        "warning_count": 1,
        "files": [
            {
                "file": "a.md",
                "path": str(vault / "a.md"),
                "error_count": 0,
                "warning_count": 0,
                "issues": [],
            },
            {
                "file": "b.md",
                "path": str(vault / "b.md"),
                "error_count": 0,
                "warning_count": 1,
                "issues": [
                    {
                        "severity": "warning",
                        "code": "missing_domain",
                        "message": "the property 'domain' is missing",
                        "field": "domain",
                        "line": 1,
                        "suggestion": "add `domain: ` and the field of life or work that the note "
                        "belongs to",
                    }
                ],
            },
        ],
    }
    assert (code, err) == (0, "")


def test_an_empty_vault_gives_an_empty_document(ran):
    code, out, _ = ran({}, "--json")
    document = json.loads(out)
    assert (code, document["checked_count"], document["files"]) == (0, 0, [])


@pytest.mark.parametrize(
    ("text", "options", "code"),
    [
        (GOOD, (), 0),
        (GOOD, ("--strict",), 0),
        (without("domain"), (), 0),
        (without("domain"), ("--strict",), 1),
        (without("type"), (), 1),
        (without("type"), ("--json",), 1),
        (without("type"), ("--format", "github"), 1),
        (GOOD, ("--path", "nowhere.md"), 1),
        (GOOD, ("--path", "../x.md"), 2),
        (GOOD, ("--json", "--format", "github"), 2),
        (GOOD, ("--format", "xml"), 2),
        (GOOD, ("--path",), 2),
        (GOOD, ("--limit", "-1"), 2),
    ],
)
def test_the_exit_code_says_what_was_found(ran, text, options, code):
    assert ran({"a.md": text}, *options)[0] == code


def test_the_text_has_a_line_for_each_issue_its_remedy_and_counts_at_the_end(ran):
    code, out, err = ran({"a.md": with_line("created: soon"), "b.md": without("type")})
    assert out == (
        "a.md:9: warning normalization_warning 'created' is no day: 'soon'\n"
        "    write the day as YYYY-MM-DD\n"
        "b.md:1: error missing_required the required property 'type' is missing\n"
        "    add `type: note`\n"
        "2 notes checked: 1 error, 1 warning, in 2 notes\n"
        "  missing_required       1  type 1\n"
        "  normalization_warning  1  created 1\n"
    )
    assert (code, err) == (1, "")


def test_a_block_to_copy_is_printed_as_lines_and_once(ran):
    _, out, _ = ran({"a.md": "Text.\n", "b.md": "Text.\n"})
    lines = out.splitlines()
    assert lines[1:4] == [
        "    begin the note with these lines:",
        "        ---",
        "        type: note",
    ]
    assert lines[10] == "        ---"
    assert lines[11:13] == [
        "b.md:1: error missing_frontmatter the note has no properties at its top",
        "    begin it with the same lines as above",
    ]


def test_a_vault_of_another_schema_gets_a_short_list_and_all_counts(ran):
    notes: dict[str, str | bytes] = {f"{n:03}.md": "---\ntitle: x\n---\n" for n in range(30)}
    _, out, err = ran(notes)
    lines = out.splitlines()
    assert lines[200] == "and 110 more; all of them: --limit 0"  # 30 x 7 issues, two lines each
    assert lines[201] == "30 notes checked: 180 errors, 30 warnings, in 30 notes"
    assert "search works without them" in err
    assert len(ran(notes, "--limit", "0")[1].splitlines()) == 2 * 210 + 3


def test_what_could_not_be_read_does_not_count_as_checked(ran):
    out = ran({"a.md": GOOD}, "--path", "a.md", "b.md")[1]
    assert out.splitlines()[2:3] == [
        "1 note checked, 1 could not be read: 1 error, 0 warnings, in 1 note"
    ]


def test_annotations_are_escaped_as_github_wants_and_named_from_the_repository(
    ran, tmp_path, monkeypatch
):
    name = "odd,a:b%.md" if os.name != "nt" else "odd,a%.md"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    notes: dict[str, str | bytes] = {name: with_line("created: '100%::x'")}
    code, out, err = ran(notes, "--format", "github")
    shown = name.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    assert out == (
        f"::warning file=vault/{shown},line=9,title=normalization_warning::"
        "'created' is no day: '100%25::x'; write the day as YYYY-MM-DD\n"
    )
    assert (code, err) == (0, "cortex: 1 note checked: 0 errors, 1 warning, in 1 note\n")
    monkeypatch.delenv("GITHUB_WORKSPACE")
    monkeypatch.chdir(tmp_path / "vault")
    assert f"file={shown},line=9" in ran(notes, "--format", "github")[1]


@pytest.mark.skipif(os.name == "nt", reason="such names are not allowed there")
def test_a_name_with_a_line_end_begins_no_annotation_and_no_line_of_its_own(ran):
    notes: dict[str, str | bytes] = {"a\n::error::b\x1b[31m.md": "text"}
    github = ran(notes, "--format", "github")[1]
    assert len(github.splitlines()) == 1 and "\x1b" not in github
    assert "a%0A%3A%3Aerror%3A%3Ab" in github
    text = ran(notes)[1]
    assert text.startswith("a\\n::error::b\\x1b[31m.md:1: error missing_frontmatter")


def test_a_path_counts_from_the_vault_and_one_that_is_there_only_from_here_too(
    ran, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    notes: dict[str, str | bytes] = {"sub/a.md": GOOD, "b.md": GOOD}
    out = ran(notes, "--json", "--path", "vault/sub/a.md", "--path", "b.md")[1]
    assert [file["file"] for file in json.loads(out)["files"]] == ["b.md", "sub/a.md"]


def test_nothing_is_written(ran, tmp_path):
    ran({"a.md": GOOD, "b.md": "text", "c/d.md": without("type")})
    before = _tree(tmp_path)
    for options in ((), ("--json",), ("--strict", "--path", "c"), ("--format", "github")):
        main(["validate-frontmatter", "--config", str(tmp_path / "state/config.yaml"), *options])
    assert _tree(tmp_path) == before


def _tree(folder: Path) -> dict[str, tuple[float, bytes | None]]:
    return {
        path.relative_to(folder).as_posix(): (
            path.stat().st_mtime,
            path.read_bytes() if path.is_file() else None,
        )
        for path in sorted(folder.rglob("*"))
    }
