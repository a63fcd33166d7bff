"""What a broken link was probably meant to name.

Names are compared as words without case, accents and punctuation. What is the same then is meant:
a moved note, another spelling. Else a name is near when each of its words is the same but for a
slip of typing, numbers are equal ("Chapter 1" is not "Chapter 2"), and only then when the words
of one are most of the other's. Names to compare are found by the pairs of letters that they share,
so that ten thousand broken links in ten thousand notes take seconds.
"""

from __future__ import annotations

import os
import re
import unicodedata
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ..search.spelling import distance
from ..types import Json

MOST = 3  # suggestions for one link; where more are as near, none is
_MOST_WORDS = 24  # of a name that are compared
_COMPARED = 10  # names that share the most pairs of letters
_LEAST_SHARED = 0.42  # of the pairs of letters, from where a name is compared
_LEAST_COVERED = 0.55  # of a longer name's letters by the words of a shorter one
_LEAST_COVERED_UNSPACED = 0.6  # the same where there are no blanks between words
_LEAST_UNSPACED = 4  # characters; fewer begin many a name

_Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Name:
    """A name, folded."""

    words: tuple[str, ...]
    joined: str
    digits: tuple[str, ...]
    is_dotted: bool  # as Dendron writes names: `proj.kiln.soda-firing`

    @classmethod
    def of(cls, text: str) -> _Name:
        plain = unicodedata.normalize("NFKD", text).casefold()
        plain = "".join(char for char in plain if not unicodedata.combining(char))
        # Decomposed Hangul is put together again, or a slip in a syllable would be less than one.
        words = tuple(_WORD.findall(unicodedata.normalize("NFC", plain))[:_MOST_WORDS])
        digits = tuple(re.findall(r"\d+", " ".join(words)))
        is_dotted = "." in text.strip(".") and not re.search(r"\s", text)
        return cls(words, "".join(words), digits, is_dotted)


_WORD = re.compile(r"[^\W_]+")


class _Names:
    """Many names and what each belongs to, to find near ones in."""

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        """named: (name, owner); an owner may have several names, and a name several owners."""
        owners: dict[_Name, dict[str, None]] = {}
        for text, owner in named:
            name = _Name.of(text)
            if name.joined:
                owners.setdefault(name, {}).setdefault(owner)
        self._names = list(owners)
        self._owners = [tuple(found) for found in owners.values()]
        self._same: dict[str, dict[str, None]] = {}
        self._reordered: dict[tuple[str, ...], dict[str, None]] = {}
        postings: dict[str, array[int]] = {}
        sizes = array("i")
        for at, name in enumerate(self._names):
            self._same.setdefault(name.joined, {}).update(owners[name])
            if len(name.words) > 1:
                self._reordered.setdefault(_sorted(name), {}).update(owners[name])
            pairs = _pairs(name.joined)
            sizes.append(len(pairs))
            for pair in pairs:
                postings.setdefault(pair, array("i")).append(at)
        self._postings = {pair: np.frombuffer(at, dtype=np.intc) for pair, at in postings.items()}
        self._sizes: NDArray[np.intc] = np.array(sizes, dtype=np.intc)

    def same(self, name: _Name) -> list[str]:
        """The owners of a name that is the same but for spelling, else for the order of words."""
        return list(self._same.get(name.joined) or self._reordered.get(_sorted(name)) or ())

    def near(self, name: _Name) -> list[str]:
        """The owners of the names nearest, if any is near enough; none when more than MOST are."""
        best: list[int] = []
        least = (9, 0.0)
        for at in self._alike(name):
            rank = _difference(name, self._names[at])
            if rank is not None and rank <= least:
                best, least = ([*best, at] if rank == least else [at]), rank
        found = list(dict.fromkeys(owner for at in best for owner in self._owners[at]))
        is_part = least[0] == _PART
        return found if len(found) <= (1 if is_part else MOST) else []

    def _alike(self, name: _Name) -> list[int]:
        """Those that share the most pairs of letters, most first."""
        pairs = _pairs(name.joined)
        lists = [self._postings[pair] for pair in pairs if pair in self._postings]
        if not lists:
            return []
        shared = np.bincount(np.concatenate(lists), minlength=len(self._names))
        share = 2 * shared / (self._sizes + len(pairs))
        likely = np.flatnonzero(share >= _LEAST_SHARED)
        order = np.lexsort((likely, -share[likely]))[:_COMPARED]
        found: list[int] = likely[order].tolist()
        return found


def _sorted(name: _Name) -> tuple[str, ...]:
    """The words in order; not the numbers, whose order in a date tells."""
    return (*sorted(name.words), *name.digits)


_PART = 5  # as a difference: more than any number of slips


