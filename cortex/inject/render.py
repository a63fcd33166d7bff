"""What a source tells as text: its heading, a labelled line an item, its text indented below.

    [vault] from your notes, on this message:
      [fact] Boiler > Pressure (Home/Boiler.md:12-30)
        The pressure is 1.5 bar.

Whatever an item holds, none of it stands where a heading or a label does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..generated import Block, escape, escape_citations, escape_labels, is_label, key, mark
from ..lookalikes import as_read
from ..redaction import find, redact
from ..text import one_line
from .source import Item
from .sources import CUT

SOURCES = ("facts", "vault", "fabric", "sessions")  # by trust, and as they stand in the frame
ORDER_OF_TRUST = (
    "Order of trust: the user's message, [facts], [vault], [fabric], [sessions]. "
    "Of two that disagree under one label the newer counts."
)
MAX_TEXT = 6_000  # characters of an item that are looked at
MAX_HEAD = 300  # characters of a head that has a text below it
ID_DIGITS = 8  # of a key of an item
_MAX_LABEL = 40
_ITEM = "  "
_TEXT = "    "

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # the reading direction
_HALVES = re.compile("[\ud800-\udfff]")
_UNSEEN = re.compile("[\xad\u034f\u180e\u200b-\u200d\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_SPAN = re.compile(r":\d+(?:-\d+)?(?=\)|$)")  # of lines, behind a path
_FENCE = re.compile(r"\s*(?:>\s?)*(?:(`{3,})([^`]*)|(~{3,})(.*))$")


@dataclass(frozen=True, slots=True)
class Entry:
    """An item as it may be told: secrets masked, marks and labels escaped."""

    item: Item  # with texts as they may be told
    key: str  # 16 hexadecimal digits: 8 for what it is, 8 for what it says

    @property
    def id_key(self) -> str:
        return self.key[:ID_DIGITS]

    @property
    def content_key(self) -> str:
        return self.key[ID_DIGITS:]

    @property
    def head(self) -> str:
        return f"{self.item.head} ({self.item.remark})" if self.item.remark else self.item.head

    @property
    def said(self) -> str:
        """What it says, to be held against what others say."""
        return self.item.text or self.item.head

    def lines(self, body: str | None = None) -> str:
        """It as it stands in a block, with `body` in the place of what it says."""
        body = self.said if body is None else body
        if not self.item.text:
            return f"{_ITEM}[{self.item.label}] {body}".rstrip()
        told = "".join(f"\n{_TEXT}{line}" for line in closed(body).split("\n"))
        return f"{_ITEM}[{self.item.label}] {self.head}{told}"


def entry_of(item: Item, *, mask: bool) -> Entry | None:
    """An item as it may be told; None where it holds a secret.

    mask: tell it with its secrets masked, as far as that hides them whole.
    """
    parts = _clean(item)
    if _holds_secret(parts):
        if not mask:
            return None
        parts = _masked(parts)
        if _holds_secret(parts):
            return None
    item_id = redact(one_line(item.id))[0]
    parts = replace(
        parts,
        id=item_id,
        label=_escaped_label(parts.label),
        head=escape_labels(escape_citations(parts.head)),
        text=escape_labels(escape_citations(parts.text)),
        why=redact(one_line(item.why))[0],
    )
    return Entry(parts, key(item_id) + key(f"{_SPAN.sub('', parts.head)}\n{parts.text}"))


def block_of(name: str, heading: str, told: Sequence[tuple[Entry, str | None]]) -> Block | None:
    """The block of a source: its entries, each with what it says or a part of it; None for none."""
    if not told:
        return None
    lines = [f"[{name}] {heading}".rstrip(), *(entry.lines(body) for entry, body in told)]
    return Block(name, "\n".join(lines), tuple(entry.key for entry, _ in told))


def framed(blocks: Sequence[Block]) -> str:
    """All blocks of a turn as they are put behind the message; "" for none."""
    is_sourced = any(block.name in SOURCES for block in blocks)
    return mark(blocks, ORDER_OF_TRUST if is_sourced else "")


def said_in(block: Block) -> list[str]:
    """What each item of a block of a source says, in order; less where it was cut."""
    said: list[list[str]] = []
    for line in block.text.split("\n"):
        if line.startswith(_TEXT) and said:
            said[-1].append(line.removeprefix(_TEXT))
        elif line.startswith(f"{_ITEM}["):
            said.append([line.partition("] ")[2]])
    return ["\n".join(lines[1:] or lines).removesuffix(CUT).rstrip() for lines in said]


def closed(text: str) -> str:
    """`text` with lines behind it that end a code fence and a comment which it leaves open."""
    opened = ""
    for line in text.split("\n"):
        if fence := _FENCE.match(line):
            marks, rest = (fence[1] or fence[3]), (fence[2] or fence[4] or "")
            if not opened:
                opened = marks
            elif marks.startswith(opened) and not rest.strip():
                opened = ""
    if opened:
        text = f"{text}\n{opened}"
    return f"{text}\n-->" if text.rfind("<!--") > text.rfind("-->") else text


def _clean(item: Item) -> Item:
    """Its texts without what no reader sees and what would begin a line of its own."""
    text = _LINE_ENDS.sub("\n", item.text[:MAX_TEXT])
    lines = (_spaced(line).rstrip() for line in text.split("\n"))
    text = "\n".join(line for line in lines if line.strip())
    if len(item.text) > MAX_TEXT:
        text = f"{text} {CUT}"
    head = item.head[:MAX_TEXT] if not text else _shortened(item.head, MAX_HEAD)
    head = " ".join(_spaced(one_line(head)).split())
    label = "".join(char for char in one_line(item.label) if not set(as_read(char)) & set("[]<>"))
    label = " ".join(_spaced(label).split())
    return replace(item, label=label[:_MAX_LABEL] or "note", head=head, text=text)


def _shortened(head: str, limit: int) -> str:
    """Its beginning and its end, where it says from where it is."""
    half = limit // 2
    return head if len(head) <= limit else f"{head[:half]}…{head[-half:]}"


def _spaced(text: str) -> str:
    return _TURNS.sub("", _HALVES.sub("\ufffd", escape(text)))


def _holds_secret(item: Item) -> bool:
    """Also one with characters in it that nobody sees, or whose name stands in front of it."""
    seen = _UNSEEN.sub("", f"{item.head}\n{item.text}")
    texts = (f"{item.head}\n{item.text}", seen, f"{item.label}: {item.head or item.text}")
    return any(find(text) for text in dict.fromkeys(texts))


def _masked(item: Item) -> Item:
    label, head, text = (
        redact(_UNSEEN.sub("", part))[0] for part in (item.label, item.head, item.text)
    )
    return replace(item, label=re.sub(r"[\[\]]", "", label), head=head, text=text)


def _escaped_label(label: str) -> str:
    return f"note: {label}" if is_label(label) else escape_labels(label)
