"""Text -> terms, for every script; the same at index and at query time.

A text is brought to NFKC and cut into pieces: a word or a compound (`acme/widget#77`), a run of a
script that is written without spaces, or an emoji. Each piece gives its terms:

- A word is case-folded, then stemmed in the language of its text. Marks on Latin and Greek letters
  are folded away after stemming (`küche` -> `kuch`), except in languages where they make other
  letters (KEEPS_MARKS): there the word stays as it is. Where a word typed without its marks would
  come out otherwise, a document also holds that form as an *alias*, `~malmo`. A query asks for the
  word, the word without marks, and the alias, so both spellings find each other.
- A compound gives itself, joined (`pond_survey` and `PondSurvey` are both `pondsurvey`), then its
  parts, as words. Separators between digits stay: `4.2.0`, `2025-11-03`.
- Han, kana, hangul, Thai, Lao, Khmer and Myanmar give units (a character with its marks): a
  document holds every unit and every two neighbours, a query asks for the neighbours, or for the
  unit where it stands alone.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, islice, pairwise

from .stop_words import LANGUAGES as LISTED
from .stop_words import stop_words

TOKENIZER_VERSION = 1  # part of the stamp of an index; raise it when any text gives other terms

MAX_TERM = 64  # characters; the rest of a longer word is cut off
MAX_PIECE = 1000  # characters; a longer piece is no prose (base64), only its first words are kept
MAX_BLOB_WORDS = 200
MAX_PARTS = 8  # a compound of more parts is no name that anyone types whole
MAX_QUERY = 1_000_000  # characters read of a query
MAX_QUERY_WORDS = 256  # distinct, and as many pairs
CACHED_PIECES = 65_536  # a language
DETECT_CHARACTERS = 20_000

ALIAS = "~"  # begins the term for a word without its marks
PAIR = "|"  # stands between the two terms of a pair

# What the parts of a compound weigh in a query, its whole being 1. A name in code should win over
# its scattered parts; a hyphen in prose is as often left out (`T-cell`, `T cell`).
CODE_PART = 0.3
PROSE_PART = 1.0

STEMMERS = {
    **{"ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german"},
    **{"el": "greek", "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian"},
    **{"eu": "basque", "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish"},
    **{"hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian"},
    **{"lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian"},
    **{"no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian"},
    **{"sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish"},
}

UNSTEMMED = "und"  # the language of which no word is stemmed

# Languages in whose alphabet letters with marks stand for themselves (`får` is no `far`).
KEEPS_MARKS = {"az", "cs", "da", "eo", "es", "et", "fi", "fo", "hr", "hu", "is", "lt", "lv"}
KEEPS_MARKS |= {"nb", "nn", "no", "pl", "ro", "sk", "sl", "sv", "tr", "vi"}

_HAN_KANA = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096\u3099\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7fb"
_UNSPACED = (  # Thai, Lao, Khmer, Myanmar, without their digits and punctuation
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ec4\u0ec6-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d"
    "\u1780-\u17d3\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f"
)
_UNSPACED_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059"
    "\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d"
    "\u17b4-\u17d3\u17dd"
)
# Combining marks of the other scripts, with the letters between them; no category of `re` has them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d"
    "\u0859-\u085b\u0897-\u08e1\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63"
    "\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3\u0f18\u0f19"
    "\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u135d-\u135f\u1712-\u1734\u1752-\u1773"
    "\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3"
    "\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u2cef-\u2cf1\u2d7f-\u2dff\ua66f-\ua672\ua674-\ua67d"
    "\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d\ua947-\ua953"
    "\ua980-\ua9c0\uaa29-\uaa4d\uaab0-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea\uabec\uabed"
    "\ufb1e\ufe20-\ufe2f\U000101fd-\U0001037a\U00010a01-\U00010a3f\U00011000-\U000116b7"
)
# Soft hyphen, joiners and marks of direction stand inside words and mean nothing to a search.
_IGNORED = "\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_ZERO_WIDTH_SPACE = "\u200b"
_EMOJI = "\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
_APOSTROPHES = "'\u2019\u02bc\u05f3\u05f4"

_NGRAM = _HAN_KANA + _HANGUL + _UNSPACED + _ZERO_WIDTH_SPACE
UNSPACED_SCRIPTS = _HAN_KANA + _HANGUL + _UNSPACED  # for the inside of a set in a pattern


@cache
def _piece_pattern(is_ascii: bool) -> re.Pattern[str]:
    """What cuts a text into pieces. The one for ASCII does the same there, and compiles at once."""
    word, joiner = "[A-Za-z0-9]++", r"(?:_++|::|[-./\\@:#&'])"
    if not is_ascii:
        word = rf"(?:{word}|[^\W_\x00-\x7f{_NGRAM}]++|[{_MARKS}{_IGNORED}]++)+"
        gershayim = r"(?<=[\u05d0-\u05ea])\"(?=[\u05d0-\u05ea])"
        joiner = rf"(?:_++|::|[-\u2010./\\@:#&{_APOSTROPHES}]|{gershayim})"
    # Only single sets are possessive: Python before 3.11.5 matches possessive groups wrongly.
    compound = rf"{word}(?:{joiner}{word})*"
    pattern = rf"{compound}(?:\+\+|\#)?|(?<![\w.])\.(?=[A-Za-z]){compound}"  # .NET, .gitignore
    if not is_ascii:
        pattern += (
            rf"|[{_HAN_KANA}]+|[{_HANGUL}]+|[{_UNSPACED}{_ZERO_WIDTH_SPACE}]+"
            rf"|[\U0001f1e6-\U0001f1ff]{{2}}|[{_EMOJI}]"
        )
    return re.compile(pattern)


def _pieces(text: str) -> list[str]:
    if text.isascii():
        return _piece_pattern(True).findall(text)
    return _piece_pattern(False).findall(unicodedata.normalize("NFKC", text))


@cache
def _unit_pattern() -> re.Pattern[str]:
    # A Khmer or Myanmar letter that is stacked under another one belongs to its unit.
    stacked = rf"[\u17d2\u1039][{_UNSPACED}]"
    return re.compile(rf"[{_UNSPACED}](?:{stacked}|[{_UNSPACED_MARKS}])*|[^{_ZERO_WIDTH_SPACE}]")


def terms(text: str, language: str) -> list[str]:
    """The terms of a document, in the order of the text, stop words included.

    language: ISO 639-1; in one without a stemmer, and in "und", words are only folded.
    """
    known = _piece_terms(language)
    return list(chain.from_iterable(map(known.__getitem__, _pieces(text))))


def spans(text: str, language: str, wanted: Set[str] | None = None) -> list[tuple[str, int, int]]:
    """(term, start, end) in characters of `text` as it was given, in the order of terms().

    wanted: the terms to look for; None is all there are.
    """
    normal, starts, ends = _normalise_with_offsets(text)
    stem, known = _stemming(language), _piece_terms(language)
    found = []
    for match in _piece_pattern(normal.isascii()).finditer(normal):
        base, piece = match.start(), match.group()
        if wanted is not None and wanted.isdisjoint(known[piece]):
            continue
        for term, start, end in _expand(piece, stem):
            if wanted is None or term in wanted:
                found.append((term, starts(base + start), ends(base + end - 1)))
    return found


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One thing that a query asks for. A note has it when it has any of the variants."""

    surface: str  # as it was typed, case-folded
    variants: tuple[str, ...]  # its terms in the languages of the vault
    count: float  # how often it was asked for, parts of a compound counting less
    as_written: tuple[str, ...] = ()  # its terms without stemming


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    words: tuple[QueryWord, ...]
    pairs: tuple[tuple[str, ...], ...]  # for each two neighbours, the variants of their pair
    only_stop_words: bool = False  # for lack of any other

    def __bool__(self) -> bool:
        return bool(self.words)


