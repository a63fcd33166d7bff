"""The sentences of a chat message, where somebody says something himself: no code, no quotes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

MASK = "▒"  # stands for a character that is not looked at; no letter, no sign of a sentence
MOST_CHARS = 6_000  # a longer message is mostly pasted
_EDGE = 1_000  # characters of it that are looked at, at either end


@dataclass(frozen=True, slots=True)
class Sentence:
    start: int  # span in the message
    end: int
    masked: str  # of the same length, with code and quotations masked, on one line


def is_of_the_host(text: str) -> bool:
    """Whether a message was put there by the host: a summary, a skill, a remark of the system."""
    return _HOST.match(text) is not None


def sentences(text: str) -> list[Sentence]:
    """In order. Without code, quoted lines, tables, headings, tags and quotations of some length.

    Of a message of more than 6,000 characters, which is mostly pasted, only its two ends.
    """
    masked = _mask(text)
    if len(text) > MOST_CHARS:
        middle = slice(_EDGE, len(text) - _EDGE)
        masked = masked[:_EDGE] + "\n" * len(text[middle]) + masked[-_EDGE:]
    found = []
    for start, end in _spans(masked):
        part = masked[start:end]
        begin = start + len(part) - len(part.lstrip())
        stop = start + len(part.rstrip())
        shown = masked[begin:stop]
        if shown.strip(MASK + " \t"):
            found.append(Sentence(begin, stop, re.sub(r"\s", " ", shown)))
    return found


_HOST = re.compile(
    r"\s*(?:\[(?:CONTEXT COMPACTION|IMPORTANT|SYSTEM|System|Session|Context|Background|Note"
    r"|The user|Replying|Quoted|Forwarded|ASYNC|DELEGATION|Voice|Image)\b|<(?:system|context))"
)
_FENCE = re.compile(
    r"^[ \t]{0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]{0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]{0,40})(?:\s[^<>\n]{0,200})?>")
_LINES = re.compile(
    r"""^(?:
        [ \t]{0,3}>.*                                  # quoted
      | (?:[ ]{4}|\t)[ \t]*(?![-*+•]|\d{1,2}[.)]).*      # indented code
      | [ \t]{0,3}\#{1,6}[ \t].*                       # a heading
      | [ \t]*\|.*                                     # a table
      | [ \t]*\[[^\]\n]*\][ \t]*                        # [what the host says of an attachment]
      | [ \t]*(?:On|Am)\b.{0,120}\b(?:wrote|schrieb).{0,80}:[ \t]*  # above a quoted mail
      | [ \t]*(?:\$|>>>|\.\.\.|%)[ ].*                  # typed at a prompt
      | .*\b(?:Traceback|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b[:\s\]].*
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d.*                 # a log
      | [ \t]*(?:[\w ]{1,30}:)?[ \t]*https?://\S+[ \t]*
    )$""",
    re.MULTILINE | re.VERBOSE,
)
_SPANS = re.compile(
    r"""(`+)(?!`).{1,300}?(?<!`)\1(?!`)
      | https?://\S+
      | "[^"\n]{3,400}" | “[^”\n]{3,400}” | „[^“”\n]{3,400}[“”] | «[^»\n]{3,400}» | »[^«\n]{3,400}«
      | 「[^」\n]{3,200}」 | (?<!\w)'[^'\n]{12,400}'(?!\w)
    """,
    re.VERBOSE,
)
_MARKER = re.compile(r"^[ \t]*(?:(?:[-*+•]|\d{1,2}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)", re.M)
_STRONG = re.compile(r"(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)")


def _mask(text: str) -> str:
    """`text`, of the same length: blocks are line breaks, quotations masked, marks gone."""

    def breaks(match: re.Match[str]) -> str:
        return "\n" * len(match[0])

    def masks(match: re.Match[str]) -> str:
        # One word in quotes is a name, and says what the sentence is about.
        if match[0][0] in '"“„«»' and len(match[0].split()) == 1:
            return match[0]
        return MASK * len(match[0])

    text = re.sub(r"\r(?=\n)", " ", text)
    for pattern in (_FENCE, _COMMENT):
        text = pattern.sub(breaks, text)
    pieces, at = [], 0
    for start, end in _elements(text):
        pieces += [text[at:start], "\n" * (end - start)]
        at = end
    text = _LINES.sub(breaks, "".join([*pieces, text[at:]]))
    text = _MARKER.sub(breaks, text)
    text = _SPANS.sub(masks, text)
    return _STRONG.sub(lambda match: " " * len(match[0]), text)


def _elements(text: str) -> list[tuple[int, int]]:
    """The spans of `<tag>...</tag>`, outermost first to last; a tag that nothing closes is none."""
    closings: dict[str, list[int]] = {}
    openings = []
    for match in _TAG.finditer(text):
        if match[1]:
            closings.setdefault(match[2].casefold(), []).append(match.end())
        else:
            openings.append(match)
    found: list[tuple[int, int]] = []
    for match in openings:
        if found and match.start() < found[-1][1]:
            continue
        ends = closings.get(match[2].casefold(), [])
        at = bisect_right(ends, match.end())
        if at < len(ends):
            found.append((match.start(), ends[at]))
    return found


_BORDER = re.compile(r"[.!?…]+[\"”»’)\]]*(?=\s)|[。！？]+[」』”]*|\n+")
_SHORT = """
dr mr mrs ms prof st vs etc approx no nr ca bzw ggf usw evtl inkl max min str vgl z.b d.h u.a e.g
i.e a.m p.m u.s jan feb mar apr jun jul aug sep sept oct okt nov dec dez tel art abs sog inc ltd
co jr sr fig sec
"""
_ABBREVIATIONS = frozenset(_SHORT.split())


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BORDER.finditer(text):
        before, after = (
            text[start : match.start()],
            text[match.end() : match.end() + 40].lstrip(" "),
        )
        if match[0][0] == "\n":
            # A line that goes on in lower case is one that was wrapped.
            if len(match[0]) == 1 and after[:1].islower() and before[-1:] not in ".!?:;":
                continue
        elif match[0] == ".":
            word = before.split()[-1].lstrip("(\"'„“").casefold() if before.split() else ""
            if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()) or after[:1].islower():
                continue
            if word.isdigit() and len(word) <= 2 and _MONTH.match(after):
                continue
        yield start, match.end()
        start = match.end()
    if start < len(text):
        yield start, len(text)


_MONTH = re.compile(r"(?i)(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|de[zc]|\d)")
