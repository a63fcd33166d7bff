"""What a value tells of itself: random enough for a secret, a stand-in for one, or neither."""

from __future__ import annotations

import re

SAYS_NOTHING = re.compile(
    r"(?i)true|false|yes|no|on|off|null|none|n/a|unknown|unset|empty|todo|tbd|required|optional"
    r"|never|same|default|string|text|str|boolean|integer|object|hidden|secret|redacted|masked|\W*"
)
_QUANTITY = re.compile(r"(?i)[0-9]{1,5}(?:[.,:/][0-9]{1,4}){0,3}[a-z%°]{0,3}")
_PLACEHOLDER = re.compile(
    r"""(?ix) (?: [<$%{\[(] | \*{2} | x{3} | \.{2} | … | your | my[_\-] | example | change[_\-]?me
      | (?:password|passwd|passwort|pass|pwd|pw|secret|token|key|redacted|null|none) (?![A-Za-z0-9])
    )"""
)
_HARMLESS = re.compile(
    r"""(?ix)
      \d{4}-\d{2}-\d{2} (?:[T\ ][\d:.+\-Z]*)?                     # a date
    | (?:\.{0,2}|~)/\S* | [a-z]:\\\S* | [a-z][a-z0-9+.\-]{1,20}:/\S*   # a path, an address
    | !?\[\[.* | !?\[[^\]]*\]\(.*                                   # a link
    | [a-z_]\w*(?:\.[a-z_]\w*)*[(\[].*                            # code that fetches it
    | (?:[a-z_]+\.)+[a-z_]+\d?                                    # a dotted name
    | (?-i: (?:[a-z]+|v?\d{1,8}) (?:[_\-.](?:[a-z]+|v?\d{1,8}))+ )  # words and versions, hyphenated
    | (?:[a-z]+[_\-])+[a-z]+                                      # the same in capitals
    """
)
_E_MAIL = re.compile(r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+")


def is_secret(value: str, min_length: int) -> bool:
    """Whether a value assigned to a telling name is the secret itself, not words about it."""
    if len(value) < min_length or is_placeholder(value) or is_harmless(value):
        return False
    if " " in value:  # a sentence, or a passphrase: only quotes let it through to here
        return bool(re.search("[0-9]", value) and re.search("[!@#$%^&*+=~?]", value))
    return is_mixed(value)


def is_mixed(value: str) -> bool:
    """Letters together with digits, or with signs that words do not hold inside."""
    return bool(re.search(r"[^\W\d_]", value) and re.search(r"[0-9]|[!@#$%^&*+=~?](?!$)", value))


def is_code(value: str) -> bool:
    return re.fullmatch("[0-9]{6,24}", value) is not None


def is_quantity(value: str) -> bool:
    return _QUANTITY.fullmatch(value) is not None


def is_placeholder(value: str) -> bool:
    return _PLACEHOLDER.match(value) is not None


def is_harmless(value: str) -> bool:
    return _HARMLESS.fullmatch(value) is not None


def has_digit_or_case(value: str) -> bool:
    return bool(
        re.search("[0-9]", value) or (re.search("[A-Z]", value) and re.search("[a-z]", value))
    )


def is_of_all_kinds(value: str) -> bool:
    """Capitals, small letters and digits, as random text of some length has."""
    return bool(
        re.search("[A-Z]", value) and re.search("[a-z]", value) and re.search("[0-9]", value)
    )


def is_random(run: str) -> bool:
    """Whether a long run of letters and digits has the mixture of a random one.

    Of letters in both cases and digits 62 % of the neighbours are of different kinds, of small
    letters and digits 40 %; names that join words have 36 % and less, and few digits between. What
    is hexadecimal alone is a hash.
    """
    if re.fullmatch("[0-9a-fA-F]+", run):
        return False
    if is_of_all_kinds(run):
        return _changes(run) >= 0.42 * len(run)
    digits = len(re.findall("[0-9]+", run))
    return digits >= max(2, len(run) / 16) and _changes(run) >= 0.28 * len(run)


def is_surely_random(value: str, min_length: int) -> bool:
    """Letters and digits in one run of some length: no name that joins words."""
    return any(
        re.search("[0-9]", run) and re.search("[A-Za-z]", run)
        for run in re.findall(f"[A-Za-z0-9+/]{{{min_length},}}", value)
    )


def is_strong(value: str) -> bool:
    """Letters and, between them, a sign; a digit or both cases: what no word of a sentence is."""
    inside = re.search(r"[A-Za-z0-9]([!#$%^&*+=~?@])[A-Za-z0-9!#$%^&*+=~?@_\-]", value)
    if inside is None or len(value) < 8 or _E_MAIL.fullmatch(value):
        return False
    has_kinds = re.search("[0-9]", value) or (
        inside[1] in "!#$%^*~?" and re.search("[A-Z]", value) and re.search("[a-z]", value)
    )
    return bool(
        has_kinds
        and re.search("[A-Za-z]", value)
        and not is_placeholder(value)
        and not is_harmless(value)
    )


def is_scrambled(value: str) -> bool:
    """Letters alone, in both cases and in no order that words have."""
    return re.fullmatch("[A-Za-z]{20,}", value) is not None and _changes(value) >= 0.4 * len(value)


def _changes(run: str) -> int:
    return len(re.findall("[0-9]+|[a-z]+|[A-Z]+", run)) - 1