def query_terms(text: str, languages: Sequence[str]) -> LexicalQuery:
    """What to look for. languages: those of the vault's notes, the commonest first.

    Stop words of the languages that the query seems to be in are left out, unless nothing else
    is there. Neighbours are neighbours once they are left out. Of more than MAX_QUERY_WORDS
    different words, those asked for most often count, the first ones among equals.
    """
    languages = tuple(dict.fromkeys(languages)) or ("und",)
    pieces = _pieces(text[:MAX_QUERY])
    content = _read_query(pieces, languages, _stop_words_of(pieces, languages))
    if content:
        return content
    asked = _read_query(pieces, languages, frozenset())
    return replace(asked, only_stop_words=bool(asked))


def pair_term(first: str, second: str) -> str:
    return f"{first}{PAIR}{second}"


def pair_terms(words: Iterable[str]) -> Iterator[str]:
    """Pairs of neighbouring terms of a document.

    Aliases and scripts written without spaces make no pairs: their units overlap already.
    """
    kept = ["" if _is_ngram(word) else word for word in words if word[0] != ALIAS]
    return (f"{a}{PAIR}{b}" for a, b in pairwise(kept) if a and b)


# --- pieces -> terms


class _PieceTerms(dict[str, tuple[str, ...]]):
    """The terms of each piece seen, in one language; forgets all when it is full."""

    def __init__(self, language: str) -> None:
        self._stem = _stemming(language)

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if _is_ngram(piece):
            return tuple(_ngrams(piece))
        wholes, leaves = _split(piece)
        found = tuple(
            chain.from_iterable(self._stem.document(word) for word, _, _ in wholes + leaves)
        )
        if len(piece) <= MAX_TERM:
            if len(self) >= CACHED_PIECES:
                self.clear()
            self[piece] = found
        return found


