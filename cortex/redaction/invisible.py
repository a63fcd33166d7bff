"""A text as a reader sees it: without what is invisible inside a key, and with what stands for it.

Zero-width characters and Markdown's marks are taken out; an entity of HTML, an escape of an
address and a wide letter are read as the character they stand for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from html import unescape
from typing import NamedTuple

# Soft hyphens, joiners, marks of direction, selectors, byte order marks, tags and control
# characters, of which generated.escape drops some.
_DROPPED = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff"
)
_WIDE_SIGNS = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff3f\uff0d"
_IN_WORD = r"[A-Za-z0-9_\-]"
# Begins with one class of characters, for which a text is searched five times as fast.
_UNSEEN = re.compile(
    rf"""[{_DROPPED}{_WIDE_SIGNS}\r\\*<&%](?:
      (?<=[{_DROPPED}{_WIDE_SIGNS}])
    | (?<=\r)(?!\n)
    | (?<=\\)(?=[_\-.~*])  # Markdown would read it as its own: an editor writes `ghp\_...`
    | (?<={_IN_WORD}\*) \*{{0,2}} (?={_IN_WORD})
    | (?<={_IN_WORD}<) (?: /?(?:wbr|b|i|em|strong|span|code|mark)\b[^<>]{{0,80}}
        | !--[^<>]{{0,80}}-- ) > (?={_IN_WORD})
    | (?<=&) (?: lowbar | UnderBar | hyphen | dash | period | colon | equals | amp | quot | shy
        | ZeroWidthSpace | zwnj | zwj | \#[0-9]{{2,4}} | \#[xX][0-9A-Fa-f]{{2,4}} ) ;
    | (?<=%) (?: 2[bBdDeEfF] | 3[0-9aAdD] | [46][1-9a-fA-F] | [57][0-9aA] | 5[fF] | 7[eE] )
    )""",
    re.VERBOSE,
)
_WIDE = 0xFEE0  # from a wide letter to that of ASCII


class Seen(NamedTuple):
    text: str
    cuts: tuple[int, ...]  # where, in `text`, it is no longer as far from the whole; in order
    wholes: tuple[int, ...]  # where that is in the whole
    widths: tuple[int, ...]  # and how many characters of the whole the one there stands for

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of `text` as a span of the whole."""
        first, _ = self._whole(start)
        last, width = self._whole(end - 1)
        return first, last + width

    def _whole(self, at: int) -> tuple[int, int]:
        near = bisect_right(self.cuts, at) - 1
        if near < 0:
            return at, 1
        shift = at - self.cuts[near]
        return self.wholes[near] + shift, 1 if shift else self.widths[near]


def as_seen(text: str) -> Seen | None:
    """`text` as a reader sees it; None where that is how it is written."""
    pieces: list[str] = []
    cuts: list[int] = []
    wholes: list[int] = []
    widths: list[int] = []
    done = length = 0

    def mark(whole: int, width: int) -> None:
        if cuts and cuts[-1] == length:
            wholes[-1], widths[-1] = whole, width
        else:
            cuts.append(length)
            wholes.append(whole)
            widths.append(width)

    for match in _UNSEEN.finditer(text):
        piece = text[done : match.start()]
        pieces.append(piece)
        length += len(piece)
        done = match.end()
        if sign := _stands_for(match):
            mark(match.start(), done - match.start())
            pieces.append(sign)
            length += 1
        mark(done, 1)
    if not cuts:
        return None
    pieces.append(text[done:])
    return Seen("".join(pieces), tuple(cuts), tuple(wholes), tuple(widths))


def _stands_for(match: re.Match[str]) -> str:
    """The one character that a match is written for; nothing where it is invisible."""
    written = match[0]
    if written[0] == "%":
        return chr(int(written[1:], 16))
    if written[0] == "&":
        sign = unescape(written)
        return "" if _UNSEEN.match(sign) else sign[:1]
    return chr(ord(written) - _WIDE) if "\uff0d" <= written[0] <= "\uff5a" else ""
