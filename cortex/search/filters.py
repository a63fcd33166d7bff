"""Filters: which notes a search may answer from. Missing never matches, and nothing is guessed."""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ..errors import UsageError
from ..indexer.names import names_of
from ..text import brief
from ..types import Json
from ..vault.frontmatter import confidence_of, date_of, day_of, importance_of, is_in_scope
from .wording import held, spaced

_LISTS = ("type", "status", "domain", "project", "stability")
_SETS = ("folders", "path", "title", "tags_any", "tags_all", "wikilinks_any", "wikilinks_all")
_RANGES = ("importance_min", "importance_max", "confidence_min", "confidence_max")
_DATES = ("after", "before", "modified_after", "modified_before")
TEXTS = ("phrases", "exclude")
LINKS = ("links_to", "linked_from", "near")
_SYNONYMS = {
    "folder": "folders",
    "tags": "tags_any",
    "tag": "tags_any",
    "wikilinks": "wikilinks_any",
}

FIELDS = (*_LISTS, *_SETS, *_RANGES, *_DATES, *TEXTS, *LINKS)
KEYS = frozenset({*FIELDS, *_SYNONYMS})  # what parse takes for a field; all else are properties
MOST_VALUES = 200  # of all fields together: each is compared with each note


@dataclass(frozen=True, slots=True)
class Filters:
    """AND between the fields, OR among the values of one; a value with "!" in front excludes.

    Values compare without regard to case; a tag stands for those below it, a folder for all it
    holds. A path, and a title or alias, need only hold the words of a value, where `*` stands for
    any rest of a word. Every one of the phrases must be held and none of what `exclude` names. Any
    other key is a frontmatter property.
    """

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, float] = field(default_factory=dict)
    dates: Mapping[str, dt.date] = field(default_factory=dict)
    properties: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of TEXTS
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of LINKS: names of notes
    scope: str | None = None  # a project: its notes, and those of no project at all

    def __bool__(self) -> bool:
        chosen = (self.lists, self.ranges, self.dates, self.properties, self.texts, self.links)
        return any(chosen) or self.scope is not None

    @classmethod
    def parse(cls, values: Mapping[str, Any] | None, today: dt.date | None = None) -> Filters:
        """Read what a person or a program gave. Raises UsageError that lists all faults.

        A single value stands for a list of one; None and empty lists filter nothing. today: what
        `7d` and `yesterday` count from; None is the day of the call.
        """
        today = today or dt.date.today()
        count = 0
        lists: dict[str, tuple[str, ...]] = {}
        ranges: dict[str, float] = {}
        dates: dict[str, dt.date] = {}
        properties: dict[str, tuple[Json, ...]] = {}
        sought: dict[str, tuple[str, ...]] = {}
        links: dict[str, tuple[str, ...]] = {}
        faults: list[str] = []
        if values is not None and not isinstance(values, Mapping):
            raise UsageError(f"filters must be a mapping of field to value, got {_shown(values)}")
        for given, value in (values or {}).items():
            key = _SYNONYMS.get(str(given), str(given))
            if value is None or (isinstance(value, (list, tuple)) and not value):
                continue
            items = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
            items = [item for item in items if item is not None and item != ""]
            count += len(items)
            if any(isinstance(item, (dict, list, tuple)) for item in items):
                faults.append(f"{given}: give a value or a list of values, not {_shown(value)}")
            elif key in _LISTS or key in _SETS:
                texts = tuple(text for text in map(_text, items) if text.strip("! "))
                if texts:
                    lists[key] = lists.get(key, ()) + texts
            elif key in _RANGES:
                number = _number(items[0]) if len(items) == 1 else None
                if number is None:
                    faults.append(f"{given}: give one number, not {_shown(value)}")
                else:
                    ranges[key] = number
            elif key in TEXTS or key in LINKS:
                said = tuple(text for item in items if (text := str(item).strip()).strip("! "))
                chosen = sought if key in TEXTS else links
                if key in TEXTS:
                    said = tuple(text for text in said if spaced(text))
                if said:
                    chosen[key] = chosen.get(key, ()) + said
            elif key in ("after", "before"):
                date = day_from(items[0], today) if len(items) == 1 else None
                if date is None:
                    faults.append(f"{given}: give {DAYS}, not {_shown(value)}")
                else:
                    dates[key] = date
            elif key in _DATES:
                date = _date(items[0]) if len(items) == 1 else None
                if date is None:
                    faults.append(f"{given}: give a date as YYYY-MM-DD, not {_shown(value)}")
                else:
                    dates[key] = date
            elif items:
                properties[key] = properties.get(key, ()) + tuple(items)
        for name in ("importance", "confidence"):
            low, high = ranges.get(f"{name}_min"), ranges.get(f"{name}_max")
            if low is not None and high is not None and low > high:
                faults.append(f"{name}_min {low:g} is above {name}_max {high:g}")
        after, before = dates.get("modified_after"), dates.get("modified_before")
        if after and before and after > before:
            faults.append(f"modified_after {after} is later than modified_before {before}")
        first, end = dates.get("after"), dates.get("before")
        if first and end and first >= end:
            faults.append(f"after {first} leaves no day before {end}")
        if count > MOST_VALUES:
            faults = [f"{count:,} values; at most {MOST_VALUES} are taken"]
        if faults:
            raise UsageError("filters: " + "; ".join(faults))
        return cls(lists, ranges, dates, properties, sought, links)

    def matches(self, note: Mapping[str, Json]) -> bool:
        """Whether a notes.jsonl record passes, as far as it can tell: not by `texts` or `links`."""
        values = note["frontmatter"]
        if not is_in_scope(values, self.scope):
            return False
        for key, wanted in self.lists.items():
            if key == "folders":
                found = _chosen(wanted, lambda folder: _in_folder(note["file"], folder))
            elif key in ("tags_any", "tags_all"):
                found = _chosen(wanted, lambda tag: _has_tag(note["tags"], tag), key == "tags_all")
            elif key in ("wikilinks_any", "wikilinks_all"):
                found = _chosen(
                    wanted, lambda link: _links_to(note["wikilinks"], link), key == "wikilinks_all"
                )
            elif key in ("path", "title"):
                found = _chosen(wanted, partial(_NAMED[key], note))
            else:
                found = _property_matches(values, key, wanted)
            if not found:
                return False
        for key, bound in self.ranges.items():
            name, _, side = key.partition("_")
            number = importance_of(values) if name == "importance" else confidence_of(values)
            if number is None or (number < bound if side == "min" else number > bound):
                return False
        if self.dates:
            modified = day_of(values, note["modified"], note["file"])
            after = self.dates.get("modified_after", dt.date.min)
            if not after <= modified <= self.dates.get("modified_before", dt.date.max):
                return False
            if modified < self.dates.get("after", dt.date.min):
                return False
            if "before" in self.dates and modified >= self.dates["before"]:
                return False
        return all(
            _property_matches(values, key, wanted) for key, wanted in self.properties.items()
        )

    def with_parts_of_words(self, notes: Collection[Mapping[str, Json]]) -> Filters:
        """The same, where a title or path that no note has in whole words is sought in parts."""
        lists = dict(self.lists)
        for key, named in _NAMED.items():
            values = []
            for value in lists.get(key, ()):
                sought = value.lstrip("!")
                is_word = sought.startswith("/") or "*" in sought
                is_word = is_word or any(named(note, sought) for note in notes)
                sign = value[: len(value) - len(sought)]
                values.append(value if is_word else f"{sign}*{sought}*")
            if values:
                lists[key] = tuple(values)
        return replace(self, lists=lists)

    def with_values_that_hold(self, notes: Collection[Mapping[str, Json]]) -> Filters:
        """The same, where a value that no note has exactly means those values that hold its words.

        `author:Ada` is then `Ada Lovelace`, and `created:2025-03` any day of that month.
        """

        def widened(key: str, wanted: tuple[Json, ...]) -> tuple[Json, ...]:
            found: list[Json] = []
            for want in wanted:
                sought = want.lstrip("!") if isinstance(want, str) else ""
                own = [_lookup(note["frontmatter"], key) for note in notes] if sought else []
                held_by = [value for value in own if value is not _ABSENT]
                if any(_property_matches({key: value}, key, (sought,)) for value in held_by):
                    found.append(want)
                    continue
                known = _distinct(lambda value: [value], held_by)
                sign = str(want)[: len(str(want)) - len(sought)]
                found += [f"{sign}{value}" for value in known if held(sought, value)] or [want]
            return tuple(found)

        lists = {
            key: tuple(map(_text, widened(key, values))) if key in _LISTS else values
            for key, values in self.lists.items()
        }
        properties = {key: widened(key, values) for key, values in self.properties.items()}
        return replace(self, lists=lists, properties=properties)

    def unknown_properties(self, notes: Iterable[Mapping[str, Json]]) -> list[str]:
        """Properties asked for that no note has."""
        left = {
            key
            for key, wanted in self.properties.items()
            if any(not str(want).startswith("!") for want in wanted)
        }
        for note in notes:
            left = {key for key in left if _lookup(note["frontmatter"], key) is _ABSENT}
            if not left:
                break
        return sorted(left)

    def unknown_values(
        self, notes: Collection[Mapping[str, Json]]
    ) -> Iterator[tuple[str, str, list[str]]]:
        """(how a message begins, the value, the values that there are) of those no note has."""
        for key, wanted in self.lists.items():
            for value in wanted:
                sought = value.lstrip("!")
                one = Filters(lists={key: (sought,)})
                if key in _SOUGHT_AMONG and not any(map(one.matches, notes)):
                    what, known = _SOUGHT_AMONG[key]
                    yield what, sought, _distinct(known, notes)
        for key, values in self.properties.items():
            for item in values:
                sought = str(item).lstrip("!")
                one = Filters(properties={key: (sought,)})
                if not any(map(one.matches, notes)):
                    found = [_lookup(note["frontmatter"], key) for note in notes]
                    if any(value is not _ABSENT for value in found):
                        held = _distinct(lambda value: [value], found)
                        yield f"no note has the {key}", sought, held


