"""`cortex search-eval`: cases, report, baseline, drafts, page; and what of it is wrong input."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from cortex import Cortex, UsageError
from cortex.cli import main
from cortex.evaluation.cases import CaseSet, read_cases, sample_cases
from cortex.evaluation.collection import read_judged
from cortex.evaluation.drafts import drafted
from cortex.evaluation.fingerprints import metadata
from cortex.evaluation.page import page
from cortex.evaluation.report import variants

NOTES = {
    "bees.md": "# Bees\n\nThey dance to tell where honey is.\n\n## Winter\n\nA warm ball.\n",
    "honey.md": "---\naliases: [nectar store]\ntype: food\n---\n# Honey\n\nSweet; bees make it.\n",
    "old/honey 2019.md": "---\nstatus: archived\ntype: food\n---\n# Honey 2019\n\nThin.\n",
    "wax.md": "# Wax\n\nCandles of it burn clean.\n\n## Melting\n\nAt sixty degrees.\n",
}
CASES = """\
- id: dance
  query: where do they dance
  expected_files: bees.md
  tags: [insects]
- id: melting
  query: candles sixty degrees
  expected: {file: wax.md, heading: Melting}
  expected_top_k: 2
"""
DAY, SET = dt.date(2026, 3, 1), CaseSet((), "cases.yaml")


@pytest.fixture
def cortex(cortex_with) -> Cortex:
    return cortex_with(NOTES)


@pytest.fixture
def ask(cortex: Cortex, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """The report on cases written out in the test."""

    def ask(cases: str, **options: Any) -> dict[str, Any]:
        file = tmp_path / "cases.yaml"
        file.write_text(cases, "utf-8")
        return cortex.search_eval(file, **options)

    return ask


@pytest.fixture
def run(cortex: Cortex) -> Callable[..., tuple[int, str, str]]:
    """The command, with the config of the vault: (exit code, stdout, stderr)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        words = ["search-eval", *map(str, arguments), "--config", str(cortex.config.path)]
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
        return code, out.getvalue(), err.getvalue()

    return run


def only(report: dict[str, Any]) -> dict[str, Any]:
    (case,) = report["cases"]
    return dict(case)


# Cases


def test_a_case_passes_if_an_expected_note_is_among_its_first_hits(ask):
    case = only(ask("- {id: a, query: candles burn clean, expected_files: [bees.md, wax.md]}"))
    assert case["passed"] and case["best_expected_rank"] == 1 and case["failure"] is None
    assert case["hits"][0]["expected"] == ["wax.md"]


def test_a_case_whose_note_stands_lower_fails_and_says_where_it_stands(ask):
    case = only(
        ask("- {id: a, query: honey bees sweet, expected: bees.md, expected_top_k: 1}", top_k=10)
    )
    assert case["best_expected_rank"] == 2 and not case["passed"]
    assert case["failure"] == "the first expected note is number 2, not among the first 1"


def test_no_more_hits_count_than_are_asked_for(ask):
    cases = "- {id: a, query: honey bees sweet, expected: bees.md, expected_top_k: 5}"
    assert only(ask(cases, top_k=2))["passed"]
    narrow = only(ask(cases, top_k=1))
    assert not narrow["passed"] and len(narrow["hits"]) == 1
    assert narrow["best_expected_rank"] == 2


def test_where_a_heading_is_expected_only_its_section_counts(ask):
    query = "they dance to tell where honey is"
    whole = only(ask(f"- {{id: a, query: {query}, expected: bees.md}}"))
    section = only(
        ask(f"- {{id: a, query: {query}, expected: {{file: bees.md, heading: Winter}}}}")
    )
    assert whole["best_expected_rank"] == 1
    assert section["best_expected_rank"] > 1 or section["best_expected_rank"] is None
    assert section["expected_files"] == ["bees.md#Winter"]
    assert section["measures"]["nDCG@10"] < whole["measures"]["nDCG@10"] == 1.0


def test_where_lines_are_expected_only_chunks_that_hold_one_of_them_count(ask):
    cases = "- {{id: a, query: candles burn clean, expected: {{file: wax.md, lines: {}}}}}"
    assert only(ask(cases.format("3")))["best_expected_rank"] == 1
    assert only(ask(cases.format("6-7")))["best_expected_rank"] != 1
    with pytest.raises(UsageError, match="lines must be a range such as 10-20, not '7-6'"):
        ask(cases.format("7-6"))


def test_a_note_that_must_not_be_found_fails_its_case(ask):
    cases = "- {{id: a, query: honey, expected: honey.md, must_not: {}}}"
    case = only(ask(cases.format("bees.md")))
    assert not case["passed"]
    assert re.match(r"bees.md must not be among the first 5, and is number \d", case["failure"])
    assert only(ask(cases.format("wax.md")))["passed"]


def test_a_case_may_only_say_what_must_not_be_found(ask):
    report = ask("- {id: a, query: honey, must_not: wax.md}")
    assert only(report)["passed"] and report["measures"] == {}


