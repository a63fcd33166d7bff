"""How long work goes on: a bar on a terminal, sparse plain lines elsewhere, or nothing."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from .output import visible

if TYPE_CHECKING:
    from ..protocols import Progress

LINE_EVERY_S = 10.0


def progress_for(args: argparse.Namespace) -> Progress:
    """The one that fits the command line and where stderr goes."""
    if args.quiet:
        return Silent()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return Bar(sys.stderr)
    return Silent() if getattr(args, "json", False) else Lines(sys.stderr)


class Silent:
    def start(self, label: str, total: int, unit: str) -> None: ...
    def advance(self, count: int = 1) -> None: ...
    def finish(self) -> None: ...


class Bar:
    """A bar with rate and time left, which goes away when the work is done."""

    def __init__(self, stream: IO[str], delay_s: float = 0.3) -> None:
        self._stream = stream
        self._delay_s = delay_s  # work that is done sooner shows no bar
        self._bar: Any = None

    def start(self, label: str, total: int, unit: str) -> None:
        from tqdm import tqdm

        self.finish()
        self._bar = tqdm(
            total=total or None,
            desc=visible(label),
            unit=f" {unit}",
            file=self._stream,
            leave=False,
            dynamic_ncols=True,
            delay=self._delay_s,
        )

    def advance(self, count: int = 1) -> None:
        if self._bar is not None:
            self._bar.update(count)

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Lines:
    """At most one line in LINE_EVERY_S; work that is done sooner prints none."""

    def __init__(self, stream: IO[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._label = self._unit = ""
        self._total = self._done = 0
        self._began = self._told = 0.0

    def start(self, label: str, total: int, unit: str) -> None:
        self._label, self._unit, self._total, self._done = label, unit, total, 0
        self._began = self._told = self._clock()

    def advance(self, count: int = 1) -> None:
        self._done += count
        now = self._clock()
        if now - self._told >= LINE_EVERY_S:
            self._told = now
            print(self._line(now - self._began), file=self._stream, flush=True)

    def finish(self) -> None: ...

    def _line(self, elapsed_s: float) -> str:
        rate = self._done / elapsed_s if elapsed_s > 0 else 0.0
        parts = [f"{self._done:,} {self._unit}", f"{rate:.3g} a second"]
        if self._total:
            parts[0] = f"{self._done:,} of {self._total:,} {self._unit}"
            if rate and self._total > self._done:
                parts.append(f"about {_duration((self._total - self._done) / rate)} left")
        return visible(f"{self._label}: {', '.join(parts)}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
