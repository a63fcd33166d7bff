"""Tests run two at a time; the host sees any gateway on the machine, so these take turns."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock


@contextmanager
def no_other_gateway() -> Iterator[None]:
    """Held by each test that starts a gateway, and by those in which none may run."""
    with FileLock(Path(tempfile.gettempdir()) / "cortex-tests-gateway.lock", timeout=600):
        yield
