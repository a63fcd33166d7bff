"""What would be put behind a message, for whoever wants to see it: nothing is injected by it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..config.legacy import in_force
from ..errors import UsageError
from ..patience import Workers
from ..records.recall import history
from ..switch import is_switched_off
from .assembly import Asked, assembled
from .gates import gate
from .injector import THREAD_NAME, deadline
from .report import Report
from .shown import carried_in
from .sources import Vault
from .turn import read_turn

ALL_THE_TIME_S = 120.0  # where nobody waits for a turn
WARM_UP_S = 20.0  # at most: index and model are open already in a host that has run a while

_logger = logging.getLogger(__name__)


def preview(
    vault: Vault,
    message: str,
    *,
    home: Path,
    env: Mapping[str, str],
    session_id: str = "",
    is_first: bool = False,
    may_wait: bool = False,
) -> Report | None:
    """What a turn with this message would get, as if inject.enabled were true, in a process that
    has answered others before; None while the switch of the environment is off.

    session_id: one of the host's, whose history counts as the host would tell it; "" is one of
    which nothing is known. is_first: as a session's first turn. may_wait: past hooks.deadline_ms.
    Raises UsageError for a blank message and an unknown session, Unavailable where the session
    database cannot be read.
    """
    if is_switched_off(env):
        return None
    config = vault.config
    told: Sequence[dict[str, Any]] = ()
    if session_id:
        told = _history(config.inject.sessions.state_db_path or home / "state.db", session_id)
    turn = read_turn(
        {
            "session_id": session_id,
            "user_message": message,
            "conversation_history": [*told, {"role": "user", "content": message}],
        }
    )
    if turn is None:
        raise UsageError("the message is blank; give one that says something")
    hooks, _ = in_force(config)
    workers = Workers(THREAD_NAME)
    if not gate(turn.message, min_chars=0, closers=config.inject.closers).kind:
        _warm_up(vault, workers)
    began = time.monotonic()
    allowed_s = ALL_THE_TIME_S if may_wait else hooks.deadline_ms / 1000
    asked = Asked(
        vault=vault,
        hooks=hooks,
        inject=replace(config.inject, enabled=True),
        turn=replace(turn, is_first=is_first or (turn.is_first and bool(session_id))),
        carried=carried_in(told),
        home=home,
        env=env,
        deadline=deadline(began, allowed_s),
        allowed_ms=int(1000 * allowed_s),
    )
    report = assembled(asked, workers, _log)
    remarks = report.remarks
    if not {"local", "all"} & {name.strip().lower() for name in config.hooks.platforms}:
        remarks += ("hooks.platforms does not name local: sessions on this machine get nothing",)
    return replace(report, enabled=config.inject.enabled, remarks=remarks)


def _warm_up(vault: Vault, workers: Workers) -> None:
    """Open index and model, as far as they can be; what cannot, the sources tell."""
    job = workers.start("warm", vault.warm)
    if job is not None:
        job.is_done(time.monotonic() + WARM_UP_S)


def _history(database: Path, session_id: str) -> list[dict[str, Any]]:
    told = history(database, session_id)
    if not told:
        raise UsageError(
            f"{database} has no session {session_id!r} in which anything was said; "
            "see: cortex session-sources --lookback-days 30"
        )
    return told


def _log(message: str, level: int) -> None:
    _logger.debug("%s", message)  # the report says it
