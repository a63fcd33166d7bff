"""The `cortex` command: choose a command, run it, turn what goes wrong into one line and a code."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import errno
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from ..commands import PROGRAM
from ..errors import CortexError, UsageError
from ..ops.packages import REMEDY, activate_private_packages, missing_package
from .output import program, run_as, say

# A command is the module of its name, imported when it is chosen: configure(parser), run(args).
COMMANDS = {
    "init": "begin: a config for the notes you have, or a new vault",
    "index": "read the vault into chunks and the keyword index",
    "embed": "give new and changed chunks their vectors",
    "model": "fetch, list or verify the weights of the embedding model",
    "graph": "build the link graph; reports on it, export, a page to look at",
    "search": "find notes by words, meaning and links",
    "search-eval": "how well searches find what your judged cases expect",
    "context": "cited Markdown for a question, within a token budget",
    "inject": "what would be put behind a message, from where, and why not more",
    "pack": "what a session starts from, bounded and sealed: build, verify, show",
    "read": "print a note, one heading of it, or some lines",
    "note": "write a note from a template, checked, into the right folder",
    "validate-frontmatter": "what is wrong in the frontmatter of notes, and how to mend it",
    "wiki-health": "does the vault keep the contract of folders, root files and sources",
    "lifecycle": "upkeep, candidates out of sessions, promotion and its undo, weekly review",
    "session-sources": "the sessions of Hermes there are to learn from, and out of what store",
    "cron": "jobs in the scheduler of Hermes: install, uninstall, status",
    "config": "where the settings are, and which are in force",
    "status": "what is built, and what lags behind",
    "doctor": "every check there is, with the command that mends what is wrong",
    "reset": "remove what Cortex built, after listing it",
    "install": "put the packages Cortex needs into this Python; turn the plugin on or off",
    "hook": "answer a shell hook of Hermes: its payload on stdin, context on stdout",
    "completion": "the script that completes commands in bash, zsh or fish",
    "version": "print the version",
}

# The commands by what people want of them, as the help lists them: each in one place.
PURPOSES = {
    "set up": ("init", "install", "model", "config", "completion", "version"),
    "build": ("index", "embed", "graph"),
    "find and read": ("search", "context", "read", "search-eval"),
    "look after it": (
        *("status", "doctor", "validate-frontmatter", "wiki-health", "lifecycle", "note", "reset"),
    ),
    "with Hermes": ("inject", "pack", "cron", "session-sources", "hook"),
}

DEBUG = "CORTEX_DEBUG"  # set: a bug shows its traceback


def main(argv: Sequence[str] | None = None, program: str = PROGRAM) -> int:
    """Run one command and return its exit code.

    program: what was typed in front of the command, for hints of what to run.
    0: done. 1: something is wrong. 2: asked wrongly. 130: stopped by Ctrl-C.
    """
    run_as(program)
    if argv is None:
        decode_names_as_utf8()
        argv = sys.argv[1:]
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by who started us
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = _run(list(argv))
        if sys.stdout is not None:  # closed by whoever started this
            sys.stdout.flush()
        return code
    except CortexError as error:
        say(_masked(str(error)))
        return error.exit_code
    except KeyboardInterrupt:
        say("stopped; what was built before is still in use, and the same command goes on")
        return 130
    except BrokenPipeError:
        _close_stdout()
        return 128 + 13  # as if SIGPIPE had ended it
    except OSError as error:
        say(_masked(_told(error)))
        if error.filename is None:
            _close_stdout()
        return 1
    except Exception as error:
        package = missing_package(error) if isinstance(error, ImportError) else None
        if package is not None:
            how = "is missing" if isinstance(error, ModuleNotFoundError) else "cannot be loaded"
            say(f"{package} {how} in this Python; {REMEDY}")
            return 1
        if os.environ.get(DEBUG):
            raise
        say(
            f"this is a bug in Cortex ({type(error).__name__}: {_masked(str(error))}); "
            f"set {DEBUG}=1 to see where, and please report it"
        )
        return 1


def _run(argv: list[str]) -> int:
    before, name, after = _split(argv)
    if name == "help":
        asked = [*after[1:], "--help"]
        before, name, after = (["--help"], None, []) if not after else ([], after[0], asked)
    if name is None:
        return _without_command(before)
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        raise UsageError(
            f"there is no command {name!r}; "
            + (f"did you mean {near[0]}?" if near else "see: cortex --help")
        )
    module = module_of(name)
    try:
        args = _parse(name, [*before, *after])
    except SystemExit as done:  # argparse has printed the help
        return int(done.code or 0)
    activate_private_packages()
    code: int = module.run(args)
    return code


def module_of(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f".{name.replace('-', '_')}", __name__)


def parser_of(name: str) -> Parser:
    """What reads the arguments of a command, and prints its help."""
    module = module_of(name)
    # A class of its own: subparsers are of the class of their parent, and so have its examples.
    kind = type("Parser", (Parser,), {"examples": getattr(module, "EXAMPLES", ())})
    parser: Parser = kind(prog=f"{program()} {name}", description=_sentence(COMMANDS[name]))
    module.configure(parser)
    _describe_actions(parser)
    return parser


def _describe_actions(parser: argparse.ArgumentParser) -> None:
    """Have the help of each subcommand begin with the line that its command lists it by."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {choice.dest: choice.help for choice in action._choices_actions}
            for name, inner in action.choices.items():
                inner.description = inner.description or _sentence(about.get(name) or "")
                _describe_actions(inner)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _split(argv: list[str]) -> tuple[list[str], str | None, list[str]]:
    """(options in front of the command, the command, all behind it)."""
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] == "--config" else 1
    return argv[:at], argv[at] if at < len(argv) else None, argv[at + 1 :]


