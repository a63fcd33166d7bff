"""Text as such: bytes into characters, lines, token estimates, cutting, slugs; pure."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .types import Problem


class Undecodable(ValueError):
    """The bytes are no text: a picture, an archive, a program."""


def decode(data: bytes) -> tuple[str, tuple[Problem, ...]]:
    """The text of a file, without its byte order mark; line ends stay as they are.

    UTF-8; UTF-16 and UTF-32 by their mark, UTF-16 also by where its NULs stand; in anything
    else each byte that is not UTF-8 is read as Windows-1252, so one bad byte spoils one letter.
    What is not plain UTF-8 is a problem `not_utf8`. A stray NUL becomes U+FFFD, a problem
    `control_characters`. The text never holds a NUL or a lone surrogate.

    Raises Undecodable for bytes that are no text.
    """
    encoding = _wide_encoding(data)
    if encoding:
        text = data.decode(encoding, "replace").removeprefix("\ufeff")
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        return _without_nul(text, (_not_utf8(f"the file is {name}, not UTF-8"),))
    if is_binary(data):
        raise Undecodable("the file holds binary data, not text")
    try:
        return _without_nul(data.decode("utf-8").removeprefix("\ufeff"), ())
    except UnicodeDecodeError as error:
        line = len(line_starts(data[: error.start].decode("latin-1")))
    text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").translate(_FROM_1252)
    return _without_nul(
        text, (_not_utf8("some bytes are not UTF-8; they were read as Windows-1252", line),)
    )


def is_binary(data: bytes) -> bool:
    """Whether bytes that are not UTF-16 are no text.

    UTF-8 without a NUL is text whatever it says. Anything else is none if it holds many control
    characters, or a NUL and bytes that are not UTF-8.
    """
    if not data.translate(None, _TEXT_BYTES):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return b"\0" in data or _has_many_controls(data)
    return b"\0" in data and _has_many_controls(data)


def _has_many_controls(data: bytes) -> bool:
    return len(data.translate(None, _TEXT_BYTES)) > max(_STRAY_CONTROLS, len(data) // 50)


def line_starts(text: str) -> list[int]:
    r"""The offset where each line begins, from 0; lines end at \n, \r\n and \r alone.

    A text that ends with a line end has a last, empty line, as in an editor.
    """
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


_LINE_END = re.compile(r"\r\n|\n|\r")
_TEXT_BYTES = bytes(set(range(256)) - set(range(32)) - {127} | set(b"\t\n\v\f\r\b\x1b"))
_STRAY_CONTROLS = 8  # a short note may hold so many
_FROM_1252 = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte)
    for byte in range(0x80, 0x100)
}
# A byte order mark says it; without one, text with many ASCII characters shows it by its NULs.
_MARKS = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_LOOKED_AT = 4096  # bytes, even


def _wide_encoding(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding
    head = data[:_LOOKED_AT]
    if len(data) % 2 or b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    for first, other, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if first * 4 > len(head) // 2 and other == 0 and _is_text(data, encoding):
            return encoding
    return None


def _is_text(data: bytes, encoding: str) -> bool:
    try:
        return not _has_many_controls(data.decode(encoding).encode("utf-8"))
    except UnicodeDecodeError:
        return False


def _not_utf8(what: str, line: int | None = None) -> Problem:
    from .types import Problem  # not at the top: the host loads this module at each start

    return Problem("not_utf8", f"{what}; save it as UTF-8", line)


def _without_nul(text: str, problems: tuple[Problem, ...]) -> tuple[str, tuple[Problem, ...]]:
    at = text.find("\0")
    if at < 0:
        return text, problems
    line = len(line_starts(text[:at]))
    from .types import Problem

    problem = Problem("control_characters", "the text holds NUL characters; remove them", line)
    return text.replace("\0", "\ufffd"), (*problems, problem)


def estimate_tokens(text: str) -> int:
    """At least how many tokens common tokenizers make of `text`, for any script; 0 for "".

    An upper estimate, held against OpenAI's cl100k_base and o200k_base and MiniLM's WordPiece.
    It is below the largest of the three for none of 2,000 notes of real vaults, and for
    fewer than 0.5 % of pieces of 300 to 2000 characters of any kind it was fitted to: prose,
    notes, code, 40 scripts, emoji, hex, base64, noise. English prose comes out at 1.3 to 1.4
    times cl100k_base. Rare languages in Latin letters may be up to 15 % above the estimate.

    Each character and each pair of neighbours adds a fixed amount and takes none away. So a
    longer prefix never has fewer tokens, and joining two texts adds at most 2.
    """
    total = sum(map(_word_cost, _WORD.findall(text)))
    kinds = text.translate(_KINDS).encode("latin-1")
    total += sum(cost * kinds.count(kind) for kind, cost in _ASCII_COSTS)
    if not text.isascii():
        total += sum(cost * kinds.count(kind) for kind, cost in _OTHER_COSTS)
        total += _FOREIGN_START * (b" " + kinds.translate(_FOREIGN)).count(b" x")
    digits = b" " + kinds.translate(_DIGITS)
    total += _DIGITS_START * digits.count(b" 0") + _THREE_DIGITS * digits.count(b"000")
    total += _LETTER_THEN_DIGIT * kinds.translate(_DIGIT_AFTER_LETTER).count(b"a0")
    case = kinds.translate(_CASE)
    total += _LOWER_THEN_UPPER * case.count(b"aU") + _TWO_UPPER * case.count(b"UU")
    blanks = b"x" + kinds.translate(_BLANKS)
    total += _BLANK_RUN * blanks.count(b"xss") + _FOUR_BLANKS * blanks.count(b"ssss")
    return -(-total // _PARTS)


def cut_to_tokens(text: str, budget: int) -> str:
    """The longest prefix with an estimate within `budget`, cut where a reader would cut it.

    That is at the last line end, else sentence end, else blank that leaves at least half of
    what fits, else between two characters; never between a letter and its accent or within an
    emoji. Blanks at the cut are dropped. A text that fits is returned as it is.
    """
    if budget <= 0:
        return ""
    fits = _longest_fitting(text, budget)
    if fits == len(text):
        return text
    for border in (_LINE_END, _SENTENCE_END, _BLANK):
        cut = _last_border(border, text, fits // 2, fits)
        if cut and (kept := text[:cut].rstrip()):
            return kept
    while fits and _clings(text, fits):
        fits -= 1
    return text[:fits]


# Costs are in 1/60 token, so that sums are exact. Fitted in November 2026 by linear programming
# on 14,800 pieces of 130 kinds: the lowest weighted mean for which 99.8 % of the pieces of each
# kind cost at least 1.0 to 1.1 times the largest of the three counts.
_PARTS = 60
_LETTER_STEP = _PARTS // 6
# What a letter (column) adds after another (row), in 1/6 token; "^" is the start of a word.
# Pairs that English words are made of are free: tokenizers know those words whole.
_AFTER = {
    #     abcdefghijklmnopqrstuvwxyz
    "^": "17448688099978859800996999",
    "a": "94909200314000906000002060",
    "b": "20000949090030000009360010",
    "c": "01000492990000090000092964",
    "d": "89950976499549099299699009",
    "e": "09600009999333990003000004",
    "f": "99940009099096090799099960",
    "g": "59300990509000699099649930",
    "h": "09902979090990090200099920",
    "i": "31061039999160008200900000",
    "j": "00992909099094009000039909",
    "k": "70900909009919308804297000",
    "l": "69900019090009093900009900",
    "m": "06900909060044609009109908",
    "n": "69000907340093099901009004",
    "o": "50000090000100009000020900",
    "p": "00100905230009099200049900",
    "q": "99090999999098929009030199",
    "r": "09310809204004009000009009",
    "s": "99990990899998979984799900",
    "t": "29990991109496405002309609",
    "u": "50000002880020900000990406",
    "v": "00370000790099099009099000",
    "w": "09000970090090069009000090",
    "x": "93000098004009009000001000",
    "y": "99990998999920099929399909",
    "z": "39000900809199800900090090",
}
_PAIR_COST = {
    before + chr(97 + column): int(sixths) * _LETTER_STEP
    for before, row in _AFTER.items()
    for column, sixths in enumerate(row)
}
_WORD = re.compile("[A-Za-z\u00c0-\u024f]{1,40}")

# Kinds of characters: each is one byte, so that runs and neighbours are counted by bytes.count.
# ASCII: a lower, U upper, 0 digit, p punctuation, n line end, t tab, z control.
_COST = {
    "0": 18, "n": 12, "t": 60, "z": 90, "p": 63,
    "s": 123,  # no-break space and C1 controls
    "y": 63,  # Latin-1 signs, dashes, curly quotes
    "Y": 228,  # arrows, mathematics, boxes, dingbats
    "l": 60, "m": 90, "w": 96, "d": 90,  # Latin with accents, rarer, additional, combining marks
    "g": 54, "G": 165, "r": 51, "q": 60,  # Greek, polytonic, Cyrillic, its other letters
    "A": 123, "H": 78, "B": 66, "T": 126,  # Armenian, Hebrew, Arabic, Thaana
    "D": 66, "I": 93, "J": 126, "E": 63,  # Devanagari, Bengali and Tamil, other Indic, Thai
    "k": 72, "K": 54,  # CJK punctuation and full-width forms, kana
    "h": 90, "i": 90, "j": 240, "o": 168,  # Han: common, less common, rare; Hangul
    "3": 189, "4": 255, "e": 192,  # other scripts of three and four bytes, emoji
}  # fmt: skip
_DIGITS_START = 45
_THREE_DIGITS = 63
_LETTER_THEN_DIGIT = 9
_LOWER_THEN_UPPER = 72
_TWO_UPPER = 15
_BLANK_RUN = 54  # two or more spaces
_FOUR_BLANKS = 30
_FOREIGN_START = 87  # a run of letters outside Latin

# The first code point of each range, and its kind.
_RANGES: tuple[tuple[int, str], ...] = (
    (0x80, "s"), (0xA1, "y"), (0xC0, "l"), (0x180, "m"), (0x300, "d"), (0x370, "g"), (0x400, "r"),
    (0x460, "q"), (0x530, "A"), (0x590, "H"), (0x600, "B"), (0x780, "T"), (0x7C0, "3"),
    (0x900, "D"), (0x980, "I"), (0xA00, "J"), (0xB80, "I"), (0xC00, "J"), (0xE00, "E"),
    (0xE80, "3"), (0x1000, "J"), (0x1050, "3"), (0x10A0, "J"), (0x1100, "3"), (0x1780, "J"),
    (0x1800, "3"), (0x1E00, "w"),
    (0x1F00, "G"), (0x2000, "y"), (0x2070, "Y"), (0x2C00, "3"), (0x3000, "k"), (0x3040, "K"),
    (0x3100, "3"), (0x4E00, "h"), (0xA000, "3"), (0xAC00, "o"), (0xD7A4, "3"), (0xFE00, "d"),
    (0xFE10, "3"), (0xFF00, "k"), (0xFF66, "3"), (0x10000, "4"), (0x1F000, "e"), (0x1FB00, "4"),
)  # fmt: skip
_RANGE_STARTS = [start for start, _ in _RANGES]
# How common a Han character is can be read off the old standards, which list the common first:
# the lead bytes of the first level of GB 2312, JIS X 0208 and Big5.
_FIRST_LEVELS = (
    ("gb2312", 0xB0, 0xD7, "h"),
    ("euc_jp", 0xB0, 0xCF, "i"),
    ("big5", 0xA4, 0xC6, "i"),
)


class _Kinds(dict[int, str]):
    """Code point -> kind, found once each."""

    def __missing__(self, code: int) -> str:
        kind = self[code] = _kind_of(code)
        return kind


def _kind_of(code: int) -> str:
    char = chr(code)
    if code < 0x80:
        for kind, belongs in _ASCII_KINDS:
            if belongs(char):
                return kind
        return "p" if char.isprintable() else "z"
    kind = _RANGES[bisect_right(_RANGE_STARTS, code) - 1][1]
    if kind == "h":
        return next((level for level in _first_levels(char)), "j")
    if kind in "BDIJEH" and unicodedata.category(char) == "Cn":
        return "3"
    return kind


_ASCII_KINDS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("a", str.islower),
    ("U", str.isupper),
    ("0", str.isdigit),
    (" ", " ".__eq__),
    ("n", "\r\n".__contains__),
    ("t", "\t".__eq__),
)


def _first_levels(char: str) -> Iterator[str]:
    for encoding, low, high, kind in _FIRST_LEVELS:
        try:
            lead = char.encode(encoding)[0]
        except UnicodeEncodeError:
            continue
        if low <= lead <= high:
            yield kind


def _marking(marks: dict[str, str], other: str) -> bytes:
    """A table for bytes.translate: the kinds of each key become its mark, the rest `other`."""
    table = bytearray(other.encode() * 256)
    for kinds, mark in marks.items():
        for kind in kinds:
            table[ord(kind)] = ord(mark)
    return bytes(table)


_KINDS = _Kinds()
_ASCII_COSTS = [(kind.encode(), _COST[kind]) for kind in "0ntzp"]
_OTHER_COSTS = [(kind.encode(), cost) for kind, cost in _COST.items() if kind not in "0ntzp"]
_FOREIGN = _marking({"grqAHBTDIJEGKhijo34": "x"}, " ")
_DIGITS = _marking({"0": "0"}, " ")
_DIGIT_AFTER_LETTER = _marking({"alUmw": "a", "0": "0"}, " ")
_CASE = _marking({"almw": "a", "U": "U"}, " ")
_BLANKS = _marking({" ": "s"}, "x")


def _base_letter(code: int) -> str:
    base = unicodedata.normalize("NFD", chr(code))[0].lower()
    return base if "a" <= base <= "z" else "o"


_BASE_LETTERS = {code: _base_letter(code) for code in range(0xC0, 0x250)}


@lru_cache(maxsize=1 << 16)
def _word_cost(word: str) -> int:
    letters = word.translate(_BASE_LETTERS).lower()
    return sum(map(_PAIR_COST.__getitem__, map(str.__add__, "^" + letters, letters)))


_SENTENCE_END = re.compile(r"""[.!?…]["'”’»)\]]*(?=\s)|[。！？｡][」』”’）]*""")
_BLANK = re.compile(r"\s")


