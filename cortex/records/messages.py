"""What was said in sessions of the host, as values; and the times and texts in them, read."""

from __future__ import annotations

import datetime as dt
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ..generated import strip
from ..types import Json

Backend = Literal["state_db", "legacy_json", "legacy_jsonl"]

CHAT_ROLES = ("system", "user", "assistant")
JSON_CONTENT = "\0json:"  # how the host begins content that is not one text
_LATEST = 1e11  # Unix seconds, of the year 5138; a larger number counts milliseconds


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # one of CHAT_ROLES
    text: str  # what was said, without what Cortex put behind it; not redacted
    time: float | None  # Unix seconds
    id: str = ""  # as the store numbers it
    is_observed: bool = False  # overheard in a group, not said to the agent


@dataclass(frozen=True, slots=True)
class Transcript:
    """One session, cut to what was said after the cutoff."""

    id: str
    backend: Backend
    path: Path  # the database, or the file of this session
    platform: str  # cli, telegram, cron, ...; "unknown" when nobody says
    messages: tuple[Message, ...]  # in order of time
    started: float | None  # Unix seconds
    last: float | None  # time of the last message, else when it began
    title: str = ""
    parent: str = ""  # the id of the session that it goes on with, or was started by
    end_reason: str = ""
    chat_type: str = ""  # dm, group, channel, thread; "" when nobody says
    raw_count: int = 0  # messages of the whole session, of every role


@dataclass(slots=True)
class Tally:
    """What was met on the way, beside the sessions."""

    seen: Counter[str] = field(default_factory=Counter)  # backend -> sessions, of any age
    skipped: Counter[str] = field(default_factory=Counter)  # reason -> messages or sessions
    errors: list[str] = field(default_factory=list)
    scanned: int = 0  # messages of the chosen sessions after the cutoff, of every role


def seconds(value: object, zone: dt.tzinfo | None = None) -> float | None:
    """A time of the host's as Unix seconds: a number, in seconds or milliseconds, or ISO text.

    zone: of text that names none; None is the system's. None for what is no time.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text)
        except ValueError:
            try:
                moment = dt.datetime.fromisoformat(text)
                return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()
            except (ValueError, OverflowError, OSError):
                return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number) or number <= 0 or number >= 1000 * _LATEST:
        return None
    return number if number < _LATEST else number / 1000


def said(content: Json) -> str:
    """The text of a message: what stands in its parts, less images and what Cortex added."""
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    if isinstance(content, str) and content.startswith(JSON_CONTENT):
        try:
            content = json.loads(content[len(JSON_CONTENT) :])
        except (ValueError, RecursionError):
            return ""
    return strip("\n".join(_texts(content))).strip()


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    if isinstance(content, dict):
        kind = content.get("type")
        text = content.get("text", content.get("content"))
        return [text] if isinstance(text, str) and kind in (None, *_TEXT_PARTS) else []
    if isinstance(content, list):
        return [text for part in content if not isinstance(part, list) for text in _texts(part)]
    return []


_TEXT_PARTS = ("text", "input_text", "output_text")
