"""What the host is given when it loads the plugin, and `hermes cortex …` through its parser."""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import cortex
from cortex import cli, hooks, registration
from cortex.plugin import SCHEMAS
from host_driver import CHECKOUT, Ctx, host_parser, load

# What may not be imported before a tool, a hook or a command needs it.
HEAVY = {
    *("chromadb", "comrak", "frontmatter", "networkx", "numpy", "onnxruntime", "rank_bm25"),
    *("sentence_transformers", "Stemmer", "tantivy", "tokenizers", "torch", "tqdm", "yaml"),
    *("asyncio", "concurrent", "http", "multiprocessing", "sqlite3", "urllib"),
}


@pytest.fixture
def ctx(monkeypatch) -> Iterator[Ctx]:
    """The plugin, registered under a module name that no other test uses."""
    monkeypatch.delenv(registration.SPEAKS, raising=False)
    ctx = Ctx()
    load(ctx, name="tried")
    yield ctx
    for name in [name for name in sys.modules if name.startswith("hermes_plugins")]:
        del sys.modules[name]
    os.environ.pop(registration.SPEAKS, None)


def test_the_host_gets_three_tools_the_hooks_and_the_command(ctx):
    assert list(ctx.tools) == ["vault_search", "vault_read_note", "vault_build_context"]
    assert {about["toolset"] for about in ctx.tools.values()} == {"cortex"}
    assert list(ctx.hooks) == list(hooks.HOOKS)
    assert list(ctx.commands) == ["cortex"]
    for name, about in ctx.tools.items():
        assert about["schema"]["name"] == name
        assert about["schema"]["parameters"]["type"] == "object"


def test_the_manifest_says_what_is_registered(ctx):
    manifest = yaml.safe_load((CHECKOUT / "plugin.yaml").read_text("utf-8"))
    assert manifest["name"] == "cortex"
    assert manifest["kind"] == "standalone"
    assert manifest["manifest_version"] == 1
    assert manifest["version"] == cortex.__version__
    assert manifest["provides_tools"] == list(ctx.tools)
    assert manifest["provides_hooks"] == list(ctx.hooks)


def test_the_host_does_not_take_the_plugin_for_a_memory_provider():
    text = (CHECKOUT / "__init__.py").read_text("utf-8")
    assert "MemoryProvider" not in text and "register_memory_provider" not in text


