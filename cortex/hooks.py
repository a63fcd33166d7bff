"""The host's hooks: each in one guard that logs what went wrong and lets the turn go on."""

from __future__ import annotations

import functools
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .commands import as_typed
from .ops.packages import REMEDY, activate_private_packages, missing_package

if TYPE_CHECKING:
    from .inject.injector import Injector
    from .runtime import Runtime

HOOKS = (
    "on_session_start",
    "pre_llm_call",
    "on_session_finalize",
    "on_session_reset",
    "subagent_start",
)

_logger = logging.getLogger(__name__)

Result = TypeVar("Result")


def _guarded(hook: Callable[..., Result]) -> Callable[..., Result | None]:
    @functools.wraps(hook)
    def guarded(self: Hooks, **kwargs: Any) -> Result | None:
        try:
            return hook(self, **kwargs)
        except Exception as error:
            self.report(hook.__name__, error)
            return None

    return guarded


class Hooks:
    """Callbacks by the host's names for them. Every keyword is the host's, and may be absent."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._made: Injector | None = None
        self._lock = threading.Lock()
        self._said: set[str] = set()

    @_guarded
    def on_session_start(self, **kwargs: Any) -> None:
        """Note whose session it is, and warm up for it where the settings say so."""
        task = os.environ.get("HERMES_KANBAN_TASK")
        if task:
            self._note(kwargs)
            _logger.info("kanban task %.100r: no warm-up", task)
            return
        self._injector().warm(kwargs)

    @_guarded
    def pre_llm_call(self, **kwargs: Any) -> dict[str, str] | None:
        """What to put behind the user's message."""
        began = time.monotonic()  # imports count too
        text = self._injector().context(kwargs, began)
        return {"context": text} if text else None

    @_guarded
    def on_session_finalize(self, **kwargs: Any) -> None:
        self._forget(kwargs.get("old_session_id") or kwargs.get("session_id"))

    @_guarded
    def on_session_reset(self, **kwargs: Any) -> None:
        self._forget(kwargs.get("old_session_id"))  # session_id is that of the next

    @_guarded
    def subagent_start(self, **kwargs: Any) -> None:
        """Note who started a subagent: it may see what its parent may."""
        parent, child = kwargs.get("parent_session_id"), kwargs.get("child_session_id")
        self._runtime.note_child(str(parent or ""), str(child or ""))

    def report(self, what: str, error: BaseException) -> None:
        """Log what went wrong; must not itself go wrong."""
        try:
            self._injector().report(what, error)
        except Exception as other:
            package = missing_package(other) if isinstance(other, ImportError) else None
            told = repr(type(other))
            if package:
                told = f"{package} is missing in this Python; {REMEDY}"
                told = as_typed(told, self._runtime.program())
            if told not in self._said:  # the same would be said at each turn
                self._said.add(told)
                _logger.warning("%s: %s", what, told)

    def _note(self, kwargs: dict[str, Any]) -> None:
        self._runtime.note_session(
            str(kwargs.get("session_id") or ""),
            str(kwargs.get("platform") or ""),
            str(kwargs.get("sender_id") or ""),
        )

    def _forget(self, session_id: object) -> None:
        if session_id:
            self._runtime.forget_session(str(session_id))

    def _injector(self) -> Injector:
        """Made at the first call: what it imports would slow down every start of the host."""
        with self._lock:
            if self._made is None:
                activate_private_packages()
                from .inject.injector import Injector

                self._made = Injector(self._runtime, self._runtime.program)
            return self._made
