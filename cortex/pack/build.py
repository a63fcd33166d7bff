"""Building a pack: gather the sections, guard them, fill the room there is, seal the whole.

Room is given in two rounds. In the first each section, in order, gets its newest item, which is cut
where it would take more than the section's even share of what is left: so none starves the others.
In the second the sections take what remains, in order, newest first; a section ends at the first
item that does not fit, so what is packed of it has no gaps. No text takes more than an eighth of
the pack. A text is cut at the end of a word, and ends in CUT then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..errors import UsageError
from .gathered import LONGEST, Found, Gathered, Ground, newest_first
from .guard import guarded_ask, kinds_in, masked
from .model import (
    LEAST_BYTES,
    MOST_BYTES,
    MOST_ITEMS,
    MOST_QUERY,
    Asked,
    Item,
    Pack,
    Section,
    compact,
    utc,
)
from .sections import gather

CUT = " […]"
_LEAST_TEXT = 40  # bytes: less says nothing


@dataclass(frozen=True, slots=True)
class Built:
    pack: Pack
    kinds: Mapping[str, Mapping[str, int]]  # section -> kind of secret -> items, whatever was done


def checked(asked: Asked) -> Asked:
    """What was asked, if a pack can be so. Raises UsageError."""
    if not LEAST_BYTES <= asked.max_bytes <= MOST_BYTES:
        raise UsageError(
            f"--max-bytes must be from {LEAST_BYTES:,} to {MOST_BYTES:,}, found {asked.max_bytes:,}"
        )
    if not 1 <= asked.max_items <= MOST_ITEMS:
        raise UsageError(f"--max-items must be from 1 to {MOST_ITEMS}, found {asked.max_items:,}")
    if not 0 < asked.max_age_hours <= 1e6:
        raise UsageError(f"--max-age-hours must be above 0, found {asked.max_age_hours:g}")
    if asked.redact and asked.allow_secret:
        raise UsageError("--redact and --allow-secret exclude each other; give one of them")
    if asked.query is not None and len(asked.query) > MOST_QUERY:
        raise UsageError(
            f"--query has {len(asked.query):,} characters, and may have {MOST_QUERY}; shorten it"
        )
    if asked.project is not None and not asked.project.strip():
        raise UsageError("--project needs a name; leave it out for all projects")
    blank = asked.query is not None and not asked.query.strip()
    return replace(asked, query=None) if blank else asked


def build(ground: Ground, asked: Asked, now: float) -> Built:
    """The pack of what there is now.

    now: Unix seconds, told as the time it was made. A source that cannot be read is the status of
    its section. Raises UsageError for what was asked wrongly, and Unavailable past the deadline of
    `ground`.
    """
    asked = guarded_ask(checked(asked))
    parts = [_guarded(name, gathered, asked) for name, gathered in gather(ground, asked)]
    generated_at = utc(now) or ""
    pack = Pack(asked, generated_at, tuple(part.section() for part in parts), truncated=False)
    room = asked.max_bytes - _bare(pack)
    if room < 0:  # reasons are the first to go
        parts = [replace(part, why="") for part in parts]
        pack = replace(pack, sections=tuple(part.section() for part in parts))
        room = asked.max_bytes - _bare(pack)
    if room < 0:
        raise UsageError(
            f"--max-bytes {asked.max_bytes:,} is less than this pack takes with nothing in it; "
            f"give at least {_bare(pack):,}, or a shorter query"
        )
    packed = _filled(parts, room, asked.max_bytes // LONGEST)
    sections = tuple(part.section(items) for part, items in zip(parts, packed, strict=True))
    is_short = any(
        len(items) < part.matched - part.refused or items != part.items[: len(items)]
        for part, items in zip(parts, packed, strict=True)
    )
    return Built(
        replace(pack, sections=sections, truncated=is_short),
        {part.name: part.kinds for part in parts if part.kinds},
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What a section may hold: guarded, newest first, at most as many as were asked for."""

    name: str
    items: tuple[Item, ...]
    requested: int
    matched: int
    refused: int
    is_available: bool
    why: str
    kinds: Counter[str] = field(default_factory=Counter)

    def section(self, items: tuple[Item, ...] = ()) -> Section:
        status: str = "ok"
        if not self.items:
            status = "refused-secret" if self.refused else "empty"
            if not self.is_available:
                status = "unavailable"
        return Section(
            name=self.name,
            status=status,  # type: ignore[arg-type]
            why=self.why,
            requested=self.requested,
            matched=self.matched,
            refused=self.refused,
            items=items,
        )


