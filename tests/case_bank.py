"""Runs one case of the case bank: its folder becomes a world, its steps become answers.

The format is that of the bank's README.md. A step, a setting or a check that this runner does not
know is an `UnknownForm`, which fails the test: nothing a case demands is passed over in silence.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
import traceback
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from case_process import (
    FAILING_MODEL,
    NETWORK_WATCH,
    Process,
    Run,
    can_be_passed,
    lines_of,
    run_main,
    strace_prefix,
    without_network,
)

CHECKOUT = Path(__file__).resolve().parent.parent

INPUT_KEYS = {
    "steps", "parallel", "then", "unit", "lists", "k", "weights", "limits", "env", "config",
    "run_as", "network", "model", "embedder", "fault", "stdin", "tool_calls",
}  # fmt: skip
PLAIN_STEPS = {"index", "change.sh"}
STEP_KEYS = {
    "search", "context", "read_note", "hook", "config", "kill_during", "truncate_last_bytes",
    "remove", "overwrite_state", "sh",
}  # fmt: skip
PRODUCT_STEPS = {"index", "search", "context", "read_note", "hook", "kill_during"}
TOOL_VERBS = {
    "vault_search": "search",
    "vault_read_note": "read_note",
    "vault_build_context": "context",
}
PATIENCE_S = 300.0  # for a process of a case that sets no limit
# The real model reads about 17 passages a second: for a vault over this size the bank's stand-in.
REAL_MODEL_BYTES = 500_000

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
MODELS = {
    "default": DEFAULT_MODEL,
    "any fast stand-in": "hashing",
    "other-dimension": "hashing-128",
    "same-dimension": "hashing-384",
}
# A case's word for a setting -> where the setting stands, beside the settings' own names.
SETTINGS = {
    "exclude": "vault.exclude_folders",
    "excluded": "vault.exclude_folders",
    "ignore": "vault.exclude_folders",
    "include": "vault.include_folders",
    "included": "vault.include_folders",
    "symlinks": "vault.allow_symlinks_outside",
    "follow_symlinks": "vault.allow_symlinks_outside",
    "limit": "search.top_k",
    "threshold": "search.min_score",
    "k": "search.rrf_k",
    "hops": "search.wikilink_traversal",
    "half_life_days": "search.recency_half_life_days",
    "budget": "context_builder.token_budget",
    "budget_tokens": "context_builder.token_budget",
    "citations": "context_builder.cite_sources",
    "static_files": "context_builder.include_static_files",
}
# Words for settings that are switched on and off, some of them several at once.
SWITCHES = {
    "boosts": ("search.recency_boost", "search.importance_boost"),
    "boost": ("search.recency_boost", "search.importance_boost"),
    "recency": ("search.recency_boost",),
    "importance": ("search.importance_boost",),
}
CHANNEL_WORDS = {
    "bm25": "bm25",
    "keyword": "bm25",
    "keywords": "bm25",
    "lexical": "bm25",
    "vector": "vector",
    "vectors": "vector",
    "graph": "graph",
    "links": "graph",
}
# What a case may not set: where things stand in this runner's world.
WORLD_SETTINGS = {"vault.path", "index.chunks_path", "embeddings.cache_folder"}
WATCHED = {"watched"}
BLOCKED = {"blocked", "off", "none", "no", "unreachable", "refused", "down", "disabled", "offline"}
MODEL_FAILS = re.compile(
    r"(the )?(embedd\w*|model|encod\w*)( model)?( call)? "
    r"(raises|throws|fails|crashes)( an)?( error| exception)?( while \w+)?"
)
# A case's words for a part of the state -> what it is called on disk. Several lists: each must do.
STATE_PARTS: list[tuple[str, tuple[tuple[str, ...], ...]]] = [
    (
        r"(vector|embedding)\w*[ -]cache|^(the )?caches?$",
        (("vectors",), ("vectors.json", "vectors", "generations/vectors-*")),
    ),
    (r"\block", (("writer.lock",),)),
    (
        "vector store|vector (folder|database)|chroma",
        (
            ("chroma",),
            ("chroma", "chroma.json", "vectors.json", "vectors", "generations/vectors-*"),
        ),
    ),
    ("database|sqlite", (("chroma/chroma.sqlite3",), ("chroma",))),
    ("vector|embedding", (("vectors.json", "vectors", "generations/vectors-*"),)),
    ("chunk", (("chunks.jsonl",),)),
    ("note|metadata", (("notes.jsonl",),)),
    (
        "keyword|bm25|lexical|full.?text",
        (("generations/index-*/lexical",), ("generations/index-*", "index.json")),
    ),
    ("graph|link", (("graph.json", "graph_*.jsonl", "generations/graph-*"),)),
    ("index", (("index.json", "chunks.jsonl", "notes.jsonl", "generations/index-*"),)),
    ("generation", (("generations",),)),
    (r"stamp|pointer|manifest", (("index.json", "vectors.json", "graph.json", "chroma.json"),)),
    (
        r"state|everything|\ball\b|store",
        (("*.json", "*.jsonl", "chroma", "vectors", "generations"),),
    ),
]
STAMPS = ("index.json", "vectors.json", "graph.json", "chroma.json")


class UnknownForm(AssertionError):
    """A case says something that this runner cannot do or check."""


@dataclass(frozen=True)
class Case:
    folder: Path
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def input(self) -> Mapping[str, Any]:
        return self.spec.get("input") or {}

    @property
    def check(self) -> Mapping[str, Any]:
        return self.spec.get("check") or {}

    @property
    def steps(self) -> list[Any]:
        """All steps, wherever they stand."""
        return [step for key in ("steps", "parallel", "then") for step in self.input.get(key) or []]

    @property
    def kills(self) -> bool:
        return any(isinstance(step, dict) and "kill_during" in step for step in self.steps)

    @property
    def faults(self) -> list[str]:
        given = self.input.get("fault") or []
        return [given] if isinstance(given, str) else list(given)

    @property
    def model_fails(self) -> bool:
        return bool(self.faults) and all(
            MODEL_FAILS.fullmatch(str(fault).casefold()) for fault in self.faults
        )

    @property
    def network(self) -> str:
        """Watched, blocked, or "" for a case that says nothing of it."""
        if "network" not in self.input:
            return ""
        return "watched" if self.input["network"] in WATCHED else "blocked"

    @property
    def seconds(self) -> float | None:
        limit = (self.input.get("limits") or {}).get("seconds")
        return None if limit is None else float(limit)

    @property
    def memory_mib(self) -> float | None:
        return (self.input.get("limits") or {}).get("memory_mib")


def load_case(folder: Path) -> Case:
    return Case(folder, yaml.safe_load((folder / "case.yaml").read_text("utf-8")))


def load_cases(folder: Path) -> list[Case]:
    return [load_case(path.parent) for path in sorted(folder.glob("*/case.yaml"))]


def is_of_hooks(case: Case) -> bool:
    """Whether a case is one of test_hook_cases or, with broken input, of test_hook_command."""
    hooks = any(isinstance(step, dict) and "hook" in step for step in case.steps)
    return hooks or case.spec.get("action") == "hook" or "stdin" in case.input


def require_known_form(case: Case, check_keys: set[str]) -> None:
    """Raises UnknownForm for anything in the case that would not be done or not be checked."""

    def refuse(what: str, names: object) -> None:
        raise UnknownForm(f"{case.name}: unknown {what}: {names}")

    if unknown := set(case.check) - check_keys:
        refuse("check", sorted(unknown))
    if unknown := set(case.input) - INPUT_KEYS:
        refuse("input", sorted(unknown))
    if not case.check:
        refuse("check", "none at all")
    if unknown := set(case.input.get("limits") or {}) - {"seconds", "memory_mib"}:
        refuse("limit", sorted(unknown))
    if case.input.get("unit", "fuse") != "fuse":
        refuse("unit", case.input["unit"])
    if not {"unit", "tool_calls"} & set(case.input) and not case.steps:
        refuse("input", "neither steps nor unit nor tool calls")
    for call in case.input.get("tool_calls") or []:
        if not (isinstance(call, list) and len(call) == 2 and call[0] in TOOL_VERBS):
            refuse("tool call", call)
    if str(case.input.get("network", "watched")) not in WATCHED | BLOCKED | {"False"}:
        refuse("network", case.input["network"])
    if case.input.get("model", "missing") != "missing":
        refuse("model", case.input["model"])
    if case.input.get("embedder", "any fast stand-in") != "any fast stand-in":
        refuse("embedder", case.input["embedder"])
    if case.faults and not case.model_fails:
        refuse("fault", case.faults)  # the others that are known belong to hooks
    if case.model_fails and (
        case.input.get("embedder") or case.kills or case.input.get("parallel")
    ):
        refuse("fault", case.faults)  # it is made in the default model
    if (user := case.input.get("run_as")) is not None and not is_ordinary(user):
        refuse("run_as", user)
    apply_settings({}, case.input.get("config") or {})
    parallel = case.input.get("parallel") or []
    for step in case.steps:
        if not is_known_step(step, repeats=step in parallel):
            refuse("step", step)
        if isinstance(step, dict):
            require_known_arguments(step, refuse)
    for step in parallel:
        if step != "index" and not (isinstance(step, dict) and {"search", "sh"} & set(step)):
            refuse("step in parallel", step)


def is_known_step(step: Any, *, repeats: bool) -> bool:
    if isinstance(step, str):
        return step in PLAIN_STEPS
    if not isinstance(step, dict):
        return False
    verbs = set(step) - {"repeat"}
    if "repeat" in step and (not repeats or verbs != {"search"}):
        return False
    return len(verbs) == 1 and verbs <= STEP_KEYS


def require_known_arguments(step: Mapping[str, Any], refuse: Callable[[str, object], None]) -> None:
    allowed = {
        "search": {"query", "query_repeat", "limit", "filters"},
        "context": {"query", "query_repeat", "budget_tokens"},
        "read_note": {"path"},
    }
    for verb, keys in allowed.items():
        if verb in step and set(step[verb]) - keys:
            refuse(f"argument of {verb}", sorted(set(step[verb]) - keys))
    if "config" in step:
        apply_settings({}, step["config"])
    if step.get("kill_during", "index") != "index":
        refuse("step", step)


def is_ordinary(user: object) -> bool:
    """Whether a case's word for the user it runs as means one without special rights."""
    words = ("ordinary", "normal", "unprivileged", "user", "nobody", "non-root", "nonroot")
    return any(word in str(user).casefold() for word in words)


