"""Whether the properties of a note are there, and say what Cortex's schema lets them say.

Codes: missing_required (error), missing_domain and normalization_warning (warnings).
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ..text import brief
from ..types import Json
from ..vault.frontmatter import (
    CONFIDENCE_WORDS,
    IMPORTANCE_WORDS,
    confidence_of,
    date_of,
    importance_of,
    tags_of,
)
from ..vault.note_schema import DATES, REQUIRED, WORDS, WORKFLOW
from .frontmatter_block import starter
from .issue import Issue


def value_issues(
    path: str, values: Mapping[str, Json], key_lines: Mapping[str, int]
) -> Iterator[Issue]:
    """What is wrong with the properties of the note at `path`, in the order of the schema.

    A required property with an empty value is missing, except for an empty list of tags. In a
    folder for templates, what is empty or a placeholder is there to be filled in.
    """
    return _Values(path, values, key_lines).issues()


_TEMPLATE_FOLDER = re.compile(r"(?:\d+[ _-]*)?(?:templates?|vorlagen)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}|<%.*?%>", re.DOTALL)
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)")
_NEAR = 0.6  # of 1: `actve` and `active`, `hgh` and `high`
_NEAR_KEY = 0.8  # `statuss` and `status`, not `state`
# What people call a state that the schema has a word for.
_MEANT = {
    "accepted": "active",
    "approved": "active",
    "current": "active",
    "published": "active",
    "permanent": "stable",
    "proposed": "draft",
    "wip": "draft",
    "obsolete": "deprecated",
    "outdated": "stale",
    "replaced": "superseded",
    "people": "person",
    "contact": "person",
    "howto": "runbook",
    "how-to": "runbook",
    "moc": "map",
    "index": "map",
}


class _Values:
    def __init__(self, path: str, values: Mapping[str, Json], key_lines: Mapping[str, int]) -> None:
        self.path = path
        self.values = values
        self.key_lines = key_lines
        self.is_template = any(map(_TEMPLATE_FOLDER.fullmatch, path.split("/")[:-1]))

    def issues(self) -> Iterator[Issue]:
        for name in REQUIRED:
            if issue := self._required(name):
                yield issue
        if issue := self._domain():
            yield issue
        for name, words in WORDS.items():
            if self._says(name):
                yield from self._word(name, words)
        if self._says("confidence"):
            yield from self._rating("confidence", {**CONFIDENCE_WORDS, "unknown": 0.5})
        if self._says("importance"):
            yield from self._rating("importance", IMPORTANCE_WORDS)
        yield from self._tags()
        for name in DATES:
            if self._says(name):
                yield from self._date(name)

    def _says(self, name: str) -> bool:
        """Whether a property has a value to look at: no blank one, no placeholder to fill in."""
        value = self.values.get(name)
        return not (_is_blank(value) or (self.is_template and _is_placeholder(value)))

    def _required(self, name: str) -> Issue | None:
        write = f"write `{starter(name, self.path)}`"
        if name in self.values:
            value = self.values[name]
            if self.is_template or not _is_blank(value) or (name == "tags" and value == []):
                return None
            message = f"the required property {name!r} is empty"
            return Issue(
                "error", "missing_required", message, name, self.key_lines.get(name, 1), write
            )
        other = _other_spelling(name, tuple(self.values))
        if other is None:
            message = f"the required property {name!r} is missing"
            return Issue(
                "error", "missing_required", message, name, 1, write.replace("write", "add", 1)
            )
        message = f"the required property {name!r} is missing; there is {brief(other)!r}"
        line = self.key_lines.get(other, 1)
        remedy = f"rename `{brief(other)}` to `{name}`"
        return Issue("error", "missing_required", message, name, line, remedy)

    def _domain(self) -> Issue | None:
        if not _is_blank(self.values.get("domain")):
            return None
        if "domain" not in self.values:
            message = "the property 'domain' is missing"
            remedy = "add `domain: ` and the field of life or work that the note belongs to"
            return Issue("warning", "missing_domain", message, "domain", 1, remedy)
        if self.is_template:
            return None
        remedy = "name the field of life or work that the note belongs to"
        line = self.key_lines.get("domain", 1)
        return Issue("warning", "missing_domain", "'domain' is empty", "domain", line, remedy)

    def _word(self, name: str, words: tuple[str, ...]) -> Iterator[Issue]:
        value = self.values[name]
        if value in words:
            return
        if isinstance(value, list) and len(value) == 1 and value[0] in words:
            yield self._odd(name, "is a list", f"write `{name}: {value[0]}`")
            return
        text = value[0] if isinstance(value, list) and len(value) == 1 else value
        remedy = _one_of(name, words)
        if not isinstance(text, str) or _is_placeholder(text):
            what = "is a placeholder" if isinstance(text, str) else "is no word"
            yield self._odd(name, f"{what}: {_shown(value)}", remedy)
            return
        if near := _nearest_word(text, words):
            remedy = f"write `{name}: {near}`"
        elif name == "status":
            remedy += f"; the label of a workflow goes into {' or '.join(WORKFLOW)}"
        yield self._odd(name, f"has an unknown value: {_shown(value)}", remedy)

    def _rating(self, name: str, labels: Mapping[str, float]) -> Iterator[Issue]:
        value = self.values[name]
        low, high = (0.0, 1.0) if name == "confidence" else (1.0, 5.0)
        words = ", ".join(word for word in labels if word not in ("med", "unknown"))
        remedy = f"write a number from {low:g} to {high:g}, or one of {words}"
        read = (confidence_of if name == "confidence" else importance_of)({name: value})
        number: float | None = None
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = float(max(-9, min(value, 9)))
        elif isinstance(value, str):
            text = value.strip().casefold()
            if text in labels:
                return
            if _PLAIN_NUMBER.fullmatch(text):
                number = float(text)
            elif read is None and (near := _nearest_word(text, tuple(labels))):
                remedy = f"write `{name}: {near}`"
        if number is not None:
            if not 0 <= number <= 5:
                nearer = low if number < 0 else high
                what = f"is out of range: {_shown(value)}; it is read as {nearer:g}"
                yield self._odd(name, what, remedy)
        elif read is not None:
            what = f"is written in another way than the schema's: {_shown(value)}"
            yield self._odd(name, what, f"write `{name}: {read:g}`")
        else:
            yield self._odd(name, f"says nothing that is understood: {_shown(value)}", remedy)

    def _tags(self) -> Iterator[Issue]:
        for problem in tags_of({"tags": self.values.get("tags")})[1]:
            what, _, remedy = problem.message.partition("; ")
            line = self.key_lines.get("tags", 1)
            yield Issue("warning", "normalization_warning", what, "tags", line, remedy)

    def _date(self, name: str) -> Iterator[Issue]:
        value = self.values[name]
        if isinstance(value, str):
            text = value.strip()
            if _ISO_DAY.match(text) and _is_day(text[:10]):
                return
        day = date_of(value)
        if day is None:
            what = "is a placeholder" if _is_placeholder(value) else "is no day"
            remedy = "write the day as YYYY-MM-DD"
            yield self._odd(name, f"{what}: {_shown(value)}", remedy)
        else:
            what = f"is not written as YYYY-MM-DD: {_shown(value)}; it is read as {day}"
            yield self._odd(name, what, f"write `{name}: {day}`")

    def _odd(self, name: str, what: str, remedy: str) -> Issue:
        line = self.key_lines.get(name, 1)
        return Issue("warning", "normalization_warning", f"{name!r} {what}", name, line, remedy)


def _is_blank(value: Json) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _is_placeholder(value: Json) -> bool:
    return isinstance(value, str) and _PLACEHOLDER.search(value) is not None


def _is_day(text: str) -> bool:
    try:
        dt.date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _shown(value: Json) -> str:
    return brief(repr(value) if isinstance(value, str) else str(value), 60)


def _one_of(name: str, words: tuple[str, ...]) -> str:
    return f"make {name} one of {', '.join(words)}"


@lru_cache(maxsize=4096)
def _nearest_word(value: str, words: tuple[str, ...]) -> str | None:
    """The word that was meant: in other case, mistyped, or another name for the same."""
    text = value.strip("[] \t").casefold()[:60]
    if text in words:
        return text
    if _MEANT.get(text) in words:
        return _MEANT[text]
    if text.endswith("s") and text[:-1] in words:
        return text[:-1]
    near = difflib.get_close_matches(text, words, n=1, cutoff=_NEAR)
    return near[0] if near else None


@lru_cache(maxsize=4096)  # the notes of a vault have the same few sets of properties
def _other_spelling(name: str, keys: tuple[str, ...]) -> str | None:
    """The key that stands where `name` should: in other case, singular, mistyped."""
    others = {
        key.strip().casefold(): key for key in keys if key not in REQUIRED and key != "domain"
    }
    near = difflib.get_close_matches(name, [key for key in others if len(key) < 60], 1, _NEAR_KEY)
    return others[near[0]] if near else None
