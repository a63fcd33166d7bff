"""The phrases of closers.txt: whether a text is made of them, in any one language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Set
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

Phrases = Mapping[tuple[str, ...], bool]  # the units of a phrase -> whether it closes by itself

_MOST_UNITS = 80  # of a text that can be said to ask for nothing
_MOST_BEFORE = 24  # of these in front of a request, without punctuation between them
_LONGEST_WORD = 40  # characters
_MOST_LONG_RUNS = 4  # of letters in a word

# Scripts that write words without blanks, or, as Korean, not always with them.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff\u3099\u309a"
_UNSEEN = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
UNIT = re.compile(
    rf"[{_UNSPACED}]|(?:[^\W{_UNSPACED}]|(?<=[^\W{_UNSPACED}]|[{_MARKS}{_UNSEEN}])[{_MARKS}{_UNSEEN}])+"
)
_IN_RUNS = re.compile(f"[{_UNSPACED}]")
_HAN = re.compile("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_FOLDED_MARKS = re.compile(f"[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670{_UNSEEN}]")
_LETTERS = str.maketrans("łøđıßœæ", "lodisoa")
_LONG_RUN = re.compile(r"(.)\1{2,}")
_LENGTHENED = "ーㅡ"
_LAUGHTER = re.compile(
    r"b?w?a?(?:h+a+){2,}h*|(?:h+[ei]+){2,}h*|(?:h+o+){3,}|(?:j+[aei]+){2,}j*|k{3,}|(?:rs){2,}"
    r"|w{2,}|l+o+l+(?:o+l+)*|(?:hue){2,}|a?(?:х+[аеи]+){2,}х*|(?:wk){2,}w?|(?:ah){2,}a?|(?:eh){2,}e?"
    r"|(?:χ+α+){2,}|ח{2,}|ه{2,}"
)
_LAUGHED = "haha"


class Unit(NamedTuple):
    """A word, or a character of a script without blanks."""

    text: str  # as it is known
    weight: int  # what it takes to stand there as a phrase of its own; 0 where that is free
    is_last: bool  # of its run of characters without blanks, or a word
    stands_apart: bool  # from the next word, by more than a blank


def units_of(text: str, own: Phrases) -> list[Unit] | None:
    """The words of `text`, as they are known; None where one is not, or there are too many.

    What repeats itself stands twice at most.
    """
    vocabulary, mine = _vocabulary(), {unit for phrase in own for unit in phrase}
    units: list[Unit] = []
    texts: list[str] = []
    for run, stands_apart in _runs(text):
        first = len(texts)
        for word in run:
            unit = _known(word, vocabulary, mine)
            if unit is None or len(texts) > _MOST_UNITS:
                return None
            if texts[-2:] != [unit, unit]:
                texts.append(unit)
        known = texts[first:]
        is_one = len(set(known)) == 1
        for place, unit in enumerate(known, 1):
            is_last = place == len(known)
            weight = 0 if is_one else _weight(unit)
            units.append(Unit(unit, weight, is_last, is_last and stands_apart))
    return units


def _runs(text: str) -> Iterator[tuple[list[str], bool]]:
    """The words one by one, and what stands together of a script without blanks.

    With each, whether more than a blank stands behind it, or nothing at all.
    """
    run: list[str] = []
    kind, end = "", -1
    for found in UNIT.finditer(text):
        of, between = _kind(found[0]), text[end : found.start()] if run else ""
        if run and (not of or of != kind or between):
            yield run, bool(between.strip())
            run = []
        run.extend(_folded(found[0]))
        kind, end = of, found.end()
    if run:
        yield run, True


def _kind(word: str) -> str:
    if not _IN_RUNS.fullmatch(word):
        return ""
    return "letter" if "\u3130" <= word <= "\u318f" else "character"


def _weight(unit: str) -> int:
    # A Chinese character is a word more often than one of kana or Hangul is, which any word has.
    return 1 if _HAN.fullmatch(unit) else 3


def is_own(text: str, own: Phrases) -> bool:
    """Whether `text` is one of the user's own phrases."""
    return bool(own) and tuple(_units(text)) in own


