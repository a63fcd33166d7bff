"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import pytest

from cortex.cli import COMMANDS, main
from cortex.cli.output import marked, visible
from cortex.cli.progress import Bar, Lines, Silent, progress_for
from cortex.config import load

CHECKOUT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, with two notes in ~/notes; nothing of the machine's user is read."""
    for name in ("CORTEX_CONFIG", "HERMES_HOME", "WIKI_PATH", "CORTEX_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bees.md").write_text("# Bees\n\nThey dance to tell of [[honey]].\n", "utf-8")
    (notes / "honey.md").write_text("# Honey\n\nSweet; bees make it.\n\n## Use\n\nTea.\n", "utf-8")
    return tmp_path


@pytest.fixture
def run(home: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> Ran:
        code = main(list(arguments))
        return Ran(code, *capsys.readouterr())

    return run


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


# Choosing a command


def test_help_lists_every_command_and_ends_with_0(run: Run) -> None:
    ran = run("--help")
    assert (ran.code, ran.err) == (0, "")
    for name in COMMANDS:
        assert f"\n  {name} " in ran.out


def test_every_command_has_a_help_of_its_own(run: Run) -> None:
    for name in COMMANDS:
        ran = run(name, "--help")
        assert ran.code == 0
        assert ran.out.startswith(f"usage: cortex {name} ")


def test_without_a_command_the_help_goes_to_stderr_and_the_code_is_2(run: Run) -> None:
    ran = run()
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("usage: cortex COMMAND")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serch", "x"], "there is no command 'serch'; did you mean search?"),
        (["zzz"], "there is no command 'zzz'; see: cortex --help"),
        (["--verson"], "there is no option --verson; see: cortex --help"),
        (
            ["search", "x", "--topk", "3"],
            "cortex search has no option --topk; did you mean --top-k?",
        ),
        (
            ["search", "--version", "x"],
            "cortex search has no option --version; "
            "put words of the question that begin with a dash behind --",
        ),
        (
            ["search", "-x"],
            "cortex search has no option -x; "
            "put words of the question that begin with a dash behind --",
        ),
        (["version", "--loud"], "cortex version has no option --loud; see: cortex version --help"),
        (["graph", "brokn"], "cortex graph has no 'brokn'; did you mean broken?"),
        (["config", "shwo"], "cortex config has no 'shwo'; did you mean show?"),
        (["config", "zzz"], "cortex config has no 'zzz'; there are path, show"),
        (
            ["search", "tide", "--group", "day"],
            "cortex search --group has no 'day'; there are chunk, note",
        ),
        (["model", "it's"], 'cortex model has no "it\'s"; there are fetch, list, verify'),
        (
            ["graph", "export", "--loud"],
            "cortex graph export has no option --loud; see: cortex graph export --help",
        ),
        (
            ["graph", "broken", "--limt", "3"],
            "cortex graph broken has no option --limt; did you mean --limit?",
        ),
        (
            ["lifecycle", "undo", "1", "extra"],
            "'extra' is one argument too many; see: cortex lifecycle undo --help",
        ),
        (["index", "extra"], "'extra' is one argument too many; see: cortex index --help"),
        (["search"], "nothing to search for; give a question, e.g. cortex search tide tables"),
        (["search", ""], "nothing to search for; give a question, e.g. cortex search tide tables"),
        (
            ["search", " \n"],
            "nothing to search for; give a question, e.g. cortex search tide tables",
        ),
        (
            ["search", "x", "--top-k", "0"],
            "argument --top-k: must be at least 1, found 0; see: cortex search --help",
        ),
        (
            ["search", "x", "--top-k", "2.0"],
            "argument --top-k: must be a whole number, found '2.0'; see: cortex search --help",
        ),
        (
            ["search", "x", "--importance-min", "high"],
            "argument --importance-min: must be a number, found 'high'; see: cortex search --help",
        ),
        (
            ["search", "x", "--filter", "author"],
            "--filter 'author' is not KEY=VALUE, e.g. --filter author=Ada",
        ),
        (
            ["read", "bees", "--lines", "9-3"],
            "argument --lines: must count up from 1, found '9-3'; see: cortex read --help",
        ),
        (
            ["read", "bees", "--lines", "all"],
            "argument --lines: must be two line numbers such as 10-20, found 'all'; "
            "see: cortex read --help",
        ),
        (
            ["config"],
            "the following arguments are required: path | show; see: cortex config --help",
        ),
    ],
)
def test_asked_wrongly_is_one_line_and_2(
    run: Run, home: Path, arguments: list[str], said: str
) -> None:
    run("init", "--vault", "notes")
    ran = run(*arguments)
    assert (ran.code, ran.out, ran.err) == (2, "", f"cortex: {said}\n")


