"""Notes of some types that hold today, by the index and without one."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex
from cortex.search.standing import TEXT_CHARS, Standing

DAY = dt.datetime(2025, 6, 1, tzinfo=dt.UTC).timestamp()

FACTS = {
    "Boiler.md": "---\ntype: fact\ndate: 2025-06-01\n---\n# Boiler\n\nThe pressure is 1.5 bar.\n",
    "Mill.md": "---\ntype: Fact\ncreated: 2025-07-02\nproject: Apollo\n---\n# Mill\n\nIt turns.\n",
    "Wheel.md": "---\ntype: [fact, note]\nproject: '[[Projects/Gemini|G]]'\n---\nA wheel.\n",
    "Diary.md": "---\ntype: note\n---\nThe pressure was low.\n",
    "Plain.md": "No properties at all.\n",
}
NOT_HOLDING = {
    "Old.md": "---\ntype: fact\n---\nThe pressure is 1.2 bar.\n",
    "New.md": "---\ntype: fact\nsupersedes: '[[Old]]'\n---\nThe pressure is 1.4 bar.\n",
    "Over.md": "---\ntype: fact\nvalid_until: 2025-12-31\n---\nA price of last year.\n",
    "Soon.md": "---\ntype: fact\nvalid_from: 2026-01-02\n---\nA price of tomorrow.\n",
    "Gone.md": "---\ntype: fact\nstatus: archived\n---\nArchived.\n",
    "Rude.md": "---\ntype: fact\nstatus: deprecated\n---\nDeprecated.\n",
    "Idea.md": "---\ntype: fact\nstatus: draft\n---\nNot yet.\n",
    "Hugo.md": "---\ntype: fact\ndraft: true\n---\nNot yet either.\n",
    "Last.md": "---\ntype: fact\nvalid_from: 2026-01-01\nvalid_until: 2026-01-01\n---\nToday.\n",
}


@pytest.fixture(params=["index", "scan"])
def cortex_by(request: pytest.FixtureRequest, cortex_with: CortexMaker) -> CortexMaker:
    """A Cortex whose notes are told by the index, and the same without one."""

    def make(notes: dict[str, str], **options: object) -> Cortex:
        return cortex_with(notes, build=request.param == "index", **options)

    make.by = request.param  # type: ignore[attr-defined]
    return make


def paths(found: Standing) -> list[str]:
    return [note.path for note in found.notes]


def test_notes_of_a_type_come_newest_first_and_say_what_dates_them(cortex_by: CortexMaker):
    cortex = cortex_by(FACTS)
    os.utime(cortex.config.vault.path / "Wheel.md", (DAY + 86400, DAY + 86400))
    found = cortex.standing_notes(["fact"])
    assert paths(found) == ["Mill.md", "Wheel.md", "Boiler.md"] and found.matched == 3
    assert found.by == cortex_by.by  # type: ignore[attr-defined]
    mill, wheel, boiler = found.notes
    assert (boiler.title, boiler.type, boiler.text) == (
        "Boiler",
        "fact",
        "The pressure is 1.5 bar.",
    )
    assert (boiler.time, boiler.time_from, boiler.project) == (DAY, "date", None)
    assert (mill.type, mill.time_from, mill.project) == ("Fact", "created", "Apollo")
    assert (wheel.type, wheel.time, wheel.time_from) == ("fact", DAY + 86400, "file")


def test_what_no_longer_holds_or_not_yet_is_left_out(cortex_by: CortexMaker):
    found = cortex_by(NOT_HOLDING).standing_notes(["fact"])
    assert sorted(paths(found)) == ["Last.md", "New.md"]
    last = next(note for note in found.notes if note.path == "Last.md")
    assert (last.valid_from, last.valid_until) == ("2026-01-01", "2026-01-01")


@pytest.mark.parametrize("asked", ["apollo", "APOLLO", "[[Apollo]]", "[[Projects/Apollo|A]]"])
def test_a_project_sees_its_notes_and_those_of_none_never_anothers(
    cortex_by: CortexMaker, asked: str
):
    found = cortex_by(FACTS).standing_notes(["fact"], project=asked)
    assert sorted(paths(found)) == ["Boiler.md", "Mill.md"] and found.matched == 2


@pytest.mark.parametrize(
    ("written", "is_seen"),
    [
        ("project: [Gemini, apollo]", True),
        ("project:\n  - '[[Apollo]]'", True),
        ("project: [[Apollo]]", True),
        ("Project: Ａｐｏｌｌｏ", True),
        ("project: ''", True),
        ("project:", True),
        ("project: Apollo 11", False),
        ("project: Gemini, Apollo", False),  # one name, for who is to see it is not guessed
        ("project: {name: Apollo}", False),
        ("projects: [Gemini]", False),
    ],
)
def test_how_a_project_is_written(cortex_by: CortexMaker, written: str, is_seen: bool):
    cortex = cortex_by({"a.md": f"---\ntype: fact\n{written}\n---\nText.\n"})
    assert bool(cortex.standing_notes(["fact"], project="Apollo").notes) == is_seen


def test_times_of_one_day_order_and_a_day_in_the_name_counts(cortex_by: CortexMaker):
    found = cortex_by(
        {
            "a.md": "---\ntype: handoff\ncreated: 2025-06-01T09:00:00\n---\nMorning.\n",
            "b.md": "---\ntype: handoff\ncreated: 2025-06-01T18:00:00+02:00\n---\nEvening.\n",
            "2025-06-02 c.md": "---\ntype: handoff\n---\nNext day.\n",
            "d.md": "---\ntype: handoff\nupdated: 2025-06-03\n---\nBrought up to date.\n",
        }
    ).standing_notes(["handoff"])
    assert paths(found) == ["d.md", "2025-06-02 c.md", "b.md", "a.md"]
    times = [(note.time - DAY, note.time_from) for note in found.notes]
    assert times == [
        (2 * 86400, "updated"),
        (86400, "name"),
        (16 * 3600, "created"),
        (9 * 3600, "created"),
    ]


def test_a_long_text_ends_at_a_word_and_in_front_of_a_secret_not_in_it(cortex_by: CortexMaker):
    words = "pressure " * 400
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    hidden = f"{'x' * 970} note: {token} and more {words}"
    cortex = cortex_by(
        {
            "a.md": f"---\ntype: fact\n---\n{words}\n",
            "b.md": f"---\ntype: fact\n---\n{hidden}\n",
        }
    )
    texts = {note.path: note.text for note in cortex.standing_notes(["fact"]).notes}
    assert TEXT_CHARS - 120 < len(texts["a.md"]) <= TEXT_CHARS and texts["a.md"].endswith(
        "pressure"
    )
    assert "ghp_" not in texts["b.md"]


def test_what_was_written_after_the_index_was_built_counts_as_it_is_now(cortex_with: CortexMaker):
    cortex = cortex_with(FACTS)
    vault = cortex.config.vault.path
    assert vault is not None
    (vault / "Handoff.md").write_text("---\ntype: fact\nsupersedes: '[[Boiler]]'\n---\nNow 2.\n")
    (vault / "Mill.md").write_text("---\ntype: fact\nstatus: archived\n---\nStopped.\n")
    (vault / "Wheel.md").unlink()
    found = cortex.standing_notes(["fact"])
    assert paths(found) == ["Handoff.md"] and found.by == "index"
    assert found.notes[0].text == "Now 2."


def test_an_index_that_cannot_be_read_gives_way_to_the_files_and_says_why(
    cortex_with: CortexMaker,
):
    cortex = cortex_with(FACTS)
    (cortex.config.state / "index.json").write_text("{")
    found = cortex.standing_notes(["fact"])
    assert found.by == "scan" and len(found.notes) == 3 and "cortex index" in found.why


def test_damaged_records_give_way_to_the_files(cortex_with: CortexMaker):
    cortex = cortex_with(FACTS)
    stamp = cortex.state.stamp("index")
    assert stamp is not None
    notes = stamp.folder / "notes.jsonl"
    notes.write_bytes(b"x" * notes.stat().st_size)
    found = cortex.standing_notes(["fact"])
    assert found.by == "scan" and len(found.notes) == 3 and "damaged" in found.why


def test_a_note_that_cannot_be_read_is_told(cortex_with: CortexMaker):
    cortex = cortex_with(FACTS, build=False)
    assert cortex.config.vault.path is not None
    (cortex.config.vault.path / "Binary.md").write_bytes(bytes(range(256)) * 40)
    boiler = cortex.config.vault.path / "Boiler.md"
    boiler.unlink()
    boiler.symlink_to(boiler)  # a link to itself
    found = cortex.standing_notes(["fact"])
    assert len(found.notes) == 2 and found.by == "scan"


def test_excluded_and_hidden_notes_and_those_behind_links_are_not_told(
    cortex_by: CortexMaker, tmp_path: Path
):
    outside = tmp_path / "Outside.md"
    outside.write_text(FACTS["Boiler.md"])
    cortex = cortex_by(
        {"private/a.md": FACTS["Boiler.md"], ".trash/b.md": FACTS["Boiler.md"], **FACTS},
        settings=f"vault: {{path: '{tmp_path / 'vault'}', exclude_folders: [private]}}",
    )
    assert cortex.config.vault.path is not None
    (cortex.config.vault.path / "Link.md").symlink_to(outside)
    assert sorted(paths(cortex.standing_notes(["fact"]))) == ["Boiler.md", "Mill.md", "Wheel.md"]


def test_no_type_asked_for_is_no_note(cortex_by: CortexMaker):
    assert cortex_by(FACTS).standing_notes([]).notes == ()
