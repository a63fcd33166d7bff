"""Notes that may be one too many: the same title, alias or text."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Json

_Record = Mapping[str, Any]

NEAR = 0.85  # of the shingles of two texts (Jaccard's)
_SHINGLE = 9  # letters and digits
_LEAST = 120  # letters of a text that is compared for nearness
_BANDS, _ROWS = 8, 4  # at .85 a pair is missed in 0.2 % of the cases, at .5 one in two is looked at


def duplicates(
    notes: Iterable[_Record], chunks: Iterable[_Record], *, near: bool = False
) -> list[dict[str, Json]]:
    """Groups of two or more notes, by kind and key: {kind, key, name, nodes, files}, by path.

    name: the title or alias as the first of them writes it; None for texts.
    notes, chunks: the records of notes.jsonl and chunks.jsonl. kind "title": their titles differ
    at most in case, composition and blanks; key is that title, folded. "alias": an alias of one is
    an alias or the title of another. "content_hash": their bodies are equal but for blanks at line
    ends; key is the SHA-256; empty bodies are no duplicates. near: also kind "near", bodies of
    which NEAR is the same and every number is; key is the first path. Groups of equal text are
    told once.
    """
    listed = sorted(notes, key=lambda note: str(note["file"]))
    written: dict[str, str] = {}  # folded -> as it is written first
    titles: dict[str, set[str]] = {}
    aliases: dict[str, set[str]] = {}
    for note in listed:
        for found, names in ((titles, [note["title"]]), (aliases, note["aliases"])):
            for name in map(str, names):
                written.setdefault(_folded(name), name)
                found.setdefault(_folded(name), set()).add(note["file"])
    for name, owners in aliases.items():
        owners |= titles.get(name, set())
    bodies = _bodies(chunks, {note["file"]: str(note["title"]) for note in listed})
    hashes: dict[str, set[str]] = {}
    for path, body in bodies.items():
        digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
        hashes.setdefault(digest, set()).add(path)
    groups = [("title", titles), ("alias", aliases), ("content_hash", hashes)]
    if near:
        groups.append(("near", _near({min(same): bodies[min(same)] for same in hashes.values()})))
    return [
        {
            "kind": kind,
            "key": key,
            "name": written.get(key) if kind in ("title", "alias") else None,
            "nodes": [f"note:{path}" for path in files],
            "files": files,
        }
        for kind, found in groups
        for key, owners in sorted(found.items())
        if key and len(owners) > 1
        for files in [sorted(owners)]
    ]


def _bodies(chunks: Iterable[_Record], titles: Mapping[str, str]) -> dict[str, str]:
    """path -> what stands below each heading, for notes that say something."""
    parts: dict[str, list[str]] = {}
    for chunk in chunks:
        path, text = chunk["file"], str(chunk["text"])
        headings = [heading for heading in chunk.get("heading_path") or () if heading]
        is_stub = not headings and text.strip() == titles.get(path, "").strip()
        if text.strip() and not is_stub:
            lines = (line.rstrip() for line in text.strip().splitlines())
            parts.setdefault(path, []).append("\n".join([*map(str, headings), *lines]))
    return {path: "\n\n".join(found) for path, found in parts.items()}


def _near(bodies: Mapping[str, str]) -> dict[str, set[str]]:
    """First path -> the paths of its near texts. MinHash finds pairs, Jaccard proves them."""
    texts: dict[str, tuple[str, list[str]]] = {}  # path -> letters, numbers
    buckets: dict[tuple[int, bytes], list[str]] = {}
    factors = _factors()
    for path in sorted(bodies):
        folded = unicodedata.normalize("NFKC", bodies[path]).casefold()
        letters = "".join(re.findall(r"[^\W_]+", folded))
        if len(letters) < _LEAST:
            continue
        texts[path] = letters, re.findall(r"\d+(?:[.,:]\d+)*", folded)
        found = _shingles(letters)
        least = np.array([(found * factor).min() for factor in factors], dtype=np.uint64)
        for band in range(_BANDS):
            key = (band, least[band * _ROWS : (band + 1) * _ROWS].tobytes())
            buckets.setdefault(key, []).append(path)
    leader: dict[str, str] = {path: path for path in texts}

    def first(path: str) -> str:
        while leader[path] != path:
            path = leader[path]
        return path

    for members in buckets.values():
        for at, path in enumerate(members[1:], start=1):
            # With the one before it and the first: a bucket of many copies is not compared whole.
            for other in {members[0], members[at - 1]}:
                one, two = sorted((first(path), first(other)))
                if one != two and _are_near(texts[path], texts[other]):
                    leader[two] = one
    groups: dict[str, set[str]] = {}
    for path in texts:
        groups.setdefault(first(path), set()).add(path)
    return groups


def _are_near(one: tuple[str, list[str]], other: tuple[str, list[str]]) -> bool:
    if one[1] != other[1]:  # two versions of a thing differ in their numbers
        return False
    shingles, others = _shingles(one[0]), _shingles(other[0])
    shared = len(np.intersect1d(shingles, others, assume_unique=True))
    return shared >= NEAR * (len(shingles) + len(others) - shared)


def _shingles(letters: str) -> NDArray[np.uint64]:
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    spread = codes.astype(np.uint64)
    count = len(spread) - _SHINGLE + 1
    hashed = np.zeros(count, dtype=np.uint64)
    for at in range(_SHINGLE):
        hashed = hashed * np.uint64(0x100000001B3) + spread[at : at + count]
    hashed ^= hashed >> np.uint64(29)
    hashed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.unique(hashed ^ (hashed >> np.uint64(32)))


def _factors() -> list[np.uint64]:
    """Odd numbers: multiplying by one, modulo 2**64, is a permutation."""
    value, found = 0x9E3779B97F4A7C15, []
    for _ in range(_BANDS * _ROWS):
        value = (value * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append(np.uint64(value | 1))
    return found


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
