"""`cortex reset`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from ..errors import UsageError
from .options import add_json
from .output import counted, hint, print_json, program, say, table, visible

if TYPE_CHECKING:
    from ..ops.reset import Plan

EXAMPLES: tuple[tuple[str, str], ...] = (
    ("reset --all --dry-run", "list everything that Cortex built, with sizes, and remove nothing"),
    ("reset --all", "the same, then ask, and remove it"),
    ("reset --graph --yes", "remove the graph without asking; cortex graph build makes it again"),
    ("reset --chroma --vectors --yes", "remove the vectors, and the store that is filled of them"),
)
PARTS = {
    "chunks": "the index: chunks, notes and the keyword index",
    "vectors": "the vectors, which cost the most time to make again",
    "chroma": "the vector store, which is filled from the vectors again",
    "graph": "the link graph",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Remove what Cortex built, after listing it. Only what bears its stamp goes: a folder at "
        "index.chroma_path that is not its own is refused, and collections and files of others "
        "stay. Never removed: the notes, the config, weights of models, the journal of "
        "promotions, cases of search-eval. All that goes can be built from the notes again. Exit "
        "codes: 0 done; 1 not done, or something was refused; 2 nothing was chosen."
    )
    for part, about in PARTS.items():
        parser.add_argument(f"--{part}", action="store_true", help=about)
    parser.add_argument("--all", action="store_true", help="everything that Cortex built")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    parser.add_argument("--dry-run", action="store_true", help="list it and remove nothing")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..desk import Desk
    from ..ops.reset import PARTS as EVERY

    parts = EVERY if args.all else tuple(part for part in PARTS if getattr(args, part))
    if not parts:
        options = ", ".join(f"--{part}" for part in PARTS)
        raise UsageError(f"say what to remove: {options} or --all")
    desk = Desk.open(args.config, env=os.environ)
    plan = desk.plan_reset(parts)
    if not args.json:
        print("\n".join(_listed(plan)))
    may = bool(plan.items) and not args.dry_run and (args.yes or _agreed(args))
    if may:
        desk.reset(parts, plan)
    if args.json:
        print_json({"removed": may, "dry_run": args.dry_run, **plan.as_json()})
    elif may:
        print(visible(f"removed {counted(len(plan.items), 'item')}, {_size(plan.size)}"))
        if plan.next:
            commands = ", ".join(program() + line.removeprefix("cortex") for line in plan.next)
            print(visible(f"to build it again: {commands}"))
    elif plan.items and not args.dry_run:
        say("nothing was removed; to remove it without being asked, add --yes")
    is_done = may or args.dry_run or not plan.items
    return 0 if is_done and not plan.refused else 1


def _agreed(args: argparse.Namespace) -> bool:
    if args.json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        return input("Remove this? [y/N] ").strip().casefold() in ("y", "yes")
    except EOFError:
        print()
        return False


def _listed(plan: Plan) -> Iterator[str]:
    if not plan.items:
        yield visible(f"nothing of Cortex to remove in {plan.state}")
    else:
        yield visible(f"what goes, from {plan.state}:")
        yield table(list(_rows(plan)))
        yield f"  {counted(len(plan.items), 'item')}, {_size(plan.size)}"
    for left in plan.refused:
        yield visible(hint(f"left alone: {left.path} {left.why}"))
    if plan.items and plan.stays:
        yield visible(f"what stays there: {', '.join(path.name for path in plan.stays)}")


def _rows(plan: Plan) -> Iterator[list[str]]:
    """What there is to say of several items in the same words stands in one row."""
    for (part, what), alike in groupby(plan.items, key=lambda item: (item.part, item.what)):
        items = list(alike)
        paths = ", ".join(_path(item.path, plan) for item in items)
        size = sum(item.size for item in items)  # 0: its bytes are those of a generation
        yield [f"  {part}", _size(size) if size else "-", what, paths]


def _path(path: os.PathLike[str], plan: Plan) -> str:
    text, root = os.fspath(path), f"{plan.state}{os.sep}"
    return text.removeprefix(root)


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    unit, power = next((unit for unit in _UNITS if count < 1000 * unit[1]), _UNITS[-1])
    return f"{count / power:.1f} {unit}"


_UNITS = (("kB", 10**3), ("MB", 10**6), ("GB", 10**9))
