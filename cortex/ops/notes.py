"""A new note out of a template: its properties checked, in its folder, and nothing overwritten."""

from __future__ import annotations

import datetime as dt
import difflib
import json
import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..checks.frontmatter import issues_in
from ..checks.issue import Issue
from ..errors import CortexError, UsageError
from ..files import create_below
from ..redaction import find
from ..text import brief, line_starts, one_line
from ..types import Json
from ..vault.frontmatter import date_of, secret_spans, split
from ..vault.note_schema import FOLDER_TYPES, INBOX, REQUIRED, WORDS
from ..vault.reading import folded, spelt_there
from ..vault.scan import FolderRules, is_visible, scan
from .frontmatter_edit import Change, NotEditable, Value, edited, same_name, value_of
from .note_template import Template, filled, template_for

TYPES = WORDS["type"]
MAX_NAME_BYTES = 180  # systems take 255, and syncing adds to a name

# What a note is given where neither its template nor the user says anything.
_DEFAULTS: dict[str, Value] = {
    "status": "active",
    "tags": [],
    "confidence": "medium",
    "importance": 3,
    "stability": "evolving",
}


@dataclass(frozen=True, slots=True)
class NewNote:
    """What is wanted of a note."""

    title: str  # also its name
    type: str = "note"
    folder: str | None = None  # vault-relative; None goes by the type
    tags: tuple[str, ...] = ()
    properties: Mapping[str, Json] = field(default_factory=dict)
    body: str | None = None  # in the place of the template's
    template: str | None = None  # vault-relative; None goes by the type


@dataclass(frozen=True, slots=True)
class Draft:
    """A note as it would be written."""

    path: str  # vault-relative
    text: str
    template: str | None  # the vault's own that it was made from; None: the one Cortex ships
    warnings: tuple[Issue, ...]  # of its properties, and codes same_name, new_folder, placeholder
    secrets: tuple[tuple[int, str], ...]  # (line, kind) of what looks like one


def draft(vault: Path, wanted: NewNote, now: dt.datetime) -> Draft:
    """The note that is `wanted`; nothing is written.

    Without a folder it goes where notes of its type lie (10_facts to 60_maps, else 00_inbox), or
    to the root of a vault that has none of these. Raises UsageError: a title that is no name for
    a file and a link, a folder outside the vault or hidden, a note that is there already, also in
    another case, properties that validate-frontmatter has errors for, or a template that cannot
    be read.
    """
    if wanted.type not in TYPES:
        raise UsageError(f"{brief(wanted.type)!r} is no type of note{_near(wanted.type)}")
    title = _title(wanted.title)
    _refuse_half_characters(wanted)
    folder = _folder(vault, wanted)
    path = f"{folder}/{title}.md" if folder else f"{title}.md"
    _refuse_taken(vault, folder, f"{title}.md")
    template = template_for(vault, wanted.type, wanted.template)
    text = _with_body(filled(template.text, title, now), title, wanted.body)
    try:
        data = edited(text.encode("utf-8"), Change(_properties(text, wanted, now)))
    except NotEditable as error:
        named = f"the template {template.path}" if template.path else "the note"
        raise UsageError(f"{named}: {error}; mend that, or give another --template") from None
    text = data.decode("utf-8")
    issues = issues_in(path, text)
    errors = [issue for issue in issues if issue.severity == "error" or _is_given(issue, wanted)]
    if errors:
        told = "; ".join(dict.fromkeys(_told(issue) for issue in errors[:5]))
        raise UsageError(f"the note would not be valid: {told}")
    warnings = (*issues, *_odd(vault, path, text, template))
    return Draft(path, text, template.path, warnings, _secrets(text))


def write(vault: Path, note: Draft) -> None:
    """Write it, whole or not at all.

    Raises UsageError if something is there by now, CortexError if the folder may not be written.
    """
    try:
        create_below(vault, note.path, note.text.encode("utf-8"))
    except FileExistsError:
        raise UsageError(f"{note.path} is there already; give another title") from None
    except PermissionError as error:
        raise CortexError(
            f"{vault / note.path} cannot be written: {error.strerror}; "
            "give yourself the right to write there"
        ) from None


