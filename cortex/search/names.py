"""Which notes a query names: as all that it says, or somewhere in it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..indexer.names import MAX_NAME, heading_of, name_key
from ..indexer.tokens import LexicalQuery, QueryWord, has_unspaced, query_terms
from .channels import EXACT_TITLE, title_share

if TYPE_CHECKING:
    from .corpus import Corpus

MAX_NAMESAKES = 100  # notes of one name
READ_CHARS = 1000  # of a question, in which names are looked for
MAX_WORDS = 8  # of a name inside a question
MAX_UNITS = 16  # the same in characters where words have no spaces
LIKENESS = (1.0, 0.97, 0.94)  # of a name as it was typed; but for case; but for signs and marks
ALIAS = 0.8  # of that for an alias: a note of that title or file name stands before it
HEADING = 0.6  # the same for the heading that a note begins with
_QUOTES = "\"'`“”„«»‘’ "


def named(corpus: Corpus, text: str) -> dict[int, float]:
    """Note ordinal -> how alike, in (0, 1], for notes of which `text` is the name.

    That is title, alias, file name or the heading it begins with, with or without .md, [[brackets]]
    or the folders above, and whatever the case, the marks, the spaces and signs. Behind a folder
    only the file name counts.
    Nothing from an older index.
    """
    index = corpus.names
    wanted = _unwrapped(text)
    if index is None or not wanted or len(wanted) > MAX_NAME:
        return {}
    forms = [(wanted, "")]
    if wanted.casefold().endswith(".md"):
        forms.append((wanted[:-3], ""))
    forms += [(name, folder) for form, _ in forms for folder, _, name in [form.rpartition("/")]]
    forms = [(name, folder) for name, folder in dict.fromkeys(forms) if name_key(name)]
    found: dict[int, float] = {}
    namesakes = index.notes([name_key(name) for name, _ in forms])
    for (name, folder), notes in zip(forms, namesakes, strict=True):
        for ordinal in notes[:MAX_NAMESAKES]:
            note = corpus.note(ordinal)
            own = note["file"].rpartition("/")[2][:-3]
            names = (own,) if folder else (own, note["title"])
            alike = _likeness(name, names)
            if not alike and not folder:
                alike = ALIAS * _likeness(name, note["aliases"])
            if not alike and not folder:
                alike = HEADING * _likeness(name, (heading_of(note),))
            if alike and (not folder or _lies_in(note["file"], folder)):
                found[ordinal] = max(found.get(ordinal, 0.0), alike)
    return found


def is_name(corpus: Corpus, text: str) -> bool:
    """Whether a note is called what was typed, to the letter but for case: signs mean no more.

    Quotes around it do: they ask for a phrase.
    """
    as_typed = {kind * alike for kind in (1, ALIAS, HEADING) for alike in LIKENESS[:2]}
    wanted = text.strip()
    is_quoted = wanted != wanted.strip(_QUOTES)
    return not is_quoted and not as_typed.isdisjoint(named(corpus, wanted).values())


def _unwrapped(text: str) -> str:
    """A name without quotes or brackets around it: `[[Note#Heading|label]]` is `Note`."""
    wanted = " ".join(text.split()).strip(_QUOTES)
    if link := re.fullmatch(r"!?\[\[([^\[\]|#]+)(?:[#|][^\[\]]*)?\]\]", wanted):
        return link[1].strip()
    return wanted


def _lies_in(path: str, folder: str) -> bool:
    """Whether the folders above a note end in those of `folder`."""
    wanted = [name_key(part) for part in folder.strip("/").split("/") if part not in ("", ".")]
    above = [name_key(part) for part in path.split("/")[:-1]]
    return not wanted or above[-len(wanted) :] == wanted


def _likeness(name: str, names: Iterable[str]) -> float:
    """Of the one of `names` that is most alike; 0 where none has the same key."""
    wanted, key = unicodedata.normalize("NFC", name), name_key(name)
    best = 0.0
    for own in (unicodedata.normalize("NFC", known) for known in names):
        if own == wanted:
            return LIKENESS[0]
        if own.casefold() == wanted.casefold():
            best = LIKENESS[1]
        elif name_key(own) == key:
            best = max(best, LIKENESS[2])
    return best


def mentioned(corpus: Corpus, text: str) -> list[int]:
    """The ordinals of notes that have a name which stands somewhere in `text`, ascending."""
    index = corpus.names
    if index is None:
        return []
    keys = dict.fromkeys(_windows(text[:READ_CHARS]))
    found = {note for notes in index.notes(list(keys)) for note in notes[:MAX_NAMESAKES]}
    return sorted(found)


def _windows(text: str) -> Iterable[str]:
    """The keys of what may be a name in a text: neighbouring words, or characters."""
    words = [key for word in text.split() if any(map(str.isalnum, key := name_key(word)))]
    for first in range(len(words)):
        for last in range(first + 1, min(first + MAX_WORDS, len(words)) + 1):
            yield "".join(words[first:last])
    for word in words:
        if has_unspaced(word):
            for first in range(len(word)):
                for last in range(first + 2, min(first + MAX_UNITS, len(word)) + 1):
                    yield word[first:last]


def title_shares(
    corpus: Corpus,
    notes: Iterable[int],
    whole: Iterable[int],
    query: LexicalQuery,
    rarity: Mapping[str, float],
) -> dict[int, float]:
    """note ordinal -> how fully the query names it, from above 0 to EXACT_TITLE.

    By title_share, divided by the root of the number of these notes that share the name. whole:
    notes of which the query is known to be the name, whatever its words.
    """
    owners: dict[tuple[QueryWord, ...], list[tuple[int, float]]] = {}
    for note in notes:
        record = corpus.note(note)
        for name in (record["title"], *record["aliases"]):
            words = _words_of_name(name[:MAX_NAME], corpus.languages)
            share = title_share(words, query.words, rarity)
            if share > 0:
                owners.setdefault(words, []).append((note, share))
    shares: dict[int, float] = {}
    for shared in owners.values():
        for note, share in shared:
            shares[note] = max(shares.get(note, 0.0), share / math.sqrt(len(shared)))
    of_whole = list(whole)
    for note in of_whole:
        share = EXACT_TITLE / math.sqrt(len(of_whole))
        shares[note] = max(shares.get(note, 0.0), share)
    return shares


@lru_cache(maxsize=8192)
def _words_of_name(name: str, languages: tuple[str, ...]) -> tuple[QueryWord, ...]:
    return query_terms(name, languages).words
