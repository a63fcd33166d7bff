"""What notes say by words alone: by the index, and by the files where it cannot answer."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import CortexError
from cortex.embedder.models import HashingEmbedder
from cortex.search.note_files import Limits, NoteFiles
from cortex.search.plain_scan import NoteHit, plain_scan
from cortex.vault.scan import FolderRules

NOTES = {
    "Home/Boiler.md": (
        "---\ntype: fact\nproject: Home\ndate: 2025-06-01\n---\n# Boiler\n\nBought in 2019.\n\n"
        "## Pressure\n\nThe pressure is 1.5 bar.\nRefill below 1.2.\n"
    ),
    "Home/Kitchen.md": "---\nproject: '[[Home]]'\n---\nThe tap drips. No pressure on it.\n",
    "Apollo/Boiler.md": "---\nproject: Apollo\n---\nThe boiler pressure of Apollo is 9 bar.\n",
    "Bees.md": "Forty jars of linden honey from the hives.\n",
    "Deutsch.md": "Die Heizung braucht im Winter neues Wasser, weil der Druck fällt.\n",
    **{f"days/{day}.md": f"# Day {day}\n\nWeather of day {day}.\n" for day in range(20)},
}


def paths(hits: tuple[NoteHit, ...]) -> list[str]:
    return [hit.path for hit in hits]


def test_the_scan_needs_no_index_and_gives_the_section_its_lines_and_its_share(
    cortex_with: CortexMaker,
):
    cortex = cortex_with(NOTES, build=False)
    found = cortex.plain_scan("What is the boiler pressure?", 5, project="home")
    best = found.hits[0]
    assert (best.path, best.title, best.type) == ("Home/Boiler.md", "Boiler", "fact")
    assert (best.heading_path, best.place) == (("Boiler", "Pressure"), "Home/Boiler.md:10-13")
    assert best.text == "The pressure is 1.5 bar.\nRefill below 1.2."
    assert best.share == 1.0 and (best.project, best.time_from) == ("Home", "date")
    assert "Apollo/Boiler.md" not in paths(found.hits) and found.why == ""
    assert found.read == len(NOTES) and found.matched == 3
    assert not list(cortex.config.state.glob("generations"))


def test_words_are_stemmed_and_the_rarer_weigh_more(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES, build=False)
    assert paths(cortex.plain_scan("honeys of the hive", 1).hits) == ["Bees.md"]
    assert paths(cortex.plain_scan("weather honey", 1).hits) == ["Bees.md"]
    assert paths(cortex.plain_scan("Winter der Heizungen", 1).hits) == ["Deutsch.md"]


def test_nothing_in_common_is_no_hit(cortex_with: CortexMaker):
    found = cortex_with(NOTES, build=False).plain_scan("gluon condensates", 5)
    assert found.hits == () and found.matched == 0 and found.why == ""


def test_a_chunk_is_the_same_with_the_index_and_without(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    by_index = cortex.recall_notes("boiler pressure refill", 1)
    by_files = cortex.plain_scan("boiler pressure refill", 1)
    assert by_index.by == "bm25" and by_index.why == ""
    one, other = by_index.hits[0], by_files.hits[0]
    assert (one.place, one.text, one.time) == (other.place, other.text, other.time)


def test_a_replaced_note_is_labelled_by_both(cortex_with: CortexMaker):
    cortex = cortex_with({**NOTES, "New.md": "---\nsupersedes: '[[Bees]]'\n---\nFifty jars.\n"})
    for found in (cortex.recall_notes("linden honey", 1), cortex.plain_scan("linden honey", 1)):
        labels = {hit.path: hit.labels for hit in found.hits}
        assert labels.get("Bees.md", ("superseded",)) == ("superseded",)
    assert cortex.plain_scan("linden honey", 1).hits[0].labels == ("superseded",)


def test_a_note_that_says_a_hundred_words_is_cut_by_what_it_may_read(tmp_path: Path):
    for number in range(30):
        (tmp_path / f"{number:02}.md").write_text("honey " * 1000)

    def scanned(limits: Limits) -> tuple[int, str]:
        files = NoteFiles(tmp_path, FolderRules(), limits=limits)
        found = plain_scan(files, "honey", 3, None, dt.date(2026, 1, 1))
        return found.read, found.why

    cut = "not all notes were read: the vault is too large for that without an index"
    assert scanned(Limits()) == (30, "")
    assert scanned(Limits(files=7)) == (7, cut)
    assert scanned(Limits(total_bytes=60_000)) == (10, cut)
    assert scanned(Limits(seconds=0)) == (0, cut)


def test_notes_that_cannot_be_read_are_told_and_cost_no_others(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES, build=False)
    vault = cortex.config.vault.path
    assert vault is not None
    (vault / "Binary.md").write_bytes(bytes(range(256)) * 100)
    os.mkfifo(vault / "Pipe.md")
    found = cortex.plain_scan("linden honey", 1)
    assert paths(found.hits) == ["Bees.md"] and found.why == "1 note could not be read"


def test_recall_loads_no_model(cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch):
    cortex = cortex_with(NOTES)

    def refuse(self: object, *arguments: object) -> None:
        raise AssertionError("a model was asked")

    for name in ("embed_query", "embed_documents", "token_starts"):
        monkeypatch.setattr(HashingEmbedder, name, refuse)
    monkeypatch.setattr("cortex.embedder.models.make_embedder", refuse)
    monkeypatch.setattr("socket.socket.connect", refuse)
    found = cortex.recall_notes("boiler pressure", 3)
    assert found.by == "bm25" and set(paths(found.hits)) >= {"Home/Boiler.md", "Apollo/Boiler.md"}
    with pytest.raises(AssertionError, match="a model was asked"):
        cortex.search("boiler pressure", channels=["vector"])


@pytest.mark.parametrize("has_index", [True, False])
def test_a_project_sees_its_own_notes_and_those_of_none(cortex_with: CortexMaker, has_index: bool):
    crowd = {f"crowd/{n}.md": f"---\nproject: Apollo\n---\nHoney {n}.\n" for n in range(400)}
    cortex = cortex_with({**NOTES, **crowd}, build=has_index)
    found = cortex.recall_notes("honey in jars", 5, project="Home")
    assert paths(found.hits) == ["Bees.md"] and found.by == ("bm25" if has_index else "scan")
    assert paths(cortex.recall_notes("honey", 3, project="APOLLO").hits)[0].startswith("crowd/")


def test_recall_goes_to_the_files_when_the_index_is_damaged_and_says_why(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    stamp = cortex.state.stamp("index")
    assert stamp is not None
    for path in (stamp.folder / "lexical").rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
    found = cortex.recall_notes("linden honey", 1)
    assert (found.by, paths(found.hits)) == ("scan", ["Bees.md"])
    assert "cortex index --force" in found.why


def test_recall_goes_to_the_files_when_there_is_no_index(cortex_with: CortexMaker):
    found = cortex_with(NOTES, build=False).recall_notes("linden honey", 1)
    assert (found.by, paths(found.hits)) == ("scan", ["Bees.md"])
    assert found.why == "there is no index yet; run: cortex index"


def test_without_index_and_vault_recall_says_so(cortex_with: CortexMaker, tmp_path: Path):
    cortex = cortex_with({}, f"vault: {{path: '{tmp_path / 'nowhere'}'}}", build=False)
    with pytest.raises(CortexError, match="does not exist"):
        cortex.recall_notes("honey", 1)


def test_operators_in_a_question_are_words(cortex_with: CortexMaker):
    for has_index in (True, False):
        cortex = cortex_with(NOTES, build=has_index)
        assert paths(cortex.recall_notes('-honey "jars tag:x OR ) (', 1).hits) == ["Bees.md"]
