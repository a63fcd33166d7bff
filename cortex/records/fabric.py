"""A folder of what agents noted: one Markdown file an entry, with its day, agent and summary.

    ---
    date: 2026-05-30            # or a moment: 2026-05-30T14:05:00Z
    agent: deploy-bot
    summary: Fixed the thresholds of context injection
    tags: [context, thresholds] # optional, as are project and id
    project: cortex
    ---
    What was done, as Markdown.

What is missing is filled in: the day from the beginning of the file's name, the agent as
`unknown`, the summary from the first heading, else the first line, and the id from the file's
place in the folder. `timestamp` and `created` stand for date, `project_id` for project.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import Unavailable
from ..text import Undecodable, decode

UNKNOWN = "unknown"
MAX_ENTRIES = 2_000  # the newest files; the others are not read
MAX_FILES = 100_000  # looked at in the folder, those whose names come last
MAX_BYTES = 64_000  # read of a file
MAX_SUMMARY = 200  # characters
_MAX_DEPTH = 12
_LATEST = 253_402_300_799  # Unix seconds, of the last day that a date can be
_MAX_HEADER = 16_000  # characters
_MAX_NAME = 80  # characters of an agent, a project, a tag, an id
_MAX_TAGS = 20

_HEADER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_FIELD = re.compile(r"^([A-Za-z_]+)[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?!\d)")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    id: str  # of the entry itself, else its file's place; no two of a folder have the same
    day: str  # YYYY-MM-DD; "" when nobody says
    agent: str
    summary: str  # on one line
    tags: tuple[str, ...]
    project: str
    body: str  # without the heading that gave the summary
    path: str  # from the folder, with "/"
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class Fabric:
    entries: tuple[Entry, ...]  # newest day first, then by path
    skipped: int  # files that say nothing, or cannot be read
    unread: int  # older files than the newest MAX_ENTRIES


def read_fabric(folder: Path, known: Fabric | None = None) -> Fabric:
    """The entries of a folder and those below it. Raises Unavailable when there is no such folder.

    Hidden files and folders, links to folders, and links that lead out are left out. known: an
    earlier answer, of which files that have not changed are taken over.
    """
    if not folder.is_dir():
        raise Unavailable("fabric", f"there is no folder {folder}; set inject.fabric.path")
    before = {entry.path: entry for entry in known.entries} if known else {}
    files = sorted(_files(folder), key=_written, reverse=True)
    entries: list[Entry] = []
    skipped = 0
    for path, file, about in files[:MAX_ENTRIES]:
        entry = before.get(path)
        if entry is None or (entry.size, entry.modified_ns) != (about.st_size, about.st_mtime_ns):
            entry = _read(path, file, about)
        if entry is None:
            skipped += 1
        else:
            entries.append(entry)
    entries.sort(key=lambda entry: entry.path)
    entries.sort(key=lambda entry: entry.day, reverse=True)
    return Fabric(tuple(_each_its_own(entries)), skipped, max(len(files) - MAX_ENTRIES, 0))


def _written(file: tuple[str, Path, os.stat_result]) -> tuple[str, int, str]:
    """When a file was written: its name says so also where a copy has made all of one age."""
    path, _, about = file
    seconds = min(max(about.st_mtime, 0), _LATEST)
    changed = dt.datetime.fromtimestamp(seconds, dt.UTC).date().isoformat()
    return _day_of_name(path) or changed, about.st_mtime_ns, path


def _files(folder: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    """(path from the folder, the file, what the system says of it), of Markdown files."""
    root = folder.resolve()
    seen = 0
    waiting = [("", 0)]
    while waiting:
        place, depth = waiting.pop()
        try:
            found = sorted(os.scandir(folder / place), key=lambda one: one.name, reverse=True)
        except OSError:
            continue
        for one in found:
            seen += 1
            if seen > MAX_FILES:
                return
            path = f"{place}/{one.name}" if place else one.name
            try:
                if one.name.startswith("."):
                    continue
                if one.is_dir(follow_symlinks=False):
                    if depth < _MAX_DEPTH:
                        waiting.append((path, depth + 1))
                    continue
                if not one.name.lower().endswith((".md", ".markdown")):
                    continue
                if one.is_symlink() and not Path(one.path).resolve().is_relative_to(root):
                    continue
                about = one.stat()
                if stat.S_ISREG(about.st_mode):
                    yield path, Path(one.path), about
            except (OSError, RuntimeError):  # RuntimeError: a link that leads to itself
                continue


def _read(path: str, file: Path, about: os.stat_result) -> Entry | None:
    try:
        with open(file, "rb") as opened:
            text = decode(opened.read(MAX_BYTES))[0]
    except (OSError, Undecodable):
        return None
    header = _HEADER.match(text) if text.startswith("---") else None
    fields = _fields(header[1]) if header and len(header[1]) <= _MAX_HEADER else {}
    body = text[header.end() :] if header else text
    summary = _line(fields.get("summary", ""), MAX_SUMMARY)
    if not summary:
        heading = _HEADING.search(body)
        first = next((line for line in body.splitlines() if line.strip()), "")
        summary = _line(heading[1] if heading else first, MAX_SUMMARY)
        if heading:
            body = body[: heading.start()] + body[heading.end() :]
    if not summary:
        return None
    return Entry(
        id=_line(fields.get("id", ""), _MAX_NAME) or path,
        day=_day(fields) or _day_of_name(path),
        agent=_line(fields.get("agent", ""), _MAX_NAME) or UNKNOWN,
        summary=summary,
        tags=_tags(fields.get("tags", "")),
        project=_line(fields.get("project", fields.get("project_id", "")), _MAX_NAME),
        body=body.strip(),
        path=path,
        size=about.st_size,
        modified_ns=about.st_mtime_ns,
    )


def _fields(header: str) -> Mapping[str, Any]:
    """What a header says, as text; of one that is no YAML, what its lines say."""
    import yaml

    try:
        # No value becomes anything but text, so none can be too large, or no date.
        found = yaml.load(header, Loader=yaml.BaseLoader)
        if isinstance(found, dict):
            return {str(name).lower(): value for name, value in found.items()}
    except (yaml.YAMLError, ValueError, RecursionError):
        pass
    return {name.lower(): value.strip("\"'") for name, value in _FIELD.findall(header)}


def _line(value: Any, limit: int) -> str:
    if not isinstance(value, str):
        return ""
    flat = " ".join(value[: 4 * limit].split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1].rstrip()}…"


def _tags(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else re.split(r"[,\s]+", _line(value, 1_000))
    named = (_line(tag, _MAX_NAME).lstrip("#") for tag in listed[:_MAX_TAGS])
    return tuple(tag for tag in named if tag)


def _day(fields: Mapping[str, Any]) -> str:
    for name in ("date", "timestamp", "created"):
        if day := _beginning_day(_line(fields.get(name, ""), _MAX_NAME)):
            return day
    return ""


def _day_of_name(path: str) -> str:
    """The day that a file's name begins with, else the folder's that it is in."""
    for name in reversed(path.split("/")):
        if day := _beginning_day(name):
            return day
    return ""


def _beginning_day(text: str) -> str:
    """The day that a text begins with, if the calendar has it."""
    found = _DAY.match(text)
    try:
        return dt.date.fromisoformat(found[0]).isoformat() if found else ""
    except ValueError:
        return ""


def _each_its_own(entries: list[Entry]) -> Iterator[Entry]:
    """The entries; one that has the id of another before it goes by its file."""
    taken: set[str] = set()
    for entry in entries:
        if entry.id in taken:
            entry = replace(entry, id=entry.path)
        taken.add(entry.id)
        yield entry
