"""The runner of the case bank: what a case demands is done and checked, or the case fails."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from case_bank import (
    Answer,
    Case,
    Found,
    UnknownForm,
    World,
    apply_settings,
    is_of_hooks,
    load_case,
    require_known_form,
    unanswered,
    variants,
    ways_of,
)
from case_checks import CHECKS, faults_of, not_the_set, rendered, run_case
from case_process import NETWORK_WATCH, Process, can_be_passed, lines_of

VAULT = {
    "a.md": (
        "---\nstatus: open\nrating: 4\ntags: [garden]\n---\n\n# Alpha\n\n"
        "apple word, see [[b]] and [[missing]]\n\n## Beta\n\nberry, see [[b#Bee]]\n"
    ),
    "sub/b.md": "# Bee\n\nhoney from the hive\n",
}
SEARCH_APPLE = {"search": {"query": "apple", "limit": 5}}
SEARCH_HONEY = {"search": {"query": "honey", "limit": 5}}
STEPS = ["index", SEARCH_APPLE, SEARCH_HONEY]
HANDED_OUT = [
    "index",
    {"context": {"query": "honey hive", "budget_tokens": 300}},
    {"read_note": {"path": "sub/b.md"}},
]

# For each check: a value that holds in the world of these steps, and one that does not.
INDEXED: dict[str, tuple[Any, Any]] = {
    "edges": ([["a.md", "sub/b.md"]], []),
    "edge_count": (1, 2),
    "unresolved": ([["a.md", "missing"]], []),
    "link_sections": ([["a.md", "sub/b.md", "Bee"]], [["a.md", "sub/b.md", "Wasp"]]),
    "absent_nodes": (["missing.md"], ["sub/b.md"]),
    "notes": (["sub/b.md", "a.md"], ["a.md"]),
    "notes_include": (["a.md"], ["c.md"]),
    "notes_count": (2, 3),
    "metadata": ({"a.md": {"status": "open", "rating": 4}}, {"a.md": {"rating": "4"}}),
    "metadata_not": ({"a.md": {"rating": 5}}, {"a.md": {"rating": 4}}),
    "tags": ({"a.md": ["garden"]}, {"a.md": ["garden", "b"]}),
    "tags_present": ({"a.md": ["garden"]}, {"sub/b.md": ["garden"]}),
    "tags_absent": ({"sub/b.md": ["garden"]}, {"a.md": ["garden"]}),
    "sections": ({"a.md": [[1, "Alpha"], [2, "Beta"]]}, {"a.md": [[2, "Beta"], [1, "Alpha"]]}),
    "section_count": ({"a.md": 2}, {"a.md": 3}),
    "parents": ({"a.md": {"Beta": ["Alpha"]}}, {"a.md": {"Beta": []}}),
    "lines": ({"a.md": {"Beta": 11}}, {"a.md": {"Beta": 7}}),
    "max_line": ({"a.md": 13}, {"a.md": 12}),
    "chunk_contains": (["a.md", "Beta", "berry"], ["a.md", "Alpha", "berry"]),
    "absent_in_chunks": (["status: open"], ["berry"]),
    "all_words_in_chunks": (["apple", "Beta", "hive"], ["app"]),
    "search_first": ("sub/b.md", "a.md"),
    "search_first_set": (["sub/b.md"], ["a.md"]),
    "search_set": (["sub/b.md"], ["a.md", "sub/b.md"]),
    "search_includes": (["sub/b.md"], ["c.md"]),
    "search_excludes": (["c.md"], ["sub/b.md"]),
    "not_in_first": (["a.md", 1], ["sub/b.md", 1]),
    "searchable": (["apple word", "from the hive"], ["wasp in the hive"]),
    "each_first": (["a.md", None], ["a.md", "a.md"]),
    "each_set": ([None, ["sub/b.md"]], [None, []]),
    "max_results": (5, 0),
    "first_result_contains": ("hive", "apple"),
    "search_found_count": (1, 2),
    "exit": (0, 1),
    "exit_nonzero": (False, True),
    "no_error_text": (["Traceback"], [""]),
    "absent_in_written_files": (["waspword"], ["honey"]),
}
TEXTS: dict[str, tuple[Any, Any]] = {
    "contains": (["hive"], ["wasp"]),
    "absent_text": (["wasp"], ["hive"]),
    "exact_count": ({"hive": 2}, {"hive": 1}),
    "max_count": ({"hive": 2}, {"hive": 1}),
    "max_run": (["o", 1], ["e", 0]),
    "attribution": ({"honey from the hive": "sub/b.md"}, {"honey from the hive": "a.md"}),
    "citation": (
        {"note": "sub/b.md", "contains_line": 3, "max_line": 3},
        {"note": "sub/b.md", "contains_line": 3, "max_line": 2},
    ),
    "max_tokens": (300, 3),
    "max_tokens_each": ([300], [3]),
    "max_answer_chars": (5000, 20),
    "read_contains": (["honey"], ["apple"]),
    "read_error": (False, True),
}


def case_in(
    folder: Path,
    steps: list[Any] | None = None,
    check: Mapping[str, Any] | None = None,
    vault: Mapping[str, str] = VAULT,
    scripts: Mapping[str, str] | None = None,
    **more: Any,
) -> Case:
    """A case folder, written and loaded."""
    case = folder / "900-own"
    for name, text in vault.items():
        (case / "vault" / name).parent.mkdir(parents=True, exist_ok=True)
        (case / "vault" / name).write_text(text, "utf-8")
    for name, text in (scripts or {}).items():
        (case / name).write_text(text, "utf-8")
    spec = {"id": "900", "action": "index", "title": "own", **more}
    spec["input"] = {
        "steps": steps if steps is not None else ["index"],
        "embedder": "any fast stand-in",
        **more.get("input", {}),
    }
    spec["check"] = dict(check or {"exit": 0})
    (case / "case.yaml").write_text(yaml.safe_dump(spec), "utf-8")
    return load_case(case)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory, models_folder: Path) -> dict[str, World]:
    """The two worlds of the tables above, their steps taken once."""
    made = {}
    for name, steps in (("indexed", STEPS), ("texts", HANDED_OUT)):
        folder = tmp_path_factory.mktemp(name)
        world = World(case_in(folder, steps), folder / "world", models_folder)
        world.build()
        world.run()
        made[name] = world
    return made


@pytest.mark.network
@pytest.mark.parametrize(
    ("name", "key", "right", "wrong"),
    [("indexed", key, *values) for key, values in INDEXED.items()]
    + [("texts", key, *values) for key, values in TEXTS.items()],
)
def test_a_check_passes_what_holds_and_fails_what_does_not(
    worlds: dict[str, World], name: str, key: str, right: Any, wrong: Any
) -> None:
    world = worlds[name]
    assert list(CHECKS[key](world, right)) == []
    assert list(CHECKS[key](world, wrong)) != []


@pytest.mark.network
def test_the_checks_that_only_say_yes_hold_in_a_sound_world(worlds: dict[str, World]) -> None:
    for key in ("json_metadata", "no_empty_chunks", "unique_chunk_ids", "max_chunk_respected",
                "chunks_fit_model_window", "no_duplicate_chunks", "vectors_equal_chunks",
                "index_matches_vault", "strict_json", "stdout_is_json"):  # fmt: skip
        assert list(CHECKS[key](worlds["indexed"], True)) == [], key
    for key in ("single_close_mark", "balanced_fences", "has_data_notice", "citations_consistent"):
        assert list(CHECKS[key](worlds["texts"], True)) == [], key


def test_every_check_of_the_table_is_known_and_no_two_tables_share_one() -> None:
    assert set(INDEXED) | set(TEXTS) <= set(CHECKS)
    assert not set(INDEXED) & set(TEXTS)


@pytest.mark.network
def test_a_wrong_expectation_fails_the_case(tmp_path: Path, models_folder: Path) -> None:
    case = case_in(tmp_path, check={"edges": [["sub/b.md", "a.md"]], "notes_count": 2})
    faults = run_case(case, tmp_path, models_folder)
    assert faults == ["edges: edges: [('a.md', 'sub/b.md')], not [('sub/b.md', 'a.md')]"]


@pytest.mark.parametrize(
    ("why", "more"),
    [
        ("unknown check", {"check": {"edgse": []}}),
        ("none at all", {"check": {}}),
        ("unknown step", {"steps": ["index", "dance"]}),
        ("unknown step", {"steps": [{"dance": {}}]}),
        ("unknown step", {"steps": [{"search": {"query": "x"}, "repeat": 2}]}),
        ("unknown argument of search", {"steps": [{"search": {"query": "x", "colour": "red"}}]}),
        ("unknown argument of context", {"steps": [{"context": {"query": "x", "budget": 1}}]}),
        ("unknown input", {"input": {"weather": "rain"}}),
        ("unknown limit", {"input": {"limits": {"patience": 3}}}),
        ("unknown unit", {"input": {"unit": "shuffle"}}),
        ("unknown network", {"input": {"network": "slow"}}),
        ("unknown fault", {"input": {"fault": ["the moon is full"]}}),
        ("unknown run_as", {"input": {"run_as": "a dragon"}}),
        ("unknown model", {"steps": [{"config": {"model": "of a ship"}}]}),
        ("unknown config", {"input": {"config": {"colour": "red"}}}),
        ("unknown config", {"input": {"config": {"max_chunk_tokens": 200}}}),
        ("unknown config", {"input": {"config": {"vault.path": "elsewhere"}}}),
        ("unknown config", {"input": {"config": {"weights": {"moon": 1}}}}),
        ("unknown config", {"input": {"config": {"boosts": "sometimes"}}}),
        ("unknown step in parallel", {"input": {"parallel": ["change.sh"]}}),
    ],
)
def test_what_the_runner_does_not_know_fails_the_case(
    tmp_path: Path, why: str, more: dict[str, Any]
) -> None:
    check = more.pop("check", {"exit": 0})
    case = case_in(tmp_path, more.pop("steps", None), {"exit": 0}, **more)
    case = Case(case.folder, {**case.spec, "check": check})
    with pytest.raises(UnknownForm, match=why):
        require_known_form(case, set(CHECKS))


@pytest.mark.network
def test_a_check_of_hooks_in_a_case_without_one_fails(tmp_path: Path, models_folder: Path) -> None:
    faults = run_case(case_in(tmp_path, check={"injected": [True]}), tmp_path, models_folder)
    assert len(faults) == 1 and faults[0].startswith("injected: ")


@pytest.mark.parametrize(
    "more",
    [
        {"steps": ["index", {"hook": {"session": "s1", "message": "hello"}}]},
        {"input": {"stdin": ["{"]}},
        {"action": "hook"},
    ],
)
def test_a_case_of_hooks_is_told_from_others(tmp_path: Path, more: dict[str, Any]) -> None:
    assert is_of_hooks(case_in(tmp_path, **more))


@pytest.mark.network
def test_a_tool_is_called_and_what_it_says_is_checked(tmp_path: Path, models_folder: Path) -> None:
    calls = [["vault_search", {"query": "apple"}], ["vault_read_note", {"note": "../x"}]]
    checks = {
        "search_includes": ["a.md"], "read_error": True, "server_alive": True,
        "no_error_text": ["Traceback"], "max_answer_chars": 4000,
    }  # fmt: skip
    case = case_in(tmp_path, check=checks, input={"tool_calls": calls})
    assert run_case(case, tmp_path / "right", models_folder) == []
    wrong = case_in(
        tmp_path, check={"search_excludes": ["a.md"], "read_error": False}, input=case.input
    )
    faults = run_case(wrong, tmp_path / "wrong", models_folder)
    assert {fault.partition(":")[0] for fault in faults} == {"search_excludes", "read_error"}


def test_a_call_of_a_tool_that_is_not_ours_is_an_unknown_form(tmp_path: Path) -> None:
    case = case_in(tmp_path, input={"tool_calls": [["vault_write", {}]]})
    with pytest.raises(UnknownForm, match="vault_write"):
        require_known_form(case, set(CHECKS))


def test_every_other_case_is_of_no_hook(tmp_path: Path) -> None:
    assert not is_of_hooks(case_in(tmp_path, STEPS, action="crash"))


@pytest.mark.network
def test_an_exception_fails_a_case_whatever_it_checks(tmp_path: Path, models_folder: Path) -> None:
    case = case_in(tmp_path, check={"no_error_text": ["nothing says this"]})
    world = World(case, tmp_path / "world", models_folder)
    answer = Answer("search", {"query": "x"})
    with world.watched(answer):
        raise RuntimeError("a bug")
    world.answers.append(answer)
    assert answer.exit == 1 and "RuntimeError: a bug" in answer.output
    assert faults_of(world)[0].startswith("search raised: ")


@pytest.mark.network
def test_a_step_changes_the_world_and_later_values_are_about_that(
    tmp_path: Path, models_folder: Path
) -> None:
    case = case_in(
        tmp_path,
        ["index", SEARCH_APPLE, "change.sh", "index", SEARCH_APPLE],
        {"search_excludes": ["a.md"], "each_first": ["a.md", None], "notes": ["sub/b.md"]},
        scripts={"change.sh": "rm vault/a.md\n"},
    )
    assert run_case(case, tmp_path, models_folder) == []


@pytest.mark.network
def test_a_later_search_for_words_that_nowhere_stand_does_not_move_search_first(
    worlds: dict[str, World], tmp_path: Path, models_folder: Path
) -> None:
    steps = [*STEPS, {"search": {"query": "qqqq wwww", "limit": 5}}]
    case = case_in(tmp_path, steps, {"search_first": "sub/b.md"})
    assert run_case(case, tmp_path, models_folder) == []


def test_a_kill_is_tried_at_four_moments_and_each_run_goes_on(tmp_path: Path) -> None:
    case = case_in(tmp_path, ["index", {"kill_during": "index"}, "index"])
    moments = [variant.kill_at for variant in variants(case)]
    assert [int(moment * 4) for moment in moments] == [0, 1, 2, 3]


@pytest.mark.network
def test_parts_of_the_state_are_removed_cut_and_overwritten(
    worlds: dict[str, World], tmp_path: Path, models_folder: Path
) -> None:
    steps: list[Any] = ["index", {"truncate_last_bytes": ["chunk file", 10]}]
    world = World(case_in(tmp_path, steps), tmp_path / "world", models_folder)
    world.build()
    world.run()
    whole = (worlds["indexed"].state / "chunks.jsonl").stat().st_size
    assert (world.state / "chunks.jsonl").stat().st_size == whole - 10
    world.take({"overwrite_state": "{"})
    assert (world.state / "index.json").read_text() == "{"
    world.take({"remove": "vector store"})
    assert not (world.state / "chroma").exists()
    with pytest.raises(UnknownForm, match="nothing to remove"):
        world.take({"remove": "the moon"})


def process(code: str, folder: Path, **environment: str) -> Process:
    return Process([sys.executable, "-c", code], folder, {**os.environ, **environment})


def test_a_process_over_its_limit_is_killed(tmp_path: Path) -> None:
    began = time.monotonic()
    run = process("import time; time.sleep(60)", tmp_path).finish(0.3)
    assert run.timed_out and run.exit == -9
    assert time.monotonic() - began < 10


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to drop")
def test_an_ordinary_user_cannot_read_what_its_mode_forbids(tmp_path: Path) -> None:
    (tmp_path / "locked").write_text("secret")
    (tmp_path / "locked").chmod(0)
    command = [sys.executable, "-c", "open('locked').read()"]
    assert Process(command, tmp_path, os.environ).finish(30).exit == 0
    run = Process(command, tmp_path, os.environ, as_ordinary_user=True).finish(30)
    assert run.exit == 1 and "PermissionError" in run.stderr


def test_the_memory_of_a_process_is_known(tmp_path: Path) -> None:
    code = "import time; held = b'x' * (200 << 20); time.sleep(0.3)"
    run = process(code, tmp_path).finish(30)
    assert 200 < run.peak_mib < 400


def test_a_watched_process_cannot_connect_unseen(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NETWORK_WATCH, "utf-8")
    code = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"
    log = tmp_path / "log"
    run = process(
        code, tmp_path, PYTHONPATH=str(tmp_path), CORTEX_CASE_NETWORK_LOG=str(log)
    ).finish(30)
    assert run.exit == 1
    assert log.read_text() == "getaddrinfo 192.0.2.1\n"


def test_an_argument_that_no_process_takes_is_noticed() -> None:
    assert can_be_passed(["search", "naïve café"])
    assert not can_be_passed(["search", "x" * 200_000])
    assert not can_be_passed(["read", "ok\0"])


def test_searches_while_indexing_that_find_nothing_are_a_fault() -> None:
    found, empty = Answer("search", {"query": "steady word"}), Answer("search", {"query": "steady"})
    assert unanswered([found, empty], "a steady word") == [
        "2 of 2 searches while indexing found nothing"
    ]
    assert unanswered([found, empty], "nothing of it") == []


def test_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    assert lines_of("a\u2028b\x0cc\x0bd\x85e\x1cf\r\ng\rh\n\ni\n") == [
        "a\u2028b\x0cc\x0bd\x85e\x1cf", "g", "h", "", "i",
    ]  # fmt: skip
    assert lines_of("") == []


@pytest.mark.network
@pytest.mark.parametrize(
    "more", [{"limits": {"seconds": 280}}, {"env": {"LANG": "C"}}, {"network": "blocked"}]
)
def test_the_texts_that_a_run_encodes_are_known_of_commands_too(
    tmp_path: Path, models_folder: Path, more: dict[str, Any]
) -> None:
    case = case_in(tmp_path, ["index", "index"], {"reembedded_on_second_run": 0}, input=more)
    assert run_case(case, tmp_path / "right", models_folder) == []
    case = Case(case.folder, {**case.spec, "check": {"all_reembedded": True}})
    assert run_case(case, tmp_path / "wrong", models_folder) == [
        "all_reembedded: 0 texts were encoded again, of 3"
    ]


@pytest.mark.network
def test_a_budget_too_small_for_any_text_leaves_nothing_to_cite(
    tmp_path: Path, models_folder: Path
) -> None:
    keys = ("citations_consistent", "single_close_mark", "has_data_notice", "balanced_fences")
    budgets = (0, 1, 5, 30, 60, 300)
    steps = [{"context": {"query": "honey hive", "budget_tokens": budget}} for budget in budgets]
    case = case_in(tmp_path, ["index", *steps], dict.fromkeys(keys, True))
    world = World(case, tmp_path / "world", models_folder)
    world.build()
    world.run()
    assert faults_of(world) == []
    assert world.answers[1].text == "" and world.answers[-1].citations
    world.answers[-1].text = world.answers[-1].text.replace("[^1]", "")
    assert [fault.split(":")[0] for fault in faults_of(world)] == [
        "citations_consistent", "has_data_notice",
    ]  # fmt: skip
    world.answers[1].exit = 1
    assert list(CHECKS["single_close_mark"](world, True)) != []
    assert len(list(CHECKS["citations_consistent"](world, True))) == 2


@pytest.mark.network
def test_the_index_is_compared_with_the_notes_that_the_settings_want(
    tmp_path: Path, models_folder: Path
) -> None:
    extra = (".hidden/c.md", "node_modules/c.md", "sub/__pycache__/c.md", "out/c.md", "c.txt")
    vault = {**VAULT, "upper.MD": "upper\n", **dict.fromkeys(extra, "word\n")}
    check = {"index_matches_vault": True, "notes": ["a.md", "sub/b.md", "upper.MD"]}
    more = {"input": {"config": {"exclude": ["out"]}}}
    case = case_in(tmp_path, ["index"], check, vault, **more)
    assert run_case(case, tmp_path / "right", models_folder) == []
    case = case_in(tmp_path, ["index", {"sh": "echo x >vault/NEW.Md"}], check, vault, **more)
    assert run_case(case, tmp_path / "wrong", models_folder) != []


def test_a_note_is_searched_for_what_its_reader_sees() -> None:
    text = (
        "The **brass** key, [the crane](x(1).md) near ==the mill==, `code` [[Mill|old mill]] end\n"
        "> [![a _small_ map](m.png)](<m n.md>) \\* snake_case_n, __two__ ~~off~~ A&amp;B [[Hut]]\n"
        "| [[Mill\\|in a table]] | <b>bold</b><!-- unseen --> |\n"
    )
    assert rendered(text) == (
        "The brass key, the crane near the mill, code old mill end\n"
        "a small map * snake_case_n, two off A&B Hut\n"
        "| in a table | bold |\n"
    )


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ({"exclude": "Temp/"}, {"vault": {"exclude_folders": ["Temp/"]}}),
        ({"search.rrf_k": 10}, {"search": {"rrf_k": 10}}),
        ({"vector_weight": 0.3}, {"search": {"vector_weight": 0.3}}),
        ({"bm25 weight": 0.3}, {"search": {"bm25_weight": 0.3}}),
        ({"search": {"top_k": 3}}, {"search": {"top_k": 3}}),
        (
            {"embeddings": {"endpoint": {"retries": 0}}},
            {"embeddings": {"endpoint": {"retries": 0}}},
        ),
        ({"timeout_s": 3}, {"embeddings": {"endpoint": {"timeout_s": 3}}}),
        (
            {"weights": {"bm25": 1, "vector": 0, "links": 0}},
            {"search": {"bm25_weight": 1, "vector_weight": 0, "graph_weight": 0}},
        ),
        ({"boosts": "off"}, {"search": {"recency_boost": False, "importance_boost": False}}),
        ({"recency": False}, {"search": {"recency_boost": False}}),
        ({"symlinks": True}, {"vault": {"allow_symlinks_outside": True}}),
        ({"model": "same-dimension"}, {"embeddings": {"model": "hashing-384"}}),
    ],
)
def test_plain_words_and_names_of_settings_are_mapped(
    words: dict[str, Any], settings: dict[str, Any]
) -> None:
    found: dict[str, Any] = {}
    apply_settings(found, words)
    assert found == settings


@pytest.mark.network
def test_each_part_of_the_state_has_its_place(worlds: dict[str, World]) -> None:
    world = worlds["indexed"]
    for part in ("cache", "embedding cache", "database", "vector database", "lock", "lock file",
                 "index", "graph", "keyword index", "chroma.sqlite3", "store", "all"):  # fmt: skip
        for names in ways_of(part):
            assert any(world.places(name) for name in names), part
    assert [path.name for path in world.places(*ways_of("cache")[0])] == ["vectors"]
    assert [path.name for path in world.places(*ways_of("lock")[0])] == ["writer.lock"]
    assert not world.places("moon.sqlite3")


@pytest.mark.network
def test_a_file_of_the_store_is_found_by_its_bare_name(tmp_path: Path, models_folder: Path) -> None:
    steps: list[Any] = ["index", {"truncate_last_bytes": ["chroma.sqlite3", 4096]}]
    world = World(case_in(tmp_path, steps[:1]), tmp_path / "world", models_folder)
    world.build()
    world.run()
    file = world.state / "chroma" / "chroma.sqlite3"
    size = file.stat().st_size
    world.take(steps[1])
    assert file.stat().st_size == size - 4096
    with pytest.raises(UnknownForm, match="no file to cut"):
        world.take({"truncate_last_bytes": ["moon.sqlite3", 1]})


def test_a_hit_of_the_vectors_that_a_link_moved_does_not_count_against_a_set() -> None:
    def hit(note: str, *channels: str) -> Found:
        return Found(note, note, (), "", "", frozenset(channels), 1.0, {})

    answer = Answer("search", {"query": "x"})
    answer.hits = [hit("a.md", "bm25", "vector"), hit("b.md", "vector", "graph")]
    assert list(not_the_set(answer, ["a.md"])) == []
    answer.hits += [hit("c.md", "graph"), hit("d.md", "bm25", "graph")]
    assert "['c.md', 'd.md']" in next(not_the_set(answer, ["a.md"]))


@pytest.mark.network
def test_a_blocked_network_is_blocked_and_watched(tmp_path: Path, models_folder: Path) -> None:
    case = case_in(
        tmp_path, STEPS, {"no_network": True, "each_first": ["a.md"]}, input={"network": "blocked"}
    )
    assert run_case(case, tmp_path, models_folder) == []
