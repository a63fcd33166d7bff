"""Tests run two at a time; the host sees any gateway on the machine, so these take turns."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock


@contextmanager
def no_other_gateway() -> Iterator[None]:
    """Held by each test that starts a gateway, and by those in which none may run."""
    with FileLock(Path(tempfile.gettempdir()) / "cortex-tests-gateway.lock", timeout=600):
        yield


@contextmanager
def gateway(host: Any) -> Iterator[Callable[[], bool]]:
    """A running gateway of the host's home; gives what tells whether it still runs."""
    with no_other_gateway():
        process = subprocess.Popen(
            [host.executable, "gateway", "run"],
            env=host.env,
            cwd=host.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield lambda: process.poll() is None
        finally:
            process.terminate()
            process.wait(60)