def _guarded(name: str, gathered: Gathered, asked: Asked) -> _Part:
    taken: list[Found] = []
    kinds: Counter[str] = Counter()
    refused = 0
    for found in gathered.found:
        if len(taken) == asked.max_items:
            break
        held = kinds_in(found.item, found.secret_parts)
        kinds.update(held)
        if held and asked.redact:
            found = replace(found, item=masked(found.item, found.secret_parts))
        elif held and not asked.allow_secret:
            refused += 1
            continue
        taken.append(found)
    return _Part(
        name=name,
        items=tuple(found.item for found in newest_first(taken)),
        requested=asked.max_items,
        matched=gathered.matched,
        refused=refused,
        is_available=gathered.is_available,
        why=gathered.why,
        kinds=kinds,
    )


def _bare(pack: Pack) -> int:
    """Bytes of a pack without items, and at most what its counts of packed items add."""
    digits = len(str(pack.asked.max_items)) - 1
    return len(pack.to_bytes()) + digits * len(pack.sections)


def _filled(parts: list[_Part], room: int, longest: int) -> list[tuple[Item, ...]]:
    """The items of each section, within `room` bytes for all."""
    first: list[Item | None] = []
    whole = [tuple(_cut(item, longest) for item in part.items) for part in parts]
    waiting = sum(map(bool, whole))
    for items in whole:
        if not items:
            first.append(None)
            continue
        fitted = _fitted(items[0], room // waiting)
        first.append(fitted)
        room -= _cost(fitted) if fitted is not None else 0
        waiting -= 1
    packed: list[tuple[Item, ...]] = []
    for items, begun in zip(whole, first, strict=True):
        if items and begun != items[0]:  # cut to its share, or left out: does more of it fit now?
            room += _cost(begun) if begun is not None else 0
            begun = _fitted(items[0], room) or begun
            room -= _cost(begun) if begun is not None else 0
        if begun is None:
            packed.append(())
            continue
        kept = [begun]
        for item in items[1:] if begun == items[0] else ():
            if _cost(item) > room:
                break
            room -= _cost(item)
            kept.append(item)
        packed.append(tuple(kept))
    return packed


def _cost(item: Item) -> int:
    """Bytes that an item takes in a document, with the comma behind it."""
    return len(compact(item.as_json()).encode()) + 1


def _fitted(item: Item, room: int) -> Item | None:
    """An item within so many bytes, cut where it must be; None where too little would be left."""
    while (over := _cost(item) - room) > 0:
        left = len(item.text.removesuffix(CUT).encode("utf-8", "replace")) - over
        if left < _LEAST_TEXT:
            return None
        item = _cut(item, left)
    return item


def _cut(item: Item, most: int) -> Item:
    """An item whose text has at most `most` bytes, CUT included, and ends with a whole word."""
    text = item.text.removesuffix(CUT)
    if len(item.text.encode("utf-8", "replace")) <= most:
        return item
    kept = text.encode("utf-8", "replace")[: most - len(CUT.encode())].decode("utf-8", "ignore")
    if border := _last_border(kept):
        kept = kept[:border]
    return replace(item, text=f"{kept.rstrip()}{CUT}")


def _last_border(text: str) -> int:
    """Where the last whole word of a text that was cut ends; 0 where that is not told."""
    found = re.search(r"\s\S*\Z", text)
    return found.start() if found and found.start() > len(text) // 2 else 0