def apply_settings(settings: dict[str, Any], words: Mapping[str, Any]) -> None:
    """Put a case's settings, in its plain words, into those of a config file."""
    for word, value in words.items():
        if word == "model":
            if value not in MODELS:
                raise UnknownForm(f"unknown model in config: {value}")
            value = MODELS[value]
        for where, one in placed(word, value):
            if where in WORLD_SETTINGS:
                raise UnknownForm(f"unknown config key: {word} is not a case's to set")
            *sections, key = where.split(".")
            inner = settings
            for section in sections:
                inner = inner.setdefault(section, {})
            inner[key] = one


def placed(word: str, value: Any) -> Iterator[tuple[str, Any]]:
    """(section.key, value) of each setting that a case's word and value stand for."""
    from cortex.config.schema import SECTIONS

    name = re.sub(r"[ -]", "_", str(word).strip().casefold())
    known = known_settings()
    if name == "model":
        yield "embeddings.model", value
    elif name == "weights" and isinstance(value, dict) and set(value) <= set(CHANNEL_WORDS):
        for channel, weight in value.items():
            yield f"search.{CHANNEL_WORDS[channel]}_weight", weight
    elif name in SWITCHES and isinstance(switch(value), bool):
        for where in SWITCHES[name]:
            yield where, switch(value)
    elif (name in SECTIONS or f"{name}." in known) and isinstance(value, dict):
        for key, inner in value.items():
            yield from placed(f"{name}.{key}", inner)
    else:
        places = [SETTINGS[name]] if name in SETTINGS else []
        places = places or [one for one in known if name in (one, one.rsplit(".", 1)[1])]
        if len(places) != 1:
            raise UnknownForm(f"unknown config key: {word}, of settings {places}")
        is_list = known[places[0]]
        yield places[0], [value] if is_list and isinstance(value, str) else value


