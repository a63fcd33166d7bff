"""Facts valid now, of the vault and of the host's holographic memory, at a session's beginning."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from ..config.inject import FactsSourceConfig
from ..errors import CortexError, Unavailable
from ..records.memory_store import FILE, search
from .days import day_of
from .fabric import beginning
from .matching import counted, matches, share
from .source import SPARE, Ask, Item, Recall, Status
from .words import REMEMBERING, wanted_of

if TYPE_CHECKING:
    from ..search.standing import Standing

TEXT_CHARS = 600  # of a note, at most; most facts are shorter, and told whole
MAX_FACT = 500  # characters of a stored fact
_SHARE_OF_TIME = 0.8  # of what is left, for reading notes
_LEAST_CHARS = 2  # of a word of the message


class StandingNotes(Protocol):
    """What is asked of Cortex."""

    def standing_notes(
        self, types: Sequence[str], project: str | None = None, seconds: float = ...
    ) -> Standing: ...


class FactsSource:
    """In the first turn alone: what is known hardly changes while people talk.

    A fact passes by the share of the message's words that it holds; one of the memory store is
    then weighed by how far it is trusted.
    """

    name = "facts"
    heading = "valid now, on this message:"

    def __init__(self, config: FactsSourceConfig, vault: StandingNotes) -> None:
        self._config = config
        self._vault = vault

    def recall(self, ask: Ask) -> Iterator[Recall]:
        if not ask.is_first:
            yield Recall("empty", why="asked in a session's first turn alone")
            return
        heard = [self._of_vault(ask), self._of_store(ask)]
        whys = "; ".join(one.why for one in heard if one.why)
        answered = [one for one in heard if one.answered_by]
        if not answered:
            yield Recall("unavailable", why=whys)
            return
        items = sorted((i for one in answered for i in one.items), key=lambda item: -item.score)
        yield Recall(
            "ok" if items else "empty",
            tuple(items[: SPARE * self._config.top_k]),
            sum(one.matched for one in answered),
            sum(one.gated for one in answered),
            whys,
            "+".join(one.answered_by for one in answered),
            "; ".join(one.nearest for one in answered if one.nearest),
        )

    def _of_vault(self, ask: Ask) -> Recall:
        try:
            left = _SHARE_OF_TIME * max(ask.deadline - time.monotonic(), 0.0)
            standing = self._vault.standing_notes(self._config.types, seconds=left)
        except (CortexError, OSError) as error:
            return Recall("unavailable", why=f"notes: {error}")
        notes = standing.notes
        found, words = matches(ask.message, [counted(f"{n.title}\n{n.text}") for n in notes])
        passed = [match for match in found if match.share >= self._config.threshold]
        items = []
        for match in passed:
            note = notes[match.place]
            items.append(
                Item(
                    id=f"note:{note.path}",
                    label="fact",
                    head=f"{note.title} ({note.path})",
                    text=beginning(note.text, TEXT_CHARS),
                    remark=day_of(note.time, note.time_from),
                    score=match.share,
                    why=f"{match.held} of {words} words, {match.share:.2f} of their weight",
                )
            )
        gated = len(found) - len(passed)
        status: Status = "ok" if items else "empty"
        nearest = ""
        if found:
            best = max(match.share for match in found)
            nearest = f"none passes; the best: words {best:.2f} of {self._config.threshold:g}"
        recall = Recall(status, tuple(items), len(found), gated, standing.why, standing.by)
        return replace(recall, nearest=nearest)

    def _of_store(self, ask: Ask) -> Recall:
        if self._config.memory_store_path is None and not (ask.home / FILE).exists():
            return Recall("empty")  # few have that memory
        return of_memory_store(ask, self._config, SPARE * self._config.top_k)


def of_memory_store(ask: Ask, config: FactsSourceConfig, limit: int) -> Recall:
    """What the host's holographic memory says to a message."""
    database = config.memory_store_path or ask.home / FILE
    words = wanted_of(ask.message, _LEAST_CHARS, REMEMBERING)
    try:
        stored = search(database, words, limit, config.min_trust, ask.deadline)
    except Unavailable as error:
        return Recall("unavailable", why=f"{FILE}: {error.why}")
    items, gated = [], 0
    for fact in stored.facts:
        held = share(fact.found, stored.weights)
        if held < config.threshold:
            gated += 1
            continue
        items.append(
            Item(
                id=f"memory:{fact.id}",
                label="remembered",
                head=" ".join(beginning(fact.content, MAX_FACT).split()),
                score=held * fact.trust,
                why=f"{held:.2f} of the words' weight, trust {fact.trust:.2f}",
            )
        )
    status: Status = "ok" if items else "empty"
    by = "memory_store" if stored.by == "fts" else "memory_store by like"
    return Recall(status, tuple(items), stored.matched, gated, answered_by=by)
