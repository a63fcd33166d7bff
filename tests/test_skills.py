"""The skills tell the truth: each tool, parameter, command, option and setting that they name."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from cortex import Cortex, plugin
from cortex.cli import COMMANDS
from cortex.config.schema import SECTIONS
from cortex.runtime import Runtime
from cortex.text import estimate_tokens
from cortex.vault import frontmatter

SKILLS = Path(__file__).resolve().parent.parent / "skills"
NAMES = ("cortex-context", "cortex-diagnose", "cortex-notes", "cortex-vault")
PARAMETERS = {
    schema["name"]: schema["parameters"]["properties"]
    for schema in (*plugin.SCHEMAS, plugin.WRITE_SCHEMA)
}

each_skill = pytest.mark.parametrize("name", NAMES)


def test_these_are_all_skills() -> None:
    assert sorted(folder.name for folder in SKILLS.iterdir()) == list(NAMES)


def parts(name: str) -> tuple[dict[str, Any], str]:
    """Frontmatter and body."""
    _, header, body = (SKILLS / name / "SKILL.md").read_text("utf-8").split("---\n", 2)
    return yaml.safe_load(header), body


def code(body: str) -> list[str]:
    """What stands between backticks, with line ends as blanks; no fenced blocks."""
    prose = re.sub(r"^ *```.*?^ *```$", "", body, flags=re.DOTALL | re.MULTILINE)
    return [" ".join(found.split()) for found in re.findall(r"`([^`]+)`", prose)]


@each_skill
def test_the_header_is_what_the_host_reads(name: str) -> None:
    header, body = parts(name)
    assert set(header) == {"name", "description", "version"}
    assert header["name"] == name
    assert 40 <= len(header["description"]) <= 1024
    assert re.fullmatch(r"\d+\.\d+\.\d+", header["version"])
    assert max(map(len, body.splitlines())) <= 200


def test_the_skill_that_is_injected_by_default_fits_its_budget_with_room() -> None:
    assert estimate_tokens(parts("cortex-vault")[1]) <= 700
    for name in NAMES:
        assert estimate_tokens(parts(name)[1]) <= 1200


@each_skill
def test_every_tool_is_named_right_and_so_are_its_arguments(name: str) -> None:
    _, body = parts(name)
    tools = set(re.findall(r"\bvault_\w+", body)) - {"vault_path"}
    assert tools <= set(PARAMETERS)
    for text in code(body):
        if not text.startswith("{"):
            continue
        example = json.loads(text)
        filters = PARAMETERS["vault_search"]["filters"]["properties"]
        schema = next(s for s in (PARAMETERS["vault_search"], filters) if set(example) <= set(s))
        assert all(is_valid(value, schema[key]) for key, value in example.items()), text


def is_valid(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is what a tool's schema asks for, as a provider that is strict reads it."""
    kinds: dict[str, Any] = {
        "string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list,
        "object": dict,
    }  # fmt: skip
    if not isinstance(value, kinds[schema["type"]]) or value not in schema.get("enum", [value]):
        return False
    if isinstance(value, list):
        return all(is_valid(item, schema["items"]) for item in value)
    if isinstance(value, dict):
        known = schema["properties"]
        return all(name not in known or is_valid(item, known[name]) for name, item in value.items())
    return True


def test_an_example_that_is_not_as_the_schema_asks_is_found() -> None:
    filters = PARAMETERS["vault_search"]["filters"]
    assert is_valid({"type": ["decision"]}, filters)
    assert not is_valid({"type": "decision"}, filters)
    assert not is_valid({"type": [1]}, filters)
    assert not is_valid("all", PARAMETERS["vault_search"]["detail"])


@pytest.mark.parametrize("name", [*NAMES, "README"])
def test_every_command_runs_as_it_is_written(name: str) -> None:
    if name == "README":
        body = (SKILLS.parent / "README.md").read_text("utf-8")
        texts = [*code(body), *re.findall(r"^(hermes cortex [^#\n]+)", body, re.MULTILINE)]
    else:
        texts = code(parts(name)[1])
    commands = [
        part.split()[2:]
        for text in texts
        for part in text.split(" && ")
        if part.startswith("hermes cortex ") and "…" not in part
    ]
    assert commands or name == "cortex-vault"
    for command, *words in commands:
        assert command in COMMANDS, command
        module = importlib.import_module(f"cortex.cli.{command.replace('-', '_')}")
        parser = argparse.ArgumentParser(exit_on_error=False)
        module.configure(parser)
        known, rest = parser.parse_known_args(words)
        assert not [word for word in rest if word.startswith("-")], (command, rest, known)
    if name != "README":  # which tells both
        assert "cortex" not in {text.split()[0] for text in texts}


@pytest.fixture
def vocabulary(
    cortex_with: Callable[..., Cortex], tmp_path: Path
) -> tuple[set[str], dict[str, Any]]:
    """(words that mean something to Cortex, YAML path of each setting -> its default)."""
    cortex = cortex_with({"a.md": "# Alpha\n\n" + "bees and honey " * 90, "b.md": "# B\nbees\n"})
    env = {"CORTEX_CONFIG": str(cortex.config.path), "HERMES_HOME": str(tmp_path / "home")}
    tools = plugin.Tools(Runtime(env))
    answers = [
        tools.vault_search({"query": "bees", "detail": "full"}),
        tools.vault_read_note({"note": "a", "max_chars": 200}),
        tools.vault_build_context({"query": "bees"}),
    ]
    words = {key for answer in answers for key in keys(json.loads(answer))}
    assert {"snippet", "next_page", "next_line"} <= words
    for properties in PARAMETERS.values():
        words |= set(properties)
    words |= set(PARAMETERS["vault_search"]["filters"]["properties"])
    settings = {path: value for name, kind in SECTIONS.items() for path, value in of(kind(), name)}
    words |= {name for path in settings for name in path.split(".")}
    return words, settings


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from keys(entry)