def test_loading_the_plugin_imports_nothing_heavy_and_not_by_the_name_cortex(tmp_path):
    done = subprocess.run(
        [sys.executable, str(CHECKOUT / "tests" / "host_driver.py")],
        cwd=tmp_path,
        env={**os.environ, "HERMES_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert told["tools"] == [schema["name"] for schema in SCHEMAS]
    assert told["commands"] == ["cortex"]
    loaded = {name.split(".")[0] for name in told["loaded"]}
    assert loaded & HEAVY == set()
    assert "cortex" not in loaded
    assert "hermes_plugins.cortex.cortex.registration" in told["loaded"]


@pytest.mark.parametrize("error", [RuntimeError("the host's own"), SystemExit(3)])
def test_what_cannot_be_registered_is_logged_and_the_rest_is_there(error, monkeypatch, caplog):
    class Refusing(Ctx):
        def register_tool(self, name, **about):
            raise error

    monkeypatch.delenv(registration.SPEAKS, raising=False)
    ctx = Refusing()
    with caplog.at_level(logging.ERROR):
        registration.register(ctx)
    os.environ.pop(registration.SPEAKS, None)
    assert ctx.tools == {}
    assert list(ctx.hooks) == list(hooks.HOOKS) and list(ctx.commands) == ["cortex"]
    assert "the tools of Cortex could not be registered" in caplog.text


def test_a_host_with_none_of_the_methods_is_left_alone(caplog):
    registration.register(object())
    assert len([entry for entry in caplog.records if entry.exc_info]) == 3


def test_shell_hooks_are_told_that_the_plugin_speaks_only_if_its_hooks_are_there(monkeypatch):
    class WithoutHooks(Ctx):
        def register_hook(self, name, callback):
            raise RuntimeError

    monkeypatch.delenv(registration.SPEAKS, raising=False)
    registration.register(WithoutHooks())
    assert registration.SPEAKS not in os.environ
    registration.register(Ctx())
    assert os.environ.pop(registration.SPEAKS) == "1"


def test_a_second_registration_shares_what_the_first_one_keeps(ctx):
    again = Ctx()
    sys.modules["hermes_plugins.tried"].register(again)
    first, second = (c.tools["vault_search"]["handler"].__self__ for c in (ctx, again))
    assert first._runtime is second._runtime


# hermes cortex …


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--help"],
        ["--version"],
        ["search", "--help"],
        ["--config", "x y.yaml", "search", "a b", "--top-k", "3"],
        ["search", "--", "--no", "-x", "--", "-1"],
        ["--", "search"],
        ["search", "", "-", "x=y", "--unknown", "-z"],
        ["search", "-m", "word", "--model", "other", "-V"],
        ["serch"],
    ],
)
def test_the_words_behind_hermes_cortex_arrive_as_they_were_typed(words, ctx):
    args = host_parser(ctx).parse_args(["-m", "opus", "cortex", *words])
    assert args.cortex_arguments == words
    assert (args.command, args.model, args.version) == ("cortex", "opus", False)
    assert args.func is ctx.commands["cortex"]["handler_fn"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["version"], 0),
        (["--help"], 0),
        (["search", "--help"], 0),
        (["serch", "x"], 2),
        (["search", "--topk", "3", "x"], 2),
        ([], 2),
        (["search", "x"], 2),
        (["config", "path"], 2),
    ],
)
def test_hermes_cortex_prints_and_ends_as_cortex_does(
    words, code, ctx, capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    assert cli.main(words) == code
    expected = capsys.readouterr()
    args = host_parser(ctx).parse_args(["cortex", *words])
    with pytest.raises(SystemExit) as end:
        args.func(args)
    assert end.value.code == code
    told = capsys.readouterr()
    for theirs, ours in zip(told, expected, strict=True):
        if "usage:" in ours:  # whose lines break elsewhere when the name is longer
            theirs, ours = " ".join(theirs.split()), " ".join(ours.split())
        assert theirs.replace("hermes cortex ", "cortex ") == ours
    assert expected.out + expected.err != ""


@pytest.fixture
def hermes_cortex(ctx, monkeypatch, tmp_path, capsys):
    """Runs `hermes cortex …` in a home with two notes: its exit code, stdout and stderr."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "bees.md").write_text("# Bees\n\nThey dance.\n", "utf-8")
    (tmp_path / "notes" / "note.md").write_text(
        "# x; run: cortex index\n\nTo mend that; run: cortex embed\n", "utf-8"
    )
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.delenv("CORTEX_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        args = host_parser(ctx).parse_args(["cortex", *words])
        with pytest.raises(SystemExit) as end:
            args.func(args)
        return (end.value.code, *capsys.readouterr())

    return run


def test_inside_the_host_every_hint_is_a_command_that_is_there(hermes_cortex, tmp_path):
    said = []
    for words in (
        ["search", "x"],
        ["init"],
        ["init", "--vault", "notes"],
        ["search", "x"],
        ["search"],
        ["read", "zzz"],
        ["serch-for"],
        ["index", "--x"],
        ["model", "list"],
        ["index"],
        ["search", "dance"],
        ["status"],
        ["embed"],
        ["graph", "status"],
        ["init", "--vault", str(tmp_path)],
        ["--help"],
    ):
        _, out, err = hermes_cortex(*words)
        said += [*out.splitlines(), *err.splitlines()]
    names = "|".join(cli.COMMANDS)
    hints = [line for line in said if re.search(rf"cortex ({names}|COMMAND|--help)\b", line)]
    assert len(hints) > 15
    for line in hints:
        # A message begins with our name, and all others are commands.
        bare = re.sub(rf"hermes cortex (?=({names}|COMMAND|--help)\b)", "", line)
        assert not re.search(rf"(?<![/.])\bcortex ({names}|COMMAND|--help)\b", bare), line


def test_inside_the_host_documents_and_the_text_of_notes_stay_as_they_are(hermes_cortex, capsys):
    hermes_cortex("init", "--vault", "notes")
    hermes_cortex("index")
    for words in (
        ["status", "--json"],
        ["search", "mend", "--json", "--channels", "bm25"],
        ["search", "mend"],
        ["read", "note"],
        ["read", "note", "--lines", "1-1", "--json"],
        ["context", "mend"],
        ["config", "show"],
        ["config", "show", "--json"],
        ["model", "list", "--json"],
    ):
        theirs = hermes_cortex(*words)
        assert cli.main(words) == theirs[0]
        ours = capsys.readouterr()
        differs = r'"timings_ms": {[^}]*}|"loaded": ".*"'
        assert re.sub(differs, "", theirs[1]) == re.sub(differs, "", ours.out) != ""
        assert "hermes cortex" not in theirs[1]


def test_what_follows_in_the_process_is_told_as_it_was_typed_there(hermes_cortex, capsys):
    assert "run: hermes cortex init" in hermes_cortex("index")[2]
    cli.main(["index"])
    assert "run: cortex init" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("home", "told"),
    [
        ("/h/.hermes", "hermes cortex"),
        ("/h/.hermes/profiles/office", "hermes -p office cortex"),
        ("/h/.hermes/profiles/my office", "hermes -p 'my office' cortex"),
        ("/h/.hermes/profiles", "hermes cortex"),
        ("/h/.hermes/profiles/office/inner", "hermes cortex"),
        ("/other/profiles/office", "hermes -p office cortex"),  # with HERMES_HOME=/other
        ("/h/.hermes/other/profiles/office", "hermes cortex"),  # the host looks in .hermes/profiles
    ],
)
def test_a_command_names_the_profile_that_it_is_for(home, told):
    from cortex.commands import in_host

    assert in_host(Path(home), Path("/h/.hermes")) == told


def test_in_a_profile_messages_name_it(hermes_cortex, monkeypatch, tmp_path):
    profile = tmp_path / ".hermes" / "profiles" / "work"
    profile.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_HOME", str(profile))
    assert "run: hermes -p work cortex init --vault PATH" in hermes_cortex("search", "x")[2]
    assert "next: hermes -p work cortex " in hermes_cortex("init", "--vault", "notes")[1]
    assert "usage: hermes -p work cortex " in hermes_cortex("--help")[1]
    _, out, _ = hermes_cortex("model", "verify")
    assert "; run: hermes -p work cortex model fetch\n" in out
    _, out, _ = hermes_cortex("model", "verify", "--json")
    assert "; run: cortex model fetch" in out


def test_only_what_a_message_says_to_run_is_a_hint():
    from cortex.commands import as_typed

    both = as_typed("no graph; run: cortex index && cortex graph build", "hermes -p x cortex")
    assert both == "no graph; run: hermes -p x cortex index && hermes -p x cortex graph build"

    for text in (
        "changed since it was indexed: cortex index.md, about cortex search.md",
        "there is no note 'run: cortex index' in the vault",
        "the vault /home/me/cortex index does not exist",
        "set run: cortex; see /x/cortex search",
    ):
        assert as_typed(text, "hermes cortex") == text
    assert as_typed("a is gone; run: cortex index", "hermes cortex") == (
        "a is gone; run: hermes cortex index"
    )
    for program in ("hermes cortex", "hermes -p work cortex"):
        told = as_typed("a; run: hermes cortex install", program)
        assert told == as_typed(told, program) == f"a; run: {program} install"
    for before in ("not here (x); with a network, run", "mend that, then run", "x, and run"):
        told = as_typed(f"{before}: cortex embed", "hermes cortex")
        assert told == f"{before}: hermes cortex embed"


def test_a_hint_may_name_any_command():
    from cortex.commands import as_typed

    for name in cli.COMMANDS:
        assert as_typed(f"x; run: cortex {name}", "h c") == f"x; run: h c {name}"


def test_ctrl_c_ends_with_130(ctx, monkeypatch, capsys):
    def stopped(args):
        raise KeyboardInterrupt

    module = import_module("hermes_plugins.tried.cortex.cli.version")
    monkeypatch.setattr(module, "run", stopped)
    args = host_parser(ctx).parse_args(["cortex", "version"])
    with pytest.raises(SystemExit) as end:
        args.func(args)
    assert end.value.code == 130
    assert capsys.readouterr().err.startswith("cortex: stopped; ")


def test_a_command_of_the_host_runs_hooks_by_hand_as_cortex_does(ctx, monkeypatch):
    # `hermes cortex hook` is typed, or is itself the shell hook: nothing else speaks in it.
    seen = []
    module = import_module("hermes_plugins.tried.cortex.cli.version")
    monkeypatch.setattr(module, "run", lambda args: seen.append(dict(os.environ)) or 0)
    assert os.environ[registration.SPEAKS] == "1"
    args = host_parser(ctx).parse_args(["cortex", "version"])
    with pytest.raises(SystemExit):
        args.func(args)
    assert registration.SPEAKS not in seen[0]


# The host takes these wherever they stand on its command line, or keeps words behind them.
TAKEN = {"-p", "--profile", "-c", "--continue", "-r", "--resume", "--version", "-V"}
TAKEN |= {"-z", "--oneshot", "--tui", "--cli", "--yolo", "--accept-hooks", "--safe-mode"}


def every_parser() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name in cli.COMMANDS:
        waiting: list[argparse.ArgumentParser] = [cli.parser_of(name)]
        while waiting:
            parser = waiting.pop()
            yield name, parser
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction):
                    waiting += action.choices.values()


def test_no_command_has_an_option_that_the_host_takes_for_itself():
    parsers = list(every_parser())
    assert {name for name, _ in parsers} == set(cli.COMMANDS)
    spellings = {
        tuple(action.option_strings) for _, parser in parsers for action in parser._actions
    }
    assert {("--config",), ("--top-k",)} <= {tuple(all_of) for all_of in spellings}
    # One that the host takes must be there in another spelling too.
    assert [all_of for all_of in spellings if all_of and set(all_of) <= TAKEN] == []


def test_the_hosts_parser_finds_none_of_our_options_ambiguous():
    build = pytest.importorskip("hermes_cli._parser").build_top_level_parser
    parser, subparsers, _ = build()
    registration.keep_arguments(subparsers.add_parser("cortex"))
    for name, ours in every_parser():
        for option in ours._option_string_actions:
            args = parser.parse_args(["cortex", name, option, "x"])
            assert args.cortex_arguments == [name, option, "x"]


# Without our packages


@pytest.fixture
def bare(tmp_path):
    """Runs Python as if nothing but the standard library were installed."""
    (tmp_path / "cortex").mkdir()
    (tmp_path / "cortex" / "config.yaml").write_text("vault: {path: .}\n", "utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            cwd=CHECKOUT,
            env={"HERMES_HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.mark.parametrize(
    "words", [["--help"], ["version"], ["--version"], ["search", "--help"], ["install", "--help"]]
)
def test_help_and_version_need_no_package(words, bare):
    done = bare("-m", "cortex", *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(("usage: cortex", "cortex 0."))


def test_where_the_config_is_needs_no_package(bare, tmp_path):
    done = bare("-m", "cortex", "config", "path")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{tmp_path / 'cortex' / 'config.yaml'}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["index"],
        ["embed"],
        ["graph", "build"],
        ["search", "bees"],
        ["context", "bees"],
        ["read", "bees"],
        ["status"],
        ["config", "show"],
        ["model", "list"],
        ["init", "--vault", "."],
    ],
)
def test_a_command_that_lacks_a_package_says_in_one_line_what_installs_it(words, bare):
    done = bare("-m", "cortex", *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "cortex: PyYAML is missing in this Python; run: hermes cortex install\n"


def test_a_tool_that_lacks_a_package_says_what_installs_it_and_hooks_stay_silent(bare):
    source = f"""
import json, sys
sys.path.insert(0, {str(CHECKOUT / "tests")!r})
from host_driver import Ctx, load
ctx = Ctx()
load(ctx)
answers = [ctx.call(name, {{"query": "bees", "note": "bees"}}) for name in ctx.tools]
given = ctx.fire("pre_llm_call", session_id="s", platform="cli", user_message="hello",
                 conversation_history=[], is_first_turn=True)
print(json.dumps([answers, given]))
"""
    done = bare("-c", source)
    assert done.returncode == 0, done.stderr
    answers, given = json.loads(done.stdout)
    assert given == []
    for answer in answers:
        assert answer["success"] is False
        assert answer["error"].startswith("PyYAML is missing in ")
        assert answer["error"].endswith("; run: hermes cortex install")


def test_a_package_that_is_there_and_broken_is_no_bug_of_ours(bare, tmp_path):
    (tmp_path / "yaml.py").write_text("import _yaml_of_another_python\n", "utf-8")
    source = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from cortex.cli import main; "
        "sys.exit(main(['status']))"
    )
    done = bare("-c", source)
    assert done.returncode == 1
    assert done.stderr.startswith("cortex: PyYAML ")
    assert done.stderr.endswith("in this Python; run: hermes cortex install\n")
