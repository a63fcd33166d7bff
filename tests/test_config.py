"""Settings: where they are found, what they may be, and what is said when they are wrong."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cortex.config import Config, ContextBuilderConfig, StaticFile, load, require_vault
from cortex.config.render import commented
from cortex.errors import ConfigError, UsageError
from cortex.home import chosen, find


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    return tmp_path


def config(home: Path, text: str | bytes, **env: str) -> Config:
    """The settings that `text` gives when it is the config."""
    file = home / "config.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load(file, {"HOME": str(home), **env})


def complaint(home: Path, text: str | bytes) -> str:
    """What is said about the config `text`, without the name of the file in front."""
    with pytest.raises(ConfigError) as caught:
        config(home, text)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{home / 'config.yaml'}: ")
    return message.removeprefix(f"{home / 'config.yaml'}: ")


def test_an_empty_file_gives_every_default(home: Path) -> None:
    settings = config(home, "")
    assert settings.vault.path is None
    assert settings.vault.include_folders == ()
    assert settings.index.collection == "cortex-vault"
    assert settings.embeddings.model == "auto"
    assert settings.embeddings.local_files_only == "auto"
    assert settings.embeddings.endpoint.url == ""
    search = settings.search
    assert (search.top_k, search.rrf_k, search.fetch_multiplier) == (20, 60, 6)
    assert (search.bm25_weight, search.vector_weight, search.graph_weight) == (0.5, 0.5, 0.2)
    assert (search.rank, search.lexical_engine, search.vector_engine) == (
        "calibrated",
        "tantivy",
        "auto",
    )
    assert settings.context_builder.token_budget == 4000


def test_what_cortex_builds_lies_beside_the_config(home: Path) -> None:
    settings = config(home, "vault:\n  path: notes\n")
    assert settings.path == home / "config.yaml"
    assert settings.state == home
    assert settings.vault.path == home / "notes"
    assert settings.index.chunks_path == home / "chunks.jsonl"
    assert settings.index.chroma_path == home / "chroma"
    assert settings.embeddings.cache_folder == home / "models"


def test_the_state_folder_is_that_of_the_chunks(home: Path) -> None:
    settings = config(home, "index:\n  chunks_path: built/chunks.jsonl\n")
    assert settings.state == home / "built"
    assert settings.index.chroma_path == home / "built" / "chroma"
    assert settings.embeddings.cache_folder == home / "built" / "models"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("~/notes", "/home/ada/notes"),
        ("'~'", "/home/ada"),
        ("$WORK/notes", "/srv/notes"),
        ("${WORK}s/notes", "/srvs/notes"),
        ("/a/$NOT_SET/b", "/a/$NOT_SET/b"),
        ("/a/$$WORK/b", "/a/$WORK/b"),
        ("/a/b/../c", "/a/c"),
        ("2024", "{folder}/2024"),
        ("no", "{folder}/no"),
        ('"C#: notes #1"', "{folder}/C#: notes #1"),
    ],
)
def test_paths_are_read_as_people_write_them(home: Path, written: str, meant: str) -> None:
    (home / "config.yaml").write_text(f"vault:\n  path: {written}\n")
    settings = load(home / "config.yaml", {"HOME": "/home/ada", "WORK": "/srv"})
    assert str(settings.vault.path) == meant.format(folder=home)


def test_a_model_that_is_a_folder_is_a_path_too(home: Path) -> None:
    assert config(home, "embeddings:\n  model: ~/minilm\n").embeddings.model == f"{home}/minilm"
    assert config(home, "embeddings:\n  model: BAAI/bge-m3\n").embeddings.model == "BAAI/bge-m3"


@pytest.mark.parametrize(
    ("written", "value"),
    [("true", True), ("'Yes'", True), ("on", True), ("1", True), ("No", False), ("off", False)],
)
def test_yes_and_no_are_booleans(home: Path, written: str, value: bool) -> None:
    assert config(home, f"search:\n  recency_boost: {written}\n").search.recency_boost is value


def test_numbers_may_be_quoted_and_a_null_is_the_default(home: Path) -> None:
    search = config(home, "search:\n  top_k: '7'\n  rrf_k: 10.0\n  graph_weight: null\n").search
    assert (search.top_k, search.rrf_k, search.graph_weight) == (7, 10, 0.2)


def test_local_files_only_is_auto_or_a_boolean(home: Path) -> None:
    for written, value in (("auto", "auto"), ("true", True), ("no", False)):
        settings = config(home, f"embeddings:\n  local_files_only: {written}\n")
        assert settings.embeddings.local_files_only == value
    assert complaint(home, "embeddings:\n  local_files_only: maybe\n") == (
        "line 2: embeddings.local_files_only must be true or false or auto, found 'maybe'"
    )


def test_folder_names_that_yaml_takes_for_other_things_stay_names(home: Path) -> None:
    settings = config(home, "vault:\n  include_folders: [10_facts, 2024, 007, no, 2024-01-01]\n")
    assert settings.vault.include_folders == ("10_facts", "2024", "007", "no", "2024-01-01")


def test_sections_of_other_parts_are_let_pass(home: Path) -> None:
    text = "loop: 1\n"
    assert config(home, text).search.top_k == 20


def test_what_is_injected_by_default_is_what_the_seed_has(home: Path) -> None:
    inject = config(home, "").inject
    assert not inject.enabled
    assert (inject.max_overlap, inject.min_chars, inject.closers) == (0.85, 6, ())
    assert inject.vault.threshold == 0.55
    sources = (inject.fabric, inject.vault, inject.sessions, inject.facts)
    assert [source.top_k for source in sources] == [3, 2, 2, 3]
    assert all(source.enabled for source in sources)
    assert sum(source.share for source in sources) == 1
    assert inject.sessions.min_token_chars == 4


def test_the_sources_are_set_each_below_its_name(home: Path) -> None:
    text = """
