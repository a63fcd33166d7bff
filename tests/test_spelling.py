"""A misspelt word finds what it was meant for; a word that the notes know stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex
from cortex.cli import main
from cortex.plugin import vault_build_context, vault_search
from cortex.search.spelling import distance

VAULT = {
    "Tide gauge.md": "# Tide gauge\nHow we calibrate the instrument at the harbour.",
    "Evergreen notes.md": "# Evergreen notes\nWritten to last.",
    "Ada Lovelace.md": "# Ada Lovelace\nWrote the first program.",
    "log.md": "# Log\nThe calibration of the barometer took an afternoon. Nothing remarkable.",
    "other.md": "# Other\nA boat and a boot in the other garden.",
}


@pytest.mark.parametrize(
    ("query", "note", "corrections"),
    [
        ("barometr", "log.md", [("barometr", "barometer")]),
        ("braometer", "log.md", [("braometer", "barometer")]),
        ("how did the calibraton go", "log.md", [("calibraton", "calibration")]),
        ("remarkabel", "log.md", [("remarkabel", "remarkable")]),
        ("Lovelase", "Ada Lovelace.md", [("Lovelase", "Lovelace")]),
        ("evergren note", "Evergreen notes.md", [("evergren note", "Evergreen notes")]),
        ("ada lovelcae", "Ada Lovelace.md", [("ada lovelcae", "Ada Lovelace")]),
        ("gague", "Tide gauge.md", [("gague", "gauge")]),
        ("baromteer reading", "log.md", [("baromteer", "barometer")]),
        ("remmarkable", "log.md", [("remmarkable", "remarkable")]),
        ("aftrenoon", "log.md", [("aftrenoon", "afternoon")]),
        ("evergrren nots", "Evergreen notes.md", [("evergrren nots", "Evergreen notes")]),
    ],
)
def test_a_misspelt_word_finds_what_was_meant(
    cortex_with: CortexMaker, query: str, note: str, corrections: list[tuple[str, str]]
):
    found = cortex_with(VAULT).search(query, channels=["bm25"])
    assert found.hits[0].chunk.note == note
    assert list(found.corrections) == corrections


@pytest.mark.parametrize(
    "query",
    [
        "tide gauge",  # known
        "calibrating",  # a form of a known word
        "coat",  # short, and another word
        "boar",
        "oats",
        "bother",  # than "other"
        "xide",  # another first letter
        "GUAGE",  # an abbreviation, as far as anyone can tell
        "ERR_GUAGE",  # a part of an identifier
        "guage7",
        "gagueLevel",
        "ada@lovelcae.org",
        "calibrator",  # another ending, so another word
        "潮位记",  # no letters to mistype
    ],
)
def test_what_is_known_or_may_be_another_word_stays(cortex_with: CortexMaker, query: str):
    assert cortex_with(VAULT).search(query, channels=["bm25"]).corrections == ()


def test_a_corrected_word_counts_less_than_one_that_was_typed_right(cortex_with: CortexMaker):
    cortex = cortex_with({"a.md": "barometer", "b.md": "harbour", "c.md": "more", "d.md": "rest"})
    assert [hit.chunk.note for hit in cortex.search("barometr harbour", 2).hits] == ["b.md", "a.md"]


def test_of_two_words_as_near_the_one_in_a_name_is_meant_then_the_commoner(
    cortex_with: CortexMaker,
):
    cortex = cortex_with(
        {
            "Marten.md": "# Marten\nIn the attic.",
            **{f"{i}.md": "The martin is back, in the planter." for i in range(3)},
            "x.md": "On the plaster.",
        }
    )
    assert cortex.search("martxn plaxter").corrections == (
        ("martxn", "marten"),
        ("plaxter", "planter"),
    )


def test_another_letter_in_a_short_word_is_a_slip_of_a_name_that_is_rare_or_typed_as_one(
    cortex_with: CortexMaker,
):
    notes = {f"{n}.md": "---\ntags: [case]\n---\nA case." for n in range(11)}
    cortex = cortex_with({**notes, "Tobin.md": "He solders."})
    assert cortex.search("lemon cake").corrections == ()
    assert cortex.search("Cake").corrections == (("Cake", "Case"),)
    assert cortex.search("tobyn").corrections == (("tobyn", "tobin"),)


def test_a_swap_is_likelier_than_a_letter_too_many(cortex_with: CortexMaker):
    notes = {f"{i}.md": "Cases and more cases." for i in range(3)}
    cortex = cortex_with({**notes, "x.md": "What causes it."})
    assert cortex.search("what casues it, casues").corrections == (("casues", "causes"),)


def test_corrections_follow_the_notes_as_they_change(cortex_with: CortexMaker, tmp_path: Path):
    cortex = cortex_with({"a.md": "The barometer fell.", "b.md": "Nothing."})
    vault = tmp_path / "vault"

    def corrected() -> list[str]:
        cortex.index()
        return [used for _, used in cortex.search("barometr").corrections]

    assert corrected() == ["barometer"]
    (vault / "a.md").write_text("It fell.", "utf-8")
    assert corrected() == []
    (vault / "b.md").write_text("Two barometers, one barometer.", "utf-8")
    assert corrected() == ["barometer"]
    (vault / "b.md").unlink()
    assert corrected() == []


def test_an_index_brought_up_to_date_has_the_words_and_names_of_one_built_anew(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex = cortex_with({**VAULT, "gone.md": "Barometer.", "same.md": "# Same\nBarometers."})
    (tmp_path / "vault" / "gone.md").unlink()
    (tmp_path / "vault" / "log.md").write_text("---\naliases: [Diary]\n---\nAnemometer.", "utf-8")
    (tmp_path / "vault" / "new.md").write_text("# New\nBarometers and more.", "utf-8")

    def written(force: bool) -> list[bytes]:
        cortex.index(force=force)
        stamp = cortex.state.stamp("index")
        assert stamp is not None
        names = ("vocabulary.txt", "names.keys.npy", "names.notes.npy")
        return [stamp.file(name).read_bytes() for name in names]

    updated = written(force=False)
    assert updated == written(force=True)
    assert b"gone" not in updated[0] and b"diary\t1\t1\n" in updated[0]


def test_a_damaged_list_of_words_is_named_with_what_mends_it(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex = cortex_with(VAULT)
    stamp = cortex.state.stamp("index")
    assert stamp is not None
    path = stamp.file("vocabulary.txt")
    path.write_bytes(b"\xff" * path.stat().st_size)
    found = cortex.search("barometr calibrate")
    assert found.hits[0].chunk.note == "Tide gauge.md"
    assert found.corrections == ()
    assert [(missing.what, missing.why[-21:]) for missing in found.unavailable] == [
        ("spelling", " cortex index --force")
    ]


def test_commands_and_documents_tell_what_was_corrected(
    cortex_with: CortexMaker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    cortex_with(VAULT)
    config = ["--config", str(tmp_path / "state" / "config.yaml")]
    assert main([*config, "search", "barometr"]) == 0
    assert "no note has 'barometr'; searched for 'barometer'" in capsys.readouterr().err
    assert main([*config, "search", "barometr", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["corrections"] == [{"typed": "barometr", "used": "barometer"}]
    assert main([*config, "search", "barometer", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["corrections"] == []
    assert main([*config, "context", "barometr"]) == 0
    assert "searched for 'barometer'" in capsys.readouterr().err


def test_the_tools_tell_what_was_corrected(
    cortex_with: CortexMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cortex_with(VAULT)
    monkeypatch.setenv("CORTEX_CONFIG", str(tmp_path / "state" / "config.yaml"))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    searched = json.loads(vault_search({"query": "barometr"}))
    assert searched["corrected"] == {"barometr": "barometer"}
    assert "corrected" not in json.loads(vault_search({"query": "barometer"}))
    built = json.loads(vault_build_context({"query": "barometr"}))
    assert built["corrected"] == {"barometr": "barometer"}


def test_a_name_of_a_note_that_is_excluded_by_now_is_not_offered(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex_with(VAULT)
    vault, config = tmp_path / "vault", tmp_path / "state" / "config.yaml"
    settings = f"vault: {{path: '{vault}', exclude_folders: ['Ada Lovelace.md']}}"
    config.write_text(f"{settings}\nembeddings: {{model: hashing}}\n", "utf-8")
    found = Cortex.open(config, env={}).search("ada lovelcae")
    assert ("ada lovelcae", "Ada Lovelace") not in found.corrections


def test_slips_are_counted():
    assert [
        distance("gauge", word, 2) for word in ("gauge", "guage", "gaug", "gauges", "gouge")
    ] == [
        0,
        1,
        1,
        1,
        1,
    ]
    assert distance("calibration", "clibartion", 2) == 2
    assert distance("gauge", "harbour", 2) > 2


GERMAN = {
    "a.md": "Die Geschwindigkeitsbegrenzung auf der Autobahn wurde im letzten Jahr aufgehoben.",
    "b.md": "Die Binnenschifffahrt ist ein altes Gewerbe auf den Flüssen und Kanälen.",
    "c.md": "Das Fahrrad steht im Keller, und die Reparatur ist noch nicht bezahlt.",
    "d.md": "Heute gibt es Suppe mit Brot und danach einen Kuchen.",
}


@pytest.mark.parametrize(
    ("query", "note", "used"),
    [
        ("Schifffahrt", "b.md", "Binnenschifffahrt"),
        ("Begrenzung", "a.md", "Geschwindigkeitsbegrenzung"),
        ("geschwindigkeit", "a.md", "geschwindigkeitsbegrenzung"),
        ("Fahrradreparatur", "c.md", "Fahrrad Reparatur"),
        ("Autobahnsreparatur", "c.md", "Autobahn Reparatur"),
    ],
)
def test_in_a_language_that_joins_words_a_part_finds_the_whole_and_the_whole_its_parts(
    cortex_with: CortexMaker, query: str, note: str, used: str
):
    result = cortex_with(GERMAN).search(query, channels=["bm25"])
    assert note in [hit.chunk.note for hit in result.hits]
    assert result.corrections == ((query, used),)


def test_what_is_known_or_a_part_of_nothing_stays_as_it_was_typed(cortex_with: CortexMaker):
    cortex = cortex_with(GERMAN)
    for query in ("Suppe", "Keller und Kuchen", "Elefant", "Bahn"):
        assert cortex.search(query).corrections == ()


def test_in_a_language_that_does_not_no_word_is_taken_for_a_part(cortex_with: CortexMaker):
    cortex = cortex_with(
        {
            "a.md": "The availability of the steamboats was the topic of the day in the town.",
            "b.md": "We had soup with bread for lunch, and later some cake with the coffee.",
        }
    )
    for query in ("ability", "boats", "Steam", "soupbread"):
        assert cortex.search(query).corrections == ()


def test_a_word_of_a_script_without_capitals_is_found_behind_its_article_and_respelt(
    cortex_with: CortexMaker,
):
    cortex = cortex_with(
        {
            "he.md": "הגיבוי של מסד הנתונים רץ כל לילה על השרת הגדול",
            "other.md": "היום יפה בחוץ ואנחנו הולכים לים",
        }
    )
    result = cortex.search("גיבוי", channels=["bm25"])
    assert [hit.chunk.note for hit in result.hits] == ["he.md"]
    assert result.corrections == (("גיבוי", "הגיבוי"),)
    assert cortex.search("נתונים", channels=["bm25"]).hits[0].chunk.note == "he.md"
