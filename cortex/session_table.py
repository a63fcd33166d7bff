"""One value per session id, within limits of number and age; safe to use from several threads."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_SESSIONS = 4096
MAX_AGE_S = 7 * 86400.0


class SessionTable(Generic[T]):
    """The least lately used goes first when there are too many; what is too old is forgotten."""

    def __init__(
        self,
        max_sessions: int = MAX_SESSIONS,
        max_age_s: float = MAX_AGE_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._values: OrderedDict[str, tuple[float, T]] = OrderedDict()  # oldest use first
        self._max_sessions = max_sessions
        self._max_age_s = max_age_s
        self._clock = clock
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            self._prune()
            return len(self._values)

    def get(self, session_id: str) -> T | None:
        with self._lock:
            self._prune()
            if session_id not in self._values:
                return None
            value = self._values.pop(session_id)[1]
            self._values[session_id] = (self._clock(), value)
            return value

    def put(self, session_id: str, value: T) -> None:
        with self._lock:
            self._values.pop(session_id, None)
            self._values[session_id] = (self._clock(), value)
            self._prune()

    def forget(self, session_id: str) -> None:
        with self._lock:
            self._values.pop(session_id, None)

    def _prune(self) -> None:
        oldest = self._clock() - self._max_age_s
        while self._values:
            session_id, (used, _) = next(iter(self._values.items()))
            if used >= oldest and len(self._values) <= self._max_sessions:
                return
            del self._values[session_id]