inject:
  enabled: true
  closers: [over and out, jau]
  fabric: {path: ~/fabric, top_k: 5}
  sessions: {enabled: false, state_db_path: ./state.db}
  facts: {types: [fact, rule], memory_store_path: $HOME/memory_store.db}
"""
    inject = config(home, text).inject
    assert inject.closers == ("over and out", "jau")
    assert (inject.fabric.path, inject.fabric.top_k) == (home / "fabric", 5)
    assert not inject.sessions.enabled and inject.sessions.state_db_path == home / "state.db"
    assert inject.facts.types == ("fact", "rule")
    assert inject.facts.memory_store_path == home / "memory_store.db"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("inject: 1", "inject must hold settings, found '1'"),
        ("inject: {max_overlap: 1.1}", "inject.max_overlap must be at most 1, found 1.1"),
        ("inject: {closers: jau}", "inject.closers must be a list, e.g. [jau]"),
        ("inject: {vault: {treshold: 0.5}}", "did you mean threshold?"),
        ("inject: {vault: {threshold: high}}", "inject.vault.threshold must be a number"),
        ("inject: {facts: {share: 0}}", "inject.facts.share must be more than 0, found 0"),
        ("inject: {fabric: {top_k: 0}}", "inject.fabric.top_k must be at least 1, found 0"),
        ("inject: {top_k: 3}", "did you mean vault.top_k, fabric.top_k, sessions.top_k or facts"),
        ("inject: {min_trust: 0.5}", "inject.min_trust is not a setting; did you mean facts.min_t"),
        ("inject: {closers: ['!!!']}", "inject.closers must be phrases of words, found '!!!'"),
        ("inject: {closers: ['and the boiler?']}", "leave the question mark out"),
    ],
)
def test_what_is_wrong_below_inject_is_named_with_its_place(
    home: Path, text: str, told: str
) -> None:
    with pytest.raises(ConfigError) as error:
        config(home, text)
    assert told in str(error.value)


def test_jobs_are_off_in_the_zone_of_the_system_and_have_no_shell_unless_set(home: Path) -> None:
    cron = config(home, "").cron
    jobs = (cron.nightly_promotion, cron.weekly_review, cron.maintenance)
    assert [job.enabled for job in jobs] == [False, False, False]
    assert [job.schedule for job in jobs] == ["0 2 * * *", "0 8 * * 1", "30 3 * * *"]
    assert cron.nightly_promotion.timezone == cron.weekly_review.timezone == ""
    assert cron.nightly_promotion.enabled_toolsets == ("cortex",)
    assert (cron.nightly_promotion.state_db_path, cron.nightly_promotion.session_globs) == (
        None,
        (),
    )


def test_the_jobs_of_an_older_file_are_read_as_they_stand(home: Path) -> None:
    cron = config(
        home,
        """
