"""A command of Cortex in a process of its own, which tells what it opened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]  # where the package lies
WAIT_S = 60.0
_KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP")  # what a process cannot begin without, by system

_CODE = """
import json, sys
opened = []

def hear(event, arguments):
    if event in ("open", "sqlite3.connect", "os.listdir", "os.scandir"):
        opened.append(str(arguments[0]))

root, *words = sys.argv[1:]
sys.path.insert(0, root)
from cortex.cli import main
sys.addaudithook(hear)
try:
    code = main(words)
except SystemExit as ended:
    code = ended.code
sys.stdout.flush()
print(json.dumps([code, opened]), file=sys.stderr)
"""


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    printed: str
    opened: tuple[str, ...]  # files, databases and folders, as they were named


def run_command(words: Sequence[str], env: Mapping[str, str], folder: Path) -> Ran:
    """`cortex WORDS…` in `folder`. env: all of its environment but for the way to programs.

    Raises OSError, subprocess.TimeoutExpired, and ValueError when it does not come to its end.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", _CODE, str(ROOT), *words],
        env={**kept, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", **env},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=WAIT_S,
    )
    try:
        code, opened = json.loads(done.stderr.splitlines()[-1])
    except (ValueError, IndexError):
        raise ValueError(f"cortex {words[0]} did not come to its end") from None
    return Ran(int(code or 0), done.stdout, tuple(opened))
