"""`cortex status`: what is built, what lags behind, and what to run next."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conftest import HOOK_ROWS
from cortex.checks.freshness import Freshness, Recorded, compare
from cortex.checks.status import next_commands
from cortex.cli import main
from cortex.config.render import commented
from cortex.errors import CortexError
from cortex.state import State
from cortex.vault.scan import FoundNote, Scan

NOTES = {
    "bees.md": "# Bees\nThey dance for [[honey]] and [[wax]].",
    "honey.md": "# Honey\nSweet.",
    "old/box.md": "# Box\nEmpty.",
}
KEYS = [
    "cortex",
    "config",
    "vault",
    "state",
    "model",
    "model_choice",
    "model_served_by",
    "model_available",
    "notes",
    "chunks",
    "languages",
    "vectors",
    "vectors_model",
    "graph",
    "generation",
    "generations",
    "agree",
    "freshness",
    "runs",
    "platforms",
    "tools_write",
    "hook_lifecycle",
    "problems",
    "warnings",
    "next",
]
REBUILD = ["cortex index", "cortex embed", "cortex graph build"]


def test_a_vault_with_all_of_it_built_has_nothing_to_mend(cortex_with):
    status = cortex_with(NOTES).status({})
    assert list(status) == KEYS
    assert (status["notes"], status["chunks"], status["vectors"]) == (3, 3, 3)
    assert status["graph"] == {"nodes": 3, "edges": 1, "broken": 1}
    index, vectors, graph = status["generations"].values()
    assert index == {"generation": status["generation"], "built_from": None}
    assert vectors["built_from"] == graph["built_from"] == status["generation"]
    assert status["agree"] is True
    assert status["freshness"] == {"current": True, "added": 0, "changed": 0, "removed": 0}
    assert (status["problems"], status["next"]) == ([], [])


def test_before_anything_is_built_the_status_says_what_to_run_and_writes_nothing(cortex_with):
    cortex = cortex_with(NOTES, build=False)
    status = cortex.status({})
    assert status["problems"] == ["there is no index yet; run: cortex index"]
    assert status["next"] == REBUILD
    assert (status["notes"], status["graph"], status["freshness"]) == (0, None, None)
    assert (status["agree"], status["runs"]) == (False, {})
    assert sorted(os.listdir(cortex.config.state)) == ["config.yaml"]


def test_each_step_that_is_missing_is_named(cortex_with):
    cortex = cortex_with(NOTES, build=False)
    cortex.index()
    assert cortex.status({})["problems"] == [
        "nothing has been embedded yet; run: cortex embed",
        "there is no graph yet; run: cortex graph build",
    ]
    cortex.embed()
    assert cortex.status({})["next"] == ["cortex graph build"]


def test_what_was_built_from_an_older_index_lags_behind(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    (tmp_path / "vault/wax.md").write_text("# Wax\nYellow.", "utf-8")
    cortex.index()
    status = cortex.status({})
    assert status["agree"] is False
    assert status["problems"] == [
        "the vectors lag behind the index; run: cortex embed",
        "the graph lags behind the index; run: cortex graph build",
    ]
    assert status["next"] == ["cortex embed", "cortex graph build"]


# Freshness


def test_notes_added_changed_and_removed_since_the_index_are_counted(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    vault = tmp_path / "vault"
    (vault / "wax.md").write_text("# Wax\nYellow.", "utf-8")
    (vault / "honey.md").write_text("# Honey\nSweet, and brown.", "utf-8")
    (vault / "old/box.md").unlink()
    (vault / "picture.png").write_bytes(b"\x89PNG")  # no note
    status = cortex.status({})
    assert status["freshness"] == {"current": False, "added": 1, "changed": 1, "removed": 1}
    assert status["problems"] == [
        "the vault has changed since the index (1 added, 1 changed, 1 removed); run: cortex index"
    ]
    assert status["next"] == REBUILD
    cortex.index()
    assert cortex.status({})["freshness"]["current"] is True


def test_a_note_that_was_only_touched_counts_as_changed_until_the_next_index(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    os.utime(tmp_path / "vault/bees.md", (1, 1))
    assert cortex.status({})["freshness"]["changed"] == 1
    cortex.index()
    assert cortex.status({})["freshness"]["changed"] == 0
    assert cortex.status({})["problems"] == []  # the same texts: vectors and graph still hold


def test_what_the_settings_exclude_is_not_in_the_vault(cortex_with, tmp_path):
    vault = tmp_path / "vault"
    cortex = cortex_with(NOTES, f"vault: {{path: '{vault}', exclude_folders: [old]}}")
    (vault / "old/new.md").write_text("# New", "utf-8")
    (vault / ".trash").mkdir()
    (vault / ".trash/gone.md").write_text("# Gone", "utf-8")
    assert cortex.status({})["freshness"]["current"] is True


def test_a_file_that_is_no_text_is_not_new_for_ever(cortex_with, tmp_path):
    cortex = cortex_with({**NOTES, "odd.md": "\0\1\2\0\3" * 50})
    odd = tmp_path / "vault/odd.md"
    assert cortex.status({})["freshness"]["current"] is True
    odd.write_text("# Odd\nA text now.", "utf-8")
    os.utime(odd, (4_000_000_000, 4_000_000_000))
    assert cortex.status({})["freshness"]["added"] == 1


def test_notes_in_a_folder_that_cannot_be_listed_are_not_removed():
    recorded = Recorded(
        {"a.md": (1, 5.0), "shut/b.md": (1, 5.0), "shut.md": (1, 5.0)}, frozenset(), 6.0
    )
    found = Scan([FoundNote("a.md", Path("a.md"), 1, 5.0)], unreadable=["shut"])
    assert compare(recorded, found) == Freshness(removed=1)  # shut.md
    assert compare(recorded, Scan(unreadable=[""])) == Freshness()


# Runs


def test_the_last_run_of_each_builder_is_told(cortex_with):
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    runs = cortex_with(NOTES).status({})["runs"]
    assert list(runs) == ["index", "vectors", "graph"]
    for run in runs.values():
        assert before <= dt.datetime.fromisoformat(run["started"]) <= dt.datetime.now(dt.UTC)
        assert 0 <= run["seconds"] < 60
        assert (run["outcome"], run["error"]) == ("done", None)


def test_a_run_that_failed_or_was_stopped_is_told_with_its_error(tmp_path):
    state = State(tmp_path)
    with pytest.raises(CortexError), state.run("index"):
        raise CortexError("the vault is away; mount it")
    with pytest.raises(KeyboardInterrupt), state.run("vectors"):
        raise KeyboardInterrupt
    with pytest.raises(ZeroDivisionError), state.run("graph"):
        raise ZeroDivisionError("text of a note")
    told = {kind: (run["outcome"], run["error"]) for kind, run in state.runs().items()}
    assert told == {
        "index": ("failed", "the vault is away; mount it"),
        "vectors": ("stopped", None),
        "graph": ("failed", "ZeroDivisionError"),
    }


@pytest.mark.parametrize(
    "run",
    [
        '{"started": "2026-01-01T00:00:00+00:00", "seconds": NaN, "outcome": "", "error": null}',
        '{"started": "2026-01-01T00:00:00+00:00", "seconds": 1e999, "outcome": "", "error": null}',
        '{"started": "2026-01-01T00:00:00+00:00", "seconds": "1", "outcome": "", "error": null}',
        '{"started": "9999-12-31T23:59:59-14:00", "seconds": 1, "outcome": "", "error": null}',
        '{"started": "yesterday", "seconds": 1, "outcome": "done", "error": null}',
        '{"started": 5, "seconds": 1, "outcome": "done", "error": null}',
        "[]",
        "null",
        "[" * 99_999,
    ],
)
def test_a_note_of_a_run_that_is_none_is_left_out(run, cortex_with, capsys):
    cortex = cortex_with(NOTES, build=False)
    (cortex.config.state / "runs.json").write_text(f'{{"runs": {{"index": {run}}}}}', "utf-8")
    assert cortex.status({})["runs"] == {}
    for options in ([], ["--json"]):
        assert main(["status", "--config", str(cortex.config.path), *options]) == 1
    assert capsys.readouterr().err == ""


def test_a_run_that_failed_at_a_name_that_is_not_utf8_is_noted(tmp_path):
    state = State(tmp_path)
    with pytest.raises(CortexError), state.run("index"):
        raise CortexError("\udcff.md cannot be read")
    assert state.runs()["index"]["error"] == "\\udcff.md cannot be read"


def test_a_run_is_noted_while_it_goes_on_and_called_killed_by_the_next_that_finds_it(tmp_path):
    state = State(tmp_path)
    with state.run("index", clock=lambda: 0.0):
        assert state.runs()["index"] == {
            "started": "1970-01-01T00:00:00+00:00",
            "seconds": None,
            "outcome": "running",
            "error": None,
        }
        left = (tmp_path / "runs.json").read_bytes()
    (tmp_path / "runs.json").write_bytes(left)  # as if the process had ended in it
    with state.run("graph"):
        assert state.runs()["index"]["outcome"] == "killed"
    assert state.runs()["graph"]["outcome"] == "done"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"runs": 1}', '{"runs": {"index": []}}'])
def test_broken_notes_of_runs_are_as_none_and_the_next_run_mends_them(cortex_with, text):
    cortex = cortex_with(NOTES)
    path = cortex.config.state / "runs.json"
    path.write_text(text, "utf-8")
    assert (cortex.status({})["runs"], cortex.status({})["problems"]) == ({}, [])
    cortex.index()
    assert list(cortex.status({})["runs"]) == ["index"]


# What is wrong


def test_a_damaged_artifact_is_named_and_rebuilt_first(cortex_with):
    cortex = cortex_with(NOTES)
    (cortex.state.stamp("index").folder / "notes.jsonl").write_bytes(b"{")
    problem = cortex.status({})["problems"][0]
    assert "notes.jsonl has 1 bytes, expected" in problem
    assert problem.endswith("; run: cortex index --force")
    assert cortex.status({})["next"] == ["cortex index --force", *REBUILD[1:]]


@pytest.mark.parametrize("name", ["index", "vectors", "graph"])
def test_a_damaged_stamp_is_a_problem_and_no_failure(cortex_with, name):
    cortex = cortex_with(NOTES)
    (cortex.config.state / f"{name}.json").write_text('{"generation": ', "utf-8")
    problems = cortex.status({})["problems"]
    assert [text for text in problems if f"{name}.json is damaged" in text] == problems


def test_lost_vectors_and_a_lost_store_are_noticed(cortex_with):
    cortex = cortex_with(NOTES)
    stamp = cortex.state.stamp("vectors")
    (cortex.config.state / stamp.values["cache"] / "vectors.f32").write_bytes(b"")
    (cortex.config.state / "chroma/chroma.sqlite3").unlink()
    lost, chroma = cortex.status({})["problems"]
    assert lost.endswith("has lost vectors; run: cortex embed")
    assert chroma.endswith("chroma is missing or damaged; run: cortex embed")


def test_vectors_of_another_model_than_the_settings_name_are_noticed(cortex_with):
    cortex_with(NOTES)
    status = cortex_with({}, "embeddings: {model: some/other}", build=False).status({})
    assert status["problems"] == [
        "the vectors were built with hashing-64, config says some/other; run: cortex embed"
    ]


def test_a_model_that_is_not_here_comes_first_and_one_that_is_served_is_not_looked_for(cortex_with):
    model = "sentence-transformers/all-MiniLM-L6-v2"
    cortex = cortex_with(NOTES, f"embeddings: {{model: {model}}}", build=False)
    status = cortex.status({})
    assert status["problems"][0] == f"the model {model} is not here; run: cortex model fetch"
    assert status["next"] == ["cortex model fetch", *REBUILD]
    served = cortex_with(
        NOTES,
        f"embeddings: {{model: {model}, endpoint: {{url: 'https://host:8/v1?x=y'}}}}",
        build=False,
    )
    status = served.status({})
    assert (status["model_served_by"], status["model_available"]) == ("host:8", None)
    assert status["problems"] == ["there is no index yet; run: cortex index"]


@pytest.mark.parametrize(
    "damaged",
    [
        "index.json",
        "vectors.json",
        "graph.json",
        "chunks.jsonl",
        "graph_edges.jsonl",
        "generations/index-*/notes.keys.npy",
        "generations/index-*/lexical/notes/meta.json",
        "generations/index-*/lexical/chunks/*.term",
        "generations/vectors-*/rows.npy",
        "generations/vectors-*/entries.jsonl",
        "generations/graph-*/adj_dst.npy",
        "vectors/*/vectors.keys",
        "chroma/chroma.sqlite3",
    ],
)
def test_a_file_that_is_gone_is_told_and_the_commands_that_are_named_put_it_back(
    damaged, cortex_with
):
    cortex = cortex_with(NOTES)
    next(cortex.config.state.glob(damaged)).unlink()
    status = cortex.status({})
    assert status["problems"] and status["next"]
    config = str(cortex.config.path)
    for command in status["next"]:
        assert main([*command.split()[1:], "--quiet", "--config", config]) == 0
    assert cortex.status({})["problems"] == []
    assert cortex.search("sweet").unavailable == ()


@pytest.mark.parametrize("kind", ["index", "vectors", "graph"])
def test_an_array_of_the_same_size_that_holds_something_else_is_told(kind, cortex_with):
    cortex = cortex_with(NOTES)
    file = next(cortex.config.state.glob(f"generations/{kind}-*/*.npy"))
    file.write_bytes(bytes(byte ^ 0x55 for byte in file.read_bytes()))
    remedy = {"index": "index --force", "vectors": "embed", "graph": "graph build"}[kind]
    assert cortex.status({})["problems"] == [f"{file} is damaged; run: cortex {remedy}"]


def test_after_a_second_index_and_a_search_all_is_as_it_was_stamped(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    (tmp_path / "vault/honey.md").write_text("# Honey\nSweet, and brown.", "utf-8")
    cortex.index()
    cortex.embed()
    cortex.build_graph()
    assert cortex.search("brown").hits[0].chunk.note == "honey.md"
    assert cortex.status({})["problems"] == []


@pytest.mark.parametrize("kind", ["index", "vectors", "graph"])
def test_what_may_not_be_read_is_told_without_a_command_and_nothing_is_swept(kind, cortex_with):
    cortex = cortex_with(NOTES)
    pointer = cortex.config.state / f"{kind}.json"
    pointer.unlink()
    pointer.mkdir()  # as unreadable as one of somebody else, for root too
    said = f"{pointer} cannot be read (Is a directory); mend that first"
    assert said in cortex.status({})["problems"]
    before = set((cortex.config.state / "generations").iterdir())
    with cortex.state.lock():
        pass
    assert set((cortex.config.state / "generations").iterdir()) == before


@pytest.mark.parametrize(
    "pointer", ["", "[]", "null", '{"files": [], "sums": {}}', "[" * 99_999, "\xff"]
)
def test_a_pointer_that_is_none_is_told(pointer, cortex_with):
    cortex = cortex_with(NOTES)
    (cortex.config.state / "index.json").write_text(pointer, "latin-1")
    assert cortex.status({})["problems"] == [
        f"{cortex.config.state / 'index.json'} is damaged; run: cortex index --force"
    ]


def test_a_vault_that_may_not_be_read_is_not_called_unchanged(cortex_with, tmp_path, monkeypatch):
    cortex = cortex_with(NOTES)
    vault = tmp_path / "vault"
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != vault and may(path, mode))
    status = cortex.status({})
    assert status["problems"] == [
        f"the vault {vault} may not be read; give yourself the right to it"
    ]
    assert (status["freshness"], status["next"]) == (None, [])


def test_a_state_folder_that_cannot_be_written_to_is_a_problem_when_something_is_to_be_written(
    cortex_with, monkeypatch
):
    cortex = cortex_with(NOTES)
    state, may = cortex.config.state, os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != state and may(path, mode))
    assert cortex.status({})["problems"] == []
    (state / "graph.json").unlink()
    assert cortex.status({})["problems"] == [
        "there is no graph yet; run: cortex graph build",
        f"the state folder {state} cannot be written to; make it writable",
    ]


def test_without_the_vault_no_command_is_proposed(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    (tmp_path / "vault").rename(tmp_path / "away")
    status = cortex.status({})
    assert "is not a folder; set vault.path in" in status["problems"][0]
    assert (status["freshness"], status["next"]) == (None, [])


def test_a_reranker_whose_folder_is_missing_is_a_problem(cortex_with, tmp_path):
    cortex = cortex_with(NOTES, f"search:\n  reranker: {tmp_path}/nowhere\n")
    assert cortex.status({})["problems"] == [
        f"the reranker {tmp_path}/nowhere is no folder, so nothing can be found; "
        "mend search.reranker"
    ]


def test_a_required_file_that_is_missing_is_a_problem_and_an_optional_one_is_not(
    cortex_with, tmp_path
):
    settings = """