cron:
  nightly_promotion:
    enabled: true
    name: hermes-cortex-nightly-promotion
    schedule: "0 2 * * *"
    timezone: Europe/Berlin
    deliver: origin
    enabled_toolsets: [file, terminal]
    lookback_days: 1
    state_db_path: $HERMES_HOME/state.db
    legacy_fallback_enabled: true
    session_globs: [$HERMES_HOME/sessions/*.jsonl, $HERMES_HOME/sessions/session_*.json]
    dry_run_first: true
  weekly_review:
    output_format: markdown
    stale_min_importance: 3.5
""",
        HERMES_HOME="/h",
    ).cron
    nightly = cron.nightly_promotion
    assert (nightly.enabled, nightly.timezone) == (True, "Europe/Berlin")
    assert nightly.state_db_path == Path("/h/state.db")
    assert nightly.session_globs == (
        Path("/h/sessions/*.jsonl"),
        Path("/h/sessions/session_*.json"),
    )
    assert cron.weekly_review.stale_min_importance == 3.5


def test_no_two_jobs_have_one_name(home: Path) -> None:
    names = "cron: {maintenance: {name: Upkeep}, weekly_review: {name: upkeep}}"
    assert complaint(home, names) == (
        "line 1: cron.maintenance.name must not be that of cron.weekly_review.name"
    )


def test_all_that_is_wrong_with_the_jobs_is_told_at_once(home: Path) -> None:
    assert complaint(
        home,
        """
cron:
  nightly_promotion:
    name: ""
    schedule: "0 2 * *"
    timezone: Europe/Nowhere
    lookback_days: 0
    enabled_toolsets: []
  weekly_review:
    schedule: "60 8 * * 1"
    output_format: html
    stale_days: -1
  maintenance:
    shedule: 1
""",
    ).split("; line ") == [
        "line 4: cron.nightly_promotion.name must be some text of at most 100 characters, on one "
        "line, found ''",
        "5: cron.nightly_promotion.schedule must have 5 or 6 cron fields such as '0 2 * * *', "
        "found '0 2 * *'",
        "6: cron.nightly_promotion.timezone must be a time zone such as Europe/Paris, empty for "
        "the system's, found 'Europe/Nowhere'",
        "7: cron.nightly_promotion.lookback_days must be at least 1 days, found 0",
        "8: cron.nightly_promotion.enabled_toolsets must name a toolset, e.g. [cortex]; for no "
        "model at all set model: false",
        "10: cron.weekly_review.schedule must have numbers from 0 to 59 for the minute, found '60'",
        "11: cron.weekly_review.output_format must be markdown, found 'html'",
        "12: cron.weekly_review.stale_days must be at least 1 days, found -1",
        "14: cron.maintenance.shedule is not a setting; did you mean schedule?",
    ]


@pytest.mark.parametrize(
    ("schedule", "is_one"),
    [
        ("*/5 * * * *", True),
        ("0 2,14 1-15/2 * 1-5", True),
        ("0 2 * * * 30", True),
        ("0 0 29 2 *", True),
        ("0 0 30 2 *", False),
        ("0 0 31 4,6 *", False),
        ("0 0 31 4,6 1", True),  # the weekday will do
        ("0 2 * * MON", False),  # the scheduler takes no names
        ("@daily", False),
        ("0 24 * * *", False),
        ("5-1 * * * *", False),
        ("*/0 * * * *", False),
        ("0 2 * * * * *", False),
        ("٣ 2 * * *", False),
    ],
)
def test_a_schedule_is_what_the_scheduler_takes(home: Path, schedule: str, is_one: bool) -> None:
    text = f"cron: {{maintenance: {{schedule: '{schedule}'}}}}\n"
    if is_one:
        assert config(home, text).cron.maintenance.schedule == schedule
    else:
        assert "cron.maintenance.schedule must" in complaint(home, text)


