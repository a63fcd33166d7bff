"""What of its sources a conversation carries, and which items of a source are new to it.

The conversation itself is the memory: what was told stands in the frames behind the user's earlier
messages, as the host replays them. So it survives a resume, and ends where they were compacted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .. import generated
from .render import ID_DIGITS, SOURCES, Entry, entry_of, said_in
from .source import Item

Overlap = Callable[[str, str], float]  # the share of the first text that the second holds


@dataclass(frozen=True, slots=True)
class Carried:
    """What of one source the conversation carries."""

    latest: Mapping[str, str] = field(default_factory=dict)  # id -> content, as last told
    texts: tuple[tuple[str, str], ...] = ()  # (id, what was told), in order


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a source's items is to be told, and why the others are not."""

    entries: tuple[Entry, ...]  # best first
    shown_before: int = 0
    repeated: int = 0  # of what was told under another id, or by the user
    refused: tuple[str, ...] = ()  # heads of those that hold a secret


NOTHING = Selection(())


def carried_in(history: object) -> dict[str, Carried]:
    """source -> what of it stands behind the user's messages; see sent_behind."""
    told = history if isinstance(history, Sequence) and not isinstance(history, str) else ()
    latest: dict[str, dict[str, str]] = {}
    texts: dict[str, list[tuple[str, str]]] = {}
    for message in told:
        behind = sent_behind(message) if isinstance(message, Mapping) else ""
        for block in generated.blocks_in(behind):
            if block.name not in SOURCES:
                continue
            for key in block.keys:
                latest.setdefault(block.name, {})[key[:ID_DIGITS]] = key[ID_DIGITS:]
            said = said_in(block)
            if len(said) == len(block.keys):
                ids = (key[:ID_DIGITS] for key in block.keys)
                texts.setdefault(block.name, []).extend(zip(ids, said, strict=True))
    return {name: Carried(latest[name], tuple(texts.get(name, ()))) for name in latest}


def sent_behind(message: Mapping[str, Any]) -> str:
    """What the host put behind a message of the user's, as it keeps that beside his own words.

    In a group it puts in front of them what others wrote, where anybody can have forged a frame,
    as he himself can: then the last frame alone can be ours, and only where it stands behind them.
    """
    sent, content = message.get("api_content"), message.get("content")
    if message.get("role") != "user" or not isinstance(sent, str):
        return ""
    content = content if isinstance(content, str) else ""
    own = content.strip()
    for whole in (content, own):
        if own and sent.startswith(f"{whole}\n\n"):
            return sent[len(whole) :]
    *_, (start, end) = ((0, 0), *generated.frames(sent))
    is_behind = own in sent[:start] and own not in sent[end:] and not sent[:end].endswith(own)
    is_last = own not in sent and not sent[end:].strip()
    return sent[start:end] if own and (is_behind or is_last) else ""


def selected(
    items: Sequence[Item],
    carried: Carried,
    message: str,
    *,
    limit: int,
    max_overlap: float,
    mask: bool,
    overlap: Overlap,
) -> Selection:
    """The first `limit` items that hold no secret and are new to the conversation.

    What was told is new again once its content is another. What says the same as another item, told
    before or in this turn, or as the message itself, is not new: by overlap(it, other) above
    max_overlap. Items behind the last one selected are not looked at.
    """
    entries: list[Entry] = []
    shown = repeated = 0
    refused: list[str] = []
    told = list(carried.texts)
    seen: set[str] = set()
    for item in items:
        if len(entries) == limit:
            break
        entry = entry_of(item, mask=mask)
        if entry is None:
            refused.append(item.head)
            continue
        item_id, content = entry.id_key, entry.content_key
        if not entry.said or item_id in seen:
            continue
        if carried.latest.get(item_id) == content:
            shown += 1
            continue
        others = (text for other, text in told if other != item_id)
        if any(overlap(entry.said, text) > max_overlap for text in (message, *others)):
            repeated += 1
            continue
        entries.append(entry)
        seen.add(item_id)
        told.append((item_id, entry.said))
    return Selection(tuple(entries), shown, repeated, tuple(refused))


def apart_from(
    chosen: Selection, facts: Iterable[tuple[str, str]], limit: int, overlap: Overlap
) -> Selection:
    """The first `limit` of what `vault` would tell that no fact of the same note says in full.

    facts: (id, what was told) of the facts that the conversation carries, and of this turn's. One
    that was changed since does not hold all that its note says now.
    """
    said: dict[str, list[str]] = {}
    for fact, text in facts:
        said.setdefault(fact, []).append(text)
    entries: list[Entry] = []
    repeated = 0
    for entry in chosen.entries:
        note = generated.key(entry.item.id.partition("#")[0])
        if any(overlap(entry.said, text) >= 1 for text in said.get(note, ())):
            repeated += 1
        elif len(entries) < limit:
            entries.append(entry)
    return replace(chosen, entries=tuple(entries), repeated=chosen.repeated + repeated)
