"""Values that a name in front of them tells: `password: ...`, `the token is ...`, `X_KEY=...`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding
from .names import NO_SECRET, OTHER, PASSWORD, SHORT_PASSWORD, starts_of_names
from .values import (
    SAYS_NOTHING,
    has_digit_or_case,
    is_code,
    is_harmless,
    is_placeholder,
    is_quantity,
    is_random,
    is_scrambled,
    is_secret,
    is_strong,
)

# Every repetition is bounded, so no text makes a search go back over more than a few hundred
# characters.
_ASSIGNED = re.compile(
    rf"""(?: (?P<password> {PASSWORD} | pwd | {SHORT_PASSWORD} ) | {OTHER} ) s?
    (?P<rest> (?:[_\-][a-z0-9_\-]{{1,24}})? )
    (?P<words> (?: \ [\w.'&/()\-]{{0,23}}[\w)] ){{0,5}}
      | [（(【「][^\s（()）】」]{{1,24}}[)）】」] )
    ["'`*_)\\”“»]{{0,5}} [ \t]{{0,4}}
    (?: (?: :=|=>|==?|::|[:：|＝→] ) [*_]{{0,3}} [ \t]{{0,4}}
      | > (?=[^\s<>]{{4,200}}</)
      | (?P<dash> (?<=\ ) [\-–—] [ ] )
      | [:：] [*_]{{0,3}} (?: [ \t]{{1,4}} [|>][+\-]? )?
        (?P<below> (?: [ \t]{{0,4}} (?:\r\n|\n|\r) [ \t>]{{0,12}} ){{1,2}}
        (?: (?:[*+\-]|\d{{1,2}}[.)]) [ \t]{{1,4}} | `{{3}}\w{{0,12}}(?:\r\n|\n|\r)[ \t>]{{0,12}} )?
        [*_]{{0,3}} )
      | (?P<is> (?<=\ ) (?:is|was|ist|lautet|hei(?:ß|ss)t|es|era|est|è|é|är|er|jest|это)
          (?:\ ?[:：=])? \ {{1,4}}
        | (?: 是 | 为 | 為 | は | が | 는 | 은 | 이 ) [:：]? \ {{0,2}} (?=[!-~]) ) )
    \\{{0,3}}
    (?: (?P<quote>["'`]) (?P<quoted> [^"'`\r\n]{{4,400}} ) (?P=quote)
      | [“„«「『‘] (?P<typeset> [^“”„»」』’\r\n]{{4,400}} ) [“”»」』’]
      | (?P<bare> [^\s"'`|<>;“”„«»「」『』]{{4,400}} ) )""",
    re.VERBOSE | re.IGNORECASE,
)
_MAX_VALUE = 400  # what is looked at of a value; it is masked to its end
_BARE = re.compile(r"[^\s\"'`|<>;]*")
_LINE_END = re.compile(r"[\"'`*_]{0,4}[ \t]{0,8}(?:[\r\n]|\Z)")
# In a password of ASCII, what goes on in another script is the sentence around it.
_NOT_ASCII = re.compile(r"(?<=[!-~])[\u2e80-\uffef]")
# A variable of the environment whose last word tells.
_VARIABLE = re.compile(
    r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{0,60}_(?:KEY|AUTH|PAT|PASS|DSN|CREDS?|SALT|CODE)"
    r"[ \t]{0,3}[=:][ \t]{0,3}[\"']?([A-Za-z0-9_\-+/.=~]{16,400})"
)
# A random value behind the name of a service: whatever stands between, it is a key of it.
_RUN = re.compile(r"[A-Za-z0-9]{12,400}")
_SERVICE = re.compile(
    r"""(?<![A-Za-z])(?:
    open\ ?ai |anthropic |claude |open\ ?router |gemini |mistral |cohere |groq |deepseek
    |perplexity |hugging\ ?face |replicate |eleven\ ?labs |deepgram |assembly\ ?ai |voyage |tavily
    |exa |serper |brave |kagi |pinecone |qdrant |weaviate |github |gitlab |bitbucket |gitea
    |circleci |travis |codecov |docker |vercel |netlify |heroku |fly\.io |railway |render
    |cloudflare |fastly |digital\ ?ocean |hetzner |linode |vultr |aws |azure |gcp |algolia
    |datadog |new\ ?relic |sentry |grafana |honeycomb |launchdarkly |pagerduty |opsgenie |stripe
    |paypal |square |plaid |coinbase |kraken |binance |twilio |sendgrid |mailgun |mailchimp
    |postmark |intercom |zendesk |hubspot |salesforce |airtable |notion |asana |trello |linear
    |jira |atlassian |slack |discord |telegram |mattermost |twitch |twitter |facebook |linkedin
    |spotify |dropbox |box |mapbox |rapid\ ?api |open\ ?weather(?:map)? |weatherstack |finnhub
    |virustotal |shodan |ngrok |tailscale |okta |auth0 |supabase |firebase |planetscale
    |mongo(?:db)? |confluent |snyk |sonar |wandb |weights\ ?&\ ?biases
    )
    (?P<label> [\ \w.'’()\-]{0,24} ) ["'`*_)]{0,3} [ \t]{0,3}
    (?:[:=|：→>]{1,4}|->|is\ ) [ \t*_"'`]{0,6}
    (?P<value> [A-Za-z0-9_\-+=.~]{0,60} ) \Z""",
    re.VERBOSE | re.IGNORECASE,
)
_IS_ID = re.compile(r"(?i)(?:id|ids|url|user|account|name|commit|version)$")
_REST = re.compile(r"[A-Za-z0-9_\-+=.~]{0,200}")
_LOGIN_ABOVE = re.compile(
    r"(?i)(?:^|[\r\n])[ \t>*+\-|]{0,8}(?:user(?:[ _]?name)?|login|e-?mail|benutzer(?:name)?|usuario"
    r"|utilisateur|utente|usuário|用户名?|帳號|账号|ユーザー名?|id)\W{0,4}[:=：]"
    r"[^\r\n]{1,100}(?:\r\n|\n|\r)[^\r\n]{0,12}\Z"
)


def search(text: str) -> Iterator[Finding]:
    """Values under telling names, in order of their kinds of name."""
    yield from _named(text)
    for match in _VARIABLE.finditer(text):
        if is_secret(match[1], 16):
            yield Finding(*match.span(1), "api_key")
    yield from _of_services(text)


def _of_services(text: str) -> Iterator[Finding]:
    for run in _RUN.finditer(text):
        if len(set(run[0])) < 8 or not is_random(run[0]):
            continue
        before = text[max(0, run.start() - 140) : run.start()]
        service = _SERVICE.search(before)
        rest = _REST.match(text, run.end())
        if service is None or rest is None or _IS_ID.search(service["label"]):
            continue
        start = run.start() - len(service["value"])
        if rest.end() - start >= 20:
            yield Finding(start, rest.end(), "api_key")


def _named(text: str) -> Iterator[Finding]:
    at = 0
    for start in starts_of_names(text):
        match = _ASSIGNED.match(text, start) if start >= at else None
        if match is None:
            continue
        group = "bare" if match["bare"] else "quoted" if match["quoted"] else "typeset"
        start, end = match.span(group)
        at = start  # a value that is none may hold the next name
        if NO_SECRET.search(match["rest"]) or NO_SECRET.match(match["words"] or ""):
            continue
        value = text[start:end]
        if match["below"] and (value.endswith((":", "：")) or not _LINE_END.match(text, end)):
            continue
        if match["dash"] and not _LINE_END.match(text, end):
            continue
        if group == "bare":
            value = _cut(text, match, value)
        elif value.endswith("\\"):
            value = value.rstrip("\\")
        if _is_value(text, match, value):
            at = start + len(value)
            if len(value) == _MAX_VALUE and (more := _BARE.match(text, at)):
                at = more.end()
            yield Finding(start, at, "api_key" if match["password"] is None else "password")


def _cut(text: str, match: re.Match[str], value: str) -> str:
    """A value without quotes, less what only stands behind it."""
    if value[0] not in "([{":
        value = value.rstrip(".,:)]}*\\。、，）")
    if text[max(0, match.start() - 1) : match.start()] in ("?", "&"):
        value = re.split("[&#)]", value, maxsplit=1)[0]  # a parameter of an address
    if foreign := _NOT_ASCII.search(value):
        value = value[: foreign.start()]
    return value


def _is_value(text: str, match: re.Match[str], value: str) -> bool:
    """Whether a value is a secret of the kind that its name tells."""
    if match["password"] is None:
        if is_scrambled(value):
            return True
        is_said = match["is"] or match["words"] or match["dash"]
        return is_secret(value, 16 if is_said else 12) and (
            not is_said or has_digit_and_letter(value)
        )
    if match["short"] or match["words"] or match["is"] or match["dash"]:
        return _is_noted_password(match, value)
    if is_secret(value, 6) or (not match["rest"] and is_code(value)):
        return True
    return _is_plain_password(text, match, value)


def has_digit_and_letter(value: str) -> bool:
    return bool(re.search("[0-9]", value) and re.search("[A-Za-z]", value))


def _is_noted_password(match: re.Match[str], value: str) -> bool:
    """Whether a value is a password, where the name and what stands between may be prose."""
    short = (match["short"] or "").lower()
    has_words = bool(match["words"] or match["is"])
    if short and (match["rest"] or (short in ("pass", "clave") and has_words)):
        return short == "clave" and is_strong(value)  # `pass-through`, `pass the test:`
    if is_code(value):
        return not match["words"] and not match["dash"]
    return is_secret(value, 6) and not is_quantity(value) and has_digit_or_case(value)


def _is_plain_password(text: str, match: re.Match[str], value: str) -> bool:
    """Whether a plain word is a password: in code, in a variable, or below a user's name."""
    if (
        match["rest"]
        or re.fullmatch(r"[^\W\d_][\w!@#$%^&*+=~?.\-]{3,}", value) is None
        or SAYS_NOTHING.fullmatch(value)
        or is_placeholder(value)
        or is_harmless(value)
    ):
        return False
    name = text[match.start() : match.end("password")]
    before, after = text[max(0, match.start() - 160) : match.start()], text[match.end("password")]
    if match["quoted"] and after in "\"'":  # `"password": "swordfish"`
        return True
    if name.isupper() and after == "=" and re.search("[A-Z0-9_]_$", before[-3:]):
        return True
    return bool(_LOGIN_ABOVE.search(before) and _LINE_END.match(text, match.end()))
