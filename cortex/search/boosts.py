"""What a note says of itself as factors on its score. What it does not say is neutral."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..types import Chunk, Json
from ..vault.frontmatter import importance_of, updated_of
from ..vault.scan import FolderRules

_LINK_HEADINGS = frozenset(
    (
        *("link", "links", "links / related", "related", "relation", "relations", "reference"),
        *("references", "see also", "weblinks", "verweise", "siehe auch", "verwandt"),
        *("verwandtes", "referenzen", "quellen", "liens", "voir aussi", "enlaces", "véase también"),
        *("bibliography", "sources", "further reading", "external links", "literatur"),
        *("関連", "参考", "参照", "相关", "相关笔记", "相关链接", "链接", "参见", "参考文献"),
        *("参考资料", "延伸阅读", "關聯", "參考資料"),
    )
)
_LINK_WORDS = re.compile(
    r"\b(links?|linked|relat\w+|referenc\w+|verweis\w*|verlink\w*|liens?|enlaces?)\b|関連|相关|链接",
    re.IGNORECASE,
)
_LINK = re.compile(r"!?\[\[[^\[\]\n]*\]\]|\[[^\[\]\n]*\]\([^()\n]*\)")
_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


@dataclass(frozen=True, slots=True)
class BoostSettings:
    recency: bool = True
    recency_max: float = 0.20
    half_life_days: float = 90.0
    importance: bool = True
    importance_max: float = 0.30
    max_multiplier: float = 1.20  # of recency and importance together
    link_chunk_penalty: float = 0.75
    recency_exempt_folders: tuple[str, ...] = ()  # globs
    recency_exempt_types: tuple[str, ...] = ()
    inactive: float = 0.85  # of a note that no longer holds, or not yet


def factors(
    chunk: Chunk,
    frontmatter: Mapping[str, Json],
    query: str,
    today: dt.date,
    settings: BoostSettings,
    *,
    labels: Sequence[str] = (),
    is_past: bool = False,
) -> tuple[dict[str, float], dict[str, Json]]:
    """(factors to multiply, remarks on them). Only those that apply; their product is final.

    recency = 1 + max * 2 ** (-age / half life), a date to come counts as today; is_past: a date
    after `today` says nothing. importance = 1 + (importance - 1) / 4 * max. Where their product
    passes the cap, `cap` brings it back to it. status: the factor of a note with `labels`.
    """
    found: dict[str, float] = {}
    remarks: dict[str, Json] = {}
    date = updated_of(frontmatter, until=today if is_past else None)
    if settings.recency and date is not None and not _is_exempt(chunk.note, frontmatter, settings):
        age = max((today - date).days, 0)
        found["recency"] = 1 + settings.recency_max * 0.5 ** (age / settings.half_life_days)
    if settings.importance and (value := importance_of(frontmatter)) is not None:
        found["importance"] = 1 + (value - 1) / 4 * settings.importance_max
    product = found.get("recency", 1.0) * found.get("importance", 1.0)
    if product > settings.max_multiplier:
        found["cap"] = settings.max_multiplier / product
    if labels and settings.inactive < 1:
        found["status"] = settings.inactive
        remarks["status"] = ", ".join(labels)
    if settings.link_chunk_penalty < 1 and not _LINK_WORDS.search(query):
        reason = link_list_reason(chunk)
        if reason:
            found["quality"] = settings.link_chunk_penalty
            remarks["quality"] = reason
    return found, remarks


def _is_exempt(note: str, frontmatter: Mapping[str, Json], settings: BoostSettings) -> bool:
    folders, types = settings.recency_exempt_folders, settings.recency_exempt_types
    if folders and FolderRules(folders).takes(note):
        return True
    own = frontmatter.get("type") if types else None
    kinds = {str(kind).strip().casefold() for kind in (own if isinstance(own, list) else [own])}
    return any(kind.strip().casefold() in kinds for kind in types)


def link_list_reason(chunk: Chunk) -> str | None:
    """Why a chunk is hardly more than links, or nothing at all; None if it is more."""
    if not chunk.heading_path and chunk.text == chunk.title:
        return "empty_note"
    links = _LINK.findall(chunk.text)
    if not links:
        return None
    rest = _LINK.sub(" ", chunk.text)
    inside = len(chunk.text) - len(rest)
    name = " ".join(chunk.heading_path[-1].casefold().split()) if chunk.heading_path else ""
    if name in _LINK_HEADINGS and inside >= 0.3 * len(chunk.text):
        return "link_heading"
    if inside >= 0.8 * len(chunk.text):
        return "links_only"
    lines = [line for line in chunk.text.splitlines() if line.strip()]
    bullets = sum(1 for line in lines if _BULLET.match(line) and _is_mostly_links(line))
    if bullets >= max(2, 0.6 * len(lines)):
        return "link_bullet_list"
    if len(links) >= 2 and len(rest.split()) <= 12 and inside >= 0.35 * len(chunk.text):
        return "link_dense_short_chunk"
    return None


def _is_mostly_links(line: str) -> bool:
    rest = _LINK.sub("", line)
    return len(rest) < len(line) and len(rest.strip(" -*+[]xX.)0123456789\t")) <= 40
