"""How the room of a turn is shared: one ceiling over the whole frame, as it is rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..generated import Block
from ..text import cut_to_tokens, estimate_tokens
from .render import SOURCES, Entry, block_of, framed
from .sources import CUT, MAX_CHARS

LEAST_TOKENS = 24  # less of an item's text says nothing
_TRIES = 8


@dataclass(frozen=True, slots=True)
class Room:
    """How long a text is, or may be."""

    tokens: int  # by text.estimate_tokens
    chars: int

    def holds(self, other: Room) -> bool:
        return other.tokens <= self.tokens and other.chars <= self.chars

    def less(self, other: Room) -> Room:
        return Room(self.tokens - other.tokens, self.chars - other.chars)

    def plus(self, other: Room, share: float) -> Room:
        return Room(
            self.tokens + int(other.tokens * share),
            self.chars + int(other.chars * share),
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """What a source would tell."""

    name: str
    heading: str
    share: float  # of what the blocks before the sources leave
    entries: tuple[Entry, ...]  # best first


@dataclass(frozen=True, slots=True)
class Told:
    """What there is room for."""

    block: Block | None = None
    entries: tuple[Entry, ...] = ()
    is_cut: bool = False
    left_out: int = 0


def room_of(text: str) -> Room:
    return Room(estimate_tokens(text), len(text))


def shared_out(
    before: Sequence[Block], offers: Sequence[Offer], tokens: int, chars: int = MAX_CHARS
) -> dict[str, Told]:
    """source -> what it tells, in the order of `offers`, which is that of the frame.

    framed([*before, *blocks told]) has at most so many tokens and characters, as long as `before`
    alone has. Each source has its share of what is left, and what those in front of it did not
    need; what is left in the end goes to those that lacked room, first come first served. The
    last item that fits is cut where there is room for some of it.
    """
    ceiling = Room(tokens, chars)
    told = {offer.name: Told(left_out=len(offer.entries)) for offer in offers}
    # The frame, its notice and the order of trust are nobody's share.
    empty = [*before, Block(SOURCES[0], "", ())]
    base = room_of(framed(empty))
    if not ceiling.holds(base):
        return told
    share = 0.0
    for offer in offers:
        share = min(share + offer.share, 1.0)
        allowed = base.plus(ceiling.less(base), share)
        told[offer.name] = _filled(offer, before, told, allowed)
    for offer in offers:
        lacks = told[offer.name].is_cut or told[offer.name].left_out
        if lacks and ceiling.less(_size(before, told)).tokens >= LEAST_TOKENS:
            told[offer.name] = _filled(offer, before, told, ceiling)
    return told


def _size(before: Sequence[Block], told: Mapping[str, Told]) -> Room:
    return room_of(framed([*before, *(one.block for one in told.values() if one.block)]))


def _filled(offer: Offer, before: Sequence[Block], told: Mapping[str, Told], allowed: Room) -> Told:
    """As much of an offer as fits below `allowed`, with what the others tell as it is."""

    def size(parts: Sequence[tuple[Entry, str | None]]) -> Room:
        return _size(before, {**told, offer.name: Told(block_of(offer.name, offer.heading, parts))})

    parts: list[tuple[Entry, str | None]] = []
    is_cut = False
    free = allowed.less(size(()))
    for entry in offer.entries:
        if min(free.tokens, free.chars) <= 0:
            break
        if len(entry.said) < free.chars:
            beyond = size([*parts, (entry, None)])
            if allowed.holds(beyond):
                parts.append((entry, None))
                free = allowed.less(beyond)
                continue
        left = allowed.less(size([*parts, (entry, CUT)]))
        for _ in range(_TRIES):
            body = _beginning(entry.said, left)
            if not body:
                break
            beyond = size([*parts, (entry, body)])
            if allowed.holds(beyond):
                parts.append((entry, body))
                is_cut = True
                free = allowed.less(beyond)
                break
            excess = beyond.less(allowed)
            left = Room(
                left.tokens - max(excess.tokens, 0) - left.tokens // 20,
                left.chars - max(excess.chars, 0) - left.chars // 20,
            )
    return Told(
        block_of(offer.name, offer.heading, parts),
        tuple(entry for entry, _ in parts),
        is_cut,
        len(offer.entries) - len(parts),
    )


def _beginning(text: str, room: Room) -> str:
    """The beginning of `text` within `room`, cut at a line or word and marked; "" if it says too
    little."""
    if room.tokens < LEAST_TOKENS or room.chars <= 0:
        return ""
    kept = text[: room.chars]
    if len(kept) < len(text):
        border = max(kept.rfind("\n"), kept.rfind(" "))
        kept = kept[: border if border > len(kept) // 2 else len(kept)]
    kept = cut_to_tokens(kept, room.tokens).rstrip()
    return f"{kept} {CUT}" if estimate_tokens(kept) >= LEAST_TOKENS else ""
