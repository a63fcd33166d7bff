"""Which blocks are in force, and what the rows say of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import HOOK_ROWS, CortexMaker
from cortex.config.legacy import in_force
from cortex.config.load import parse
from cortex.config.render import commented
from cortex.inject.blocks import due
from cortex.inject.turn import Turn
from cortex.switch import is_switched_off


def settings(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "config.yaml"
    file.write_text(text, "utf-8")
    return in_force(parse(file, {}))


def rows_of(cortex_with: CortexMaker, text: str = "", **env: str) -> dict[str, dict[str, Any]]:
    cortex = cortex_with({"a.md": "# A\n\nBees."}, text, build="dynamic" in text)
    rows = cortex.lifecycle_rows({"HERMES_HOME": str(cortex.config.state / "home"), **env})
    assert tuple(row["name"] for row in rows) == HOOK_ROWS
    assert all(row["effective"] == (row["skipped"] is None) for row in rows)
    return {row["name"]: row for row in rows}


def test_without_any_block_the_skill_alone_is_told_by_default(tmp_path: Path):
    hooks, origin = settings(tmp_path, "vault: {path: v}")
    assert origin == "semantic-default"
    assert hooks.skill_context.enabled and not hooks.dynamic_context.enabled


def test_the_old_block_alone_is_translated(tmp_path: Path):
    hooks, origin = settings(
        tmp_path,
        "hooks: {context_injection: {enabled: true, budget: 700, query: bees, load_skill: true}}",
    )
    assert origin == "legacy"
    assert hooks.skill_context.enabled and hooks.skill_context.when == "each_turn"
    dynamic = hooks.dynamic_context
    assert (dynamic.enabled, dynamic.budget, dynamic.query) == (True, 700, "bees")
    assert not hooks.bootstrap_context.enabled and not hooks.recent_context.enabled


def test_the_old_block_without_load_skill_tells_no_skill(tmp_path: Path):
    hooks, _ = settings(tmp_path, "hooks: {context_injection: {enabled: true}}")
    assert not hooks.skill_context.enabled


def test_the_old_block_when_it_is_off_tells_nothing(tmp_path: Path):
    hooks, origin = settings(tmp_path, "hooks: {context_injection: {enabled: false}}")
    assert origin == "legacy"
    assert not hooks.skill_context.enabled and not hooks.dynamic_context.enabled


@pytest.mark.parametrize("block", ["skill_context", "bootstrap_context", "recent_context"])
def test_one_of_the_blocks_of_today_is_enough_to_ignore_the_old_one(tmp_path: Path, block: str):
    hooks, origin = settings(
        tmp_path, f"hooks: {{context_injection: {{enabled: true}}, {block}: {{budget: 500}}}}"
    )
    assert origin == "semantic" and not hooks.dynamic_context.enabled


def test_the_bare_name_of_the_old_block_says_nothing(tmp_path: Path):
    assert settings(tmp_path, "hooks:\n  context_injection:\n")[1] == "semantic-default"


@pytest.mark.parametrize(
    ("inject", "origin"),
    [
        ("", "legacy"),
        ("{}", "legacy"),
        ("{vault: {}}", "legacy"),
        ("{enabled: false, budget: 900}", "legacy"),
        ("{enabled: true}", "semantic"),
        ("{enabled: true, vault: {enabled: false}}", "semantic"),
    ],
)
def test_the_old_block_is_ignored_where_the_sources_are_on(
    tmp_path: Path, inject: str, origin: str
):
    text = f"hooks: {{context_injection: {{enabled: true}}}}\ninject: {inject}\n"
    hooks, found = settings(tmp_path, text)
    assert (found, hooks.dynamic_context.enabled) == (origin, origin == "legacy")


def test_rows_by_default(cortex_with: CortexMaker):
    rows = rows_of(cortex_with)
    assert [name for name in HOOK_ROWS if rows[name]["effective"]] == ["skill_bootstrap"]
    skill = rows["skill_bootstrap"]
    assert (skill["origin"], skill["timing"], skill["phase"]) == (
        "semantic-default",
        "each_turn",
        "pre_llm_call",
    )
    assert skill["source"].endswith("cortex-vault/SKILL.md")
    assert rows["cache_warm"]["skipped"] == "hooks.cache_warm.enabled is false"
    assert rows["legacy_context_injection"]["origin"] == "legacy-absent"


def test_rows_of_an_old_config(cortex_with: CortexMaker):
    text = "hooks: {context_injection: {enabled: true, load_skill: true}}  # dynamic"
    rows = rows_of(cortex_with, text)
    old = rows["legacy_context_injection"]
    assert (old["origin"], old["enabled"], old["effective"]) == ("legacy-active", True, True)
    assert [name for name in HOOK_ROWS if rows[name]["effective"]] == ["legacy_context_injection"]
    assert rows["skill_bootstrap"]["skipped"] == "hooks.context_injection is in force"


def test_rows_of_a_mixed_config(cortex_with: CortexMaker):
    text = "hooks: {context_injection: {enabled: true}, dynamic_context: {enabled: true}}"
    rows = rows_of(cortex_with, text)
    assert rows["legacy_context_injection"]["origin"] == "legacy-ignored"
    assert not rows["legacy_context_injection"]["effective"]
    assert rows["dynamic_context"]["effective"] and rows["dynamic_context"]["origin"] == "semantic"


def test_the_kill_switch_shows_in_every_row_of_a_turn(cortex_with: CortexMaker):
    text = "hooks: {cache_warm: {enabled: true}, dynamic_context: {enabled: true}}"
    rows = rows_of(cortex_with, text, HERMES_CORTEX_CONTEXT="off")
    assert rows["cache_warm"]["effective"]
    for name in ("skill_bootstrap", "dynamic_context"):
        assert rows[name]["enabled"] and rows[name]["skipped"] == "HERMES_CORTEX_CONTEXT is off"


@pytest.mark.parametrize(
    ("text", "row", "reason"),
    [
        ("dynamic_context: {enabled: true, budget: 0}", "dynamic_context", "budget is 0"),
        ("dynamic_context: {enabled: true, budget: 50}", "dynamic_context", "200 is the least"),
        ("skill_context: {load_skill: false}", "skill_bootstrap", "load_skill is false"),
        ("skill_context: {skill_path: ./no.md}", "skill_bootstrap", "no.md cannot be read"),
        ("recent_context: {enabled: true}", "recent_context", "there is no "),
        ("bootstrap_context: {enabled: true}", "static_file_bootstrap", "names no file"),
        ("platforms: []", "skill_bootstrap", "hooks.platforms is empty"),
    ],
)
def test_a_row_says_why_a_block_tells_nothing(
    cortex_with: CortexMaker, text: str, row: str, reason: str
):
    found = rows_of(cortex_with, f"hooks: {{{text}}}")[row]
    assert not found["effective"] and reason in found["skipped"]


SOURCE_ROWS = ("inject_facts", "inject_vault", "inject_fabric", "inject_sessions")


def test_the_sources_are_off_by_default_and_their_rows_say_so(cortex_with: CortexMaker):
    rows = rows_of(cortex_with)
    for name in SOURCE_ROWS:
        row = rows[name]
        assert (row["enabled"], row["effective"], row["origin"]) == (
            *(False, False),
            "semantic-default",
        )
        assert row["skipped"] == "inject.enabled is false"


def test_rows_of_sources_say_where_each_looks(cortex_with: CortexMaker, tmp_path: Path):
    home, fabric = tmp_path / "state" / "home", tmp_path / "fabric"
    cortex_with({}, build=False)
    home.mkdir()
    fabric.mkdir()
    (home / "state.db").touch()
    (home / "memory_store.db").touch()
    rows = rows_of(cortex_with, "inject: {enabled: true}  # dynamic", FABRIC_DIR=str(fabric))
    told = [(rows[name]["effective"], rows[name]["timing"]) for name in SOURCE_ROWS]
    assert told == [(True, "first_turn"), *[(True, "each_turn")] * 3]
    vault = str(tmp_path / "vault")
    assert [rows[name]["source"] for name in SOURCE_ROWS] == [
        f"{vault}, {home / 'memory_store.db'}",
        vault,
        str(fabric),
        str(home / "state.db"),
    ]
    assert rows["inject_vault"]["payload"] == "passages of notes"
    assert {rows[name]["origin"] for name in SOURCE_ROWS} == {"semantic"}


@pytest.mark.parametrize(
    ("text", "row", "reason"),
    [
        ("enabled: true, vault: {enabled: false}", "inject_vault", "inject.vault.enabled is false"),
        ("enabled: true, budget: 0", "inject_vault", "inject.budget is 0"),
        ("enabled: true, budget: 100", "inject_facts", "200 is the least"),
        ("enabled: true", "inject_sessions", "home/state.db"),
        ("enabled: true", "inject_fabric", "neither inject.fabric.path nor FABRIC_DIR is set"),
        ("enabled: true, fabric: {path: ./no}", "inject_fabric", "there is no folder "),
    ],
)
def test_a_row_says_why_a_source_is_not_asked(
    cortex_with: CortexMaker, text: str, row: str, reason: str
):
    found = rows_of(cortex_with, f"inject: {{{text}}}")[row]
    assert not found["effective"] and reason in found["skipped"]


def test_facts_need_a_vault_or_the_memory_of_the_host(cortex_with: CortexMaker, tmp_path: Path):
    text = "vault: {path: ./gone}\ninject: {enabled: true, facts: {memory_store_path: ./m.db}}"
    rows = rows_of(cortex_with, text)
    memory = tmp_path / "state" / "m.db"
    assert rows["inject_facts"]["skipped"] == f"there is no vault and no {memory}"
    assert rows["inject_vault"]["skipped"] == f"there is no vault {tmp_path}/state/gone"
    memory.touch()
    assert rows_of(cortex_with, text)["inject_facts"]["source"] == str(memory)


def test_without_an_index_the_vault_as_a_source_reads_the_files(cortex_with: CortexMaker):
    row = rows_of(cortex_with, "inject: {enabled: true}")["inject_vault"]
    assert row["effective"]
    assert row["payload"] == "passages of note files, for there is no index yet"


def test_beside_the_vault_as_a_source_dynamic_context_is_left_out(
    cortex_with: CortexMaker, tmp_path: Path
):
    text = "hooks: {dynamic_context: {enabled: true}}\ninject: {enabled: true}"
    row = rows_of(cortex_with, text)["dynamic_context"]
    assert row["enabled"] and row["skipped"] == "inject.vault tells the same"
    text = f"vault: {{path: '{tmp_path}/vault'}}\n{text[:-1]}, vault: {{enabled: false}}}}"
    assert rows_of(cortex_with, text)["dynamic_context"]["effective"]


def test_a_pack_is_due_in_the_first_turn_between_the_files_and_recent_topics(
    cortex_with: CortexMaker, tmp_path: Path
):
    text = "hooks: {session_pack: {enabled: true}, recent_context: {enabled: true}}"
    row = rows_of(cortex_with, text)["session_pack"]
    assert row["effective"] and row["timing"] == "first_turn"
    assert row["source"] == f"{tmp_path}/vault, {tmp_path}/state/home/state.db"
    hooks, _ = settings(tmp_path, text)
    first = Turn("s", "hello", is_first=True, shown={})
    assert due(hooks, first) == ["skill_context", "session_pack", "recent_context"]
    assert due(hooks, replace(first, is_first=False)) == ["skill_context"]
    assert due(hooks, replace(first, shown={"session_pack": frozenset({"0" * 8})})) == [
        "skill_context",
        "recent_context",
    ]


def test_without_an_index_the_vault_has_nothing_to_say(cortex_with: CortexMaker):
    cortex = cortex_with({}, "hooks: {dynamic_context: {enabled: true}}", build=False)
    row = {row["name"]: row for row in cortex.lifecycle_rows({})}["dynamic_context"]
    assert row["enabled"] and row["skipped"] == "there is no index yet"


def test_a_required_file_that_is_missing_is_named_with_its_block(
    cortex_with: CortexMaker, tmp_path: Path
):
    (tmp_path / "soul.md").write_text("Be brief.", "utf-8")
    text = (
        "hooks:\n  bootstrap_context:\n    enabled: true\n    include_static_files:\n"
        f"      - {{label: Soul, path: '{tmp_path}/soul.md'}}\n"
        f"      - {{label: Gone, path: '{tmp_path}/gone.md', optional: OPTIONAL}}\n"
    )
    rows = rows_of(cortex_with, text.replace("OPTIONAL", "false"))
    assert rows["static_file_bootstrap"]["skipped"] == (
        f"the required file {tmp_path}/gone.md cannot be read"
    )
    assert rows["skill_bootstrap"]["effective"]
    rows = rows_of(cortex_with, text.replace("OPTIONAL", "true"))
    assert rows["static_file_bootstrap"]["effective"]
    assert rows["static_file_bootstrap"]["payload"] == "Soul"


def test_the_bare_headings_that_init_writes_leave_the_old_block_in_force(tmp_path: Path):
    text = commented(tmp_path / "vault")
    assert settings(tmp_path, text)[1] == "semantic-default"
    bare = "  context_injection:\n"
    assert bare in text and "  skill_context:\n" in text
    old = text.replace(bare, f"{bare}    enabled: true\n")
    assert settings(tmp_path, old)[1] == "legacy"
    both = old.replace("  skill_context:\n", "  skill_context:\n    budget: 900\n")
    assert settings(tmp_path, both)[1] == "semantic"


FULL = """
hooks:
  skill_context: {skill_path: ./long.md, budget: 3000}
  bootstrap_context:
    enabled: true
    budget: BUDGET
    include_static_files: [{label: Rules, path: ./rules.md}]
  recent_context: {enabled: true, state_db_path: ./rules.md}
  dynamic_context: {enabled: true}