@cache
def known_settings() -> dict[str, bool]:
    """section.key of every real setting -> whether it is a list; "section.part." of a part."""
    from cortex.config.schema import SECTIONS

    def below(place: str, kind: Any) -> Iterator[tuple[str, bool]]:
        for item in fields(kind):
            if is_dataclass(item.default):
                yield f"{place}.{item.name}.", False
                yield from below(f"{place}.{item.name}", item.default)
            else:
                yield f"{place}.{item.name}", isinstance(item.default, tuple)

    return dict(pair for section, kind in SECTIONS.items() for pair in below(section, kind))


def switch(value: Any) -> Any:
    """on and off, however a case writes them; anything else as it is."""
    words = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
    return words.get(value.casefold(), value) if isinstance(value, str) else value


@dataclass
class Found:
    """One hit, whether the library or the command line gave it."""

    note: str
    id: str
    heading_path: tuple[str, ...]
    text: str
    snippet: str
    channels: frozenset[str]
    score: float
    meta: Mapping[str, Any]

    @property
    def surface(self) -> str:
        """All that a reader is shown of it, path aside."""
        return "\n".join((*self.heading_path, self.text, self.snippet))


@dataclass
class Cited:
    number: int
    note: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int


@dataclass
class Answer:
    """What one step of the product gave."""

    verb: str  # index, search, context, read_note
    step: Mapping[str, Any]
    era: int = 0  # how many steps had changed the world before
    exit: int = 0
    output: str = ""  # messages, warnings, logs, tracebacks; not the answer itself
    printed: list[str] = field(default_factory=list)  # stdout of `--json` commands
    crashed: bool = False  # an exception that is no CortexError, or a traceback
    timed_out: bool = False
    seconds: float = 0.0
    peak_mib: float = 0.0
    hits: list[Found] = field(default_factory=list)
    text: str = ""  # handed out by context or read_note
    size: int = 0  # characters of the whole answer
    tokens: int = 0
    citations: list[Cited] = field(default_factory=list)
    encoded: int | None = None  # texts that the model encoded in this index run
    vectors: int | None = None
    chunks: int | None = None

    @property
    def query(self) -> str:
        return query_of(self.step)


def query_of(step: Mapping[str, Any]) -> str:
    if "query_repeat" in step:
        text, count = step["query_repeat"]
        return str(text) * int(count)
    return str(step["query"])


@dataclass(frozen=True)
class Variant:
    """One way to take a step that a case leaves open."""

    kill_at: float = 0.0  # when to kill, as a share of the time an index run takes
    removal: int = 0  # which list of STATE_PARTS


def variants(case: Case) -> list[Variant]:
    """Kill at several moments; remove in each way that the words allow."""
    if case.kills:
        dice = random.Random(case.name)
        return [Variant(kill_at=(part + dice.random()) / 4) for part in range(4)]
    for step in case.steps:
        if isinstance(step, dict) and "remove" in step:
            words = step["remove"]
            ways = [ways_of(word) for word in ([words] if isinstance(words, str) else words)]
            return [Variant(removal=number) for number in range(max(map(len, ways)))]
    return [Variant()]


def ways_of(words: str) -> tuple[tuple[str, ...], ...]:
    """Names on disk for a part of the state; a name that is none of our words is its own."""
    if "." not in words and "/" not in words:
        for pattern, ways in STATE_PARTS:
            if re.search(pattern, words.casefold()):
                return ways
    return ((words,),)


