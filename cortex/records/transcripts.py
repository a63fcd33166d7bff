"""The host's sessions of the last days with what was said in them: its database, else its files.

The database counts. Files, which older hosts wrote, are read only when it is missing, cannot be
read or is of another make, or holds no session of that time; and never when that is switched off.
"""

from __future__ import annotations

import datetime as dt
import difflib
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo, available_timezones

from ..errors import UsageError
from ..redaction import redact
from ..types import Json
from .messages import Message, Tally, Transcript
from .session_db import Unfit, read_database, schema_version
from .session_files import matched, read_files

Reason = Literal[
    "state_db_missing",
    "state_db_unreadable_or_incompatible",
    "state_db_zero_eligible_sessions",
]
BACKENDS = ("state_db", "legacy_json", "legacy_jsonl")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sessions are asked for."""

    database: Path
    now: dt.datetime  # aware
    lookback_days: float = 1  # of 24 hours
    timezone: str = ""  # an IANA name; "" is the system's zone
    globs: tuple[str, ...] = ()  # absolute patterns of session files
    legacy_fallback: bool = True
    # In a database of several, sessions of these, "" being those that name none; () is all.
    profiles: tuple[str, ...] = ()
    with_compacted: bool = False  # also messages that the host summed up to save room

    @property
    def cutoff(self) -> float:
        """Unix seconds."""
        return self.now.timestamp() - self.lookback_days * 86400


@dataclass(slots=True)
class Found:
    """Sessions, and how they were come by."""

    wanted: Wanted
    sessions: list[Transcript] = field(default_factory=list)  # newest first
    reason: Reason | None = None  # why the database was not enough
    is_fallback: bool = False  # whether the files were read instead
    dumps: int = 0  # request dumps that were left alone
    version: int | None = None  # of the database's tables
    is_readable: bool = False
    tally: Tally = field(default_factory=Tally)


def find_sessions(wanted: Wanted) -> Found:
    """The sessions with something said, or begun, since the cutoff; newest first.

    Nothing is written, and no file or database that cannot be read is more than an entry in
    `tally.errors`. Raises UsageError for a time zone that does not exist.
    """
    zone = zone_of(wanted.timezone)
    found = Found(wanted)
    files, found.dumps = matched(wanted.globs)
    if not os.path.lexists(wanted.database):
        found.reason = "state_db_missing"
    else:
        found.version = schema_version(wanted.database)
        try:
            found.sessions = read_database(
                wanted.database,
                wanted.cutoff,
                found.tally,
                zone=zone,
                profiles=wanted.profiles,
                with_compacted=wanted.with_compacted,
            )
            found.is_readable = True
            if not found.sessions:
                found.reason = "state_db_zero_eligible_sessions"
        except Unfit as error:
            found.tally.errors.append(str(error))
            found.reason = "state_db_unreadable_or_incompatible"
    if found.reason and wanted.legacy_fallback:
        found.is_fallback = True
        found.sessions = read_files(files, wanted.cutoff, found.tally, zone=zone)
    return found


def session_report(found: Found) -> dict[str, Json]:
    """How the sessions were come by, without a word of what was said: JSON.

    source_backend_primary: state_db, or legacy_files when those were read instead.
    sessions_seen_by_backend: of any age, of this profile. messages_scanned: of the chosen sessions
    since the cutoff, of every role. skipped: reason -> how many messages or sessions.
    """
    wanted, tally = found.wanted, found.tally
    days = wanted.lookback_days
    zone = zone_of(wanted.timezone)
    cutoff = dt.datetime.fromtimestamp(wanted.cutoff, zone or dt.UTC)
    sources = Counter(session.platform for session in found.sessions)
    return {
        "source_backend_primary": "legacy_files" if found.is_fallback else "state_db",
        "state_db_path": os.fspath(wanted.database),
        "state_db_schema_version": found.version,
        "state_db_readable": found.is_readable,
        "sessions_seen_by_backend": {name: tally.seen[name] for name in BACKENDS},
        "sessions_selected": len(found.sessions),
        "sessions_selected_by_source": dict(sorted(sources.items())),
        "messages_scanned": tally.scanned,
        "fallback_used": found.is_fallback,
        "fallback_reason": found.reason,
        "ignored_files": {"request_dump": found.dumps},
        "lookback_days": int(days) if days == int(days) else days,
        "lookback_cutoff": (cutoff if zone else cutoff.astimezone()).isoformat(timespec="seconds"),
        "timezone": wanted.timezone or system_zone(os.environ),
        "errors": list(tally.errors),
        "skipped": {"tool_or_non_chat_messages": 0, **dict(sorted(tally.skipped.items()))},
    }


def session_rows(found: Found, *, with_messages: bool = False) -> list[dict[str, Json]]:
    """The sessions as JSON, newest first; what was said in them, redacted, only on request."""
    zone = zone_of(found.wanted.timezone)
    rows = []
    for session in found.sessions:
        row: dict[str, Json] = {
            "session_id": session.id,
            "source": session.backend,
            "started_at": moment(session.started, zone),
            "last_message_ts": moment(session.last, zone),
            "path": os.fspath(session.path),
            "message_count": len(session.messages),
            "metadata": {
                "session_source": session.platform,
                "title": redact(session.title)[0] or None,
                "parent_session_id": session.parent or None,
                "end_reason": session.end_reason or None,
                "raw_message_count": session.raw_count,
            },
        }
        if with_messages:
            row["messages"] = [_message(message, session, zone) for message in session.messages]
        rows.append(row)
    return rows


def _message(message: Message, session: Transcript, zone: dt.tzinfo | None) -> dict[str, Json]:
    about: dict[str, Json] = {"id": message.id} if message.id else {}
    if message.is_observed:
        about["observed"] = True
    return {
        "role": message.role,
        "content": redact(message.text)[0],
        "timestamp": moment(message.time, zone),
        "source": session.backend,
        "metadata": about,
    }


def moment(time: float | None, zone: dt.tzinfo | None) -> str | None:
    """Unix seconds as ISO text in a zone, None being the system's; to the second."""
    if time is None:
        return None
    try:
        at = dt.datetime.fromtimestamp(time, zone or dt.UTC)
        return (at if zone else at.astimezone()).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return None


def zone_of(name: str) -> dt.tzinfo | None:
    """The time zone of that IANA name; None, the system's, for "". Raises UsageError."""
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):  # ZoneInfoNotFoundError is a KeyError
        known = {zone.casefold(): zone for zone in available_timezones()}
        near = difflib.get_close_matches(name.casefold(), known, 1, 0.8)
        remedy = f"give {known[near[0]]}" if near else "give one such as Europe/Berlin"
        raise UsageError(
            f"there is no time zone {name!r}; {remedy}, or none for the system's own"
        ) from None


def system_zone(env: Mapping[str, str]) -> str:
    """The IANA name of the system's zone where it can be told, else its distance from UTC."""
    named = env.get("TZ", "").lstrip(":")
    if not named:
        real = os.path.realpath("/etc/localtime").replace(os.sep, "/")
        named = real.partition("/zoneinfo/")[2]
    if named:
        try:
            ZoneInfo(named)
            return named
        except (OSError, ValueError, LookupError):
            pass
    return f"UTC{dt.datetime.now().astimezone():%z}"
