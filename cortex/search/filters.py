"""Filters: which notes a search may answer from. Missing never matches, and nothing is guessed."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import UsageError
from ..text import brief
from ..types import Json
from ..vault.frontmatter import confidence_of, date_of, day_of, importance_of

_LISTS = ("type", "status", "domain", "project", "stability")
_SETS = ("folders", "tags_any", "tags_all", "wikilinks_any", "wikilinks_all")
_RANGES = ("importance_min", "importance_max", "confidence_min", "confidence_max")
_DATES = ("modified_after", "modified_before")
_SYNONYMS = {
    "folder": "folders",
    "tags": "tags_any",
    "tag": "tags_any",
    "wikilinks": "wikilinks_any",
}

FIELDS = (*_LISTS, *_SETS, *_RANGES, *_DATES)
KEYS = frozenset({*FIELDS, *_SYNONYMS})  # what parse takes for a field; all else are properties
MOST_VALUES = 200  # of all fields together: each is compared with each note


@dataclass(frozen=True, slots=True)
class Filters:
    """AND between the fields, OR among the values of one; a value with "!" in front excludes.

    Values compare without regard to case; a tag stands for those below it, a folder for all it
    holds. Any other key is a frontmatter property.
    """

    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, float] = field(default_factory=dict)
    dates: Mapping[str, dt.date] = field(default_factory=dict)
    properties: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.lists or self.ranges or self.dates or self.properties)

    @classmethod
    def parse(cls, values: Mapping[str, Any] | None) -> Filters:
        """Read what a person or a program gave. Raises UsageError that lists all faults.

        A single value stands for a list of one; None and empty lists filter nothing.
        """
        count = 0
        lists: dict[str, tuple[str, ...]] = {}
        ranges: dict[str, float] = {}
        dates: dict[str, dt.date] = {}
        properties: dict[str, tuple[Json, ...]] = {}
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
        if count > MOST_VALUES:
            faults = [f"{count:,} values; at most {MOST_VALUES} are taken"]
        if faults:
            raise UsageError("filters: " + "; ".join(faults))
        return cls(lists, ranges, dates, properties)

    def matches(self, note: Mapping[str, Json]) -> bool:
        """Whether a notes.jsonl record passes."""
        values = note["frontmatter"]
        for key, wanted in self.lists.items():
            if key == "folders":
                found = _chosen(wanted, lambda folder: _in_folder(note["file"], folder))
            elif key in ("tags_any", "tags_all"):
                found = _chosen(wanted, lambda tag: _has_tag(note["tags"], tag), key == "tags_all")
            elif key in ("wikilinks_any", "wikilinks_all"):
                found = _chosen(
                    wanted, lambda link: _links_to(note["wikilinks"], link), key == "wikilinks_all"
                )
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
            modified = day_of(values, note["modified"])
            after = self.dates.get("modified_after", dt.date.min)
            if not after <= modified <= self.dates.get("modified_before", dt.date.max):
                return False
        return all(
            _property_matches(values, key, wanted) for key, wanted in self.properties.items()
        )

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


def _shown(value: Any) -> str:
    return brief(repr(value))


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