"""


def test_a_block_that_the_ones_before_it_leave_no_room_says_so(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex_with({}, build=False)
    (tmp_path / "state" / "long.md").write_text("Look it up first. " * 900, "utf-8")
    (tmp_path / "state" / "rules.md").write_text("Be brief. " * 900, "utf-8")
    rows = rows_of(cortex_with, FULL.replace("BUDGET", "900"))
    full = "skill_context fill the 9,500 characters of a turn"
    assert rows["skill_bootstrap"]["effective"]
    assert not rows["static_file_bootstrap"]["effective"]
    assert rows["static_file_bootstrap"]["skipped"] == f"{full}; lower their budgets"
    assert not rows["recent_context"]["effective"]
    dynamic = rows["dynamic_context"]
    assert dynamic["effective"]  # in later turns
    assert dynamic["payload"] == f"what the vault says to it, except in a first turn, where {full}"


def test_blocks_of_large_budgets_and_little_text_leave_room(
    cortex_with: CortexMaker, tmp_path: Path
):
    cortex_with({}, build=False)
    (tmp_path / "state" / "long.md").write_text("Look it up first. " * 50, "utf-8")
    (tmp_path / "state" / "rules.md").write_text("Be brief. " * 50, "utf-8")
    rows = rows_of(cortex_with, FULL.replace("BUDGET", "3000"))
    for name in ("skill_bootstrap", "static_file_bootstrap", "recent_context", "dynamic_context"):
        assert rows[name]["effective"], name
    assert rows["dynamic_context"]["payload"] == "what the vault says to it"


@pytest.mark.parametrize(
    ("value", "is_off"),
    [
        *((value, False) for value in ("", " ", "on", "ON", "1", "true", " Yes ")),
        *((value, True) for value in ("off", "0", "false", "no", "none", "disabled", "onn", "2")),
    ],
)
def test_any_value_of_the_kill_switch_but_a_known_yes_stops_all(value: str, is_off: bool):
    assert is_switched_off({"HERMES_CORTEX_CONTEXT": value}) == is_off
    assert not is_switched_off({})