def test_grades_weigh_in_ndcg(ask):
    cases = "- {{id: a, query: honey bees, expected: [{{file: bees.md, grade: {}}}, honey.md]}}"
    first = only(ask(cases.format(1)))["hits"][0]["file"]
    assert first == "honey.md"
    assert only(ask(cases.format(1)))["measures"]["nDCG@10"] == 1.0
    assert only(ask(cases.format(3)))["measures"]["nDCG@10"] < 1.0


def test_filters_of_a_case_are_those_of_a_search(ask):
    case = only(ask("- {id: a, query: honey, expected: honey.md, filters: {type: food}}"))
    assert {hit["file"] for hit in case["hits"]} == {"honey.md", "old/honey 2019.md"}


def test_tags_part_the_cases_into_groups(ask):
    report = ask(CASES)
    assert list(report["groups"]) == ["insects"]
    group = report["groups"]["insects"]
    assert (group["case_count"], group["passed"]) == (1, 1)
    assert group["measures"]["MRR@10"]["value"] == only_rank(report, "dance")


def only_rank(report: dict[str, Any], name: str) -> float:
    (case,) = (case for case in report["cases"] if case["id"] == name)
    return 1 / int(case["best_expected_rank"])


@pytest.mark.parametrize(
    "name",
    [
        "old/honey 2019",
        "old\\Honey 2019.md",
        "Old/Honey 2019.MD",
        "./old/honey 2019.md",
        "honey 2019",
        "HONEY 2019.md",
    ],
)
def test_a_note_may_be_named_without_its_suffix_its_case_or_its_folder(ask, name):
    (found,) = only(ask(f"- {{id: a, query: q, expected: '{name}'}}"))["expected"]
    assert found["file"] == "old/honey 2019.md"


def test_a_note_that_is_named_twice_counts_once_with_its_best_grade(ask):
    expected = "[{file: wax.md, grade: 3}, Wax, bees.md]"
    case = only(ask(f"- {{id: a, query: candles, expected: {expected}}}"))
    assert [(t["file"], t["grade"]) for t in case["expected"]] == [("wax.md", 3), ("bees.md", 1)]


def test_a_name_that_two_notes_have_needs_its_path(cortex_with, tmp_path):
    cortex = cortex_with({"a/plan.md": "# Plan\n", "b/plan.md": "# Plan\n"})
    file = tmp_path / "cases.yaml"
    file.write_text("- {id: x, query: q, expected: plan.md}", "utf-8")
    with pytest.raises(UsageError, match=r"could be any of a/plan\.md, b/plan\.md"):
        cortex.search_eval(file)


def test_ids_and_questions_stay_as_they_are_written(ask):
    case = only(ask("- {id: 007, query: 12:30, expected: wax.md, tags: yes}"))
    assert (case["id"], case["query"], case["tags"]) == ("007", "12:30", ["yes"])


def test_operators_in_a_question_are_words_unless_the_case_asks_for_syntax(ask):
    cases = "- {{id: a, query: honey -sweet, expected: honey.md, syntax: {}}}"
    assert only(ask(cases.format("false")))["passed"]
    assert not only(ask(cases.format("true")))["passed"]


def test_a_case_may_ask_for_a_past_day(cortex_with, tmp_path):
    cortex = cortex_with(
        {
            "then.md": "---\nvalid_until: 2025-06-30\n---\n# Then\n\nThe key is under the mat.\n",
            "now.md": "---\nvalid_from: 2025-07-01\n---\n# Now\n\nThe key is in the safe.\n",
        }
    )
    file = tmp_path / "cases.yaml"
    file.write_text("- {id: a, query: the key, expected: then.md, as_of: 2025-03-01}", "utf-8")
    assert [hit["file"] for hit in only(cortex.search_eval(file))["hits"]] == ["then.md"]


# Test collections


def test_queries_and_qrels_are_cases_with_groups(cortex, tmp_path):
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.tsv"
    queries.write_text(
        '{"id": "1", "text": "sweet honey", "category": "food"}\n'
        '{"id": "2", "text": "candles", "category": "light"}\n'
        '{"id": "3", "text": "who is the king", "answerable": false}\n',
        "utf-8",
    )
    qrels.write_text(
        "query_id\tnote_path\trelevance\n1\thoney.md\t2\n1\tbees.md\t1\n2\twax.md\t1\n"
    )
    report = cortex.search_eval(queries=queries, qrels=qrels)
    assert [case["id"] for case in report["cases"]] == ["1", "2"]
    assert report["cases"][0]["expected_files"] == ["honey.md", "bees.md"]
    assert list(report["groups"]) == ["category=food", "category=light"]
    assert report["remarks"] == ["1 query has no relevant note in qrels.tsv: left out"]


def test_the_four_columns_of_trec_are_read_and_names_may_hold_blanks(tmp_path):
    queries, qrels = tmp_path / "queries.tsv", tmp_path / "qrels.txt"
    queries.write_text("q1\twhere is it\nq2\tand that\n")
    qrels.write_text("q1 0 a/Fog%20Bell.md 1\nq1 0 b.md 0\nq2\t0\tFog Bell.md\t2\n")
    first, second = read_judged(queries, qrels).cases
    assert [target.file for target in first.expected] == ["a/Fog Bell.md"]
    assert [(target.file, target.grade) for target in second.expected] == [("Fog Bell.md", 2)]