class World:
    """A copy of a case with a state folder beside it, and the product at work in them."""

    def __init__(self, case: Case, base: Path, models: Path, variant: Variant = Variant()) -> None:
        self.case = case
        self.base = base
        self.root = base / "case"
        self.vault = self.root / "vault"
        self.state = base / "state"
        self.config = self.state / "config.yaml"
        self.cwd = base / "cwd"
        self.models = models
        self.variant = variant
        self.answers: list[Answer] = []
        self.era = 0
        self.kills = 0
        self.vault_changes: list[str] = []
        self.faults: list[str] = []  # what no check key says, and no case may show
        self.network_log = base / "network.log"
        self._cortex: Any = None
        self._index_s = 5.0
        self.settings: dict[str, Any] = {
            "vault": {"path": str(self.vault)},
            "embeddings": {"model": DEFAULT_MODEL, "cache_folder": str(models)},
        }
        if case.input.get("embedder"):
            self.settings["embeddings"]["model"] = MODELS[case.input["embedder"]]
        if case.input.get("model") == "missing":
            self.settings["embeddings"]["cache_folder"] = str(base / "no-models")

    # Building it

    def build(self) -> None:
        for folder in (self.state, self.cwd, self.base / "home", self.base / "no-models"):
            folder.mkdir(parents=True)
        shutil.copytree(self.case.folder, self.root, symlinks=True)
        if self.case.spec.get("setup"):
            self.run_script(self.case.spec["setup"])
        self.vault.mkdir(exist_ok=True)
        size = sum(file.lstat().st_size for file in files_below(self.vault))
        if size > REAL_MODEL_BYTES:
            self.settings["embeddings"]["model"] = MODELS["any fast stand-in"]
        apply_settings(self.settings, self.case.input.get("config") or {})
        self.write_config()

    def write_config(self) -> None:
        self.config.write_text(yaml.safe_dump(self.settings, allow_unicode=True), "utf-8")
        self._cortex = None

    def run_script(self, name: str) -> None:
        self.run_shell(["sh", name])

    def run_shell(self, command: Sequence[str]) -> None:
        done = subprocess.run(command, cwd=self.root, capture_output=True, timeout=PATIENCE_S)
        if done.returncode:
            raise RuntimeError(f"{command} of {self.case.name} failed: {done.stderr!r}")

    # How the product is driven

    @property
    def in_processes(self) -> bool:
        """Whether every step needs the command line in a process of its own."""
        asked = {"env", "network", "limits", "run_as", "model", "fault"} & set(self.case.input)
        return bool(asked) or self.case.spec.get("action") == "cli"

    @property
    def index_commands(self) -> list[list[str]]:
        """index, embed and graph build; embed with its figures if a check asks for them."""
        return [
            ["index"],
            ["embed", *(["--json"] if self.counts_texts else [])],
            ["graph", "build"],
        ]

    @property
    def counts_texts(self) -> bool:
        """Whether a check asks how many texts were encoded."""
        return bool({"reembedded_on_second_run", "all_reembedded"} & set(self.case.check))

    @property
    def asks_for_exit(self) -> bool:
        return bool({"exit", "exit_nonzero", "stdout_is_json"} & set(self.case.check))

    @property
    def cortex(self) -> Any:
        if self._cortex is None:
            from cortex import Cortex

            self._cortex = Cortex.open(self.config)
        return self._cortex

    # The steps

    def run(self) -> None:
        with contextlib.chdir(self.cwd):
            for step in self.case.input.get("steps") or []:
                self.take(step)
            if self.case.input.get("parallel"):
                self.take_in_parallel(self.case.input["parallel"])
            for step in self.case.input.get("then") or []:
                self.take(step)
            if self.case.input.get("tool_calls"):
                if not self.case.steps:
                    self.take("index")
                for name, arguments in self.case.input["tool_calls"]:
                    self.answers.append(self.call(name, arguments))

    def call(self, name: str, arguments: Any) -> Answer:
        """Call a tool of the agent, as the host does; an error is what it says of itself."""
        from cortex.plugin import Tools
        from cortex.runtime import Runtime

        given = arguments if isinstance(arguments, dict) else {}
        words = {"query": "", "path": given.get("note") or given.get("file") or given.get("path")}
        answer = Answer(TOOL_VERBS[name], {**words, **given}, self.era)
        with self.watched(answer):
            home = str(self.base / "home")
            tools = Tools(Runtime({"CORTEX_CONFIG": str(self.config), "HERMES_HOME": home}))
            raw = getattr(tools, name)(arguments, session_id="s", task_id="t")
            answer.printed, answer.size = [raw], len(raw)
            found = strict_json(raw)
            if found["success"]:
                fill_from_tool(answer, found)
            else:
                answer.exit = 2
                answer.output += found["error"]
        return answer

    def take(self, step: Any) -> None:
        verb = step if isinstance(step, str) else next(iter(set(step) & STEP_KEYS))
        argument = {} if isinstance(step, str) else step[verb]
        if verb in PRODUCT_STEPS:
            before = self.vault_digest()
            if verb == "kill_during":
                self.kill_index()
            else:
                self.answers.append(self.ask(verb, argument))
            if self.vault_digest() != before:
                self.vault_changes.append(f"{verb} changed the vault")
        else:
            self.change(verb, argument)
        if verb not in {"search", "context", "read_note"}:
            self.era += 1

    def change(self, verb: str, argument: Any) -> None:
        if verb == "change.sh":
            self.run_script("change.sh")
        elif verb == "sh":
            self.run_shell(["sh", "-c", argument])
        elif verb == "config":
            apply_settings(self.settings, argument)
            self.write_config()
        elif verb == "remove":
            self.remove(argument)
        elif verb == "truncate_last_bytes":
            self.truncate(*argument)
        elif verb == "overwrite_state":
            self.overwrite(argument)
        else:
            raise UnknownForm(f"{self.case.name}: unknown step: {verb}")

    def remove(self, words: str | Sequence[str]) -> None:
        for word in [words] if isinstance(words, str) else words:
            if re.fullmatch(r"(the )?(model|weights)( files?| folder| weights)?", word.casefold()):
                self.remove_model()
                continue
            ways = ways_of(word)
            names = ways[min(self.variant.removal, len(ways) - 1)]
            found = [path for name in names for path in self.places(name)]
            if not found:
                raise UnknownForm(f"{self.case.name}: nothing to remove for {word!r}")
            for path in found:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def remove_model(self) -> None:
        """The weights are everybody's, so the world looks for them where there are none."""
        if self.settings["embeddings"]["model"] != DEFAULT_MODEL:
            raise UnknownForm(f"{self.case.name}: a stand-in has no weights to remove")
        self.settings["embeddings"]["cache_folder"] = str(self.base / "no-models")
        self.write_config()

    def truncate(self, word: str, count: int) -> None:
        files = [
            file
            for name in ways_of(word)[0]
            for place in self.places(name)
            for file in files_below(place)
        ]
        if not files:
            raise UnknownForm(f"{self.case.name}: no file to cut for {word!r}")
        for file in files:
            os.truncate(file, max(0, file.stat().st_size - count))

    def overwrite(self, argument: str | Mapping[str, str]) -> None:
        if isinstance(argument, str):
            argument = dict.fromkeys(STAMPS, argument)
        for name, text in argument.items():
            for path in self.places(name) or [self.state / name]:
                path.write_text(text, "utf-8")

    def places(self, pattern: str) -> list[Path]:
        """What lies under a name in the state folder, in a generation, beside or in the vault.

        Where none has it, what lies anywhere below the state folder, as a store's own file.
        """
        for base in (self.state, self.state / "generations", self.root, self.vault):
            found = sorted(base.glob(pattern))
            if not found and base.name == "generations":
                found = sorted(base.glob(f"*/{pattern}"))
            if found:
                return found
        return sorted(self.state.rglob(pattern))

    def ask(self, verb: str, argument: Mapping[str, Any]) -> Answer:
        """Do one step of the product, by the door that the case asks for."""
        answer = Answer(verb, argument, self.era)
        started = time.monotonic()
        if verb == "index":
            by_commands = self.in_processes or self.asks_for_exit
            (self.index_by_commands if by_commands else self.index_by_library)(answer)
            self._index_s = time.monotonic() - started
        elif self.in_processes and fits_a_command(verb, argument):
            self.ask_by_command(answer)
        else:
            self.ask_by_library(answer)
        answer.seconds = time.monotonic() - started
        return answer

    def index_by_library(self, answer: Answer) -> None:
        with self.watched(answer):
            report = self.cortex.index()
            answer.output += "".join(f"{problem}\n" for problem in report.problems)
            vectors = self.cortex.embed()
            answer.encoded, answer.vectors = vectors.encoded, vectors.vectors
            answer.chunks = vectors.chunks
            self.cortex.build_graph()

    def ask_by_library(self, answer: Answer) -> None:
        from cortex.errors import CortexError

        step = answer.step
        with self.watched(answer):
            if answer.verb == "search":
                asked = {}
                if "limit" in step:
                    asked["top_k"] = step["limit"]
                if "filters" in step:
                    asked["filters"] = filters_of(step["filters"])
                fill_from_result(answer, self.cortex.search(query_of(step), **asked))
            elif answer.verb == "context":
                asked = {"budget": step["budget_tokens"]} if "budget_tokens" in step else {}
                fill_from_context(answer, self.cortex.build_context(query_of(step), **asked))
            elif answer.verb == "read_note":
                told = self.call("vault_read_note", {"note": step["path"]})
                answer.output += told.output
                if told.crashed:
                    self.faults.append(f"the tool failed at {step['path']!r}: {told.output}")
                try:
                    part = self.cortex.read_note(step["path"])
                except CortexError:
                    if not told.exit:
                        self.faults.append(f"the tool alone gave {step['path']!r}: {told.text!r}")
                    raise
                answer.text, answer.size = part.text, len(part.text)
                if told.exit:
                    self.faults.append(f"the tool alone refused {step['path']!r}: {told.output}")
            else:
                raise UnknownForm(f"{self.case.name}: unknown step: {answer.verb}")

    @contextlib.contextmanager
    def watched(self, answer: Answer) -> Iterator[None]:
        """Turn what is raised, printed and logged into the answer's exit and output."""
        from cortex.errors import CortexError

        printed = io.StringIO()
        handler = logging.StreamHandler(printed)
        logging.getLogger().addHandler(handler)
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                yield
        except CortexError as error:
            answer.exit = error.exit_code
            answer.output += f"{error}\n"
        except Exception:
            answer.exit, answer.crashed = 1, True
            answer.output += traceback.format_exc()
        finally:
            logging.getLogger().removeHandler(handler)
            answer.output += printed.getvalue()

    def index_by_commands(self, answer: Answer) -> None:
        """index, embed and graph build, each even if the one before it failed, as in a script."""
        for command in self.index_commands:
            run = self.run_command(command, answer)
            answer.exit = answer.exit or run.exit
            answer.output += run.stdout + run.stderr
            fill_from_embedding(answer, command, run)
            if run.timed_out:
                return

    def ask_by_command(self, answer: Answer) -> None:
        run = self.run_command(command_of(answer.verb, answer.step), answer)
        answer.exit = run.exit
        answer.output += run.stderr
        if run.exit:
            answer.output += run.stdout
            return
        answer.printed.append(run.stdout)
        fill_from_printed(answer, run.stdout)

    def run_command(self, arguments: Sequence[str], answer: Answer) -> Run:
        whole = ["--config", str(self.config), *arguments]
        run = self.run_process(whole) if self.in_processes else run_main(whole)
        answer.timed_out |= run.timed_out
        answer.peak_mib = max(answer.peak_mib, run.peak_mib)
        answer.crashed |= is_crash(run)
        return run

    # Processes

    def run_process(self, arguments: Sequence[str]) -> Run:
        """`python -m cortex.cli`, within what is left of the case's seconds."""
        limit = PATIENCE_S
        if self.case.seconds is not None:
            limit = max(1.0, self.case.seconds - sum(answer.seconds for answer in self.answers))
        process = self.start_process(arguments)
        return process.finish(limit)

    def start_process(self, arguments: Sequence[str]) -> Process:
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CORTEX_", "HERMES_", "HF_", "PYTEST_"))
        }
        environment["HOME"] = str(self.base / "home")
        environment["PYTHONPATH"] = str(CHECKOUT)
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        as_ordinary = is_root and "run_as" in self.case.input
        command: list[str | bytes] = [sys.executable, "-m", "cortex.cli"]
        before: list[str] = []
        if self.case.network:
            environment["PYTHONPATH"] = f"{self.network_watch()}{os.pathsep}{CHECKOUT}"
            environment["CORTEX_CASE_NETWORK_LOG"] = str(self.network_log)
            if self.case.network == "blocked" and not as_ordinary:
                before += without_network()
            if self.case.network == "watched" or "no_network" in self.case.check:
                before += strace_prefix(self.base / "strace")
        environment.update(
            {name: str(value) for name, value in (self.case.input.get("env") or {}).items()}
        )
        typed = b""
        if self.case.model_fails or not can_be_passed(arguments):
            # Too long for an argument of a process, or with a NUL: the same main, the same list.
            typed = json.dumps(list(arguments)).encode()
            command[-2:] = [
                "-c",
                (FAILING_MODEL if self.case.model_fails else "")
                + "import json, sys; from cortex.cli import main; "
                + "sys.exit(main(json.load(sys.stdin)))",
            ]
        else:
            command += [os.fsencode(argument) for argument in arguments]
        return Process([*before, *command], self.cwd, environment, typed, as_ordinary)

    def network_watch(self) -> Path:
        """A folder whose sitecustomize notes and refuses every connection that Python tries."""
        folder = self.base / "watch"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(NETWORK_WATCH, "utf-8")
        return folder

    def network_tries(self) -> list[str]:
        tries = lines_of(self.network_log.read_text("utf-8")) if self.network_log.exists() else []
        for log in sorted(self.base.glob("strace*")):
            said = lines_of(log.read_text("utf-8", "replace"))
            tries += [line for line in said if "AF_INET" in line]
        return tries

    def kill_index(self) -> None:
        """Start index, embed and graph build as processes and kill what runs after a while."""
        # A process starts up first, which the measured time of an earlier run may not include.
        deadline = time.monotonic() + self.variant.kill_at * (self._index_s + 2.0)
        for command in (["index"], ["embed"], ["graph", "build"]):
            process = self.start_process(["--config", str(self.config), *command])
            if not process.wait_until(deadline):
                process.kill()
                self.kills += 1
                return
            run = process.finish(1.0)
            if run.exit:
                raise AssertionError(f"{command} failed before it was killed: {run.stderr}")

    def take_in_parallel(self, items: Sequence[Any]) -> None:
        """Do all of them at once; searches go on until the index run has ended."""
        indexed_before = any(answer.verb == "index" for answer in self.answers)
        words_before, state_before = self.vault_words(), self.state_listing()
        ended = threading.Event()
        with ThreadPoolExecutor(len(items)) as pool:
            at_work = []
            for item in items:
                if item == "index":
                    at_work.append(pool.submit(self.index_beside))
                elif "search" in item:
                    at_work.append(pool.submit(self.search_beside, item, ended))
                else:
                    at_work.append(pool.submit(self.shell_beside, item, ended, state_before))
            wait([work for item, work in zip(items, at_work, strict=True) if item == "index"])
            ended.set()
        words_after = self.vault_words()
        words = [word for word in words_before.split() if word in words_after]
        for work in at_work:
            answers = work.result()
            self.answers += answers
            if indexed_before:
                self.faults += unanswered(answers, " ".join(words))
        self.era += 1

    def index_beside(self) -> list[Answer]:
        answer = Answer("index", {}, self.era)
        started = time.monotonic()
        for command in self.index_commands:
            run = self.run_process(["--config", str(self.config), *command])
            answer.exit = answer.exit or run.exit
            answer.output += run.stdout + run.stderr
            fill_from_embedding(answer, command, run)
            answer.crashed |= is_crash(run)
        answer.seconds = time.monotonic() - started
        return [answer]

    def search_beside(self, item: Mapping[str, Any], ended: threading.Event) -> list[Answer]:
        answers: list[Answer] = []
        while len(answers) < item.get("repeat", 1) or not ended.is_set():
            answer = Answer("search", item["search"], self.era)
            by_command = len(answers) % 25 == 3
            (self.ask_in_process if by_command else self.ask_by_library)(answer)
            answers.append(answer)
            time.sleep(0.02)
        return answers

    def shell_beside(
        self, item: Mapping[str, Any], ended: threading.Event, before: list[str]
    ) -> list[Answer]:
        while not ended.is_set() and self.state_listing() == before:
            time.sleep(0.005)  # until the index run has begun to write
        self.run_shell(["sh", "-c", item["sh"]])
        return []

    def ask_in_process(self, answer: Answer) -> None:
        run = self.run_process(
            ["--config", str(self.config), *command_of(answer.verb, answer.step)]
        )
        answer.exit = run.exit
        answer.output += run.stderr
        answer.crashed |= is_crash(run)
        if not run.exit:
            fill_from_printed(answer, run.stdout)

    def state_listing(self) -> list[str]:
        folders = (self.state, self.state / "generations")
        return [
            f"{path}:{path.stat().st_mtime_ns if path.is_dir() else 0}"
            for folder in folders
            if folder.is_dir()
            for path in sorted(folder.iterdir())
        ]

    # What a check asks of it

    def vault_digest(self) -> dict[str, str]:
        """Each path in the vault -> its kind, and what it holds."""
        if "vault_unchanged" not in self.case.check:
            return {}
        found = {}
        for path in sorted(self.vault.rglob("*")):
            mode = path.lstat().st_mode
            content = ""
            if stat.S_ISREG(mode):
                content = sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(mode):
                content = os.readlink(path)
            found[str(path)] = f"{stat.S_IFMT(mode)}:{content}:{path.lstat().st_mtime_ns}"
        return found

    def vault_words(self) -> str:
        """All text and names in the vault, folded for looking a word up."""
        parts = []
        for path in self.vault.rglob("*"):
            parts.append(path.name)
            if stat.S_ISREG(path.lstat().st_mode):
                parts.append(path.read_bytes().decode("utf-8", "replace"))
        return plain("\n".join(parts))

    def records(self, name: str) -> list[Any]:
        """The records of one of the files that Cortex built."""
        path = self.state / name
        if not path.is_file():
            raise AssertionError(f"the state folder has no {name}")
        return [strict_json(line) for line in path.read_bytes().split(b"\n") if line]

    def probe(self, query: str, **asked: Any) -> list[Found]:
        """A search that is no step of the case."""
        answer = Answer("search", {"query": query})
        with self.watched(answer):
            fill_from_result(answer, self.cortex.search(query, **asked))
        if answer.exit:
            raise AssertionError(f"searching {query!r} failed: {answer.output}")
        return answer.hits

    def rebuilt(self, number: int) -> World:
        """The same vault, indexed from nothing into another state folder."""
        other = World(self.case, self.base, self.models, self.variant)
        other.settings = self.settings
        other.state = self.base / f"state-{number}"
        other.config = other.state / "config.yaml"
        other.state.mkdir()
        other.write_config()
        answer = Answer("index", {})
        other.index_by_library(answer)
        if answer.exit:
            raise AssertionError(f"indexing again failed: {answer.output}")
        return other


