"""Waiting for slow work only so long: it goes on in the background, for whoever asks next."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

MOST_AT_ONCE = 4  # more would only wait for the same model or server
# A daemon thread that ends inside a native library when the interpreter does can abort the process.
GRACE_AT_EXIT_S = 2.0


class Late(Exception):
    """The work was not done in time."""


class Background:
    """Runs work on daemon threads, `most` at once. Safe to use from several threads."""

    def __init__(self, name: str, most: int = MOST_AT_ONCE) -> None:
        self._name = name
        self._free = threading.BoundedSemaphore(most)

    def within(self, wait_s: float, work: Callable[[], T]) -> T:
        """What `work` returns or raises. Raises Late after `wait_s` seconds, and lets it go on.

        While `most` of those that were late still run, it waits for one of them to end.
        """
        until = time.monotonic() + wait_s
        if not self._free.acquire(timeout=max(wait_s, 0)):
            raise Late
        outcome: list[tuple[Any, BaseException | None]] = []

        def run() -> None:
            try:
                outcome.append((work(), None))
            except BaseException as error:
                outcome.append((None, error))
            finally:
                self._free.release()
                with _running_lock:
                    _running.discard(thread)

        thread = threading.Thread(target=run, name=self._name, daemon=True)
        with _running_lock:
            _running.add(thread)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is ending
            self._free.release()
            with _running_lock:
                _running.discard(thread)
            raise Late from None
        thread.join(max(until - time.monotonic(), 0))
        if not outcome:
            raise Late
        result, error = outcome[0]
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]


_running: set[threading.Thread] = set()
_running_lock = threading.Lock()


@atexit.register
def _let_finish() -> None:
    """Give work that is still going on a moment to end by itself."""
    until = time.monotonic() + GRACE_AT_EXIT_S
    with _running_lock:
        left = list(_running)
    for thread in left:
        thread.join(max(until - time.monotonic(), 0))
