"""Flagged notes that a promotion left alone: each in a sentence, and those not told of before."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..files import read_json, write_json
from ..state import State
from .journal import FOLDER
from .nightly import NightlyReport
from .vault_writes import digest

TOLD = f"{FOLDER}/told.json"  # in the state folder

# How a run that had been stopped has ended, by the outcome in the report.
ENDS = {"done": "finished", "undone": "undone", "partly_undone": "undone in part"}


@dataclass(frozen=True, slots=True, order=True)
class LeftAlone:
    file: str  # vault-relative
    why: str  # ends with its code: `the title 'Bees' is taken by bees.md [title]`


def left_alone(report: NightlyReport) -> list[LeftAlone]:
    """By path."""
    left = [LeftAlone(row["file"], _taken(row)) for row in report.skipped_duplicates]
    for row in report.contradiction_blocks:
        why = f"it contradicts {row['contradicts']} [contradiction]"
        left.append(LeftAlone(row["file"], why))
    for row in report.skipped:
        left.append(LeftAlone(row["file"], f"{row['message']} [{row['reason']}]"))
    return sorted(left)


def _taken(row: dict[str, str]) -> str:
    name = f" {row['name']!r}" if row.get("name") else ""
    return f"the {row['reason']}{name} is taken by {row['existing']} [{row['reason']}]"


def not_told_before(state: State, vault: Path, left: Sequence[LeftAlone]) -> list[LeftAlone]:
    """Those that are new, or whose file or reason has changed; from now on they are told.

    Only what is left alone now is remembered. Where that cannot be written, all are new again.
    """
    try:
        before = read_json(state.root / TOLD)
    except (OSError, ValueError):
        before = None
    before = before if isinstance(before, dict) else {}
    now: dict[str, list[str]] = {}
    news = []
    for one in left:
        mark = digest(f"{one.why}\n".encode("utf-8", "surrogatepass") + _bytes(vault / one.file))
        now.setdefault(one.file, []).append(mark)
        known = before.get(one.file)
        if not isinstance(known, list) or mark not in known:
            news.append(one)
    if now != before:
        with contextlib.suppress(OSError):
            (state.root / FOLDER).mkdir(parents=True, exist_ok=True)
            write_json(state.root / TOLD, now)
    return news


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
