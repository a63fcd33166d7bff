"""What is put behind the user's message, as the host asks for it: for whom, by when, with a log."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ..commands import as_typed
from ..config.legacy import in_force
from ..config.schema import Config
from ..errors import ConfigError
from ..home import chosen
from ..patience import Workers
from ..platforms import Session, refusal
from ..redaction import redact
from ..switch import is_switched_off
from .assembly import Asked, assembled, failure
from .report import Report
from .shown import carried_in
from .sources import Vault
from .turn import Turn, read_turn

MARGIN_S = 0.1  # of the deadline, for what is done after the wait
FIRST_WAIT_S = 1.4  # for the settings, until they have said once how long a turn may take
THREAD_NAME = "cortex-inject"
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

    def __init__(self, host: Host, program: Callable[[], str]) -> None:
        """program: tells what commands in the log begin with, see commands.as_typed."""
        self._host = host
        self._program = program
        self._workers = Workers(THREAD_NAME)
        self._allowed_s: dict[Path, float] = {}  # home -> hooks.deadline_ms as last read, seconds
        self._said: set[str] = set()

    def context(self, kwargs: Mapping[str, Any], began: float | None = None) -> str | None:
        """The marked text for a turn, told with the keywords of pre_llm_call; None for nothing.

        Returns within hooks.deadline_ms of the profile that is asking. What is not ready by then,
        the settings included, is left out. began: when the host called, by time.monotonic.
        """
        began = time.monotonic() if began is None else began
        session = self._session(kwargs)
        env = self._host.environment()
        if is_switched_off(env):
            return None
        turn = read_turn(kwargs)
        if turn is None:
            return None
        home = self._host.home()
        vault = self._settled(session, turn, home, env, began)
        if vault is None:
            return None
        hooks, _ = in_force(vault.config)
        self._allowed_s[home] = hooks.deadline_ms / 1000
        asked = Asked(
            vault=vault,
            hooks=hooks,
            inject=vault.config.inject,
            turn=turn,
            carried=carried_in(kwargs.get("conversation_history")),
            home=home,
            env=env,
            deadline=deadline(began, hooks.deadline_ms / 1000),
            allowed_ms=hooks.deadline_ms,
        )
        report = assembled(asked, self._workers, self._say)
        self._log(report, time.monotonic() - began)
        return report.text or None

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

        self._workers.start(("warm", home), work, most=1)

    def report(self, what: str, error: BaseException) -> None:
        """Log a failure: its message if it is one of ours, else where it happened.

        The message of any other may hold text of a note.
        """
        self._say(failure(what, error))

    def _log(self, report: Report, seconds: float) -> None:
        """One line of names and counts."""
        took = f"{report.characters} characters in {1000 * seconds:.0f} ms"
        if not report.enabled:
            if report.blocks:
                names = ", ".join(block.name for block in report.blocks)
                _logger.debug("%s put behind the message, %s", names, took)
            return
        _logger.info("session %.100r: %s, %s", report.session, report.summary(), took)

    def _session(self, kwargs: Mapping[str, Any]) -> Session:
        session_id = str(kwargs.get("session_id") or "")
        platform = str(kwargs.get("platform") or "")
        sender = str(kwargs.get("sender_id") or "")
        self._host.note_session(session_id, platform, sender)
        if platform and not session_id:
            return Session("", platform, sender)
        return self._host.session(session_id)

    def _settled(
        self, session: Session, turn: Turn, home: Path, env: Mapping[str, str], began: float
    ) -> Vault | None:
        """As _open, waited for as long as a turn may take; None when it takes longer or fails."""
        until = began + FIRST_WAIT_S
        if home in self._allowed_s:
            until = deadline(began, self._allowed_s[home])
        opening = self._workers.start(
            ("settings", home), partial(self._open, session, home, env), by=turn.session_id
        )
        if opening is None or not opening.is_done(until):
            if opening is not None:
                opening.is_late = True
            self._say("the settings could not be read in time")
            return None
        if opening.error is not None:
            self.report("context", opening.error)
        return opening.result

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

    def _say(self, message: str, level: int = logging.WARNING) -> None:
        """Once, and else for who debugs: the same would be said at each turn."""
        message = as_typed(redact(message)[0], self._program())
        if message in self._said or len(self._said) >= _MAX_SAID:
            _logger.debug("%s", message)
            return
        self._said.add(message)
        _logger.log(level, "%s", message)


def refused_hooks(
    config: Config, session: Session, home: Path, env: Mapping[str, str]
) -> str | None:
    """None when hooks may speak in `session`, else why not.

    A session that another began is to be admitted by name, and so is where it comes from.
    """
    admitted = config.hooks.platforms
    names = {name.strip().lower() for name in admitted}
    link: Session | None = session
    for _ in range(20):
        if link is None:
            break
        if link.platform in INHERITED and not {link.platform, "all"} & names:
            return f"{link.platform} sessions are not among hooks.platforms"
        link = link.parent
    return refusal(admitted, session, home, env)


def deadline(began: float, allowed_s: float) -> float:
    """Until when to wait, in seconds of time.monotonic."""
    return began + allowed_s - min(MARGIN_S, allowed_s / 5)
