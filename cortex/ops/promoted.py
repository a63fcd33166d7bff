"""What becomes of the properties of a note: promoted, archived as a source, or superseded."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping

from ..types import Json, Link
from ..vault import frontmatter
from .frontmatter_edit import Change, Value, value_of

# What steers promotion, and says nothing once a note is promoted.
WORKFLOW = (
    *("promote", "cortex_promote", "promote_type", "review_status", "review_reason"),
    *("promoted_to", "archived_reason"),
)
DRAFT_MARKS = ("candidate", "review_status", "review_reason")  # of drafts out of sessions
DEFAULT_SOURCE, DEFAULT_STABILITY = "session", "stable"
DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE = 0.5, 3.0


def archived_change(target: str, today: dt.date) -> Change:
    """What becomes of a source once its note stands at `target`."""
    put: dict[str, Value] = {
        "status": "archived",
        "updated": today,
        "promoted_to": target,
        "archived_reason": "promoted",
    }
    return Change(put, tuple(name for name in WORKFLOW if name not in put))


def superseded_change(target: str, today: dt.date) -> Change:
    return Change(
        {"status": "superseded", "updated": today, "superseded_by": link_to(target)},
    )


def canonical_change(
    values: Mapping[str, Json], kind: str, derived_from: str, today: dt.date
) -> Change:
    """What the properties of a source lack or have too much of in its canonical note."""
    put: dict[str, Value] = {"type": kind, "status": "active"}
    if frontmatter.date_of(value_of(values, "created")) is None:
        put["created"] = today
    put["updated"] = today
    if frontmatter.date_of(value_of(values, "last_verified")) is None:
        put["last_verified"] = today
    for name, texts in (
        ("tags", frontmatter.tags_of(values)[0]),
        ("aliases", frontmatter.aliases_of(values)),
    ):
        if not isinstance(value_of(values, name), list):
            put[name] = texts
    confidence, importance = frontmatter.confidence_of(values), frontmatter.importance_of(values)
    put["confidence"] = round(DEFAULT_CONFIDENCE if confidence is None else confidence, 4)
    rating = round(DEFAULT_IMPORTANCE if importance is None else importance, 4)
    put["importance"] = int(rating) if rating == int(rating) else rating
    if _is_empty(values, "stability"):
        put["stability"] = DEFAULT_STABILITY
    # What a person wrote by hand and gave no source came from no session.
    if _is_empty(values, "source") and not all(_is_empty(values, name) for name in DRAFT_MARKS):
        put["source"] = DEFAULT_SOURCE
    earlier = [link for link in _texts(value_of(values, "derived_from")) if link != derived_from]
    put["derived_from"] = [*earlier, derived_from]
    supersedes = value_of(values, "supersedes")
    if supersedes not in (None, "", []) and not isinstance(supersedes, list):
        older = frontmatter.replacement_links({"supersedes": supersedes})[0]
        put["supersedes"] = [_as_link(link) for link in older]
    return Change(put, WORKFLOW)


def link_to(path: str) -> str:
    """A link to a note by its whole path, which no other note of that name can take."""
    name = path[:-3]
    return name if re.search(r"[\[\]|#^]", name) else f"[[{name}]]"


def _is_empty(values: Mapping[str, Json], name: str) -> bool:
    return value_of(values, name) in (None, "", [])


def _texts(value: Json) -> list[str]:
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    if isinstance(value, str) and value.strip():
        return [_as_link(link) for link in frontmatter.property_links({"derived_from": value}, {})]
    return []


def _as_link(link: Link) -> str:
    return f"[[{link.target}]]"
