"""What a check-up is made of: checks that look, findings that say what they saw, their order.

A check never stops the others: one that raises is itself a finding.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import Busy, CortexError, Unavailable
from ..types import Json

Level = Literal["ok", "info", "warning", "problem"]
LEVELS: tuple[Level, ...] = ("problem", "warning", "info", "ok")  # worst first
SHOWN = 5  # names that a finding lists; the rest is counted
REPORT = "please report it"  # of what is a bug
FIX = "cortex doctor --fix"  # the command of what no other one mends
REFILL = "refill Chroma"  # of the vectors that are there
BUILDERS = ("cortex index", "cortex embed", "cortex graph build")
_REMEDY = re.compile(r"(?s)(.+?); (run: )?((?:(?!; ).)+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and how it is."""

    level: Level
    what: str  # one sentence, no full stop
    remedy: str = ""  # what a person does about it, where no command does
    command: str = ""  # that mends it
    fix: str = ""  # what `--fix` does about it: a command of BUILDERS, or a name of its own
    names: tuple[str, ...] = ()  # what it is about: paths of notes, files
    group: str = ""
    check: str = ""

    def record(self) -> dict[str, Json]:
        """As the document of `cortex doctor --json` has it."""
        return {
            "group": self.group,
            "check": self.check,
            "level": self.level,
            "what": self.what,
            "remedy": self.remedy or None,
            "command": self.command or None,
            "fixable": bool(self.fix),
            "names": list(self.names),
        }


Found = Iterator[Finding]


@dataclass(frozen=True, slots=True)
class Check:
    group: str
    name: str
    look: Callable[[], Iterable[Finding]]


def ok(what: str) -> Finding:
    return Finding("ok", what)


def told(level: Level, text: str, names: Iterable[str] = ()) -> Finding:
    """A finding out of a message of ours: what is wrong, then `; run: COMMAND` or `; what to do`.

    A builder's command is also what `--fix` does.
    """
    match = _REMEDY.fullmatch(text)
    if match is None:
        return Finding(level, text, names=tuple(names))
    what, is_command, remedy = match.groups()
    if not is_command:
        return Finding(level, what, remedy, names=tuple(names))
    fix = remedy if remedy.startswith(BUILDERS) else ""
    return Finding(level, what, command=remedy, fix=fix, names=tuple(names))


def problems(texts: Iterable[str]) -> Found:
    return (told("problem", text) for text in texts)


def examine(checks: Sequence[Check]) -> list[Finding]:
    """What all checks find, in their order, worst first within one; one of silence is ok."""
    return [finding for check in checks for finding in examined(check)]


def examined(check: Check) -> list[Finding]:
    """What one check finds. The guard: whatever it raises becomes a finding."""
    found: list[Finding] = []
    try:
        found.extend(check.look())
    except Busy as error:
        found.append(told("warning", str(error)))
    except Unavailable as error:
        found.append(told("problem", error.why))
    except CortexError as error:
        found.append(told("problem", str(error)))
    except OSError as error:
        what = f"could not be looked at: {why(error)}"
        found.append(Finding("problem", what, "mend that first"))
    except ImportError as error:
        what = f"could not be looked at, as {why(error)}"
        found.append(Finding("problem", what, command="cortex install"))
    except Exception as error:
        found.append(Finding("problem", f"the check itself failed ({why(error)})", REPORT))
    if not found:
        found = [ok("nothing is wrong")]
    found = [replace(finding, group=check.group, check=check.name) for finding in found]
    return sorted(found, key=lambda finding: LEVELS.index(finding.level))


def why(error: Exception) -> str:
    """What an error says, in words; a bug with the name of its kind in front."""
    if isinstance(error, CortexError):
        return str(error)
    if isinstance(error, OSError):
        path = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        return f"{path}{error.strerror or error}"
    if isinstance(error, ImportError):
        return f"{error.name or 'a package'} cannot be loaded"
    return f"{type(error).__name__}: {error}"


def distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Without what an earlier check has said in the same words."""
    seen: set[str] = set()
    kept = []
    for finding in findings:
        if finding.level in ("ok", "info") or finding.what not in seen:
            kept.append(finding)
        seen.add(finding.what)
    return kept


def summary(findings: Sequence[Finding]) -> dict[str, int]:
    """How many findings there are of each level, worst first."""
    counts = Counter(finding.level for finding in findings)
    return {level: counts[level] for level in LEVELS}


def listed(names: Sequence[str]) -> str:
    """`a.md, b.md and 3 more`."""
    shown = ", ".join(names[:SHOWN])
    more = len(names) - SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def plural(count: int, one: str, many: str = "") -> str:
    """`1 note`, `2,000 notes`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
