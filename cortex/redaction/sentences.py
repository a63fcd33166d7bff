"""Passwords in a sentence, of which no sign but their looks says where they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding
from .names import OTHER, PASSWORD, starts_of_names
from .values import is_mixed, is_of_all_kinds, is_strong, is_surely_random

_OPEN = r"[\"'`*(“„«「‘]{0,3}"
_WORD = r"(?P<value>[^\s\"'`“”„«»「」]{6,200})"
# `Kennwort ...`, `password to ...`, `PASSWORD '...'`
_BEHIND = re.compile(
    rf"(?:{PASSWORD}|(?<![^\W_])(?:pwd?|mdp|clave)),?\ "
    rf"(?:(?:to|now|auf|à|en|a|para|in|naar|till|na|of)\ )?{_OPEN}{_WORD}",
    re.VERBOSE | re.IGNORECASE,
)
# `apikey ...`, of which more is asked
_KEY_BEHIND = re.compile(
    rf"(?:{OTHER})s?\ [\"'`*(]{{0,3}}(?P<value>[A-Za-z0-9_\-.]{{24,400}})",
    re.VERBOSE | re.IGNORECASE,
)
# `... as the password`
_BEFORE = re.compile(
    rf"(?<![^\s\"'`(“„«]){_WORD}[\"'`*)”“»]{{0,3}}\ (?:as|als|comme|como|come"
    r"|für|for|pour|para|per)\ (?:(?:the|my|a|das|mein|le|la|o|su|mi|il)\ )?\Z",
    re.VERBOSE | re.IGNORECASE,
)
# `admin / ...` behind a word for a login
_LOGIN = re.compile(
    r"(?i)(?<![A-Za-z])(?:creds?|credentials?|login|log-?in|zugang(?:sdaten)?|acceso|acesso|accès"
    r"|账号|アカウント|ログイン)[\"'`*_)]{0,4}[ \t]{0,3}[:=：][ \t*_`\"']{0,5}[\w.@+\-]{2,60}"
    r"(?:[ \t]{1,3}[/|,][ \t]{1,3}|[:/／])(?!/)"
    rf"{_OPEN}{_WORD}"
)
_LOGIN_WORDS = (
    "cred",
    "login",
    "log-in",
    "zugang",
    "acces",
    "aces",
    "accès",
    "账号",
    "アカウント",
    "ログイン",
)


def search(text: str) -> Iterator[Finding]:
    """Passwords that a sentence tells; unordered."""
    for start in starts_of_names(text):
        behind = _BEHIND.match(text, start)
        if behind is not None and (value := _trimmed(behind["value"])) and is_strong(value):
            yield Finding(behind.start("value"), behind.start("value") + len(value), "password")
        key = _KEY_BEHIND.match(text, start)
        value = _trimmed(key["value"]) if key is not None else ""
        if key is not None and is_of_all_kinds(value) and is_surely_random(value, 20):
            yield Finding(key.start("value"), key.start("value") + len(value), "api_key")
        before = text[max(0, start - 230) : start]
        if before.endswith(" ") and (match := _BEFORE.search(before)) and is_strong(match["value"]):
            shift = start - len(before)
            yield Finding(shift + match.start("value"), shift + match.end("value"), "password")
    small = text.lower()
    for match in _LOGIN.finditer(text) if any(word in small for word in _LOGIN_WORDS) else ():
        value = _trimmed(match["value"])
        if is_strong(value) or (is_mixed(value) and re.search("[0-9]", value)):
            yield Finding(match.start("value"), match.start("value") + len(value), "password")


def _trimmed(value: str) -> str:
    return value.rstrip(".,;:)]}*。，")