def _difference(one: _Name, other: _Name) -> tuple[int, float] | None:
    """(slips between two names, or _PART; how little of the longer is shared); None for too many.

    Smaller is nearer.
    """
    if one.digits != other.digits:
        return None
    slips = _slips(one, other)
    if slips is not None:
        return slips, 0.0
    short, long = sorted((one, other), key=lambda name: len(name.joined))
    covered = len(short.joined) / len(long.joined)
    if _is_unspaced(short.joined):
        is_part = short.joined in long.joined and len(short.joined) >= _LEAST_UNSPACED
        least = _LEAST_COVERED_UNSPACED
    else:
        is_part = len(short.words) > 1 and _are_within(short.words, long.words)
        least = _LEAST_COVERED
    if one.is_dotted and other.is_dotted and one.words[-1] != other.words[-1]:
        return None  # `proj.kiln` is what `proj.kiln.glaze` belongs to, and not the same
    return (_PART, 1 - covered) if is_part and covered >= least else None


def _slips(one: _Name, other: _Name) -> int | None:
    most = _slips_allowed(one.joined)
    if len(one.words) != len(other.words):  # parted or joined, with a slip at most
        if one.joined[0] != other.joined[0] or most < 1:
            return None
        count = distance(one.joined, other.joined, 1)
        return count if count <= 1 else None
    total = 0
    pairs = list(zip(one.words, other.words, strict=True))
    carried = sum(len(word) for word, meant in pairs if word == meant)
    for word, meant in pairs:
        if word != meant:
            slips = _slips_in_word(word, meant, carried)
            if slips is None:
                return None
            total += slips
    return total if total <= most else None


def _slips_in_word(word: str, meant: str, carried: int) -> int | None:
    """carried: letters of the name's other words, those that are the same."""
    short = min(len(word), len(meant))
    allowed = min(_slips_allowed(word), _slips_allowed(meant))
    is_longer = word.startswith(meant) or meant.startswith(word)
    is_carried = carried >= _CARRYING or (is_longer and carried >= _CARRYING - 1)
    if is_carried and short >= (2 if is_longer else 3) and not _is_unspaced(word):
        allowed = max(allowed, 1)
    elif word[0] != meant[0]:
        return None
    elif short < _SHORT and not is_longer:
        return None  # `note` is `notes`, and `sudo` is not `scudo`
    count = distance(word, meant, allowed)
    if count > allowed or (count > 1 and word[0] != meant[0]):
        return None  # `inductive` is not `deductive`
    is_other_letter = count == 1 and len(word) == len(meant) and sorted(word) != sorted(meant)
    return None if is_other_letter and short <= _SHORT else count


def _is_a_slip_from(name: _Name, place: str) -> bool:
    """Whether a heading has one letter more, less or other: a note has few, so also short ones."""
    meant = _Name.of(place)
    if place.startswith("^") or len(meant.joined) < _LEAST_HEADING or name.digits != meant.digits:
        return False
    return name.joined[0] == meant.joined[0] and distance(name.joined, meant.joined, 1) == 1


_LEAST_HEADING = 3  # letters
_CARRYING = 4  # letters
_SHORT = 5  # letters; with another letter such a word is mostly another word: data, date


def _slips_allowed(word: str) -> int:
    if _is_unspaced(word):  # each character is a word, or nearly
        return 1 if len(word) >= 6 else 0
    return 0 if len(word) < 4 else 1 if len(word) < 9 else 2 if len(word) < 15 else 3


def _is_unspaced(text: str) -> bool:
    return any("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7a3" for char in text)


def _are_within(words: Sequence[str], others: Sequence[str]) -> bool:
    count = len(words)
    return any(tuple(others[at : at + count]) == tuple(words) for at in range(len(others)))


def _pairs(joined: str) -> set[str]:
    text = f"^{joined[:120]}$"
    return {text[at : at + 2] for at in range(len(text) - 1)}


