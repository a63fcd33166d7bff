"""The words of a message, as a full-text table of the host's holds them; and texts in pieces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from ..records.postings import Wanted

MAX_WORDS = 48  # of a message
PIECE = 200  # characters, at most, of a text that is quoted in part

# What asks for earlier talk, whatever it was about, in English, German, Spanish, Portuguese and
# French; without marks on letters.
REMEMBERING: frozenset[str] = frozenset().union(
    *map(
        str.split,
        (
            "remember recall remind told tell said say mentioned mention discussed discuss talked",
            "talk spoke earlier previously conversation conversations",
            "erinnere erinnerst erinnern weisst sagte sagtest gesagt erzahlt erzahlte erwahnt",
            "besprochen besprachen gesprochen vorhin neulich gesprach unterhaltung",
            "recuerdas recuerda dije dijiste dijimos hablamos mencione conversacion",
            "lembra lembras disse dissemos falamos mencionei conversa",
            "rappelles souviens dit parle discute mentionne",
        ),
    )
)

_TERM = re.compile(r"[^\W_]+")
_MAX_SECRETS = 1_000  # of a text
_STAND_IN = 0xF0000  # a character that has no meaning: the first of those put for secrets
_OF_NOBODY = re.compile(f"[{chr(_STAND_IN)}-{chr(_STAND_IN + _MAX_SECRETS)}]")
_LEAST = 3  # characters that a beginning has, where the word has as many
_SEPARATORS = {code: " " for code in range(33, 127) if not chr(code).isalnum() and code != 39}
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？｡])|\n+")


def languages_of(message: str) -> tuple[str, ...]:
    """The language of a message, where it can be told, and English."""
    from ..indexer.tokens import UNSTEMMED, detect_language

    own = detect_language(message)
    return ("en",) if own in (UNSTEMMED, "en") else (own, "en")


def wanted_of(
    message: str, min_chars: int, without: AbstractSet[str] = frozenset()
) -> list[Wanted]:
    """The words of a message but for stop words and those in `without`, in order; none of a message
    that has no others.

    Shorter ones than `min_chars` characters bring nothing in; scripts without spaces give two
    characters at a time, of which each is enough.
    """
    from ..indexer.tokens import ALIAS, fold_marks, has_unspaced, query_terms

    # The host's tables part words at every sign, so compounds are looked for by their parts.
    plain = unicodedata.normalize("NFKC", message).translate(_SEPARATORS)
    languages = languages_of(message)
    asked = query_terms(plain, languages)
    found = []
    for word in () if asked.only_stop_words else asked.words[:MAX_WORDS]:
        # No table of the host's holds a sign that is neither letter nor digit.
        if fold_marks(word.surface) in without or not any(map(str.isalnum, word.surface)):
            continue
        if has_unspaced(word.surface):
            found.append(
                Wanted((word.surface,), _begins_with(word.surface), True, True, word.count)
            )
            continue
        stems = [variant for variant in word.variants if not variant.startswith(ALIAS)]
        forms = (word.surface, fold_marks(word.surface))
        beginnings = {_common(form, stem) for form in forms for stem in (*stems, form)}
        shortest = sorted(b for b in beginnings if b)
        kept = [b for b in shortest if not any(b != o and b.startswith(o) for o in shortest)]
        takes = _has_stem(frozenset(word.variants), languages)
        brings = len(word.surface) >= min_chars
        found.append(Wanted(tuple(kept), takes, brings, False, word.count))
    return found


def _common(form: str, stem: str) -> str:
    """What a word and its stem begin with; "" where that is too little to look for."""
    end = 0
    while end < min(len(form), len(stem)) and form[end] == stem[end]:
        end += 1
    return form[:end] if end >= min(_LEAST, len(form)) else ""


def _has_stem(variants: frozenset[str], languages: Sequence[str]) -> Callable[[str], bool]:
    def takes(term: str) -> bool:
        return any(not variants.isdisjoint(_terms(term, language)) for language in languages)

    return takes


def _begins_with(units: str) -> Callable[[str], bool]:
    return lambda term: term.startswith(units)


def held_by(text: str, words: Sequence[Wanted]) -> frozenset[int]:
    """Which of the words stand in a text, by their numbers."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    terms = set(_TERM.findall(folded))
    found = set()
    for number, word in enumerate(words):
        if word.is_unspaced:
            is_there = any(beginning in folded for beginning in word.beginnings)
        else:
            is_there = any(term.startswith(word.beginnings) and word.takes(term) for term in terms)
        if is_there:
            found.add(number)
    return frozenset(found)


@lru_cache(maxsize=20_000)
def _terms(word: str, language: str) -> frozenset[str]:
    from ..indexer.tokens import terms

    return frozenset(terms(word, language))


def pieces(text: str, limit: int = PIECE) -> list[str]:
    """A text cut at the ends of sentences, else between words, the same way at each time.

    Each piece is on one line and has at most `limit` characters; "" gives none. No secret is cut
    in two: one stays whole in its piece, however long, for the guard to see; where it shows as
    such only beside what another piece has, it is masked.
    """
    if len(text) <= limit:
        return _cut(text, limit)
    from ..redaction import find
    from ..redaction.finding import mask

    text = _OF_NOBODY.sub("", text)
    secrets = {}
    plain, at = [], 0
    for number, found in enumerate(find(text)[:_MAX_SECRETS]):
        secrets[chr(_STAND_IN + number)] = (text[found.start : found.end], mask(found.kind))
        plain += [text[at : found.start], chr(_STAND_IN + number)]
        at = found.end
    kept = []
    for piece in _cut("".join([*plain, text[at:]]), limit):
        for stand_in in _OF_NOBODY.findall(piece):
            secret, masked = secrets[stand_in]
            shown = piece.replace(stand_in, secret)
            is_seen = len(find(shown)) > len(find(piece))
            piece = shown if is_seen else piece.replace(stand_in, masked)
        kept.append(piece)
    return kept


def _cut(text: str, limit: int) -> list[str]:
    found: list[str] = []
    for sentence in _SENTENCE.split(text):
        sentence = " ".join(sentence.split())
        while sentence:
            if found and len(found[-1]) + 1 + len(sentence) <= limit:
                found[-1] += f" {sentence}"
                break
            if len(sentence) <= limit:
                found.append(sentence)
                break
            cut = sentence.rfind(" ", limit // 2, limit)
            cut = cut if cut > 0 else limit
            found.append(sentence[:cut])
            sentence = sentence[cut:].lstrip()
    return found