def test_hooks_have_blocks_within_them_and_one_that_is_given_can_be_told(home: Path) -> None:
    settings = config(
        home,
        """
hooks:
  deadline_ms: 400
  platforms: [local, telegram]
  dynamic_context: {enabled: true, budget: 800, query: ~}
  bootstrap_context:
    enabled: yes
    include_static_files:
      - {label: Soul, path: SOUL.md, optional: false}
  recent_context: {state_db_path: $HERMES_HOME/state.db}
tools: {max_result_chars: 8000}
logging: {level: WARNING}
""",
        HERMES_HOME="/h",
    )
    hooks = settings.hooks
    assert (hooks.deadline_ms, hooks.platforms) == (400, ("local", "telegram"))
    assert (hooks.dynamic_context.enabled, hooks.dynamic_context.budget) == (True, 800)
    assert (hooks.skill_context.enabled, hooks.skill_context.when) == (True, "each_turn")
    assert hooks.bootstrap_context.include_static_files == (
        StaticFile(label="Soul", path=home / "SOUL.md", optional=False),
    )
    assert hooks.recent_context.state_db_path == Path("/h/state.db")
    assert (settings.tools.max_result_chars, settings.logging.level) == (8000, "warning")
    assert "hooks.dynamic_context" in settings.given
    assert "hooks.skill_context" not in settings.given


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hooks: on\n", "line 1: hooks must hold settings, found 'on'"),
        ("tools: 1\n", "line 1: tools must hold settings, found '1'"),
        (
            "hooks:\n  skill_contxt: {}\n",
            "line 2: hooks.skill_contxt is not a setting; did you mean skill_context?",
        ),
        (
            "hooks:\n  skill_context: {when: always}\n",
            "line 2: hooks.skill_context.when must be each_turn or first_turn, found 'always'",
        ),
        (
            "hooks:\n  recent_context: {when: each_turn}\n",
            "line 2: hooks.recent_context.when must be first_turn, found 'each_turn'",
        ),
        (
            "hooks:\n  dynamic_context: {budget: 4000}\n",
            "line 2: hooks.dynamic_context.budget must be at most 3000 tokens, found 4000",
        ),
        (
            "hooks:\n  platforms: telegram\n",
            "line 2: hooks.platforms must be a list, e.g. [telegram], found 'telegram'",
        ),
        (
            "hooks:\n  bootstrap_context:\n    include_static_files: [{label: Soul}]\n",
            "hooks.bootstrap_context.include_static_files[0] needs a path",
        ),
        (
            "tools: {max_result_chars: 100}\n",
            "line 1: tools.max_result_chars must be at least 4000 characters, found 100",
        ),
        (
            "logging: {level: loud}\n",
            "line 1: logging.level must be debug or info or warning or error, found 'loud'",
        ),
    ],
)
def test_what_is_wrong_in_hooks_tools_and_logging_is_said_where_it_stands(
    home: Path, text: str, said: str
) -> None:
    assert complaint(home, text) == said


