"""A secret-shaped span of a text, and the mask that takes its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Finding(NamedTuple):
    start: int  # span in the text
    end: int
    kind: str  # one of KINDS


KINDS = ("api_key", "password", "private_key", "token", "webhook")
MASK = re.compile(rf"\[REDACTED:(?:{'|'.join(KINDS)})\]")


def mask(kind: str) -> str:
    """What stands for a secret of a kind, everywhere: `[REDACTED:api_key]`."""
    return f"[REDACTED:{kind}]"


def merged(found: Iterable[Finding]) -> list[Finding]:
    """Spans in order; those that overlap are one, named by the one that begins first."""
    spans: list[Finding] = []
    for finding in sorted(found, key=lambda finding: (finding.start, -finding.end)):
        if spans and finding.start < spans[-1].end:
            last = spans[-1]
            spans[-1] = last._replace(end=max(last.end, finding.end))
        else:
            spans.append(finding)
    return spans


def beside_masks(text: str, found: list[Finding]) -> list[Finding]:
    """`found`, in order and without overlap, less the masks that stand in `text` already."""
    masks = [match.span() for match in MASK.finditer(text)]
    if not masks:
        return found
    left: list[Finding] = []
    at = 0
    for start, end, kind in found:
        while at < len(masks) and masks[at][1] <= start:
            at += 1
        over = at
        while over < len(masks) and masks[over][0] < end:
            if start < masks[over][0]:
                left.append(Finding(start, masks[over][0], kind))
            start = max(start, masks[over][1])
            over += 1
        if start < end:
            left.append(Finding(start, end, kind))
    return left
