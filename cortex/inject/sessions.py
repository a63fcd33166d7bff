"""Earlier sessions on what was asked, each with the messages that say most about it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial

from ..config.inject import SessionsSourceConfig
from ..errors import Unavailable
from ..records.postings import Wanted
from ..records.recall import Earlier, Recalled, recall
from ..text import brief
from .days import Period, nearness, periods_of
from .gates import gate, overlap
from .matching import share
from .source import SPARE, Ask, Item, Recall
from .words import REMEMBERING, held_by, pieces, wanted_of

UNTITLED = "(untitled)"
UNDATED = "undated"
MAX_TITLE = 120  # characters
PIECES = 2  # of what was said, in an item
SAME = 0.85  # overlap with the message from which on a text says nothing else
# Of the words' share, over how many are held, is asked for beyond the threshold: two common ones
# may be there by chance. It halves what questions on something else bring in.
FEW, MOST_FOR_FEW = 0.2, 0.1

_CUT = "…"
_ASKS = re.compile(r"[?？؟]\s*$")
_LONGER, _MOST_CLOSING = 2, 400  # times a message, characters: a longer text says more


class SessionsSource:
    """What was said in earlier sessions of the profile that asks.

    An item is a passage of a session: its id names the session, its messages and which pieces of
    them are told, so that another passage of the same session is another item.
    """

    name = "sessions"
    heading = "earlier conversations on this topic:"

    def __init__(self, config: SessionsSourceConfig) -> None:
        self._config = config

    def recall(self, ask: Ask) -> Iterator[Recall]:
        config = self._config
        words = wanted_of(ask.message, config.min_token_chars, REMEMBERING)
        periods = periods_of(ask.message)
        says = _Says(ask.message)
        if not any(word.brings for word in words):
            why = f"no word of at least {config.min_token_chars} characters to look for"
            yield Recall("empty", why=why)
            return
        try:
            found = recall(
                config.state_db_path or ask.home / "state.db",
                words,
                SPARE * config.top_k,
                session_id=ask.session_id,
                profiles=ask.profiles,
                exclude=config.exclude_sources,
                nearness=partial(nearness, periods),
                tells=says.more,
                now=ask.now,
                until=ask.deadline,
            )
        except Unavailable as error:
            yield Recall("unavailable", why=error.why)
            return
        yield _judged(found, words, periods, says, config.threshold)


class _Says:
    """Whether a text says more than a message: not the same, or a question without another word,
    or nothing but thanks and agreement.
    """

    def __init__(self, message: str) -> None:
        self._message = message

    def more(self, text: str) -> bool:
        if len(text) > _LONGER * len(self._message) + _MOST_CLOSING:
            return True
        if overlap(text, self._message) > SAME or gate(text, min_chars=0, closers=()).kind:
            return False
        if not _ASKS.search(text):
            return True
        asked = wanted_of(text, 1)
        return len(held_by(self._message, asked)) < len(asked)


def _judged(
    found: Recalled,
    words: Sequence[Wanted],
    periods: Sequence[Period],
    says: _Says,
    threshold: float,
) -> Recall:
    items, gated = [], 0
    for session in found.sessions:
        # What the database found may stand in calls of tools, which nobody said.
        said = held_by("\n".join(message.text for message in session.messages), words)
        for period in periods:
            if said and period.nearness(session.started) == 1.0:
                said |= held_by(period.written, words)  # by its day, which need not be said
        few = min(FEW / max(len(said), 1), MOST_FOR_FEW)
        passes = said and share(said, found.weights) >= threshold + few
        item = _item(session, words, found.weights, said, says) if passes else None
        if item is None:
            gated += 1
        else:
            items.append(item)
    if items:
        return Recall("ok", tuple(items), found.matched, gated, answered_by=found.by)
    dates = frozenset().union(*(held_by(period.written, words) for period in periods))
    if dates:  # of that time there is none: then those of another, which lack no word for it
        weights = [0.0 if at in dates else weight for at, weight in enumerate(found.weights)]
        undated = replace(found, weights=tuple(weights))
        return _judged(undated, words, (), says, threshold)
    why = "no earlier session holds these words"
    if gated:
        why = f"of {gated} sessions with some of these words, none holds enough of them"
    return Recall("empty", (), found.matched, gated, why, found.by)


@dataclass(frozen=True, slots=True)
class _Piece:
    message: int  # its place among the session's messages
    number: int  # which piece of it
    text: str
    held: frozenset[int]


def _item(
    session: Earlier,
    words: Sequence[Wanted],
    weights: Sequence[float],
    said: Set[int],
    says: _Says,
) -> Item | None:
    """What is told of a session; None where all of it is what was asked."""
    held = share(said, weights)
    found = []
    for place, message in enumerate(session.messages):
        cut = pieces(message.text)
        for number, text in enumerate(cut):
            if not says.more(text):
                continue
            shown = f"{_CUT if number else ''}{text}{_CUT if number + 1 < len(cut) else ''}"
            found.append(_Piece(place, number, shown, held_by(text, words)))
    if not found:
        return None
    told = sorted(_best(found, weights), key=lambda piece: (piece.message, piece.number))
    lines = [f"{session.messages[piece.message].role}: {piece.text}" for piece in told]
    parts = "+".join(f"{session.messages[piece.message].id}.{piece.number}" for piece in told)
    moment = next((m.time for m in session.messages if m.time is not None), session.started)
    return Item(
        id=f"session:{session.id}:{parts}",
        label=UNDATED if moment is None else time.strftime("%Y-%m-%d", time.localtime(moment)),
        head=" ".join(brief(session.title, MAX_TITLE).split()) or UNTITLED,
        text="\n".join(lines),
        score=held,
        why=f"{len(said)} of {len(words)} words, {held:.2f} of their weight",
    )


def _best(found: Sequence[_Piece], weights: Sequence[float]) -> list[_Piece]:
    """The pieces that hold most, each counted by what those before it do not hold.

    Once there is no more to hold, what stands next to the first, the answer before its own rest.
    """
    chosen: list[_Piece] = []
    while len(chosen) < min(PIECES, len(found)):
        known = frozenset().union(*(piece.held for piece in chosen))
        told = {piece.message for piece in chosen}
        left = [piece for piece in found if piece not in chosen]
        ranks = [
            (
                sum(weights[number] for number in piece.held - known),
                piece.message not in told,
                -piece.message,
                -piece.number,
            )
            for piece in left
        ]
        chosen.append(left[ranks.index(max(ranks))])
    return chosen