def test_static_files_are_read_whole(home: Path) -> None:
    text = """
context_builder:
  include_static_files:
    - {label: Soul, path: SOUL.md, order: 10, max_bytes: 12000}
    - {label: Gone, path: GONE.md, optional: false}
"""
    assert config(home, text).context_builder.include_static_files == (
        StaticFile(label="Soul", path=home / "SOUL.md", order=10, max_bytes=12000),
        StaticFile(label="Gone", path=home / "GONE.md", optional=False),  # read when it is told
    )
    assert complaint(
        home,
        """
context_builder:
  include_static_files:
    - {label: Soul, path: SOUL.md, budget: 1, max_bytes: 12000}
    - {label: Soul, optional: false}
""",
    ) == (
        "context_builder.include_static_files[0] takes a budget or max_bytes, not both; "
        "context_builder.include_static_files[1] needs a path"
    )


def test_a_static_file_may_be_its_path_alone_and_is_told_by_its_name(home: Path) -> None:
    text = """
context_builder: {include_static_files: [/shared/boot.md, {path: GONE.md}]}
hooks:
  bootstrap_context:
    include_static_files:
      - ~/notes/house-rules.md
"""
    settings = config(home, text, HOME="/h")
    assert settings.context_builder.include_static_files == (
        StaticFile(label="boot", path=Path("/shared/boot.md")),
        StaticFile(label="GONE", path=home / "GONE.md"),
    )
    assert settings.hooks.bootstrap_context.include_static_files == (
        StaticFile(label="house-rules", path=Path("/h/notes/house-rules.md")),
    )