def unanswered(answers: Sequence[Answer], words: str) -> list[str]:
    """Searches that found nothing although the vault held all their words at any time."""
    empty = [
        answer
        for answer in answers
        if answer.verb == "search"
        and not answer.hits
        and all(word in words for word in plain(answer.query).split())
    ]
    return (
        [f"{len(empty)} of {len(answers)} searches while indexing found nothing"] if empty else []
    )


def fits_a_command(verb: str, step: Mapping[str, Any]) -> bool:
    """Whether the command line has a way to say this; null filters and limits are a library's."""
    if verb != "search":
        return True
    if "limit" in step and step["limit"] is None:
        return False
    values = (step.get("filters") or {}).values()
    return not any(value is None or value == [] for value in values)


def command_of(verb: str, step: Mapping[str, Any]) -> list[str]:
    if verb == "search":
        command = ["search", "--json"]
        if "limit" in step:
            command += ["--top-k", str(step["limit"])]
        for name, value in filters_of(step.get("filters") or {}).items():
            for one in value if isinstance(value, list) else [value]:
                text = json.dumps(one) if isinstance(one, bool) else str(one)
                command += ["--filter", f"{name}={text}"]
        return [*command, "--", query_of(step)]
    if verb == "context":
        command = ["context", "--json"]
        if "budget_tokens" in step:
            command += ["--budget", str(step["budget_tokens"])]
        return [*command, "--", query_of(step)]
    return ["read", "--json", "--", step["path"]]


