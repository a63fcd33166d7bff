"""What is built, what lags behind, and what to run next. Quick: reads labels, not contents."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .._version import __version__
from ..config import Config
from ..embedder import chroma
from ..embedder.cache_files import whole_rows
from ..errors import Damaged
from ..files import read_json
from ..platforms import KNOWN
from ..state import Stamp, State
from ..types import Json
from ..vault.scan import FolderRules
from . import packages
from .freshness import Freshness, freshness

NO_INDEX = "there is no index yet; run: cortex index"
GRAPH_STATS = "graph_stats.json"
# The names in the state folder that other programs read.
PUBLIC = {
    "index": ("chunks.jsonl", "notes.jsonl"),
    "vectors": (),
    "graph": ("graph_nodes.jsonl", "graph_edges.jsonl", "graph_broken.jsonl", GRAPH_STATS),
}
COPIED_BY = {"index": "cortex index", "graph": "cortex graph build"}
_COMMAND = re.compile(r"; run: (.+)$")  # how a problem ends that a command mends
_STEPS = ("cortex index", "cortex embed", "cortex graph build")  # each needs those before it
# Beside the names of platforms. Tools serve a subagent or a cron job as the one who began it.
TOOL_NAMES = {"all", "local", "paired"}
HOOK_NAMES = TOOL_NAMES | {"cron", "subagent"}
_STAND_IN = "hashing"  # names of one model with and without its defaults written out

Row = Mapping[str, Json]


def report(
    state: State,
    config: Config,
    rules: FolderRules,
    model: Row,
    hooks: Sequence[Row],
    modules: Mapping[str, str],
    remarks: Sequence[str] = (),
) -> dict[str, Json]:
    """One document of it all; `problems` is empty when everything is sound.

    model: the chosen one, as Cortex.models has it. hooks: the lifecycle rows of the blocks.
    modules: what is imported -> the distribution that brings it. remarks: what else to warn of.
    """
    stamps: dict[str, Stamp | None] = {}
    damage: dict[str, str] = {}
    for kind in ("index", "vectors", "graph"):
        try:
            stamps[kind] = whole(state, kind)
        except Damaged as error:
            stamps[kind], damage[kind] = None, str(error)
    index, vectors, graph = stamps["index"], stamps["vectors"], stamps["graph"]
    drift, counts = None, None
    of_vault = list(vault_problems(config))
    package_problems = packages.problems(config, modules)
    has_vault = not of_vault
    try:
        drift = drifted(config, rules, index) if has_vault else None
    except Damaged as error:
        damage.setdefault("index", str(error))
    try:
        counts = graph_counts(graph)
    except Damaged as error:
        damage.setdefault("graph", str(error))
    problems = list(
        dict.fromkeys(
            [
                *package_problems,
                *of_vault,
                *file_problems(config, hooks),
                *damage.values(),
                *model_problems(config, model),
                *index_problems(index, drift, damage),
                *vector_problems(state, config, model["name"], index, vectors, damage),
                *graph_problems(index, graph, damage),
                *copy_problems(state, stamps),
            ]
        )
    )
    steps = next_commands(problems if has_vault else package_problems)
    if steps and state.root.is_dir() and not os.access(state.root, os.W_OK):
        problems.append(f"the state folder {state.root} cannot be written to; make it writable")
    served = config.embeddings.endpoint.url
    return {
        "cortex": _installed(),
        "config": str(config.path),
        "vault": str(config.vault.path) if config.vault.path else None,
        "state": str(config.state),
        "model": model["name"],
        "model_choice": model.get("auto"),
        "model_served_by": served.split("/")[2] if served else None,
        "model_available": None if served else model["available"],
        "notes": index.values["notes"] if index else 0,
        "chunks": index.values["chunks"] if index else 0,
        "languages": index.values["languages"] if index else {},
        "vectors": vectors.values["entries"] if vectors else 0,
        "vectors_model": vectors.values["model"] if vectors else None,
        "graph": counts,
        "generation": index.generation if index else None,
        "generations": {kind: _generation(stamp) for kind, stamp in stamps.items()},
        "agree": _are_of(index, vectors, graph),
        "freshness": drift
        and {
            "current": drift.is_current,
            "added": drift.added,
            "changed": drift.changed,
            "removed": drift.removed,
        },
        "runs": state.runs(),
        "platforms": {
            "tools": list(config.tools.platforms),
            "hooks": list(config.hooks.platforms),
        },
        "tools_write": config.tools.write,
        "hook_lifecycle": [dict(row) for row in hooks],
        "problems": problems,
        "warnings": [
            *setting_warnings(config, hooks, model),
            *remarks,
        ],
        "next": steps,
    }


def next_commands(problems: Sequence[str]) -> list[str]:
    """The commands that mend `problems`, in the order to run them.

    What is built from the index follows whenever the index is to be built.
    """
    wanted = dict.fromkeys(match[1] for p in problems if (match := _COMMAND.search(p)))
    steps: list[str] = []
    for step in _STEPS:
        asked = [command for command in wanted if command.startswith(step)]
        if asked or (steps and steps[0].startswith(_STEPS[0])):
            steps.append(max(asked, key=len, default=step))  # with --force, if one asks for that
    return [command for command in wanted if not command.startswith(_STEPS)] + steps


def whole(state: State, kind: str) -> Stamp | None:
    """The stamp of a kind whose files are all there. Raises Damaged."""
    stamp = state.stamp(kind)
    if stamp is not None:
        stamp.check()
    return stamp


def drifted(config: Config, rules: FolderRules, index: Stamp | None) -> Freshness | None:
    vault = config.vault.path
    if vault is None or index is None:
        return None
    return freshness(vault, rules, config.vault.allow_symlinks_outside, index)


def graph_counts(graph: Stamp | None) -> dict[str, Json] | None:
    if graph is None:
        return None
    path = graph.file(GRAPH_STATS)
    try:
        stats = read_json(path)
        return {
            "nodes": stats["node_count"],
            "edges": stats["edge_count"],
            "broken": stats["broken_count"],
        }
    except (ValueError, KeyError, TypeError):
        raise Damaged(f"{path} is damaged; run: cortex graph build") from None


def _generation(stamp: Stamp | None) -> dict[str, Json] | None:
    if stamp is None:
        return None
    is_index = stamp.kind == "index"
    return {"generation": stamp.generation, "built_from": None if is_index else stamp.built_from}


def _are_of(index: Stamp | None, *others: Stamp | None) -> bool:
    return index is not None and all(
        other is not None and other.built_from == index.generation for other in others
    )


def _installed() -> dict[str, Json]:
    package = Path(os.path.abspath(__file__)).parent.parent
    is_folder = (package.parent / "plugin.yaml").is_file()
    loaded = "pip package"
    if __name__.startswith("hermes_plugins."):  # the name that the host loads a folder under
        loaded = "directory plugin"
    elif is_folder:
        loaded = "checkout"
    folder = package.parent if is_folder else package
    return {"version": __version__, "loaded": loaded, "folder": str(folder)}


# Problems: what is wrong, and at the end what to do


def vault_problems(config: Config) -> Iterator[str]:
    vault = config.vault.path
    if vault is None:
        yield f"no vault is named; set vault.path in {config.path}"
    elif not vault.is_dir():
        yield f"the vault {vault} is not a folder; set vault.path in {config.path}"
    elif not os.access(vault, os.R_OK | os.X_OK):
        yield f"the vault {vault} may not be read; give yourself the right to it"


def file_problems(config: Config, hooks: Sequence[Row]) -> Iterator[str]:
    """Files that settings require, and that cannot be read."""
    on = {row["name"] for row in hooks if row["enabled"]}
    places = [("context_builder", config.context_builder.include_static_files)]
    if "static_file_bootstrap" in on:
        bootstrap = config.hooks.bootstrap_context.include_static_files
        places.append(("hooks.bootstrap_context", bootstrap))
    for section, files in places:
        for number, file in enumerate(files):
            if file.enabled and not file.optional and not _is_readable(file.path):
                yield (
                    f"the file {file.path} is required and cannot be read; put it there, or set "
                    f"{section}.include_static_files[{number}].optional to true"
                )
    skill = config.hooks.skill_context.skill_path
    if "skill_bootstrap" in on and skill and not _is_readable(Path(skill)):
        yield f"the skill {skill} cannot be read; mend hooks.skill_context.skill_path"
    reranker = Path(config.search.reranker).expanduser()
    if reranker.is_absolute() and not reranker.is_dir():
        yield f"the reranker {reranker} is no folder, so nothing can be found; mend search.reranker"


# Warnings: what works, and perhaps not as it was meant


def setting_warnings(config: Config, hooks: Sequence[Row], model: Row) -> Iterator[str]:
    yield from _platform_warnings("tools.platforms", config.tools.platforms, TOOL_NAMES)
    yield from _platform_warnings("hooks.platforms", config.hooks.platforms, HOOK_NAMES)
    yield from _bootstrap_warnings(config, hooks)
    yield from _choice_advice(model)


def _platform_warnings(setting: str, given: Sequence[str], names: set[str]) -> Iterator[str]:
    """Entries that let nobody in, as no session comes from there."""
    for entry in given:
        name = entry.strip().lower()
        if name in names or name in KNOWN:
            continue
        if name in HOOK_NAMES:
            why = f"{name} counts for hooks only: tools serve it as the one who began it"
        else:
            near = difflib.get_close_matches(name, sorted(KNOWN | names), n=1, cutoff=0.7)
            remedy = f"did you mean {near[0]}?" if near else "it counts if a plugin brings it"
            why = f"no platform of that name is known; {remedy}"
        yield f"{setting}: {entry}: {why}"


def _bootstrap_warnings(config: Config, hooks: Sequence[Row]) -> Iterator[str]:
    if not any(row["name"] == "static_file_bootstrap" and row["enabled"] for row in hooks):
        return
    for file in config.hooks.bootstrap_context.include_static_files:
        if file.enabled and file.optional and not _is_readable(file.path):
            yield f"the file {file.path} cannot be read, so bootstrap_context leaves it out"


def _choice_advice(model: Row) -> Iterator[str]:
    if advice := model.get("auto", {}).get("advice"):
        yield advice


def _is_readable(path: Path | None) -> bool:
    return path is not None and path.is_file() and os.access(path, os.R_OK)


def model_problems(config: Config, model: Row) -> Iterator[str]:
    if not config.search.vector_weight:
        return  # nothing asks for vectors
    if model["available"] is False and not config.embeddings.endpoint.url:
        yield f"the model {model['name']} is not here; run: {model['get']}"


def index_problems(
    index: Stamp | None, drift: Freshness | None, damage: Mapping[str, str]
) -> Iterator[str]:
    if index is None and "index" not in damage:
        yield NO_INDEX
    if drift is not None and not drift.is_current:
        yield f"the vault has changed since the index ({drift.told()}); run: cortex index"


def vector_problems(
    state: State,
    config: Config,
    model: str,
    index: Stamp | None,
    vectors: Stamp | None,
    damage: Mapping[str, str],
) -> Iterator[str]:
    if vectors is None:
        is_wanted = config.search.vector_weight > 0
        if index is not None and "vectors" not in damage and is_wanted:
            yield "nothing has been embedded yet; run: cortex embed"
        return
    if index is not None and vectors.built_from != index.generation:
        yield "the vectors lag behind the index; run: cortex embed"
    elif not vectors.values.get("complete", True):
        yield "some chunks have no vectors yet; run: cortex embed"
    built_with = vectors.values["model"]
    if not _is_model(config, model, built_with, vectors.values["identity"]):
        told = config.embeddings.told(model)
        yield f"the vectors were built with {built_with}, config says {told}; run: cortex embed"
    cache = state.root / vectors.values["cache"]
    try:
        if whole_rows(cache, vectors.values["dimensions"]) < vectors.values["rows"]:
            yield f"{cache} has lost vectors; run: cortex embed"
        store = config.index.chroma_path
        if chroma.is_foreign(store):
            yield f"{store} is no Chroma store; name another folder in index.chroma_path"
        elif chroma.count(store) is None:
            yield f"{store} is missing or damaged; run: cortex embed"
    except OSError as error:
        yield f"{error.filename} cannot be read ({error.strerror}); mend that first"


def _is_model(config: Config, model: str, built_with: str, identity: str) -> bool:
    """Whether vectors are of the model in force, as far as names tell."""
    if identity.startswith("endpoint:") != bool(config.embeddings.endpoint.url):
        return False
    if model.startswith(_STAND_IN) and built_with.startswith(_STAND_IN):
        return True
    return model.rpartition("/")[2] == built_with.rpartition("/")[2]


def graph_problems(
    index: Stamp | None, graph: Stamp | None, damage: Mapping[str, str]
) -> Iterator[str]:
    if index is None or "graph" in damage:
        return
    if graph is None:
        yield "there is no graph yet; run: cortex graph build"
    elif graph.built_from != index.generation:
        yield "the graph lags behind the index; run: cortex graph build"


def copy_problems(state: State, stamps: Mapping[str, Stamp | None]) -> Iterator[str]:
    """Generations whose files are there, and no longer under their names in the state folder."""
    for kind, stamp in stamps.items():
        if stamp is None:
            continue
        for name in PUBLIC[kind]:
            path = state.root / name
            try:
                is_whole = path.stat().st_size == stamp.values["files"].get(name)
            except OSError:
                is_whole = False
            if not is_whole:
                yield f"{path} is missing or damaged; run: {COPIED_BY[kind]}"
