"""What the vault says to a message, by whatever of the search can still answer."""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
import time
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex
from cortex.config.inject import FactsSourceConfig, VaultSourceConfig
from cortex.embedder.models import HashingEmbedder
from cortex.inject import vault as vault_source
from cortex.inject.source import SPARE, Ask, Recall
from cortex.inject.vault import VaultSource

NOTES = {
    "Home/Boiler.md": (
        "---\ntype: fact\n---\n# Boiler\n\n## Pressure\n\nThe boiler pressure is 1.5 bar.\n\n"
        "## Dealer\n\nBought from Ada in 2019.\n"
    ),
    "Bees.md": "# Bees\n\nThe hives behind the mill give forty jars of linden honey.\n",
    **{f"days/{day}.md": f"# Day {day}\n\nWeather of day number {day}.\n" for day in range(40)},
}
QUESTION = "What is the pressure of the boiler?"
FOREIGN = "Explain gluon condensates in quantum chromodynamics"


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_source, "_said", set())


def ask(message: str, home: Path = Path("/nowhere"), seconds: float = 20.0) -> Ask:
    return Ask(
        message=message,
        is_first=True,
        session_id="s1",
        home=home,
        profiles=("default",),
        now=time.time(),
        deadline=time.monotonic() + seconds,
    )


def recalls(cortex: Cortex, message: str = QUESTION, **options: object) -> list[Recall]:
    config = VaultSourceConfig()
    source = VaultSource(config, cortex, FactsSourceConfig())
    return list(source.recall(ask(message, **options)))  # type: ignore[arg-type]


def recall(cortex: Cortex, message: str = QUESTION, **options: object) -> Recall:
    return recalls(cortex, message, **options)[-1]


def overwrite(folder: Path) -> None:
    """Every file below keeps its size and loses its sense."""
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"\xff" * path.stat().st_size)


def lexical_folder(cortex: Cortex) -> Path:
    stamp = cortex.state.stamp("index")
    assert stamp is not None
    return stamp.folder / "lexical"


def by_words(cortex_with: CortexMaker, notes: dict[str, str]) -> Cortex:
    """Without vectors: those of the stand-in for a model are of words, and near for little."""
    cortex = cortex_with(notes, build=False)
    cortex.index()
    return cortex


# What is told


def test_an_item_says_what_it_is_where_it_stands_and_what_let_it_pass(cortex_with: CortexMaker):
    found = recall(cortex_with(NOTES))
    best = found.items[0]
    assert (found.status, found.answered_by, found.why) == ("ok", "hybrid", "")
    assert best.id == "note:Home/Boiler.md#Boiler > Pressure"
    assert (best.label, best.head) == ("fact", "Boiler > Pressure (Home/Boiler.md:4-9)")
    assert best.text == "The boiler pressure is 1.5 bar."
    assert best.why.startswith("cosine ") and 0 < best.score <= 1
    assert found.matched == len(found.items) + found.gated <= SPARE * VaultSourceConfig().top_k


def test_a_note_without_a_type_is_a_note(cortex_with: CortexMaker):
    (best, *_) = recall(cortex_with(NOTES), "how many jars of linden honey").items
    assert (best.label, best.head) == ("note", "Bees (Bees.md:1-3)")


