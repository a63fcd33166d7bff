"""Of a long text the part that a query is about, so that cutting it leaves what was found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..redaction import find

if TYPE_CHECKING:
    from ..records.postings import Wanted

LEFT_OUT = "[…] "  # in front of a text whose beginning is
_BEFORE = 80  # characters that may stand before the first word that was found
_MOST_PLACES = 400


def excerpt(text: str, words: Sequence[Wanted], most: int) -> str:
    """`text` from a little before the place where most of the words stand near each other.

    most: bytes that will be kept of it; a shorter text stays, and so does one with a secret in
    it, which must be seen whole to be known for one.
    """
    if len(text.encode("utf-8", "replace")) <= most or find(text):
        return text
    plain = text.lower()
    if len(plain) != len(text):  # a letter whose small form is two
        return text
    places = sorted(
        (match.start(), number)
        for number, word in enumerate(words)
        for beginning in word.beginnings
        for match in re.finditer(_pattern(beginning, word.is_unspaced), plain)
    )[:_MOST_PLACES]
    width = most // 2

    def worth(at: int) -> float:
        near = {number for place, number in places if at <= place < at + width}
        return sum(words[number].weight for number in near)

    best = max(((worth(at), -at) for at, _ in places), default=(0.0, 0))
    start = max(-best[1] - _BEFORE, 0)
    border = re.compile(r"\s+").search(text, start, -best[1]) if start else None
    return LEFT_OUT + text[border.end() :] if border else text


def _pattern(beginning: str, is_unspaced: bool) -> str:
    return re.escape(beginning) if is_unspaced else rf"\b{re.escape(beginning)}"
