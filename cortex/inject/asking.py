"""The sources asked in a turn: side by side, each on a thread of its own, by one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..config.inject import (
    FabricSourceConfig,
    FactsSourceConfig,
    InjectConfig,
    SessionsSourceConfig,
    VaultSourceConfig,
)
from ..errors import CortexError
from ..patience import Job, Workers
from .gates import Gate
from .render import SOURCES
from .shown import NOTHING, Selection
from .source import Ask, Item, Recall, Source

SourceConfig = FactsSourceConfig | VaultSourceConfig | FabricSourceConfig | SessionsSourceConfig

AFTER_SHORT = ("fabric",)  # what a message too short to say much still asks


Select = Callable[[str, Sequence[Item]], Selection]  # source, items -> which of them to tell


@dataclass(frozen=True, slots=True)
class Answer:
    """What a source says, and what of it is to be told."""

    recall: Recall
    chosen: Selection = NOTHING
    has_failed: bool = False  # it was late, or broke; what it had said before counts


@dataclass(slots=True)
class Asking:
    """One source on its way."""

    name: str
    settings: SourceConfig
    not_asked: str = ""  # why it is not; "" when it is
    heading: str = ""
    job: Job[None] | None = None
    _best: Answer | None = None  # so far

    def run(self, make: Callable[[], Source], ask: Ask, select: Select) -> None:
        source = make()
        self.heading = source.heading
        for recall in source.recall(ask):
            best = Answer(recall, select(self.name, recall.items))
            if time.monotonic() > ask.deadline:
                return
            self._best = best

    def answer(self, deadline: float, allowed_ms: int) -> Answer:
        """What it has said by the deadline, waited for; what it lacks is in status and why."""
        if self.job is None:
            return _without(None, "an earlier turn's question has not ended yet")
        if not self.job.is_done(deadline):
            self.job.is_late = True
            return _without(self._best, f"not ready within {allowed_ms} ms")
        if self.job.error is not None:
            return _without(self._best, what_failed(self.job.error))
        return self._best or Answer(Recall("empty"))


def ask_all(
    vault: Any,
    inject: InjectConfig,
    gate: Gate,
    ask: Ask,
    env: Mapping[str, str],
    workers: Workers,
    select: Select,
) -> list[Asking]:
    """Begin to ask the sources, in the order of their blocks; those that may not be are told so."""
    askings = []
    for name in SOURCES:
        settings: SourceConfig = getattr(inject, name)
        asking = Asking(name, settings, _hindrance(name, settings, gate, ask))
        if not asking.not_asked:
            make = partial(source_of, name, inject, vault, env)
            work = partial(asking.run, make, ask, select)
            asking.job = workers.start((name, ask.home), work, by=ask.session_id)
        askings.append(asking)
    return askings


def source_of(name: str, inject: InjectConfig, vault: Any, env: Mapping[str, str]) -> Source:
    """The source of that name; imported by the thread that needs it."""
    if name == "facts":
        from .facts import FactsSource

        return FactsSource(inject.facts, vault)
    if name == "vault":
        from .vault import VaultSource

        return VaultSource(inject.vault, vault, inject.facts)
    if name == "fabric":
        from .fabric import FabricSource

        return FabricSource(inject.fabric, env)
    from .sessions import SessionsSource

    return SessionsSource(inject.sessions)


def what_failed(error: BaseException) -> str:
    """What went wrong, for people: the message of any error but ours may hold text of a note."""
    if isinstance(error, CortexError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{error.name} is not installed; run: cortex install"
    return f"failed with {type(error).__name__}"


def _hindrance(name: str, settings: SourceConfig, gate: Gate, ask: Ask) -> str:
    if not settings.enabled:
        return f"inject.{name}.enabled is false"
    if gate.kind == "closer" or (gate.kind == "short" and name not in AFTER_SHORT):
        return gate.why
    if name == "facts" and not ask.is_first:
        return "asked in a session's first turn alone"
    return ""


def _without(best: Answer | None, why: str) -> Answer:
    if best is None:
        return Answer(Recall("unavailable", why=why), has_failed=True)
    joined = "; ".join(filter(None, (best.recall.why, why)))
    return replace(best, recall=replace(best.recall, why=joined), has_failed=True)
