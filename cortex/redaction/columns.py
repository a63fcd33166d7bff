"""Values that a name above them tells: a table's column, a heading, a line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding
from .names import secret_kind, starts_of_names
from .values import is_code, is_strong, is_surely_random

_ROW = re.compile(r"[ \t>]{0,8}\|?([^\r\n]{1,2000}?)\|?[ \t]{0,8}(?:\r\n|\n|\r|\Z)")
_RULE = re.compile(r"[ \t>]{0,8}\|?[ \t]{0,8}:?-{1,80}:?[ \t|:\-]{0,400}(?:\r\n|\n|\r|\Z)")
_CELL = re.compile(r"(?:\\\||[^|])+")
_MARKS = " \t*_`\"'“”"
_LINE_START = re.compile(r"[\r\n][^\r\n]{0,200}\Z")
# What stands alone in the next line with something in it.
_BELOW = re.compile(
    r"(?:[^\r\n]{0,24})(?:\r\n|\n|\r)(?:[ \t>]{0,12}(?:\r\n|\n|\r)){0,2}[ \t>]{0,12}(?:[*+\-] )?"
    r"[*_`\"']{0,3}(?P<value>[^\s`\"']{6,400})[*_`\"']{0,3}[ \t]{0,8}(?=[\r\n]|\Z)"
)
_LABEL = re.compile(r"[ \t>]{0,8}(?:#{1,6} |[*+\-] |\[![\w\-]+\][+\-]? |\d{1,2}\. )?[*_]{0,3}")


def search(text: str) -> Iterator[Finding]:
    """Secrets under the head of their column or of their own; unordered."""
    seen = -1
    for start in starts_of_names(text):
        if start < seen:
            continue
        first = _line_start(text, start)
        end = _line_end(text, start)
        seen = end
        if end - first > 2000:
            continue
        line = text[first:end]
        if "|" in line:
            if table := _table(text, first):
                yield from _in_table(text, *table)
                seen = table[2]
        else:
            yield from _below(text, line, end)


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", max(0, at - 2001), at), text.rfind("\r", max(0, at - 2001), at)) + 1


def _line_end(text: str, at: int) -> int:
    ends = [found for sign in "\r\n" if (found := text.find(sign, at, at + 2001)) >= 0]
    return min(ends, default=min(len(text), at + 2001))


def _table(text: str, first: int) -> tuple[list[str], int, int] | None:
    """The heads of the columns of a table that begins at `first`, and the span of its rows."""
    head = _ROW.match(text, first)
    rule = _RULE.match(text, head.end()) if head else None
    if head is None or rule is None:
        return None
    names = head[1]
    if rule[0].lstrip(" \t>").startswith("|") and not head[0].lstrip(" \t>").startswith("|"):
        names = names.partition("|")[2]  # what stands before the table in its line
    end = rule.end()
    while end < len(text) and (row := _ROW.match(text, end)) and "|" in row[0]:
        end = row.end()
    return [cell[0].strip(_MARKS) for cell in _CELL.finditer(names)], rule.end(), end


def _in_table(text: str, heads: list[str], start: int, end: int) -> Iterator[Finding]:
    for row in _ROW.finditer(text, start, end):
        for head, cell in zip(heads, _CELL.finditer(text, *row.span(1)), strict=False):
            value = cell[0].strip(_MARKS)
            kind = secret_kind(head, value, inside=True)
            if " " in value:
                continue
            if kind == "password" or (kind and is_surely_random(value, 12)):
                at = cell.start() + cell[0].index(value)
                yield Finding(at, at + len(value), kind)


def _below(text: str, line: str, end: int) -> Iterator[Finding]:
    label = _LABEL.match(line)
    name = line[label.end() if label else 0 :].rstrip(" \t*_:：")
    if len(name) > 60 or name.count(" ") > 5:
        return
    below = _BELOW.match(text, end)
    if below is None:
        return
    value = below["value"]
    if value.endswith((":", "：")):
        return
    kind = secret_kind(name, value, inside=True)
    has_label = label is not None and label[0].strip(" \t>") != ""
    if kind is None:
        return
    is_password = kind == "password" and (is_strong(value) or (has_label and not is_code(value)))
    if is_password or is_surely_random(value, 16):
        yield Finding(*below.span("value"), kind)
