"""What commands print: results on stdout, all else on stderr, and nothing that a terminal obeys."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import IO

from ..commands import PROGRAM, as_typed
from ..types import Json, Missing

# Controls, line separators, marks that turn the reading direction, halves of characters.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

_program = PROGRAM


def run_as(name: str) -> None:
    """From now on, what people read says `name` where it names a command: `hermes cortex index`."""
    global _program
    _program = name


def program() -> str:
    """What was typed to run us: `cortex`, or `hermes cortex`."""
    return _program


def hint(text: str) -> str:
    """A text of ours for people, with the commands that it says to run as they are typed here.

    Never for a document of --json, nor for what stands in a note.
    """
    return as_typed(text, _program)


def typed(command: str) -> str:
    """`cortex index` as it is typed here; a command of others stays."""
    if command == PROGRAM or command.startswith(f"{PROGRAM} "):
        return _program + command.removeprefix(PROGRAM)
    return command


def visible(text: str, keep: str = "") -> str:
    """`text` with every character that a terminal would obey written as an escape.

    keep: characters that stay as they are. A byte of a name that is not UTF-8 becomes `\\xNN`.
    """

    def escape(match: re.Match[str]) -> str:
        char = match[0]
        if char in keep:
            return char
        code = ord(char)
        if char in _SHORT:
            return _SHORT[char]
        if 0xDC80 <= code <= 0xDCFF:  # how Python holds a byte that it could not decode
            return f"\\x{code - 0xDC00:02x}"
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"

    return _INVISIBLE.sub(escape, text)


def marked(text: str, spans: Iterable[tuple[int, int]], bold: bool) -> str:
    """`text` on one line with `spans` marked: bold, else between « and »."""
    before, after = ("\x1b[1m", "\x1b[0m") if bold else ("«", "»")
    parts, at = [], 0
    for start, end in sorted(spans):
        if start < at or end <= start:
            continue
        parts += [_flat(text[at:start]), before, _flat(text[start:end]), after]
        at = end
    return "".join([*parts, _flat(text[at:])]).strip()


def _flat(text: str) -> str:
    return visible(re.sub(r"\s+", " ", text))


def may_style(stream: IO[str]) -> bool:
    """Is it a terminal whose user has not asked for plain text (https://no-color.org)?"""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str, stream: IO[str]) -> str:
    """`text` in bold, dim, red, green or yellow where `stream` may have it, else as it is."""
    if not style or not may_style(stream):
        return text
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m"


_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


def say(message: str) -> None:
    """One line on stderr, with our name in front."""
    line = f"cortex: {visible(hint(message))}"
    if "tqdm" in sys.modules:  # a bar may stand on that line, which only tqdm can clear
        sys.modules["tqdm"].tqdm.write(line, file=sys.stderr)
    elif sys.stderr is not None:  # else print would take stdout
        print(line, file=sys.stderr)


def tell_what_was_understood(understood: str) -> None:
    """How phrases, exclusions and filters in a question were read, if there were any."""
    if understood:
        say(f"read as {understood}")


def tell_what_was_corrected(corrections: Iterable[tuple[str, str]]) -> None:
    """What was searched for in the place of words that no note has."""
    for typed, used in corrections:
        say(f"no note has {typed!r}; searched for {used!r}")


def tell_what_lacks(unavailable: Sequence[Missing], warnings: Sequence[str]) -> None:
    for missing in unavailable:
        say(f"{missing.what} is not available: {missing.why}")
    for warning in warnings:
        say(warning)


def print_json(document: dict[str, Json]) -> None:
    """One strict JSON document, with schema_version in front.

    A byte of a file name that is not UTF-8 stands in it as \\udcNN, as Python's json reads it back.
    """
    text = json.dumps(
        {"schema_version": 1, **document}, ensure_ascii=False, allow_nan=False, indent=2
    )
    print(_UNPRINTED.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def masked(value: Json) -> Json:
    """A value, or a document to its depth, in which secrets are masked: a path may hold one too."""
    from ..redaction import redact

    if isinstance(value, dict):
        return {name: masked(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked(inner) for inner in value]
    return redact(value)[0] if isinstance(value, str) else value


# Half characters, and what a terminal would obey: C1 controls and direction marks.
_UNPRINTED = re.compile("[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def counted(count: int, one: str, many: str = "") -> str:
    """`1 note`, `2 notes`, `12,345 notes`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns of equal width, two spaces between them."""
    if not rows:
        return ""
    cells = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