def filters_of(filters: Mapping[str, Any]) -> dict[str, Any]:
    """A case's filters under the names that Cortex has for them."""
    found = dict(filters)
    for word, name in (("tags", "tags_any"), ("folder", "folders")):
        if word in found:
            value = found.pop(word)
            found[name] = value if isinstance(value, list) else [value]
    return found


def fill_from_result(answer: Answer, result: Any) -> None:
    answer.hits = [
        Found(
            note=hit.chunk.note,
            id=hit.chunk.id,
            heading_path=tuple(hit.chunk.heading_path),
            text=hit.chunk.text,
            snippet=hit.snippet,
            channels=frozenset(hit.trace.channels),
            score=hit.score,
            meta=hit.meta,
        )
        for hit in result.hits
    ]
    answer.size = sum(len(hit.surface) + len(hit.note) for hit in answer.hits)
    answer.output += "".join(f"{missing.what}: {missing.why}\n" for missing in result.unavailable)
    answer.output += "".join(f"{warning}\n" for warning in result.warnings)


def fill_from_context(answer: Answer, context: Any) -> None:
    answer.text, answer.size, answer.tokens = context.text, len(context.text), context.tokens
    answer.citations = [
        Cited(cited.number, cited.note, tuple(cited.heading_path), cited.start_line, cited.end_line)
        for cited in context.citations
    ]
    answer.output += "".join(f"{missing.what}: {missing.why}\n" for missing in context.unavailable)
    answer.output += "".join(f"{warning}\n" for warning in context.warnings)


