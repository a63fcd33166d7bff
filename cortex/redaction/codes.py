"""Short codes that only what stands before them tells: PINs, codes to get back in, licences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding

_IS = r"[ \t]{0,3} (?: [:：=] | \b(?:is|ist|lautet|es|est|è|é)\b ) [ \t*_`]{0,4}"
# Each with the words of which one must be there, for which a text is searched faster.
_CODES = (
    (
        ("pin", "puk"),
        rf"""(?<![A-Za-z]) (?-i: P(?:IN|UK)) (?: [ \-]?code )? (?: \ [\w\-]{{2,16}} ){{0,3}}
        (?: {_IS} ) (?P<value>[0-9]{{4,8}}) (?![0-9])""",
    ),
    (("puk",), r"(?<![A-Za-z]) (?-i:PUK) [ \t*_`]{1,4} (?P<value>[0-9]{8}) (?![0-9])"),
    (("cvv", "cvc"), rf"\b CV[VC]2? (?: {_IS} | \ ) (?P<value>[0-9]{{3,4}}) (?![0-9])"),
    (
        ("code",),
        rf"""\b (?:door|gate|garage|alarm|lock|safe|entry|unlock|access|tür|haustür|tresor)
        [ \-]? codes? (?: \ [\w\-]{{2,16}} ){{0,2}} {_IS}
        (?P<value>[0-9]{{4,8}}) (?![0-9.,:/\-])""",
    ),
    # Of the seed of an authenticator: base32, at times in groups.
    (
        ("otp", "2fa", "mfa", "authenticator", "two-factor"),
        r"""\b (?:[TH]?OTP|2FA|MFA|authenticator|two-factor) \b [^\r\n:=：]{0,40}
        [:=：] [ \t*_`"']{0,5}
        (?P<value> (?-i: [A-Z2-7]{16,64} | (?:[A-Z2-7]{4}[ \-]){3,15}[A-Z2-7]{4}
          | (?=[a-z \-]{0,40}[2-7])
            (?: [a-z2-7]{16,64} | (?:[a-z2-7]{4}[ \-]){3,15}[a-z2-7]{4} ) ) )
        (?![A-Za-z0-9])""",
    ),
    (
        ("licen", "serial", "product", "activation", "lizenz", "key"),
        r"""\b (?: licen[cs]e | serial | product | activation | lizenz | cd[ \-]?key | key )
        [^\r\n]{0,40}?
        (?<![A-Za-z0-9\-]) (?P<value> (?-i: (?=(?:[A-Z\-]{0,24}[0-9]){3}) (?=[0-9\-]{0,40}[A-Z])
          (?:[A-Z0-9]{4}(?:-[A-Z0-9]{4}){3,8} | [A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,8}
          | [A-Z0-9]{6}(?:-[A-Z0-9]{6}){2,8}) ) ) (?![A-Za-z0-9\-])""",
    ),
    (
        ("wifi:",),
        r"\b WIFI: (?: [A-OQ-Z]: (?:\\.|[^;\r\n\\]){0,64} ; ){0,4}"
        r" P: (?P<value>(?:\\.|[^;\r\n\\]){4,100}) ;",
    ),
    # Words of a passphrase, hyphenated.
    (
        ("phrase",),
        r"""pass-?phrase ["'`*_)]{0,4} [ \t]{0,3} [:=：]{1,2} [ \t*_`"']{0,5}
        (?P<value>[a-z0-9]{2,16}(?:[\-._][a-z0-9]{2,16}){3,12}) (?![\w])""",
    ),
)
_SEARCHES = tuple(
    (words, re.compile(pattern, re.VERBOSE | re.IGNORECASE)) for words, pattern in _CODES
)
_ITEM = r"[0-9]{4,5}\ [0-9]{4,5}|[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){1,4}|[A-Za-z0-9]{6,16}"
_RECOVERY = re.compile(
    rf"""(?:recovery|backup|rescue|2fa|wiederherstellungs|emergency) [ _\-]? codes? [^\r\n]{{0,60}}?
    (?P<items> (?:
      (?:[\s,;*+\-`\[\]>|:] | \b[0-9]{{1,2}}[.)]){{1,12}} (?:{_ITEM}) (?![\w\-]) ){{2,24}} )""",
    re.VERBOSE | re.IGNORECASE,
)
_RECOVERY_WORDS = ("recovery", "backup", "rescue", "2fa", "wiederherstell", "emergency")
_ONE = re.compile(rf"(?<![\w\-])(?:{_ITEM})(?![\w\-])")


def search(text: str) -> Iterator[Finding]:
    """PINs, licences, seeds of authenticators and codes to get back in; unordered."""
    small = text.lower()
    for words, pattern in _SEARCHES:
        if any(word in small for word in words):
            for match in pattern.finditer(text):
                yield Finding(*match.span("value"), "password")
    has_codes = "code" in small and any(word in small for word in _RECOVERY_WORDS)
    for match in _RECOVERY.finditer(text) if has_codes else ():
        codes = list(_ONE.finditer(text, *match.span("items")))
        if sum(re.search("[0-9]", code[0]) is not None for code in codes) * 2 >= len(codes):
            for code in codes:
                if re.search("[0-9]", code[0]):
                    yield Finding(*code.span(), "password")