context_builder:
  include_static_files:
    - {label: Rules, path: RULES.md, optional: false}
    - {label: Soul, path: SOUL.md}
"""
    cortex = cortex_with(NOTES, settings)
    assert cortex.status({})["problems"] == [
        f"the file {tmp_path}/state/RULES.md is required and cannot be read; put it there, "
        "or set context_builder.include_static_files[0].optional to true"
    ]
    (tmp_path / "state/RULES.md").write_text("Be brief.", "utf-8")
    assert cortex.status({})["problems"] == []


def test_commands_are_proposed_once_and_in_an_order_in_which_they_work():
    assert next_commands(
        [
            "x; run: cortex graph build",
            "y; run: cortex embed",
            "z; run: pip install 'some[thing]'",
            "set a.b to true",
        ]
    ) == ["pip install 'some[thing]'", "cortex embed", "cortex graph build"]
    assert next_commands(["x; run: cortex index", "y; run: cortex index --force"]) == [
        "cortex index --force",
        "cortex embed",
        "cortex graph build",
    ]
    assert next_commands([]) == []


# Packages


def test_a_package_that_is_missing_comes_first_and_none_is_imported_to_see_it(
    cortex_with, monkeypatch, capsys
):
    cortex = cortex_with(NOTES, build=False)
    for module in ("tantivy", "onnxruntime"):
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    status = cortex.status({})
    assert status["problems"] == [
        "onnxruntime, tantivy are missing in this Python; run: cortex install",
        "there is no index yet; run: cortex index",
    ]
    assert status["next"] == ["cortex install", *REBUILD]
    assert main(["status", "--json", "--config", str(cortex.config.path)]) == 1
    assert json.loads(capsys.readouterr().out)["next"][0].startswith("cortex install")


def test_a_missing_package_is_all_that_is_wrong_with_what_is_built(cortex_with, monkeypatch):
    cortex = cortex_with(NOTES)
    monkeypatch.setitem(sys.modules, "numpy", None)
    status = cortex.status({})
    assert status["problems"] == ["numpy is missing in this Python; run: cortex install"]
    assert status["next"] == ["cortex install"]
    (cortex.config.vault.path).rename(cortex.config.vault.path.with_name("away"))
    assert cortex.status({})["next"] == ["cortex install"]


@pytest.mark.parametrize(
    ("embeddings", "is_needed"),
    [
        ("{model: hashing-32}", False),
        ("{model: all-MiniLM-L6-v2}", False),
        ("{model: some/other}", True),
        ("{model: some/other, endpoint: {url: 'http://localhost:1'}}", False),
    ],
)
def test_sentence_transformers_are_missed_only_by_a_model_of_theirs(
    cortex_with, monkeypatch, embeddings, is_needed
):
    cortex = cortex_with(NOTES, f"embeddings: {embeddings}", build=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    problems = [text for text in cortex.status({})["problems"] if "sentence-transf" in text]
    missed = [text for text in problems if "is missing; run: " in text]
    assert len(missed) == is_needed
    assert all("sentence-transformers>=5.0" in text for text in missed)


# Who is served


@pytest.mark.parametrize(
    ("settings", "warnings"),
    [
        ("tools: {platforms: [local, Telegram, all, whatsapp_cloud, irc, cli]}", []),
        ("hooks: {platforms: [cron, subagent, paired, webhook]}", []),
        (
            "tools: {platforms: [telegarm]}",
            [
                "tools.platforms: telegarm: no platform of that name is known; "
                "did you mean telegram?"
            ],
        ),
        (
            "hooks: {platforms: [piared, zzz]}",
            [
                "hooks.platforms: piared: no platform of that name is known; did you mean paired?",
                "hooks.platforms: zzz: no platform of that name is known; "
                "it counts if a plugin brings it",
            ],
        ),
        (
            "tools: {platforms: [cron]}",
            [
                "tools.platforms: cron: cron counts for hooks only: "
                "tools serve it as the one who began it"
            ],
        ),
    ],
)
def test_a_name_that_no_session_has_is_warned_of_and_no_problem(
    cortex_with, tmp_path, capsys, settings, warnings
):
    cortex = cortex_with(NOTES, settings)
    status = cortex.status({"HERMES_HOME": str(tmp_path)})
    assert (status["warnings"], status["problems"]) == (warnings, [])
    main(["status", "--config", str(cortex.config.path)])
    shown = capsys.readouterr().out
    assert all(f"\n- {warning}\n" in shown for warning in warnings)


def test_the_command_says_whom_tools_and_hooks_are_for(cortex_with, capsys):
    config = str(cortex_with(NOTES, "hooks: {platforms: []}").config.path)
    assert main(["status", "--config", config]) == 0
    shown = capsys.readouterr().out
    assert "\ntools:     for local, paired\nhooks:     for nobody\n  cache_warm " in shown


def test_what_the_hosts_settings_do_not_name_is_told_and_is_no_problem(cortex_with, tmp_path):
    cortex = cortex_with(NOTES)
    home = tmp_path / "home"
    (home / "plugins/cortex/skills/cortex-vault").mkdir(parents=True)
    (home / "plugins/cortex/plugin.yaml").touch()
    env = {"HERMES_HOME": str(home)}
    assert cortex.status(env)["warnings"] == []  # no settings of a host
    settings = home / "config.yaml"
    settings.write_text("model: {default: x}\n", "utf-8")
    assert cortex.status(env)["warnings"] == [
        "not on in Hermes yet: the plugin and the skills of Cortex; run: cortex init --enable"
    ]
    settings.write_text("plugins: {enabled: [cortex]}\n", "utf-8")
    status = cortex.status(env)
    assert status["warnings"] == [
        "not on in Hermes yet: the skills of Cortex; run: cortex init --enable"
    ]
    assert (status["problems"], status["next"]) == ([], [])
    settings.write_text(
        "plugins: {enabled: [cortex]}\nskills: {external_dirs: [plugins/cortex/skills]}\n", "utf-8"
    )
    assert cortex.status(env)["warnings"] == []
    settings.write_text("plugins: [\n", "utf-8")
    assert cortex.status(env)["warnings"] == []


def test_notes_too_short_for_a_language_are_told_as_such(cortex_with, capsys):
    config = str(cortex_with({"a.md": "# A\nx"}).config.path)
    main(["status", "--config", config])
    assert "1 chunk (1 too short to tell), generation" in capsys.readouterr().out
    main(["status", "--json", "--config", config])
    assert json.loads(capsys.readouterr().out)["languages"] == {"und": 1}


# What hooks do under these settings

COLUMNS = [
    *("phase", "name", "enabled", "effective", "timing", "origin"),
    *("skipped", "source", "payload", "target"),
]


def test_each_block_of_the_hooks_has_a_row_of_the_same_columns(cortex_with):
    rows = cortex_with(NOTES).status({})["hook_lifecycle"]
    assert [row["name"] for row in rows] == list(HOOK_ROWS)
    assert [list(row) for row in rows] == [COLUMNS] * 11
    assert [row["origin"] for row in rows] == [*["semantic-default"] * 10, "legacy-absent"]
    assert [row["name"] for row in rows if row["effective"]] == ["skill_bootstrap"]


@pytest.mark.parametrize(
    ("settings", "origins"),
    [
        ("{context_injection: {enabled: true}}", {"legacy", "legacy-active"}),
        (
            "{context_injection: {enabled: true}, dynamic_context: {enabled: true}}",
            {"semantic", "legacy-ignored"},
        ),
    ],
)
def test_the_rows_say_whether_the_older_form_counts(cortex_with, settings, origins):
    rows = cortex_with(NOTES, f"hooks: {settings}").status({})["hook_lifecycle"]
    told = [row for row in rows[1:] if not row["name"].startswith("inject_")]
    assert {row["origin"] for row in told} == origins


def test_the_template_that_init_writes_leaves_the_defaults_and_the_older_form_in_force(
    cortex_with, tmp_path
):
    vault = tmp_path / "vault"
    template = commented(vault)
    rows = cortex_with(NOTES, template, build=False).status({})["hook_lifecycle"]
    assert {row["origin"] for row in rows} == {"semantic-default", "legacy-absent"}
    older = re.sub(
        r"(  context_injection:\n(?:    #.*\n)*?)    # enabled: false",
        r"\1    enabled: true",
        template,
    )
    assert older != template
    rows = cortex_with(NOTES, older, build=False).status({})["hook_lifecycle"]
    assert rows[-1]["origin"] == "legacy-active"


def test_the_switch_of_the_environment_shows_in_the_rows_and_is_no_problem(cortex_with):
    cortex = cortex_with(NOTES, "hooks: {dynamic_context: {enabled: true}}")
    rows = {row["name"]: row for row in cortex.status({})["hook_lifecycle"]}
    assert (rows["dynamic_context"]["enabled"], rows["dynamic_context"]["effective"]) == (
        True,
        True,
    )
    status = cortex.status({"HERMES_CORTEX_CONTEXT": "off"})
    rows = {row["name"]: row for row in status["hook_lifecycle"]}
    assert (rows["dynamic_context"]["enabled"], rows["dynamic_context"]["effective"]) == (
        True,
        False,
    )
    assert "HERMES_CORTEX_CONTEXT" in rows["dynamic_context"]["skipped"]
    assert status["problems"] == []


def test_a_required_bootstrap_file_that_is_missing_is_a_problem_and_stops_that_block_alone(
    cortex_with, tmp_path
):
    settings = """
