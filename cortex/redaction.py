"""Find and mask secret-shaped text: keys, tokens, passwords and private key blocks.

A first guard, by shape alone. It knows the key prefixes in use today, values assigned to a name
such as `password`, credentials in addresses, and private keys, also when a chunk border cut
them. What has the shape of prose, a hash, a UUID or a date stays as it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple


class Finding(NamedTuple):
    start: int  # span in the text
    end: int
    kind: str  # as a reader sees it: "api key", "password", "private key"


def redact(text: str, also: Iterable[Finding] = ()) -> tuple[str, int]:
    """`text` with each secret-shaped span replaced by `[redacted: kind]`, and how many there were.

    also: spans that are known for secrets by other means. Redacting twice changes nothing more.
    """
    findings = _merged([*find(text), *also])
    if not findings:
        return text, 0
    pieces: list[str] = []
    done = 0
    for start, end, kind in findings:
        pieces += text[done:start], f"[redacted: {kind}]"
        done = end
    return "".join(pieces) + text[done:], len(findings)


def redact_part(text: str, start: int, end: int, also: Iterable[Finding] = ()) -> tuple[str, int]:
    """`text[start:end]` redacted by what `text` as a whole shows, and how many spans there were.

    So a secret of which the part holds but a piece is masked too. Line ends inside a secret stay,
    so that the lines keep their numbers. also: spans of `text` as `redact` takes them.
    """
    pieces: list[str] = []
    done, count = start, 0
    base = max(start - _AROUND, 0)
    near = [
        Finding(base + first, base + last, kind)
        for first, last, kind in find(text[base : end + _AROUND])
    ]
    for first, last, kind in _merged([*near, *also]):
        first, last = max(first, start), min(last, end)
        if first >= last:
            continue
        breaks = "".join(_LINE_BREAK.findall(text, first, last))
        pieces += text[done:first], f"[redacted: {kind}]{breaks}"
        done, count = last, count + 1
    return "".join(pieces) + text[done:end], count


_AROUND = 32_000  # characters: hardly a key is longer, and a huge note is not searched whole
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def find(text: str) -> list[Finding]:
    """The secret-shaped spans, in order, without overlap; linear in the length of `text`."""
    return _merged([finding for search in _SEARCHES for finding in search(text)])


def _merged(found: list[Finding]) -> list[Finding]:
    """Spans in order; those that overlap are one."""
    merged: list[Finding] = []
    for finding in sorted(found, key=lambda finding: (finding.start, -finding.end)):
        if merged and finding.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = last._replace(end=max(last.end, finding.end))
        else:
            merged.append(finding)
    return merged


def secret_lines(lines: Sequence[str]) -> set[int]:
    """Which of the items of a list are lines of a private key."""
    found: set[int] = set()
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for start, end, _ in _merged([*_key_blocks("\n".join(lines))]):
        found.update(range(bisect_right(starts, start) - 1, bisect_right(starts, end - 1)))
    return found


def governing(above: str, name: str) -> str:
    """Of a property's name and the one that counted above it, the one that tells what it holds.

    A name that is of a secret, or only tells about one, counts instead of those above it.
    """
    return name if _SECRET_NAME.search(name[-_MAX_NAME:]) or _is_about(name) else above


def secret_kind(name: str, value: str, *, inside: bool = False) -> str | None:
    """The kind of secret that `value` is, written under a property called `name`; None for none.

    A name that is of a secret makes it likely, so less is needed than in prose: a number, or a
    plain word as a password. inside: `value` has a name of its own further in, and is looked at
    more strictly.
    """
    match = _SECRET_NAME.search(name[-_MAX_NAME:])
    text = value.strip()
    if match is None or _is_about(name) or len(text) < 4 or _SAYS_NOTHING.fullmatch(text):
        return None
    is_password = match["password"] is not None
    kind = "password" if is_password else "api key"
    if _NUMBER.fullmatch(text):
        least = 6 if is_password else 10 if match["plural"] else 8
        return kind if sum(map(str.isdigit, text)) >= least else None
    if _is_placeholder(text) or _is_harmless(text):
        return None
    words = text.split()
    if match["short"]:
        is_secret = not _QUANTITY.fullmatch(text) and _has_digit_or_case(text)
        is_secret = is_secret and _is_secret(text, 6)
    elif is_password and not inside and not match["rest"] and len(words) == 1:
        is_secret = True
    else:
        is_secret = _is_secret(text, 6 if is_password else 8)
        if len(words) > 1:  # a long one may be cut into lines
            is_secret = is_secret or any(_is_secret(word, 12) for word in words)
    return kind if is_secret else None


# Every repetition below is bounded or runs over characters that cannot begin the next part, so
# no text makes a search go back over more than a few hundred characters.

# Inside a key, dots and the like go on with it; a full stop at the end of a sentence does not.
_MORE = r"[A-Za-z0-9_\-]*(?:[.~+/=:]{1,2}[A-Za-z0-9_\-]+){0,40}={0,2}"
_PREFIXED = re.compile(
    r"""(?<![A-Za-z0-9_])(?:
      (?P<sk> sk-[A-Za-z0-9_\-]{16,} )
    | (?: gh[opsru]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}
        | gl(?:pat|dt|rt|ptt|oas|cbt|ft|soat|agent)-[A-Za-z0-9_\-]{16,}
        | xox[abeoprs]-[A-Za-z0-9\-]{10,} | xapp-[0-9]-[A-Za-z0-9\-]{10,}
        | A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,}
        | AIza[A-Za-z0-9_\-]{30,} | ya29\.[A-Za-z0-9_\-]{16,} | GOCSPX-[A-Za-z0-9_\-]{16,}
        | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_\-]{40,} | hf_[A-Za-z0-9]{20,}
        | (?:r8|gsk|figd|glsa|sntrys|sbp|sb_secret|dckr_pat|shp(?:at|ca|pa|ss)|lin_api|ntn|dop_v1
          |doo_v1)_[A-Za-z0-9_]{20,}
        | (?:xai|pplx|tvly|nvapi|PMAK|sq0(?:csp|atp)|rnd|fly)-[A-Za-z0-9_\-]{20,}
        | (?:[sr]k|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,} | whsec_[A-Za-z0-9+/]{16,}
        | SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}
        | AT[AC]TT3[A-Za-z0-9_\-]{16,} | key-[0-9a-f]{32} | dapi[0-9a-f]{32}
        | AGE-SECRET-KEY-1[A-Z0-9]{20,}
        | (?P<token> eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}
        | [0-9]{8,10}:AA[A-Za-z0-9_\-]{30,}
        | [MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,45} )
      )
    )"""
    + _MORE,
    re.VERBOSE,
)
_WEBHOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/\-]{16,})"
    r"|discord(?:app)?\.com/api/webhooks/([A-Za-z0-9_/\-]{16,})"
    r"|[?&](?:sig|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=([A-Za-z0-9%+/_\-]{32,}=*)"
)
_IN_ADDRESS = re.compile(
    r"://(?:[^\s/:@\"'<>`]{0,100}:([^\s/@\"'<>`]{1,200})|([A-Za-z0-9_\-]{20,200}))@(?=[\w\[])"
)
_BEARER = re.compile(
    r"(?i)\b(?:bearer|authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:basic|token|apikey))"
    r"[ \t]{1,3}([A-Za-z0-9._~+/\-]{8,}[A-Za-z0-9_\-]*={0,2})"
)
_USER_OPTION = re.compile(r"(?:(?<=\s)|^)(?:-u|--user)[ \t=]{1,3}[^\s:\"']{1,64}:([^\s\"']{6,})")
_ASSIGNED = re.compile(
    r"""(?:
      (?P<password> passw[o0]rd | pass(?:wd|phrase|code) | pwd | passwort | kennwort | contraseña
        | mot\ de\ passe | пароль | 密码 | 密碼 | 口令 | パスワード | 비밀번호
        | (?: (?<![^\W\d_]) | (?-i: (?<=[a-z])(?=P) ) ) (?P<short> pass | pw ) )
    | secret | token | credentials? | api[_\-\ ]?key | apikey
    | (?:access|account|private|encryption|signing|auth|master|license|sharedaccess)[_\-\ ]?key
    )
    (?P<rest> (?:[_\-][a-z0-9_\-]{1,24})? )
    (?(password) (?P<words> (?: \ [\w.'&/()\-]{0,23}[\w)] ){0,3} ) )
    ["'`*_)]{0,4} [ \t]{0,4}
    (?: (?: :=|=>|==?|[:：|] ) [*_]{0,3} [ \t]{0,4}
      | [:：] [*_]{0,3} (?P<below> (?: [ \t]{0,4} (?:\r\n|\n|\r) [ \t>]{0,12} ){1,2}
        (?: (?:[*+\-]|\d{1,2}[.)]) [ \t]{1,4} | `{3}\w{0,12}(?:\r\n|\n|\r)[ \t>]{0,12} )?
        [*_]{0,3} )
      | (?(password) (?P<is> (?<=\ ) (?:is|was|ist|lautet) (?:\ ?[:：=])? \ {1,4} ) | (?!) ) )
    (?: (?P<quote>["'`]) (?P<quoted> [^"'`\r\n]{4,400} ) (?P=quote)
      | (?P<bare> [^\s"'`|<>;]{4,400} ) )""",
    re.VERBOSE | re.IGNORECASE,
)
_MAX_VALUE = 400  # what is looked at of a value; it is masked to its end
_BARE = re.compile(r"[^\s\"'`|<>;]*")
# `token_count = ...` names no token, `password manager: ...` no password.
_NO_SECRET = re.compile(
    r"(?i)[_\-\ ](?:models?|types?|names?|urls?|uri|endpoint|files?|paths?|counts?|limits?|budgets?"
    r"|sizes?|length|max|min|env|prefix|pattern|policy|rules?|hint|managers?|at|on|date|expir\w*"
    r"|ttl|changed|updated)$"
)


_MAX_NAME = 100  # characters of a property's name that are looked at: its last
# A property's name as a whole: `db_password`, `api keys`, `dbPass2`, `token_prod`.
_SECRET_NAME = re.compile(
    r"""(?:
      (?P<password> passw[o0]rd | pass(?:wd|phrase|code) | pwd | passw[oö]rter | passwort | kennwort
        | contraseña | mot\ de\ passe | пароль | 密码 | 密碼 | 口令 | パスワード | 비밀번호
        | (?: (?<![^\W\d_]) | (?-i: (?<=[a-z])(?=P) ) ) (?P<short> pass | pw ) )
    | secret | token | credential | api[_\-\ ]?key | apikey
    | (?:access|account|private|encryption|signing|auth|master|license|sharedaccess)[_\-\ ]?key
    )
    (?P<plural> s? ) [0-9]{0,3} (?P<rest> (?:[_\-\ ][\w\-\ ]{1,40})? ) \s{0,8} \Z""",
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(r"[+-]?[0-9][0-9 _]{0,60}(?:\.[0-9]{1,60})?")
_SAYS_NOTHING = re.compile(
    r"(?i)true|false|yes|no|on|off|null|none|n/a|unknown|unset|empty|todo|tbd|required|optional"
    r"|never|same|default|\W*"
)
# Whose, or where: what stands beside a secret and is none.
_BESIDE = re.compile(
    r"(?i)(?:.*[_\-\ ])?(?:user(?:_?name)?|login|account|e-?mail|host|server|owner|hint|notes?"
    r"|about|where|label|title|description|id)"
)


def _is_about(name: str) -> bool:
    """`token_url`, `user`: it tells about a secret and holds none."""
    return bool(_NO_SECRET.search(f"_{name[-_MAX_NAME:]}") or _BESIDE.fullmatch(name[-_MAX_NAME:]))


def _prefixed(text: str) -> Iterator[Finding]:
    for match in _PREFIXED.finditer(text):
        if match["sk"] is not None and not _is_sk_key(match["sk"]):
            continue
        kind = "token" if match["token"] is not None else "api key"
        yield Finding(match.start(), match.end(), kind)


def _is_sk_key(key: str) -> bool:
    """Tells a key from hyphenated words: digits, and capitals or a long run without a break."""
    return bool(
        re.search("[0-9]", key) and (re.search("[A-Z]", key) or re.search("[A-Za-z0-9]{20}", key))
    )


def _addresses(text: str) -> Iterator[Finding]:
    for match in _WEBHOOK.finditer(text):
        yield Finding(*match.span(match.lastindex or 0), "webhook")
    for match in _IN_ADDRESS.finditer(text):
        password, user = match.groups()
        if password is not None and not _is_placeholder(password):
            yield Finding(*match.span(1), "password")
        elif user is not None and _is_mixed(user):
            yield Finding(*match.span(2), "token")


def _headers(text: str) -> Iterator[Finding]:
    for match in _BEARER.finditer(text):
        if _is_mixed(match[1]) and not _is_harmless(match[1]):
            yield Finding(*match.span(1), "token")
    for match in _USER_OPTION.finditer(text):
        if _is_mixed(match[1]):
            yield Finding(*match.span(1), "password")


def _assigned(text: str) -> Iterator[Finding]:
    at = 0
    while match := _ASSIGNED.search(text, at):
        quoted = match["quoted"]
        start, end = match.span("bare" if quoted is None else "quoted")
        at = start  # a value that is none may hold the next name
        if _NO_SECRET.search(match["rest"]) or _NO_SECRET.match(match["words"] or ""):
            continue
        value = text[start:end]
        if match["below"] and (value.endswith((":", "：")) or not _LINE_END.match(text, end)):
            continue
        if quoted is None:
            if value[0] not in "([{":
                value = value.rstrip(".,:)]}*\\")
            if text[max(0, match.start() - 1) : match.start()] in ("?", "&"):
                value = re.split("[&#)]", value, maxsplit=1)[0]  # a parameter of an address
        if match["password"] is None:
            is_secret = _is_secret(value, 12)
        elif match["short"] or match["words"] or match["is"]:
            is_secret = _is_noted_password(match, value)
        else:
            is_secret = _is_secret(value, 6) or (not match["rest"] and _is_code(value))
        if is_secret:
            at = start + len(value)
            if len(value) == _MAX_VALUE and (more := _BARE.match(text, at)):
                at = more.end()
            yield Finding(start, at, "api key" if match["password"] is None else "password")


_LINE_END = re.compile(r"[\"'`*_]{0,4}[ \t]{0,8}(?:[\r\n]|\Z)")


def _is_noted_password(match: re.Match[str], value: str) -> bool:
    """Whether a value is a password, where the name and what stands between may be prose."""
    short = (match["short"] or "").lower()
    has_words = bool(match["words"] or match["is"])
    if short and (match["rest"] or (short == "pass" and has_words)):
        return False  # `pass-through`, `pass the test:`
    if _is_code(value):
        return not match["words"]
    return _is_secret(value, 6) and not _QUANTITY.fullmatch(value) and _has_digit_or_case(value)


def _has_digit_or_case(value: str) -> bool:
    return bool(re.search("[0-9]|[A-Z].*[a-z]|[a-z].*[A-Z]", value))


def _is_code(value: str) -> bool:
    return re.fullmatch("[0-9]{6,16}", value) is not None


_QUANTITY = re.compile(r"(?i)[0-9]{1,5}(?:[.,:/][0-9]{1,4}){0,3}[a-z%°]{0,3}")


def _is_secret(value: str, min_length: int) -> bool:
    """Whether a value assigned to a telling name is the secret itself, not words about it."""
    if len(value) < min_length or _is_placeholder(value) or _is_harmless(value):
        return False
    if " " in value:  # a sentence, or a passphrase: only quotes let it through to here
        return bool(re.search("[0-9]", value) and re.search("[!@#$%^&*+=~?]", value))
    return _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Letters together with digits, or with signs that words do not hold inside."""
    return bool(re.search(r"[^\W\d_]", value) and re.search(r"[0-9]|[!@#$%^&*+=~?](?!$)", value))


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


def _is_placeholder(value: str) -> bool:
    return _PLACEHOLDER.match(value) is not None


def _is_harmless(value: str) -> bool:
    return _HARMLESS.fullmatch(value) is not None


_ARMOR = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{0,40})-----")
_PRIVATE = re.compile("PRIVATE KEY(?: BLOCK)?$")
_KEY_LINES = re.compile(
    r"(?:(?<![^\r\n])[ \t>]{0,20}(?:[*+\-][ \t]{1,4})?"
    r"[A-Za-z0-9+/]{60,76}={0,2}[ \t]{0,8}(?:\r\n|\n|\r|\Z)){3,}"
    r"(?P<last>[ \t>]{0,20}(?:[*+\-][ \t]{1,4})?[A-Za-z0-9+/]{2,76}={0,2}(?!\S))?"
)
# The same as quoted items of a list, in one line or in several.
_KEY_ITEMS = re.compile(
    r"(?:[\"'`][A-Za-z0-9+/]{60,76}={0,2}[\"'`]\s{0,4},?\s{0,20}(?:[*+\-]\s{1,4})?){3,}"
    r"(?P<last>[\"'`][A-Za-z0-9+/]{2,76}={0,2}[\"'`])?"
)


def _key_blocks(text: str) -> Iterator[Finding]:
    """Private keys in armor, whole or cut at either end, and runs of lines out of the middle."""
    public: list[tuple[int, int]] = []
    begin: _Begin | None = None  # of the open block
    for match in _ARMOR.finditer(text):
        private = _PRIVATE.search(match[2]) is not None
        if match[1] == "BEGIN":
            end = match.end()
            if _CLOSES_A_MENTION.match(text, end) and not _NEXT_ITEM.match(text, end):
                continue
            if begin is not None and begin.private:
                yield Finding(begin.start, _key_end(text, begin.end), "private key")
            begin = _Begin(match.start(), match.end(), private)
        elif begin is not None:
            if private or begin.private:
                yield Finding(begin.start, match.end(), "private key")
            else:
                public.append((begin.start, match.end()))
            begin = None
        elif private and not _OPENS_A_MENTION.search(
            text, max(0, match.start() - 40), match.start()
        ):
            yield Finding(0, match.end(), "private key")
    if begin is not None and begin.private:
        yield Finding(begin.start, _key_end(text, begin.end), "private key")
    yield from _key_lines(text, public)


class _Begin(NamedTuple):
    start: int
    end: int
    private: bool


def _key_end(text: str, start: int) -> int:
    """Where a private key without an end stops: before the first line that is no part of one."""
    at = start
    while match := _IN_BLOCK.match(text, at):
        at = match.end()
    return at


# One more header line, or base64: alone in its line, in whatever frame it stands and no plain
# word, long after a blank line; or in the line of the mark, after an escaped line end or a blank.
_BREAK = r"""(?:\\[rn]){0,2} [ \t>"'`|+,;\\]{0,8} (?:\r\n|\n|\r)"""
# From one line of a key to the next where they are the items of a list.
_ITEM = r"""["'`]? [ \t]{0,4} ,? [ \t]{0,4} (?: (?:\r\n|\n|\r) [ \t>]{0,20} )?
      (?: [*+\-] [ \t]{1,4} ["'`]? | ["'`] )"""
_NEXT_ITEM = re.compile(
    rf"{_ITEM} (?: [A-Za-z0-9+/]{{20}} | Proc-Type: | DEK-Info: | Version: | Comment: )", re.VERBOSE
)
_IN_BLOCK = re.compile(
    rf"""(?: (?:{_BREAK}){{1,4}} [ \t>"'`|]{{0,20}} | (?:\\[rn]){{1,8}} )
      (?:(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset): [^\r\n\\]* )
    | (?: {_BREAK} [ \t>"'`|]{{0,20}} (?! [A-Z]?[a-z]++ [ \t]*+ (?:[\r\n]|\Z) )
        | (?:{_BREAK}){{2,4}} [ \t>"'`|]{{0,20}} (?=[A-Za-z0-9+/]{{20}}) )
      =?[A-Za-z0-9+/]++={{0,2}}
      (?= (?:\\[rn]){{0,2}} [ \t"'`|+,;\\]{{0,8}} (?:[\r\n]|\Z) )
    | (?: (?:\\[rn]){{1,8}} =? | [ \t]{{1,4}} (?=[A-Za-z0-9+/]{{20}})
        | {_ITEM} (?=[A-Za-z0-9+/]{{20}}) )
      [A-Za-z0-9+/]++={{0,2}}""",
    re.VERBOSE,
)


# Text that only talks about a mark: quotes around it, or words that go on in its line.
_CLOSES_A_MENTION = re.compile(r"[\"'`)]|[,.]? ?[a-z]{2,}[ ,.]")
_OPENS_A_MENTION = re.compile(r"(?:[\"'`(]|[a-z]{2,}[,:]? )$")


def _key_lines(text: str, public: list[tuple[int, int]]) -> Iterator[Finding]:
    starts = [start for start, _ in public]
    for match in (*_KEY_LINES.finditer(text), *_KEY_ITEMS.finditer(text)):
        around = bisect_right(starts, match.start()) - 1
        if around >= 0 and match.start() < public[around][1]:
            continue
        last = (match["last"] or "").strip("\"'`")
        end = match.end()
        if last and not (last.endswith("=") or _is_key_line(last)):
            end = match.start("last")
        lines = text[match.start() : end].split()
        if all(_is_key_line(line) for line in lines if len(line) >= 60):
            end = match.start() + len(text[match.start() : end].rstrip())
            yield Finding(match.start(), end, "private key")


def _is_key_line(line: str) -> bool:
    return bool(re.search("[A-Z]", line) and re.search("[a-z]", line) and re.search("[0-9]", line))


_SEARCHES: tuple[Callable[[str], Iterator[Finding]], ...] = (
    _key_blocks,
    _prefixed,
    _addresses,
    _headers,
    _assigned,
)
