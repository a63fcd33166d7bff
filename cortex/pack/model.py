"""A pack: one sealed document of bounded size, and the values that it is made of.

The seal is the SHA-256 of the document without `generated_at` and `digest`, as canonical JSON: keys
sorted, no blanks, everything beyond ASCII as \\uXXXX. It shows that a pack is damaged or changed,
not who made it: whoever changes one can seal it anew, and `verify` then calls it stale.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, TypeVar

from ..types import Json

KIND = "cortex-context-pack"
SCHEMA_VERSION = 1
NAMES = ("temporal_facts", "handoffs", "receipts", "session_context", "semantic")  # in this order
Status = Literal["ok", "empty", "unavailable", "refused-secret"]
STATUSES: tuple[Status, ...] = ("ok", "empty", "unavailable", "refused-secret")

LEAST_BYTES, MOST_BYTES = 1024, 1_000_000
MOST_ITEMS = 100
MOST_QUERY = 500  # characters
UNSEALED = ("generated_at", "digest")


class NoPack(ValueError):
    """What was read is not a pack of this version. The message says why, without its text."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a pack was asked to hold: all that building it again needs, beside the state."""

    profile: str
    query: str | None = None
    project: str | None = None
    redact: bool = False
    allow_secret: bool = False
    max_age_hours: float = 24
    max_bytes: int = 4096  # of the whole document as it is written
    max_items: int = 5  # of each section


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an item comes from."""

    source: str  # vault, memory_store, journal, writes or state_db
    engine: str  # how it was found there
    ids: tuple[str, ...]
    at: str | None  # ISO, UTC; None when nobody knows
    at_from: str  # what says so: a property, file, run, message ...
    times: Mapping[str, str] = field(default_factory=dict)  # further ones, e.g. valid_until
    profile: str | None = None
    path: str | None = None  # in the vault
    lines: tuple[int, int] | None = None
    project: str | None = None

    def as_json(self) -> dict[str, Json]:
        """What is known; the rest is left out."""
        about: dict[str, Json] = {
            "source": self.source,
            "engine": self.engine,
            "ids": list(self.ids),
            "times": {"at": self.at, "from": self.at_from, **self.times},
        }
        known: dict[str, Json] = {
            "profile": self.profile,
            "path": self.path,
            "lines": list(self.lines) if self.lines else None,
            "project": self.project,
        }
        return about | {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Item:
    text: str
    provenance: Provenance

    def as_json(self) -> dict[str, Json]:
        return {"text": self.text, "provenance": self.provenance.as_json()}


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    status: Status
    why: str = ""  # it has nothing, or came by it in another way
    requested: int = 0
    matched: int = 0  # of these so many were found
    refused: int = 0  # left out, for they hold a secret
    items: tuple[Item, ...] = ()  # newest first

    def as_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "status": self.status,
            **({"why": self.why} if self.why else {}),
            "requested": self.requested,
            "matched": self.matched,
            "packed": len(self.items),
            "refused": self.refused,
            "items": [item.as_json() for item in self.items],
        }


@dataclass(frozen=True)
class Pack:
    asked: Asked
    generated_at: str  # ISO, UTC, to the second
    sections: tuple[Section, ...]  # one of each of NAMES
    truncated: bool  # something that was found is shortened or left out for lack of room

    @property
    def refused_secret_items(self) -> int:
        return sum(section.refused for section in self.sections)

    @property
    def is_empty(self) -> bool:
        return not any(section.items for section in self.sections)

    @cached_property
    def digest(self) -> str:
        return digest_of(self._document(""))

    def as_json(self) -> dict[str, Json]:
        return self._document(self.digest)

    def to_bytes(self) -> bytes:
        return written(self.as_json())

    def _document(self, digest: str) -> dict[str, Json]:
        asked, hours = self.asked, self.asked.max_age_hours
        return {
            "schema_version": SCHEMA_VERSION,
            "kind": KIND,
            "generated_at": self.generated_at,
            "digest": digest,
            "profile": asked.profile,
            "project": asked.project,
            "query": asked.query,
            "redact": asked.redact,
            "allow_secret": asked.allow_secret,
            "max_age_hours": int(hours) if hours == int(hours) else hours,
            "max_bytes": asked.max_bytes,
            "max_items": asked.max_items,
            "truncated": self.truncated,
            "refused_secret_items": self.refused_secret_items,
            "sections": [section.as_json() for section in self.sections],
        }


def digest_of(document: Mapping[str, Json]) -> str:
    """The seal that belongs to a document, whatever it says of itself."""
    sealed = {key: value for key, value in document.items() if key not in UNSEALED}
    text = json.dumps(sealed, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode("ascii")).hexdigest()


def written(document: Mapping[str, Json]) -> bytes:
    """A document as it stands in a file and on stdout: one line of UTF-8.

    Half characters and what a terminal would obey stand in it as \\uXXXX.
    """
    return f"{compact(document)}\n".encode()


def compact(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNPRINTED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


_UNPRINTED = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def utc(time: float | None) -> str | None:
    """Unix seconds as ISO, UTC, to the second; None for None and for what is no time."""
    if time is None:
        return None
    try:
        return dt.datetime.fromtimestamp(time, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return None


def seconds_of(moment: str) -> float:
    """Unix seconds of what `utc` writes. Raises ValueError."""
    if not _MOMENT.fullmatch(moment):
        raise ValueError("no time in UTC")
    return dt.datetime.fromisoformat(moment).timestamp()


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def parsed(document: Mapping[str, Any]) -> Pack:
    """The pack that a document is. Raises NoPack; its seal is not looked at."""
    try:
        if document["kind"] != KIND or document["schema_version"] != SCHEMA_VERSION:
            raise NoPack("it is of another kind or version")
        seconds_of(document["generated_at"])
        pack = Pack(
            asked=_asked(document),
            generated_at=document["generated_at"],
            sections=tuple(map(_section, document["sections"])),
            truncated=_of(bool, document["truncated"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, NoPack):
            raise
        raise NoPack("a part of it is missing, or not as packs have it") from None
    if tuple(section.name for section in pack.sections) != NAMES:
        raise NoPack("its sections are not those of a pack")
    return pack


_Kind = TypeVar("_Kind")


def _asked(document: Mapping[str, Any]) -> Asked:
    hours = document["max_age_hours"]
    return Asked(
        profile=_of(str, document["profile"]),
        query=_of_or_none(document["query"]),
        project=_of_or_none(document["project"]),
        redact=_of(bool, document["redact"]),
        allow_secret=_of(bool, document["allow_secret"]),
        max_age_hours=hours if type(hours) is float else _of(int, hours),
        max_bytes=_of(int, document["max_bytes"]),
        max_items=_of(int, document["max_items"]),
    )


def _section(values: Mapping[str, Any]) -> Section:
    status: Any = values["status"]
    if status not in STATUSES:
        raise NoPack("a section has a status that packs do not have")
    return Section(
        name=_of(str, values["name"]),
        status=status,
        why=_of(str, values.get("why", "")),
        requested=_of(int, values["requested"]),
        matched=_of(int, values["matched"]),
        refused=_of(int, values["refused"]),
        items=tuple(map(_item, values["items"])),
    )


def _item(values: Mapping[str, Any]) -> Item:
    about = values["provenance"]
    times = dict(about["times"])
    at, at_from = _of_or_none(times.pop("at")), _of(str, times.pop("from"))
    lines = about.get("lines")
    return Item(
        _of(str, values["text"]),
        Provenance(
            source=_of(str, about["source"]),
            engine=_of(str, about["engine"]),
            ids=tuple(_of(str, one) for one in about["ids"]),
            at=at,
            at_from=at_from,
            times={_of(str, name): _of(str, time) for name, time in times.items()},
            profile=_of_or_none(about.get("profile")),
            path=_of_or_none(about.get("path")),
            lines=(_of(int, lines[0]), _of(int, lines[1])) if lines is not None else None,
            project=_of_or_none(about.get("project")),
        ),
    )


def _of(kind: type[_Kind], value: Any) -> _Kind:
    if type(value) is not kind:
        raise NoPack("a value in it is of another type than packs have there")
    return value


def _of_or_none(value: Any) -> str | None:
    return None if value is None else _of(str, value)
