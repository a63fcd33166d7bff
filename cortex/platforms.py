"""Whose session it is: the owner's own, one of somebody the owner paired, or a stranger's.

The host switches a plugin's tools on for every platform, webhooks and API servers included, where
anybody may write. So who may reach the vault is decided here, by what the settings admit:

    local     sessions at the owner's own machine: terminal, desktop, editor
    paired    a messaging platform, when the one who writes was paired or allow-listed by the owner
    NAME      every session of that platform, e.g. telegram or webhook
    all       every session

A subagent is who started it, a cron job who made it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LOCAL = frozenset({"", "cli", "tui", "desktop", "local", "acp"})
# Authenticated by a shared secret or not at all; who writes is never one the owner has paired.
OPEN = frozenset({"webhook", "msgraph_webhook", "api_server", "homeassistant", "relay"})
UNKNOWN = "unknown"

_ALLOWED_USERS = {"qqbot": "QQ_ALLOWED_USERS"}  # all others: <PLATFORM>_ALLOWED_USERS
_TRUE = frozenset({"1", "true", "yes"})
_CRON_SESSION = re.compile(r"cron_([0-9a-f]+)_")


@dataclass(frozen=True, slots=True)
class Session:
    """One session of the host, as far as trust goes."""

    id: str
    platform: str  # as the host names it: cli, telegram, webhook, cron, subagent
    sender: str = ""  # who wrote last, by the platform's own id; "" when it was not told
    parent: Session | None = None  # of a subagent


def refusal(
    admitted: Sequence[str], session: Session, home: Path, env: Mapping[str, str]
) -> str | None:
    """None when `session` is among the `admitted`, else why it is not, as a phrase.

    home: the Hermes home whose pairings and cron jobs count. env: where allow lists are.
    """
    if "all" in admitted:
        return None
    origin = origin_of(session, home)
    platform = origin.platform
    if platform in admitted:
        return None
    if platform in LOCAL:
        return None if "local" in admitted else "local sessions are not admitted"
    if platform in OPEN or platform == UNKNOWN:
        return f"{platform} sessions are not admitted: anybody may write there"
    if "paired" not in admitted:
        return f"{platform} sessions are not admitted"
    if not is_paired(platform, origin.sender, home, env):
        return f"the owner has not paired this {platform} user"
    return None


def origin_of(session: Session, home: Path) -> Session:
    """The session that a subagent or a cron job comes from; else the session itself."""
    seen = 0
    while session.platform == "subagent":
        seen += 1
        if session.parent is None or seen > 20:
            return Session(session.id, UNKNOWN)
        session = session.parent
    if session.platform == "cron":
        return _maker(session, home)
    return session


def is_paired(platform: str, sender: str, home: Path, env: Mapping[str, str]) -> bool:
    """Whether the owner has let `sender` in: by the host's pairing, or by an allow list.

    When the host does not tell who wrote, it is enough that anyone is paired, for then the host
    lets nobody else in; but not where it was told to let everybody in.
    """
    known = _approved(platform, home)
    for name in (_allowed_users(platform), "GATEWAY_ALLOWED_USERS"):
        known |= {user.strip() for user in env.get(name, "").split(",") if user.strip()}
    if sender and sender in known:
        return True
    everybody = any(
        env.get(name, "").strip().lower() in _TRUE
        for name in (f"{platform.upper()}_ALLOW_ALL_USERS", "GATEWAY_ALLOW_ALL_USERS")
    )
    known.discard("*")
    return not sender and bool(known) and not everybody


def _allowed_users(platform: str) -> str:
    return _ALLOWED_USERS.get(platform, f"{platform.upper()}_ALLOWED_USERS")


def _approved(platform: str, home: Path) -> set[str]:
    """The users whose pairing codes the owner approved; the host has two places for them."""
    if not re.fullmatch(r"[a-z0-9_]+", platform):
        return set()
    found: set[str] = set()
    for folder in ("pairing", "platforms/pairing"):
        try:
            approved = json.loads((home / folder / f"{platform}-approved.json").read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(approved, dict):
            found |= set(approved)
    return found


def _maker(session: Session, home: Path) -> Session:
    """Where the cron job of a session was made: there, or on the machine itself."""
    match = _CRON_SESSION.match(session.id)
    if match is None:
        return Session(session.id, "local")
    try:
        jobs = json.loads((home / "cron" / "jobs.json").read_bytes())["jobs"]
        job = next(job for job in jobs if job["id"] == match[1])
        origin = job.get("origin") or {}
        return Session(
            session.id, str(origin.get("platform") or "local"), str(origin.get("user_id") or "")
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        return Session(session.id, UNKNOWN)