def _longest_fitting(text: str, budget: int) -> int:
    """The largest n for which text[:n] is within the budget."""
    fits, step = 0, 8 * budget
    while fits + step < len(text) and estimate_tokens(text[: fits + step]) <= budget:
        fits += step
        step *= 2
    beyond = min(fits + step, len(text)) + 1
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if estimate_tokens(text[:middle]) <= budget:
            fits = middle
        else:
            beyond = middle
    return fits


def _last_border(border: re.Pattern[str], text: str, low: int, high: int) -> int:
    """Where the last match that ends in (low, high] ends; 0 if there is none.

    A blank right after the prefix ends a word too, hence the look one character further.
    """
    last = 0
    for match in border.finditer(text, low, high + 1):
        end = match.start() if border is not _SENTENCE_END else match.end()
        if low < end <= high:
            last = end
    return last


def _clings(text: str, at: int) -> bool:
    """Whether the characters around `at` are one to the reader: an accent, a joined emoji."""
    after = text[at]
    return (
        unicodedata.combining(after) != 0
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or after in "\u200d\ufe0e\ufe0f"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or text[at - 1] == "\u200d"
    )


_SLUG_LENGTH = 60


def slug(text: str) -> str:
    """`text` as a part of an id: letters and digits of every script in lower case, "-" between.

    At most 60 characters; "section" when nothing is left.
    """
    folded = unicodedata.normalize("NFC", text[: 4 * _SLUG_LENGTH]).lower()
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in folded)
    return "-".join(kept.split())[:_SLUG_LENGTH].rstrip("-") or "section"


def one_line(text: str) -> str:
    """`text` so that it cannot begin a new line, flip its direction or steer a terminal.

    Each control character, line or paragraph separator and bidirectional control becomes one
    space, each lone surrogate U+FFFD; the rest, and the length, stay.
    """
    return _NOT_ON_ONE_LINE.sub(" ", text) if text.isascii() else text.translate(_ONE_LINE)


def brief(text: str, limit: int = 80) -> str:
    """`text` on one line and of at most `limit` characters, for a message that names it."""
    return one_line(text if len(text) <= limit else f"{text[: limit - 1]}…")


_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
_SEPARATORS = [0x2028, 0x2029]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_NOT_ON_ONE_LINE = re.compile(r"[\x00-\x1f\x7f]")


class _OneLine(dict[int, str]):
    def __missing__(self, code: int) -> str:
        if 0xD800 <= code <= 0xDFFF:
            return "\ufffd"
        raise LookupError(code)


_ONE_LINE = _OneLine(dict.fromkeys((*_CONTROLS, *_SEPARATORS, *_DIRECTIONS), " "))
