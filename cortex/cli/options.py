"""Options that several commands take, and the texts they hold, read into values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..errors import UsageError

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
_BOUNDS = ("importance-min", "importance-max", "confidence-min", "confidence-max")
_DATES = ("modified-after", "modified-before")


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_query(parser: argparse.ArgumentParser) -> None:
    about = "the question; put -- before one that begins with a dash"
    parser.add_argument("query", nargs="*", metavar="QUERY", help=about)


def query_text(args: argparse.Namespace) -> str:
    """The words of the question as one text. Raises UsageError if there is nothing in it."""
    text = " ".join(args.query)
    if not text.strip():
        raise UsageError("nothing to search for; give a question, e.g. cortex search tide tables")
    return text


def add_filters(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "filters",
        "commas between values: any of them; ! before one: not that; all filters must hold",
    )
    for name, kept in _LISTS.items():
        group.add_argument(f"--{name}", action="append", metavar="A,B", help=kept)
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
    for option in (*_BOUNDS, *_DATES):
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