def test_a_judgement_that_is_no_whole_number_is_refused_and_blanks_at_the_end_are_not(tmp_path):
    queries, qrels = tmp_path / "queries.jsonl", tmp_path / "qrels.txt"
    queries.write_text('{"id": "1", "text": "honey"}\n', "utf-8")
    qrels.write_text("1 0 honey.md 2 \n1 0 wax.md -1\n", "utf-8")
    (case,) = read_judged(queries, qrels).cases
    assert [(target.file, target.grade) for target in case.expected] == [("honey.md", 2)]
    for wrong, why in {
        "1\thoney.md\t0.5\n": "line 1: the grade must be a whole number up to 100, not 0.5",
        "1\thoney.md\n": "line 1: give query id, note and grade",
        "1\t\t1\n": "line 1 has an empty column",
    }.items():
        qrels.write_text(wrong, "utf-8")
        with pytest.raises(UsageError, match=why):
            read_judged(queries, qrels)


def test_a_run_is_what_trec_eval_reads_and_ranks_as_the_search_did(cortex, tmp_path, ask):
    run = tmp_path / "run.txt"
    case = only(ask("- {id: a b, query: honey, expected: honey.md}", run=run))
    rows = [line.split() for line in run.read_text().splitlines()]
    assert {(row[0], row[1], row[5]) for row in rows} == {("a%20b", "Q0", "cortex")}
    assert [int(row[3]) for row in rows] == list(range(1, len(rows) + 1))
    scores = [float(row[4]) for row in rows]
    assert scores == sorted(set(scores), reverse=True)
    by_note = list(dict.fromkeys(hit["file"] for hit in case["hits"]))
    assert [row[2].replace("%20", " ") for row in rows][: len(by_note)] == by_note


def test_a_run_in_tsv_is_query_note_and_score(tmp_path, ask):
    run = tmp_path / "run.tsv"
    ask("- {id: a, query: honey 2019, expected: old/honey 2019.md}", run=run)
    query, note, score = run.read_text().splitlines()[0].split("\t")
    assert (query, note) == ("a", "old/honey 2019.md") and float(score) > 0


# The report


def test_names_with_line_breaks_do_not_break_the_columns_of_a_run(tmp_path, ask):
    ask('- {id: "a\\n\\tb", query: candles, expected: wax.md}', run=tmp_path / "run.tsv")
    lines = (tmp_path / "run.tsv").read_text("utf-8").splitlines()
    assert lines and all(line.startswith("a  b\t") for line in lines)
    assert {line.count("\t") for line in lines} == {2}


def test_recall_at_20_looks_at_20_notes_though_one_note_gives_several_chunks(cortex_with, tmp_path):
    sections = "".join(f"\n## Part {at}\n\nBees of kind {at}.\n" for at in range(4))
    notes = {f"{at:02}.md": f"# Note {at}\n{sections}" for at in range(20)}
    cases = tmp_path / "cases.yaml"
    expected = ", ".join(notes)
    cases.write_text(f"- {{id: a, query: bees of kind, expected: [{expected}]}}", "utf-8")
    report = cortex_with(notes).search_eval(cases, unboosted=False)
    assert report["measures"]["Recall@20"]["value"] == 1.0


def test_hits_are_those_of_a_search_for_as_many(cortex, ask):
    case = only(ask("- {id: a, query: honey bees, expected: honey.md}", top_k=3))
    hits = cortex.search("honey bees", 3, plain=True).hits
    assert [hit["chunk_id"] for hit in case["hits"]] == [hit.chunk.id for hit in hits]
    assert [hit["final_score"] for hit in case["hits"]] == [hit.score for hit in hits]


def test_a_report_says_what_it_was_made_with_and_is_json(ask, cortex):
    report = ask(CASES)
    assert report["schema_version"] == 1
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    about = report["metadata"]
    assert about["config_path"] == str(cortex.config.path)
    assert about["model"]["identity"] is not None
    assert about["artifacts"]["chunks"]["sha256"] and about["artifacts"]["cases"]["size_bytes"] > 0
    assert {"p50", "p95", "max"} <= set(report["latency_ms"])
    hit = report["cases"][0]["hits"][0]
    assert {"bm25_rank", "vector_rank", "graph_rank", "rrf_score", "boost_multiplier"} <= set(hit)
    assert hit["quality_reason"] == "neutral" and hit["why"].startswith("bm25 #")


def test_cases_are_asked_again_without_boosts_unless_that_is_off(ask):
    cases = "- {id: a, query: thin honey 2019, expected: old/honey 2019.md}"
    case = only(ask(cases))
    assert case["unboosted_best_expected_rank"] == case["best_expected_rank"] == 1
    assert case["boost_rank_delta"] == 0
    assert "unboosted_best_expected_rank" not in only(ask(cases, unboosted=False))


def test_ablations_are_each_channel_alone_and_all_without_each(ask):
    runs = ask(CASES, ablate=True)["runs"]
    assert list(runs) == [
        *("search", "unboosted", "bm25 alone", "vector alone", "graph alone"),
        *("without bm25", "without vector", "without graph"),
    ]
    assert runs["bm25 alone"]["channels"] == ["bm25"]
    found = runs["graph alone"]["differences"]["nDCG@10"]
    assert found["delta"] < 0 and found["noise"] == (found["p"] >= 0.05)


