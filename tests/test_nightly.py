"""Which notes are promoted, what they become, and what is left alone with what reason."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from cortex import Cortex
from cortex.cli import main
from cortex.desk import Desk
from cortex.ops import inventory
from cortex.ops.frontmatter_edit import Change, NotEditable, edited
from cortex.ops.inventory import folded_name
from cortex.ops.nightly import NightlyReport, nightly
from cortex.state import State

NOW = dt.datetime(2026, 3, 1, 2, 0, tzinfo=dt.UTC)
FLAGGED = "---\npromote: true\n---\nx\n"

Night = Callable[..., NightlyReport]


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.fixture
def night(tmp_path: Path, vault: Path) -> Night:
    """Writes notes into the vault and runs promotion."""

    def run(notes: Mapping[str, str | bytes], write: bool = True) -> NightlyReport:
        for path, text in notes.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        return nightly(State(tmp_path / "state"), vault, NOW, write=write)

    return run


def reasons(report: NightlyReport) -> dict[str, str]:
    return {row["file"]: row["reason"] for row in report.skipped}


def test_a_flagged_note_becomes_a_canonical_one_and_its_source_is_archived(
    night: Night, vault: Path
) -> None:
    report = night(
        {
            "00_inbox/Rope.md": (
                "---\n"
                "# noted on the slipway\n"
                "type: decision  # not a fact\n"
                "status: draft\n"
                "promote: true\n"
                "review_status: pending\n"
                "tags: bell, rope\n"
                "confidence: high\n"
                "importance: 4\n"
                "created: 2026-02-01\n"
                "domain: 'harbour'\n"
                "---\n"
                "# Keep the rope\n"
            )
        }
    )
    assert report.promoted == [
        {
            "file": "20_decisions/Rope.md",
            "source": "00_inbox/Rope.md",
            "type": "decision",
            "derived_from": "[[00_inbox/Rope]]",
        }
    ]
    assert (vault / "20_decisions/Rope.md").read_text() == (
        "---\n"
        "# noted on the slipway\n"
        "type: decision  # not a fact\n"
        "status: active\n"
        "tags: [bell, rope]\n"
        "confidence: 0.85\n"
        "importance: 4\n"
        "created: 2026-02-01\n"
        "domain: 'harbour'\n"
        "updated: 2026-03-01\n"
        "last_verified: 2026-03-01\n"
        "aliases: []\n"
        "stability: stable\n"
        "source: session\n"
        'derived_from: ["[[00_inbox/Rope]]"]\n'
        "---\n"
        "# Keep the rope\n"
    )
    assert (vault / "00_inbox/Rope.md").read_text() == (
        "---\n"
        "# noted on the slipway\n"
        "type: decision  # not a fact\n"
        "status: archived\n"
        "tags: bell, rope\n"
        "confidence: high\n"
        "importance: 4\n"
        "created: 2026-02-01\n"
        "domain: 'harbour'\n"
        "updated: 2026-03-01\n"
        'promoted_to: "20_decisions/Rope.md"\n'
        "archived_reason: promoted\n"
        "---\n"
        "# Keep the rope\n"
    )
    again = night({})
    assert (again.candidates, again.promoted, again.run) == ([], [], None)


@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        ("fact", "10_facts"),
        ("decision", "20_decisions"),
        ("project", "30_projects"),
        ("runbook", "40_runbooks"),
        ("person", "50_people"),
        ("map", "60_maps"),
    ],
)
def test_each_type_has_its_folder(night: Night, vault: Path, kind: str, folder: str) -> None:
    night({"00_inbox/A.md": f"---\npromote: true\ntype: {kind}\n---\nx\n"})
    assert (vault / folder / "A.md").is_file()


@pytest.mark.parametrize(
    ("there", "folder"),
    [(["10_Facts"], "10_Facts"), (["10_facts", "10_Facts", "10_FACTS"], "10_facts")],
)
def test_a_folder_is_taken_as_the_vault_spells_it(
    night: Night, vault: Path, there: list[str], folder: str
) -> None:
    for name in there:
        (vault / name).mkdir(exist_ok=True)
    report = night({"00_inbox/A.md": FLAGGED}, write=False)
    assert [row["file"] for row in report.planned] == [f"{folder}/A.md"]


def test_promote_type_goes_before_type_and_nothing_said_is_a_fact(
    night: Night, vault: Path
) -> None:
    report = night(
        {
            "00_inbox/A.md": "---\npromote: true\ntype: note\npromote_type: map\n---\nx\n",
            "notes/B.md": "---\ncortex_promote: true\n---\nx\n",
        }
    )
    assert [row["file"] for row in report.promoted] == ["60_maps/A.md", "10_facts/B.md"]
    assert "type: map" in (vault / "60_maps/A.md").read_text()


def test_only_a_real_true_flags_a_note_that_is_not_archived(night: Night) -> None:
    report = night(
        {
            "00_inbox/word.md": "---\npromote: yes\n---\n",
            "00_inbox/quoted.md": '---\npromote: "true"\n---\n',
            "00_inbox/no.md": "---\npromote: false\n---\n",
            "00_inbox/done.md": "---\npromote: true\nstatus: archived\n---\n",
            "80_templates/Fact.md": FLAGGED,
            "Templates/Fact.md": FLAGGED,
            "raw/articles/Page.md": FLAGGED,
            ".trash/Gone.md": FLAGGED,
            "node_modules/Pack.md": FLAGGED,
        }
    )
    assert report.candidates == []


@pytest.mark.parametrize(
    ("flag", "told"),
    [
        ("promote: yes", "promote: yes is not true to YAML; write promote: true"),
        ("promote: 'On'", "promote: On is not true to YAML; write promote: true"),
        ('promote: "true"', 'promote: "true" is not true to YAML; write promote: true'),
        (
            "promote: false\ncortex_promote: 1",
            "cortex_promote: 1 is not true to YAML; write cortex_promote: true",
        ),
    ],
)
def test_another_word_for_true_is_told_with_what_to_write(
    night: Night, vault: Path, flag: str, told: str
) -> None:
    text = f"---\n{flag}\n---\nx\n"
    report = night({"00_inbox/B.md": text, "00_inbox/C.md": "---\ntype: x\npromote: true\n---\n"})
    assert [row["file"] for row in report.candidates] == ["00_inbox/C.md"]
    row = {"file": "00_inbox/B.md", "reason": "not_a_boolean", "message": told}
    assert report.skipped[0] == row
    assert reasons(report)["00_inbox/C.md"] == "no_folder_for_type"
    assert (vault / "00_inbox/B.md").read_text() == text


@pytest.mark.parametrize(
    ("path", "properties"),
    [
        ("00_inbox/A.md", "promote: no"),
        ("00_inbox/A.md", "promote: later"),
        ("00_inbox/A.md", "promote: 0"),
        ("00_inbox/A.md", "promote: yes\nstatus: archived"),
        ("10_facts/A.md", "promote: yes"),
        ("80_templates/A.md", "promote: yes"),
        ("raw/A.md", "promote: yes"),
    ],
)
def test_of_a_flag_that_asks_for_nothing_nothing_is_told(
    night: Night, path: str, properties: str
) -> None:
    assert night({path: f"---\n{properties}\n---\nx\n"}).skipped == []


@pytest.mark.parametrize(
    ("properties", "source"),
    [
        ("", None),
        ("source: a letter\n", "source: a letter"),
        ("review_status: pending\n", "source: session"),
        ("candidate: 0a1b\n", "source: session"),
        ('candidate: 0a1b\nsource: "session s1, cli"\n', 'source: "session s1, cli"'),
    ],
)
def test_only_a_draft_out_of_a_session_is_said_to_come_from_one(
    night: Night, vault: Path, properties: str, source: str | None
) -> None:
    night({"00_inbox/A.md": f"---\npromote: true\n{properties}---\nx\n"})
    lines = (vault / "10_facts/A.md").read_text().splitlines()
    assert [line for line in lines if line.startswith("source:")] == ([source] if source else [])


def test_a_log_gets_a_line_only_when_something_was_promoted(night: Night, vault: Path) -> None:
    night({"log.md": "# Log\n", "00_inbox/A.md": "---\npromote: true\ntype: recipe\n---\nx\n"})
    assert (vault / "log.md").read_text() == "# Log\n"
    night({"00_inbox/B.md": FLAGGED})
    assert (vault / "log.md").read_text().splitlines()[1:] == [
        "- 2026-03-01T02:00:00Z nightly run=1 mode=write status=ok candidates=2 promoted=1 "
        "superseded=0 duplicates=0 contradictions=0 skipped=1 "
        'paths=["00_inbox/B.md", "10_facts/B.md"]'
    ]


def test_a_note_in_its_folder_is_never_archived(night: Night, vault: Path) -> None:
    text = "---\ntype: fact\nstatus: active\npromote: true\n---\nx\n"
    report = night({"10_facts/Here.md": text, "10_facts/deep/Too.md": text})
    assert set(reasons(report).values()) == {"already_canonical"}
    assert (vault / "10_facts/Here.md").read_text() == text
    assert report.run is None


def test_a_type_without_a_folder_is_left_alone_and_not_filed_as_a_fact(
    night: Night, vault: Path
) -> None:
    report = night(
        {
            "00_inbox/A.md": "---\npromote: true\ntype: note\n---\n",
            "00_inbox/B.md": "---\npromote: true\ntype: recipe\n---\n",
        }
    )
    assert set(reasons(report).values()) == {"no_folder_for_type"}
    assert not (vault / "10_facts").exists()


@pytest.mark.parametrize(
    ("note", "taken", "reason"),
    [
        ("00_inbox/Tide.md", {"10_facts/tide.md": "x\n"}, "file"),
        ("00_inbox/Caf\u00e9.md", {"10_facts/Cafe\u0301.md": "x\n"}, "file"),
        ("00_inbox/Tide.md", {"30_projects/T.md": "---\ntitle: TIDE\n---\n"}, "title"),
        ("00_inbox/Tide.md", {"notes/tide.md": "x\n"}, "title"),
        ("00_inbox/Tide.md", {"30_projects/T.md": "---\naliases: [tide ]\n---\n"}, "alias"),
    ],
)
def test_a_name_that_is_taken_outside_the_inbox_blocks(
    night: Night, vault: Path, note: str, taken: dict[str, str], reason: str
) -> None:
    report = night({note: FLAGGED, **taken})
    assert [row["reason"] for row in report.skipped_duplicates] == [reason]
    assert [row["existing"] for row in report.skipped_duplicates] == list(taken)
    assert (vault / note).read_text() == FLAGGED


def test_an_alias_of_the_source_may_be_the_taken_name(night: Night) -> None:
    flagged = "---\npromote: true\naliases: [the well]\n---\nx\n"
    report = night({"00_inbox/New.md": flagged, "10_facts/The Well.md": "x\n"})
    assert [(row["reason"], row["existing"]) for row in report.skipped_duplicates] == [
        ("alias", "10_facts/The Well.md")
    ]


def test_names_in_the_inbox_and_in_templates_take_nothing(night: Night) -> None:
    report = night(
        {
            "00_inbox/Tide.md": FLAGGED,
            "00_inbox/later/tide.md": "x\n",
            "80_templates/Tide.md": "x\n",
        }
    )
    assert [row["file"] for row in report.promoted] == ["10_facts/Tide.md"]


def test_of_two_notes_for_one_place_the_first_by_path_wins(night: Night) -> None:
    report = night({"00_inbox/a/T.md": FLAGGED, "00_inbox/b/T.md": FLAGGED})
    assert [row["source"] for row in report.promoted] == ["00_inbox/a/T.md"]
    assert [row["file"] for row in report.skipped_duplicates] == ["00_inbox/b/T.md"]


@pytest.mark.parametrize(
    "notes",
    [
        {
            "00_inbox/A.md": '---\npromote: true\ncontradicts: "[[B]]"\n---\n',
            "10_facts/B.md": "x\n",
        },
        {"00_inbox/A.md": FLAGGED, "10_facts/B.md": "---\ncontradicts: [[A]]\n---\n"},
    ],
)
def test_a_contradiction_blocks_in_either_direction(night: Night, notes: dict[str, str]) -> None:
    report = night(notes)
    assert report.contradiction_blocks == [
        {"file": "00_inbox/A.md", "contradicts": "10_facts/B.md"}
    ]
    assert report.promoted == []


def test_a_contradiction_of_the_link_graph_blocks_too(
    cortex_with: Callable[..., Cortex], tmp_path: Path
) -> None:
    cortex = cortex_with(
        {"00_inbox/A.md": FLAGGED, "10_facts/B.md": "---\ncontradicts: [[A]]\n---\n"}
    )
    (tmp_path / "vault/10_facts/B.md").write_text("changed since the graph was built\n")
    report = Desk(cortex, now=NOW).nightly()
    assert [row["contradicts"] for row in report.contradiction_blocks] == ["10_facts/B.md"]


def test_a_secret_is_told_by_its_line_and_never_by_its_text(
    night: Night, vault: Path, tmp_path: Path
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"---\npromote: true\n---\nWe log in with\n{key}\n"
    in_property = f"---\npromote: true\napi_key: {key}\n---\nx\n"
    report = night({"00_inbox/A.md": text, "00_inbox/B.md": in_property})
    assert reasons(report) == {"00_inbox/A.md": "secret", "00_inbox/B.md": "secret"}
    assert [row["secrets"][0]["line"] for row in report.skipped] == [5, 3]
    assert key not in json.dumps(asdict(report))
    assert (vault / "00_inbox/A.md").read_text() == text
    assert not (tmp_path / "state/lifecycle").exists()


@pytest.mark.parametrize(
    "text",
    [
        "---\npromote: true\ntags: [a\n---\nx\n",
        "---\npromote: true\ntype: fact: x\n---\nx\n",
        "---\npromote: true\npromote: true\n---\nx\n",
        "---\npromote: true\nx\n",
        "---\n{promote: true}\n---\nx\n",
    ],
)
def test_properties_that_are_not_sound_are_left_alone(night: Night, vault: Path, text: str) -> None:
    report = night({"00_inbox/A.md": text})
    assert reasons(report) == {"00_inbox/A.md": "invalid_frontmatter"}
    assert (vault / "00_inbox/A.md").read_text() == text


def test_what_is_no_text_is_an_entry_and_not_the_end(night: Night) -> None:
    report = night(
        {
            "00_inbox/binary.md": b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe" * 40,
            "00_inbox/latin.md": "---\npromote: true\n---\ncaf\u00e9\n".encode("latin-1"),
            "00_inbox/sound.md": FLAGGED,
        }
    )
    assert [row["file"] for row in report.unreadable] == ["00_inbox/binary.md"]
    assert reasons(report) == {"00_inbox/latin.md": "not_utf8"}
    assert [row["message"] for row in report.skipped] == ["it is not UTF-8; save it as UTF-8"]
    assert [row["file"] for row in report.promoted] == ["10_facts/sound.md"]


def test_what_it_supersedes_is_marked_as_text(night: Night, vault: Path) -> None:
    report = night(
        {
            "00_inbox/New.md": "---\npromote: true\nsupersedes: [[Old]]\n---\nx\n",
            "10_facts/Old.md": "\ufeff---\r\n# mine\r\nstatus: 'active'\t# yes\r\n---\r\nold\r\n",
        }
    )
    assert report.superseded == [{"file": "10_facts/Old.md", "superseded_by": "10_facts/New.md"}]
    assert (vault / "10_facts/Old.md").read_bytes().decode() == (
        "\ufeff---\r\n# mine\r\nstatus: superseded\t# yes\r\nupdated: 2026-03-01\r\n"
        'superseded_by: "[[10_facts/New]]"\r\n---\r\nold\r\n'
    )
    assert 'supersedes: ["[[Old]]"]' in (vault / "10_facts/New.md").read_text()


def test_an_ambiguous_name_to_supersede_stops_the_promotion(night: Night, vault: Path) -> None:
    flagged = "---\npromote: true\nsupersedes: Old\n---\nx\n"
    report = night({"00_inbox/New.md": flagged, "a/Old.md": "a\n", "b/Old.md": "b\n"})
    assert reasons(report) == {"00_inbox/New.md": "ambiguous_supersedes"}
    assert (vault / "a/Old.md").read_text() == "a\n"


def test_of_two_notes_that_supersede_the_same_one_the_first_does(night: Night, vault: Path) -> None:
    text = "---\npromote: true\nsupersedes: '[[Old]]'\n---\nx\n"
    report = night({"00_inbox/A.md": text, "00_inbox/B.md": text, "10_facts/Old.md": "o\n"})
    assert [row["file"] for row in report.promoted] == ["10_facts/A.md", "10_facts/B.md"]
    assert report.superseded == [{"file": "10_facts/Old.md", "superseded_by": "10_facts/A.md"}]
    assert report.not_superseded == [
        {
            "file": "10_facts/Old.md",
            "by": "00_inbox/B.md",
            "message": "10_facts/A.md supersedes it already",
        }
    ]
    assert 'superseded_by: "[[10_facts/A]]"' in (vault / "10_facts/Old.md").read_text()


def test_a_superseded_note_whose_properties_are_not_sound_never_gets_a_second_block(
    night: Night, vault: Path
) -> None:
    old = "---\ntags: [a\n---\nold\n"
    report = night(
        {
            "00_inbox/New.md": '---\npromote: true\nsupersedes: ["Old", "None"]\n---\nx\n',
            "10_facts/Old.md": old,
        }
    )
    assert [row["file"] for row in report.promoted] == ["10_facts/New.md"]
    assert (vault / "10_facts/Old.md").read_text() == old
    assert sorted(row["file"] for row in report.not_superseded) == ["10_facts/Old.md", "None"]


def test_a_note_promoted_before_is_superseded_at_its_place_and_not_in_the_inbox(
    night: Night, vault: Path
) -> None:
    night({"00_inbox/Port.md": FLAGGED})
    archived = (vault / "00_inbox/Port.md").read_text()
    newer = "---\npromote: true\nsupersedes: [[Port]]\n---\nx\n"
    report = night({"00_inbox/Port of 2026.md": newer})
    assert [row["file"] for row in report.superseded] == ["10_facts/Port.md"]
    assert (vault / "00_inbox/Port.md").read_text() == archived


def test_a_candidate_that_another_one_supersedes_is_not_promoted(night: Night) -> None:
    report = night(
        {
            "00_inbox/A.md": "---\npromote: true\nsupersedes: [[B]]\n---\nx\n",
            "00_inbox/B.md": FLAGGED,
        }
    )
    assert reasons(report) == {"00_inbox/B.md": "already_superseded"}
    assert reasons(night({})) == {"00_inbox/B.md": "already_superseded"}


def test_a_dry_run_writes_nothing_at_all(night: Night, vault: Path, tmp_path: Path) -> None:
    notes = {"00_inbox/A.md": FLAGGED, "log.md": "# Log\n"}
    report = night(notes, write=False)
    assert report.dry_run
    assert [row["file"] for row in report.planned] == ["10_facts/A.md"]
    assert report.promoted == []
    assert sorted(path.name for path in vault.rglob("*")) == ["00_inbox", "A.md", "log.md"]
    assert not (tmp_path / "state").exists()


def test_the_log_gets_a_line_only_where_it_is_a_file(night: Night, vault: Path) -> None:
    night({"00_inbox/A.md": FLAGGED})
    assert not (vault / "log.md").exists()
    night({"00_inbox/B.md": FLAGGED, "log.md": "# Log, without a line end"})
    assert (vault / "log.md").read_text() == (
        "# Log, without a line end\n"
        "- 2026-03-01T02:00:00Z nightly run=2 mode=write status=ok candidates=1 promoted=1 "
        "superseded=0 duplicates=0 contradictions=0 skipped=0 "
        'paths=["00_inbox/B.md", "10_facts/B.md"]\n'
    )


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_a_folder_that_cannot_be_read_is_told(
    night: Night, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refused(folder: str) -> object:
        if str(folder).endswith("00_inbox"):
            raise PermissionError(13, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refused)
    report = night({"00_inbox/A.md": FLAGGED}, write=False)
    assert report.candidates == []
    assert report.unreadable == [{"file": "00_inbox", "message": "Permission denied"}]


def test_names_are_looked_up_and_not_gone_through(
    night: Night, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def counted(name: str) -> str:
        asked.append(name)
        return folded_name(name)

    monkeypatch.setattr(inventory, "folded_name", counted)
    night({f"10_facts/{n}.md": f"---\ncontradicts: '[[Gone {n}]]'\n---\n" for n in range(50)})
    assert len(asked) < 50 * 8  # each with each other would be 50 * 50


def test_links_out_of_the_vault_are_not_written_through(
    night: Night, vault: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "log.md").write_text("mine\n")
    (vault / "log.md").symlink_to(outside / "log.md")
    (vault / "10_facts").symlink_to(outside)
    report = night({"00_inbox/A.md": FLAGGED})
    assert reasons(report) == {"00_inbox/A.md": "unusable_folder"}
    assert [path.name for path in outside.iterdir()] == ["log.md"]
    assert (outside / "log.md").read_text() == "mine\n"


def test_a_write_that_fails_is_an_error_and_archives_nothing(
    night: Night, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: object, target: object) -> None:
        if str(target).endswith("A.md"):
            raise OSError(28, "No space left on device")
        replace(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "replace", full)
    report = night({"00_inbox/A.md": FLAGGED, "00_inbox/B.md": FLAGGED})
    assert report.error == "00_inbox/A.md could not be archived: No space left on device"
    assert reasons(report) == {"00_inbox/A.md": "write_failed"}
    assert not (vault / "10_facts/A.md").exists()  # taken back
    assert (vault / "00_inbox/A.md").read_text() == FLAGGED
    assert [row["file"] for row in report.promoted] == ["10_facts/B.md"]


def test_what_appears_between_plan_and_write_is_not_replaced(
    night: Night, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def late(source: object, target: object) -> None:
        Path(str(target)).write_text("somebody was quicker\n")
        link(source, target)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", late)
    report = night({"00_inbox/A.md": FLAGGED})
    assert reasons(report) == {"00_inbox/A.md": "changed"}
    assert (vault / "10_facts/A.md").read_text() == "somebody was quicker\n"
    assert (vault / "00_inbox/A.md").read_text() == FLAGGED


def test_promoted_notes_pass_the_check_of_frontmatter(
    cortex_with: Callable[..., Cortex], tmp_path: Path
) -> None:
    cortex = cortex_with(
        {
            "00_inbox/A.md": "---\npromote: true\ndomain: harbour\n---\nx\n",
            "00_inbox/B.md": (
                "---\npromote: true\ntype: map\nconfidence: verified\nimportance: critical\n"
                "tags: a\ndomain: harbour\n---\nx\n"
            ),
        }
    )
    desk = Desk(cortex, now=NOW)
    assert desk.nightly(write=True).error is None
    checked = desk.validate_frontmatter(["10_facts/A.md", "60_maps/B.md"])
    assert [(note.file, note.issues) for note in checked.notes] == [
        ("10_facts/A.md", ()),
        ("60_maps/B.md", ()),
    ]


def test_the_command_tells_sessions_and_leaves_with_zero(
    cortex_with: Callable[..., Cortex],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    cortex_with({"00_inbox/A.md": FLAGGED}, build=False)
    config = ["--config", str(tmp_path / "state/config.yaml")]
    assert main(["lifecycle", "nightly", "--json", *config]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    assert told["dry_run"] is True
    sessions = told["session_sources"]
    assert sessions["source_backend_primary"] == "legacy_files"
    assert sessions["fallback_reason"] == "state_db_missing"
    assert sessions["sessions_seen_by_backend"]["state_db"] == 0
    assert sessions["ignored_files"] == {"request_dump": 0}
    assert {"lookback_cutoff", "timezone"} <= sessions.keys()
    assert main(["lifecycle", *config]) == 2
    assert main(["lifecycle", "nightly", "--write", "--dry-run", *config]) == 2
    assert main(["lifecycle", "undo", "0", *config]) == 2


def test_a_run_that_promoted_nothing_names_no_run_to_take_back(
    cortex_with: Callable[..., Cortex], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cortex_with({"00_inbox/A.md": FLAGGED}, build=False)
    (tmp_path / "vault" / "10_facts" / "A.md").mkdir(parents=True)
    config = ["--config", str(tmp_path / "state/config.yaml")]
    assert main(["lifecycle", "nightly", "--write", *config]) == 0
    told = capsys.readouterr().out
    assert "1 candidate: 0 promoted, 1 left alone\n" in told
    assert "undo" not in told
    assert main(["lifecycle", "history", *config]) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert (row[0], row[2:]) == ("1", ["0", "1", "done"])
    assert main(["lifecycle", "history", "--limit", "0", "--json", *config]) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 1  # 0 is all


def test_the_day_is_that_of_the_configured_zone(
    cortex_with: Callable[..., Cortex], vault: Path
) -> None:
    settings = "cron: {nightly_promotion: {timezone: Pacific/Kiritimati}}"  # 14 hours ahead of UTC
    cortex = cortex_with({"00_inbox/A.md": FLAGGED}, settings, build=False)
    late = dt.datetime(2026, 3, 1, 23, 0, tzinfo=dt.UTC)
    Desk(cortex, now=late).nightly(write=True)
    assert "created: 2026-03-02\n" in (vault / "10_facts/A.md").read_text()


def test_a_folder_that_is_not_indexed_is_warned_of(cortex_with: Callable[..., Cortex]) -> None:
    text = "vault: {path: VAULT, include_folders: [20_decisions]}"
    notes = {"00_inbox/A.md": FLAGGED, "00_inbox/B.md": "---\npromote: true\ntype: decision\n---\n"}
    cortex = cortex_with(notes, text.replace("VAULT", "../vault"), build=False)
    (warning,) = Desk(cortex, now=NOW).nightly().warnings
    assert warning.startswith("10_facts is left out of the index")


# Properties as text


WANTED = Change({"status": "archived", "day": dt.date(2026, 3, 1)}, ("promote",))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "---\nstatus: archived\nday: 2026-03-01\n---\n"),
        ("text\r\n", "---\r\nstatus: archived\r\nday: 2026-03-01\r\n---\r\ntext\r\n"),
        ("---\n---\nx", "---\nstatus: archived\nday: 2026-03-01\n---\nx"),
        ("---\nstatus:\n---\n", "---\nstatus: archived\nday: 2026-03-01\n---\n"),
        (
            "---\nStatus: a # b\nPromote: true\n---\n",
            "---\nStatus: archived # b\nday: 2026-03-01\n---\n",
        ),
        (
            "---\npromote: true # c\n# stays\nx: |\n  a # b\n\n---\n",
            "---\n# stays\nx: |\n  a # b\n\nstatus: archived\nday: 2026-03-01\n---\n",
        ),
        (
            "---\npromote:\n  - a\n  - b # c\n# stays\nx: 1\n---\n",
            "---\n# stays\nx: 1\nstatus: archived\nday: 2026-03-01\n---\n",
        ),
        (
            "---\n  x: {a: 1,\n    b: 2}\n  promote: true\n...\n",
            "---\n  x: {a: 1,\n    b: 2}\n  status: archived\n  day: 2026-03-01\n...\n",
        ),
        ("---\nstatus: archived\nday: 2026-03-01\n---", None),
    ],
)
def test_only_what_is_asked_for_changes(before: str, after: str | None) -> None:
    assert edited(before.encode(), WANTED).decode() == (before if after is None else after)


@pytest.mark.parametrize(
    "text",
    [
        "---\nx: 1\nx: 2\n---\n",
        "---\nx: [\n---\n",
        "---\nx: 1\n",
        "---\njust a line\n---\n",
        "---\n? x\n: 1\n---\n",
        "---\nx: &a 1\ny: *a\nstatus: &b 2\nz: *b\n---\n",
        "---\nx: &a\n  <<: *a\n---\n",
        "---\nx: &a [1]\nstatus:\n  - *a\n---\n",
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(NotEditable):
        edited(text.encode(), WANTED)