def of(section: Any, where: str) -> Iterator[tuple[str, Any]]:
    for item in fields(section):
        value = getattr(section, item.name)
        if is_dataclass(value):
            yield from of(value, f"{where}.{item.name}")
        else:
            yield f"{where}.{item.name}", value


# What is neither a tool's, nor a setting, and still right: notes, properties and their values.
OTHER_WORDS = {
    *("aliases", "source", "created", "last_verified", "active", "superseded", "confidence"),
    *(
        "understood",
        "importance",
        "##",
        "--json",
        "--dry-run",
        "--no-boost",
        *("--first", "--session", "--wait"),
        *NAMES,
        *frontmatter.LIFECYCLE,
    ),
}


@each_skill
def test_every_word_in_code_is_one_that_cortex_knows(
    name: str, vocabulary: tuple[set[str], dict[str, Any]]
) -> None:
    words, settings = vocabulary
    _, body = parts(name)
    for text in code(body):
        if re.fullmatch(r"[a-z_]+", text) or text.startswith("-"):
            assert text in words | OTHER_WORDS | set(PARAMETERS), text
        elif re.fullmatch(r"[a-z_]+(\.[a-z_]+)+", text):
            groups = {path.rpartition(".")[0] for path in settings}
            assert text in settings or text in groups, text


@pytest.mark.parametrize("name", ["cortex-context", "cortex-diagnose"])
def test_every_default_that_is_told_is_the_default(
    name: str, vocabulary: tuple[set[str], dict[str, Any]]
) -> None:
    _, settings = vocabulary
    _, body = parts(name)
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]+) \| ([^|]*)\|$", body, re.MULTILINE)
    assert len(rows) == 8
    for path, told, about in rows:
        value = settings[path]
        shown = ", ".join(value) if isinstance(value, tuple) else str(value)
        assert told.casefold() == shown.casefold(), path
        for key, number in re.findall(r"`(\w+)` (\d+)", about):
            assert settings[f"{path.rpartition('.')[0]}.{key}"] == int(number), (path, key)
    assert settings["hooks.skill_context.when"] == "each_turn"


def test_the_readme_tells_the_hooks_as_they_are(
    vocabulary: tuple[set[str], dict[str, Any]],
) -> None:
    _, settings = vocabulary
    readme = (SKILLS.parent / "README.md").read_text("utf-8")
    section = readme.partition("\n## In Hermes\n")[2].partition("\n## ")[0]
    rows = re.findall(
        r"^\| `(hooks\.\w+)` \| (on|off)(?:, (\d+) tokens)? \|", section, re.MULTILINE
    )
    blocks = {path.rpartition(".")[0] for path in settings if path.startswith("hooks.")}
    assert {path for path, _, _ in rows} == blocks - {"hooks", "hooks.context_injection"}
    for path, state, budget in rows:
        assert settings[f"{path}.enabled"] is (state == "on"), path
        assert settings.get(f"{path}.budget") == (int(budget) if budget else None), path
    assert f"`hooks.deadline_ms` ({settings['hooks.deadline_ms']})" in section
    assert settings["tools.platforms"] == settings["hooks.platforms"] == ("local", "paired")
    assert "`[local, paired]`" in section


def test_the_note_that_is_shown_is_read_as_it_says() -> None:
    _, body = parts("cortex-notes")
    block = re.search(r"^ *```markdown\n(.*?)^ *```$", body, re.DOTALL | re.MULTILINE)
    assert block
    text = "\n".join(line[3:] for line in block[1].splitlines()) + "\n"
    header = frontmatter.split(text)
    assert header.problems == ()
    values = header.values
    assert frontmatter.tags_of(values)[0] == ["house", "roof"]
    assert frontmatter.aliases_of(values) == ["Slate roof"]
    assert frontmatter.importance_of(values) == 4
    assert frontmatter.confidence_of(values) == 0.85
    assert str(frontmatter.updated_of(values)) == "2026-05-04"
    links = frontmatter.property_links(values, header.key_lines)
    assert [link.target for link in links] == ["Roof repair"]

    told = dict(re.findall(r"^ *\| `(\w+)` \| (.+) \|$", body, re.MULTILINE))
    assert set(values) - {"tags"} <= set(re.findall(r"`(\w+)`", body))
    for word in re.findall(r"[a-z]+", told["confidence"].partition(", or")[0]):
        assert frontmatter.confidence_of({"confidence": word}) is not None, word


@pytest.mark.slow
def test_the_host_lists_them_once_init_has_named_their_folder(tmp_path: Path) -> None:
    hermes = shutil.which("hermes", path=os.path.dirname(sys.executable))
    if hermes is None:
        if os.environ.get("CORTEX_REQUIRE_SHARED") == "1":
            pytest.fail("hermes-agent is not installed beside this Python")
        pytest.skip("hermes-agent is not installed beside this Python")
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "notes").mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("HERMES_", "CORTEX_"))}
    env |= {"HERMES_HOME": str(home), "HOME": str(tmp_path), "COLUMNS": "120", "NO_COLOR": "1"}

    def run(*command: str) -> str:
        done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    checkout = str(SKILLS.parent)
    program = f"import sys; sys.path.insert(0, {checkout!r}); from cortex.cli import main; main()"
    run(sys.executable, "-c", program, "init", "--vault", "notes", "--enable")
    listed = run(hermes, "skills", "list")
    assert all(name in listed for name in NAMES)
