"""`cortex doctor`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from .options import add_json, with_config
from .output import counted, hint, print_json, say, styled, typed, visible

if TYPE_CHECKING:
    from ..checks.doctor import Finding
    from ..checkup import CheckUp

EXAMPLES = (
    ("doctor", "check everything, and say what mends what is wrong"),
    ("doctor --fix", "also do what is safe about it, and check again"),
    ("doctor --quick --json", "in about a second, for a program that watches"),
)
DESCRIPTION = """\
Run every check there is: Python and packages, config, vault, state folder and disk, whether
index, vectors, Chroma and graph are whole and belong together, the model, one real search, and
how Hermes is wired to it. Each finding is ok, info, warning or problem, and names the command
that mends it. Nothing is written, except with --fix.

Exit codes: 0 no problem, there may be warnings; 1 a problem is left; 2 asked wrongly.
"""
NOTHING = "nothing is wrong"
STYLE = {"ok": "green", "info": "", "warning": "yellow", "problem": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--fix",
        action="store_true",
        help="do what is safe: build what is missing, lags or is damaged, fill Chroma again, remove"
        " what killed runs left, bring copied skills up to date; never the vault or any settings",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="read no records, load no model, ask no store: labels, sizes and sums alone",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="say what is sound also where something is wrong beside it",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from ..checkup import check_up

    def tell(name: str) -> None:
        if not args.quiet:
            say(f"to mend it: {_as_typed(name)}")

    result = check_up(args.config, os.environ, fix=args.fix, quick=args.quick, tell=tell)
    if args.json:
        document = result.record()
        document["next"] = [with_config(step, args.config) for step in result.next()]
        print_json(document)
    else:
        print("\n".join(_told(result, args)))
    return 0 if result.is_sound else 1


def _told(result: CheckUp, args: argparse.Namespace) -> Iterator[str]:
    for group, found in groupby(result.findings, lambda finding: finding.group):
        yield from _group(group, list(found), args)
    yield ""
    if result.fixed:
        yield f"fixed: {', '.join(map(_as_typed, result.fixed))}"
    for name, why in result.failed.items():
        yield visible(hint(f"could not fix by {_as_typed(name)}: {why}"))
    counts = result.record()["counts"]
    yield _verdict(counts["problem"], counts["warning"], result.seconds)
    if steps := result.next():
        yield "next:"
    for step in steps:
        yield visible(f"  {typed(with_config(step, args.config))}")


def _group(group: str, found: list[Finding], args: argparse.Namespace) -> Iterator[str]:
    """What was seen on one line, unless something is wrong; then what is not ok, a line each."""
    is_wrong = any(finding.level in ("problem", "warning") for finding in found)
    fine = [f.what for f in found if f.level == "ok" and f.what != NOTHING]
    shown = [finding for finding in found if finding.level != "ok"]
    if (fine and (args.all or not is_wrong)) or not shown:
        yield f"{_mark('ok')} {group:8} {visible('; '.join(fine) or NOTHING)}"
    for finding in shown:
        yield f"{_mark(finding.level)} {group:8} {visible(hint(finding.what))}"
        if finding.command:
            yield visible(f"{'':17}run: {typed(with_config(finding.command, args.config))}")
        elif finding.remedy:
            yield visible(f"{'':17}{finding.remedy}")


def _mark(level: str) -> str:
    return styled(f"{level:7}", STYLE[level], sys.stdout)


def _verdict(problems: int, warnings: int, seconds: float) -> str:
    took = f"({seconds:.1f} s)"
    if not problems and not warnings:
        return f"all is sound {took}"
    told = [counted(problems, "problem")] if problems else ["no problem"]
    told += [counted(warnings, "warning")] if warnings else []
    return f"{', '.join(told)} {took}"


def _as_typed(name: str) -> str:
    return typed(name) if name.startswith("cortex ") else name
