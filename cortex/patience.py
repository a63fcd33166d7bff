"""Slow work on daemon threads, waited for only so long: it goes on, for whoever asks next."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MOST_AT_ONCE = 4  # more would only wait for the same model or server
MOST_LATE = 8  # of one kind of job: what hangs for so many will hang for the next
MOST_OF_A_KIND = 64
# A daemon thread that ends inside a native library when the interpreter does can abort the process.
GRACE_AT_EXIT_S = 2.0


class Late(Exception):
    """The work was not done in time."""


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """Work that was begun."""

    result: T | None = None
    error: BaseException | None = None
    is_late: bool = False  # as whoever waited for it says
    _done: threading.Event = field(default_factory=threading.Event)

    def is_done(self, until: float = 0.0) -> bool:
        """Whether it has ended; waits for that until a moment of time.monotonic."""
        return self._done.wait(max(until - time.monotonic(), 0))


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
        job: Job[T] = Job()
        if not _begin(self._name, job, work, self._free.release) or not job.is_done(until):
            raise Late
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]


class Workers:
    """Starts jobs of several kinds, which whoever starts them waits for. As safe as Background."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: dict[Hashable, dict[Job[Any], Hashable]] = {}  # that run, by kind: who asked
        self._lock = threading.Lock()

    def start(
        self, kind: Hashable, work: Callable[[], T], *, by: Hashable = None, most: int | None = None
    ) -> Job[T] | None:
        """Begin `work`; None while there is no use in it.

        That is while a late job of that kind still runs which the same one began, or MOST_LATE of
        anybody's; and while `most` of that kind run, late or not.
        """
        job: Job[T] = Job()
        with self._lock:
            jobs = self._jobs.setdefault(kind, {})
            late = [whose for running, whose in jobs.items() if running.is_late]
            if by in late or len(late) >= MOST_LATE or len(jobs) >= (most or MOST_OF_A_KIND):
                return None
            jobs[job] = by

        def forget() -> None:
            with self._lock:
                self._jobs[kind].pop(job, None)

        return job if _begin(self._name, job, work, forget) else None


class Urgent:
    """Lets work that somebody waits for go before work that can be left out."""

    def __init__(self, most: int) -> None:
        """most: of the urgent that run at once; more would only slow each other down."""
        self._free = threading.BoundedSemaphore(most)
        self._waiting_or_running = 0
        self._changed = threading.Condition()

    @contextmanager
    def first(self, wait_s: float) -> Iterator[None]:
        """Urgent work: it waits at most so long for those before it, and then runs all the same."""
        with self._changed:
            self._waiting_or_running += 1
        is_free = self._free.acquire(timeout=max(wait_s, 0))
        try:
            yield
        finally:
            if is_free:
                self._free.release()
            with self._changed:
                self._waiting_or_running -= 1
                self._changed.notify_all()

    def is_over(self, wait_s: float) -> bool:
        """Whether nothing urgent is left to do; waits at most so long for that."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting_or_running, max(wait_s, 0))


_running: dict[Job[Any], threading.Thread] = {}
_running_lock = threading.Lock()


def _begin(name: str, job: Job[T], work: Callable[[], T], ended: Callable[[], object]) -> bool:
    """Start `work` on a thread of its own, with the context variables of this one.

    Which profile is asking is such a variable of the host's. False when there can be no thread.
    """
    context = copy_context()

    def run() -> None:
        try:
            job.result = context.run(work)
        except BaseException as error:
            job.error = error
        finally:
            finish()

    def finish() -> None:
        ended()
        with _running_lock:
            _running.pop(job, None)
        job._done.set()

    thread = threading.Thread(target=run, name=name, daemon=True)
    with _running_lock:
        _running[job] = thread
    try:
        thread.start()
    except RuntimeError:  # no more threads, or the interpreter is ending
        finish()
        return False
    return True


@atexit.register
def _let_finish() -> None:
    """Give work that is still going on a moment to end by itself."""
    until = time.monotonic() + GRACE_AT_EXIT_S
    with _running_lock:
        left = list(_running.values())
    for thread in left:
        thread.join(max(until - time.monotonic(), 0))
