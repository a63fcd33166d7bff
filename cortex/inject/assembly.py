"""One turn's frame: blocks and sources made side by side, what is ready by the deadline told."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ..config.inject import InjectConfig
from ..config.schema import HooksConfig
from ..errors import CortexError
from ..generated import Block
from ..patience import Job, Workers
from ..redaction import redact
from . import sources
from .asking import Answer, Asking, ask_all, what_failed
from .blocks import due
from .budget import Offer, Room, room_of, shared_out
from .gates import Gate, gate, overlaps
from .render import framed
from .report import Report, SourceReport, block_reports, not_asked, source_report
from .shown import Carried, Selection, apart_from, selected
from .source import Ask, Item
from .sources import MAX_CHARS, Draft, Vault
from .turn import Turn

# What thanks and a greeting leave: what does not depend on the message.
AFTER_CLOSER = ("skill_context", "bootstrap_context", "session_pack", "recent_context")
_ANY_NUMBER = 1_000_000_000  # of tokens

Say = Callable[[str, int], None]  # a line for a log, and its level


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn that is to be answered, with all that the answer depends on."""

    vault: Vault
    hooks: HooksConfig  # as in force
    inject: InjectConfig
    turn: Turn
    carried: Mapping[str, Carried]  # source -> what of it the conversation holds
    home: Path
    env: Mapping[str, str]
    deadline: float  # of time.monotonic
    allowed_ms: int  # that it is from the call


def assembled(asked: Asked, workers: Workers, say: Say) -> Report:
    """What is put behind the turn's message, in one frame, and what is not.

    With inject.enabled its budget bounds the whole frame: the blocks of `hooks` come first, each
    within its own; what they leave is shared by the sources. Without, no source is asked.
    """
    inject, turn = asked.inject, asked.turn
    gated = gate(turn.message, min_chars=inject.min_chars, closers=inject.closers)
    askings = []
    if inject.enabled:
        ask, select = _ask(asked, gated), partial(_selected, asked)
        askings = ask_all(asked.vault, inject, gated, ask, asked.env, workers, select)
    remarks: list[str] = []

    def remark(message: str, level: int) -> None:
        remarks.append(redact(message.partition("\n")[0])[0])
        say(message, level)

    before = _made(asked, gated, workers, remark)
    told, reports = _recalled(asked, askings, before, say)
    blocks = [*before, *told]
    text = framed(blocks)
    size = room_of(text)
    return Report(
        enabled=inject.enabled,
        session=turn.session_id,
        is_first=turn.is_first,
        gate=gated,
        sources=tuple(reports),
        blocks=block_reports(blocks),
        tokens=size.tokens,
        characters=size.chars,
        budget=inject.budget,
        deadline_ms=asked.allowed_ms,
        text=text,
        remarks=tuple(remarks),
    )


def failure(what: str, error: BaseException) -> str:
    """A line for a log: the message of an error of ours, else where it happened."""
    if isinstance(error, (CortexError, ModuleNotFoundError)):
        return f"{what}: {what_failed(error)}"
    where = "".join(traceback.format_tb(error.__traceback__))
    return f"{what} failed with {type(error).__name__}\n{where}"


# The sources


def _ask(asked: Asked, gated: Gate) -> Ask:
    return Ask(
        message=gated.message,
        is_first=asked.turn.is_first,
        session_id=asked.turn.session_id,
        home=asked.home,
        profiles=sources.profiles(asked.home),
        now=time.time(),
        deadline=asked.deadline,
    )


def _selected(asked: Asked, name: str, items: Sequence[Item]) -> Selection:
    inject = asked.inject
    limit: int = getattr(inject, name).top_k
    if name == "vault":  # of which some may be among the facts: see apart_from
        limit += inject.facts.top_k
    return selected(
        items,
        asked.carried.get(name, Carried()),
        asked.turn.message,
        limit=limit,
        max_overlap=inject.max_overlap,
        mask=inject.redact,
        overlap=overlaps(),
    )


def _recalled(
    asked: Asked, askings: Sequence[Asking], before: Sequence[Block], say: Say
) -> tuple[list[Block], list[SourceReport]]:
    """The blocks of the sources, and what became of each."""
    answers: dict[str, Answer] = {}
    for one in askings:
        if one.not_asked:
            continue
        answer = answers[one.name] = one.answer(asked.deadline, asked.allowed_ms)
        error = one.job.error if one.job is not None else None
        if error is not None:
            say(failure(one.name, error), logging.WARNING)
        elif answer.has_failed:
            say(f"{one.name}: {answer.recall.why}", logging.WARNING)
        elif answer.recall.status == "unavailable":  # it may well not be there at all
            say(f"{one.name}: {answer.recall.why}", logging.INFO)
    if "vault" in answers:
        answers["vault"] = _apart_from_facts(asked, answers)
    offers = [
        Offer(one.name, one.heading, one.settings.share, answers[one.name].chosen.entries)
        for one in askings
        if one.name in answers
    ]
    told = shared_out(before, offers, asked.inject.budget)
    reports = []
    for one in askings:
        top_k = one.settings.top_k
        if one.name in answers:
            reports.append(source_report(one.name, top_k, answers[one.name], told[one.name]))
        else:
            reports.append(not_asked(one.name, top_k, one.not_asked))
    return [one.block for one in told.values() if one.block is not None], reports