def test_the_example_of_static_files_in_the_config_that_init_writes_is_read(home: Path) -> None:
    examples = re.findall(
        r"# .+, e\.g\. (\[.+\])\n *# include_static_files: \[\]\n", commented(home)
    )
    assert len(examples) == 2
    files = (
        StaticFile(label="rules", path=Path("/h/notes/rules.md")),
        StaticFile(label="Team", path=Path("/h/notes/team.md"), budget=300),
    )
    for example in examples:
        settings = config(
            home, f"context_builder: {{include_static_files: {example}}}\n", HOME="/h"
        )
        assert settings.context_builder == ContextBuilderConfig(include_static_files=files)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("~/boot.md", "must be a list, e.g. [~/boot.md], found '~/boot.md'"),
        ("['']", "must be a path; leave the key out to have its default"),
        ("[[a.md]]", "[0] must hold settings, found a list"),
    ],
)
def test_a_static_file_that_is_neither_is_refused(home: Path, entries: str, said: str) -> None:
    text = f"context_builder: {{include_static_files: {entries}}}\n"
    assert said in complaint(home, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("serach:\n  top_k: 3\n", "line 1: serach is not a section; did you mean search?"),
        ("top_k: 3\n", "line 1: top_k is not a section; did you mean search.top_k?"),
        (
            "vault:\n  path: notes\n  exclude_folder: [a]\n",
            "line 3: vault.exclude_folder is not a setting; did you mean exclude_folders?",
        ),
        (
            "search:\n  chunks_path: x\n",
            "line 2: search.chunks_path is not a setting; did you mean index.chunks_path?",
        ),
        ("search:\n  top_k: 0\n", "line 2: search.top_k must be at least 1, found 0"),
        ("search:\n  top_k: many\n", "line 2: search.top_k must be a whole number, found 'many'"),
        ("search:\n  top_k: 2.5\n", "line 2: search.top_k must be a whole number, found '2.5'"),
        ("search:\n  top_k: true\n", "line 2: search.top_k must be a whole number, found 'true'"),
        (
            "search:\n  wikilink_traversal: 4\n",
            "line 2: search.wikilink_traversal must be at most 3 hops, found 4",
        ),
        (
            "search:\n  recency_half_life_days: 0\n",
            "line 2: search.recency_half_life_days must be more than 0 days, found 0",
        ),
        ("search:\n  bm25_weight: .nan\n", "must be a number, found '.nan'"),
        ("search:\n  bm25_weight: nan\n", "must be a number, found 'nan'"),
        (
            "search:\n  rank: best\n",
            "line 2: search.rank must be calibrated or ordinal, found 'best'",
        ),
        (
            "search:\n  recency_boost: perhaps\n",
            "line 2: search.recency_boost must be true or false, found 'perhaps'",
        ),
        ("search: 7\n", "line 1: search must hold settings, found '7'"),
        ("search:\n  top_k: [3]\n", "line 2: search.top_k must be one value, found a list"),
        (
            "vault:\n  include_folders: notes\n",
            "line 2: vault.include_folders must be a list, e.g. [notes], found 'notes'",
        ),
        (
            "cron:\n  nightly_promotion: {session_globs: 3}\n",
            "line 2: cron.nightly_promotion.session_globs must be a list, found '3'",
        ),
        (
            "vault:\n  include_folders: ['']\n",
            "line 2: vault.include_folders has an empty entry",
        ),
        (
            "embeddings:\n  device: gpu\n",
            "line 2: embeddings.device must be auto, cpu, cuda, cuda:N or mps, found 'gpu'",
        ),
        (
            "embeddings:\n  endpoint:\n    api_key_env: sk-12\n",
            "line 3: embeddings.endpoint.api_key_env must be the name of an environment variable, "
            "not the key itself, found 'sk-12'",
        ),
        (
            "vault:\n  path: a\n  path: b\n",
            "line 3: vault.path stands twice, first in line 2",
        ),
        ("vault:\n  path: a\nvault:\n  path: b\n", "line 3: vault stands twice, first in line 1"),
        ("vault:\n\tpath: a\n", "line 2, column 1: a tab where YAML wants spaces"),
        ("- vault\n", "line 1: expected sections such as vault:, found a list"),
        ("just words\n", "line 1: expected sections such as vault:, found 'just words'"),
        ("vault:\n  path: [a\n", "line 3, column 1: "),
        (
            "vault: !!python/object:os.system {}\n",
            "line 1: vault must hold settings, found the tag tag:",
        ),
        (
            "vault:\n  path: !!python/name:os.system x\n",
            "must be one value, found the tag tag:yaml.org",
        ),
        (b"vault:\n  path: caf\xe9\n", "line 2: not UTF-8; save the file as UTF-8"),
        (b"vault:\n  path: a\x00b\n", "line 2: YAML does not allow the character U+0000"),
        ('vault:\n  path: "a\\0b"\n', "line 2: vault.path must not hold a NUL character"),
        ("a: &a [*a]\n", "line 1: a is not a section"),
        ("vault: {}\n---\nvault: {}\n", "line 2, column 1: "),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_its_path(home: Path, text: str, said: str) -> None:
    assert said in complaint(home, text)


def test_a_deeply_nested_file_is_refused(home: Path) -> None:
    assert complaint(home, "[" * 100_000) == "nested too deeply"


def test_all_that_is_wrong_stands_in_one_error(home: Path) -> None:
    assert complaint(home, "search:\n  top_k: 0\n  rank: x\nvault:\n  paht: notes\n") == (
        "line 2: search.top_k must be at least 1, found 0; "
        "line 3: search.rank must be calibrated or ordinal, found 'x'; "
        "line 5: vault.paht is not a setting; did you mean path?"
    )


@pytest.mark.parametrize(
    ("bm25", "vector", "said"),
    [
        ("0", "0", "must not both be 0"),
        ("0.1", "0.2", "must add up to 0.5 to 2, not 0.3"),
        ("1.5", "1.5", "must add up to 0.5 to 2, not 3"),
    ],
)
def test_the_weights_of_words_and_vectors_go_together(
    home: Path, bm25: str, vector: str, said: str
) -> None:
    text = f"search:\n  bm25_weight: {bm25}\n  vector_weight: {vector}\n"
    assert complaint(home, text) == (f"line 2: search.bm25_weight and search.vector_weight {said}")


def test_one_channel_alone_is_fine(home: Path) -> None:
    search = config(home, "search: {bm25_weight: 1, vector_weight: 0, graph_weight: 0}\n").search
    assert (search.bm25_weight, search.vector_weight, search.graph_weight) == (1.0, 0.0, 0.0)


def test_a_byte_order_mark_and_utf16_are_read(home: Path) -> None:
    for encoding in ("utf-8-sig", "utf-16"):
        settings = config(home, "vault:\n  path: Überblick\n".encode(encoding))
        assert settings.vault.path == home / "Überblick"


def test_the_config_is_found_by_name_then_environment_then_hermes_home(home: Path) -> None:
    for name in ("given", "environment", "hermes/cortex", ".hermes/cortex"):
        (home / name).mkdir(parents=True)
        (home / name / "config.yaml").write_text("")
    env = {"HOME": str(home)}
    assert find(None, env) == home / ".hermes/cortex/config.yaml"
    env["HERMES_HOME"] = f"{home}/hermes"
    assert find(None, env) == home / "hermes/cortex/config.yaml"
    env["CORTEX_CONFIG"] = "~/environment/config.yaml"
    assert find(None, env) == home / "environment/config.yaml"
    assert find(f"{home}/given/config.yaml", env) == home / "given/config.yaml"


def test_a_config_that_was_named_and_is_missing_is_never_replaced_by_another(home: Path) -> None:
    (home / ".hermes/cortex").mkdir(parents=True)
    (home / ".hermes/cortex/config.yaml").write_text("")
    env = {"HOME": str(home), "CORTEX_CONFIG": f"{home}/gone.yaml"}
    with pytest.raises(ConfigError, match=r"gone\.yaml, which CORTEX_CONFIG names; unset it, or"):
        find(None, env)
    with pytest.raises(ConfigError, match=r"there is no config .*other\.yaml; run: cortex init"):
        find(home / "other.yaml", {"HOME": str(home)})


def test_the_working_directory_chooses_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.yaml").write_text("vault:\n  path: notes\n")
    (home / "cortex").mkdir()
    (home / "cortex" / "config.yaml").write_text("")
    monkeypatch.chdir(home)
    with pytest.raises(ConfigError) as caught:
        load(None, {"HOME": str(home)})
    assert str(caught.value) == (
        f"no config yet at {home}/.hermes/cortex/config.yaml; run: cortex init --vault PATH"
    )
    assert chosen("config.yaml", {}) == home / "config.yaml"


def test_a_folder_in_place_of_the_config_is_said_to_be_one(home: Path) -> None:
    with pytest.raises(ConfigError, match="is a folder; name the file in it"):
        load(home, {})


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_a_config_that_may_not_be_read_is_said_so(home: Path) -> None:
    (home / "config.yaml").write_text("")
    (home / "config.yaml").chmod(0)
    with pytest.raises(ConfigError, match="can't be read: Permission denied"):
        load(home / "config.yaml", {})


def test_the_vault_is_asked_for_only_when_it_is_needed(home: Path) -> None:
    assert require_vault(config(home, "vault:\n  path: notes\n")) == home / "notes"
    with pytest.raises(UsageError, match="names no vault; add the folder of your notes there"):
        require_vault(config(home, ""))
    with pytest.raises(UsageError, match=re.escape(f"the vault {home}/gone does not exist; set")):
        require_vault(config(home, "vault:\n  path: gone\n"))
    with pytest.raises(UsageError, match=r"config\.yaml is not a folder; set vault\.path in"):
        require_vault(config(home, "vault:\n  path: config.yaml\n"))