def test_with_a_reranker_there_is_a_run_without_it():
    how = {"boosts": True, "channels": None, "rerank": True, "ablate": False, "reranks": True}
    assert [(run.name, run.rerank) for run in variants(**how, unboosted=True)] == [
        *(("search", True), ("unboosted", True), ("not reranked", False)),
    ]
    assert [run.name for run in variants(**how, unboosted=False)] == ["search"]


def test_graph_as_the_only_channel_ranks_what_links_lifted(ask):
    report = ask("- {id: a, query: sweet, expected: bees.md}", channels=["graph"])
    assert all(hit["graph_rank"] == hit["rank"] for hit in only(report)["hits"])
    only_words = ask("- {id: a, query: sweet, expected: bees.md}", channels=["bm25"])
    assert all(set(hit["channels"]) <= {"bm25", "title"} for hit in only(only_words)["hits"])


# Against a baseline


@pytest.fixture
def baseline(ask, tmp_path: Path) -> Callable[[str], Path]:
    def baseline(cases: str, **options: Any) -> Path:
        path = tmp_path / "baseline.json"
        path.write_text(json.dumps(ask(cases, **options)), "utf-8")
        return path

    return baseline


def test_an_equal_report_has_neither_regressions_nor_drift(ask, baseline):
    report = ask(CASES, baseline=baseline(CASES))
    summary = report["compare_summary"]
    assert (summary["regression_count"], summary["improvement_count"]) == (0, 0)
    assert summary["unchanged_pass_fail"] == summary["matched_case_count"] == 2
    assert report["baseline"]["drift"] == []
    assert summary["differences"]["nDCG@10"] == {"delta": 0.0, "p": 1.0, "noise": True}


def with_rank(path: Path, name: str, rank: int | None, passed: bool) -> Path:
    report = json.loads(path.read_text("utf-8"))
    for case in report["cases"]:
        if case["id"] == name:
            case.update(best_expected_rank=rank, passed=passed)
    path.write_text(json.dumps(report), "utf-8")
    return path


def test_a_case_that_fails_now_and_passed_then_is_a_regression(ask, baseline):
    hard = "- {id: a, query: honey bees sweet, expected: bees.md, expected_top_k: 1}"
    report = ask(hard, baseline=with_rank(baseline(hard), "a", 1, True))
    case, summary = only(report), report["compare_summary"]
    assert case["baseline_status_change"] == "regression"
    assert (case["baseline_rank_delta"], case["baseline_pass_delta"]) == (1, -1)
    assert summary["pass_regressions"] == ["a"]
    assert summary["rank_regressions"] == [{"id": "a", "delta": 1}]
    assert summary["regression_count"] == 1


def test_a_case_that_passes_now_and_failed_then_is_an_improvement(ask, baseline):
    report = ask(CASES, baseline=with_rank(baseline(CASES), "dance", 9, False))
    summary = report["compare_summary"]
    assert summary["pass_improvements"] == ["dance"]
    assert [entry["id"] for entry in summary["rank_improvements"]] == ["dance"]
    assert summary["improvement_count"] == 1


def test_a_case_that_asks_something_else_now_is_not_compared(ask, baseline):
    earlier = with_rank(baseline(CASES), "dance", None, False)
    report = ask(CASES.replace("where do they dance", "who dances"), baseline=earlier)
    summary = report["compare_summary"]
    assert summary["changed_cases"] == ["dance"] and summary["matched_case_count"] == 1
    assert summary["improvement_count"] == 0


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("expected_files: bees.md", "expected_files: {file: bees.md, grade: 3}"),
        ("  tags: [insects]", "  tags: [insects]\n  expected_top_k: 1"),
    ],
)
def test_a_case_that_is_judged_otherwise_now_is_not_compared(ask, baseline, was, now):
    earlier = with_rank(baseline(CASES), "dance", 3, False)
    summary = ask(CASES.replace(was, now), baseline=earlier)["compare_summary"]
    assert summary["changed_cases"] == ["dance"] and summary["matched_case_count"] == 1
    assert (summary["regression_count"], summary["improvement_count"]) == (0, 0)


def test_where_things_lie_is_no_difference_to_a_baseline(cortex, ask, baseline):
    earlier = baseline(CASES)
    there = json.loads(earlier.read_text("utf-8"))
    there["metadata"]["model"]["name"] = "/elsewhere/model"
    there["channels"]["ran"].reverse()
    earlier.write_text(json.dumps(there), "utf-8")
    config = cortex.config.path
    settings = yaml.safe_load(config.read_text("utf-8"))
    settings["vault"]["descriptions"] = {"*.md": "all of it"}
    settings["embeddings"]["endpoint"] = {"timeout_s": 7, "retries": 1}
    config.write_text(yaml.safe_dump(settings), "utf-8")
    again = Cortex.open(config, env={})
    report = again.search_eval(earlier.parent / "cases.yaml", baseline=earlier)
    assert report["baseline"]["drift"] == []


