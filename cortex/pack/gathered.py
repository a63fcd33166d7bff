"""What the sections of a pack are gathered from, and what comes of it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..config.schema import Config
from ..errors import CortexError
from ..redaction import redact
from ..text import brief
from .model import Item
from .profile import Profile

if TYPE_CHECKING:
    from ..records.postings import Wanted
    from ..search.plain_scan import Recalled
    from ..search.standing import Standing

LONGEST = 8  # of a pack's bytes, the part that one text may take
LEAST_SHARE = 1 / 3  # of the query's words, weighed by how rare they are, that an item must hold
MOST_MATCHED = 100  # items of a section that are looked at
SCAN_S = 30.0  # so long that what is read depends on the vault alone
_WHY_CHARS = 90


class Vault(Protocol):
    """What a pack asks of a vault; cortex.app.Cortex is one."""

    config: Config

    def standing_kinds(
        self, kinds: Sequence[Sequence[str]], project: str | None = None, seconds: float = ...
    ) -> tuple[Standing, ...]: ...

    def recall_notes(
        self, text: str, top_k: int, project: str | None = None, seconds: float = ...
    ) -> Recalled: ...


@dataclass(frozen=True, slots=True)
class Ground:
    """What a pack is built from."""

    vault: Vault
    profile: Profile
    # The words of a query, as session databases are asked for them; with how long one must be.
    words_of: Callable[[str, int], list[Wanted]]
    without: frozenset[str] = frozenset()  # ids of sessions to leave out
    deadline: float | None = None  # of time.monotonic

    @property
    def seconds(self) -> float:
        """How long note files may be read where the index cannot answer."""
        if self.deadline is None:
            return SCAN_S
        return max(min(SCAN_S, self.deadline - time.monotonic()), 0.0)

    def told(self, *whys: str) -> str:
        """Reasons as a pack has them: short, without secrets, the same wherever its folders lie."""
        text = "; ".join(filter(None, whys))
        config = self.vault.config
        for folder in (config.state, config.vault.path, self.profile.home):
            if folder is not None:
                text = text.replace(f"{folder}{os.sep}", "").replace(str(folder), folder.name)
        return brief(redact(_PLACE.sub(r"\1", text))[0], _WHY_CHARS)

    def lacks(self, error: CortexError) -> Gathered:
        """What comes of a source that cannot be read."""
        return Gathered(why=self.told(str(error)), is_available=False)


# An absolute path: its last part is told alone.
_PLACE = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?[/\\](?:[^\s;:,/\\]+[/\\])*([^\s;:,/\\]+)")


@dataclass(frozen=True, slots=True)
class Found:
    """One item, and what is known of secrets in it beyond their looks."""

    item: Item
    time: float  # Unix seconds, by which it is put in order
    secret_parts: tuple[str, ...] = ()  # pieces of its text
    share: float = 1.0  # of the query's words that it holds, weighed; 1 where none was asked for


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a section could hold."""

    found: tuple[Found, ...] = ()  # in the order in which they are taken
    matched: int = 0
    why: str = ""
    is_available: bool = True


def best_first(found: Sequence[Found]) -> tuple[Found, ...]:
    """In the order in which what was found is taken: the best, equal ones newest first."""
    return tuple(sorted(_by_time(found), key=lambda one: -round(one.share, 2))[:MOST_MATCHED])


def newest_first(found: Sequence[Found]) -> tuple[Found, ...]:
    """In the order of a section: newest first, equal ones by what they are."""
    return tuple(_by_time(found)[:MOST_MATCHED])


def _by_time(found: Sequence[Found]) -> list[Found]:
    return sorted(found, key=lambda one: (-one.time, one.item.provenance.ids, one.item.text))