def _distinct(values: Callable[[Any], Iterable[Json]], notes: Iterable[Any]) -> list[str]:
    found: dict[str, None] = {}
    for note in notes:
        for value in values(note):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):  # another number is none that was mistyped
                    found.setdefault(item)
    return list(found)


def _folders(note: Mapping[str, Json]) -> list[str]:
    parts = str(note["file"]).split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def _property(key: str) -> Callable[[Mapping[str, Json]], list[Json]]:
    def values(note: Mapping[str, Json]) -> list[Json]:
        value = _lookup(note["frontmatter"], key)
        return [] if value is _ABSENT else [value]

    return values


# field -> how a message about a value begins that no note has, and the values that a note has
_SOUGHT_AMONG: dict[str, tuple[str, Callable[[Mapping[str, Json]], Iterable[Json]]]] = {
    **{key: (f"no note has the {key}", _property(key)) for key in _LISTS},
    "tags_any": ("no note has the tag", lambda note: note["tags"]),
    "tags_all": ("no note has the tag", lambda note: note["tags"]),
    "folders": ("no note is in the folder", _folders),
    "path": ("no note's path has", lambda note: [note["file"], *_folders(note)]),
    "title": ("no note is called", names_of),
}


def _shown(value: Any) -> str:
    return brief(repr(value))