def _without_command(options: list[str]) -> int:
    if "--version" in options:
        from .._version import __version__

        print(f"cortex {__version__}")
        return 0
    if "--help" in options or "-h" in options:
        print(_help())
        return 0
    unknown = [option for option in options if option.startswith("-")]
    unknown = [option for option in unknown if option.partition("=")[0] not in _COMMON]
    if unknown:
        raise UsageError(f"there is no option {unknown[0]}; see: cortex --help")
    print(_help(), file=sys.stderr)
    return UsageError.exit_code


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = []
    for purpose, names in PURPOSES.items():
        lines += [f"{purpose}:", *(f"  {name:{width}}  {COMMANDS[name]}" for name in names), ""]
    return "\n".join(
        [
            f"usage: {program()} COMMAND [--config FILE] [--quiet] ...",
            "",
            "Cited answers out of your own Markdown notes.",
            "",
            *lines,
            f"{program()} COMMAND --help tells more. To begin: {program()} init --vault PATH",
            "The config: --config FILE, else $CORTEX_CONFIG, else cortex/config.yaml in the home",
            "of Hermes, which is $HERMES_HOME, else ~/.hermes.",
            "Results go to stdout, all else to stderr. --json prints one document that begins with",
            "schema_version; with it too an error is a line on stderr, and stdout is empty.",
            "Exit codes: 0 done, 1 something is wrong, 2 asked wrongly.",
            "NO_COLOR=1 turns colours off; they are only ever shown on a terminal.",
        ]
    )


_COMMON = ("--config", "--quiet")


Example = tuple[str, str]  # what is typed behind `cortex`, and what it does


class _Formatter(argparse.HelpFormatter):
    """Wraps each paragraph of a description by itself; one with an indented line stays as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = re.split(r"\n\s*\n", text.strip("\n"))
        return "\n\n".join(
            part
            if re.search(r"^\s", part, re.MULTILINE)
            else super(_Formatter, self)._fill_text(part, width, indent)
            for part in paragraphs
        )


class Parser(argparse.ArgumentParser):
    """Says what is wrong as we say everything else; takes --config and --quiet at every level.

    Its help ends with the examples that begin with its own words.
    """

    examples: Sequence[Example] = ()

    def format_help(self) -> str:
        own = self.prog.removeprefix(program()).split()
        lines = [
            f"  {program()} {typed}\n      {about}"
            for typed, about in self.examples
            if typed.split()[: len(own)] == own
        ]
        return super().format_help() + ("\n".join(["\nexamples:", *lines, ""]) if lines else "")

    def __init__(self, **about: object) -> None:
        about["allow_abbrev"] = False
        about["formatter_class"] = _Formatter
        super().__init__(**about)  # type: ignore[arg-type]
        # No default here, or the one of a subcommand would overwrite what stood in front of it.
        self.add_argument(
            "--config", metavar="FILE", default=argparse.SUPPRESS, help="the config to use"
        )
        self.add_argument(
            "--quiet", action="store_true", default=argparse.SUPPRESS, help="show no progress"
        )

    def error(self, message: str) -> NoReturn:
        if wrong := _NO_CHOICE.search(message):
            option, typed, choices = wrong[1], wrong[2], re.findall(r"[\w-]+", wrong[3])
            near = difflib.get_close_matches(typed.strip("'\""), choices, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(choices)}"
            what = f"{self.prog} {option}" if option else self.prog
            raise UsageError(f"{what} has no {typed}; {hint}")
        raise UsageError(f"{message}; see: {self.prog} --help")

    def asked(self, argv: Sequence[str]) -> Parser:
        """The parser of the subcommand that `argv` names; this one where it has none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                named = next((word for word in argv if word in action.choices), None)
                if named is not None:
                    inner: Parser = action.choices[named]
                    return inner.asked(argv[argv.index(named) + 1 :])
        return self

    def near(self, option: str) -> str | None:
        """The option that was meant, if one is written nearly like it."""
        names = [name for name in self._option_string_actions if name.startswith("--")]
        bare = [name[2:] for name in names]  # or the dashes alone would make two alike
        near = difflib.get_close_matches(option.lstrip("-"), bare, n=1, cutoff=NEAR)
        return f"--{near[0]}" if near else None


