"""What is done with packs: one made, one held against now, one for a session's first turn."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import CortexError, Unavailable
from ..records.recall import lineage
from ..redaction import redact as redacted
from .audit import record
from .build import Built, build, checked
from .gathered import Ground, Vault
from .guard import searched
from .model import Asked, Pack
from .profile import Profile, profile_of
from .render import to_markdown
from .verify import Verdict, verify

if TYPE_CHECKING:
    from ..records.postings import Wanted

WordsOf = Callable[[str, int], "list[Wanted]"]

_MESSAGE_CHARS = 200  # of a message, what a pack takes for its query
_TIGHT_BYTES, _TIGHT_CHARS = 2048, 40  # the same where there is little room

_logger = logging.getLogger(__name__)


def make(
    vault: Vault,
    home: Path,
    words_of: WordsOf,
    query: str | None = None,
    *,
    profile: str | None = None,
    project: str | None = None,
    max_bytes: int = 4096,
    max_items: int = 5,
    max_age_hours: float = 24,
    redact: bool = False,
    allow_secret: bool = False,
    now: float | None = None,
    command: str = "pack",
) -> Pack:
    """A pack of what there is now; with `allow_secret` that is recorded first.

    home: the Hermes home that asks. profile: None is the one of `home`. now: Unix seconds.
    command: what asks, for the record. Raises UsageError.
    """
    now = time.time() if now is None else now
    asked = checked(
        Asked(
            profile="",
            query=query,
            project=project,
            redact=redact,
            allow_secret=allow_secret,
            max_age_hours=max_age_hours,
            max_bytes=max_bytes,
            max_items=max_items,
        )
    )
    built = _built(vault, home, words_of, asked, profile, now)
    if allow_secret:
        about = {
            "command": command,
            "digest": built.pack.digest,
            "packed": {section.name: len(section.items) for section in built.pack.sections},
            "secrets": {name: dict(sorted(kinds.items())) for name, kinds in built.kinds.items()},
        }
        record(vault.config.state, now, "pack_allow_secret", about)
    return built.pack


def hold(
    vault: Vault,
    home: Path,
    words_of: WordsOf,
    pack: bytes | str | Mapping[str, Any] | Pack,
    now: float | None = None,
) -> Verdict:
    """Whether a pack is whole, and what one would get now: see verify.verify."""
    now = time.time() if now is None else now

    def rebuild(asked: Asked) -> Pack:
        return _built(vault, home, words_of, checked(asked), asked.profile, now).pack

    return verify(pack, rebuild, now)


def first_turn(
    vault: Vault,
    home: Path,
    words_of: WordsOf,
    message: str,
    session_id: str,
    deadline: float,
) -> str | None:
    """The pack for the first turn of a session as Markdown; None for nothing to tell.

    The message is the query. The session itself, and what it goes on with, are left out. deadline:
    of time.monotonic. What fails is a line in the log, and None.
    """
    settings = vault.config.hooks.session_pack
    query = _focus(message, settings.max_bytes)
    try:
        profile = profile_of(home, database=vault.config.inject.sessions.state_db_path)
        asked = checked(
            Asked(
                profile=profile.name,
                query=query,
                redact=vault.config.inject.redact,
                max_bytes=settings.max_bytes,
            )
        )
        own = _conversation(profile, session_id)
        ground = Ground(vault, profile, words_of, own, deadline)
        pack = build(ground, asked, time.time()).pack
    except (CortexError, OSError) as error:
        why = str(error) if isinstance(error, CortexError) else type(error).__name__
        _logger.warning("session_pack: left out; %s", redacted(why)[0])
        return None
    if pack.is_empty or time.monotonic() > deadline:
        return None
    return to_markdown(pack)


def _built(
    vault: Vault, home: Path, words_of: WordsOf, asked: Asked, named: str | None, now: float
) -> Built:
    database = vault.config.inject.sessions.state_db_path
    profile = profile_of(home, named, database)
    ground = Ground(vault, profile, words_of)
    return build(ground, replace(asked, profile=profile.name), now)


def _focus(message: str, max_bytes: int) -> str | None:
    """What of a message a pack is about: its beginning, in whole words, without secrets."""
    words = " ".join(searched(message).split())
    limit = _MESSAGE_CHARS if max_bytes >= _TIGHT_BYTES else _TIGHT_CHARS
    if len(words) > limit:
        words = words[: limit + 1].rpartition(" ")[0] or words[:limit]
    return words or None


def _conversation(profile: Profile, session_id: str) -> frozenset[str]:
    """The sessions that are one conversation with `session_id`."""
    own: frozenset[str] = frozenset({session_id} if session_id else ())
    for store in profile.stores:
        try:
            own |= lineage(store.database, session_id)
        except Unavailable:
            continue
    return own
