"""Work on daemon threads until a deadline. What is late goes on alone, and is not started twice."""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable, Hashable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# A thread that the interpreter ends inside a native library can take the whole process with it.
GRACE_AT_EXIT_S = 1.0
THREAD_NAME = "cortex-inject"


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    key: Hashable
    result: T | None = None
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Workers:
    """Starts jobs under keys. Safe to use from several threads."""

    def __init__(self) -> None:
        self._late: dict[Hashable, Job[Any]] = {}
        self._lock = threading.Lock()

    def start(self, key: Hashable, work: Callable[[], T], *, alone: bool = False) -> Job[T] | None:
        """Begin `work` in the caller's context; None while a late job of that key still runs.

        alone: none other may start under the key until this one has ended.
        """
        job: Job[T] = Job(key)
        with self._lock:
            late = self._late.get(key)
            if late is not None and not late.done.is_set():
                return None
            self._late.pop(key, None)
            if alone:
                self._late[key] = job
        # Which profile is asking is a context variable of the host.
        context = copy_context()
        thread = threading.Thread(
            target=lambda: context.run(_run, job, work), name=THREAD_NAME, daemon=True
        )
        with _running_lock:
            _running[job] = thread
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is ending
            _ended(job)
            return None
        return job

    def is_done(self, job: Job[T], deadline: float) -> bool:
        """Whether `job` ended by `deadline`, in seconds of time.monotonic; waits until then."""
        if job.done.wait(max(deadline - time.monotonic(), 0)):
            return True
        with self._lock:
            self._late[job.key] = job
        return False


_running: dict[Job[Any], threading.Thread] = {}
_running_lock = threading.Lock()


def _run(job: Job[T], work: Callable[[], T]) -> None:
    try:
        job.result = work()
    except Exception as error:
        job.error = error
    finally:
        _ended(job)


def _ended(job: Job[T]) -> None:
    with _running_lock:
        _running.pop(job, None)
    job.done.set()


@atexit.register
def _let_finish() -> None:
    until = time.monotonic() + GRACE_AT_EXIT_S
    with _running_lock:
        left = list(_running.values())
    for thread in left:
        thread.join(max(until - time.monotonic(), 0))
