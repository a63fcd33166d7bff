"""Find and mask secret-shaped text: keys, tokens, passwords and private key blocks.

By shape alone, with the detectors of a library and, for what those miss, rules of our own: the
key prefixes in use today, values assigned to a name such as `password`, credentials in
addresses, and private keys, also when a chunk border cut them. What has the shape of prose, a
hash, a UUID or a date stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from . import (
    addresses,
    assigned,
    codes,
    columns,
    commands,
    invisible,
    key_blocks,
    library,
    prefixed,
    sentences,
    wrapped,
)
from .finding import KINDS, MASK, Finding, beside_masks, mask, merged
from .key_blocks import secret_lines
from .names import governing, secret_kind

__all__ = [
    "KINDS",
    "MASK",
    "Finding",
    "detector",
    "find",
    "governing",
    "is_told_above",
    "mask",
    "occurrences",
    "redact",
    "redact_part",
    "secret_kind",
    "secret_lines",
]


def redact(text: str, also: Iterable[Finding] = ()) -> tuple[str, int]:
    """`text` with each secret-shaped span replaced by its mask, and how many there were.

    also: spans that are known for secrets by other means. Redacting twice changes nothing more.
    """
    findings = beside_masks(text, merged([*find(text), *also]))
    if not findings:
        return text, 0
    pieces: list[str] = []
    done = 0
    for start, end, kind in findings:
        pieces += text[done:start], mask(kind)
        done = end
    return "".join(pieces) + text[done:], len(findings)


def redact_part(text: str, start: int, end: int, also: Iterable[Finding] = ()) -> tuple[str, int]:
    """`text[start:end]` redacted by what `text` as a whole shows, and how many spans there were.

    So a secret of which the part holds but a piece is masked too. Line ends inside a secret stay,
    so that the lines keep their numbers. also: spans of `text` as `redact` takes them.
    """
    pieces: list[str] = []
    done, count = start, 0
    base = max(start - _AROUND, 0)
    near = [
        Finding(base + first, base + last, kind)
        for first, last, kind in find(text[base : end + _AROUND])
    ]
    for first, last, kind in beside_masks(text, merged([*near, *also])):
        first, last = max(first, start), min(last, end)
        if first >= last:
            continue
        breaks = "".join(_LINE_BREAK.findall(text, first, last))
        pieces += text[done:first], f"{mask(kind)}{breaks}"
        done, count = last, count + 1
    return "".join(pieces) + text[done:end], count


def occurrences(text: str, secrets: Iterable[str]) -> list[Finding]:
    """The spans of `text` that hold a line of a secret which goes on outside of it.

    secrets: as `Chunk.secrets` has them; what is left of a secret there is not known by its looks.
    """
    return [
        Finding(*match.span(), "private_key")
        for secret in secrets
        for match in re.finditer(re.escape(secret), text)
    ]


def is_told_above(text: str) -> bool:
    """Whether a line above tells of some value that it is a secret, so that a part may not."""
    return any(True for search in (columns.search, codes.search) for _ in search(text))


_AROUND = 32_000  # characters: hardly a key is longer, and a huge note is not searched whole
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def find(text: str) -> list[Finding]:
    """The secret-shaped spans, in order, without overlap; linear in the length of `text`.

    A mask that stands in `text` is none. Invisible characters inside a key do not hide it.
    """
    return _as_written_and_seen(text, _by_rules_and_library)


def find_by_rules(text: str) -> list[Finding]:
    """What our own rules find, as `find` tells it."""
    return _as_written_and_seen(text, _by_rules)


def find_by_library(text: str) -> list[Finding]:
    """What the library finds, as `find` tells it."""
    return _as_written_and_seen(text, library.search)


def _as_written_and_seen(text: str, search: Callable[[str], Iterable[Finding]]) -> list[Finding]:
    found = [*search(text)]
    if (seen := invisible.as_seen(text)) is not None:
        found += (Finding(*seen.span(start, end), kind) for start, end, kind in search(seen.text))
    return beside_masks(text, merged(found))


def _by_rules(text: str) -> list[Finding]:
    return merged(finding for search in _SEARCHES for finding in search(text))


def _by_rules_and_library(text: str) -> list[Finding]:
    """What our rules find, and what the library finds where they find nothing."""
    ours = _by_rules(text)
    starts = [finding.start for finding in ours]
    more: list[Finding] = []
    for finding in library.search(text):
        before = bisect_left(starts, finding.end) - 1
        if before < 0 or ours[before].end <= finding.start:
            more.append(finding)
    return [*ours, *more]


_SEARCHES: tuple[Callable[[str], Iterator[Finding]], ...] = (
    key_blocks.search,
    prefixed.search,
    addresses.search,
    assigned.search,
    commands.search,
    columns.search,
    codes.search,
    sentences.search,
    wrapped.search,
)


def detector() -> str:
    """What `find` looks with, to be told to a user: the library and its version, and our rules."""
    state = library.load()
    return (
        f"{state.state}, with our own rules"
        if state.patterns
        else f"our own rules alone: {state.state}"
    )