DAYS = "a day such as 2025-01-31, a month, a year, 7d, 2w, 3m, 1y, today or yesterday"
_AGO = re.compile(r"(\d{1,4})\s*(d|w|m|y|days?|weeks?|months?|years?)(?:\s+ago)?")
_NAMED_DAYS = {"today": 0, "now": 0, "yesterday": 1, "tomorrow": -1}


def day_from(value: Json, today: dt.date) -> dt.date | None:
    """The day that `after:` and `before:` mean; of a month or a year its first one."""
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    if isinstance(value, bool):
        return None
    text = str(value).strip().casefold()
    try:
        if text in _NAMED_DAYS:
            return today - dt.timedelta(_NAMED_DAYS[text])
        if match := _AGO.fullmatch(text):
            count, unit = int(match[1]), match[2][0]
            if unit in "dw":
                return today - dt.timedelta(count * (7 if unit == "w" else 1))
            months = today.year * 12 + today.month - 1 - count * (12 if unit == "y" else 1)
            year, month = months // 12, months % 12 + 1
            return dt.date(year, month, min(today.day, calendar.monthrange(year, month)[1]))
    except (OverflowError, ValueError):  # before the first year
        return dt.date.min
    return date_of(text)


def squeezed(name: str) -> str:
    """A name as it is compared where "-", "_" and case do not matter."""
    return re.sub(r"[\s_-]+", "", name.casefold())


