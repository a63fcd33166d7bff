"""What the name of a property tells about its value: a password, another secret, or neither."""

from __future__ import annotations

import re
from functools import lru_cache

from .values import (
    SAYS_NOTHING,
    has_digit_or_case,
    is_harmless,
    is_placeholder,
    is_quantity,
    is_secret,
)

# Names that are of a password or of another secret, also within a longer name.
PASSWORD = r"""
    passw[o0]rd | pass(?:wd|phrase|code) | passwort | passwör?ter | kennwort | zugangscode
    | contrase[ñn]a | mot\ de\ passe | senha | palavra-passe | wachtwoord | hasło | heslo | şifre
    | lösenord | salasana | adgangskode | parol[ae] | парол[ьяюе] | 密[码碼] | 口令 | パスワード
    | パスフレーズ | 暗証番号 | 비밀번호 | 암호 | netzwerkschlüssel
    | (?:wlan|wi-?fi|wpa[23]?|network) [\-\ ]? (?:security\ )? (?:key|schlüssel)
    | (?<![^\W_]) psk (?![^\W_])"""
SHORT_PASSWORD = (
    r"(?: (?<![^\W\d_]) | (?-i: (?<=[a-z])(?=P) ) ) (?P<short> pass | pw | mdp | clave )"
)
OTHER = r"""
    secret | token | credential | api[_\-\ ]?key | apikey | api[_\-\ ]?schlüssel
    | clave\ (?:de\ )?api | chave\ (?:de\ )?api | clé\ (?:d['’])?api | api[_\-\ ]?ключ | ключ\ api
    | (?:access|account|private|preshared|encryption|signing|auth|master|licen[sc]e|sharedaccess
      |subscription|product|activation|recovery|restore) [_\-\ ]? key
    | (?:recovery|backup|rescue)[_\-\ ]codes? | api\ ?キー | アクセスキー | トークン | シークレット
    | api\ ?密[钥鑰] | 令牌 | [密秘][钥鑰匙] | 金鑰 | 토큰 | токен"""

# How these begin. Looking for them first makes most texts ten times cheaper to search.
_BEGINNINGS = (
    *(
        "pass",
        "pw",
        "mdp",
        "clave",
        "kennwort",
        "zugangscode",
        "contrase",
        "mot",
        "senha",
        "palavra",
    ),
    *("wachtwoord", "heslo", "salasana", "adgangskode", "parol", "secret", "token", "credential"),
    *("api", "chave", "wlan", "wifi", "wi-fi", "wpa", "netzwerk", "network", "psk", "access"),
    *("account", "private", "preshared", "encryption", "signing", "auth", "master", "licen"),
    *("shared", "subscription", "product", "activation", "recovery", "restore", "backup", "rescue"),
)
_NOT_ASCII = (
    *("hasło", "şifre", "lösenord", "парол", "ключ", "密", "秘", "口令", "パス", "暗証番号"),
    *("비밀번호", "암호", "clé", "アクセスキー", "トークン", "シークレット", "令牌", "金鑰"),
    *("토큰", "токен"),
)
# Letters that an expression without regard to case takes for these.
_SAME = str.maketrans("ſıİ", "sii")
MAX_NAME = 100  # characters of a property's name that are looked at: its last
# A property's name as a whole: `db_password`, `api keys`, `dbPass2`, `token_prod`.
_SECRET_NAME = re.compile(
    rf"""(?: (?P<password> {PASSWORD} | pwd | {SHORT_PASSWORD} ) | {OTHER} )
    (?P<plural> s? ) [0-9]{{0,3}} (?P<rest> (?:[_\-\ ][\w\-\ ]{{1,40}})? ) \s{{0,8}} \Z""",
    re.VERBOSE | re.IGNORECASE,
)
# `token_count = ...` names no token, `password manager: ...` no password.
NO_SECRET = re.compile(
    r"(?i)[_\-\ ](?:models?|types?|names?|urls?|uri|endpoint|files?|paths?|counts?|limits?|budgets?"
    r"|sizes?|length|max|min|env|prefix|pattern|policy|rules?|hint|managers?|at|on|date|expir\w*"
    r"|ttl|changed|updated)$"
)
# Whose, or where: what stands beside a secret and is none.
_BESIDE = re.compile(
    r"(?i)(?:.*[_\-\ ])?(?:user(?:_?name)?|login|account|e-?mail|host|server|owner|hint|notes?"
    r"|about|where|label|title|description|id)"
)
_NUMBER = re.compile(r"[+-]?[0-9][0-9 _]{0,60}(?:\.[0-9]{1,60})?")


@lru_cache(maxsize=2)  # each search asks for the same text
def starts_of_names(text: str) -> tuple[int, ...]:
    """Where in `text`, in order, a name may begin that PASSWORD, SHORT_PASSWORD or OTHER takes."""
    beginnings: tuple[str, ...] = _BEGINNINGS
    if not text.isascii():
        text, beginnings = text.translate(_SAME), _BEGINNINGS + _NOT_ASCII
    small = text.lower()
    if len(small) != len(text):  # a few letters have a small form of two
        small = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    starts: set[int] = set()
    for beginning in beginnings:
        at = small.find(beginning)
        while at >= 0:
            starts.add(at)
            at = small.find(beginning, at + 1)
    return tuple(sorted(starts))


def governing(above: str, name: str) -> str:
    """Of a property's name and the one that counted above it, the one that tells what it holds.

    A name that is of a secret, or only tells about one, counts instead of those above it.
    """
    return name if _SECRET_NAME.search(name[-MAX_NAME:]) or _is_about(name) else above


def secret_kind(name: str, value: str, *, inside: bool = False) -> str | None:
    """The kind of secret that `value` is, written under a property called `name`; None for none.

    A name that is of a secret makes it likely, so less is needed than in prose: a number, or a
    plain word as a password. inside: `value` has a name of its own further in, and is looked at
    more strictly.
    """
    match = _SECRET_NAME.search(name[-MAX_NAME:])
    text = value.strip()
    if match is None or _is_about(name) or len(text) < 4 or SAYS_NOTHING.fullmatch(text):
        return None
    is_password = match["password"] is not None
    kind = "password" if is_password else "api_key"
    if _NUMBER.fullmatch(text):
        least = 6 if is_password else 10 if match["plural"] else 8
        return kind if sum(map(str.isdigit, text)) >= least else None
    if is_placeholder(text) or is_harmless(text):
        return None
    words = text.split()
    if match["short"]:
        found = not is_quantity(text) and has_digit_or_case(text)
        found = found and is_secret(text, 6)
    elif is_password and not inside and not match["rest"] and len(words) == 1:
        found = True
    else:
        found = is_secret(text, 6 if is_password else 8)
        if len(words) > 1:  # a long one may be cut into lines
            found = found or any(is_secret(word, 12) for word in words)
    return kind if found else None


def _is_about(name: str) -> bool:
    """`token_url`, `user`: it tells about a secret and holds none."""
    return bool(NO_SECRET.search(f"_{name[-MAX_NAME:]}") or _BESIDE.fullmatch(name[-MAX_NAME:]))