@cache
def _piece_terms(language: str) -> _PieceTerms:
    return _PieceTerms(language)


def _expand(piece: str, stem: _Stemming) -> Iterator[tuple[str, int, int]]:
    """The terms of a piece, and where in it they stand."""
    if _is_ngram(piece):
        position = 0
        spans = []
        for unit in _units(piece):
            position = piece.index(unit, position)
            spans.append((position, position + len(unit)))
            position += len(unit)
        for index, term in enumerate(_ngrams(piece)):  # unit, two units, unit, two units, ..
            yield term, spans[index // 2][0], spans[(index + 1) // 2][1]
        return
    wholes, leaves = _split(piece)
    for word, start, end in chain(wholes, leaves):
        for term in stem.document(word):
            yield term, start, end


def _ngrams(piece: str) -> list[str]:
    """Each unit, followed by itself and the next one together."""
    units = _units(piece)
    found = [term for unit, after in pairwise(units) for term in (unit, unit + after)]
    found.extend(units[-1:])
    return found


def _units(piece: str) -> Sequence[str]:
    """Its characters, each with the marks that follow it; a run of letters alone has no marks."""
    return piece if piece.isalpha() else _unit_pattern().findall(piece)


def _is_ngram(text: str) -> bool:
    return text >= "\u0e01" and bisect_right(_ngram_bounds(), text[0]) % 2 == 1


def has_unspaced(text: str) -> bool:
    """Whether some of a text is of a script that is written without spaces, or is hangul."""
    return not text.isascii() and any(map(_is_ngram, text))


@cache
def _ngram_bounds() -> list[str]:
    """Where the characters written without spaces begin, and end, and begin again."""
    bounds = []
    for low, high in re.findall(r"(.)(?:-(.))?", _NGRAM, re.DOTALL):
        bounds.append((low, chr(ord(high or low) + 1)))
    return list(chain.from_iterable(sorted(bounds)))


# --- words -> terms


class _Stemming:
    """How words of one language become terms."""

    def __init__(self, language: str) -> None:
        self._turkic = language in ("tr", "az")
        self._keeps_marks = language in KEEPS_MARKS
        self._stem: Callable[[str], str] = str
        if language in STEMMERS:
            import Stemmer

            if STEMMERS[language] in Stemmer.algorithms():
                self._stem = Stemmer.Stemmer(STEMMERS[language], 0).stemWord

    def document(self, word: str) -> tuple[str, ...]:
        """The term of a word, then its alias if it has one. Empty if nothing of it is left."""
        word = self.fold_case(word)
        plain = fold_marks(word)
        if not plain:
            return ()
        if plain == word:
            return (self._stemmed(word),)
        first, bare = self._primary(word), self._stemmed(plain)
        return (first,) if first == bare else (first, ALIAS + bare)

    def query(self, word: str) -> tuple[str, ...]:
        """The term of a word, then the other terms that say the same in a document."""
        word = self.fold_case(word)
        plain = fold_marks(word)
        if not plain:
            return ()
        bare = self._stemmed(plain)
        return tuple(dict.fromkeys((self._primary(word), bare, ALIAS + bare)))

    def fold_case(self, word: str) -> str:
        if word.isascii() and not self._turkic:
            return word.lower()[:MAX_TERM]
        if self._turkic:
            word = word.replace("I", "\u0131").replace("\u0130", "i")
        word = _ignored_pattern().sub("", word)
        word = unicodedata.normalize("NFC", word.casefold())
        if not word.isalpha():
            word = "".join(str(unicodedata.decimal(c, c)) for c in word)
        return word[:MAX_TERM]

    def _primary(self, word: str) -> str:
        stemmed = self._stemmed(word)
        return stemmed if self._keeps_marks else fold_marks(stemmed)

    def _stemmed(self, word: str) -> str:
        return (self._stem(word) or word) if not _digit_pattern().search(word) else word


@cache
def _stemming(language: str) -> _Stemming:
    return _Stemming(language)


@cache
def _ignored_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_IGNORED}]")


