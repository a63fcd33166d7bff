"""The guard of a pack: no text goes into it before it was looked through for secrets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..errors import UsageError
from ..redaction import Finding, find, redact
from .model import Asked, Item, Pack, Provenance


def guarded_ask(asked: Asked) -> Asked:
    """What was asked, as a pack may repeat it. Raises UsageError, without the secret.

    A secret in the query is masked where the pack is to be redacted, and then not searched for;
    names of projects and profiles decide what may be told, so they are never masked.
    """
    if asked.allow_secret:
        return asked
    for option, text in (("--project", asked.project), ("--profile", asked.profile)):
        if text and (found := find(text)):
            raise UsageError(f"{option} holds what looks like a secret ({found[0].kind})")
    if not asked.query or not (found := find(asked.query)):
        return asked
    if not asked.redact:
        raise UsageError(
            f"--query holds what looks like a secret ({found[0].kind}); leave it out, "
            "or give --redact"
        )
    return replace(asked, query=redact(asked.query)[0])


def searched(query: str) -> str:
    """The words of a query to search for: without secrets, and without what stands for one."""
    return " ".join(_MASK.sub(" ", redact(query)[0]).split())


_MASK = re.compile(r"\[redacted:[^\]\n]*\]", re.IGNORECASE)


def whole_words(text: str, limit: int) -> str:
    """A text that may have been cut at `limit` characters, without what may be half a secret."""
    if len(text) < limit:
        return text
    kept = text[:limit]
    for secret in find(text):
        if secret.start < limit < secret.end:
            kept = text[: secret.start]
    return kept.rsplit(None, 1)[0] if len(kept) == limit else kept


def kinds_in(item: Item, parts: Iterable[str] = ()) -> Counter[str]:
    """The kinds of secrets in an item, each text of it looked at by itself.

    parts: pieces of its text that are known to belong to a secret.
    """
    found = Counter(finding.kind for text in _texts(item) for finding in find(text))
    found.update("private_key" for part in parts if part and part in item.text)
    return found


def masked(item: Item, parts: Iterable[str] = ()) -> Item:
    """An item with its secrets masked, in every text that it holds."""
    about = item.provenance

    def mask(text: str) -> str:
        return redact(text)[0]

    known = [
        Finding(at, at + len(part), "private_key")
        for part in parts
        if part and (at := item.text.find(part)) >= 0
    ]
    return Item(
        redact(item.text, known)[0],
        replace(
            about,
            ids=tuple(map(mask, about.ids)),
            path=None if about.path is None else mask(about.path),
            project=None if about.project is None else mask(about.project),
            profile=None if about.profile is None else mask(about.profile),
        ),
    )


def _texts(item: Item) -> Iterator[str]:
    about: Provenance = item.provenance
    yield item.text
    yield from about.ids
    yield from filter(None, (about.path, about.project, about.profile))


def holds_secret(pack: Pack) -> bool:
    """Whether any text of a pack does, whatever it says of itself."""
    asked = [pack.asked.query or "", pack.asked.project or "", pack.asked.profile]
    items = (item for section in pack.sections for item in section.items)
    return any(map(find, asked)) or any(map(kinds_in, items))