def _refuse_half_characters(wanted: NewNote) -> None:
    """Bytes that are not UTF-8 come from a shell as such, and could not be written."""
    properties = json.dumps(dict(wanted.properties), ensure_ascii=False, default=str)
    try:
        "".join([wanted.body or "", *wanted.tags, properties]).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("some of the text is not UTF-8; write it as that") from None


# Name and folder

# What Obsidian can't link to, or some system has no files with.
_FORBIDDEN = re.compile(r'[#^\[\]|:\\/<>"?*]|[\x00-\x1f\x7f-\x9f\u2028\u2029]|[\ud800-\udfff]')
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)


def _title(given: str) -> str:
    title = " ".join(unicodedata.normalize("NFC", given).split())
    title = title[:-3].rstrip() if title.lower().endswith(".md") else title
    if not title:
        raise UsageError('a note needs a title; e.g. --title "Slate instead of tiles"')
    why = None
    if found := _FORBIDDEN.search(title) or _TURNING.search(title):
        shown = repr(found[0]) if found[0].isprintable() else f"U+{ord(found[0]):04X}"
        why = f"cannot hold {shown}, as it is the name of a file and of links"
    elif title.startswith("."):
        why = "cannot begin with a dot, which hides the file"
    elif title.endswith("."):
        why = "cannot end with a dot, which Windows drops"
    elif _RESERVED.fullmatch(title):
        why = "is a name that Windows keeps for itself"
    elif len(title.encode("utf-8")) > MAX_NAME_BYTES:
        why = f"is longer than {MAX_NAME_BYTES} bytes"
    if why is None:
        return title
    near = _TURNING.sub("", _FORBIDDEN.sub(" ", re.sub(r"\s*[:/\\|]\s+", " - ", title)))
    near = " ".join(near.split()).strip(". ")[:60]
    hint = f"; try {near!r}" if near and not _RESERVED.fullmatch(near) else "; give another one"
    raise UsageError(f"the title {brief(title)!r} {why}{hint}")