def covers(units: list[Unit], own: Phrases, *, must_close: bool) -> bool:
    """Whether phrases of one language make up all of the units, one of them a closer.

    In a run without blanks phrases of one character weigh no more than the others have characters:
    nearly any word can be put together from such alone. A word for no that means not as well closes
    where it stands apart: "no, entiendo" and "no gracias", and not "no entiendo".
    """
    rest = {unit.text for unit in units}.difference(*own)
    return any(
        _covered(units, name, own, must_close=must_close)
        for name, words in _languages().items()
        if rest <= words
    )


@lru_cache(maxsize=8)
def own(closers: tuple[str, ...]) -> Phrases:
    """The phrases of a user's own, as closers."""
    phrases = (tuple(_units(closer)) for closer in closers)
    return {phrase: True for phrase in phrases if phrase}


def _covered(units: list[Unit], language: str, own: Phrases, *, must_close: bool) -> bool:
    negations = _negations(language)
    longest = max(_longest(language), _length(own))
    # What is made up up to here, with a closer or by fillers alone -> how many characters the run
    # has left for phrases of one.
    reached: list[dict[bool, int]] = [{} for _ in range(len(units) + 1)]
    reached[0] = {not must_close: 0}
    for start, states in enumerate(reached):
        if not states:
            continue
        for end in range(start + 1, min(start + longest, len(units)) + 1):
            phrase = tuple(unit.text for unit in units[start:end])
            gained = len(phrase) if len(phrase) > 1 else -units[start].weight
            if phrase in negations and not _stands_apart(units, end):
                continue
            for phrases in (_phrases(language), own):
                if phrase not in phrases:
                    continue
                for closed, left in states.items():
                    after = left + gained
                    if units[end - 1].is_last:
                        if after < 0:
                            continue
                        after = 0
                    closes = closed or phrases[phrase]
                    reached[end][closes] = max(after, reached[end].get(closes, after))
    return True in reached[-1]


def _stands_apart(units: list[Unit], end: int) -> bool:
    """Whether what ends in front of `end` does, be it said twice."""
    return units[end - 1].stands_apart or units[end : end + 1] == [
        units[end - 1]._replace(stands_apart=True)
    ]


# Words


def _units(text: str) -> Iterator[str]:
    for found in UNIT.finditer(text):
        yield from _folded(found[0])


def _folded(word: str) -> Iterator[str]:
    """A word as it is compared: without case, accents, width and characters that take no room."""
    if word.isascii() or len(word) > _LONGEST_WORD:
        yield word.casefold()
        return
    word = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", word).casefold())
    word = unicodedata.normalize("NFC", _FOLDED_MARKS.sub("", word)).translate(_LETTERS)
    for found in UNIT.finditer(word):
        if found[0] not in _LENGTHENED:
            yield found[0]


def is_known(word: str, own: Phrases) -> bool:
    word = word.casefold()
    return word in _vocabulary() or any(word in phrase for phrase in own)


def _known(word: str, vocabulary: Set[str], mine: Set[str]) -> str | None:
    """The known word that `word` is, however long its letters are drawn."""
    if word in vocabulary or word in mine:
        return word
    if _LAUGHTER.fullmatch(word):
        return _LAUGHED
    for shorter in _shortened(word):
        if shorter in vocabulary or shorter in mine:
            return shorter
    return None


def _shortened(word: str) -> Iterator[str]:
    """`word` with each letter that stands three times or more there twice or once."""
    parts = _LONG_RUN.split(word)
    runs = parts[1::2]
    if 0 < len(runs) <= _MOST_LONG_RUNS:
        for times in product((2, 1), repeat=len(runs)):
            letters = [run * time for run, time in zip(runs, times, strict=True)]
            yield "".join(
                piece + letter for piece, letter in zip(parts[::2], [*letters, ""], strict=True)
            )
    elif len(word) > 3 and word[-1] == word[-2]:
        yield word[:-1]


# The file


