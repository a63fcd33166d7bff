"""What a source of context is: what it is asked in a turn, and what it can say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

Status = Literal["ok", "empty", "unavailable", "refused"]
SPARE = 6  # items for each one that may be told: those shown before are dropped by who asked


@dataclass(frozen=True, slots=True)
class Ask:
    """What every source is asked in a turn."""

    message: str  # the user's words, bounded, without greetings and thanks at its ends; not blank
    is_first: bool  # the session's first turn
    session_id: str  # "" when there is none
    home: Path  # the Hermes home of the profile that is asking
    profiles: tuple[str, ...]  # what the host calls that profile; the root home's has two names
    now: float  # Unix seconds
    deadline: float  # of time.monotonic; what is not said by then is not heard


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to tell, with its texts as they were found: guarding and cutting come later."""

    id: str  # the same for the same entry as long as it is there, whatever its content
    label: str  # stands in brackets at the head of its line: a type of note, a day
    head: str  # the rest of that line: a title, a place, a summary
    text: str = ""  # what stands below it, indented; "" when the head says all
    remark: str = ""  # of ours, behind the head: what is no part of what it says
    score: float = 0.0  # the source's own, 0 to 1
    why: str = ""  # what let it pass, e.g. "cosine 0.71"; told to people, never to the model


@dataclass(frozen=True, slots=True)
class Recall:
    """What a source says. More items than its top_k may come: those shown before are dropped."""

    status: Status
    items: tuple[Item, ...] = ()  # that passed its gate, best first; equal ones in a fixed order
    matched: int = 0  # what it found at all
    gated: int = 0  # of these, below its threshold
    why: str = ""  # for people: why it is unavailable, or refused, or found nothing
    answered_by: str = ""  # which of several ways answered: hybrid, vector, bm25, scan, ...
    nearest: str = ""  # for people: how near to passing the best of the gated came


class Source(Protocol):
    """A source of context. Used by one thread a turn, by several turns at once."""

    name: str  # vault, fabric, sessions, facts: its block, its label and its settings below inject
    heading: str  # what stands behind the label at the head of the block

    def recall(self, ask: Ask) -> Iterator[Recall]:
        """What it has, each time better than before; at the deadline the last one counts.

        Raises nothing for what is merely not there: that is a status.
        """
        ...