def _folder(vault: Path, wanted: NewNote) -> str:
    """Vault-relative, without a link or a hidden folder on the way; "" is the root."""
    given = wanted.folder
    if given is None:
        homes = {kind: name for name, kind in FOLDER_TYPES.items() if kind is not None}
        if not any((vault / name).is_dir() for name in FOLDER_TYPES):
            return ""
        given = homes.get(wanted.type, INBOX)
    folder = unicodedata.normalize("NFC", given).replace("\\", "/").strip()
    if folder.startswith("/") or re.match(r"[A-Za-z]:", folder):
        raise UsageError(f"the folder {brief(given)!r} is not inside the vault; give it from there")
    parts = [part for part in folder.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UsageError(f"the folder {brief(given)!r} leads out of the vault; give one inside it")
    if parts and not is_visible("/".join(parts)):
        raise UsageError(f"the folder {brief(given)!r} is hidden from searches; give another one")
    place, spelt = vault, []
    for part in parts:
        there = spelt_there(place, part)
        if there is None and _bad_folder_name(part):
            raise UsageError(f"the folder {brief(part)!r} is no name for one; give another one")
        spelt.append(there or part)
        place = place / spelt[-1]
        if place.is_symlink():
            raise UsageError(f"the folder {one_line('/'.join(spelt))} is a link; give the real one")
        if os.path.lexists(place) and not place.is_dir():
            raise UsageError(f"{one_line('/'.join(spelt))} is no folder; give another one")
    return "/".join(spelt)


def _bad_folder_name(name: str) -> bool:
    is_bad = _FORBIDDEN.search(name) or _TURNING.search(name) or _RESERVED.fullmatch(name)
    return bool(is_bad) or name != name.strip(". ") or len(name.encode()) > MAX_NAME_BYTES


def _refuse_taken(vault: Path, folder: str, name: str) -> None:
    taken = spelt_there(vault / folder, name)
    if taken is not None:
        place = one_line(f"{folder}/{taken}" if folder else taken)
        raise UsageError(f"{place} is there already; give another title, or change that note")


# Properties and text


def _properties(text: str, wanted: NewNote, now: dt.datetime) -> dict[str, Value]:
    """What has to be put into the properties that `text` has."""
    header = split(text)
    put: dict[str, Value] = {"type": wanted.type}
    tags = [tag.lstrip("#").strip() for tag in wanted.tags]
    for tag in tags:
        if not re.fullmatch(r"[^\s#,\[\]{}\"'`|\\^:]+", tag) or tag.isdigit():
            near = re.sub(r"[^\w/-]+", "-", tag).strip("-")
            hint = f"; try {near}" if near and not near.isdigit() else "; give a word"
            raise UsageError(f"{brief(tag)!r} is no tag{hint}")
    given: dict[str, Value] = {}
    for key, value in wanted.properties.items():
        if not re.fullmatch(r"[^\W\d][\w -]{0,60}", key) or key != key.strip():
            raise UsageError(f"{brief(key)!r} is no name for a property; use letters, _ and -")
        if same_name(key, "type"):
            raise UsageError("the type is not set as a property; give it as --type")
        given[key] = _value(key, value)
    own = [key for key in given if same_name(key, "tags")]
    there = given.pop(own[0]) if own else value_of(header.values, "tags")
    listed = there if isinstance(there, list) else str(there or "").split(",")
    listed = [str(tag).strip().lstrip("#") for tag in listed]
    if tags or own:
        put["tags"] = list(dict.fromkeys([*filter(None, listed), *tags]))
    for name in REQUIRED:
        is_given = name in put or any(same_name(name, key) for key in given)
        if not is_given and value_of(header.values, name) in (None, "", "[]"):
            put[name] = _DEFAULTS[name]
    if not header.values:
        put["created"] = now.date()
    return {**put, **given}


def _value(key: str, value: Json) -> Value:
    if value is None:
        return ""
    if isinstance(value, list):
        if any(isinstance(item, (list, dict)) for item in value):
            raise UsageError(f"the property {key} is a list in a list; write that by hand")
        return [item if isinstance(item, str) else str(_value(key, item)) for item in value]
    if isinstance(value, str):
        is_day = re.fullmatch(r"\d{4}-\d\d-\d\d", value) and date_of(value) is not None
        return dt.date.fromisoformat(value) if is_day else value
    if isinstance(value, (bool, int, float)):
        return value
    raise UsageError(f"the property {key} holds properties of its own; write that by hand")


def _with_body(text: str, title: str, body: str | None) -> str:
    if body is None:
        return text
    front = text[: split(text).body_start]
    newline = "\r\n" if "\r\n" in front else "\n"
    body = re.sub(r"\r\n?", "\n", body).strip("\n")
    if not re.match(r"#[ \t]", body):
        body = f"# {title}\n\n{body}"
    return front + newline + f"{body.rstrip()}\n".replace("\n", newline)


def _odd(vault: Path, path: str, text: str, template: Template) -> list[Issue]:
    found = []
    folder, _, name = path.rpartition("/")
    if folder and not (vault / folder).is_dir():
        found.append(_warning("new_folder", f"the folder {folder} is made for it"))
    others = [
        note.path
        for note in scan(vault, FolderRules()).notes
        if folded(note.path.rpartition("/")[2]) == folded(name)
    ]
    if others:
        found.append(
            _warning("same_name", f"links by that name could mean {', '.join(others[:3])} too")
        )
    if template.path is not None and (left := re.search(r"\{\{.*?\}\}|<%.*?%>", text)):
        line = len(line_starts(text[: left.start()]))
        found.append(_warning("placeholder", f"{brief(left[0])} is left as it is", line))
    return found


def _warning(code: str, message: str, line: int | None = None) -> Issue:
    return Issue("warning", code, message, None, line, None)


def _secrets(text: str) -> tuple[tuple[int, str], ...]:
    found = sorted(
        {(finding.start, finding.kind) for finding in [*find(text), *secret_spans(text)]}
    )
    lines = {(len(line_starts(text[:start])), kind) for start, kind in found}
    return tuple(sorted(lines))


def _is_given(issue: Issue, wanted: NewNote) -> bool:
    """Whether it is about a property that the user has just set, and can set right."""
    return any(same_name(issue.field or "", key) for key in wanted.properties)


def _told(issue: Issue) -> str:
    where = f"line {issue.line}: " if issue.line else ""
    remedy = f" ({issue.suggestion})" if issue.suggestion else ""
    return f"{where}{issue.message}{remedy}"


def _near(kind: str) -> str:
    near = difflib.get_close_matches(kind.casefold(), TYPES, 1)
    return f"; did you mean {near[0]}?" if near else f"; types are {', '.join(TYPES)}"
