"""What was said in session files, as older hosts left them: JSON and JSON Lines."""

from __future__ import annotations

import datetime as dt
import glob
import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..text import decode
from .messages import CHAT_ROLES, Backend, Message, Tally, Transcript, said, seconds

MAX_FILE = 64_000_000  # bytes of one session file
_DUMP = "request_dump_*.json"  # what the host sent to the model, when it debugs: no session
_STAMP = re.compile(r"(?<!\d)(\d{4})-?(\d\d)-?(\d\d)(?:[_T-]?(\d\d)-?(\d\d)-?(\d\d))?(?!\d)")


def matched(globs: Sequence[str]) -> tuple[list[Path], int]:
    """(the session files that the patterns name, sorted; how many request dumps lie beside them).

    A dump is never taken for a session, also when a pattern names it.
    """
    found: set[str] = set()
    dumps: set[str] = set()
    for pattern in globs:
        for name in glob.iglob(pattern, recursive=True):
            (dumps if _is_dump(name) else found).add(os.path.abspath(name))
        folder = os.path.dirname(pattern)
        if not glob.has_magic(folder):
            beside = glob.iglob(os.path.join(glob.escape(folder), _DUMP))
            dumps.update(map(os.path.abspath, beside))
    return [Path(name) for name in sorted(found) if os.path.isfile(name)], len(dumps)


def read_files(
    files: Sequence[Path], cutoff: float, tally: Tally, *, zone: dt.tzinfo | None = None
) -> list[Transcript]:
    """Sessions of the files that are as recent as `cutoff`, newest first, equal ones by id.

    A file is as recent as its newest message, else as the day in its name, else as the file. What
    is older than the cutoff in a recent session is left out; messages without a time count as
    recent as their session. A file that cannot be read is an error in the tally, and the others
    are read. Of two files of one session the first counts.
    """
    found: dict[str, Transcript] = {}
    for file in files:
        backend: Backend = "legacy_jsonl" if file.suffix.lower() == ".jsonl" else "legacy_json"
        try:
            session = _read(file, backend, cutoff, tally, zone)
        except (OSError, ValueError, RecursionError) as error:
            reason = "nested too deep" if isinstance(error, RecursionError) else _reason(error)
            tally.errors.append(f"{file}: {reason}")
            continue
        tally.seen[backend] += 1
        if session is None:
            continue
        if session.id in found:
            tally.skipped["sessions_in_two_files"] += 1
            continue
        found[session.id] = session
    return sorted(found.values(), key=lambda session: (-(session.last or 0), session.id))


def _is_dump(name: str) -> bool:
    name = os.path.basename(name).lower()
    return name.startswith("request_dump_") and name.endswith(".json")


def _read(
    file: Path, backend: Backend, cutoff: float, tally: Tally, zone: dt.tzinfo | None
) -> Transcript | None:
    """The session in a file, None if it is too old. Raises OSError, ValueError, RecursionError."""
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise ValueError("no regular file")
    if status.st_size > MAX_FILE:
        raise ValueError(f"larger than {MAX_FILE // 1_000_000} MB; left alone")
    text, _ = decode(file.read_bytes())
    about, rows = _jsonl(file, text, tally) if backend == "legacy_jsonl" else _json(text)

    times = [seconds(_first(row, *_TIMES), zone) for row in rows]
    known = [time for time in times if time is not None]
    last = max(known) if known else _named_time(file, zone)
    if last is None:
        last = status.st_mtime
    if last < cutoff:
        return None

    messages = []
    for row, time in zip(rows, times, strict=True):
        if time is not None and time < cutoff:
            tally.skipped["messages_before_the_cutoff"] += 1
            continue
        tally.scanned += 1
        role = row.get("role")
        if role not in CHAT_ROLES:
            tally.skipped["tool_or_non_chat_messages"] += 1
        elif not (words := said(row.get("content", row.get("text")))):
            tally.skipped["blank_messages"] += 1
        else:
            messages.append(Message(role, words, time, str(_first(row, "id", "message_id") or "")))
    first = known[0] if known else last
    started = seconds(_first(about, "session_start", "started_at", "created_at"), zone)
    return Transcript(
        id=_text(_first(about, "session_id", "id")) or file.stem.removeprefix("session_"),
        backend=backend,
        path=file,
        platform=_text(_first(about, "platform", "source")) or "unknown",
        messages=tuple(messages),
        started=first if started is None else started,
        last=last,
        title=_text(about.get("title")),
        parent=_text(about.get("parent_session_id")),
        end_reason=_text(about.get("end_reason")),
        chat_type=_text(about.get("chat_type")),
        raw_count=len(rows),
    )


_TIMES = ("timestamp", "created_at", "time", "ts")


def _json(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """(what the file says of its session, its messages): an array, or an object with `messages`,
    or one message. Raises ValueError, RecursionError.
    """
    whole = json.loads(text)
    if isinstance(whole, list):
        return {}, [row for row in whole if isinstance(row, dict)]
    if isinstance(whole, dict) and isinstance(rows := whole.get("messages"), list):
        return whole, [row for row in rows if isinstance(row, dict)]
    if isinstance(whole, dict) and isinstance(whole.get("role"), str):
        return {}, [whole]
    raise ValueError("holds no messages")


def _jsonl(file: Path, text: str, tally: Tally) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The same of a file with one message a line; a line that is none is told, once a file."""
    about: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    broken: list[int] = []
    for number, row in _lines(text):
        if not isinstance(row, dict):
            broken.append(number)
        elif "role" in row and row["role"] != "session_meta":
            rows.append(row)
        else:
            about.update(row)
    if broken:
        more = f", and {len(broken) - 1} more lines" if len(broken) > 1 else ""
        tally.errors.append(f"{file}: line {broken[0]} is no message{more}")
    return about, rows


def _lines(text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(re.split("\r?\n", text), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            yield number, None


def _named_time(file: Path, zone: dt.tzinfo | None) -> float | None:
    """The time in the name of a file, e.g. `session_20260102_101500_ab12cd.json`.

    Of a name that says the day alone it is the end of that day.
    """
    match = _STAMP.search(file.stem)
    if match is None:
        return None
    year, month, day, *clock = (int(part or 0) for part in match.groups())
    hour, minute, second = clock if match[4] else (23, 59, 59)
    try:
        return dt.datetime(year, month, day, hour, minute, second, tzinfo=zone).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _first(row: dict[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg}, line {error.lineno}"
    return str(error)