def fill_from_tool(answer: Answer, found: Mapping[str, Any]) -> None:
    """The same, from the answer of a tool."""
    answer.text = found.get("text") or found.get("context") or ""
    answer.tokens = found.get("tokens", 0)
    answer.hits = [
        Found(
            note=hit["note"],
            id=f"{hit['note']}:{hit['lines']}",
            heading_path=tuple((hit.get("heading") or "").split(" > ")),
            text=hit.get("text", ""),
            snippet=hit.get("snippet", ""),
            channels=frozenset(re.findall(r"(\w+) #", hit.get("why", ""))),
            score=hit.get("score", 0.0),
            meta=hit.get("frontmatter", {}),
        )
        for hit in found.get("results", ())
    ]


def fill_from_embedding(answer: Answer, command: Sequence[str], run: Run) -> None:
    """What `cortex embed` says that it did, as JSON or in a sentence."""
    if command[0] != "embed" or run.exit:
        return
    if "--json" in command:
        report = strict_json(run.stdout)
        answer.encoded, answer.vectors = report["encoded"], report["vectors"]
        answer.chunks = report["chunks"]
    elif said := re.search(r"([\d,]+) vectors? for ([\d,]+) chunks?: ([\d,]+) encoded", run.stdout):
        numbers = [int(number.replace(",", "")) for number in said.groups()]
        answer.vectors, answer.chunks, answer.encoded = numbers


