"""A note cut into chunks along its headings, with ids that survive edits elsewhere.

Spans cover the body without gap or overlap. A section within the size limit is one chunk; a heading
with nothing of its own goes with the first section below it. A larger section is cut between its
blocks, a block that is too large between its parts (list items, table rows, code lines, sentences,
words). Where to cut is decided by the text beside the border alone: by a hash of how the next piece
begins, against a chance that grows with the size of the piece before it. An edit therefore moves
borders only where it is, and the chunks around it keep their ids (content-defined chunking, as in
Muthitacharoen, Chen and Mazieres, "A low-bandwidth network file system", 2001).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from operator import itemgetter
from typing import TypeVar

from ..redaction import find, is_told_above, redact
from ..text import cut_to_tokens, estimate_tokens, slug
from ..types import Chunk, Note
from .markdown import Block, Body, Code

CHUNKER_VERSION = 3  # raise it when the same text gives other chunks
MAX_TOKENS = 400  # of one chunk's text, by text.estimate_tokens

T = TypeVar("T")

_HARD_CHARS = 300  # a run without any border is cut at this many characters, at least
_BORDER_HASH_CHARS = 64
_LEAST_SECRET = 6  # characters of a line of one
# What can be long enough to be cut: key blocks, tokens of JSON, any long unbroken run.
_MAY_SPAN = re.compile(r"-----(?:BEGIN|END)|eyJ|[A-Za-z0-9+/_=.-]{120}")
_FENCE_TOKENS = 40  # kept free for the fences around a part of a code block
_MOST_EAGER = 2  # how often borders are made likelier before pieces are just filled up
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])[」』”’）]*")
_WORD_END = re.compile(r"\s+")
_DATA_URI = re.compile(r"(data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,)[A-Za-z0-9+/=\s]{64,}")


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def chunk_note(note: Note, body: Body) -> list[Chunk]:
    """The chunks of a note, in document order; one stub for a note without a body."""
    shown = _Shown(note, body)
    chunks: list[Chunk] = []
    may_be_parted = _MAY_SPAN.search(note.text) or is_told_above(note.text)
    secrets = [(f.start, f.end) for f in find(note.text)] if may_be_parted else []
    identities: dict[str, int] = {}
    for heading_path, span, headings in _sections(note, body):
        for piece in _pieces(note.text, span, headings, body, shown):
            text = shown.text(piece, headings)
            # From its own heading on: those above it are in the path, and may come and go.
            own = next((h.start for h in reversed(headings) if piece.start <= h.start), piece.start)
            stripped = note.text[min(own, piece.end) : piece.end].strip()
            digest = blake2b(
                "\0".join((note.path, *heading_path, "", stripped)).encode("utf-8"), digest_size=5
            ).hexdigest()
            name = slug(heading_path[-1]) if heading_path else "top"
            identity = f"{note.path}#{name}-{digest}"
            twins = identities.get(identity, 0) + 1
            identities[identity] = twins
            chunks.append(
                Chunk(
                    id=identity if twins == 1 else f"{identity}-{twins}",
                    note=note.path,
                    title=note.title,
                    heading_path=heading_path,
                    start=piece.start,
                    end=piece.end,
                    start_line=body.line_of(_first_visible(note.text, piece)),
                    end_line=body.line_of(max(piece.start, piece.end - 1)),
                    text=text or _name_of(heading_path, note.title),
                    tags=tuple(dict.fromkeys(_within(body.tags, piece))),
                    links=tuple(_within(body.links, piece)),
                    secrets=_parted_secrets(note.text, piece, secrets, text),
                )
            )
    return chunks


def _name_of(heading_path: Sequence[str], title: str) -> str:
    """What stands for the text of a section without any."""
    return cut_to_tokens(next(filter(None, (*heading_path[-1:], title)), ""), MAX_TOKENS)


def _sections(note: Note, body: Body) -> Iterator[tuple[tuple[str, ...], _Span, list[_Span]]]:
    """(heading path, span, spans of the heading lines in it) of each section, in order."""
    end = len(note.text)
    borders = [at for at, _ in body.headings]
    if not borders or note.text[note.body_start : borders[0]].strip():
        yield (), _Span(note.body_start, borders[0] if borders else end), []
        start = borders[0] if borders else end
    else:
        start = note.body_start  # blank lines go with what follows
    lines: list[_Span] = []
    for index, (at, heading) in enumerate(body.headings):
        stop = borders[index + 1] if index + 1 < len(borders) else end
        line_end = body.heading_ends.get(at)
        if line_end is not None:
            lines.append(_Span(at, line_end))
        is_empty = line_end is not None and not note.text[line_end:stop].strip()
        deeper = index + 1 < len(borders) and body.headings[index + 1][1].level > heading.level
        if is_empty and deeper:
            continue  # it goes with its first subsection, whose heading path names it
        yield (*heading.parents, heading.text), _Span(start, stop), lines
        start, lines = stop, []


def _within(items: Sequence[tuple[int, T]], span: _Span) -> list[T]:
    """Of (offset, item) pairs in order, the items in a span."""
    first = bisect_left(items, span.start, key=itemgetter(0))
    last = bisect_left(items, span.end, key=itemgetter(0))
    return [item for _, item in items[first:last]]


def _parted_secrets(
    text: str, span: _Span, secrets: Sequence[tuple[int, int]], shown: str
) -> tuple[str, ...]:
    """The lines, in a span, of secrets that what is shown of it does not give away as such.

    A border cuts them, or the heading or the head of a column that tells them is elsewhere.
    """
    lines: dict[str, None] = {}
    known: str | None = None
    for start, end in secrets:
        if start >= span.end or end <= span.start:
            continue
        is_cut = start < span.start or end > span.end
        if not is_cut and known is None:
            known, _ = redact(shown)
        for line in text[max(start, span.start) : min(end, span.end)].splitlines():
            part = line.strip("> \t")
            if len(part) >= _LEAST_SECRET and (is_cut or (known is not None and part in known)):
                lines[part] = None
    return tuple(lines)


def _first_visible(text: str, span: _Span) -> int:
    """Where the first line of a span begins that is not blank."""
    at = _skip_blank(text, span.start, span.end)
    return at if at < span.end else span.start


def _pieces(
    text: str, span: _Span, headings: Sequence[_Span], body: Body, shown: _Shown
) -> list[_Span]:
    """The section cut to chunks, each within the size limit."""
    if estimate_tokens(shown.text(span, headings)) <= MAX_TOKENS:
        return [span]
    first = bisect_left(body.blocks, span.start, key=lambda block: block.start)
    last = bisect_left(body.blocks, span.end, key=lambda block: block.start)
    return _cut(text, span, body.blocks[first:last], body, shown)


def _cut(text: str, span: _Span, blocks: Sequence[Block], body: Body, shown: _Shown) -> list[_Span]:
    """Cut a span at the starts of its blocks, then within those that are still too large."""
    starts = sorted({block.start for block in blocks if span.start < block.start < span.end})
    units = _between(text, span, starts, body)
    inside = {block.start: block for block in blocks}

    def smaller(unit: _Span) -> list[_Span]:
        first = _content_start(text, unit, body)
        block = inside.get(_first_line(text, first, unit.end, body))
        if block is not None and block.parts:
            return _cut(text, unit, block.parts, body, shown)
        return _cut_text(text, unit, body, shown)

    return _group(text, units, smaller, shown)


def _cut_text(text: str, span: _Span, body: Body, shown: _Shown) -> list[_Span]:
    """Cut a leaf block at its lines, then sentences, then words, then anywhere."""
    first = bisect_right(body.lines, span.start)
    last = bisect_left(body.lines, span.end)
    units = _between(text, span, body.lines[first:last], body)

    def in_line(unit: _Span) -> list[_Span]:
        ends = [m.end() for m in _SENTENCE_END.finditer(text, unit.start, unit.end)]
        return _group(text, _between(text, unit, ends, body), in_sentence, shown)

    def in_sentence(unit: _Span) -> list[_Span]:
        ends = [m.end() for m in _WORD_END.finditer(text, unit.start, unit.end)]
        return _group(text, _between(text, unit, ends, body), in_word, shown)

    def in_word(unit: _Span) -> list[_Span]:
        step = _HARD_CHARS
        cuts = [unit.start]
        while cuts[-1] + step < unit.end:
            cuts.append(cuts[-1] + step)
        pieces = _between(text, unit, cuts[1:], body)
        while any(not shown.fits(piece) for piece in pieces) and step > 16:
            step //= 2
            pieces = _between(text, unit, list(range(unit.start + step, unit.end, step)), body)
        return pieces

    return _group(text, units, in_line, shown)


def _between(text: str, span: _Span, borders: Sequence[int], body: Body) -> list[_Span]:
    """A span cut at borders, but not between a heading and its text, nor to a blank piece."""
    first = _content_start(text, span, body)
    points = [span.start]
    for at in (*(at for at in borders if first < at < span.end), span.end):
        if len(points) > 1 and not text[points[-1] : at].strip():
            points[-1] = at  # the blank goes with what stands before it
        else:
            points.append(at)
    return [_Span(points[i], points[i + 1]) for i in range(len(points) - 1)]


def _content_start(text: str, span: _Span, body: Body) -> int:
    """Where the text begins that comes after the headings a span begins with, at its line."""
    at = _first_line(text, span.start, span.end, body)
    if at not in body.heading_ends:
        return span.start
    while at in body.heading_ends and at < span.end:
        at = _first_line(text, body.heading_ends[at], span.end, body)
    return at


def _first_line(text: str, start: int, end: int, body: Body) -> int:
    """The start of the first line that is not blank; `end` if all are."""
    visible = _skip_blank(text, start, end)
    return max(body.lines[body.line_of(visible) - 1], start) if visible < end else end


def _skip_blank(text: str, start: int, end: int) -> int:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip())


def _group(
    text: str, units: list[_Span], smaller: Callable[[_Span], list[_Span]], shown: _Shown
) -> list[_Span]:
    """Join neighbouring units to chunks; borders depend on the text beside them alone."""
    if len(units) == 1:
        return [units[0]] if shown.fits(units[0]) else smaller(units[0])
    sizes = [shown.size(unit) for unit in units]
    marks = [_mark(text, unit) for unit in units]
    done: list[_Span] = []
    stack: list[tuple[int, int, float]] = [(0, len(units), 0.5)]
    while stack:
        first, last, eagerness = stack.pop()
        whole = _Span(units[first].start, units[last - 1].end)
        if sum(sizes[first:last]) <= MAX_TOKENS - _FENCE_TOKENS or shown.fits(whole):
            done.append(whole)
            continue
        if last - first == 1:
            done.extend(smaller(whole))
            continue
        chances = [min(eagerness * _chance(sizes[i - 1]), 1.0) for i in range(first + 1, last)]
        cuts = [i for i, chance in enumerate(chances, start=first + 1) if marks[i] < chance]
        if eagerness > _MOST_EAGER or len(cuts) > 3 * sum(chances) + 4:
            # Units that begin alike (equal rows, one letter over and over) are cut all or none.
            points = _filled(sizes, first, last)
        else:
            points = [first, *cuts, last]
        stack.extend((points[i], points[i + 1], eagerness * 2) for i in range(len(points) - 1))
    return sorted(done, key=lambda span: span.start)


def _filled(sizes: Sequence[int], first: int, last: int) -> list[int]:
    """Borders that fill each piece up to the limit, one after the other."""
    points, held = [first], 0
    for index in range(first, last):
        if index > points[-1] and held + sizes[index] > MAX_TOKENS - _FENCE_TOKENS:
            points.append(index)
            held = 0
        held += sizes[index]
    return [*points, last] if len(points) > 1 else [first, (first + last) // 2, last]


def _mark(text: str, unit: _Span) -> float:
    """A number in [0, 1) that depends on how a unit begins."""
    head = text[unit.start : min(unit.end, unit.start + _BORDER_HASH_CHARS)].strip()
    return int.from_bytes(blake2b(head.encode("utf-8"), digest_size=4).digest(), "big") / 2**32


def _chance(tokens: int) -> float:
    """How likely a border is after a unit: by powers of two, so that small edits move none."""
    return (1 << max(tokens, 1).bit_length()) / MAX_TOKENS


class _Shown:
    """The text of a span as it is shown and searched."""

    def __init__(self, note: Note, body: Body) -> None:
        self._note = note
        self._body = body

    def fits(self, span: _Span) -> bool:
        return estimate_tokens(self.text(span, ())) <= MAX_TOKENS

    def size(self, span: _Span) -> int:
        """Tokens of a span without the fences that would be put around a part of a code block."""
        return estimate_tokens(self._bare(span, ()))

    def text(self, span: _Span, headings: Sequence[_Span]) -> str:
        """Comments and heading lines left out, fences valid, inline images shortened."""
        piece = self._bare(span, headings)
        before, after = self._fences(span)
        piece = piece.strip("\n") if before else piece.strip()
        return f"{before}{piece}{after}" if piece.strip() else ""

    def _bare(self, span: _Span, headings: Sequence[_Span]) -> str:
        text = self._note.text
        comments = self._body.comments
        first = max(bisect_left(comments, span.start, key=itemgetter(0)) - 1, 0)
        last = bisect_left(comments, span.end, key=itemgetter(0))
        hidden = [comment for comment in comments[first:last] if comment[1] > span.start]
        hidden.extend((line.start, line.end) for line in headings)
        if hidden:
            hidden.sort()
            pieces = []
            at = span.start
            for start, end in hidden:
                pieces.append(text[at : max(start, at)])
                at = max(at, min(end, span.end))
            pieces.append(text[at : span.end])
            piece = "".join(pieces)
        else:
            piece = text[span.start : span.end]
        if ";base64," in piece:
            piece = _DATA_URI.sub(r"\1…", piece)
        return piece.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")

    def _fences(self, span: _Span) -> tuple[str, str]:
        """What opens and closes the fence of a span that begins or ends inside one."""
        before = after = ""
        for code in self._around(span):
            is_part = code.start < span.start < code.end and span.start >= code.inner_start
            if is_part:
                before = code.opening + "\n"
            if code.start < span.end and (span.end < code.end or code.runs_on):
                after = "\n" + (code.closing if is_part else code.first_closing)
        return before, after

    def _around(self, span: _Span) -> Iterator[Code]:
        codes = self._body.codes
        first = max(0, bisect_right(codes, span.start, key=lambda code: code.start) - 1)
        for code in codes[first:]:
            if code.start >= span.end:
                return
            if code.end > span.start:
                yield code
