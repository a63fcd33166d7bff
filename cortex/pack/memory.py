"""Facts that the host's holographic memory keeps for a profile, as items."""

from __future__ import annotations

from ..errors import Unavailable
from ..records.memory_store import FILE, PART, StoredFact, newest
from .gathered import MOST_MATCHED, Found, Gathered, Ground, newest_first
from .guard import whole_words
from .model import Item, Provenance, utc

_MAX_TEXT = 20_000  # characters of a fact that are looked through


def remembered(ground: Ground) -> Gathered | None:
    """The facts that are trusted enough, newest first; None where there is no such memory."""
    settings, profile = ground.vault.config.inject.facts, ground.profile
    database = profile.home / FILE if profile.home is not None else None
    if profile.is_asking and settings.memory_store_path is not None:
        database = settings.memory_store_path
    if database is None or not database.is_file():
        return None
    try:
        facts, matched = newest(database, settings.min_trust, MOST_MATCHED, _MAX_TEXT)
    except Unavailable as error:
        return ground.lacks(error)
    return Gathered(newest_first([_found(fact, profile.name) for fact in facts]), matched)


def _found(fact: StoredFact, profile: str) -> Found:
    about = Provenance(
        source=PART,
        engine="facts",
        ids=(str(fact.id),),
        at=utc(fact.updated),
        at_from="updated_at" if fact.updated is not None else "nothing",
        profile=profile,
    )
    return Found(Item(whole_words(fact.content, _MAX_TEXT), about), fact.updated or 0.0)
