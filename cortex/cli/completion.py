"""`cortex completion bash | zsh | fish`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass

from . import completion_scripts
from .output import program

SHELLS = {
    "bash": '~/.bashrc: eval "$({program} completion bash)"',
    "zsh": '~/.zshrc, below compinit: eval "$({program} completion zsh)"',
    "fish": "~/.config/fish/config.fish: {program} completion fish | source",
}
EXAMPLES = (
    ("completion bash > ~/.cortex-completion.bash", "keep it in a file, to source from ~/.bashrc"),
    ("completion zsh", "print what zsh is to read"),
    ("completion fish", "print what fish is to read"),
)
DESCRIPTION = """\
Print the script that completes commands, subcommands, options and their values. It is made of
the commands as they are now, and completes `hermes cortex` too; what the host's own completion
knows of `hermes` stays, where that was read before. Nothing is written.

To have it in every shell, put this line into the file named in front of it:

"""
_FILES = re.compile(r"FILE|PATH|FOLDER|DIR|HOME|VAULT|DB|GLOB")  # in a metavar: names of files


@dataclass(frozen=True, slots=True)
class Option:
    names: tuple[str, ...]
    about: str
    value: str = ""  # "": takes none; "files"; "other": cannot be guessed; "choices"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cursor can be: behind `cortex`, behind `cortex graph`, ..."""

    path: tuple[str, ...]
    words: tuple[tuple[str, str], ...]  # what may come next, and what it does
    options: tuple[Option, ...]
    takes_files: bool = False


def configure(parser: argparse.ArgumentParser) -> None:
    lines = [f"  {line.format(program=program())}" for line in SHELLS.values()]
    parser.description = DESCRIPTION + "\n".join(lines)
    parser.add_argument("shell", choices=tuple(SHELLS), metavar="SHELL", help="bash, zsh or fish")


def run(args: argparse.Namespace) -> int:
    print(completion_scripts.SCRIPTS[args.shell](list(places())), end="")
    return 0


def places() -> Iterator[Place]:
    """Every place there is, the one behind `cortex` first."""
    from . import COMMANDS, parser_of

    common = (
        Option(("--config",), "the config to use", "files"),
        Option(("--quiet",), "show no progress"),
        Option(("--help", "-h"), "what there is"),
        Option(("--version",), "print the version"),
    )
    yield Place((), (*COMMANDS.items(), ("help", "what a command does")), common)
    yield Place(("help",), tuple(COMMANDS.items()), ())
    for name in COMMANDS:
        yield from _below((name,), parser_of(name))


def _below(path: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Place]:
    words: list[tuple[str, str]] = []
    options: list[Option] = []
    inner: dict[str, argparse.ArgumentParser] = {}
    takes_files = False
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {choice.dest: choice.help or "" for choice in action._choices_actions}
            inner = dict(action.choices)
            words += [(name, about.get(name, "")) for name in inner]
        elif action.option_strings:
            options.append(_option(parser, action))
        elif action.choices:
            words += [(str(choice), "") for choice in action.choices]
        else:
            takes_files |= _FILES.search(_metavar(action)) is not None
    yield Place(path, tuple(words), tuple(options), takes_files)
    for name, below in inner.items():
        yield from _below((*path, name), below)


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> Option:
    about = parser._get_formatter()._expand_help(action) if action.help else ""
    names = tuple(action.option_strings)
    if action.nargs == 0:
        return Option(names, about)
    if values := action.choices or getattr(action, "offered", ()):
        return Option(names, about, "choices", tuple(map(str, values)))
    is_file = _FILES.search(_metavar(action)) is not None
    return Option(names, about, "files" if is_file else "other")


def _metavar(action: argparse.Action) -> str:
    told = action.metavar
    return " ".join(told) if isinstance(told, tuple) else told or ""
