"""Proves in a world of its own that packs keep what they promise: `cortex pack sentinel`.

The world lies in a temporary folder and is removed at the end. No vault, config, host, model or
network is needed, and none that is there is touched.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ..home import chosen, hermes_home
from . import world as worlds
from .proofs import PROOFS
from .stage import Failed, Stage
from .watch import Seen, watched
from .world import World

Open = Callable[[Path, Mapping[str, str]], Any]

UNTOUCHED = "nothing outside of the temporary folder was written or looked into"


def run(report: Callable[[str], None], *, open_cortex: Open, promote: Open) -> int:
    """Tells one line a proof, `ok  …` or `FAIL …: why`; 0 when all hold, else 1.

    open_cortex: opens a Cortex by a config and an environment. promote: promotes the notes that
    are flagged in such a vault, for packs tell of what was done. Leaves no file behind, also when
    it is interrupted.
    """
    before = dict(os.environ), _working_folder()
    results = _Results(report)
    root = Path(os.devnull)
    with contextlib.suppress(OSError):
        tempfile.gettempdir()  # it tries places by a file in each, the first time
    with _ending_in_order(), _without_bytecode(), watched() as seen, _logged() as logged:
        try:
            with tempfile.TemporaryDirectory(prefix="cortex-sentinel-") as folder:
                root = Path(folder).resolve()
                for number, (says, proof) in enumerate(PROOFS):
                    world = worlds.build(root / str(number), time.time())
                    results.schema = world.schema
                    logged.clear()
                    results.tell(says, _why(proof, Stage(world, open_cortex, promote), logged))
                    shutil.rmtree(world.root)
        except (OSError, sqlite3.Error) as error:
            results.tell("a world can be made in the temporary folder", str(error))
    results.tell(UNTOUCHED, _touched(seen, root, before))
    return results.end()


@dataclass
class _Results:
    report: Callable[[str], None]
    failed: int = 0
    told: int = 0
    schema: str = ""

    def tell(self, says: str, why: str) -> None:
        self.told += 1
        self.failed += bool(why)
        self.report(f"FAIL {says}: {why}" if why else f"ok  {says}")

    def end(self) -> int:
        self.report(
            f"{self.told - self.failed} of {self.told} proofs hold; "
            + (f"session databases {self.schema}" if not self.failed else "see what says FAIL")
        )
        return 1 if self.failed else 0


def _why(proof: Callable[[Stage], None], stage: Stage, logged: Sequence[str]) -> str:
    """Why a proof does not hold; "" when it does."""
    try:
        proof(stage)
    except Failed as failed:
        return _without_secrets(str(failed), stage.world)
    except Exception as error:  # a bug in what is proven is a proof that fails, and no more
        return _without_secrets(f"{type(error).__name__}: {error}", stage.world)
    for where, secret in stage.world.secrets.items():
        if any(secret in line for line in logged):
            return f"the secret of {where} stands in the log"
    return ""


def _without_secrets(text: str, world: World) -> str:
    for where, secret in world.secrets.items():
        text = text.replace(secret, f"[the secret of {where}]")
    return " ".join(text.split())


def _touched(seen: Seen, root: Path, before: tuple[dict[str, str], str]) -> str:
    if outside := seen.written_outside(root):
        return f"written: {', '.join(outside[:3])}"
    databases = sorted(path for path in seen.opened if path.endswith(".db"))
    if others := [path for path in databases if not Path(path).is_relative_to(root)]:
        return f"opened: {', '.join(others[:3])}"
    if str(chosen(None, before[0])) in seen.opened:
        return f"opened: {chosen(None, before[0])}"
    home = hermes_home(before[0])
    code = home / "plugins"  # Cortex itself may be installed there
    if mine := [path for path in seen.opened_below(home) if not Path(path).is_relative_to(code)]:
        return f"opened: {', '.join(mine[:3])}"
    if (dict(os.environ), _working_folder()) != before:
        return "the environment or the working folder of this process is another"
    return ""


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody has removed it
        return ""


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does: its folders are removed, its child is stopped."""
    if threading.current_thread() is not threading.main_thread():  # which alone hears of signals
        yield
        return
    before = signal.signal(signal.SIGTERM, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _end(number: int, _: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one would end the removal
    sys.exit(128 + number)


@contextmanager
def _without_bytecode() -> Iterator[None]:
    """Modules that are imported inside the block leave no file beside their code."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What is logged inside the block."""
    lines: list[str] = []
    handler = _Keeper(lines)
    logging.getLogger().addHandler(handler)
    try:
        yield lines
    finally:
        logging.getLogger().removeHandler(handler)


@dataclass(eq=False)
class _Keeper(logging.Handler):
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logging.Formatter().format(record))
