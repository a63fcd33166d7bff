"""What each block does under these settings, as rows for `cortex status` and `config show`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..config.legacy import Origin, in_force, is_given
from ..config.schema import LEAST_BUDGET, Config, HooksConfig
from ..home import hermes_home
from ..records import memory_store
from ..switch import SWITCH, is_switched_off
from .blocks import is_on
from .fabric import FOLDER, folder_of
from .sources import MAX_CHARS, bootstrap_files, skill_file

TARGET = "behind the user's message"
# The settings that a row is about, below `hooks` but for the sources.
SETTING = {
    "cache_warm": "cache_warm",
    "skill_bootstrap": "skill_context",
    "static_file_bootstrap": "bootstrap_context",
    "session_pack": "session_pack",
    "recent_context": "recent_context",
    "dynamic_context": "dynamic_context",
    "inject_facts": "inject.facts",
    "inject_vault": "inject.vault",
    "inject_fabric": "inject.fabric",
    "inject_sessions": "inject.sessions",
    "legacy_context_injection": "context_injection",
}
# By a low estimate: a block is called too long only where it surely is.
CHARS_A_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Row:
    phase: str  # the hook: on_session_start or pre_llm_call
    name: str
    enabled: bool  # as the settings say
    effective: bool  # and as things stand
    timing: str  # session_start, each_turn or first_turn
    origin: str  # semantic, semantic-default, legacy; legacy-active, -ignored, -absent
    skipped: str | None  # why it is not effective
    source: str  # where what it tells comes from
    payload: str  # what it tells
    target: str  # where that goes


def lifecycle_rows(config: Config, env: Mapping[str, str], *, has_index: bool) -> list[Row]:
    """One row a block or source, always the same eleven in the same order.

    env: where the kill switch, HERMES_HOME and FABRIC_DIR are looked up.
    """
    hooks, origin = in_force(config)
    off = f"{SWITCH} is {env.get(SWITCH, '').strip()}" if is_switched_off(env) else None
    home = hermes_home(env)
    blocks = [
        _row(config, hooks, origin, off, "skill_bootstrap", *_skill(config, hooks)),
        _row(config, hooks, origin, off, "static_file_bootstrap", *_bootstrap(hooks)),
        _row(config, hooks, origin, off, "session_pack", *_pack(config, home)),
        _row(config, hooks, origin, off, "recent_context", *_recent(hooks, home)),
        _row(config, hooks, origin, off, "dynamic_context", *_dynamic(config, hooks, has_index)),
        _source_row(config, off, "facts", *_facts(config, home)),
        _source_row(config, off, "vault", *_notes(config, has_index)),
        _source_row(config, off, "fabric", *_fabric(config, env)),
        _source_row(config, off, "sessions", *_sessions(config, home)),
    ]
    return [
        _warm_row(config, has_index),
        *_with_room(blocks, _lengths(config, hooks)),
        _legacy_row(config, origin, off, has_index),
    ]


_NO_INDEX = "there is no index yet"


def _warm_row(config: Config, has_index: bool) -> Row:
    enabled = config.hooks.cache_warm.enabled
    skipped = None if enabled else "hooks.cache_warm.enabled is false"
    if enabled and not has_index:
        skipped = _NO_INDEX
    return Row(
        phase="on_session_start",
        name="cache_warm",
        enabled=enabled,
        effective=skipped is None,
        timing="session_start",
        origin="semantic" if "hooks.cache_warm.enabled" in config.given else "semantic-default",
        skipped=skipped,
        source=str(config.state),
        payload="index and query model",
        target="memory of this process",
    )


def _row(
    config: Config,
    hooks: HooksConfig,
    origin: Origin,
    off: str | None,
    name: str,
    source: str,
    payload: str,
    lacking: str | None,
) -> Row:
    setting = SETTING[name]
    settings = getattr(hooks, setting)
    skipped: str | None
    enabled = settings.enabled and (setting != "skill_context" or settings.load_skill)
    if origin == "legacy":
        enabled, skipped = False, "hooks.context_injection is in force"
    elif not is_on(setting, hooks):
        which = "enabled is false"
        if settings.enabled and not enabled:
            which = "load_skill is false"
        skipped = f"hooks.{setting}.{which}"
        if enabled:
            skipped = _too_small(f"hooks.{setting}", settings.budget)
    else:
        skipped = off or lacking or _nowhere(config)
    return Row(
        phase="pre_llm_call",
        name=name,
        enabled=enabled,
        effective=skipped is None,
        timing=settings.when,
        origin=origin,
        skipped=skipped,
        source=source,
        payload=payload,
        target=TARGET,
    )


def _source_row(
    config: Config, off: str | None, name: str, source: str, payload: str, lacking: str | None
) -> Row:
    inject, settings = config.inject, getattr(config.inject, name)
    skipped: str | None
    enabled = inject.enabled and settings.enabled
    if not inject.enabled:
        skipped = "inject.enabled is false"
    elif not settings.enabled:
        skipped = f"inject.{name}.enabled is false"
    else:
        skipped = _too_small("inject", inject.budget) or off or lacking or _nowhere(config)
    groups = SETTING.values()  # a bare name with nothing below it sets nothing
    is_given = any(path.startswith("inject.") and path not in groups for path in config.given)
    return Row(
        phase="pre_llm_call",
        name=f"inject_{name}",
        enabled=enabled,
        effective=skipped is None,
        timing="first_turn" if name == "facts" else "each_turn",
        origin="semantic" if is_given else "semantic-default",
        skipped=skipped,
        source=source,
        payload=payload,
        target=TARGET,
    )


def _legacy_row(config: Config, origin: Origin, off: str | None, has_index: bool) -> Row:
    old = config.hooks.context_injection
    skipped = None
    if not is_given(config):
        state, skipped = "legacy-absent", "not in the config"
    elif origin != "legacy":
        state, skipped = "legacy-ignored", "what stands above is in the config and counts instead"
    else:
        state = "legacy-active"
        if not old.enabled:
            skipped = "hooks.context_injection.enabled is false"
        elif off or _nowhere(config):
            skipped = off or _nowhere(config)
        elif not old.load_skill:
            skipped = _too_small("hooks.context_injection", old.budget)
            skipped = skipped or (None if has_index else _NO_INDEX)
    return Row(
        phase="pre_llm_call",
        name="legacy_context_injection",
        enabled=old.enabled,
        effective=skipped is None,
        timing="each_turn",
        origin=state,
        skipped=skipped,
        source=str(config.vault.path or ""),
        payload="skill and vault context" if old.load_skill else "vault context",
        target=TARGET,
    )


def _too_small(where: str, budget: int) -> str | None:
    if budget >= LEAST_BUDGET:
        return None
    if budget == 0:
        return f"{where}.budget is 0"
    return f"{where}.budget of {budget} holds nothing; {LEAST_BUDGET} is the least"


def _nowhere(config: Config) -> str | None:
    return None if config.hooks.platforms else "hooks.platforms is empty"


def _skill(config: Config, hooks: HooksConfig) -> tuple[str, str, str | None]:
    path = skill_file(hooks.skill_context, config.path.parent)
    if path is None:
        return "", "skill", "the skill is not among the files of Cortex; install it again"
    lacking = None if _is_readable(path) else f"{path} cannot be read"
    return str(path), "skill", lacking


def _bootstrap(hooks: HooksConfig) -> tuple[str, str, str | None]:
    files = [file for file in bootstrap_files(hooks.bootstrap_context) if file.path is not None]
    there = [file for file in files if file.path is not None and _is_readable(file.path)]
    missing = [file for file in files if file not in there and not file.optional]
    lacking = None
    if missing:
        lacking = f"the required file {missing[0].path} cannot be read"
    elif not files:
        lacking = "hooks.bootstrap_context.include_static_files names no file"
    elif not there:
        lacking = "none of the files can be read"
    labels = ", ".join(file.label for file in there) or "files"
    missed = [file for file in files if file not in there]
    places = [f"{file.path}{' (missing)' if file in missed else ''}" for file in files]
    return ", ".join(places), labels, lacking


def _pack(config: Config, home: Path) -> tuple[str, str, str | None]:
    places = [str(place) for place in (config.vault.path, home / "state.db") if place is not None]
    return ", ".join(places), "facts, handoffs, receipts and sessions, sealed", None


def _recent(hooks: HooksConfig, home: Path) -> tuple[str, str, str | None]:
    database = hooks.recent_context.state_db_path or home / "state.db"
    lacking = None if _is_readable(database) else f"there is no {database}"
    return str(database), "titles of recent sessions", lacking


def _dynamic(config: Config, hooks: HooksConfig, has_index: bool) -> tuple[str, str, str | None]:
    asked = hooks.dynamic_context.query.strip()
    payload = "what the vault says to a fixed query" if asked else "what the vault says to it"
    lacking = None if has_index else _NO_INDEX
    if config.inject.enabled and config.inject.vault.enabled:
        lacking = "inject.vault tells the same"
    return str(config.vault.path or ""), payload, lacking


def _facts(config: Config, home: Path) -> tuple[str, str, str | None]:
    memory = config.inject.facts.memory_store_path or home / memory_store.FILE
    there = [str(memory)] if _is_readable(memory) else []
    if _no_vault(config) is None:
        there.insert(0, str(config.vault.path))
    lacking = None if there else f"there is no vault and no {memory}"
    return ", ".join(there), "facts that are valid now", lacking


def _notes(config: Config, has_index: bool) -> tuple[str, str, str | None]:
    payload = "passages of notes" if has_index else f"passages of note files, for {_NO_INDEX}"
    return str(config.vault.path or ""), payload, _no_vault(config)


def _no_vault(config: Config) -> str | None:
    if config.vault.path is None:
        return "vault.path is not set"
    return None if config.vault.path.is_dir() else f"there is no vault {config.vault.path}"


def _fabric(config: Config, env: Mapping[str, str]) -> tuple[str, str, str | None]:
    folder = folder_of(config.inject.fabric, env)
    if folder is None:
        return "", "entries of agents", f"neither inject.fabric.path nor {FOLDER} is set"
    lacking = None if folder.is_dir() else f"there is no folder {folder}"
    return str(folder), "entries of agents", lacking


def _sessions(config: Config, home: Path) -> tuple[str, str, str | None]:
    database = config.inject.sessions.state_db_path or home / "state.db"
    lacking = None if _is_readable(database) else f"there is no {database}"
    return str(database), "what was said in earlier sessions", lacking


def _lengths(config: Config, hooks: HooksConfig) -> dict[str, int]:
    """row -> how many characters its block has room for and text to fill, at least about."""
    skill = skill_file(hooks.skill_context, config.path.parent)
    files = 0
    for file in bootstrap_files(hooks.bootstrap_context):
        length = _length(file.path)
        if file.max_bytes is not None:
            length = min(length, file.max_bytes)
        if file.budget is not None:
            length = min(length, CHARS_A_TOKEN * file.budget)
        files += length
    return {
        "skill_bootstrap": min(_length(skill), CHARS_A_TOKEN * hooks.skill_context.budget),
        "static_file_bootstrap": min(files, CHARS_A_TOKEN * hooks.bootstrap_context.budget),
    }


def _with_room(rows: Sequence[Row], lengths: Mapping[str, int]) -> list[Row]:
    """The rows of the blocks in their order, where those before leave one no room at all."""
    told: list[Row] = []
    before: list[str] = []
    room = MAX_CHARS
    for row in rows:
        if row.effective and room < CHARS_A_TOKEN * LEAST_BUDGET:
            full = f"{' and '.join(before)} fill the {MAX_CHARS:,} characters of a turn"
            if row.timing == "first_turn":  # as those are told in
                row = replace(row, effective=False, skipped=f"{full}; lower their budgets")
            else:
                row = replace(row, payload=f"{row.payload}, except in a first turn, where {full}")
        elif row.effective and row.name in lengths:
            room -= lengths[row.name]
            before.append(SETTING[row.name])
        told.append(row)
    return told


def _length(path: Path | None) -> int:
    """In bytes; 0 for what cannot be read."""
    return path.stat().st_size if path is not None and _is_readable(path) else 0


def _is_readable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)
