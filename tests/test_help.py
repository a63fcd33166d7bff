"""Help, words, exit codes, --json and colours are of one kind in every command."""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cortex import cli
from cortex.cli import COMMANDS, PURPOSES, main

# What has no document to print: it answers a host or its scheduler, or prints a text of its own.
WITHOUT_JSON = {("completion",), ("hook",)}
ALLOWED = ("Exit codes:", "exit code")  # how help speaks of them
ESCAPE = "\x1b["


def every_parser() -> list[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """(the words behind `cortex`, the parser), of every command and subcommand."""
    return [found for name in COMMANDS for found in below((name,), cli.parser_of(name))]


def below(
    path: tuple[str, ...], parser: argparse.ArgumentParser
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from below((*path, name), inner)


PARSERS = every_parser()
EXAMPLES = [
    (name, typed) for name in COMMANDS for typed, _ in getattr(cli.module_of(name), "EXAMPLES", ())
]
IDS = [" ".join(path) for path, _ in PARSERS]


def is_group(parser: argparse.ArgumentParser) -> bool:
    return any(isinstance(action, argparse._SubParsersAction) for action in parser._actions)


def test_the_help_lists_every_command_once_below_what_people_want_of_it(capsys):
    assert sorted(name for names in PURPOSES.values() for name in names) == sorted(COMMANDS)
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    listed = re.findall(r"^  ([a-z][a-z-]*)  ", shown, re.MULTILINE)
    assert listed == [name for names in PURPOSES.values() for name in names]
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.parametrize(("path", "parser"), PARSERS, ids=IDS)
def test_each_level_says_what_it_does_and_shows_an_example_of_its_own(path, parser):
    shown = parser.format_help()
    assert parser.description and len(parser.description.split()) >= 4
    assert re.search(rf"^examples:\n  cortex {re.escape(' '.join(path))}\b", shown, re.MULTILINE)


@pytest.mark.parametrize(("path", "parser"), PARSERS, ids=IDS)
def test_each_option_and_argument_says_what_it_is(path, parser):
    silent = [
        action.dest
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_what_its_exit_codes_mean(name):
    levels = below((name,), cli.parser_of(name))
    said = " ".join(parser.description or "" for _, parser in levels).lower()
    if name not in ("completion", "version"):  # which cannot fail
        assert "exit" in said


@pytest.mark.parametrize(("name", "typed"), EXAMPLES, ids=[typed for _, typed in EXAMPLES])
def test_each_example_can_be_typed(name, typed):
    words = shlex.split(re.split(r" [<>|] ", typed)[0])
    assert words[0] == name
    cli._parse(name, words[1:])


@pytest.mark.parametrize(("path", "parser"), PARSERS, ids=IDS)
def test_what_reports_can_report_to_a_program(path, parser):
    if is_group(parser) or path in WITHOUT_JSON:
        return
    assert "--json" in parser._option_string_actions


@pytest.mark.parametrize(("path", "parser"), PARSERS, ids=IDS)
def test_a_group_without_a_subcommand_is_asked_wrongly(path, parser, capsys):
    if is_group(parser):
        assert main([*path]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.strip()


@pytest.mark.parametrize(("path", "parser"), PARSERS, ids=IDS)
def test_a_subcommand_that_is_nearly_right_is_named(path, parser, capsys):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            name = next(iter(action.choices))
            assert main([*path, name + "x"]) == 2
            assert f"did you mean {name}?" in capsys.readouterr().err


def test_a_command_that_is_nearly_right_is_named(capsys):
    assert main(["docter"]) == 2
    assert "did you mean doctor?" in capsys.readouterr().err


def test_help_of_a_subcommand_is_found_either_way(capsys):
    assert main(["help", "graph", "build"]) == 0
    one = capsys.readouterr().out
    assert main(["graph", "build", "--help"]) == 0
    assert one == capsys.readouterr().out
    assert one.startswith("usage: cortex graph build")


def test_help_names_the_commands_as_they_are_typed_in_the_host(capsys):
    assert main(["doctor", "--help"], program="hermes -p work cortex") == 0
    assert "\n  hermes -p work cortex doctor --fix\n" in capsys.readouterr().out
    main(["--help"])


DOCUMENTS = ["status", "doctor --quick", "config show", "config path", "version", "model list"]
DOCUMENTS += ["graph status", "graph broken", "index", "embed", "graph build", "search bees"]
DOCUMENTS += ["context bees", "read bees", "install --dry-run"]


@pytest.mark.parametrize("command", DOCUMENTS)
def test_a_document_is_one_and_says_its_schema_version(command, cortex_with, capsys):
    cortex = cortex_with({"bees.md": "# Bees\nThey dance."})
    code = main([*command.split(), "--json", "--config", str(cortex.config.path)])
    printed = capsys.readouterr().out
    assert next(iter(json.loads(printed))) == "schema_version"
    assert code == 0


def test_an_error_under_json_is_a_line_on_stderr_and_leaves_stdout_empty(tmp_path, capsys):
    assert main(["status", "--json", "--config", str(tmp_path / "none.yaml")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("cortex: there is no config") and said.err.count("\n") == 1


COLOURED = ["doctor --quick --all", "search bees", "status"]


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal of its own")
@pytest.mark.parametrize("command", COLOURED)
def test_colours_are_for_terminals_alone_and_no_color_turns_them_off(command, cortex_with):
    cortex = cortex_with({"bees.md": "# Bees\nThe bees dance."})
    words = [*command.split(), "--config", str(cortex.config.path)]
    env = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "TERM")}
    env["HERMES_HOME"] = str(cortex.config.state / "no-home")
    if command != "status":  # which has none yet
        assert ESCAPE in on_a_terminal(words, {**env, "TERM": "xterm"})
    assert ESCAPE not in on_a_terminal(words, {**env, "TERM": "xterm", "NO_COLOR": "1"})
    assert ESCAPE not in on_a_terminal(words, {**env, "TERM": "dumb"})
    ran = subprocess.run(
        [sys.executable, "-m", "cortex", *words], env=env, capture_output=True, text=True
    )
    assert ESCAPE not in ran.stdout + ran.stderr


def on_a_terminal(words: list[str], env: dict[str, str]) -> str:
    """What a command prints where stdout and stderr are a terminal."""
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(Path(__file__).resolve().parent.parent)
        os.execvpe(sys.executable, [sys.executable, "-m", "cortex", *words], env)
    seen = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # how Linux says that the other side has closed
                break
            if not part:
                break
            seen += part
    os.waitpid(pid, 0)
    os.close(terminal)
    return seen.decode("utf-8", "replace")


@pytest.mark.parametrize(("path", "parser"), PARSERS, ids=IDS)
def test_exit_codes_are_told_in_the_same_words_everywhere(path, parser):
    told = re.findall(r"(?i)exit\s+codes?\b:?", parser.description or "")
    assert [words for words in told if " ".join(words.split()) not in ALLOWED] == []


def test_help_names_the_home_in_which_the_config_is_looked_for(capsys):
    assert main(["--help"]) == 0
    assert "$HERMES_HOME, else ~/.hermes" in capsys.readouterr().out