hooks:
  skill_context: {skill_path: ./OWN.md}
  bootstrap_context:
    enabled: true
    include_static_files:
      - {label: Soul, path: SOUL.md}
      - {label: Rules, path: RULES.md, optional: false}
"""
    cortex = cortex_with(NOTES, settings)
    (tmp_path / "state/SOUL.md").write_text("Kind.", "utf-8")
    (tmp_path / "state/OWN.md").write_text("Search first.", "utf-8")
    status = cortex.status({})
    assert status["problems"] == [
        f"the file {tmp_path}/state/RULES.md is required and cannot be read; put it there, "
        "or set hooks.bootstrap_context.include_static_files[1].optional to true"
    ]
    effective = [row["name"] for row in status["hook_lifecycle"] if row["effective"]]
    assert effective == ["skill_bootstrap"]
    (tmp_path / "state/OWN.md").unlink()
    (tmp_path / "state/RULES.md").write_text("Be brief.", "utf-8")
    status = cortex.status({})
    assert status["problems"] == [
        f"the skill {tmp_path}/state/OWN.md cannot be read; mend hooks.skill_context.skill_path"
    ]
    effective = [row["name"] for row in status["hook_lifecycle"] if row["effective"]]
    assert effective == ["static_file_bootstrap"]


def test_an_optional_bootstrap_file_that_is_missing_is_shown_and_warned_of(cortex_with, tmp_path):
    files = "[{label: Soul, path: SOUL.md}, {label: Rules, path: RULES.md}]"
    settings = "hooks: {bootstrap_context: {enabled: ENABLED, include_static_files: FILES}}"
    settings = settings.replace("FILES", files)
    env = {"HERMES_HOME": str(tmp_path)}
    cortex = cortex_with(NOTES, settings.replace("ENABLED", "true"))
    state = tmp_path / "state"
    (state / "SOUL.md").write_text("Kind.", "utf-8")
    status = cortex.status(env)
    row = status["hook_lifecycle"][2]
    assert row["effective"] and row["payload"] == "Soul"
    assert row["source"] == f"{state}/SOUL.md, {state}/RULES.md (missing)"
    assert status["warnings"] == [
        f"the file {state}/RULES.md cannot be read, so bootstrap_context leaves it out"
    ]
    assert status["problems"] == []
    cortex = cortex_with(NOTES, settings.replace("ENABLED", "false"), build=False)
    assert cortex.status(env)["warnings"] == []


def test_status_and_config_show_print_the_rows(cortex_with, capsys, monkeypatch):
    monkeypatch.delenv("HERMES_CORTEX_CONTEXT", raising=False)
    config = str(cortex_with(NOTES, "hooks: {skill_context: {enabled: false}}").config.path)
    main(["status", "--config", config])
    shown = capsys.readouterr().out
    assert re.search(
        r"^  skill_bootstrap \(skill_context\)  +off  each_turn +"
        r"hooks.skill_context.enabled is false$",
        shown,
        re.M,
    )
    main(["config", "show", "--config", config])
    shown = capsys.readouterr().out
    assert yaml.safe_load(shown)["hooks"]["skill_context"]["enabled"] is False
    comments = [line[2:] for line in shown.splitlines() if line.startswith("# ")][2:]
    rows = yaml.safe_load("\n".join(comments))["hook_lifecycle"]
    assert [row["name"] for row in rows] == list(HOOK_ROWS)
    main(["config", "show", "--json", "--config", config])
    document = json.loads(capsys.readouterr().out)
    assert (document["hook_lifecycle"], list(rows[0])) == (rows, COLUMNS)


# The command


def test_the_command_ends_with_0_when_all_is_sound_and_1_when_there_is_something_to_mend(
    cortex_with, tmp_path, capsys
):
    config = str(cortex_with(NOTES).config.path)
    assert main(["status", "--config", config]) == 0
    text = capsys.readouterr().out
    assert "graph:     3 nodes, 1 edge, 1 broken link, of this index\n" in text
    assert "freshness: the index is as new as the vault\n" in text
    assert "to mend:" not in text and "next:" not in text
    (tmp_path / "vault/honey.md").unlink()
    assert main(["status", "--config", config]) == 1
    assert capsys.readouterr().out.endswith(
        "to mend:\n"
        "- the vault has changed since the index (1 removed); run: cortex index\n"
        "next:\n"
        f"  cortex index --config {config}\n"
        f"  cortex embed --config {config}\n"
        f"  cortex graph build --config {config}\n"
    )


def test_the_command_ends_with_2_when_the_settings_are_wrong(tmp_path, capsys):
    (tmp_path / "c.yaml").write_text("vualt: {}\n", "utf-8")
    assert main(["status", "--config", str(tmp_path / "c.yaml")]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(os.name == "nt", reason="the shell is that of a POSIX system")
@pytest.mark.parametrize(
    "words", ["status >&-", "status 2>&-", "status <&-", "hook pre_llm_call <&-"]
)
def test_with_a_stream_closed_a_command_ends_as_ever(cortex_with, words):
    config = cortex_with(NOTES).config.path
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m cortex --config "$1" {words}', sys.executable, str(config)],
        cwd=Path(__file__).resolve().parent.parent,
        env={**os.environ, "HERMES_HOME": str(config.parent)},
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_as_json_it_is_one_document_with_the_same_keys_whatever_is_built(
    cortex_with, tmp_path, capsys
):
    config = str(cortex_with(NOTES, build=False).config.path)
    for _ in range(2):
        assert main(["status", "--json", "--config", config]) == 1
        assert list(json.loads(capsys.readouterr().out)) == ["schema_version", *KEYS]
        assert main(["index", "--config", config]) == 0
        capsys.readouterr()


HEAVY = {
    *("chromadb", "comrak", "frontmatter", "networkx", "numpy", "onnxruntime", "rank_bm25"),
    *("sentence_transformers", "Stemmer", "tantivy", "tokenizers", "torch", "filelock"),
}
RUN_AND_TELL = """
import sys
from cortex.cli import main
code = main(sys.argv[1:])
print(code, *sorted({name.split(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize("arguments", [["status"], ["status", "--json"], ["config", "show"]])
def test_looking_loads_nothing_heavy(cortex_with, tmp_path, arguments):
    every_block = """
hooks:
  bootstrap_context: {enabled: true}
  recent_context: {enabled: true}
  dynamic_context: {enabled: true}
"""
    config = str(cortex_with(NOTES, every_block).config.path)
    home = {"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "h"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN_AND_TELL, *arguments, "--config", config],
        env={**os.environ, **home},
        cwd=Path(__file__).resolve().parent.parent,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    code, *loaded = done.stdout.splitlines()[-1].split()
    assert code in ("0", "1") and "yaml" in loaded
    assert set(loaded) & HEAVY == set()


def told_by_status(cortex, capsys) -> str:
    main(["status", "--config", str(cortex.config.path)])
    return capsys.readouterr().out


def test_without_an_index_freshness_says_so(cortex_with, capsys):
    assert "freshness: no index yet\n" in told_by_status(cortex_with(NOTES, build=False), capsys)


def test_that_agents_may_write_is_to_be_seen(cortex_with, capsys):
    assert "writing:" not in told_by_status(cortex_with(NOTES, build=False), capsys)
    cortex = cortex_with(NOTES, "tools: {write: true}\n", build=False)
    assert cortex.status({})["tools_write"] is True
    assert "agents may add notes to the vault" in told_by_status(cortex, capsys)


def test_the_older_form_of_the_hooks_has_a_line_only_where_it_is_set(cortex_with, capsys):
    assert "context_injection" not in told_by_status(cortex_with(NOTES, build=False), capsys)
    cortex = cortex_with(NOTES, "hooks: {context_injection: {enabled: true}}\n", build=False)
    assert "legacy_context_injection" in told_by_status(cortex, capsys)


def test_where_no_vectors_are_asked_for_none_are_missed(cortex_with):
    cortex = cortex_with(NOTES, "search: {vector_weight: 0, bm25_weight: 1}\n", build=False)
    cortex.index()
    cortex.build_graph()
    assert (cortex.status({})["problems"], cortex.status({})["next"]) == ([], [])