def fill_from_printed(answer: Answer, printed: str) -> None:
    """The same, from what a `--json` command printed."""
    answer.size = len(printed)
    data = strict_json(printed)
    if answer.verb == "search":
        answer.hits = [
            Found(
                note=hit["file"],
                id=hit["chunk_id"],
                heading_path=tuple(hit["heading_path"]),
                text=hit["text"],
                snippet=hit["snippet"],
                channels=frozenset(hit["trace"]["channels"]),
                score=hit["score"],
                meta=hit["frontmatter"],
            )
            for hit in data["results"]
        ]
    else:
        answer.text = data["text"]
    if answer.verb == "context":
        answer.tokens = data["tokens"]
        answer.citations = [
            Cited(
                cited["number"],
                cited["note"],
                tuple(cited["heading_path"]),
                cited["start_line"],
                cited["end_line"],
            )
            for cited in data["citations"]
        ]


def is_crash(run: Run) -> bool:
    """Whether a command ended by a bug of its own, told with a traceback or in a sentence."""
    said = run.stderr + run.stdout
    return "Traceback (most recent call last)" in said or "this is a bug in Cortex" in said


def files_below(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return [file for file in sorted(path.rglob("*")) if file.is_file()]


def strict_json(text: str | bytes) -> Any:
    """JSON without NaN and infinities, in UTF-8."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def run_fuse(case: Case) -> list[tuple[str, float]]:
    """`unit: fuse`: the case's lists, fused by the product, each list with the same weight."""
    from cortex.search.fusion import reciprocal_rank_fusion

    lists = {chr(ord("a") + number): ranked for number, ranked in enumerate(case.input["lists"])}
    weights = case.input.get("weights") or dict.fromkeys(lists, 1.0)
    if isinstance(weights, list):
        weights = dict(zip(lists, weights, strict=True))
    return list(reciprocal_rank_fusion(lists, weights=weights, k=case.input.get("k", 60)))