@cache
def _sections() -> dict[str, str]:
    from importlib.resources import files

    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    text = files(__package__).joinpath("closers.txt").read_text("utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return {name: " ".join(lines) for name, lines in sections.items()}


_OTHERS = ("conjunctions", "leads", "openers")


@cache
def _languages() -> dict[str, set[str]]:
    """The words of each language, those of everywhere among them."""
    everywhere = {*_units(_sections()["everywhere"]), *_units(_sections()["everywhere fillers"])}
    everywhere.add(_LAUGHED)
    names = [name for name in _sections() if " " not in name and name not in _OTHERS]
    return {
        name: everywhere | {*_units(_sections()[name]), *_units(_sections()[f"{name} fillers"])}
        for name in names
    }


@cache
def _vocabulary() -> frozenset[str]:
    return frozenset().union(*_languages().values())


@cache
def _phrases(name: str) -> Phrases:
    """Those of a language, and of everywhere; what is both closes."""
    found: dict[tuple[str, ...], bool] = {(_LAUGHED,): True}
    for section in dict.fromkeys((name, "everywhere")):
        found = dict.fromkeys(_written(f"{section} fillers"), False) | found
        found |= dict.fromkeys(_written(section), True)
    return found


@cache
def _negations(language: str) -> frozenset[tuple[str, ...]]:
    section = f"{language} negations"
    return frozenset(_written(section) if section in _sections() else ())


@cache
def _longest(name: str) -> int:
    return _length(_phrases(name))


def _length(phrases: Phrases) -> int:
    """Of the longest of them, in words."""
    return max(map(len, phrases), default=0)


def _written(section: str) -> Iterator[tuple[str, ...]]:
    for pattern in _sections()[section].split(";"):
        for phrase in _spelled_out(pattern):
            if units := tuple(_units(phrase)):
                yield units


def _spelled_out(pattern: str) -> Iterator[str]:
    """All that a pattern stands for: "a (b|c|)" for "a b", "a c" and "a "."""
    before, is_choice, rest = pattern.partition("(")
    if not is_choice:
        yield pattern
        return
    depth, at, choices = 0, 0, []
    for place, character in enumerate(rest):
        if depth == 0 and character in "|)":
            choices.append(rest[at:place])
            at = place + 1
            if character == ")":
                break
        depth += (character == "(") - (character == ")")
    tails = [*_spelled_out(rest[at:])]
    for choice in choices:
        for head in _spelled_out(choice):
            yield from (before + head + tail for tail in tails)


# What goes on


def opener(text: str, start: int) -> int:
    """Where a request begins behind the first word from `start` on; -1 where none does.

    Looks at the first words, as many as closers take.
    """
    units: list[tuple[str, int]] = []
    for found in UNIT.finditer(text, start):
        units += [(unit, found.start()) for unit in _folded(found[0])]
        if len(units) > _MOST_BEFORE:
            break
    openers, longest = _openers()
    words = tuple(unit for unit, _ in units)
    for at in range(1, len(words)):
        if any(words[at : at + count] in openers for count in range(1, longest + 1)):
            return units[at][1]
    return -1


@cache
def _openers() -> tuple[frozenset[tuple[str, ...]], int]:
    """The openers, and how many words the longest has."""
    found = frozenset(_written("openers"))
    return found, max(map(len, found))


@cache
def _leading() -> re.Pattern[str]:
    conjunctions, leads = "|".join(_as_patterns("conjunctions")), "|".join(_as_patterns("leads"))
    return re.compile(rf"\s*(?:(?:{conjunctions})\s+)?(?:(?:{leads})\s*[,:;–—-]+\s*)*", re.I)


def _as_patterns(section: str) -> list[str]:
    phrases = {
        " ".join(p.split()) for raw in _sections()[section].split(";") for p in _spelled_out(raw)
    }
    return [
        r"[\s'’-]+".join(map(re.escape, phrase.split()))
        for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
        if phrase
    ]


def without_lead(text: str, start: int) -> int:
    """Where what is meant begins, behind the words that lead over to it from `start` on."""
    found = _leading().match(text, start)
    return found.end() if found and text[found.end() :].strip() else start