def test_the_config_may_be_named_before_or_after_the_command(run: Run, home: Path) -> None:
    run("init", "--vault", "notes", "--config", "here/config.yaml")
    wanted = f"{home}/here/config.yaml\n"
    assert run("--config", "here/config.yaml", "config", "path").out == wanted
    assert run("config", "--config", "here/config.yaml", "path").out == wanted
    assert run("config", "path", "--config=here/config.yaml").out == wanted
    assert run("--config=here/config.yaml", "--quiet", "config", "path").out == wanted


def test_without_a_config_the_way_to_one_is_told(run: Run, home: Path) -> None:
    for arguments in (["index"], ["search", "x"], ["config", "path"], ["config", "show"]):
        assert run(*arguments) == Ran(
            2,
            "",
            f"cortex: no config yet at {home}/.hermes/cortex/config.yaml; "
            "run: cortex init --vault PATH\n",
        )


def test_a_broken_config_is_one_line_and_2(run: Run, home: Path) -> None:
    (home / "c.yaml").write_text("search:\n  topk: 3\n")
    assert run("search", "x", "--config", "c.yaml") == Ran(
        2,
        "",
        f"cortex: {home}/c.yaml: line 2: search.topk is not a setting; did you mean top_k?\n",
    )


# init and config


def test_init_writes_a_config_and_nothing_into_the_vault(run: Run, home: Path) -> None:
    before = tree(home / "notes")
    ran = run("init", "--vault", "notes")
    assert ran == Ran(
        0,
        f"vault: {home}/notes (from --vault)\n"
        f"wrote the config: {home}/.hermes/cortex/config.yaml\n"
        "WIKI_PATH is not set; only init ever reads it\n"
        "next: cortex model fetch\n",
        "",
    )
    assert tree(home / "notes") == before
    settings = load(None, {"HOME": str(home)})
    assert settings.vault.path == home / "notes"
    assert settings.vault.include_folders == ()


def test_what_init_writes_is_every_default_and_can_be_uncommented(run: Run, home: Path) -> None:
    run("init", "--vault", "notes")
    file = home / ".hermes/cortex/config.yaml"
    untouched = load(file, {"HOME": str(home)})
    uncommented, count = re.subn(
        r"^( +)# (\w+: )", r"\1\2", file.read_text("utf-8"), flags=re.MULTILINE
    )
    file.write_text(uncommented, "utf-8")
    assert count > 30
    assert untouched.inject.enabled
    assert {path for path in untouched.given if path.startswith("inject.")} == {
        *("inject.enabled", "inject.vault", "inject.fabric", "inject.sessions", "inject.facts")
    }
    every = load(file, {"HOME": str(home)})
    assert every.given > untouched.given
    assert replace(every, given=untouched.given) == untouched


