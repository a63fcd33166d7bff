"""Secrets that their place in a command, in code or in markup tells, without `:` or `=` between."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding
from .names import secret_kind
from .values import SAYS_NOTHING, is_harmless, is_mixed, is_placeholder, is_strong, is_surely_random

# Each with the words of which one must be there, for which a text is searched faster; the group
# `value` may be the secret, and `name`, where there is one, must be of a secret.
_NAME = r"(?P<name>[A-Za-z][\w.\-]{1,60})"
_COMMANDS = (
    (
        ("-u", "--user"),
        r"""(?:(?<=\s)|^) (?:-u|--user) [ \t=]{1,3} ["']? [^\s:"']{1,64}
        : (?P<value>[^\s"']{6,})""",
    ),
    (
        ("password", "passwd", "passphrase", "token", "secret", "api-key", "apikey", "sshpass"),
        r"""(?:(?<=[\s`])|^)
        (?: --?[a-z\-]{0,20} (?:password|passwd|passphrase|token|secret|api-?key)
          | sshpass[ \t]{1,3}-p )
        (?:[ \t]{1,3}|=) (?P<quote>["']?) (?P<value>[^\s"'`|<>;]{6,200}) (?P=quote)""",
    ),
    (
        ("mysql", "mariadb"),
        r"""\b(?:mysql|mariadb)\w{0,10}\b [^\r\n|]{0,80}? \s-p["']? (?P<value>[^\s"']{6,})""",
    ),
    (("redis-cli",), r"""\bredis-cli\b [^\r\n|]{0,80}? \s-a[ ]["']? (?P<value>[^\s"']{6,})"""),
    (
        ("stdin",),
        r"""\b(?:echo|printf) \s{1,3} (?:-n\s)? ["']? (?P<value>[^\s"'|]{6,200}) ["']?
        \s{0,3} \| [^\r\n]{0,100} -stdin""",
    ),
    (
        ("set", "env", "arg"),
        rf"""(?:^|(?<=[\r\n`;])) [ \t>]{{0,8}} (?:set|setx|setenv|env|arg)
        \ {{1,3}} (?:-[a-z]{{1,3}}\ )?
        {_NAME} [ \t]{{1,3}} ["']? (?P<value>[^\s"'=]{{6,400}})""",
    ),
    (("identified by",), r"""\bidentified\ by\ ['"] (?P<value>[^'"\r\n]{6,200})"""),
    (
        ("default",),
        rf"""["'] {_NAME} ["'] \s{{0,3}} \{{ [^{{}}]{{0,200}}? \bdefault\s{{0,10}}=\s{{0,3}}
        ["'] (?P<value>[^"'\r\n]{{6,400}})""",
    ),
    (  # an argument or an item: `define("DB_PASSWORD", "...")`
        (",",),
        rf"""["'] {_NAME} ["'] \s{{0,3}},\s{{0,3}} ["'] (?P<value>[^"'\r\n]{{6,400}}) ["']""",
    ),
    (  # `<add key="ApiSecret" value="..."/>`, `- name: DB_PASSWORD` with `value: ...` below
        ("value",),
        rf"""\b(?:name|key|id|type) ["']? \s{{0,3}}[:=]\s{{0,3}} ["']? {_NAME}
        (?:["',\s]|&quot;){{1,20}}
        (?:[a-z\-]{{1,20}}="[^"<>]{{0,60}}"\s{{1,4}}){{0,4}}
        value ["']? \s{{0,3}}[:=]\s{{0,3}} (?P<quote>["']?) (?P<value>[^"'<>\s]{{6,400}})""",
    ),
)
_OF_LISTS = ((",",), ("value",))
_SEARCHES = tuple(
    (words, re.compile(pattern, re.VERBOSE | re.IGNORECASE)) for words, pattern in _COMMANDS
)
_NETRC = re.compile(r"(?i)\blogin[ \t]{1,4}\S{1,100}\s{1,20}password[ \t]{1,4}(\S{4,200})")


def search(text: str) -> Iterator[Finding]:
    """Credentials in commands, arguments and attributes; unordered."""
    small = text.lower()
    for words, pattern in _SEARCHES:
        if not any(word in small for word in words):
            continue
        for match in pattern.finditer(text):
            value = match["value"]
            if "name" not in pattern.groupindex:
                is_one = is_mixed(value) and not is_placeholder(value) and not is_harmless(value)
                kind = "password" if is_one else None
            else:
                kind = secret_kind(match["name"], value, inside=True)
                if words in _OF_LISTS and not (is_strong(value) or is_surely_random(value, 10)):
                    kind = None  # a word with a number, among other words
            if kind:
                yield Finding(*match.span("value"), kind)
    for match in _NETRC.finditer(text) if "login" in small else ():
        if not is_placeholder(match[1]) and not SAYS_NOTHING.fullmatch(match[1]):
            yield Finding(*match.span(1), "password")