def test_a_folder_of_a_model_stands_in_the_settings_by_its_name(cortex, ask, tmp_path):
    for home in ("one", "two"):
        folder = tmp_path / home / "bge"
        settings = {"embeddings": {"model": str(folder)}, "vault": {"path": str(tmp_path)}}
        (tmp_path / f"{home}.yaml").write_text(json.dumps(settings), "utf-8")
    told = [
        metadata(Cortex.open(tmp_path / f"{home}.yaml", env={}).config, cortex.state, DAY, SET)
        for home in ("one", "two")
    ]
    assert told[0]["config"] == told[1]["config"]
    assert told[0]["config"]["settings"]["embeddings.model"] == "bge"


def test_groups_are_compared_too(ask, baseline):
    earlier = baseline(CASES)
    report = json.loads(earlier.read_text("utf-8"))
    for case in report["cases"]:
        case["measures"] = dict.fromkeys(case["measures"], 0.0)
    earlier.write_text(json.dumps(report), "utf-8")
    found = ask(CASES, baseline=earlier)["compare_summary"]["group_differences"]["insects"]
    assert found["nDCG@10"] == {"delta": 1.0, "p": 1.0, "noise": True}  # of a single case


def test_figures_of_a_baseline_that_are_none_are_left_out(ask, baseline):
    earlier = baseline(CASES)
    report = json.loads(earlier.read_text("utf-8"))
    report["cases"][0]["measures"]["nDCG@10"] = float("nan")
    earlier.write_text(json.dumps(report), "utf-8")
    compared = ask(CASES, baseline=earlier)
    assert compared["compare_summary"]["differences"]["nDCG@10"]["delta"] == 0.0
    json.dumps(compared, allow_nan=False)


def test_cases_of_one_side_alone_are_told(ask, baseline):
    earlier = baseline(CASES)
    report = ask("- {id: new, query: wax, expected: wax.md}", baseline=earlier)
    summary = report["compare_summary"]
    assert summary["missing_in_baseline"] == ["new"]
    assert summary["missing_in_current"] == ["dance", "melting"]


def test_a_baseline_of_another_vault_config_or_question_is_told(cortex, ask, baseline):
    earlier = baseline(CASES)
    (cortex.config.vault.path / "new.md").write_text("# New\n", "utf-8")
    config = cortex.config.path
    config.write_text(f"{config.read_text('utf-8')}\nsearch: {{bm25_weight: 0.6}}\n", "utf-8")
    again = Cortex.open(config, env={})
    again.index()
    cases = earlier.parent / "cases.yaml"
    drift = again.search_eval(cases, baseline=earlier, top_k=3)["baseline"]["drift"]
    assert drift == [
        "the config differs: search.bm25_weight",
        "the vault differs: 4 notes then, 5 now",
        "it was asked otherwise: top 10 with boosts then, top 3 with boosts now",
    ]


def test_an_index_that_still_counts_what_was_deleted_is_told(cortex, ask, baseline, monkeypatch):
    earlier = baseline(CASES)
    monkeypatch.setattr("cortex.indexer.lexical.SMALL_INDEX", 1)
    monkeypatch.setattr("cortex.indexer.lexical.MAX_DELETED_SHARE", 1.0)
    note = cortex.config.vault.path / "wax.md"
    text = note.read_text("utf-8")
    for content in (f"{text}\nmore\n", text):  # the vault is what it was, the index is not
        note.write_text(content, "utf-8")
        cortex.index()
    (line,) = (
        line for line in ask(CASES, baseline=earlier)["baseline"]["drift"] if "keyword" in line
    )
    assert re.fullmatch(
        r"the keyword index differs: 0 deleted entries counted then, [1-9]\d* now; "
        r"for exact scores, run: cortex index --force",
        line,
    )
    cortex.index(force=True)
    assert ask(CASES, baseline=earlier)["baseline"]["drift"] == []


def test_a_baseline_of_another_model_is_told(ask, baseline):
    earlier = baseline(CASES)
    report = json.loads(earlier.read_text("utf-8"))
    report["metadata"]["model"] = {"name": "other", "identity": "abc"}
    earlier.write_text(json.dumps(report), "utf-8")
    (line,) = ask(CASES, baseline=earlier)["baseline"]["drift"]
    assert line.startswith("the model differs: other (abc) then, hashing")


# The command


def test_exit_codes_are_those_that_ci_can_use(run, tmp_path):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("- {id: a, query: candles, expected: wax.md}", "utf-8")
    bad.write_text("- {id: a, query: candles, expected: bees.md, expected_top_k: 1}", "utf-8")
    assert run("--cases", good)[0] == 0
    assert run("--cases", bad)[0] == 1
    assert run("--cases", bad, "--allow-failures")[0] == 0
    base = tmp_path / "base.json"
    assert run("--cases", bad, "--allow-failures", "--output", base)[0] == 0
    with_rank(base, "a", 1, True)
    compared = ("--cases", bad, "--allow-failures", "--baseline", base)
    assert run(*compared)[0] == 0
    code, out, _ = run(*compared, "--fail-on-regression")
    assert code == 1
    assert "against the baseline: 1 regression, 0 improvements, 1 case compared\n" in out
    assert "  passed then, fail now: a\n" in out