def _path_holds(note: Mapping[str, Json], value: str) -> bool:
    path = str(note["file"])
    if value.startswith("/"):
        return spaced(f"/{path}", separators="/").startswith(spaced(value, "/"))
    return held(value, path, separators="/")


def _title_holds(note: Mapping[str, Json], value: str) -> bool:
    return any(held(value, name) for name in names_of(note))


_NAMED = {"path": _path_holds, "title": _title_holds}


_ABSENT = object()


def _chosen(wanted: Iterable[str], holds: Any, every: bool = False) -> bool:
    excluded = [value[1:] for value in wanted if value.startswith("!")]
    included = [value for value in wanted if not value.startswith("!")]
    if any(holds(value) for value in excluded):
        return False
    if not included:
        return True
    return all(map(holds, included)) if every else any(map(holds, included))


def _property_matches(values: Mapping[str, Json], key: str, wanted: Iterable[Json]) -> bool:
    value = _lookup(values, key)
    held = value if isinstance(value, list) else [value]

    def equals(want: Json) -> bool:
        return value is not _ABSENT and any(_same(item, want) for item in held)

    excluded = [want[1:] for want in wanted if isinstance(want, str) and want.startswith("!")]
    included = [want for want in wanted if not (isinstance(want, str) and want.startswith("!"))]
    if any(equals(want) for want in excluded):
        return False
    return not included or any(equals(want) for want in included)


def _lookup(values: Mapping[str, Json], key: str) -> Any:
    """A property by name, without regard to case; `a.b` reaches into a map."""
    if key in values:
        return values[key]
    folded = key.casefold()
    for name, value in values.items():
        if name.casefold() == folded:
            return value
    head, dot, rest = key.partition(".")
    inner = values.get(head) if dot else None
    return _lookup(inner, rest) if isinstance(inner, dict) else _ABSENT


def _same(held: Json, want: Json) -> bool:
    if held is None:
        return False
    if _text(held) == _text(want):
        return True
    if isinstance(held, bool) or isinstance(want, bool):
        return False
    if isinstance(held, (int, float)):
        return held == _number(want)
    link = re.fullmatch(r"\[\[([^\]|#]+)(?:[#|][^\]]*)?\]\]", _text(held))
    return link is not None and link.group(1).strip() == _text(want)


def _number(value: Json) -> float | None:
    """What a value is as a finite number; None when it is none."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return unicodedata.normalize("NFC", str(value)).strip().casefold()


def _date(value: Json) -> dt.date | None:
    text = str(value).strip()
    return date_of(text) if re.match(r"\d{4}-\d{1,2}-\d{1,2}", text) else None


def _in_folder(path: str, folder: str) -> bool:
    folder = folder.removeprefix("./").strip("/")
    return folder in ("", ".") or _text(path).startswith(folder + "/")


def _has_tag(tags: Iterable[str], tag: str) -> bool:
    tag = tag.lstrip("#").strip("/")
    return any(own == tag or own.startswith(tag + "/") for own in map(_text, tags))


def _links_to(targets: Iterable[str], target: str) -> bool:
    wanted = re.split(r"[|#]", target.strip("[]"))[0].strip().removesuffix(".md")
    names = (_text(own).removesuffix(".md") for own in targets)
    return any(own == wanted or own.endswith("/" + wanted) for own in names)
