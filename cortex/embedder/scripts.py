"""How much of a text an embedder can read at all: by the scripts of the languages it knows."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

# Scripts, as the names of their characters begin, of languages that are not written in Latin.
_SCRIPTS = {
    "am": ("ETHIOPIC",),
    "ar": ("ARABIC",),
    "bg": ("CYRILLIC",),
    "bn": ("BENGALI",),
    "el": ("GREEK",),
    "fa": ("ARABIC",),
    "he": ("HEBREW",),
    "hi": ("DEVANAGARI",),
    "hy": ("ARMENIAN",),
    "ja": ("CJK", "HIRAGANA", "KATAKANA"),
    "ka": ("GEORGIAN",),
    "ko": ("HANGUL", "CJK"),
    "mk": ("CYRILLIC",),
    "mr": ("DEVANAGARI",),
    "ru": ("CYRILLIC",),
    "sr": ("CYRILLIC", "LATIN"),
    "ta": ("TAMIL",),
    "te": ("TELUGU",),
    "th": ("THAI",),
    "uk": ("CYRILLIC",),
    "ur": ("ARABIC",),
    "zh": ("CJK",),
}
_LETTERS_A_WORD = 5  # of Latin, Cyrillic and the like; one of Han is about half a word
_DENSE = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL")


def readable_share(text: str, languages: Sequence[str]) -> float:
    """The share of a text's letters that are of a script of `languages`, in [0, 1].

    A letter of Chinese, Japanese or Korean counts as two and a half of others. 1 where no language
    is named, as that means many, or where there are no letters.
    """
    if not languages:
        return 1.0
    known = {script for code in languages for script in _SCRIPTS.get(code, ("LATIN",))}
    total = read = 0.0
    for char in unicodedata.normalize("NFKC", text):
        if script := _script(char):
            weight = _LETTERS_A_WORD / 2 if script in _DENSE else 1.0
            total += weight
            read += weight if script in known else 0.0
    return read / total if total else 1.0


@lru_cache(maxsize=4096)
def _script(char: str) -> str:
    """How the name of a letter begins, `CJK` or `LATIN`; empty for what is no letter."""
    if not char.isalpha():
        return ""
    return unicodedata.name(char, "").partition(" ")[0].partition("-")[0]