def test_what_only_the_fused_score_speaks_for_does_not_pass(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    found = recall(cortex, FOREIGN)
    assert (found.status, found.items) == ("empty", ())
    assert cortex.search(FOREIGN, plain=True).hits and found.gated == found.matched > 0


@pytest.mark.parametrize("message", ["what is it about", "and the", "honey", "continue"])
def test_one_word_and_words_that_say_nothing_are_no_evidence(
    cortex_with: CortexMaker, message: str
):
    notes = {**NOTES, "More.md": "What is it about and the rest: we continue.\n"}
    assert recall(by_words(cortex_with, notes), message).items == ()


def test_the_name_of_a_note_is_evidence(cortex_with: CortexMaker):
    found = recall(by_words(cortex_with, NOTES), "boiler")
    assert found.items[0].id.startswith("note:Home/Boiler.md#")
    assert found.items[0].why == "its name"


def test_an_entry_keeps_its_id_when_its_content_and_its_lines_change(cortex_with: CortexMaker):
    before = recall(cortex_with(NOTES)).items[0]
    text = NOTES["Home/Boiler.md"].replace("1.5 bar", "1.4 bar")
    text = text.replace("# Boiler\n", "# Boiler\n\nA new line.\n\n## First\n\nA new section.\n", 1)
    after = recall(cortex_with({**NOTES, "Home/Boiler.md": text})).items[0]
    assert after.id == before.id and after.text == "The boiler pressure is 1.4 bar."


def test_the_pieces_of_a_long_section_have_ids_of_their_own(cortex_with: CortexMaker):
    lines = "\n\n".join(f"Boiler pressure reading {n} was taken by Ada {n}." for n in range(120))
    found = recall(
        cortex_with({**NOTES, "Long.md": f"# Log\n\n{lines}\n"}), "boiler pressure reading"
    )
    ids = [item.id for item in found.items if item.id.startswith("note:Long.md")]
    assert len(ids) == len(set(ids)) >= 2
    assert all(re.fullmatch(r"note:Long\.md#Log(~\d+)?", item_id) for item_id in ids)


def test_what_no_longer_holds_is_told_as_such_and_the_newer_note_comes_first(
    cortex_with: CortexMaker,
):
    new = (
        "---\nsupersedes: '[[Bees]]'\n---\n# Hives\n\nThe hives give fifty jars of linden honey.\n"
    )
    found = recall(cortex_with({**NOTES, "Hives.md": new}), "how many jars of linden honey")
    heads = [item.head for item in found.items[:2]]
    assert heads == ["Hives (Hives.md:4-6)", "Bees (Bees.md:1-3) (superseded by Hives.md)"]


def test_a_note_changed_since_it_was_indexed_is_told_as_such(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    assert cortex.config.vault.path is not None
    os.utime(cortex.config.vault.path / "Bees.md", (1, 1))
    (best, *_) = recall(cortex, "how many jars of linden honey").items
    assert best.head == "Bees (Bees.md:1-3)" and best.remark == "changed since it was indexed"


def test_a_part_of_a_secret_is_refused(cortex_with: CortexMaker):
    body = "\n".join("MIIEpAIBAAKCAQEA" + f"{n:04}" * 12 for n in range(60))
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    cortex = cortex_with({**NOTES, "Key.md": f"# Deploy key\n\nDeploy key of the mill\n\n{pem}\n"})
    found = recall(cortex, "deploy key of the mill")
    assert all("MIIEp" not in item.text or "BEGIN RSA" in item.text for item in found.items)
    assert "part of a secret" in found.why


# The cascade, each stage broken on a real index


def test_without_vectors_words_answer_and_it_is_told(
    cortex_with: CortexMaker, caplog: pytest.LogCaptureFixture
):
    cortex = cortex_with(NOTES, build=False)
    cortex.index()
    found = recall(cortex)
    assert (found.status, found.answered_by) == ("ok", "bm25")
    assert found.why == "vector: nothing has been embedded yet; run: cortex embed"
    recall(cortex)
    warned = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert warned == [f"vault: answered by bm25: {found.why}"]  # once


def test_damaged_vectors_leave_the_answer_to_words(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    for cache in cortex.config.state.glob("vectors*"):
        if cache.is_dir():
            shutil.rmtree(cache)
    found = recall(cortex)
    assert (found.status, found.answered_by) == ("ok", "bm25")
    assert found.why.startswith("vector: ")


def test_a_damaged_keyword_index_leaves_the_answer_to_vectors(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    shutil.rmtree(lexical_folder(cortex))
    # The stand-in's cosines are of words: this one is near by them.
    found = recall(cortex, "The boiler pressure is 1.5 bar.")
    assert found.answered_by == "vector" and found.why.startswith("bm25: ")
    assert found.status == "ok" and found.items[0].why.startswith("cosine ")


def test_without_both_the_note_files_are_read(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES, build=False)
    cortex.index()
    shutil.rmtree(lexical_folder(cortex))
    found = recall(cortex)
    assert (found.status, found.answered_by) == ("ok", "scan")
    assert "bm25: " in found.why and "vector: nothing has been embedded yet" in found.why


@pytest.mark.parametrize("broken", ["no index", "no state", "pointer", "records", "unreadable"])
def test_where_no_index_opens_the_note_files_are_read(cortex_with: CortexMaker, broken: str):
    cortex = cortex_with(NOTES, build=broken != "no index")
    state = cortex.config.state
    if broken == "no state":
        shutil.rmtree(state)
    elif broken == "pointer":
        (state / "index.json").write_text('{"folder": 7}')
    elif broken == "records":
        overwrite(lexical_folder(cortex).parent)
    elif broken == "unreadable":
        (state / "index.json").unlink()
        (state / "index.json").mkdir()
    found = recall(cortex)
    assert (found.status, found.answered_by) == ("ok", "scan") and found.why
    best = found.items[0]
    assert best.id == "note:Home/Boiler.md#Boiler > Pressure" and best.why == "words 1.00"
    assert (best.label, best.head) == ("fact", "Boiler > Pressure (Home/Boiler.md:4-9)")
    assert recall(cortex, FOREIGN).status == "empty"


def test_without_index_and_notes_it_says_that_it_cannot_answer(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex = cortex_with({}, f"vault: {{path: '{tmp_path / 'nowhere'}'}}", build=False)
    found = recall(cortex, home=tmp_path)
    assert (found.status, found.answered_by, found.items) == ("unavailable", "", ())
    assert "there is no index yet" in found.why and "does not exist" in found.why


def memory_store(home: Path, *facts: str) -> None:
    """A database as the host's holographic memory makes it."""
    store = pytest.importorskip("plugins.memory.holographic.store")
    memory = store.MemoryStore(home / "memory_store.db")
    for fact in facts:
        memory.add_fact(fact)
    memory.close()


def test_where_not_even_notes_can_be_read_the_memory_of_the_host_answers(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex = cortex_with({}, f"vault: {{path: '{tmp_path / 'nowhere'}'}}", build=False)
    memory_store(tmp_path, "The boiler pressure is 1.5 bar.", "Ada likes linden honey.")
    found = recall(cortex, home=tmp_path)
    assert (found.status, found.answered_by) == ("ok", "memory_store")
    assert [(item.label, item.head) for item in found.items] == [
        ("remembered", "The boiler pressure is 1.5 bar.")
    ]
    assert "does not exist" in found.why
    assert recall(cortex, FOREIGN, home=tmp_path).status == "empty"


def test_notes_that_cannot_be_read_give_way_to_that_memory(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex = cortex_with({"a.md": "", "b.md": ""}, build=False)
    assert cortex.config.vault.path is not None
    for name in ("a.md", "b.md"):
        (cortex.config.vault.path / name).write_bytes(bytes(range(256)) * 40)
    memory_store(tmp_path, "The boiler pressure is 1.5 bar.")
    found = recall(cortex, home=tmp_path)
    assert found.answered_by == "memory_store" and "2 notes could not be read" in found.why


def test_a_vault_that_is_gone_is_still_told_from_the_index(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES)
    assert cortex.config.vault.path is not None
    shutil.rmtree(cortex.config.vault.path)
    assert recall(cortex).answered_by == "hybrid"


# Time


def test_words_answer_first_and_the_rest_when_it_is_there(cortex_with: CortexMaker):
    found = recalls(cortex_with(NOTES))
    assert [one.answered_by for one in found] == ["bm25", "hybrid"]
    assert found[0].items[0].id == found[1].items[0].id
    assert found[0].why == "there was no time for the vectors"


def test_a_model_that_hangs_costs_half_of_the_time_and_words_answer(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
):
    cortex = cortex_with(NOTES)
    go_on = threading.Event()

    def hang(self: HashingEmbedder, text: str) -> object:
        go_on.wait(30)
        raise RuntimeError

    monkeypatch.setattr(HashingEmbedder, "embed_query", hang)
    found = recall(cortex, seconds=1.0)
    go_on.set()
    assert (found.status, found.answered_by) == ("ok", "bm25")
    assert "not ready within" in found.why


def test_while_other_turns_search_words_are_all_that_is_asked(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
):
    cortex = cortex_with(NOTES)
    with vault_source._by_words.first(0):
        found = recalls(cortex, seconds=1.0)
    assert [one.answered_by for one in found] == ["bm25"] and found[0].status == "ok"


def test_one_scan_runs_at_a_time_and_the_others_say_so(cortex_with: CortexMaker):
    cortex = cortex_with(NOTES, build=False)
    with vault_source._scans:
        found = recall(cortex, seconds=0.4)
    assert found.status == "unavailable" and "another turn reads the notes now" in found.why
    assert recall(cortex).status == "ok"


@pytest.mark.network
def test_a_real_model_lets_by_what_is_said_in_other_words_and_nothing_else(
    cortex_with: CortexMaker, models_folder: Path
):
    notes = {
        **NOTES,
        "Rent.md": "# Flat\n\nWe pay the landlord 900 euros on the third of each month.\n",
    }
    cortex = cortex_with(notes, f"embeddings: {{cache_folder: '{models_folder}'}}")
    found = recall(cortex, "How much is my rent?")
    assert [item.id for item in found.items] == ["note:Rent.md#Flat"]
    assert found.items[0].why.startswith("cosine ")
    for message in (FOREIGN, "Fix the failing test, please.", "What do you think of that?"):
        assert recall(cortex, message).items == ()
