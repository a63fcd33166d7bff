"""Which messages ask for nothing, and how much of one text another repeats."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Literal

from . import closers as known

_LONGEST = 4_000  # characters; of a longer message nobody can say that it asks for nothing,
_MOST_SQUEEZED = 400  # nor where it has more once what repeats itself is told three times
_END = 500  # characters at each end of a message in which greetings and thanks are looked for
_MOST_SEGMENTS = 12  # between punctuation, at each end
_MOST_COMPARED = 20_000  # characters of a text
_SHINGLE = 3  # words
_TECHNICAL = frozenset(":/.@#$_?")


@dataclass(frozen=True, slots=True)
class Gate:
    """What a message is to the sources."""

    kind: Literal["", "closer", "short"]  # nothing is asked; fabric alone is asked for a short one
    why: str  # for people; "" where kind is
    message: str  # what the sources are asked


def gate(message: str, *, min_chars: int, closers: Sequence[str]) -> Gate:
    """How a message is dealt with; `closers` are phrases that close beside those known.

    closer: it is made of thanks, agreement, greetings, laughter, praise and leave-taking of one
    language, emoji and punctuation, without a sign that it asks: a question mark, a digit, a mark
    of code, any other word. short: under `min_chars` characters, all ASCII, none of :/.@#$_? in it.
    Else its `message` is without such words at its ends, where they stand apart from the rest.
    Looks at no more than the first 4,000 characters and the last 500.
    """
    text = message.strip()
    own = known.own(tuple(closers))
    if len(text) <= _LONGEST and _closes(text, own):
        return Gate("closer", "nothing but thanks, greetings, agreement or laughter", text)
    if len(text) < min_chars and text.isascii() and not _TECHNICAL & set(text):
        return Gate("short", f"shorter than {min_chars} characters", text)
    return Gate("", "", _without_closers(text, own))


def overlap(text: str, other: str) -> float:
    """The share of the distinct 3-word shingles of `text` that `other` holds, 0 to 1.

    Words are compared casefolded; each character of a script without blanks is a word. Of a text of
    fewer than 3 words the words themselves are compared. 0 for a text without words. Looks at the
    first 20,000 characters of each.
    """
    return overlaps()(text, other)


def overlaps() -> Callable[[str, str], float]:
    """overlap, for many texts: each is looked at once."""
    words = cache(_words)

    @cache
    def shingles(text: str, size: int) -> frozenset[tuple[str, ...]]:
        told = words(text)
        return frozenset(tuple(told[at : at + size]) for at in range(len(told) - size + 1))

    def share(text: str, other: str) -> float:
        size = _SHINGLE if len(words(text)) >= _SHINGLE else 1
        mine = shingles(text, size)
        return len(mine & shingles(other, size)) / len(mine) if mine else 0.0

    return share


def _words(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text[:_MOST_COMPARED]).casefold()
    return known.UNIT.findall(text)


# What closes

# Marks and faces that ask, and how Chinese asks: 好不好.
_QUESTION = re.compile(
    r"[?¿؟՞\u2753\u2754\u203d\U0001f914\U0001f928\U0001f9d0]|([^\W不没沒])[不没沒]\1"
)
_CODE = re.compile(r"[\d\\/@#$_=<>{}\[\]|`^%+\"“”„«»「」『』《》]|::|\w\(|(?<!\w)--?\w")
_WITH_DIGITS = re.compile(r"(?<![\w.])(?=\d*[^\W\d])\w*\d\w*")  # as in l8r
_REPEATED = re.compile(r"(.{1,7}?)\1{3,}", re.DOTALL)
_GREEK = re.compile("[\u0370-\u03ff]")
_THAI_LAUGHTER = re.compile(r"(?<!\w)5{3,}\+*(?!\w)")
_THAI = re.compile("[\u0e00-\u0e7f]")
_SHOUTED = re.compile(r"(?<=!)1+(?![^\s!1])")  # as in !!1!
_TO_US = re.compile(r"(?<!\w)@(?=hermes\b)", re.IGNORECASE)
_SMILEY = re.compile(
    r"[:;=]['’]?-?[()DPpOo3*]+(?!\w)|<3+(?!\w)|\^[_.o-]?\^|\b[xX]D+\b|\\o/|(?<!\w)o/(?!\w)|[TQ]_+[TQ]"
    r"|>_+<|-_+-|m\(_ ?_\)m|\(\^[^\w\s]{0,4}\^\)|¯\\_\(ツ\)_/¯|(?<!\w)\+1(?!\w)"
    r"|(?<!\w)[aà]\+{1,2}(?![\w+])"
)
# Faces, hands, hearts, ticks and what people cheer with; a ship or a bug may be what is asked for.
_SOCIAL = re.compile(
    "[\U0001f600-\U0001f64a\U0001f64c-\U0001f64f\U0001f910-\U0001f913\U0001f915-\U0001f927"
    "\U0001f929-\U0001f92f\U0001f970-\U0001f97a\U0001fae0-\U0001fae8\U0001faf0-\U0001faf8"
    "\U0001f44a-\U0001f450\U0001f493-\U0001f49f\U0001f90c-\U0001f90f\U0001f918-\U0001f91f"
    "\U0001f4aa\U0001f590\U0001f596\U0001f5a4\U0001f9e1\U0001fa75-\U0001fa77\U0001f389\U0001f38a"
    "\U0001f4af\U0001f525\U0001f680\U0001f31f\U0001f37b\U0001f942\U0001f942\U0001f947\U0001f197"
    "\U0001f192\U0001f4a4\U0001f339\U0001f490\u2705\u2714\u2713\u2611\u2764\u2763\u2665\u263a\u2639"
    "\u270a-\u270d\u2728\u2b50]"
)


def _closes(text: str, own: known.Phrases, *, must_close: bool = True) -> bool:
    """Whether `text` asks for nothing; with must_close False also where it holds fillers alone."""
    text = _REPEATED.sub(r"\1\1\1", text)
    if len(text) > _MOST_SQUEEZED:
        return False
    text = unicodedata.normalize("NFKC", text)
    if _THAI.search(text):
        text = _THAI_LAUGHTER.sub(" haha ", text)
    text = _SHOUTED.sub("", _TO_US.sub("", text))
    plain = _SMILEY.sub(" ", text)
    if _QUESTION.search(plain) or (";" in plain and _GREEK.search(plain)):
        return False
    if known.is_own(plain, own):
        return True
    if _CODE.search(_WITH_DIGITS.sub(lambda w: "" if known.is_known(w[0], own) else w[0], plain)):
        return False
    units = known.units_of(plain, own)
    if units:
        must_close = must_close and plain == text and not _SOCIAL.search(plain)
        return known.covers(units, own, must_close=must_close)
    if units is None:
        return False
    return plain != text or bool(_SOCIAL.search(plain)) or not any(map(_is_symbol, plain))


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character)[0] == "S"


# What is asked

_BREAK = re.compile(
    r"[!.,;…]+(?=\s|[^\w\s]|$)|[:?؟]+(?=\s|$)|[。、，！；．｡､：？¡¿]+|\n+|(?<=\s)[-–—]+(?=\s)|[–—]+"
    "|[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\ufe0f\U0001f000-\U0001faff]+"
)
_ASKS = re.compile("[:?¿؟：？]")
# What makes of a closer the beginning of what is asked, as in: No. 5; top, left and right;
# さようなら、の英訳.
_NUMBER = re.compile(r"\s*\d")
_LIST = re.compile(
    r"\s*([\w'’-]+)(?:\s*,|\s+(?:and|or|und|oder|y|o|e|ou|et|en|of|i|и|или)\s)", re.IGNORECASE
)
_PARTICLE = re.compile(r"\s*(?:の(?=[\u30a0-\u30ff\u4e00-\u9fffA-Za-z])|を|って|という|とは)")
_SPOKEN_OF = re.compile(r"[:：](?=\s)[^.!?。！？\n]*\Z")
_TEXT_BEHIND = re.compile(r"[:：]\s*\n")  # that is spoken of; its end is not the user's


def _without_closers(text: str, own: known.Phrases) -> str:
    """`text` without the closers that stand apart at its ends; all of it where nothing is left."""
    start = _start(text[:_END], own)
    end = len(text) - (0 if _TEXT_BEHIND.search(text) else _after(text[start:][-_END:], own))
    asked = text[start:end].strip()
    return asked if any(map(str.isalnum, asked)) else text


def _start(text: str, own: known.Phrases) -> int:
    """How many characters at the beginning are closers, and what leads over from them."""
    start = at = 0
    for found in islice(_BREAK.finditer(text), _MOST_SEGMENTS):
        segment = text[at : found.start()]
        if segment.strip() and not _closes(segment, own, must_close=start == 0):
            break
        if _ASKS.search(found[0]) and found[0][0] not in "¿":
            break
        if _goes_on(segment.strip(), found[0], text[found.end() :], own):
            break
        at = found.end()
        if segment.strip() or found[0][0] not in "¿¡":
            start = at
    opener = known.opener(text, start)
    if opener > start and _closes(text[start:opener], own):
        return opener
    if start == 0:
        return 0
    return known.without_lead(text, start)


def _goes_on(closer: str, mark: str, rest: str, own: known.Phrases) -> bool:
    """Whether a closer, with a mark behind, is the beginning of what is asked."""
    if mark == ".":
        return len(closer) == 1 or bool(_NUMBER.match(rest))
    if mark == "," and " " not in closer and (second := _LIST.match(rest)):
        return not _closes(second[1], own, must_close=False)
    return bool(_PARTICLE.match(rest))


def _after(text: str, own: known.Phrases) -> int:
    """How many characters at the end are closers; none where a colon stands in front of them."""
    kept = end = len(text)
    for found in [*_BREAK.finditer(text)][: -_MOST_SEGMENTS - 1 : -1]:
        segment = text[found.end() : end]
        if segment.strip() and not _closes(segment, own, must_close=kept == len(text)):
            break
        if ":" in found[0] or "：" in found[0]:
            break
        end = found.start()
        if segment.strip():
            kept = found.end() if _ASKS.search(found[0]) else found.start()
    return 0 if _SPOKEN_OF.search(text, 0, kept) else len(text) - kept
