"""What a host process keeps: one Cortex for each profile, and whose session is whose.

A gateway serves several profiles and many sessions at once, on threads of its own. Which profile
is asking is the host's to say, call by call; settings are read again when their file changes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .commands import in_host
from .home import default_home, find, hermes_home
from .ops.packages import activate_private_packages
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
        self._engines: OrderedDict[tuple[str, Path], tuple[tuple[int, ...], Cortex]]
        self._engines = OrderedDict()
        self._lock = threading.Lock()
        self._sessions: SessionTable[Session] = SessionTable()

    def home(self) -> Path:
        """The Hermes home of the profile that is asking; inside the host, the host says which."""
        constants = sys.modules.get("hermes_constants")
        if constants is not None and self._env is os.environ:
            return Path(os.path.abspath(constants.get_hermes_home()))
        return hermes_home(self._env)

    def program(self) -> str:
        """What is typed in the host to run `cortex` for the profile that is asking."""
        return in_host(self.home(), default_home(self._env))

    def environment(self) -> dict[str, str]:
        """The environment as it counts for the profile that is asking.

        CORTEX_CONFIG, the lists of users who may write and the keys of services are those of the
        process's own profile. One that the host serves beside it has its own: the host keeps what
        stands in its .env.
        """
        home = self.home()
        env = dict(self._env)
        if home != hermes_home(self._env):
            env = {name: value for name, value in env.items() if not _is_of_one_profile(name)}
        scope: Any = sys.modules.get("agent.secret_scope")
        if scope is not None and self._env is os.environ:
            env |= scope.current_secret_scope() or {}
        return {**env, "HERMES_HOME": str(home)}

    def cortex(self) -> Cortex:
        """The Cortex of the profile that is asking, with its settings as they are now.

        Raises ConfigError when there is no config, or a broken one.
        """
        env = self.environment()
        path = find(None, env)
        key, signature = (env["HERMES_HOME"], path), _signature(path)
        with self._lock:
            kept = self._engines.get(key)
            if kept is not None and kept[0] == signature:
                self._engines.move_to_end(key)
                return kept[1]
        activate_private_packages()
        from .app import Cortex
        from .config.load import load

        config = load(path, env)
        logging.getLogger(__package__).setLevel(config.logging.level.upper())
        made = Cortex.open(config, env=env)
        with self._lock:
            self._engines[key] = (signature, made)
            self._engines.move_to_end(key)
            while len(self._engines) > MAX_ENGINES:
                self._engines.popitem(last=False)
        return made

    def may_want_writing(self) -> bool:
        """Whether a config of this home, or of one that a gateway may serve beside it, seems to set
        tools.write. Quick: the text is searched, not parsed.
        """
        from .home import chosen
        from .ops.homes import beside

        env = self.environment()
        files = [chosen(None, env)]
        with contextlib.suppress(OSError):
            files += [place / "cortex/config.yaml" for _, place in beside(self.home(), env)]
        return any(_sets_write(file) for file in files)

    # Sessions

    def note_session(self, session_id: str, platform: str, sender: str = "") -> None:
        """Remember what a hook was told of a session."""
        if not session_id:
            return
        known = self._sessions.get(session_id)
        parent = known.parent if known is not None else None
        platform = platform or self._unnamed()
        told = self._told_by_the_host()
        if told is not None and platform not in INNER:
            platform, sender = told
        self._sessions.put(session_id, Session(session_id, platform, sender, parent))

    def note_child(self, parent_id: str, child_id: str) -> None:
        """Remember who started a subagent."""
        if child_id:
            parent = self.session(parent_id) if parent_id else None
            self._sessions.put(child_id, Session(child_id, "subagent", "", parent))

    def forget_session(self, session_id: str) -> None:
        self._sessions.forget(session_id)

    def session(self, session_id: str) -> Session:
        """What is known of a session.

        One that no hook told of is local where only the owner's own sessions can be: outside the
        host, and in a process that serves nobody else. Else it is unknown.
        """
        known = self._sessions.get(session_id) if session_id else None
        told = self._told_by_the_host()
        if told is not None:
            # Also for a subagent: of its thread the host says who began it all. For a cron job it
            # names nobody, so whoever calls a session of his by the id of one is not that job.
            is_inner = known is not None and known.platform == "subagent"
            origin = Session("" if is_inner else session_id, *told)
            return Session(session_id, "subagent", parent=origin) if is_inner else origin
        return known or Session(session_id, self._unnamed() or "local")

    def _told_by_the_host(self) -> tuple[str, str] | None:
        """(platform, sender) of the message this thread works on, as the gateway keeps them.

        Surer than what hooks get: the host tells them the sender that its agent was made for,
        also when somebody else writes in the same chat, and takes session ids from API clients.
        """
        context: Any = sys.modules.get("gateway.session_context")
        if context is None or self._env is not os.environ:
            return None
        platform = str(context.get_session_env("HERMES_SESSION_PLATFORM") or "")
        if not platform:
            return None
        return platform, str(context.get_session_env("HERMES_SESSION_USER_ID") or "")

    def _unnamed(self) -> str:
        """The platform of a session for which the host names none.

        The gateway answers comments on shared documents so, and its scheduler runs jobs in
        processes of their own.
        """
        serves_others = "gateway.run" in sys.modules or bool(self._env.get("HERMES_CRON_SESSION"))
        return UNKNOWN if serves_others else ""


INNER = frozenset({"subagent", "cron"})  # started by another session, which is what counts


_OF_ONE_PROFILE = re.compile(
    r"CORTEX_CONFIG|.*_(?:ALLOWED_USERS|ALLOW_ALL_USERS|KEY|TOKEN|SECRET|PASSWORD)", re.IGNORECASE
)


_WRITE_IS_SET = re.compile(
    rb"^[^#\r\n]*?\bwrite[\"']?[ \t]*:(?![ \t]*(?:false|no|off)\b)", re.MULTILINE | re.IGNORECASE
)


def _sets_write(file: Path) -> bool:
    try:
        return _WRITE_IS_SET.search(file.read_bytes()) is not None
    except OSError:
        return False


def _is_of_one_profile(name: str) -> bool:
    return _OF_ONE_PROFILE.fullmatch(name) is not None


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_ino)
