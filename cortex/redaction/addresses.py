"""Secrets that their place tells: in an address, or in a header of HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .finding import Finding
from .values import is_harmless, is_mixed, is_placeholder

_WEBHOOK = re.compile(
    r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/\-]{16,})"
    r"|discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/([A-Za-z0-9_/\-]{16,})"
    r"|hooks\.zapier\.com/hooks/catch/([A-Za-z0-9_/\-]{10,})"
    r"|\.webhook\.office\.com/webhookb2/([A-Za-z0-9_/@\-]{36,})"
    r"|calendar\.google\.com/calendar/[^\s\"'<>]{1,200}/private-([0-9a-f]{16,})"
    r"|[?&](?:sig|X-Amz-Signature|X-Amz-Security-Token|X-Goog-Signature)=([A-Za-z0-9%+/_\-]{32,}=*)"
)
_OF_HOOKS = ("hook", "slack.com", "calendar.google", "sig=", "x-amz-", "x-goog-")
_PARAMETER = re.compile(
    r"(?i)[?&](?:key|apikey|app_?id|app_?key|auth|sessionid|pass|pwd|signature"
    r"|subscription-key)=([A-Za-z0-9_\-.%~+/=]{20,200})"
)
_IN_ADDRESS = re.compile(
    r"://(?:[^\s/:@\"'<>`]{0,100}:([^\s/@\"'<>`]{1,200})|([A-Za-z0-9_\-]{20,200}))@(?=[\w\[])"
)
_BEARER = re.compile(
    r"(?i)\b(?:bearer|authorization[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:basic|token|apikey|key))"
    r"[ \t]{1,3}([A-Za-z0-9._~+/\-]{8,}[A-Za-z0-9_\-]*={0,2})"
)
_COOKIE = re.compile(r"(?i)\bcookie[\"']?[ \t]{0,3}:[ \t]{0,3}[\"']?([^\s=;]{1,60}=[^\s\"'`]{16,})")
_DOCKER = re.compile(r"\"auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{12,}={0,2})\"")
_REGISTRY = re.compile(
    r"(?<![A-Za-z0-9_])_auth[ \t]{0,3}=[ \t]{0,3}[\"']?([A-Za-z0-9+/]{12,}={0,2})"
)
# Each with the words of which one must be there, for which a text is searched faster.
_HEADERS = (
    (("bearer", "authorization"), _BEARER),
    (("cookie",), _COOKIE),
    (('"auth"',), _DOCKER),
    (("_auth",), _REGISTRY),
)


def search(text: str) -> Iterator[Finding]:
    """Credentials and webhooks in addresses and headers; unordered."""
    small = text.lower()
    for match in _WEBHOOK.finditer(text) if any(sign in small for sign in _OF_HOOKS) else ():
        yield Finding(*match.span(match.lastindex or 0), "webhook")
    for match in _PARAMETER.finditer(text):
        if is_mixed(match[1]) and not is_harmless(match[1]):
            yield Finding(*match.span(1), "api_key")
    for match in _IN_ADDRESS.finditer(text):
        password, user = match.groups()
        if password is not None and not is_placeholder(password):
            yield Finding(*match.span(1), "password")
        elif user is not None and is_mixed(user):
            yield Finding(*match.span(2), "token")
    for words, pattern in _HEADERS:
        for match in pattern.finditer(text) if any(word in small for word in words) else ():
            if is_mixed(match[1]) and not is_harmless(match[1]):
                yield Finding(*match.span(1), "token")
