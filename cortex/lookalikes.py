"""Text as a reader takes it: without accents, styles of letters and what takes no room."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

Edit = tuple[int, int, str]  # a span of the text as read, and what it becomes; {} is what it was


def as_read(text: str) -> str:
    """`text` as one may read it: in lower case, plain Latin letters and brackets where it has
    others of their looks, without accents and what takes no room; each separator a line end.
    """
    return text.lower() if text.isascii() else text.translate(_READ)


def edited(
    text: str, pattern: re.Pattern[str], edits: Callable[[re.Match[str]], Iterable[Edit]]
) -> str:
    """`text` with the edits of each match of `pattern` in as_read(text), in ascending order."""
    wanted = [edit for match in pattern.finditer(as_read(text)) for edit in edits(match)]
    if not wanted:
        return text
    places = [at for at, char in enumerate(text) for _ in as_read(char)]
    parts, done = [], 0
    for start, end, form in wanted:
        begin, beyond = max(places[start], done), places[end - 1] + 1
        parts += [text[done:begin], form.format(text[begin:beyond])]
        done = beyond
    return "".join([*parts, text[done:]])


_LOOKS = {
    **dict(zip("абвгеікмнорстухѕԁԛԝьѵӏ", "a6breikmhopctyxsdqwbvl", strict=True)),
    **dict(zip("αβγεικνοπρστυχϲ", "abyeikvonpotuxc", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
    **dict(zip("ƒıɑɡɩօոսһ", "fiagionuh", strict=True)),
    **dict.fromkeys("〔⟦⁅〚❲⦋【", "["),
    **dict.fromkeys("〕⟧⁆〛❳⦌】", "]"),
    **dict.fromkeys("‹⟨〈❮", "<"),
    **dict.fromkeys("\u115f\u1160\u2800\u3164\uffa0", " "),
    **dict.fromkeys("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"),
}
_NO_ROOM = ("Mn", "Me", "Cf", "Cc")


class _Read(dict[int, str]):
    """Code point -> what it is read as, found once each."""

    def __missing__(self, code: int) -> str:
        read = self[code] = "".join(map(_look, unicodedata.normalize("NFKD", chr(code)).lower()))
        return read


def _look(char: str) -> str:
    if char in _LOOKS or char in "\t\n\r":
        return _LOOKS.get(char, char)
    kind = unicodedata.category(char)
    return "" if kind in _NO_ROOM else "-" if kind == "Pd" else char


_READ = _Read()