def test_the_table_says_of_each_case_whether_it_passed_and_where(run, tmp_path):
    file = tmp_path / "cases.yaml"
    file.write_text(CASES, "utf-8")
    code, out, err = run("--cases", file, "--no-unboosted")
    assert code == 0 and err == ""
    assert re.search(r"^PASS  dance    #1  where do they dance$", out, re.MULTILINE)
    assert "2 cases: 2 passed, 0 failed (top 10)\n" in out
    assert re.search(r"^nDCG@10     \d\.\d{3}  \d\.\d{3} to \d\.\d{3}$", out, re.MULTILINE)


def test_json_and_output_are_the_same_report(run, tmp_path):
    (tmp_path / "cases.yaml").write_text(CASES, "utf-8")
    output = tmp_path / "report.json"
    _, out, _ = run("--cases", tmp_path / "cases.yaml", "--json", "-o", output)
    assert json.loads(out) == json.loads(output.read_text("utf-8"))


def test_a_file_of_the_vault_is_never_written_to(run, cortex, tmp_path):
    note = cortex.config.vault.path / "wax.md"
    for option in ("--output", "--html", "--run"):
        code, _, err = run(option, note)
        assert (code, err) == (
            2,
            f"cortex: {option}: {note} is a file of your vault, which is never written to\n",
        )
    assert note.read_text("utf-8") == NOTES["wax.md"]


def test_what_a_run_reads_is_not_written_over(run, tmp_path):
    file = tmp_path / "cases.yaml"
    file.write_text(CASES, "utf-8")
    told = f"cortex: --output: {file} is what this run reads; give the name of another file\n"
    assert run("--cases", file, "-o", file) == (2, "", told)
    assert file.read_text("utf-8") == CASES


def test_a_baseline_may_be_replaced_by_the_report_that_is_compared_with_it(run, tmp_path):
    file, base, html = tmp_path / "cases.yaml", tmp_path / "base.json", tmp_path / "page.html"
    file.write_text("- {id: a, query: honey bees sweet, expected: bees.md}", "utf-8")
    run("--cases", file, "-o", base)
    with_rank(base, "a", 1, True)
    run("--cases", file, "--baseline", base, "-o", base, "--html", html)
    assert "was #1" in html.read_text("utf-8")
    assert json.loads(base.read_text("utf-8"))["cases"][0]["best_expected_rank"] == 2


def test_a_case_whose_filters_leave_nothing_says_why(run, tmp_path):
    file = tmp_path / "cases.yaml"
    file.write_text("- {id: a, query: wax, expected: wax.md, filters: {titel: x}}", "utf-8")
    code, out, _ = run("--cases", file)
    told = "no expected note was found: no note has the property 'titel', so it matches none"
    assert code == 1 and told in out


# Wrong input


WRONG = {
    "- {id: a, query: q, expected: wax.md, must_not: Wax}": (
        "case 'a' expects wax.md, and it must not be found"
    ),
    "- {id: a, query: q, expected: bee.md}": (
        "case 'a' names 'bee.md', which is no note of the vault; did you mean bees.md?"
    ),
    "- {id: a, query: q, expected: wax.md}\n- {id: a, query: r, expected: wax.md}": (
        "two cases have the id 'a'"
    ),
    "- {id: a, query: q, expected_files: []}": (
        "case 'a' expects no file; name at least one in expected_files"
    ),
    "- {id: a, query: q}": "case 'a' expects no file; name at least one in expected_files",
    "- {query: q, expected: wax.md}": "case 1 has no id",
    "- {id: a, expected: wax.md}": "case 'a' has no query",
    "- {id: a, query: q, expected: wax.md, filter: {type: x}}": (
        "case 'a': no case has 'filter'; did you mean filters?"
    ),
    "- {id: a, query: q, expected: wax.md, expected_top_k: many}": (
        "case 'a': expected_top_k must be a whole number from 1 to 10,000, not 'many'"
    ),
    "- {id: a, query: q, expected: {file: wax.md, heading: Meltin}}": (
        "case 'a' names the heading 'Meltin', which wax.md does not have; did you mean 'Melting'?"
    ),
    "- {id: a, query: q, expected: wax.md, as_of: once}": (
        "case 'a': as_of: give a day as YYYY-MM-DD, not 'once'"
    ),
    "- {id: a, query: q, expected: wax.md, filters: {modified_after: once}}": (
        "case 'a': filters: modified_after: give a "
    ),
    "- {id: a, query: q, expected: 'wax.md:5-3'}": (
        "case 'a', expected: lines must be a range such as 10-20, not '5-3'"
    ),
    "- {id: a, query: q, expected: /etc/hosts}": (
        "case 'a' names '/etc/hosts', which is no note of the vault"
    ),
    "- just a text": "case 1 must be a mapping with id, query and expected_files",
}


@pytest.mark.parametrize("cases", WRONG)
def test_wrong_cases_are_one_line_and_exit_code_two(run, tmp_path, cases):
    file = tmp_path / "cases.yaml"
    file.write_text(cases, "utf-8")
    code, out, err = run("--cases", file)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"cortex: {file}: {WRONG[cases]}")