@pytest.mark.parametrize(
    "name",
    ["a #1 note", "key: value", "'single' \"double\"", "$HOME", "~", "日本 🐝", "- x", "tab\there"],
)
def test_a_vault_of_any_name_survives_the_config(run: Run, home: Path, name: str) -> None:
    (home / name).mkdir()
    assert run("init", "--vault", f"./{name}").code == 0
    assert load(None, dict(os.environ)).vault.path == home / name


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_vault_whose_name_is_not_utf8_survives_the_config(run: Run, home: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (home / name).mkdir()
    assert run("init", "--vault", name).code == 0
    assert load(None, {"HOME": str(home)}).vault.path == home / name
    assert run("init").out.startswith(f"vault: {home}/caf\\xe9 (from existing config)\n")


def test_init_a_second_time_keeps_the_config_byte_for_byte(run: Run, home: Path) -> None:
    run("init", "--vault", "notes")
    file = home / ".hermes/cortex/config.yaml"
    file.write_text(file.read_text() + "# mine\n")
    before = file.read_bytes()
    ran = run("init", "--vault", "notes")
    assert ran.out == (
        f"vault: {home}/notes (from --vault)\n"
        f"kept the config: {file}\n"
        "WIKI_PATH is not set; only init ever reads it\n"
        "next: cortex model fetch\n"
    )
    assert file.read_bytes() == before
    assert run("init").out.startswith(f"vault: {home}/notes (from existing config)\n")


def test_init_refuses_another_vault_and_names_both(run: Run, home: Path) -> None:
    run("init", "--vault", "notes")
    (home / "other").mkdir()
    file = home / ".hermes/cortex/config.yaml"
    before = file.read_bytes()
    assert run("init", "--vault", "other") == Ran(
        2,
        "",
        "cortex: WIKI_PATH is not set; only init ever reads it\n"
        f"cortex: {file} is for the vault {home}/notes, not {home}/other; "
        f"change vault.path in it, or keep both: "
        f"cortex init --vault {home}/other --config OTHER_FILE\n",
    )
    assert file.read_bytes() == before


def test_the_same_vault_by_another_name_is_no_other_vault(run: Run, home: Path) -> None:
    run("init", "--vault", "notes")
    (home / "link").symlink_to(home / "notes")
    assert run("init", "--vault", "link").code == 0


def test_init_takes_the_vault_from_wiki_path_when_nothing_else_names_one(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("init") == Ran(
        2, "", "cortex: which folder holds your notes? run: cortex init --vault PATH\n"
    )
    monkeypatch.setenv("WIKI_PATH", "~/notes")
    assert run("init").out.startswith(f"vault: {home}/notes (from WIKI_PATH)\n")
    monkeypatch.setenv("WIKI_PATH", "/elsewhere")
    assert (
        "WIKI_PATH names another folder, /elsewhere; only init ever reads it\n" in run("init").out
    )


def test_init_without_a_folder_of_notes_says_what_to_do(run: Run, home: Path) -> None:
    hint = (
        "give the folder of your notes, or add --scaffold to begin a new one, or --sample for one "
        "to try\n"
    )
    assert run("init", "--vault", "gone") == Ran(
        2, "", f"cortex: the vault {home}/gone does not exist; {hint}"
    )
    (home / "file").write_text("")
    assert run("init", "--vault", "file") == Ran(
        2, "", f"cortex: the vault {home}/file is not a folder; give the folder of your notes\n"
    )
    assert run("init", "--vault", "") == Ran(
        2, "", "cortex: --vault is empty; give the folder of your notes\n"
    )
    assert not (home / ".hermes").exists()


def test_a_dry_run_tells_all_and_writes_nothing(run: Run, home: Path) -> None:
    before = tree(home)
    ran = run("init", "--vault", "new", "--sample", "--dry-run")
    assert ran.code == 0
    assert "would copy the sample vault, " in ran.out
    assert f"would write the config: {home}/.hermes/cortex/config.yaml\n" in ran.out
    assert tree(home) == before


def test_the_sample_is_copied_once_and_never_over_a_note(run: Run, home: Path) -> None:
    assert run("init", "--vault", "sample", "--sample").code == 0
    copied = tree(home / "sample")
    assert copied == tree(CHECKOUT / "cortex" / "sample")
    assert len([name for name in copied if name.endswith(".md")]) >= 25

    (home / "sample" / "index.md").write_text("mine", "utf-8")
    gone = sorted(copied)[0]
    (home / "sample" / gone).unlink()  # as if the first run had been stopped
    assert run("init", "--vault", "sample", "--sample").code == 0
    assert tree(home / "sample") == {**copied, "index.md": b"mine"}


def test_the_sample_never_goes_among_notes_of_others(run: Run, home: Path) -> None:
    before = tree(home)
    assert run("init", "--vault", "notes", "--sample") == Ran(
        2,
        "",
        f"cortex: {home}/notes is not empty; leave --sample out to use the notes in it, "
        "or give another folder\n",
    )
    assert tree(home) == before


def test_config_show_prints_what_is_in_force(run: Run, home: Path) -> None:
    run("init", "--vault", "notes", "--config", "c.yaml")
    shown = run("config", "show", "--config", "c.yaml")
    assert shown.out.startswith(f"# {home}/c.yaml\nvault:\n  path: {home}/notes\n")
    assert "\nsearch:\n  top_k: 20\n" in shown.out
    document = json.loads(run("config", "show", "--json", "--config", "c.yaml").out)
    assert document["schema_version"] == 1
    assert document["path"] == f"{home}/c.yaml"
    assert document["state"] == str(home)
    assert document["search"]["rrf_k"] == 60
    (home / "again.yaml").write_text(shown.out, "utf-8")
    env = dict(os.environ)
    assert load("again.yaml", env).search == load("c.yaml", env).search


# Building and asking


@pytest.fixture
def built(run: Run) -> Run:
    """The two notes, indexed and linked."""
    for arguments in (["init", "--vault", "notes"], ["index"], ["graph", "build"]):
        assert run(*arguments).code == 0
    return run


def test_a_hit_shows_where_it_is_what_matched_and_why(built: Run) -> None:
    ran = built("search", "dance", "--no-boost")
    assert ran.code == 0
    assert ran.out.startswith(
        "1. bees  (bees.md:1)  0.0083 strong\n   They «dance» to tell of [[honey]].\n"
    )
    assert "\n   why: bm25 #1" in ran.out
    assert ran.err == (
        "cortex: vector is not available: nothing has been embedded yet; run: cortex embed\n"
    )


def test_what_matched_is_bold_on_a_terminal_unless_no_color_is_set(
    built: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stdout", Terminal())
    built("search", "dance")
    assert "They \x1b[1mdance\x1b[0m to tell" in sys.stdout.getvalue()  # type: ignore[attr-defined]
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", Terminal())
    built("search", "dance")
    assert "They «dance» to tell" in sys.stdout.getvalue()  # type: ignore[attr-defined]


def test_a_score_can_be_recomputed_from_what_json_prints(built: Run) -> None:
    document = json.loads(built("search", "bees", "honey", "--json").out)
    assert document["schema_version"] == 1
    assert document["query"] == "bees honey"
    assert document["count"] == len(document["results"]) >= 2
    assert document["channels"]["unavailable"] == [
        {"what": "vector", "why": "nothing has been embedded yet; run: cortex embed"}
    ]
    for rank, hit in enumerate(document["results"], 1):
        assert hit["rank"] == rank
        trace = hit["trace"]
        given = [
            channel["weight"] / (60 + channel["effective_rank"])
            for channel in trace["channels"].values()
        ]
        assert trace["fused"] == pytest.approx(sum(given))
        assert hit["score"] == pytest.approx(trace["fused"] * math.prod(trace["factors"].values()))


def test_words_of_a_question_may_stand_around_options_and_behind_a_double_dash(
    built: Run,
) -> None:
    for arguments, query in (
        (["search", "bees", "--json", "dance", "--top-k", "1", "well"], "bees dance well"),
        (["search", "--json", "--", "-bees", "--top-k"], "-bees --top-k"),
        (["search", "bees", "--json", "--", "--json"], "bees --json"),
    ):
        assert json.loads(built(*arguments).out)["query"] == query


@pytest.mark.parametrize("query", ["???", "!!! ...", "\u3000。", "-", '"', "[[", "\0"])
def test_a_question_without_words_finds_nothing_and_is_no_error(built: Run, query: str) -> None:
    ran = built("search", "--", query)
    assert (ran.code, ran.out) == (0, "nothing found\n")


def test_a_note_that_may_not_be_looked_at_is_not_called_gone(
    built: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = os.stat

    def refuse(path: object, *args: object, **options: object) -> os.stat_result:
        if str(path) == f"{home}/notes/bees.md":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return look(path, *args, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(os, "stat", refuse)
    ran = built("search", "dance")
    assert "(bees.md:1)" in ran.out
    assert "cortex: shown as indexed, for permission denied now: bees.md\n" in ran.err
    assert "no longer in the vault" not in ran.err


def test_a_note_that_is_gone_or_whose_folder_has_become_a_file_is_called_gone(
    run: Run, home: Path
) -> None:
    (home / "notes/sub").mkdir()
    (home / "notes/sub/wasp.md").write_text("# Wasp\n\nThey dance.\n", "utf-8")
    run("init", "--vault", "notes")
    run("index")
    (home / "notes/bees.md").unlink()
    (home / "notes/sub/wasp.md").unlink()
    (home / "notes/sub").rmdir()
    (home / "notes/sub").write_text("", "utf-8")
    ran = run("search", "dance")
    assert "no longer in the vault: " in ran.err
    assert "bees.md" in ran.err and "sub/wasp.md" in ran.err


def test_when_nothing_matches_well_the_notes_that_wait_for_the_index_are_told(
    built: Run, home: Path
) -> None:
    waiting = "cortex: 2 notes changed or came since the index; run: cortex index\n"
    assert "not in the index" not in built("search", "hornet").err
    (home / "notes/hornet.md").write_text("# Hornet\n\nIt hunts.\n", "utf-8")
    (home / "notes/honey.md").write_text("# Honey\n\nA hornet has no honey at all.\n", "utf-8")
    for options in ([], ["--json"]):
        ran = built("search", "hornet", *options)
        assert ran.err.endswith(waiting)
        assert "not in the index" not in ran.out
    assert waiting not in built("search", "dance").err  # which is found
    built("index")
    assert "hornet.md" in built("search", "hornet").out


def test_a_very_long_question_is_answered(built: Run) -> None:
    ran = built("search", "--json", "--", "dance " * 20_000)
    assert ran.code == 0
    assert json.loads(ran.out)["results"][0]["file"] == "bees.md"


def test_an_empty_vault_is_indexed_and_searched(run: Run, home: Path) -> None:
    (home / "empty").mkdir()
    run("init", "--vault", "empty", "--no-scaffold")
    assert run("index").out.startswith("0 notes, 0 chunks: 0 added,")
    assert run("graph", "build").code == 0
    ran = run("search", "bees")
    assert (ran.code, ran.out) == (0, "nothing found\n")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_no_terminal_should_see_are_shown_escaped(run: Run, home: Path) -> None:
    for name in (b"caf\xe9.md", b"red\x1b[31m.md", b"two\nlines.md"):
        Path(os.fsdecode(os.fsencode(home / "notes") + b"/" + name)).write_text("# Wasp\n\nA wasp.")
    run("init", "--vault", "notes")
    indexed = run("index")
    assert indexed.code == 0
    assert "\n  caf\\xe9.md  rename the file to index it [name_not_utf8]\n" in indexed.out
    shown = run("search", "wasp").out
    for place in ("(red\\x1b[31m.md:1)", "(two\\nlines.md:1)"):
        assert place in shown
    document = json.loads(run("search", "wasp", "--json").out)
    for hit in document["results"]:
        read = run("read", "--json", "--", hit["file"])
        assert json.loads(read.out)["text"] == "# Wasp\n\nA wasp."


def test_a_note_goes_into_a_pipe_as_it_is_and_to_a_terminal_without_what_it_would_obey(
    built: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "notes" / "esc.md").write_text("\tred\x1b[31m\n", "utf-8")
    assert built("read", "esc").out == "\tred\x1b[31m\n"
    monkeypatch.setattr(sys, "stdout", Terminal())
    built("read", "esc")
    assert sys.stdout.getvalue() == "\tred\\x1b[31m\n"  # type: ignore[attr-defined]


def test_a_state_folder_that_cannot_be_is_one_line_with_the_remedy(run: Run, home: Path) -> None:
    (home / "c.yaml").write_text("vault: {path: notes}\nindex: {chunks_path: c.yaml/c}\n")
    ran = run("index", "--config", "c.yaml")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(f"cortex: cannot write to the state folder {home}/c.yaml (")
    assert ran.err.endswith("name another one in index.chunks_path\n")


def test_the_model_is_listed_and_what_lacks_of_it_is_wrong(built: Run, home: Path) -> None:
    listed = built("model", "list").out.split("\n")
    assert listed[0] == (
        "* sentence-transformers/all-MiniLM-L6-v2: 384 numbers a vector, en; "
        "not here; to get it: cortex model fetch; chosen by auto, as 100 % of the text is English"
    )
    verified = built("model", "verify", "--json")
    assert verified.code == 1
    assert [file["right"] for file in json.loads(verified.out)["files"]] == [False, False]
    embedded = built("embed")
    assert (embedded.code, embedded.out) == (1, "")
    assert embedded.err.count("\n") == 1
    assert "cortex model fetch" in embedded.err


def test_a_vault_that_is_gone_is_asked_for(built: Run, home: Path) -> None:
    (home / "notes").rename(home / "moved")
    assert built("index") == Ran(
        2,
        "",
        f"cortex: the vault {home}/notes does not exist; "
        f"set vault.path in {home}/.hermes/cortex/config.yaml\n",
    )


# What goes wrong


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes `cortex status` end with the given exception."""

    def fail_with(error: BaseException) -> None:
        module = ModuleType("cortex.cli.status")

        def run(args: object) -> int:
            raise error

        module.configure = lambda parser: None  # type: ignore[attr-defined]
        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "cortex.cli.status", module)

    return fail_with


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            KeyboardInterrupt(),
            130,
            "stopped; what was built before is still in use, and the same command goes on",
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "/state/chunks"),
            1,
            "/state/chunks: No space left on device; free some space and run the command again; "
            "what was built before is still in use",
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "/state/x\ny"),
            1,
            "/state/x\\ny: Read-only file system; give yourself the right to it, "
            "or set index.chunks_path to a folder you may write in",
        ),
        (
            ZeroDivisionError("division by zero"),
            1,
            "this is a bug in Cortex (ZeroDivisionError: division by zero); "
            "set CORTEX_DEBUG=1 to see where, and please report it",
        ),
    ],
)
def test_what_goes_wrong_is_one_line(
    run: Run,
    failing: Callable[[BaseException], None],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    failing(error)
    assert run("status") == Ran(code, "", f"cortex: {said}\n")


def test_a_bug_shows_where_it_is_when_asked(
    run: Run, failing: Callable[[BaseException], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(ZeroDivisionError())
    monkeypatch.setenv("CORTEX_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("status")


def test_a_reader_that_leaves_early_is_no_error(
    run: Run, failing: Callable[[BaseException], None]
) -> None:
    failing(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert run("status") == Ran(141, "", "")


# Output and progress


def test_what_a_terminal_would_obey_is_written_as_an_escape() -> None:
    assert visible("a\x1b[31mb\r\nc\u202ed\x85\u2028") == ("a\\x1b[31mb\\r\\nc\\u202ed\\x85\\u2028")
    assert visible("naïve 日本 👩‍🔬\n", keep="\n") == "naïve 日本 👩‍🔬\n"
    assert visible(os.fsdecode(b"caf\xe9.md")) == "caf\\xe9.md"


def test_matches_are_marked_on_one_line() -> None:
    text = "the bees\n\n dance\x1b for bees"
    spans = ((4, 8), (22, 26))
    assert text[4:8] == text[22:26] == "bees"
    assert marked(text, spans, bold=False) == "the «bees» dance\\x1b for «bees»"
    assert marked(text, spans, bold=True) == (
        "the \x1b[1mbees\x1b[0m dance\\x1b for \x1b[1mbees\x1b[0m"
    )


def test_lines_of_progress_are_sparse_and_tell_rate_and_time_left() -> None:
    now = [0.0]
    stream = io.StringIO()
    lines = Lines(stream, clock=lambda: now[0])
    lines.start("embed", 1000, "texts")
    for _ in range(25):
        now[0] += 1
        lines.advance(10)
    lines.finish()
    assert stream.getvalue() == (
        "embed: 100 of 1,000 texts, 10 a second, about 90 s left\n".replace("90 s", "2 min")
        + "embed: 200 of 1,000 texts, 10 a second, about 80 s left\n"
    )


def test_quick_work_prints_no_progress() -> None:
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start("index", 5, "notes")
    lines.advance(5)
    lines.finish()
    assert stream.getvalue() == ""


def test_progress_is_a_bar_on_a_terminal_and_nothing_when_quiet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from argparse import Namespace

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(progress_for(Namespace(quiet=False, json=True)), Bar)
    assert isinstance(progress_for(Namespace(quiet=True)), Silent)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(progress_for(Namespace(quiet=False)), Lines)
    assert isinstance(progress_for(Namespace(quiet=False, json=True)), Silent)


def test_the_bar_tells_how_far_it_is_and_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    bar = Bar(stream, delay_s=0)
    bar.start("embed", 4, "texts")
    bar.advance(2)
    bar.finish()
    bar.finish()
    assert "embed:   0%|" in stream.getvalue()
    assert stream.getvalue().endswith("\r")


# Processes


def python(home: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    world = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT), **env}
    return subprocess.run([sys.executable, *arguments], cwd=home, env=world, capture_output=True)


def test_the_locale_of_the_shell_does_not_matter(home: Path) -> None:
    (home / "Überblick é").mkdir()
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}
    ran = python(home, "-m", "cortex", "init", "--vault", "Überblick é", **plain)
    assert ran.stderr == b""
    assert ran.stdout.decode().startswith(f"vault: {home}/Überblick é (from --vault)\n")
    shown = python(home, "-m", "cortex", "config", "show", **plain)
    assert f"path: {home}/Überblick é\n".encode() in shown.stdout


def test_a_full_disk_under_the_output_is_one_line(home: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "cortex", "--help"],
            cwd=CHECKOUT,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert ran.returncode == 1
    assert ran.stderr.decode() == (
        "cortex: No space left on device; free some space and run the command again; "
        "what was built before is still in use\n"
    )
