"""Identifiers, paths and error strings in a query, and where they stand letter by letter."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

MAX_LITERAL = 400  # characters; what is longer is a text, and is not looked for as it stands
MAX_LITERALS = 8  # of one query
RARE_IN = 10  # notes: a name in a longer question, or quoted prose, that more have tells little

_EXTENSIONS = (
    "asm bat c cc cfg cmake conf cpp cs css csv db diff dll dockerfile docx? env exe go gradle h "
    "hpp html? ini ipynb java jpe?g jsx? json jsonl kt lock log lua mdx? mjs mp3 mp4 odt patch pdf "
    "php pl png pptx? properties ps1 py pyi r rb rs rst scala scss sh so sql svelte svg swift tar "
    "tex tf toml tsv tsx? txt vue wasm webp xlsx? xml ya?ml zip zsh"
).replace(" ", "|")
# What is a name for machines wherever it stands. Each is matched with a whole word of the query.
_NAME = re.compile(
    rf"""
      [a-z][a-z0-9+.-]*://\S+                              # an address
    | [^\s@]+@[^\s@]+\.[A-Za-z]{{2,}}                      # of mail
    | (?:~|\.{{1,2}})?/[\w.@+-]+(?:/[\w.@+-]*)*            # a path from a root
    | [A-Za-z]:\\\S+ | \\\\\S+
    | (?=[^/]*[A-Za-z])[\w.@+-]+(?:/[\w.@+-]+){{2,}}/?     # of two folders or more
    | (?:[\w.@+-]+[/\\])*[\w@+-][\w.@+-]*\.(?:{_EXTENSIONS})(?::\d+(?::\d+)?)?
    | [0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}  # a UUID
    | (?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{{7,64}}             # a hash
    | 0x[0-9a-f]{{2,}}
    | v\d+(?:\.\d+)+\S* | \d+(?:\.\d+){{2,}}(?:[-+]\S*)?   # a version, an address in a network
    | [\w$]*[A-Za-z0-9]_+[\w$]*[A-Za-z0-9][\w$]*           # snake_case
    | [\w$]+(?:::[\w$]+)+ | \w+(?:->\w+)+
    | [A-Za-z]\w+(?:\.[A-Za-z]\w+){{2,}}                   # dotted, of three parts or more
    | [A-Z]+-?\d{{3,}} | [A-Z]{{2,}}-\d+(?:-\d+)*          # ERR4012, CVE-2024-3094
    | \#\d{{2,}} | --[a-z][\w-]+(?:=\S+)? | \$\{{?[A-Z_]\w*\}}? | @[\w-]+/[\w.-]+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CASED = re.compile(
    r"[a-z]{2,}(?:[A-Z][a-z0-9]+)+[A-Z]*|(?:[A-Z][a-z0-9]+){3,}|[A-Z]+-?\d{3,}|[A-Z]{2,}-\d{2,}.*"
)
_NEEDS_CASE = re.compile(r"[A-Za-z]+-?\d+(?:-\d+)*")  # il-10 and 3d are words, ERR-10 is a name
_CALL = re.compile(r"[\w$.:]+\(\S*\)")
# What makes a whole query more than prose: a sign of code in a word, or between words.
_SIGN = re.compile(
    r"[^\W_][_/\\@:#$%&=+~.-]+[^\W_]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|[\[\](){}<>=|\\$%&*^~;]|\w: "
)
_ONE_SIGN = re.compile(r"[^\W_][_/\\@:#$%&=+~.-]+[^\W_]|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]|\d{6}")
_MARKED = re.compile(r"(`+)(?P<code>[^`\n]+?)\1|\"(?P<a>[^\"\n]+)\"|[“„](?P<b>[^“”„\n]+)[”“]")
_ENDS = "\"'`“”„«».,;:!?()[]{}<>"
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Literal:
    text: str  # on one line, as it was typed
    most: int | None = None  # notes that may hold it for it to count; None is any number
    is_prose: bool = False  # words between quotes


@lru_cache(maxsize=256)
def literals_in(query: str) -> tuple[Literal, ...]:
    """What of a query is to be found letter by letter, the most telling first.

    That is the whole of it where it looks like code or an error, or stands in quotes; what stands
    in `backticks`; and any word that is a name for machines.
    """
    found: dict[str, Literal] = {}
    for literal in _literals(_flat(query)):
        if any(map(str.isalnum, literal.text)):
            found.setdefault(literal.text, literal)
    return tuple(found.values())[:MAX_LITERALS]


def _literals(query: str) -> Iterator[Literal]:
    whole = query.strip("\"'`“”„«» ").rstrip("?!,;").strip()
    words = whole.split()
    if len(words) == 1:
        if _ONE_SIGN.search(whole) or _CALL.fullmatch(whole) or _is_name(whole):
            yield Literal(whole)
    elif words and len(whole) <= MAX_LITERAL:
        if _SIGN.search(whole):
            yield Literal(whole)
        elif query[0] != whole[0] and query.rstrip("?!,;. ")[-1] != whole[-1]:
            yield Literal(whole, RARE_IN, is_prose=True)
    for match in _MARKED.finditer(query):
        part = (match["code"] or match["a"] or match["b"]).strip()
        if len(part) <= MAX_LITERAL and (match["code"] or _is_name(part)):
            yield Literal(part, RARE_IN)
    for word in words if len(words) > 1 else ():
        for name in (word.strip(_ENDS), word.strip("\"'`“”„«».,;:!?")):
            if len(name) <= MAX_LITERAL and _is_name(name):
                yield Literal(name, RARE_IN)
                break


def _is_name(word: str) -> bool:
    if _CASED.fullmatch(word) or _CALL.fullmatch(word):
        return True
    return _NAME.fullmatch(word) is not None and _NEEDS_CASE.fullmatch(word) is None


def holding(texts: Iterable[str], literal: str) -> int:
    """2 where one of the texts holds a literal as it was typed, 1 but for its case, else 0.

    Runs of white space are one space. It must not be part of a longer name: `4.1` is not in
    `4.1.7`, nor `ERR_4` in `ERR_40` or `a.b` in `a.b.c`; a path may have folders above.
    """
    best = 0
    wanted = _flat(literal)
    for text in texts:
        flat = _flat(text)
        if _stands_in(flat, wanted):
            return 2
        if not best and _stands_in(flat.casefold(), wanted.casefold()):
            best = 1
    return best


def _stands_in(text: str, literal: str) -> bool:
    at = text.find(literal)
    while at >= 0:
        end = at + len(literal)
        before, after = text[max(at - 2, 0) : at][::-1], text[end : end + 2]
        if not _goes_on(literal[0], before) and not _goes_on(literal[-1], after):
            return True
        at = text.find(literal, at + 1)
    return False


def _goes_on(edge: str, beyond: str) -> bool:
    """Whether a name that ends in `edge` goes on in the characters beyond, nearest first."""
    if not _is_word(edge) or not beyond:
        return False
    if edge.isdigit() and beyond[0] in "vV":  # v4.1.7
        return _is_word(beyond[1:])
    return _is_word(beyond[0]) or (beyond[0] in ".-" and _is_word(beyond[1:]))


def _is_word(char: str) -> bool:
    """Of a script that is written with spaces: elsewhere nothing tells where a name ends."""
    return char == "_" or (char.isalnum() and char < "\u0e00")


def _flat(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip()
