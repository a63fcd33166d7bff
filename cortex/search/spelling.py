"""Words of a query that no note has, and the words of the notes that were meant."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..indexer.names import name_key, names_of
from ..indexer.tokens import LexicalQuery, fold_marks, has_unspaced, query_terms
from ..indexer.vocabulary import NAME, Vocabulary, Word

if TYPE_CHECKING:
    from .corpus import Corpus

CORRECTED = 0.7  # what a word that was put in the place of another counts in BM25
MIN_LETTERS = 4
SHORT = 5  # letters: many a word has neighbours, so only a name, or a swap, is a slip
RARE = 10  # notes: a word of more is no proper name that was typed small, with another letter
LONG = 8  # letters: two slips are one word still, in a name
VERY_LONG = 10  # letters: in any other, too
LARGE_VAULT = 1000  # notes: from there on a word of one single note may be a slip itself
MOST = 4  # words of one query
# Languages that write words as one, and those that put the article or `and` before one.
JOINING = frozenset(
    ("ar", "da", "de", "et", "fi", "fo", "he", "hu", "is", "nb", "nl", "nn", "no", "sv")
)
JOINING_SHARE = 0.05  # of the notes in them, from where on words are looked for in others
PART = 5  # letters: the least of a part that stands for a whole word
WHOLES = 3  # words that one part may stand for
_LINKS = ("", "s", "es", "n", "en", "er", "e")  # between the parts
_ENDING = 1  # letters, and one a slip: what differs but there is another form, if in no name
_WORD = re.compile(
    rf"(?<![\w@#/\\.:&+'\u2019-])[^\W\d_]{{{MIN_LETTERS},}}(?=['\u2019]s\b|(?!['\u2019&+/\\@#:.-]?\w))"
)


@dataclass(frozen=True, slots=True)
class Corrected:
    """A query whose words are all in the notes, as far as could be told."""

    text: str
    words: LexicalQuery
    weighed: LexicalQuery  # the same, for BM25: what was corrected counts less
    corrections: tuple[tuple[str, str], ...]  # (as typed, as asked for)


def correct(
    corpus: Corpus,
    text: str,
    words: LexicalQuery,
    frequency: Callable[[set[str]], Mapping[str, int]],
) -> Corrected:
    """The query with what is surely misspelt in it as the notes spell it; else as it was.

    Only words of letters that no note has are touched, and none of a script without spaces, none
    with capitals inside, no short one in capitals.
    """
    unknown = list(_unknown(corpus, text, frequency))[:MOST]
    if not unknown:
        return Corrected(text, words, words, ())
    whole = _near_name(corpus, text)
    if whole is not None:
        made = [(text.strip(), whole)]
        better = whole
    else:
        made, pieces, at = [], [], 0
        for match in unknown:
            near = nearest(corpus.vocabulary, match[0], len(corpus.notes))
            instead = joined_or_parted(corpus, match[0]) if near is None else [near.text]
            if instead and instead != [match[0].casefold()]:
                is_capital = match[0][0].isupper()
                used = " ".join(map(str.capitalize, instead) if is_capital else instead)
                made.append((match[0], used))
                pieces += [text[at : match.start()], used]
                at = match.end()
        better = "".join([*pieces, text[at:]])
    if not made:
        return Corrected(text, words, words, ())
    known = {word.variants for word in words.words}
    read = query_terms(better, corpus.languages)
    weighed = tuple(
        word if word.variants in known else replace(word, count=word.count * CORRECTED)
        for word in read.words
    )
    return Corrected(better, read, replace(read, words=weighed), tuple(dict.fromkeys(made)))


def _unknown(
    corpus: Corpus, text: str, frequency: Callable[[set[str]], Mapping[str, int]]
) -> Iterator[re.Match[str]]:
    for match in _WORD.finditer(text):
        word = match[0]
        if has_unspaced(word) or (word.isupper() and len(word) < LONG):
            continue
        if not word.isupper() and word[1:] != word[1:].lower():
            continue
        asked = query_terms(word, corpus.languages).words
        variants = {term for part in asked for term in part.variants}
        found = frequency(variants)  # empty while the index cannot be asked
        if found and not any(found.values()):
            yield match


def _near_name(corpus: Corpus, text: str) -> str | None:
    """The name of several words, as it is written, that a whole query is a slip of."""
    key = name_key(text)
    if corpus.names is None or len(text.split()) < 2 or not key.isalpha() or has_unspaced(key):
        return None
    near = nearest(corpus.vocabulary, NAME + key, len(corpus.notes))
    if near is None:
        return None
    wanted = near.text.removeprefix(NAME)
    for record in map(corpus.note, corpus.names.notes([wanted])[0]):
        if corpus.serves(record["file"]):
            return next((name for name in names_of(record) if name_key(name) == wanted), None)
    return None


def nearest(vocabulary: Vocabulary, typed: str, notes: int) -> Word | None:
    """The word of the vocabulary that was most likely meant by one that it does not have.

    One slip away, two in a long word: a letter missing, too many, another one, or two swapped.
    The first letter is right, or swapped with the second. Of several, the nearest, then one by a
    swap or a doubled letter, then one in names, then the commonest. notes: how many there are.
    """
    folded = fold_marks(typed.casefold())
    sign = NAME if folded.startswith(NAME) else ""
    letters = folded.removeprefix(NAME)
    most = 2 if len(letters) >= LONG else 1
    best: tuple[int, bool, bool, int, str] | None = None
    chosen: Word | None = None
    starts = dict.fromkeys((sign + letters[:1], sign + letters[1:2]))
    for word in (word for start in starts for word in vocabulary.beginning_with(start)):
        own = fold_marks(word.text).removeprefix(NAME)
        if abs(len(own) - len(letters)) > most or len(set(own) ^ set(letters)) > 2 * most:
            continue
        if not word.names and (word.notes < 2 and notes >= LARGE_VAULT):
            continue
        slips = distance(letters, own, most)
        in_name = bool(word.names)
        if len(letters) == len(own) <= SHORT and not (sign or typed[:1].isupper()):
            in_name = in_name and word.notes <= RARE  # `rice` is not `rich`, as in `Rich Text`
        if slips > most or not _is_slip(letters, own, slips, in_name=in_name):
            continue
        rank = (slips, not _is_certain(letters, own), not word.names, -word.notes, word.text)
        if best is None or rank < best:
            best, chosen = rank, word
    return chosen


def joined_or_parted(corpus: Corpus, typed: str) -> list[str]:
    """Words of the notes that a word is a part of, else the two that it is made of; mostly none.

    `Schifffahrt` is in `Binnenschifffahrt`, and `Fahrradschloss` in notes on `Fahrrad` and
    `Schloss`: where a fair share of the notes is in a language that joins words.
    """
    counts: Mapping[str, int] = corpus.stamp.values["languages"]
    joining = sum(count for language, count in counts.items() if language in JOINING)
    letters = unicodedata.normalize("NFC", typed).casefold()
    if joining < JOINING_SHARE * sum(counts.values()) or len(letters) < PART:
        return []
    vocabulary = corpus.vocabulary
    if letters in vocabulary:
        return []
    found = {word.text: (0, -word.notes) for word in vocabulary.beginning_with(letters)}
    # What stands last says what the whole is.
    found.update({word.text: (-1, -word.notes) for word in vocabulary.ending_with(letters)})
    if found:
        return sorted(found, key=lambda word: (*found[word], len(word), word))[:WHOLES]
    best: tuple[int, list[str]] = (0, [])
    for at in range(len(letters) - MIN_LETTERS, MIN_LETTERS - 1, -1):
        last = letters[at:]
        if last not in vocabulary:
            continue
        for link in _LINKS:
            first = letters[:at].removesuffix(link)
            is_linked = letters[:at].endswith(link) and len(first) >= MIN_LETTERS
            if is_linked and first in vocabulary and min(len(first), len(last)) > best[0]:
                best = min(len(first), len(last)), [first, last]
    return best[1]


def _is_slip(typed: str, own: str, slips: int, *, in_name: bool) -> bool:
    """Whether a difference looks like a slip, and not like another word."""
    if _is_certain(typed, own):
        return True
    if in_name and typed[:1] == own[:1]:
        return True
    if typed[:1] != own[:1] or len(typed) <= SHORT:
        return False
    if slips > 1 and len(typed) < (VERY_LONG if len(typed) != len(own) else VERY_LONG + 1):
        return False
    same = next((i for i, (a, b) in enumerate(zip(typed, own, strict=False)) if a != b), None)
    if same is None:  # one is the beginning of the other
        return slips < 2
    is_ending = max(len(typed), len(own)) - same <= _ENDING + slips
    return not is_ending or (slips < 2 and len(typed) != len(own))


def _is_certain(typed: str, own: str) -> bool:
    """Whether only neighbours are swapped, or letters are doubled or not."""
    return sorted(typed) == sorted(own) or _undoubled(typed) == _undoubled(own)


def _undoubled(word: str) -> str:
    return re.sub(r"(.)\1", r"\1", word)


def distance(a: str, b: str, most: int) -> int:
    """How many slips lead from one word to another (Damerau); above `most` only that it is.

    A slip is a letter missing, too many, another one, or two neighbours swapped, each part once.
    """
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        row = [i]
        for j, other in enumerate(b, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]