# How argparse says that a word is none of the choices, whose quotes differ from one Python to
# another.
_NO_CHOICE = re.compile(r"(?:argument (--[\w-]+): )?invalid choice: (.+) \(choose from (.*)\)$")
_EXCLUSION = re.compile(r"-[^\W\d_]{2}|-[\"(\[#]")  # what a question leaves out: `-draft`
NEAR = 0.7  # of 1: `topk` and `top-k`, not `version` and `json`


def _parse(name: str, argv: list[str]) -> argparse.Namespace:
    """The arguments of a command. Words of a question may stand around options and behind `--`."""
    parser = parser_of(name)
    args = argparse.Namespace(config=None, quiet=False)
    takes_query = any(action.dest == "query" for action in parser._actions)
    tail: list[str] = []
    if takes_query and "--" in argv:
        at = argv.index("--")
        argv, tail = argv[:at], argv[at + 1 :]
    args, rest = parser.parse_known_args(argv, args)
    for extra in rest:
        is_excluding = takes_query and _EXCLUSION.match(extra) is not None
        if is_excluding and (":" in extra or not parser.near(extra)):
            continue
        asked = parser.asked(argv)
        if extra.startswith("-") and extra != "-":
            option = extra.partition("=")[0]
            hint = f"see: {asked.prog} --help"
            if near := asked.near(option):
                hint = f"did you mean {near}?"
            elif takes_query:
                hint = "put words of the question that begin with a dash behind --"
            raise UsageError(f"{asked.prog} has no option {option}; {hint}")
        if not takes_query:
            raise UsageError(f"{extra!r} is one argument too many; see: {asked.prog} --help")
    if takes_query:
        args.query = [*args.query, *rest, *tail]
    return args


def decode_names_as_utf8() -> None:
    """Start again in Python's UTF-8 mode if the locale would not let us open a name like `é.md`."""
    if sys.getfilesystemencoding().lower() != "utf-8" and sys.orig_argv:
        command = [sys.orig_argv[0], "-X", "utf8", *sys.orig_argv[1:]]
        os.execv(sys.executable, command)


def _close_stdout() -> None:
    """So that Python does not try to write the rest once more when it ends."""
    with contextlib.suppress(OSError, ValueError):  # not a real file, e.g. in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _masked(message: str) -> str:
    """A message without secrets: it may repeat what was typed, or a name that was found."""
    from ..redaction import redact

    return redact(message)[0]


def _told(error: OSError) -> str:
    """What the system refused, on which path, and what to do about it."""
    path = error.filename2 or error.filename
    if isinstance(path, str) and os.path.basename(path).startswith(".new-"):
        path = os.path.dirname(path)  # where a file was to be made, rather than its passing name
    place = f"{os.fsdecode(path)}: " if isinstance(path, (str, bytes, os.PathLike)) else ""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        remedy = "free some space and run the command again; what was built before is still in use"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        remedy = (
            "give yourself the right to it, or set index.chunks_path to a folder you may write in"
        )
    else:
        remedy = "mend that and run the command again"
    return f"{place}{reason}; {remedy}"
