"""What a host process keeps: one Cortex for each profile, and whose session is whose.

A gateway serves several profiles and many sessions at once, on threads of its own. Which profile
is asking is the host's to say, call by call; settings are read again when their file changes.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config.load import find, hermes_home, load
from .platforms import UNKNOWN, Session
from .session_table import SessionTable

if TYPE_CHECKING:
    from .app import Cortex

MAX_ENGINES = 8


class Runtime:
    """Safe to use from several threads. Importing and making one reads no file."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        """env: where HERMES_HOME, CORTEX_CONFIG and the like are looked up; None: the process's."""
        self._env: Mapping[str, str] = os.environ if env is None else env
        self._engines: OrderedDict[Path, tuple[tuple[int, ...], Cortex]] = OrderedDict()
        self._lock = threading.Lock()
        self._sessions: SessionTable[Session] = SessionTable()

    def home(self) -> Path:
        """The Hermes home of the profile that is asking; inside the host, the host says which."""
        constants = sys.modules.get("hermes_constants")
        if constants is not None and self._env is os.environ:
            return Path(constants.get_hermes_home())
        return hermes_home(self._env)

    def environment(self) -> dict[str, str]:
        """The environment as it counts for the profile that is asking.

        CORTEX_CONFIG is the whole process's; a profile that the host serves beside others has its
        own config and nobody else's.
        """
        env = {**self._env, "HERMES_HOME": str(self.home())}
        if Path(env["HERMES_HOME"]) != hermes_home(self._env):
            env.pop("CORTEX_CONFIG", None)
        return env

    def cortex(self) -> Cortex:
        """The Cortex of the profile that is asking, with its settings as they are now.

        Raises ConfigError when there is no config, or a broken one.
        """
        env = self.environment()
        path = find(None, env)
        signature = _signature(path)
        with self._lock:
            kept = self._engines.get(path)
            if kept is not None and kept[0] == signature:
                self._engines.move_to_end(path)
                return kept[1]
        from .app import Cortex

        made = Cortex.open(load(path, env))
        with self._lock:
            self._engines[path] = (signature, made)
            self._engines.move_to_end(path)
            while len(self._engines) > MAX_ENGINES:
                self._engines.popitem(last=False)
        return made

    # Sessions

    def note_session(self, session_id: str, platform: str, sender: str = "") -> None:
        """Remember what a hook was told of a session."""
        if not session_id:
            return
        known = self._sessions.get(session_id)
        parent = known.parent if known is not None else None
        self._sessions.put(session_id, Session(session_id, platform, sender, parent))

    def note_child(self, parent_id: str, child_id: str) -> None:
        """Remember who started a subagent."""
        if child_id:
            parent = self._sessions.get(parent_id) if parent_id else None
            self._sessions.put(child_id, Session(child_id, "subagent", "", parent))

    def forget_session(self, session_id: str) -> None:
        self._sessions.forget(session_id)

    def session(self, session_id: str) -> Session:
        """What is known of a session.

        One that no hook told of is local where only the owner's own sessions can be: outside the
        host, and in a process that serves nobody else. Else it is unknown.
        """
        known = self._sessions.get(session_id) if session_id else None
        if known is not None:
            return known
        context: Any = sys.modules.get("gateway.session_context")
        if context is not None:
            platform = str(context.get_session_env("HERMES_SESSION_PLATFORM") or "")
            if platform:
                sender = str(context.get_session_env("HERMES_SESSION_USER_ID") or "")
                return Session(session_id, platform, sender)
        serves_others = "gateway.run" in sys.modules
        return Session(session_id, UNKNOWN if serves_others else "local")


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)