@cache
def _digit_pattern() -> re.Pattern[str]:
    return re.compile(r"[0-9]")


_LETTERS = {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ħ": "h"}
_LETTERS |= {"ı": "i", "ŧ": "t", "ё": "е", "\u0640": ""}


def fold_marks(word: str) -> str:
    """A word in lower case without what people leave out when they type in a hurry.

    Marks on Latin and Greek letters, Hebrew points and Arabic vowel signs go, and a letter such as
    `ø` becomes its nearest plain one. Marks of other scripts are letters of their own and stay.
    """
    if word.isascii():
        return word
    kept = []
    base = ""
    for char in unicodedata.normalize("NFD", "".join(_LETTERS.get(c, c) for c in word)):
        if "\u0300" <= char <= "\u036f":
            if base < "\u0400" or "\u1e00" <= base < "\u2000":
                continue
        elif "\u0591" <= char <= "\u05c7" or "\u064b" <= char <= "\u065f" or char == "\u0670":
            continue
        else:
            base = char
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


# --- compounds -> parts

_Part = tuple[str, int, int]  # its text, and where it stands in the piece

_BOUND = r"(?<!\d){0}|{0}(?!\d)"  # a separator between two digits does not part them
_LEVELS = (
    re.compile(_BOUND.format(r"(?:::|[/\\:#@&])")),
    re.compile(_BOUND.format(r"\.")),
    re.compile(r"_+"),
    re.compile(_BOUND.format(r"[-\u2010]")),
)
_APOSTROPHE = re.compile(rf"[{_APOSTROPHES}\"]")
_JOINERS = re.compile(rf"(?<=\d)[-\u2010./\\:_]+(?=\d)|[-\u2010./\\:_{_APOSTROPHES}\"]+")
_NUMBER = re.compile(r"\d+(?:[-\u2010./\\:]\d+)+")
_DIGITS = re.compile(r"\d+")
_LETTERS_DIGITS = re.compile(r"([^\W\d_]{2,})(\d+)|(\d+)([^\W\d_]{2,})")
_CAMEL = re.compile(r"U+(?=Ul)|U?[ld]+|U+d*")  # over a word written as U(pper), l(ower), d(igit)
_RUN = re.compile(r"[^\W_]+")
# `l'eau`, `dell'acqua`: what stands before the apostrophe is an article or the like.
_ELIDED = {"l", "d", "j", "m", "n", "s", "t", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"}
_ELIDED |= {"all", "dall", "dell", "nell", "sull", "coll", "un", "quest", "quell"}
_ENCLITIC = {"s", "ll", "re", "ve", "m", "d"}  # Anna's, they'll


def _split(piece: str) -> tuple[list[_Part], list[_Part]]:
    """The compounds in a piece, the widest first, and its smallest parts, in order.

    A plain word is its own only part.
    """
    wholes: list[_Part] = []
    leaves: list[_Part] = []
    if piece.isalpha() and (piece.islower() or piece[1:].islower()):
        return wholes, [(piece, 0, len(piece))]
    if len(piece) > MAX_PIECE:
        runs = (m for m in _RUN.finditer(piece) if len(m.group()) <= MAX_TERM)
        return wholes, [(m.group(), *m.span()) for m in islice(runs, MAX_BLOB_WORDS)]
    body = piece.rstrip("+#")
    if piece.endswith("++") or (body != piece and len(body) <= 2):  # C++, C#
        wholes.append((piece, 0, len(piece)))
    offset = 0
    if body[0] == ".":  # .NET
        wholes.append((body, 0, len(body)))
        offset = 1
    _cut(body[offset:], offset, 0, wholes, leaves)
    initials = all(len(word) == 1 and word.isalpha() for word, _, _ in leaves)
    if wholes and initials and body == piece and offset == 0:  # U.S.A.
        return [], wholes[:1]
    return wholes, leaves


def _cut(text: str, offset: int, level: int, wholes: list[_Part], leaves: list[_Part]) -> None:
    if text.isalnum():
        _cut_word(text, offset, wholes, leaves)
        return
    for deeper in range(level, len(_LEVELS)):
        cuts = [match.span() for match in _LEVELS[deeper].finditer(text)]
        if cuts:
            starts, ends = [0, *(end for _, end in cuts)], [*(s for s, _ in cuts), len(text)]
            if len(text) <= MAX_TERM and len(starts) <= MAX_PARTS:
                wholes.append((_joined(text), offset, offset + len(text)))
            for start, end in zip(starts, ends, strict=True):
                _cut(text[start:end], offset + start, deeper + 1, wholes, leaves)
            return
    if _APOSTROPHE.search(text):
        _cut_apostrophes(text, offset, wholes, leaves)
    elif _NUMBER.search(text):
        _cut_number(text, offset, wholes, leaves)
    else:
        _cut_word(text, offset, wholes, leaves)


def _joined(text: str) -> str:
    """A compound as one term: only separators between digits, and `#@&`, tell names apart."""
    return _JOINERS.sub(lambda m: "" if not _between_digits(m) else _digit_joiner(m), text)


def _between_digits(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    return start > 0 and end < len(text) and text[start - 1].isdigit() and text[end].isdigit()


def _digit_joiner(match: re.Match[str]) -> str:
    return "." if match.group() == "." else "-"


def _cut_apostrophes(text: str, offset: int, wholes: list[_Part], leaves: list[_Part]) -> None:
    words = [(m.group(), *m.span()) for m in re.finditer(rf"[^{_APOSTROPHES}\"]+", text)]
    if len(words) > 1 and words[-1][0].lower() in _ENCLITIC:
        words.pop()
        text = text[: words[-1][2]]
    if len(words) > 1 and words[0][0].lower() in _ELIDED:
        words.pop(0)
    if len(words) == 1:
        word, start, _ = words[0]
        _cut_word(word, offset + start, wholes, leaves)
        return
    first, last = words[0][1], words[-1][2]
    whole = (_joined(text[first:last]), offset + first, offset + last)
    parts = [word for word in words if len(word[0]) > 1]
    if words[-1][0].lower() == "t" or not parts:  # don't
        leaves.append(whole)
        return
    wholes.append(whole)
    leaves.extend((word, offset + start, offset + end) for word, start, end in parts)


def _cut_number(text: str, offset: int, wholes: list[_Part], leaves: list[_Part]) -> None:
    """`v4.1.7`: itself, 4.1.7, 4.1, then 4, 1 and 7."""
    wholes.append((_joined(text), offset, offset + len(text)))
    for number in _NUMBER.finditer(text):
        digits = [(m.group(), *m.span()) for m in _DIGITS.finditer(text, *number.span())]
        if number.span() != (0, len(text)):
            start, end = number.span()
            wholes.append((_joined(text[start:end]), offset + start, offset + end))
        if len(digits) > 2:
            start, end = digits[0][1], digits[1][2]
            wholes.append((_joined(text[start:end]), offset + start, offset + end))
        leaves.extend((word, offset + start, offset + end) for word, start, end in digits)


def _cut_word(text: str, offset: int, wholes: list[_Part], leaves: list[_Part]) -> None:
    """`computeTideLevel` and `pump7`: itself, then its parts."""
    cuts: list[tuple[int, int]] = []
    if text[1:] != text[1:].lower() and not text.isupper():
        shape = "".join("U" if c.isupper() else "d" if c.isdigit() else "l" for c in text)
        if not re.fullmatch(r"U{2,}l", shape) or text[-1] != "s":  # PDFs is no camel
            cuts = [match.span() for match in _CAMEL.finditer(shape)]
    elif match := _LETTERS_DIGITS.fullmatch(text):
        cuts = [match.span(group) for group in (1, 2, 3, 4) if match.group(group)]
    if len(cuts) < 2:
        if text:
            leaves.append((text, offset, offset + len(text)))
        return
    wholes.append((text, offset, offset + len(text)))
    name = text.rstrip("0123456789")
    if len(name) < len(text) and len(cuts) > 1 and cuts[-1][0] < len(name):  # iPhone15: iPhone
        wholes.append((name, offset, offset + len(name)))
    for start, end in cuts:
        numbered = _LETTERS_DIGITS.fullmatch(text[start:end])
        if numbered and numbered[1]:  # the Response2 of parseHTTPResponse2
            wholes.append((text[start:end], offset + start, offset + end))
            middle = start + len(numbered[1])
            leaves.append((text[start:middle], offset + start, offset + middle))
            leaves.append((text[middle:end], offset + middle, offset + end))
        elif end - start > 1 or text[start].isdigit():
            leaves.append((text[start:end], offset + start, offset + end))


# --- queries


@dataclass(frozen=True, slots=True)
class _Asked:
    """A word of a query: its terms in any language, and the first one in each, to make pairs."""

    word: QueryWord
    primary: tuple[str, ...]  # empty where no pair is made


def _read_query(
    pieces: Sequence[str], languages: Sequence[str], left_out: frozenset[str]
) -> LexicalQuery:
    words: dict[tuple[str, ...], QueryWord] = {}
    pairs: dict[tuple[str, ...], None] = {}
    asked_by: dict[str, list[_Asked]] = {}
    before: tuple[str, ...] = ()
    for piece in pieces:
        if piece not in asked_by:
            asked_by[piece] = _asked(piece, languages, left_out)
        for asked in asked_by[piece]:
            word = asked.word
            known = words.get(word.variants)
            if known is not None:
                word = replace(known, count=known.count + word.count)
            words[word.variants] = word
            if asked.primary and before and len(pairs) < MAX_QUERY_WORDS:
                both = zip(before, asked.primary, strict=True)
                pairs[tuple(dict.fromkeys(pair_term(a, b) for a, b in both))] = None
            before = asked.primary
    # Sorting is stable, and slicing a list that is short enough keeps the order of the text.
    kept = list(words.values())
    if len(kept) > MAX_QUERY_WORDS:
        kept = sorted(kept, key=lambda word: -word.count)[:MAX_QUERY_WORDS]
    return LexicalQuery(tuple(kept), tuple(pairs))


@cache
def _all_stop_words(languages: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*map(stop_words, languages))


def _asked(piece: str, languages: Sequence[str], left_out: frozenset[str]) -> list[_Asked]:
    if _is_ngram(piece):
        units = _units(piece)
        asked = ["".join(pair) for pair in pairwise(units)] or list(units)
        return [_Asked(QueryWord(unit, (unit,), 1.0, (unit,)), ()) for unit in asked]
    if _plain(piece) in left_out:
        return []
    wholes, leaves = _split(piece)
    part = 1.0 if not wholes else PROSE_PART if _is_prose(piece) else CODE_PART
    weighted = [
        (word, CODE_PART if index else 1.0, False) for index, (word, _, _) in enumerate(wholes)
    ]
    weighted += [
        (word, part, True) for word, _, _ in leaves if not (wholes and _plain(word) in left_out)
    ]
    found = []
    for word, count, is_leaf in weighted:
        forms = [_stemming(language).query(word) for language in languages]
        variants = tuple(dict.fromkeys(chain.from_iterable(forms)))
        if len(languages) > 1:  # a stem may be a stop word of a commoner language: "bees", "be"
            kept = {_plain(word), fold_marks(_plain(word))}
            for index, form in enumerate(forms):
                kept.update(set(form) - _all_stop_words(tuple(languages[: index + 1])))
            variants = tuple(v for v in variants if v in kept) or variants
        if variants:
            primary = tuple(form[0] for form in forms) if is_leaf else ()
            as_written = _stemming(UNSTEMMED).query(word)
            found.append(_Asked(QueryWord(_plain(word), variants, count, as_written), primary))
    return found


def _is_prose(piece: str) -> bool:
    """Whether a compound is words with hyphens, rather than a name in code."""
    return all(c.isalpha() or c in "-\u2010'\u2019" for c in piece)


def _plain(word: str) -> str:
    return word.casefold().replace("\u2019", "'").replace("\u02bc", "'")


def _stop_words_of(pieces: Sequence[str], languages: Sequence[str]) -> frozenset[str]:
    """What is a stop word in every language that has most stop words among the pieces."""
    candidates = [language for language in languages if stop_words(language)] or LISTED
    words = set(map(_plain, pieces))
    votes = {language: len(words & stop_words(language)) for language in candidates}
    most = max(votes.values())
    best = [language for language in candidates if votes[language] == most]
    return frozenset.intersection(*map(stop_words, best))


# --- offsets


def _normalise_with_offsets(text: str) -> tuple[str, Callable[[int], int], Callable[[int], int]]:
    """NFKC of the text; the start, and the end, in the text of a character of it."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text, lambda index: index, lambda index: index + 1
    normal: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    # Nothing composes across an ASCII character, so each stretch between them stands alone.
    for match in re.finditer(r"[\x00-\x7f][^\x00-\x7f]*|[^\x00-\x7f]+", text):
        for start, end, form in _normal_units(match.group()):
            normal.append(form)
            for position in range(len(form)):
                exact = len(form) == end - start
                starts.append(match.start() + start + (position if exact else 0))
                ends.append(match.start() + (start + position + 1 if exact else end))
    return "".join(normal), starts.__getitem__, ends.__getitem__


def _normal_units(stretch: str) -> list[tuple[int, int, str]]:
    """(start, end, NFKC) of parts as small as can be that give the NFKC of the whole."""
    whole = unicodedata.normalize("NFKC", stretch)
    if whole == stretch:
        return [(0, len(stretch), stretch)]
    starts = [i for i, c in enumerate(stretch) if i == 0 or not unicodedata.combining(c)]
    units = [
        (start, end, unicodedata.normalize("NFKC", stretch[start:end]))
        for start, end in pairwise([*starts, len(stretch)])
    ]
    if "".join(form for _, _, form in units) == whole:
        return units
    return [(0, len(stretch), whole)]


# --- languages

_SCRIPTS = (  # first and last character, and its language or name
    ("\u0370", "\u03ff", "el"),
    ("\u0400", "\u052f", "cyrillic"),
    ("\u0531", "\u0587", "hy"),
    ("\u05d0", "\u05ea", "he"),
    ("\u0620", "\u06ff", "arabic"),
    ("\u0900", "\u0963", "hi"),
    ("\u0980", "\u09e3", "bn"),
    ("\u0a00", "\u0a75", "pa"),
    ("\u0a80", "\u0ae3", "gu"),
    ("\u0b80", "\u0bd7", "ta"),
    ("\u0c00", "\u0c63", "te"),
    ("\u0c80", "\u0ce3", "kn"),
    ("\u0d00", "\u0d63", "ml"),
    ("\u0d80", "\u0df3", "si"),
    ("\u0e01", "\u0e4e", "th"),
    ("\u0e81", "\u0ece", "lo"),
    ("\u0f40", "\u0fbc", "bo"),
    ("\u1000", "\u109f", "my"),
    ("\u10a0", "\u10ff", "ka"),
    ("\u1200", "\u135a", "am"),
    ("\u1780", "\u17d3", "km"),
    ("\u1f00", "\u1fff", "el"),
    ("\u3041", "\u30ff", "kana"),
    ("\u3400", "\u4dbf", "han"),
    ("\u4e00", "\u9fff", "han"),
    ("\uac00", "\ud7a3", "ko"),
)
_DENSE = {"han": 3, "kana": 3, "ko": 3}  # Latin letters that one character is worth
_TELLING = {  # letters that only one of the languages of a script has
    "cyrillic": (("uk", "іїєґ"), ("be", "ў"), ("mk", "ѓќѕ"), ("sr", "ђћџ")),
    "arabic": (("ur", "ٹڈڑے"), ("fa", "پچژگی")),
}
_OF_SCRIPT = {"cyrillic": ("ru", "uk", "bg"), "arabic": ("ar", "fa")}
_LATIN = tuple(
    language for language in LISTED if language not in ("ar", "bg", "el", "fa", "he", "ru", "uk")
)
MIN_KANA = 0.1  # of Han and kana together: less is Chinese that quotes
MIN_STOP_WORDS = 2  # different ones, and a share of the words
MIN_STOP_SHARE = 0.08


def detect_language(text: str) -> str:
    """ISO 639-1 of most of the text, judged by its first part; "und" if nothing tells.

    The script decides where it can; else whichever language has most stop words in the text.
    """
    sample = unicodedata.normalize("NFC", text[:DETECT_CHARACTERS]).lower()
    script = "latin"
    if not sample.isascii():
        letters = _letters_by_script(sample)
        chinese = letters.pop("han", 0) + letters.get("kana", 0)
        if chinese:
            letters["ja" if letters.pop("kana", 0) >= MIN_KANA * chinese else "zh"] = chinese
        script = max(letters, key=lambda name: letters[name])
    if script == "latin":
        return _by_stop_words(sample, _LATIN)
    if script not in _OF_SCRIPT:
        return script
    for language, telling in _TELLING[script]:
        if sum(map(sample.count, telling)) >= len(sample) * 0.005:
            return language
    voted = _by_stop_words(sample, _OF_SCRIPT[script])
    return voted if voted != "und" else _OF_SCRIPT[script][0]


def _letters_by_script(sample: str) -> dict[str, int]:
    letters = {"latin": 0}
    for char, count in Counter(sample).items():
        if char.isalpha():
            place = bisect_right(_script_starts(), char) - 1
            name = _SCRIPTS[place][2] if place >= 0 and char <= _SCRIPTS[place][1] else "latin"
            letters[name] = letters.get(name, 0) + count * _DENSE.get(name, 1)
    return letters


@cache
def _script_starts() -> list[str]:
    return [start for start, _, _ in _SCRIPTS]


def _by_stop_words(sample: str, languages: Sequence[str]) -> str:
    words = _prose_word().findall(sample)
    known = _languages_of_stop_words()
    votes = dict.fromkeys(languages, 0)
    different = dict.fromkeys(languages, 0)
    for word, count in Counter(words).items():
        for language in known.get(word, ()):
            if language in votes:
                votes[language] += count
                different[language] += 1
    best = max(languages, key=lambda language: (votes[language], different[language]))
    if different[best] < MIN_STOP_WORDS or votes[best] < MIN_STOP_SHARE * len(words):
        return "und"
    return best


@cache
def _prose_word() -> re.Pattern[str]:
    """Words of two letters or more that are no part of an address or of a name in code."""
    return re.compile(r"(?<![\w/.:@#=&?%\\-])[^\W\d_]{2,}+(?![\w/:@#=&%\\(-])")


@cache
def _languages_of_stop_words() -> dict[str, list[str]]:
    known: dict[str, list[str]] = {}
    for language in ("en", *LISTED):
        for word in stop_words(language):
            if language not in known.setdefault(word, []):
                known[word].append(language)
    return known
