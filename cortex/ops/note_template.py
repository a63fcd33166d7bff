"""Templates of notes: where one is, and its text with title, date and time filled in."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..files import read_json
from ..text import Undecodable, decode
from ..vault.frontmatter import HeaderHandler
from ..vault.note_schema import TEMPLATES
from ..vault.scan import is_note_name
from .scaffold import shipped_template


@dataclass(frozen=True, slots=True)
class Template:
    """The form of a note."""

    path: str | None  # vault-relative; None is the one that Cortex ships
    text: str


def template_for(vault: Path, kind: str, named: str | None) -> Template:
    """The template that was `named`, else the vault's own for notes of type `kind`, else ours.

    The vault's own lies in 80_templates, in the folder that Obsidian's settings name, or in one
    called Templates, and is called e.g. `fact-note`, `Fact Template` or `fact`. Raises UsageError:
    the named one is not there, or what was found is no text.
    """
    if named is not None:
        return _read(vault, _named(vault, named))
    names = [_spelt(form.format(kind)) for form in _FORMS]
    for folder in _folders(vault):
        try:
            listed = sorted(os.listdir(vault / folder), reverse=True)
        except OSError:
            continue
        there = {
            _spelt(name[:-3]): name
            for name in listed
            if is_note_name(name) and not (vault / folder / name).is_symlink()
        }
        if found := next((there[name] for name in names if name in there), None):
            return _read(vault, f"{folder}/{found}")
    return Template(None, shipped_template(kind))


_FORMS = ("{}-note", "{} template", "template {}", "{}")


def _spelt(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", unicodedata.normalize("NFC", name).casefold()))


def _folders(vault: Path) -> Iterator[str]:
    yield TEMPLATES
    try:
        folder = read_json(vault / ".obsidian" / "templates.json")["folder"].strip("/")
        if folder and ".." not in folder.split("/"):
            yield folder
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    with contextlib.suppress(OSError):
        yield from sorted(name for name in os.listdir(vault) if _LIKELY.fullmatch(name))


_LIKELY = re.compile(r"(?:\d+[ _-]*)?(?:templates?|vorlagen)", re.IGNORECASE)


def _named(vault: Path, named: str) -> str:
    for name in (named, f"{named}.md", f"{TEMPLATES}/{named}", f"{TEMPLATES}/{named}.md"):
        file = vault / name
        if is_note_name(name) and file.is_file():
            inside = os.path.relpath(os.path.realpath(file), os.path.realpath(vault))
            if inside.split(os.sep)[0] == "..":
                raise UsageError(f"the template {named} lies outside the vault; copy it into it")
            return inside.replace(os.sep, "/")
    raise UsageError(f"there is no template {named} in the vault; give its path there")


def _read(vault: Path, path: str) -> Template:
    try:
        text, problems = decode((vault / path).read_bytes())
    except Undecodable:
        raise UsageError(f"the template {path} is no text; name another one") from None
    except OSError as error:
        raise UsageError(
            f"the template {path} cannot be read: {error.strerror}; mend that, or name another one"
        ) from None
    if any(problem.code == "not_utf8" for problem in problems):
        raise UsageError(f"the template {path} is not UTF-8; save it as that")
    return Template(path, text)


# Filling in


def filled(text: str, title: str, now: dt.datetime) -> str:
    """The text of a template with `{{title}}`, `{{date}}`, `{{time}}` in the place of these.

    `{{date:FORMAT}}` and `{{time:FORMAT}}` take the tokens of moment.js, in English, as Obsidian
    does. In the properties a value stays one text, whatever the title holds. What else stands in
    braces stays.
    """

    def value(match: re.Match[str]) -> str:
        name, layout = match[1].lower(), (match[2] or "").strip()
        if name == "title":
            return title
        return _moment(layout or {"date": "YYYY-MM-DD", "time": "HH:mm"}[name], now)

    try:
        block, body = HeaderHandler().split(text)
    except ValueError:
        return _PLACEHOLDER.sub(value, text)
    opened = HeaderHandler.FM_BOUNDARY.match(text)
    at = opened.end() if opened is not None else 0
    closing = text[at + len(block) : len(text) - len(body)]
    lines = [_filled_line(line, value) for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", block)]
    return text[:at] + "".join(lines) + closing + _PLACEHOLDER.sub(value, body)


_PLACEHOLDER = re.compile(r"\{\{\s*(title|date|time)\s*(?::([^{}\r\n]*))?\}\}", re.IGNORECASE)
_PROPERTY = re.compile(
    r"((?:[ \t]*-[ \t]+)?(?:[^\s#:'\"\[{-][^:]*:[ \t]+)?)(.*?)((?:[ \t]+#.*)?\s*)"
)
_QUOTED_ALONE = re.compile(r"""(["'])\{\{[^{}"']*\}\}\1""")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _filled_line(line: str, value: Callable[[re.Match[str]], str]) -> str:
    if not _PLACEHOLDER.search(line):
        return line
    match = _PROPERTY.fullmatch(line)
    if match is None or not match[1].strip():  # a line of a longer text
        return _PLACEHOLDER.sub(value, line)
    front, written, end = match.groups()
    if _QUOTED_ALONE.fullmatch(written) and _DAY.fullmatch(_PLACEHOLDER.sub(value, written[1:-1])):
        return front + _PLACEHOLDER.sub(value, written[1:-1]) + end  # YAML needs no quotes by now
    if written[0] in "'\"[":
        return front + _PLACEHOLDER.sub(lambda found: _inside(found, value), written + end)
    whole = _PLACEHOLDER.sub(value, written)
    return front + (whole if _DAY.fullmatch(whole) else _quoted(whole)) + end


def _inside(found: re.Match[str], value: Callable[[re.Match[str]], str]) -> str:
    """A value as it may stand where the placeholder does: in quotes, or in a list of its own."""
    before, text = found.string[: found.start()], value(found)
    quote = ""
    for index, char in enumerate(before):
        if char == quote and not (quote == '"' and before[index - 1] == "\\"):
            quote = ""
        elif not quote and char in "'\"":
            quote = char
    if quote == "'":
        return text.replace("'", "''")
    return _quoted(text)[1:-1] if quote else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_TOKEN = re.compile(
    r"\[([^\]]*)\]|YYYY|YY|GGGG|gggg|MMMM|MMM|MM|Mo|M|DDDD|DDD|DD|Do|D|dddd|ddd|dd|d|"
    r"WW|W|ww|w|Q|HH|H|hh|h|mm|m|ss|s|A|a|ZZ|Z|X|x"
)


def _moment(layout: str, now: dt.datetime) -> str:
    """`now` as moment.js writes it; what is no token stays."""
    week_year, week, weekday = now.isocalendar()
    offset = now.strftime("%z") or "+0000"
    values = {
        "YYYY": f"{now.year:04}",
        "YY": f"{now.year % 100:02}",
        "GGGG": f"{week_year:04}",
        "gggg": f"{week_year:04}",
        "MMMM": _MONTHS[now.month - 1],
        "MMM": _MONTHS[now.month - 1][:3],
        "MM": f"{now.month:02}",
        "Mo": _ordinal(now.month),
        "M": str(now.month),
        "DDDD": f"{now.timetuple().tm_yday:03}",
        "DDD": str(now.timetuple().tm_yday),
        "DD": f"{now.day:02}",
        "Do": _ordinal(now.day),
        "D": str(now.day),
        "dddd": _WEEKDAYS[weekday - 1],
        "ddd": _WEEKDAYS[weekday - 1][:3],
        "dd": _WEEKDAYS[weekday - 1][:2],
        "d": str(weekday % 7),
        "WW": f"{week:02}",
        "W": str(week),
        "ww": f"{week:02}",
        "w": str(week),
        "Q": str((now.month + 2) // 3),
        "HH": f"{now.hour:02}",
        "H": str(now.hour),
        "hh": f"{(now.hour + 11) % 12 + 1:02}",
        "h": str((now.hour + 11) % 12 + 1),
        "mm": f"{now.minute:02}",
        "m": str(now.minute),
        "ss": f"{now.second:02}",
        "s": str(now.second),
        "A": "AM" if now.hour < 12 else "PM",
        "a": "am" if now.hour < 12 else "pm",
        "Z": f"{offset[:3]}:{offset[3:5]}",
        "ZZ": offset[:5],
        "X": str(int(now.timestamp())),
        "x": str(int(now.timestamp() * 1000)),
    }
    return _TOKEN.sub(lambda m: m[1] if m[1] is not None else values.get(m[0], m[0]), layout)


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
