"""Private keys in armor, whole or cut by a chunk border, and lines out of the middle of one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .finding import Finding, merged
from .values import is_of_all_kinds

# Every repetition is bounded or runs over characters that cannot begin the next part.
_ARMOR = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{0,40})-----")
_PRIVATE = re.compile("PRIVATE KEY(?: BLOCK)?$")
_LONG_LINE = re.compile("[A-Za-z0-9+/]{60}")
_KEY_LINES = re.compile(
    r"(?:(?<![^\r\n])[ \t>]{0,20}(?:[*+\-][ \t]{1,4})?"
    r"[A-Za-z0-9+/]{60,76}={0,2}[ \t]{0,8}(?:\r\n|\n|\r|\Z)){3,}"
    r"(?P<last>[ \t>]{0,20}(?:[*+\-][ \t]{1,4})?[A-Za-z0-9+/]{2,76}={0,2}(?!\S))?"
)
# The same as quoted items of a list, in one line or in several.
_KEY_ITEMS = re.compile(
    r"(?:[\"'`][A-Za-z0-9+/]{60,76}={0,2}[\"'`]\s{0,4},?\s{0,20}(?:[*+\-]\s{1,4})?){3,}"
    r"(?P<last>[\"'`][A-Za-z0-9+/]{2,76}={0,2}[\"'`])?"
)
# The key of PuTTY, and what a file of a cluster or a secret store holds in base64.
_PUTTY = re.compile(
    r"Private-Lines: [0-9]{1,3}((?:(?:\r\n|\n|\r)[ \t>]{0,8}[A-Za-z0-9+/=]{4,76}){1,99})"
)
_IN_BASE64 = re.compile(
    r"(?:client-key-data[\"']?:[ \t]{0,3}[\"']?|(?=LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,24}UFJJVkFURS"
    r"|LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,24}BSSVZBVE|LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,24}QUklWQVRF))"
    r"([A-Za-z0-9+/]{40,}={0,2})"
)


def search(text: str) -> Iterator[Finding]:
    """Private keys in armor, whole or cut at either end, and runs of lines out of the middle."""
    for pattern, word in (
        (_PUTTY, "Private-Lines"),
        (_IN_BASE64, "LS0tLS1"),
        (_IN_BASE64, "key-data"),
    ):
        for match in pattern.finditer(text) if word in text else ():
            yield Finding(*match.span(1), "private_key")
    public: list[tuple[int, int]] = []
    begin: _Begin | None = None  # of the open block
    for match in _ARMOR.finditer(text):
        private = _PRIVATE.search(match[2]) is not None
        if match[1] == "BEGIN":
            end = match.end()
            if _CLOSES_A_MENTION.match(text, end) and not _NEXT_ITEM.match(text, end):
                continue
            if begin is not None and begin.private:
                yield Finding(begin.start, _key_end(text, begin.end), "private_key")
            begin = _Begin(match.start(), match.end(), private)
        elif begin is not None:
            if private or begin.private:
                yield Finding(begin.start, match.end(), "private_key")
            else:
                public.append((begin.start, match.end()))
            begin = None
        elif private and not _OPENS_A_MENTION.search(
            text, max(0, match.start() - 40), match.start()
        ):
            yield Finding(0, match.end(), "private_key")
    if begin is not None and begin.private:
        yield Finding(begin.start, _key_end(text, begin.end), "private_key")
    yield from _key_lines(text, public)


def secret_lines(lines: Sequence[str]) -> set[int]:
    """Which of the items of a list are lines of a private key."""
    found: set[int] = set()
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for start, end, _ in merged(search("\n".join(lines))):
        found.update(range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)))
    return found


class _Begin(NamedTuple):
    start: int
    end: int
    private: bool


def _key_end(text: str, start: int) -> int:
    """Where a private key without an end stops: before the first line that is no part of one."""
    at = start
    while match := _IN_BLOCK.match(text, at):
        at = match.end()
    return at


# One more header line, or base64: alone in its line, in whatever frame it stands and no plain
# word, long after a blank line; or in the line of the mark, after an escaped line end or a blank.
_BREAK = r"""(?:\\[rn]){0,2} [ \t>"'`|+,;\\]{0,8} (?:\r\n|\n|\r)"""
# From one line of a key to the next where they are the items of a list.
_ITEM = r"""["'`]? [ \t]{0,4} ,? [ \t]{0,4} (?: (?:\r\n|\n|\r) [ \t>]{0,20} )?
      (?: [*+\-] [ \t]{1,4} ["'`]? | ["'`] )"""
_NEXT_ITEM = re.compile(
    rf"{_ITEM} (?: [A-Za-z0-9+/]{{20}} | Proc-Type: | DEK-Info: | Version: | Comment: )", re.VERBOSE
)
_IN_BLOCK = re.compile(
    rf"""(?: (?:{_BREAK}){{1,4}} [ \t>"'`|]{{0,20}} | (?:\\[rn]){{1,8}} )
      (?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset): [^\r\n\\]* )
    | (?: {_BREAK} [ \t>"'`|]{{0,20}} (?! [A-Z]?[a-z]++ [ \t]*+ (?:[\r\n]|\Z) )
        | (?:{_BREAK}){{2,4}} [ \t>"'`|]{{0,20}} (?=[A-Za-z0-9+/]{{20}}) )
      =?[A-Za-z0-9+/]++={{0,2}}
      (?= (?:\\[rn]){{0,2}} [ \t"'`|+,;\\]{{0,8}} (?:[\r\n]|\Z) )
    | (?: (?:\\[rn]){{1,8}} =? | [ \t]{{1,4}} (?=[A-Za-z0-9+/]{{20}})
        | {_ITEM} (?=[A-Za-z0-9+/]{{20}}) )
      [A-Za-z0-9+/]++={{0,2}}""",
    re.VERBOSE,
)


# Text that only talks about a mark: quotes around it, or words that go on in its line.
_CLOSES_A_MENTION = re.compile(r"[\"'`)]|[,.]? ?[a-z]{2,}[ ,.]")
_OPENS_A_MENTION = re.compile(r"(?:[\"'`(]|[a-z]{2,}[,:]? )$")


def _key_lines(text: str, public: list[tuple[int, int]]) -> Iterator[Finding]:
    if not _LONG_LINE.search(text):
        return
    starts = [start for start, _ in public]
    for match in (*_KEY_LINES.finditer(text), *_KEY_ITEMS.finditer(text)):
        around = bisect_right(starts, match.start()) - 1
        if around >= 0 and match.start() < public[around][1]:
            continue
        last = (match["last"] or "").strip("\"'`")
        end = match.end()
        if last and not (last.endswith("=") or is_of_all_kinds(last)):
            end = match.start("last")
        lines = text[match.start() : end].split()
        if all(is_of_all_kinds(line) for line in lines if len(line) >= 60):
            end = match.start() + len(text[match.start() : end].rstrip())
            yield Finding(match.start(), end, "private_key")
