"""The detectors of bc-detect-secrets, over a text in this process.

Of that library only the detectors that know a provider's shape are taken, and of those only the
ones with no false alarm over the notes that benchmarks/secret_guard looks at, and whose expressions
stay fast on hostile text. Its file scanner, its filters, its guesses by entropy or by the word
before a value, and its checks of a key at the provider are not used: nothing leaves the process.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .finding import Finding

NAME = "bc-detect-secrets"
# Modules of detect_secrets.plugins, and the kind of what each finds. Left out: azure_storage_key
# takes any SHA-512 in base64, artifactory's expression goes back over 10,000 places a word,
# private_key finds the first line of a key alone, basic_auth and jwt take examples too; for those
# there are rules of our own.
_DETECTORS = {
    "aws": "api_key",
    "cloudant": "password",
    "discord": "token",
    "github_token": "api_key",
    "ibm_cloud_iam": "api_key",
    "ibm_cos_hmac": "api_key",
    "mailchimp": "api_key",
    "sendgrid": "api_key",
    "slack": "api_key",
    "softlayer": "api_key",
    "square_oauth": "api_key",
    "stripe": "api_key",
    "twilio": "api_key",
}
# A line is looked at in pieces of this many characters, each beginning within the one before it:
# the expressions have no bounds of their own, and no provider's key is longer than the overlap.
_PIECE, _OVERLAP = 2_000, 400
_RUN = re.compile("[!-~]{20,}")  # no provider's key is shorter
_LINE_END = re.compile(r"[\r\n]")


class _Library(NamedTuple):
    patterns: tuple[tuple[re.Pattern[str], str], ...]  # and the kind of what each finds
    state: str  # name and version, or why it is not used


def search(text: str) -> Iterator[Finding]:
    """What the detectors find, unordered and with overlaps; nothing without the library."""
    for first, last in _lines(text):
        for start in range(first, max(last - _OVERLAP, first + 1), _PIECE - _OVERLAP):
            piece = text[start : min(start + _PIECE, last)]
            for pattern, kind in load().patterns:
                for match in pattern.finditer(piece):
                    begin, end = match.span(match.lastindex or 0)
                    if end - begin >= 8:
                        yield Finding(start + begin, start + end, kind)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the lines that could hold a key: most of prose does not, and costs nothing."""
    end = 0
    while run := _RUN.search(text, end):
        start = max(text.rfind("\n", end, run.start()), text.rfind("\r", end, run.start())) + 1
        line_end = _LINE_END.search(text, run.end())
        start, end = max(start, end), len(text) if line_end is None else line_end.start()
        yield start, end


@cache
def load() -> _Library:
    """The expressions, compiled; none of them, and the reason, where the library cannot be used."""
    try:
        patterns = tuple(
            (pattern, kind) for name, kind in _DETECTORS.items() for pattern in _patterns(name)
        )
        version = importlib.import_module("importlib.metadata").version(NAME)
    except Exception as error:  # whatever a foreign package does as it loads, our rules go on
        return _Library((), f"{NAME} cannot be used: {type(error).__name__}")
    return _Library(patterns, f"{NAME} {version}")


def _patterns(name: str) -> Iterator[re.Pattern[str]]:
    module = importlib.import_module(f"detect_secrets.plugins.{name}")
    for found in vars(module).values():
        if isinstance(found, type) and found.__module__ == module.__name__:
            yield from getattr(found, "denylist", ())
