"""What is put behind the user's message: blocks that are due, made side by side, by a deadline."""

from __future__ import annotations

import logging
import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ..config.legacy import in_force
from ..config.schema import Config, HooksConfig
from ..errors import ConfigError, CortexError
from ..generated import Block, mark
from ..home import chosen
from ..platforms import Session, refusal
from . import sources
from .blocks import due, is_switched_off
from .deadline import Workers
from .sources import MAX_CHARS, Draft, Vault
from .turn import Turn, read_turn

MARGIN_S = 0.1  # of the deadline, for what is done after the wait
FIRST_WAIT_S = 1.4  # for the settings, which say how long to wait for the rest
INHERITED = ("cron", "subagent")  # platforms of sessions that others began: admitted by name alone
_MAX_SAID = 200

_logger = logging.getLogger(__name__)


class Host(Protocol):
    """What injection needs of the process it runs in; cortex.runtime.Runtime is one."""

    def home(self) -> Path: ...
    def environment(self) -> dict[str, str]: ...
    def note_session(self, session_id: str, platform: str, sender: str = "") -> None: ...
    def session(self, session_id: str) -> Session: ...

    @property
    def cortex(self) -> Callable[[], Vault]: ...


class Injector:
    """Safe to use from several threads."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._workers = Workers()
        self._said: set[str] = set()

    def context(self, kwargs: Mapping[str, Any]) -> str | None:
        """The marked text for a turn, told with the keywords of pre_llm_call; None for nothing.

        Returns within hooks.deadline_ms of the profile that is asking. What is not ready by then,
        the settings included, is left out.
        """
        began = time.monotonic()
        session = self._session(kwargs)
        env = self._host.environment()
        if is_switched_off(env):
            return None
        turn = read_turn(kwargs)
        if turn is None:
            return None
        home = self._host.home()
        opening = self._workers.start(("settings", home), partial(self._open, session, home, env))
        if opening is None or not self._workers.is_done(opening, began + FIRST_WAIT_S):
            self._say("the settings could not be read in time")
            return None
        if opening.error is not None:
            self.report("context", opening.error)
        vault = opening.result
        if vault is None:
            return None
        hooks, _ = in_force(vault.config)
        allowed_s = hooks.deadline_ms / 1000
        deadline = began + allowed_s - min(MARGIN_S, allowed_s / 5)
        made = self._made(vault, hooks, turn, home, deadline)
        blocks = _fitting(made, until=began + allowed_s - MARGIN_S / 2)
        if not blocks:
            return None
        text = mark(blocks)
        _logger.debug(
            "%s put behind the message in %.0f ms, %d characters",
            ", ".join(block.name for block in blocks),
            1000 * (time.monotonic() - began),
            len(text),
        )
        return text

    def warm(self, kwargs: Mapping[str, Any]) -> None:
        """Open what a search needs, in the background, where the settings ask for it.

        Never twice at once for one profile; returns at once.
        """
        session = self._session(kwargs)
        home, env = self._host.home(), self._host.environment()

        def work() -> None:
            try:
                vault: Any = self._open(session, home, env)
                if vault is not None and vault.config.hooks.cache_warm.enabled:
                    began = time.monotonic()
                    vault.warm()
                    _logger.info("warmed up in %.0f ms", 1000 * (time.monotonic() - began))
            except Exception as error:
                self.report("cache_warm", error)

        self._workers.start(("warm", home), work, alone=True)

    def report(self, what: str, error: Exception) -> None:
        """Log a failure: its message if it is one of ours, else where it happened.

        The message of any other may hold text of a note.
        """
        if isinstance(error, CortexError):
            self._say(f"{what}: {error}")
        elif isinstance(error, ModuleNotFoundError) and error.name:
            self._say(f"{what}: {error.name} is not installed; run: hermes cortex install")
        else:
            where = "".join(traceback.format_tb(error.__traceback__))
            _logger.error("%s failed with %s\n%s", what, type(error).__name__, where)

    def _session(self, kwargs: Mapping[str, Any]) -> Session:
        session_id = str(kwargs.get("session_id") or "")
        platform = str(kwargs.get("platform") or "")
        sender = str(kwargs.get("sender_id") or "")
        self._host.note_session(session_id, platform, sender)
        if platform and not session_id:
            return Session("", platform, sender)
        return self._host.session(session_id)

    def _open(self, session: Session, home: Path, env: Mapping[str, str]) -> Vault | None:
        """The Cortex of the profile that is asking; None where nothing is to be told."""
        try:
            vault = self._host.cortex()
        except ConfigError as error:
            if env.get("CORTEX_CONFIG") or os.path.lexists(chosen(None, env)):
                self._say(str(error))
            else:
                _logger.debug("nothing is configured: %s", error)
            return None
        refused = refused_hooks(vault.config, session, home, env)
        if refused is not None:
            _logger.debug("nothing is put into this session: %s", refused)
            return None
        return vault

    def _made(
        self, vault: Vault, hooks: HooksConfig, turn: Turn, home: Path, deadline: float
    ) -> list[_Made]:
        """The blocks that are ready by the deadline, in their order."""
        jobs = []
        for name in due(hooks, turn):
            make = partial(_make, name, vault, hooks, turn, home, deadline)
            job = self._workers.start((name, home), make)
            if job is None:
                self._say(f"{name}: left out, for an earlier turn's has not ended yet")
            else:
                jobs.append((name, job))
        made = []
        for name, job in jobs:
            if not self._workers.is_done(job, deadline):
                self._say(f"{name}: left out, it was not ready within {hooks.deadline_ms} ms")
            elif job.error is not None:
                self.report(name, job.error)
            elif job.result is not None:
                made.append(job.result)
        return made

    def _say(self, message: str) -> None:
        """Once as a warning: the same would be said at each turn."""
        if message in self._said or len(self._said) >= _MAX_SAID:
            _logger.debug("%s", message)
            return
        self._said.add(message)
        _logger.warning("%s", message)


def refused_hooks(
    config: Config, session: Session, home: Path, env: Mapping[str, str]
) -> str | None:
    """None when hooks may speak in `session`, else why not.

    A session that another began is to be admitted by name, and so is where it comes from.
    """
    admitted = config.hooks.platforms
    link: Session | None = session
    for _ in range(20):
        if link is None:
            break
        if link.platform in INHERITED and not {link.platform, "all"} & set(admitted):
            return f"{link.platform} sessions are not among hooks.platforms"
        link = link.parent
    return refusal(admitted, session, home, env)


@dataclass(frozen=True, slots=True)
class _Made:
    draft: Draft
    block: Block  # with all the room there is


def _make(
    name: str, vault: Vault, hooks: HooksConfig, turn: Turn, home: Path, deadline: float
) -> _Made | None:
    shown = turn.shown.get(name, frozenset())
    draft: Draft | None = None
    if name == "skill_context":
        draft = sources.skill(hooks.skill_context, vault.config.path.parent, shown)
    elif name == "bootstrap_context":
        draft = sources.bootstrap(hooks.bootstrap_context)
    elif name == "recent_context":
        draft = sources.recent(hooks.recent_context, home, turn.session_id, time.time())
    elif name == "dynamic_context":
        draft = sources.dynamic(hooks.dynamic_context, vault, turn.message, shown, deadline)
    block = draft.block() if draft is not None else None
    return _Made(draft, block) if draft is not None and block is not None else None


def _fitting(made: Sequence[_Made], until: float) -> list[Block]:
    """The blocks that one message holds: a later one is shortened, or left out.

    until: in seconds of time.monotonic; after that nothing is made anew.
    """
    blocks: list[Block] = []
    for one in made:
        if len(mark([*blocks, one.block])) <= MAX_CHARS:
            blocks.append(one.block)
            continue
        if time.monotonic() > until:
            break
        shorter = one.draft.block(MAX_CHARS - len(mark(blocks)))
        if shorter is not None:
            blocks.append(shorter)
    return blocks
