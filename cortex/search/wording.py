"""Whether a text holds words in an order, whatever their case, accents, blanks, signs and markup.

Both are written as words with one blank between them, where each character of a script without
blanks is a word: ` tide gauge `, ` 常 青 笔 记 `. One holds the other when it is a part of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache

from ..indexer.tokens import UNSPACED_SCRIPTS, fold_marks
from ..types import Json


def spaced(text: str, separators: str = "") -> str:
    """The words of a text, a blank around each; "" if it has none.

    separators: characters that are words of their own.
    """
    if text.isascii():
        words = _word(separators, True).findall(text.lower())
    else:
        folded = unicodedata.normalize("NFKC", text).casefold()
        words = list(map(_without_marks, _word(separators, False).findall(folded)))
    return f" {' '.join(words)} " if words else ""


_without_marks = lru_cache(maxsize=65_536)(fold_marks)


def held(sought: str, text: str, separators: str = "") -> bool:
    """Whether a text holds the words of `sought` in their order; `*` is any part of a word."""
    words = _sought(sought, separators)
    if not words:
        return False
    if "*" not in words:
        return words in spaced(text, separators)
    return _with_stars(words).search(spaced(text, separators)) is not None


def holds_all(
    sought: Collection[str],
    note: Mapping[str, Json],
    said: Iterable[str],
    chunks: Iterable[Mapping[str, Json]],
) -> bool:
    """Whether a note has all of these, each as spaced() gives it, in its names, tags or text.

    note, chunks: records of notes.jsonl and chunks.jsonl. said: what its properties say. A phrase
    may go on from chunk to chunk within a section.
    """
    names = (note["title"], *note["aliases"], *note["tags"], *said, note["file"][:-3])
    left = set(sought)
    for text in map(spaced, names):
        left = {words for words in left if words not in text}
    section, heading = "", None
    for chunk in chunks:
        if chunk["heading_path"] != heading:
            left = _not_in(section, left)
            section, heading = "", chunk["heading_path"]
            for text in map(spaced, heading):
                left = {words for words in left if words not in text}
        if not left:
            return True
        section += f"{chunk['text']}\n"
    return not _not_in(section, left)


def _not_in(text: str, sought: set[str]) -> set[str]:
    """Those that a piece of Markdown does not hold, as a reader sees it or as it is written."""
    if text.isascii():  # most texts lack a word, and are told so at once
        lower = text.lower()
        if not any(all(word in lower for word in words.split()) for words in sought):
            return sought
    shown = _shown(text)
    words = spaced(shown)
    left = {one for one in sought if one not in words}
    if left and shown != text:
        words = spaced(text)
        left = {one for one in left if one not in words}
    return left


def chunk_holds(words: str, chunk: Mapping[str, Json]) -> bool:
    """Whether a record of chunks.jsonl has words, as spaced() gives them, in text or heading."""
    heading = chunk["heading_path"][-1:]
    return any(words in spaced(name) for name in heading) or not _not_in(chunk["text"], {words})


def _shown(text: str) -> str:
    """Markdown without the targets of links that have a label, marks of emphasis and HTML."""
    return _MARKUP.sub(lambda match: match[1] or match[2] or "", text)


def around(
    phrases: Iterable[str], text: str, places: Sequence[tuple[int, int]], chars: int
) -> Sequence[tuple[int, int]]:
    """Those of `places` within `chars` of where a phrase stands; all where none is found.

    It is found where it is written as it was typed, but for case and for signs between its words.
    """
    for phrase in phrases:
        words = map(re.escape, spaced(phrase).split())
        match = re.compile(r"[\W_]*".join(words), re.IGNORECASE).search(text)
        if match and match.end() > match.start():
            first, last = match.start() - chars, match.end() + chars
            near = [place for place in places if first <= place[0] and place[1] <= last]
            return near or [match.span()]
    return places


_MARKS = "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670"  # that fold_marks takes away
_MARKUP = re.compile(
    r"\[\[[^\[\]|\n]*\|([^\[\]\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\n]*\)|\*\*|==|~~|</?[a-zA-Z][^<>\n]*>"
)


@cache
def _word(signs: str, is_ascii: bool) -> re.Pattern[str]:
    """What is a word; `*` among the signs is a part of one, any other is one by itself."""
    letter = "[a-z0-9]" if is_ascii else f"(?:[^\\W_{UNSPACED_SCRIPTS}]|[{_MARKS}])"
    if "*" in signs:
        letter = f"(?:{letter}|[*])"
    word = rf"{letter}+(?:\+\+|#(?!\w))?"  # C++, C#
    alone = re.escape(signs.replace("*", "")) + ("" if is_ascii else UNSPACED_SCRIPTS)
    return re.compile(f"[{alone}]|{word}" if alone else word)


@lru_cache(maxsize=256)
def _sought(text: str, separators: str) -> str:
    words = spaced(text, separators + "*" if "*" in text else separators)
    return words if words.strip(" */") else ""


@lru_cache(maxsize=256)
def _with_stars(words: str) -> re.Pattern[str]:
    return re.compile("[^ ]*".join(map(re.escape, words.split("*"))))
