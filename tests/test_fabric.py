"""A folder of dated agent entries: read whatever it holds, told as far as it is on a message."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cortex.config.inject import FabricSourceConfig
from cortex.errors import Unavailable
from cortex.inject.fabric import FabricSource, folder_of
from cortex.inject.source import Ask, Recall
from cortex.records.fabric import MAX_BYTES, read_fabric

ENTRY = """---
date: 2026-05-30T14:05:00Z
agent: deploy-bot
summary: Fixed the thresholds of context injection
tags: [context, thresholds]
project: cortex
id: fix-1
---
# Thresholds

The overlap gate went from 0.6 to 0.85.
"""


def folder_with(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def asked(folder: Path | None, message: str, env: dict[str, str] | None = None) -> Recall:
    ask = Ask(message, False, "s", Path("/nowhere"), (), 0.0, time.monotonic() + 5)
    (recall,) = FabricSource(FabricSourceConfig(path=folder), env or {}).recall(ask)
    return recall


def test_an_entry_says_its_day_agent_and_summary(tmp_path: Path):
    (entry,) = read_fabric(folder_with(tmp_path, {"a.md": ENTRY})).entries
    assert (entry.id, entry.day, entry.agent) == ("fix-1", "2026-05-30", "deploy-bot")
    assert entry.summary == "Fixed the thresholds of context injection"
    assert (entry.tags, entry.project) == (("context", "thresholds"), "cortex")
    assert entry.body == "# Thresholds\n\nThe overlap gate went from 0.6 to 0.85."


@pytest.mark.parametrize(
    ("name", "text", "day", "agent", "summary"),
    [
        ("2026-05-30-pump.md", "# Pump greased\nBy hand.", "2026-05-30", "unknown", "Pump greased"),
        ("2026-05-30/pump.md", "Pump greased.\nBy hand.", "2026-05-30", "unknown", "Pump greased."),
        ("pump.md", "---\nagent: a: b\nsummary: Fixed: it\n---\n", "", "a: b", "Fixed: it"),
        ("p.md", "---\ndate: 2026-05-30\nagent: [x]\n---\nSo.", "2026-05-30", "unknown", "So."),
        ("p.md", "---\ntimestamp: 2026-05-30 9:00\n---\r\nSo.", "2026-05-30", "unknown", "So."),
        ("pump.md", "---\nno end of it", "", "unknown", "---"),
        ("pump.md", "---\na: &a [*a]\n---\nDone.", "", "unknown", "Done."),
    ],
)  # fmt: skip
def test_what_is_missing_is_filled_in(
    tmp_path: Path, name: str, text: str, day: str, agent: str, summary: str
):
    (entry,) = read_fabric(folder_with(tmp_path, {name: text})).entries
    assert (entry.day, entry.agent, entry.summary) == (day, agent, summary)


def test_entries_come_newest_first_and_each_has_an_id_of_its_own(tmp_path: Path):
    folder_with(tmp_path, {"a/old.md": ENTRY.replace("2026", "2025"), "b/new.md": ENTRY})
    entries = read_fabric(tmp_path).entries
    assert [(entry.path, entry.id) for entry in entries] == [
        ("b/new.md", "fix-1"),
        ("a/old.md", "a/old.md"),
    ]


def test_of_many_files_those_are_read_that_their_names_or_times_make_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("cortex.records.fabric.MAX_ENTRIES", 2)
    folder_with(tmp_path, {f"{2001 + n}-03-01-pump.md": f"Pump {n}." for n in range(20)})
    for file in tmp_path.iterdir():
        os.utime(file, (1e9, 1e9))  # as a copy leaves them
    fabric = read_fabric(tmp_path)
    assert [entry.day for entry in fabric.entries] == ["2020-03-01", "2019-03-01"]
    assert fabric.unread == 18
    monkeypatch.setattr("cortex.records.fabric.MAX_FILES", 2)  # those named last
    assert [entry.day for entry in read_fabric(tmp_path).entries] == ["2020-03-01", "2019-03-01"]


def test_a_day_that_no_calendar_has_is_none(tmp_path: Path):
    folder_with(tmp_path, {"2026-02-30-a.md": "---\ndate: 2026-13-45\n---\nSo."})
    assert read_fabric(tmp_path).entries[0].day == ""


def test_what_is_no_evidence_does_not_keep_an_entry_from_being_told(tmp_path: Path):
    folder_with(tmp_path, {"a.md": "The boiler runs at 1.5 bar."})
    for message in ("⚓ the boiler 😀😀?", "Do you remember what I told you of the boiler?"):
        assert [item.id for item in asked(tmp_path, message).items] == ["fabric:a.md"]
    assert asked(tmp_path, "what is that, and at what?").matched == 0  # stop words alone


def test_what_is_no_entry_is_skipped_and_counted(tmp_path: Path):
    folder_with(tmp_path, {"a.md": ENTRY, "b.md": b"\0\xff\x01" * 90, "c.md": "", "d.txt": "no"})
    fabric = read_fabric(tmp_path)
    assert ([entry.path for entry in fabric.entries], fabric.skipped) == (["a.md"], 2)


def test_hidden_files_and_what_lies_outside_are_left_out(tmp_path: Path):
    inside = folder_with(tmp_path / "in", {"a.md": ENTRY, ".b.md": ENTRY, ".git/c.md": ENTRY})
    outside = folder_with(tmp_path / "out", {"secret.md": ENTRY})
    (inside / "link.md").symlink_to(outside / "secret.md")
    (inside / "folder").symlink_to(outside)
    (inside / "loop.md").symlink_to(inside / "loop.md")
    (inside / "own.md").symlink_to(inside / "a.md")
    os.mkfifo(inside / "pipe.md")
    assert [entry.path for entry in read_fabric(inside).entries] == ["a.md", "own.md"]


def test_of_a_huge_file_the_beginning_is_read(tmp_path: Path):
    folder_with(tmp_path, {"a.md": ENTRY + "tide " * 1_000_000})
    assert len(read_fabric(tmp_path).entries[0].body) <= MAX_BYTES


def test_a_missing_folder_is_unavailable_and_no_folder_at_all_is_empty(tmp_path: Path):
    with pytest.raises(Unavailable, match=r"set inject\.fabric\.path"):
        read_fabric(tmp_path / "none")
    assert asked(tmp_path / "none", "thresholds").status == "unavailable"
    recall = asked(None, "thresholds")
    assert recall.status == "empty"
    assert recall.why == "no folder: neither inject.fabric.path nor FABRIC_DIR is set"


def test_the_folder_may_be_named_by_the_environment(tmp_path: Path):
    folder_with(tmp_path, {"a.md": ENTRY})
    recall = asked(None, "what about the injection thresholds?", {"FABRIC_DIR": str(tmp_path)})
    (item,) = recall.items
    assert (item.id, item.label) == ("fabric:fix-1", "2026-05-30")
    assert item.head == "deploy-bot: Fixed the thresholds of context injection"
    assert item.text == "# Thresholds The overlap gate went from 0.6 to 0.85."
    assert item.why == "2 of 2 words, 1.00 of their weight"


def test_an_entry_is_told_by_the_words_it_holds_and_in_its_own_language(tmp_path: Path):
    folder_with(
        tmp_path,
        {
            "a.md": "---\nsummary: Der Kessel wurde geprüft\n---\nDie Ventile sind dicht und neu.",
            "b.md": "---\nsummary: The hives were moved\n---\nThey stand by the orchard now.",
            "c.md": "---\nsummary: 锅炉压力调到一点五巴\n---\n",
        },
    )
    assert [i.id for i in asked(tmp_path, "Sind die Ventile im Kessel dicht?").items] == [
        "fabric:a.md"
    ]
    assert [i.id for i in asked(tmp_path, "where did we move the hive").items] == ["fabric:b.md"]
    assert [i.id for i in asked(tmp_path, "锅炉压力").items] == ["fabric:c.md"]
    recall = asked(tmp_path, "quarterly accounting of hives spreadsheet deadline")
    assert (recall.status, recall.matched, recall.gated) == ("empty", 1, 1)


def test_a_changed_entry_is_told_as_it_is_now_with_the_id_it_had(tmp_path: Path):
    folder_with(tmp_path, {"a.md": ENTRY})
    (before,) = asked(tmp_path, "injection thresholds").items
    folder_with(tmp_path, {"a.md": ENTRY.replace("0.85", "0.9, and stays")})
    (after,) = asked(tmp_path, "injection thresholds").items
    assert before.id == after.id and "0.9, and stays" in after.text
    (tmp_path / "a.md").unlink()
    assert asked(tmp_path, "injection thresholds").status == "empty"


def test_the_text_of_an_entry_does_not_depend_on_what_is_asked(tmp_path: Path):
    body = "\n".join(f"Step {n}: the joint {n} was soldered with care." for n in range(60))
    folder_with(tmp_path, {"a.md": f"---\nsummary: Gutter joints\n---\n{body}"})
    (one,) = asked(tmp_path, "gutter joints").items
    (other,) = asked(tmp_path, "soldered joint 59").items
    assert one == replace(other, score=one.score, why=one.why)
    assert one.text.endswith("…") and len(one.text) <= 401


def test_the_folder_is_taken_as_people_write_paths(tmp_path: Path):
    env = {"FABRIC_DIR": "$WORK/fabric", "WORK": str(tmp_path)}
    assert folder_of(FabricSourceConfig(), env) == tmp_path / "fabric"
