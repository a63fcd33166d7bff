"""benchmarks/quality, on a collection made here."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from shared import CHECKOUT

sys.path.append(str(CHECKOUT))

from benchmarks.quality import collection, reference
from benchmarks.quality.measures import area_under_curve, mean, p_value, scored

NOTES = {
    "Bees.md": "---\ntitle: Bees\n---\n# Bees\n\nThe hives give linden honey in July.\n",
    "Boat.md": "# Boat\n\nThe hull wants linseed varnish before the winter.\n",
    "Bell.md": "# Bell\n\nThe fog bell rings twice a minute.\n",
    "Gauge.md": "# Gauge\n\nThe tide gauge sticks when silt gathers.\n",
}
QUESTIONS = {
    "q1": "when is there linden honey",
    "q2": "what does the hull want",
    "q3": "how often does the fog bell ring",
    "q4": "why does the tide gauge stick",
}
ANSWERS = {"q1": "Bees.md", "q2": "Boat.md", "q3": "Bell.md", "q4": "Gauge.md"}


@pytest.fixture
def harbour(tmp_path: Path) -> Path:
    """A folder of collections with one in it."""
    folder = tmp_path / "eval" / "harbour"
    (folder / "vault").mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / "vault" / name).write_text(text, "utf-8")
    write_questions(folder, "", QUESTIONS, {q: {note: 1} for q, note in ANSWERS.items()})
    return tmp_path / "eval"


def write_questions(
    folder: Path, suffix: str, questions: Mapping[str, str], judged: Mapping[str, Mapping[str, int]]
) -> None:
    records = (json.dumps({"id": key, "text": text}) for key, text in questions.items())
    (folder / f"queries{suffix}.jsonl").write_text("\n".join(records) + "\n", "utf-8")
    rows = [f"{q}\t{note}\t{grade}" for q, notes in judged.items() for note, grade in notes.items()]
    text = "query_id\tnote_path\trelevance\n" + "\n".join(rows) + "\n"
    (folder / f"qrels{suffix}.tsv").write_text(text, "utf-8")


def run(*words: str | Path, eval_folder: Path) -> subprocess.CompletedProcess[str]:
    cache = ("--cache", eval_folder.parent / "cache", "--models", eval_folder.parent / "models")
    return subprocess.run(
        [sys.executable, CHECKOUT / "benchmarks" / "quality", *words, *cache],
        env={**os.environ, "CORTEX_EVAL": str(eval_folder)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def test_one_command_prints_ours_beside_the_references_and_a_second_run_embeds_nothing(
    harbour: Path,
):
    report = harbour.parent / "report.json"
    words = ("harbour", "--model", "hashing", "--ablate", "--json", report)
    done = run(*words, eval_folder=harbour)
    assert done.returncode == 0, done.stderr
    shown = {line.split("  ")[0] for line in done.stdout.splitlines()}
    assert {"BM25", "vectors", "plain RRF", "ours", "our bm25", "ours without graph"} <= shown
    figures = json.loads(report.read_text("utf-8"))["sets"][0]
    assert figures["questions"] == 4 and figures["notes"] == 4
    for row in ("BM25", "ours"):
        assert figures["rows"][row]["MRR@10"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    vectors = list((harbour.parent / "cache").glob("*/vectors/*/*"))
    before = {path: path.stat().st_size for path in vectors if path.is_file()}
    again = run(*words, "--against", report, eval_folder=harbour)
    assert again.returncode == 0, again.stderr
    assert "ours vs before" in again.stdout and "+0.0000 p 1.000~" in again.stdout
    assert before and {path: path.stat().st_size for path in before} == before


def test_evidence_lines_are_looked_for_in_the_first_chunks_and_in_contexts(harbour: Path):
    lines = "query_id\tnote_path\tline\nq1\tBees.md\t6\nq2\tBoat.md\t3\n"
    (harbour / "harbour" / "evidence.tsv").write_text(lines, "utf-8")
    report = harbour.parent / "report.json"
    done = run("--model", "hashing", "--json", report, eval_folder=harbour)
    assert done.returncode == 0, done.stderr
    found = json.loads(report.read_text("utf-8"))["sets"][0]["evidence_lines"]
    assert found["ours"]["first 5 chunks"]["mean"] == 1.0
    assert found["ours"]["context of 500"]["mean"] == 1.0
    assert found["BM25"]["context of 2000"]["mean"] == 1.0


def test_questions_are_put_to_other_vaults_to_see_whether_evidence_tells_them(harbour: Path):
    other = harbour / "kitchen"
    (other / "vault").mkdir(parents=True)
    (other / "vault" / "Bread.md").write_text(
        "# Bread\n\nKnead the dough for ten minutes.", "utf-8"
    )
    (other / "vault" / "Soup.md").write_text("# Soup\n\nBoil the leeks with potatoes.", "utf-8")
    asked = {"k1": "how long to knead the dough", "k2": "what to boil the leeks with"}
    write_questions(other, "", asked, {"k1": {"Bread.md": 1}, "k2": {"Soup.md": 1}})
    report = harbour.parent / "report.json"
    done = run("--evidence", "--model", "hashing", "--json", report, eval_folder=harbour)
    assert done.returncode == 0, done.stderr
    assert json.loads(report.read_text("utf-8"))["evidence"]["auc"]["foreign"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "there is no collection 'nowhere' in"),
        (("harbour:alias",), "harbour has no questions 'alias'; there are harbour:"),
        (("--eval", "absent"), "there is no folder absent"),
        (("--against", "absent.json"), "absent.json is no report of this benchmark's --json"),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(harbour: Path, words: tuple[str, ...], said: str):
    done = run(*words, eval_folder=harbour)
    assert done.returncode == 2
    assert done.stderr.startswith("benchmarks.quality: ") and done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("qrels.tsv", "q1\tBees.md\n", "qrels.tsv:1 has 2 columns, not 3"),
        ("qrels.tsv", "q9\tBees.md\t1\n", "no question of"),
        ("queries.jsonl", "{broken\n", "queries.jsonl:1 is no object with id and text"),
    ],
)
def test_a_file_that_cannot_be_read_names_the_place(harbour: Path, file: str, text: str, said: str):
    (harbour / "harbour" / file).write_text(text, "utf-8")
    with pytest.raises(collection.BadCollection, match=said):
        collection.read(harbour, "harbour")


def test_every_pair_of_queries_and_judgments_is_a_set_and_the_unanswerable_stay_out(harbour: Path):
    folder = harbour / "harbour"
    write_questions(folder, "-questions", {"a": "which honey"}, {"a": {"Bees.md": 2}})
    with open(folder / "queries-questions.jsonl", "a", encoding="utf-8") as file:
        file.write('{"id": "b", "text": "who sells snow", "answerable": false}\n')
    sets = {found.name: found for found in collection.read(harbour, "harbour").sets}
    assert [question.id for question in sets["questions"].questions] == ["a"]
    assert [question.id for question in sets["questions"].unanswerable] == ["b"]
    assert sets["questions"].label == "harbour, questions"


def test_even_and_odd_questions_by_place_in_the_order_of_their_ids(harbour: Path):
    found = collection.read(harbour, "harbour").sets[0]
    assert [question.id for question in found.part("even").questions] == ["q1", "q3"]
    assert [question.id for question in found.part("odd").questions] == ["q2", "q4"]


def test_judgments_in_the_four_columns_of_trec_are_read_too(harbour: Path):
    (harbour / "harbour" / "qrels.tsv").write_text("q1\t0\tBees.md\t1\n", "utf-8")
    assert collection.read(harbour, "harbour").sets[0].judgments == {"q1": {"Bees.md": 1}}


def test_the_reference_bm25_is_that_of_lucene():
    texts = ["red fox fox", "red hen", "grey goose and gander", ""]
    scores = reference.BM25(texts, str.split).scores("fox red")
    average = (3 + 2 + 4 + 0) / 4
    rare = math.log(1 + (4 - 1 + 0.5) / (1 + 0.5)) * 2 / (2 + 1.5 * (0.25 + 0.75 * 3 / average))
    common = math.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    assert scores[0] == pytest.approx(rare + common * 1 / (1 + 1.5 * (0.25 + 0.75 * 3 / average)))
    assert scores[1] == pytest.approx(common * 1 / (1 + 1.5 * (0.25 + 0.75 * 2 / average)))
    assert scores[2] == scores[3] == 0


def test_the_reference_reads_words_by_language():
    assert reference.tokenizer("en")("The Foxes, a v2 of it") == ["fox", "v2"]
    assert reference.tokenizer("de")("Die Häuser und 3 Boote") == ["haus", "boot"]
    assert reference.tokenizer("zh")("潮位计v2，5月上旬") == [
        "潮位",
        "位计",
        "v2",
        "5",
        "月上",
        "上旬",
    ]


def test_the_reference_text_has_the_title_once_and_no_frontmatter(tmp_path: Path):
    note = tmp_path / "File name.md"
    for text, read in (
        ("---\ntitle: Bees\ntags: [x]\n---\n# Bees\n\nHoney.", "Bees\n\n\nHoney."),
        ("# Boat\nHull.", "Boat\n\nHull."),
        ("No heading.", "File name\nNo heading."),
    ):
        note.write_text(text, "utf-8")
        assert reference.title_and_body(note) == read


def test_plain_fusion_sums_one_over_sixty_plus_rank():
    assert reference.fused([["a", "b"], ["b", "c"]]) == ["b", "a", "c"]  # 1/62 + 1/61, 1/61, 1/62


def test_measures_of_a_ranking():
    found = scored({"q": ["x", "good"], "r": []}, {"q": {"good": 1}, "r": {"good": 1}})
    assert found["MRR@10"].tolist() == [1 / 2, 0]
    assert found["nDCG@10"].tolist() == pytest.approx([1 / math.log2(3), 0])
    assert found["R@5"].tolist() == [1, 0]


def test_a_difference_that_could_be_chance_has_a_large_p_and_the_interval_holds_the_mean():
    alike = np.array([0.5, 0.6, 0.4, 0.7] * 10)
    assert p_value(alike, alike) == 1.0
    assert p_value(alike, alike - 0.1) < 0.001
    assert p_value(alike, np.roll(alike, 1)) > 0.5
    told = mean(alike)
    assert told.value == pytest.approx(0.55) and told.low < told.value < told.high
    assert mean(alike) == told


def test_the_area_under_the_curve_counts_ties_half():
    assert area_under_curve(np.array([3.0, 2.0]), np.array([1.0, 2.0])) == 3.5 / 4