def _apart_from_facts(asked: Asked, answers: Mapping[str, Answer]) -> Answer:
    """What `vault` says, less what `facts` tells of the same notes."""
    facts = list(asked.carried.get("facts", Carried()).texts)
    if "facts" in answers:
        facts += [(one.id_key, one.said) for one in answers["facts"].chosen.entries]
    vault = answers["vault"]
    chosen = apart_from(vault.chosen, facts, asked.inject.vault.top_k, overlaps())
    return replace(vault, chosen=chosen)


# The blocks of `hooks`


@dataclass(slots=True)
class _Try:
    """One block on its way, on a thread of its own."""

    name: str
    earlier: Sequence[_Try]  # which stand before it in the message
    drafts: Callable[[], Iterator[Draft | None]]
    deadline: float
    ceiling: Room  # of all of a turn
    job: Job[None] | None = None
    block: Block | None = field(default=None)  # the best so far
    lacks_room: bool = False  # the blocks before it made that one shorter, or left it out

    def make(self) -> None:
        for draft in self.drafts():
            if time.monotonic() > self.deadline:
                return
            made: tuple[Block | None, bool] = (None, False)
            if draft is not None:
                room = self._room()
                made = draft.fitted(room.chars, room.tokens)
            self.block, self.lacks_room = made

    def _room(self) -> Room:
        """What the blocks before it leave; one that is slow is not waited for long."""
        now = time.monotonic()
        until = now + (self.deadline - now) / 4
        blocks = [one.block for one in self.earlier if one.job and one.job.is_done(until)]
        return self.ceiling.less(room_of(framed([block for block in blocks if block is not None])))


def _made(asked: Asked, gated: Gate, workers: Workers, say: Say) -> list[Block]:
    """The blocks that are ready by the deadline, in their order."""
    inject = asked.inject
    ceiling = Room(inject.budget if inject.enabled else _ANY_NUMBER, MAX_CHARS)
    tries: list[_Try] = []
    for name in _due(asked, gated):
        drafts = partial(_drafts, name, asked, gated)
        one = _Try(name, tuple(tries), drafts, asked.deadline, ceiling)
        one.job = workers.start((name, asked.home), one.make, by=asked.turn.session_id)
        if one.job is None:
            say(f"{name}: left out, for an earlier turn's has not ended yet", logging.WARNING)
        else:
            tries.append(one)
    blocks: list[Block] = []
    for one in tries:
        assert one.job is not None
        if not one.job.is_done(asked.deadline):
            one.job.is_late = True
            if one.block is None:
                late = f"left out, not ready within {asked.allowed_ms} ms"
                say(f"{one.name}: {late}", logging.WARNING)
        elif one.job.error is not None:
            say(failure(one.name, one.job.error), logging.WARNING)
        block, lacks_room = one.block, one.lacks_room
        if block is not None and not ceiling.holds(room_of(framed([*blocks, block]))):
            block, lacks_room = None, True
        if block is not None:
            blocks.append(block)
        if lacks_room:
            share = f"the {MAX_CHARS:,} characters that the blocks of a turn share"
            if inject.enabled:
                share = f"the {inject.budget:,} tokens of inject.budget and {share}"
            how, level = (
                ("left out", logging.WARNING) if block is None else ("shortened", logging.INFO)
            )
            say(f"{one.name}: {how}, for it lacks room in {share}", level)
    return blocks


def _due(asked: Asked, gated: Gate) -> list[str]:
    """The blocks to try, less those that search with a message that asks for nothing, and less
    what the vault as a source tells."""
    names = due(asked.hooks, asked.turn)
    if gated.kind == "closer":
        return [name for name in names if name in AFTER_CLOSER]
    if gated.kind == "short" or (asked.inject.enabled and asked.inject.vault.enabled):
        return [name for name in names if name != "dynamic_context"]
    return names


def _drafts(name: str, asked: Asked, gated: Gate) -> Iterator[Draft | None]:
    hooks, vault, turn = asked.hooks, asked.vault, asked.turn
    shown = turn.shown.get(name, frozenset())
    if name == "skill_context":
        yield sources.skill(hooks.skill_context, vault.config.path.parent, shown)
    elif name == "bootstrap_context":
        yield sources.bootstrap(hooks.bootstrap_context)
    elif name == "session_pack":
        focus = "" if gated.kind else gated.message
        made = vault.session_pack(focus, asked.home, turn.session_id, asked.deadline)
        yield sources.session_pack(hooks.session_pack, made)
    elif name == "recent_context":
        yield sources.recent(hooks.recent_context, asked.home, turn.session_id, time.time())
    elif name == "dynamic_context":
        yield from sources.dynamic(
            hooks.dynamic_context, vault, gated.message, shown, asked.deadline
        )
