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

import functools
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOCAL = frozenset({"", "cli", "tui", "desktop", "local", "acp"})
# Authenticated by a shared secret or not at all; who writes is never one the owner has paired.
# What the host calls the sender there is a route, a topic or a bridge, and so the same for all.
OPEN = frozenset(
    {"webhook", "msgraph_webhook", "api_server", "homeassistant", "relay", "ntfy", "raft"}
)
UNKNOWN = "unknown"
_MESSENGERS = """
bluebubbles dingtalk discord email feishu google_chat irc line matrix mattermost photon qqbot signal
simplex slack sms teams telegram wecom wecom_callback weixin whatsapp whatsapp_cloud yuanbao
"""
# The names that sessions of the host may have: its own platforms, and those of its plugins.
KNOWN = LOCAL - {""} | OPEN | set(_MESSENGERS.split())

_ALLOWED_USERS = {"qqbot": "QQ_ALLOWED_USERS"}  # all others: <PLATFORM>_ALLOWED_USERS
_ALLOW_FROM = ("allow_from", "allowFrom", "dm_allow_from")  # in the host's config.yaml
_CRON_SESSION = re.compile(r"cron_(.+)_\d{8}_\d{6}")
_DEEPEST = 20  # subagents below one another


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
    names = {name.strip().lower() for name in admitted}
    if "all" in names:
        return None
    origin = origin_of(session, home)
    platform = origin.platform
    if platform in names:
        return None
    if platform in LOCAL:
        return None if "local" in names else "local sessions are not admitted"
    if platform in OPEN:
        return f"{platform} sessions are not admitted: anybody may write there"
    if platform == UNKNOWN:
        return "where this session comes from is not known"
    if "paired" not in names:
        return f"{platform} sessions are not admitted"
    if not origin.sender:
        return f"the host did not say who writes in this {platform} session"
    if not is_paired(platform, origin.sender, home, env):
        return f"the owner has not paired this {platform} user"
    return None


def origin_of(session: Session, home: Path) -> Session:
    """The session that a subagent or a cron job comes from; else the session itself."""
    for _ in range(_DEEPEST):
        if session.platform != "subagent":
            break
        if session.parent is None:
            return Session(session.id, UNKNOWN)
        session = session.parent
    if session.platform == "subagent":
        return Session(session.id, UNKNOWN)
    if session.platform == "cron":
        return _maker(session, home)
    return session


def is_paired(platform: str, sender: str, home: Path, env: Mapping[str, str]) -> bool:
    """Whether the owner has let `sender` in by name: by the host's pairing, or by an allow list.

    Not those whom the host lets in because a whole chat, every bot, a role or everybody (`*`) may
    write.
    """
    known = _approved(platform, home) | set(_allowed_by_config(platform, home))
    for name in (_allowed_users(platform), "GATEWAY_ALLOWED_USERS"):
        known |= {user.strip() for user in env.get(name, "").split(",")}
    known -= {"", "*"}
    if platform == "whatsapp":
        known = {_whatsapp_number(user) for user in known}
        return not known.isdisjoint(_whatsapp_aliases(sender))
    return sender in known


def _allowed_users(platform: str) -> str:
    return _ALLOWED_USERS.get(platform, f"{platform.upper()}_ALLOWED_USERS")


def _approved(platform: str, home: Path) -> set[str]:
    """The users whose pairing codes the owner approved; the host keeps them in two places."""
    if not re.fullmatch(r"[a-z0-9_]+", platform):
        return set()
    found: set[str] = set()
    for folder in ("pairing", "platforms/pairing"):
        try:
            approved = json.loads((home / folder / f"{platform}-approved.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(approved, dict):
            found |= set(approved)
    return found


def _allowed_by_config(platform: str, home: Path) -> Iterator[str]:
    """The users whom the host's own config.yaml allows by name, for direct messages.

    Some platforms have no other list. Of groups it lists chats, or who may write in that one.
    """
    path = home / "config.yaml"
    try:
        status = os.stat(path)
    except OSError:
        return
    config = _read_yaml(path, status.st_mtime_ns, status.st_size)
    for place in ((), ("platforms",), ("gateway", "platforms")):
        section = _below(config, *place, platform)
        for mapping in (section, _below(section, "extra")):
            for key in _ALLOW_FROM:
                users = _below(mapping, key)
                if isinstance(users, str):
                    users = users.split(",")
                for user in users if isinstance(users, list) else ():
                    if isinstance(user, (str, int)) and not isinstance(user, bool):
                        yield str(user).strip()


def _below(value: object, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


@functools.lru_cache(maxsize=16)
def _read_yaml(path: Path, modified_ns: int, size: int) -> Any:
    """What stands in a file of that time and size; None if it cannot be read."""
    import yaml

    try:
        return yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None


def _whatsapp_number(user: str) -> str:
    """The number in what the host calls a user, e.g. `+4915:47@s.whatsapp.net`."""
    return user.replace("+", "", 1).partition("@")[0].partition(":")[0]


def _whatsapp_aliases(sender: str) -> set[str]:
    """The numbers of one person, who has a phone's and a hidden one; the host knows which."""
    aliases = {_whatsapp_number(sender)}
    identity: Any = sys.modules.get("gateway.whatsapp_identity")
    if identity is not None:
        aliases |= set(identity.expand_whatsapp_aliases(sender))
    return aliases - {""}


def _maker(session: Session, home: Path) -> Session:
    """Where the cron job of a session was made: in that chat, or on the machine itself."""
    unknown = Session(session.id, UNKNOWN)
    match = _CRON_SESSION.fullmatch(session.id)
    if match is None:
        return unknown
    try:
        jobs = json.loads((home / "cron" / "jobs.json").read_bytes())["jobs"]
        job = next(job for job in jobs if job["id"] == match[1])
        origin = job.get("origin")
        if not isinstance(origin, dict):  # a remark, or nothing: made by `hermes cron create`
            return Session(session.id, "local")
        platform = str(origin["platform"] or UNKNOWN)
        return Session(session.id, platform, str(origin.get("user_id") or ""))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration):
        return unknown
    except RecursionError:  # nested deeper than Python reads
        return unknown