EMPTY = "{} holds no cases; to draft some, run: cortex search-eval init"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", EMPTY),
        ("[]", EMPTY),
        ("cases: []", EMPTY),
        ("cases: [a", "{} is not YAML in line 2: "),
        # The dash of a second case was forgotten: it must not swallow the first.
        (
            "- id: a\n  query: q\n  expected: wax.md\n  id: b\n",
            "{} is not YAML in line 4: 'id' stands there twice",
        ),
        (
            "- {id: a, query: q, expected: wax.md, expected: bees.md}",
            "{} is not YAML in line 1: 'expected' stands there twice",
        ),
        ("hello", "{} holds no list of cases but 'hello'"),
        ("case: []", "{} has 'case'; give a list of cases, or a mapping with `cases`"),
        (b"\xff\xfe", "{} is not UTF-8 text"),
        (None, "{} cannot be read: No such file or directory"),
    ],
)
def test_a_file_that_holds_no_cases_is_one_line_and_exit_code_two(run, tmp_path, content, message):
    file = tmp_path / "cases.yaml"
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run("--cases", file)
    assert (code, out) == (2, "")
    assert err.startswith(f"cortex: {message.format(file)}") and err.count("\n") == 1


def test_a_baseline_whose_parts_were_lost_is_damaged_or_compared_and_no_crash(ask, baseline):
    earlier = baseline(CASES)
    report = json.loads(earlier.read_text("utf-8"))
    report["runs"]["search"] = "lost"
    earlier.write_text(json.dumps(report), "utf-8")
    assert ask(CASES, baseline=earlier)["baseline"]["drift"] == []
    del report["cases"][0]["best_expected_rank"]
    earlier.write_text(json.dumps(report), "utf-8")
    with pytest.raises(UsageError, match="is damaged: its cases cannot be read"):
        ask(CASES, baseline=earlier)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the baseline {} cannot be read: No such file or directory"),
        ("nonsense", "the baseline {} is not JSON"),
        ("[1]", "the baseline {} is no report of search-eval"),
        ('{"schema_version": 2}', "the baseline {} has schema version 2, and this Cortex reads 1"),
        ('{"schema_version": 1, "top_k": 10}', "the baseline {} is a report of another kind"),
        (
            '{"schema_version": 1, "kind": "search-eval", "cases": [{"id": 3}]}',
            "the baseline {} is damaged: its cases cannot be read",
        ),
    ],
)
def test_a_baseline_that_cannot_be_read_is_one_line_and_exit_code_two(
    run, tmp_path, content, message
):
    cases, base = tmp_path / "cases.yaml", tmp_path / "base.json"
    cases.write_text(CASES, "utf-8")
    if content is not None:
        base.write_text(content, "utf-8")
    again = "to make one, run: cortex search-eval --output FILE"
    told = f"cortex: {message.format(base)}; {again}\n"
    assert run("--cases", cases, "--baseline", base) == (2, "", told)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-on-regression"], "--fail-on-regression needs a --baseline to compare with"),
        (["--queries", "x"], "give queries and qrels together, or a file of cases"),
        (["--channels", "words"], "no channel 'words'; there are bm25, vector, graph"),
        (["--output", "no/where.json"], "--output: the folder {}/no does not exist"),
        (["--html", "."], "--html: . is a folder; give the name of a file"),
        (["inti"], "cortex search-eval has no 'inti'; there is init, and --cases FILE"),
        ([], "there are no cases for this vault yet; to draft some, run: cortex search-eval init"),
    ],
)
def test_what_is_asked_wrongly_is_one_line_and_exit_code_two(
    run, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    if "--channels" in arguments:
        (tmp_path / "cases.yaml").write_text(CASES, "utf-8")
        arguments = [*arguments, "--cases", "cases.yaml"]
    assert run(*arguments) == (2, "", f"cortex: {message.format(tmp_path)}\n")


def test_cases_are_held_against_the_files_as_they_are_now_on_request(run, cortex, tmp_path):
    file = tmp_path / "cases.yaml"
    file.write_text("- {id: a, query: q, expected: {file: wax.md, heading: Melting}}", "utf-8")
    assert run("--cases", file, "--allow-failures", "--lint-vault-files")[0] == 0
    (cortex.config.vault.path / "wax.md").write_text("# Wax\n\nCandles.\n", "utf-8")
    code, _, err = run("--cases", file, "--allow-failures", "--lint-vault-files")
    assert code == 2
    assert err == (
        f"cortex: {file}: case 'a': wax.md has no heading 'Melting'; its headings: 'Wax'\n"
    )


def test_a_note_that_is_not_indexed_yet_is_told_with_the_remedy(run, cortex, tmp_path):
    (cortex.config.vault.path / "new.md").write_text("# New\n", "utf-8")
    file = tmp_path / "cases.yaml"
    file.write_text("- {id: a, query: q, expected: new.md}", "utf-8")
    assert run("--cases", file) == (
        2,
        "",
        f"cortex: {file}: case 'a' names 'new.md', which is not in the index; run: cortex index\n",
    )


def test_a_link_to_a_note_is_no_note_that_waits_for_the_index(run, cortex, tmp_path):
    (cortex.config.vault.path / "candles.md").symlink_to("wax.md")
    cases = tmp_path / "cases.yaml"
    cases.write_text("- {id: a, query: q, expected: candles.md}", "utf-8")
    cortex.index()
    told = f"cortex: {cases}: case 'a' names 'candles.md', which is no note of the vault\n"
    assert run("--cases", cases) == (2, "", told)


# Drafts, and the sample


def test_drafted_cases_are_found_by_the_command_and_pass(run, cortex):
    code, out, _ = run("init")
    assert code == 0 and out.startswith(f"drafted 4 cases from your notes: {cortex.cases_path}\n")
    cases = read_cases(cortex.cases_path).cases
    assert {tag for case in cases for tag in case.tags} == {"alias", "heading", "title"}
    assert "nectar store" in [case.query for case in cases]
    assert run()[0] == 0


def test_drafts_are_the_same_each_time_and_overwrite_nothing(run, tmp_path):
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    assert run("init", "--output", one, "--count", 3)[0] == 0
    assert run("init", "--output", other, "--count", 3)[0] == 0
    assert one.read_text("utf-8") == other.read_text("utf-8")
    assert len(read_cases(one).cases) == 3
    assert run("init", "--output", one) == (
        2,
        "",
        f"cortex: {one} is there already, and is not overwritten; give --output FILE\n",
    )


def test_drafting_tells_a_program_where_the_cases_are(run, cortex):
    code, out, _ = run("init", "--json")
    document = {"schema_version": 1, "cases": 4, "file": str(cortex.cases_path)}
    assert (code, json.loads(out)) == (0, document)


def test_names_that_several_notes_have_and_dates_are_not_drafted(cortex_with):
    cortex = cortex_with(
        {
            "a/2024-01-02.md": "# 2024-01-02\n\nRain.\n",
            "a/plan.md": "# Plan\n\nOne.\n",
            "b/plan.md": "# Plan\n\nTwo.\n",
            "templates/letter.md": "# Letter\n\nDear.\n",
        }
    )
    with pytest.raises(UsageError, match="no note has a title, alias or heading"):
        cortex.draft_cases()


@pytest.mark.parametrize(
    ("headings", "query"),
    [
        ("# Tide gauge\n\n## Repair\n\nOil it.\n", "Tide gauge Repair"),
        ("## Books\n\nOne.\n\n# Clippings\n\nTwo.\n", "Kelly Books"),  # over a part alone
        ("# One\n\n## Books\n\nOne.\n\n# Two\n\nTwo.\n", "Kelly Books"),
    ],
)
def test_a_section_is_asked_for_with_what_its_note_is_about(cortex_with, headings, query):
    notes = cortex_with({"Kelly.md": headings})._corpus().notes.records()
    assert [case["query"] for case in drafted(notes)] == [query]


def test_the_cases_of_the_sample_vault_pass(cortex_with):
    from cortex.ops.init import _sample_files

    notes = {name: file.read_text("utf-8") for name, file in _sample_files()}
    cortex = cortex_with(notes)
    report = cortex.search_eval()
    assert report["case_count"] == len(sample_cases().cases) >= 10
    assert [case["failure"] for case in report["cases"] if not case["passed"]] == []


# The page


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"&amp;"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_page_needs_nothing_else_and_no_note_can_steer_it(cortex_with, tmp_path):
    cortex = cortex_with({"x.md": f"# {HOSTILE}\n\nhoney {HOSTILE}\n", "y.md": "# Y\n\nhoney\n"})
    file = tmp_path / "cases.yaml"
    case = {"id": HOSTILE, "query": f"honey {HOSTILE}", "expected": "x.md", "notes": HOSTILE}
    file.write_text(json.dumps([{**case, "tags": [HOSTILE]}]), "utf-8")
    report = cortex.search_eval(file)
    baseline = json.loads(json.dumps(report))
    baseline["cases"][0]["hits"][0].update(file=HOSTILE, why=HOSTILE, final_score=HOSTILE)
    text = page(report, baseline)
    tags = Tags()
    tags.feed(text)
    assert [tag for tag, _ in tags.found].count("script") == 1
    assert not {"img", "link", "iframe", "object"} & {tag for tag, _ in tags.found}
    named = {name for _, attrs in tags.found for name in attrs}
    assert not {name for name in named if name.startswith("on")} | (named & {"src", "href"})
    assert HOSTILE not in text and "&lt;script&gt;alert(1)" in text
    assert "http://" not in text and "https://" not in text
    assert "default-src 'none'" in text


def test_the_page_shows_hits_beside_those_of_the_baseline_and_why(run, tmp_path):
    file, base, html = tmp_path / "cases.yaml", tmp_path / "base.json", tmp_path / "page.html"
    file.write_text("- {id: a, query: honey bees sweet, expected: bees.md}", "utf-8")
    run("--cases", file, "-o", base)
    with_rank(base, "a", 1, True)
    run("--cases", file, "--baseline", base, "--html", html)
    text = html.read_text("utf-8")
    assert "<h3>now</h3>" in text and "<h3>baseline</h3>" in text
    assert "<details class='case worse' open>" in text and "was #1" in text
    assert "<div class=why>bm25 #1" in text
    assert "gave" in text  # what each channel gave, behind its bar