class Suggester:
    """Finds what broken links were meant to name among notes, their headings, and files."""

    def __init__(self, notes: Iterable[_Record], files: Collection[str] = ()) -> None:
        named: list[tuple[str, str]] = []
        self._places: dict[str, list[str]] = {}  # path -> headings and block ids
        self._stems: dict[str, int] = {}  # folded file name -> how many notes have it
        tails: dict[str, list[str]] = {}
        for note in notes:
            path = str(note["file"])
            stem = _stem(path.rpartition("/")[2])
            names = (stem, note["title"], *note["aliases"])
            named += [(str(name), path) for name in names]
            self._places[path] = [
                *(str(heading[1]) for heading in note["headings"]),
                *(f"^{block}" for block in note["blocks"]),
            ]
            folded = _folded(stem)
            self._stems[folded] = self._stems.get(folded, 0) + 1
            if (tail := _tail(stem)) is not None:
                tails.setdefault(_Name.of(tail).joined, []).append(path)
        self._notes = _Names(named)
        self._tails = tails
        self._files = _Names((_stem_of_file(path), path) for path in files)
        self._headings: dict[str, _Names] = {}
        self._found: dict[tuple[str, str], list[str]] = {}

    def for_link(self, link: _Record) -> dict[str, Json]:
        """suggestion, suggested_link and suggestions of a record of graph_broken.jsonl."""
        kind, raw, source = link["kind"], str(link["target_raw"]), str(link["source"])
        if kind == "ambiguous":  # its candidates say more
            return _told([], None)
        if kind in ("missing_heading", "missing_block"):
            path = str(link.get("target") or source)
            place = self._place(path, raw.partition("#")[2] if "#" in raw else raw)
            if place is None:
                return _told([], None)
            return _told([path], self._written(path, source, raw, place))
        if kind == "missing_attachment":
            found = self._nearest(raw, source, self._files, "file")
            link_text = f"[[{found[0]}]]" if found else None
            return _told(found, link_text)
        found = [path for path in self._nearest(raw, source, self._notes, "note") if path != source]
        return _told(found, self._written(found[0], source, raw) if found else None)

    def _nearest(self, raw: str, source: str, among: _Names, what: str) -> list[str]:
        """At most MOST paths, those in folders like the written one, then the note's own, first."""
        known = self._found.get((what, raw))
        if known is None:
            known = self._found[what, raw] = self._candidates(raw, among, what)
        if len(known) < 2:
            return known
        folder = raw.replace("\\", "/").rpartition("/")[0]
        own = source.rpartition("/")[0]
        ranked = sorted(
            known, key=lambda path: (-_shared(folder, path), -_shared(own, path), len(path), path)
        )
        if len(ranked) > MOST:  # a name that many have: only one that stands out
            best, next_best = ((_shared(folder, path), _shared(own, path)) for path in ranked[:2])
            return ranked[:1] if best > next_best else []
        return ranked

    def _candidates(self, raw: str, among: _Names, what: str) -> list[str]:
        written = raw.replace("\\", "/").strip("/ ")
        last = written.rpartition("/")[2]
        base = _stem_of_file(last) if what == "file" else _stem(last)
        name = _Name.of(base)
        if not name.joined:
            return []
        whole = _Name.of(_stem(written))
        if found := among.same(name) or (among.same(whole) if "/" in written else []):
            return self._of_kind(found, last, what)
        if what == "note" and (tail := _tail(base)) is not None:
            found = self._tails.get(_Name.of(tail).joined, [])
            if len(found) == 1:
                return list(found)
        return self._of_kind(among.near(name), last, what)

    def _of_kind(self, found: list[str], written: str, what: str) -> list[str]:
        """Of files those with the same ending, if it is written."""
        ending = written.rpartition(".")[2].lower()
        if what == "note" or "." not in written:
            return found
        return [path for path in found if path.lower().endswith(f".{ending}")]

    def _place(self, path: str, subpath: str) -> str | None:
        """The heading or block of a note that a subpath was probably meant to name."""
        places = self._places.get(path)
        last = subpath.rpartition("#")[2].strip()
        if not places or not last:
            return None
        names = self._headings.get(path)
        if names is None:
            names = self._headings[path] = _Names((place, place) for place in places)
        name = _Name.of(last)
        if not name.joined:
            return None
        is_block = last.startswith("^")
        found = names.same(name) or names.near(name)
        found = [place for place in found if place.startswith("^") == is_block]
        if not found and not is_block:
            found = [place for place in places if _is_a_slip_from(name, place)]
            found = found if len(found) == 1 else []
        return found[0] if found else None

    def _written(self, path: str, source: str, raw: str, place: str = "") -> str:
        """The link as its note would write it: a wikilink, or Markdown where `raw` ends in .md.

        Hardly anybody but Markdown writes that, and the graph does not hold how a link was written.
        """
        target = raw.partition("#")[0]
        if target[-3:].casefold() == ".md":
            there = os.path.relpath(f"/{path}", f"/{source.rpartition('/')[0]}").replace(
                os.sep, "/"
            )
            mark = f"#{quote(place)}" if place else ""
            return f"[{_stem(path.rpartition('/')[2])}]({quote(there)}{mark})"
        name = "" if raw.startswith("#") else self._link_name(path)
        return f"[[{name}#{place}]]" if place else f"[[{name}]]"

    def _link_name(self, path: str) -> str:
        """How a wikilink names the note: by its file name if no other has it, else by its path."""
        stem = _stem(path.rpartition("/")[2])
        return stem if self._stems.get(_folded(stem)) == 1 else _stem(path)


def _told(paths: Sequence[str], link: str | None) -> dict[str, Json]:
    return {
        "suggestion": paths[0] if paths else None,
        "suggested_link": link,
        "suggestions": list(paths[:MOST]),
    }


def _shared(folder: str, path: str) -> int:
    """How many folders of one path the other has too, whatever their order; without case."""
    wanted = {_folded(part) for part in folder.split("/") if part not in ("", ".", "..")}
    return len(wanted & {_folded(part) for part in path.split("/")[:-1]})


def _tail(stem: str) -> str | None:
    """What a dotted name as Dendron writes it ends with: `proj.kiln.soda-firing`, where telling."""
    tail = stem.rpartition(".")[2]
    is_telling = len(tail) >= _LEAST_TAIL or len(_WORD.findall(tail)) > 1
    is_dotted = "." in stem.strip(".") and not re.search(r"\s", stem)
    return tail if is_dotted and is_telling and not tail.isdigit() else None


_LEAST_TAIL = 9  # letters of one word


def _stem(path: str) -> str:
    return path[:-3] if path[-3:].lower() == ".md" and len(path) > 3 else path


def _stem_of_file(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()
