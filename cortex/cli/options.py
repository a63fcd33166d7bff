"""Options that several commands take, and the texts they hold, read into values."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import UsageError

NODE_TYPES = ("note", "tag", "heading", "block", "attachment")  # of the link graph

# Filters by lists of values, as (option, what it keeps).
_LISTS = {
    "type": "notes of these types",
    "status": "notes with one of these statuses",
    "domain": "notes of these domains",
    "project": "notes of these projects",
    "stability": "notes of these stabilities",
    "folder": "notes in these folders, or below them",
    "tags-any": "notes with one of these tags",
    "tags-all": "notes with all of these tags",
    "wikilinks-any": "notes that link to one of these",
    "wikilinks-all": "notes that link to all of these",
}
# Filters by names and texts, which may hold commas: one a time.
_NAMES = {
    "path": "notes whose path has this word, or these in a row; * is any part of a word",
    "title": "the same of title, aliases and file name",
    "phrase": "notes that hold this phrase; given twice: both",
    "exclude": "notes that do not hold this word or phrase",
    "links-to": "notes that link to this one",
    "linked-from": "notes that this one links to",
    "near": "this note, and those within two links of it",
}
_FIELDS = {"phrase": "phrases"}  # where the filter's name is another
_BOUNDS = ("importance-min", "importance-max", "confidence-min", "confidence-max")
_DATES = ("modified-after", "modified-before")
_DAYS = {
    "after": "changed on that day or later: 2025-01-31, 2025-01, 2025, 7d, 2w, 3m, 1y, yesterday",
    "before": "changed before that day, month or year began",
}


def add_action(actions: Any, name: str, about: str, description: str) -> argparse.ArgumentParser:
    """A subcommand whose help keeps its line ends. actions: as add_subparsers gives it."""
    parser: argparse.ArgumentParser = actions.add_parser(
        name,
        help=about,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def add_rerank(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-rerank", action="store_true", help="leave the model of search.reranker out"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def offering(action: argparse.Action, values: Iterable[str]) -> None:
    """Have completion offer `values` of an option that takes others too, or several."""
    action.offered = tuple(values)  # type: ignore[attr-defined]


def with_config(command: str, config: str | None) -> str:
    """A command of ours with the --config that this one was given, so that it is of the same."""
    if not config or not command.startswith("cortex ") or " --config " in command:
        return command
    return f"{command} --config {shlex.quote(config)}"


def add_query(parser: argparse.ArgumentParser) -> None:
    about = (
        'the question, and in it "phrases", -exclusions, OR, tag:x path:x title:x type:x key:value '
        "after:7d before:2025 links-to:NOTE linked-from:NOTE near:NOTE; put it in single quotes, "
        "and -- before one that begins with a dash"
    )
    parser.add_argument("query", nargs="*", metavar="QUERY", help=about)
    parser.add_argument(
        "--plain", action="store_true", help="read all of the question as words, with no syntax"
    )


def add_as_of(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--as-of",
        metavar="DAY",
        help="only what existed and was valid on that day, e.g. 2025-03-31, 2w or yesterday",
    )


def query_text(args: argparse.Namespace) -> str:
    """The words of the question as one text; blank only beside filters, else UsageError."""
    is_several = len(args.query) > 1 and not args.plain
    text = " ".join(map(_quoted_again, args.query) if is_several else args.query)
    if not text.strip() and not filters(args):
        raise UsageError("nothing to search for; give a question, e.g. cortex search tide tables")
    return text


def _quoted_again(argument: str) -> str:
    """`tag:"a b"` and `-"a b"` as they were typed, before the shell took the quotes away."""
    if '"' in argument or not (match := _OPERATOR.fullmatch(argument)):
        return argument
    return f'{match[1]}"{match[2]}"'


_OPERATOR = re.compile(r"(-?[^\W\d][\w-]*:|-)(?![\s-])(\S+\s.*)", re.DOTALL)


def add_filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "filters",
        "commas between values: any of them; ! before one: not that; all filters must hold",
    )
    for name, kept in _LISTS.items():
        group.add_argument(f"--{name}", action="append", metavar="A,B", help=kept)
    for name, kept in _NAMES.items():
        group.add_argument(f"--{name}", action="append", metavar="TEXT", help=kept)
    for name, kept in _DAYS.items():
        group.add_argument(f"--{name}", metavar="DAY", help=kept)
    for name in _BOUNDS:
        group.add_argument(f"--{name}", type=number, metavar="N", help="the bound itself included")
    for name in _DATES:
        group.add_argument(f"--{name}", metavar="YYYY-MM-DD", help="the day itself included")
    group.add_argument(
        "--filter",
        action="append",
        metavar="KEY=VALUE",
        help="notes whose frontmatter property KEY is VALUE; repeat it for other keys and values",
    )


def filters(args: argparse.Namespace) -> dict[str, Any] | None:
    """What add_filters read, by field name; None if no filter was given."""
    chosen: dict[str, Any] = {}
    for option in _LISTS:
        field = option.replace("-", "_")
        if (given := getattr(args, field)) is not None:
            chosen[field] = [part for text in given for part in comma_separated(text)]
    for option in _NAMES:
        if (given := getattr(args, option.replace("-", "_"))) is not None:
            chosen[_FIELDS.get(option, option.replace("-", "_"))] = given
    for option in (*_BOUNDS, *_DATES, *_DAYS):
        field = option.replace("-", "_")
        if (value := getattr(args, field)) is not None:
            chosen[field] = value
    for text in args.filter or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--filter {text!r} is not KEY=VALUE, e.g. --filter author=Ada")
        chosen.setdefault(key.strip(), []).append(value.strip())
    return chosen or None


def comma_separated(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number, found {text!r}")
    return value


def share(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1, found {text}")
    return value


def at_least(low: int) -> Callable[[str], int]:
    """An argparse type: a whole number, `low` or more."""

    def whole(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a whole number, found {text!r}") from None
        if value < low:
            raise argparse.ArgumentTypeError(f"must be at least {low}, found {value}")
        return value

    return whole
