"""What became of a turn: what is put behind its message, from which source, and why not more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from ..generated import Block
from ..redaction import redact
from ..text import estimate_tokens, one_line
from ..types import Json
from .asking import Answer
from .budget import Told
from .gates import Gate
from .shown import Selection
from .source import Recall, Status

MOST_NAMED = 3  # of what was refused


@dataclass(frozen=True, slots=True)
class ItemReport:
    """One item that is told, as far as it may be named."""

    id: str
    label: str
    head: str
    score: float
    why: str  # what let it pass


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What one source was asked and said. The counts are of items."""

    name: str
    status: Status
    asked: bool  # False: `why` says what kept it from being asked
    why: str  # of a status that is not ok, or of an answer by another way than the first
    answered_by: str  # hybrid, vector, bm25, scan, ...
    requested: int  # its top_k
    matched: int
    gated: int  # below its threshold
    shown_before: int  # the conversation carries them as they are
    repeated: int  # say what something told before says, or the message
    refused_secret_items: int
    left_out_for_room: int
    injected: int
    tokens: int  # of its block, without the marks around it
    items: tuple[ItemReport, ...]


@dataclass(frozen=True, slots=True)
class BlockReport:
    """One block in the frame, of `hooks` or of a source."""

    name: str
    tokens: int
    characters: int


@dataclass(frozen=True, slots=True)
class Report:
    """All of a turn. Every text in it is as it may be told: without a secret."""

    enabled: bool  # inject.enabled
    session: str
    is_first: bool
    gate: Gate
    sources: tuple[SourceReport, ...]
    blocks: tuple[BlockReport, ...]
    tokens: int  # of the whole frame, by text.estimate_tokens
    characters: int
    budget: int  # tokens
    deadline_ms: int
    text: str  # what is put behind the message; "" for nothing
    remarks: tuple[str, ...] = ()  # on what of `hooks` is missing, shortened or shut off

    def document(self) -> dict[str, Json]:
        """It as JSON, without the message."""
        document: dict[str, Json] = asdict(self)
        document["gate"] = {"kind": self.gate.kind, "why": self.gate.why}
        return document

    def summary(self) -> str:
        """It on one line for a log: names and counts, no text."""
        parts = [f"gate {self.gate.kind}"] if self.gate.kind else []
        for source in self.sources:
            if source.asked:
                by = f" by {source.answered_by}" if source.answered_by else ""
                told = f" {source.injected} of {source.matched}" if source.matched else ""
                parts.append(f"{source.name} {source.status}{told}{by}")
        return f"{', '.join(parts) or 'no source asked'}; {self.tokens} of {self.budget} tokens"


def not_asked(name: str, requested: int, why: str) -> SourceReport:
    return _report(name, requested, Answer(Recall("empty", why=why)), Told(), asked=False)


def source_report(name: str, requested: int, answer: Answer, told: Told) -> SourceReport:
    """status: what the source says, as long as there is something of it to tell."""
    recall, chosen = answer.recall, answer.chosen
    status, why = recall.status, recall.why
    if recall.items and not chosen.entries:
        is_refused = len(chosen.refused) == len(recall.items)
        status = "refused" if is_refused else "empty"
        why = _joined(
            why,
            f"all of it holds a secret: {_heads(chosen)}" if is_refused else _nothing_new(chosen),
        )
    elif not recall.items:
        status = "empty" if status == "ok" else status
        why = _joined(why, recall.nearest)
    elif chosen.entries and not told.entries:
        why = _joined(why, "there is no room for any of it")
    answer = replace(answer, recall=replace(recall, status=status, why=why))
    return _report(name, requested, answer, told, asked=True)


def _joined(*whys: str) -> str:
    return "; ".join(filter(None, whys))


def _nothing_new(chosen: Selection) -> str:
    counts = (
        (chosen.shown_before, "shown before"),
        (chosen.repeated, "a repetition"),
        (len(chosen.refused), "refused for a secret"),
    )
    told = ", ".join(f"{count} {what}" for count, what in counts if count)
    return f"nothing of it is new: {told}" if told else ""


def _heads(chosen: Selection) -> str:
    """What was refused, as far as it may be named."""
    named = [redact(one_line(head))[0] for head in chosen.refused[:MOST_NAMED]]
    more = len(chosen.refused) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more > 0 else "")


def _report(name: str, requested: int, answer: Answer, told: Told, *, asked: bool) -> SourceReport:
    recall, chosen = answer.recall, answer.chosen
    return SourceReport(
        name=name,
        status=recall.status,
        asked=asked,
        why=redact(one_line(recall.why))[0],
        answered_by=recall.answered_by,
        requested=requested,
        matched=max(recall.matched, len(recall.items)),
        gated=recall.gated,
        shown_before=chosen.shown_before,
        repeated=chosen.repeated,
        refused_secret_items=len(chosen.refused),
        left_out_for_room=told.left_out,
        injected=len(told.entries),
        tokens=_tokens(told.block),
        items=tuple(
            ItemReport(item.id, item.label, head, _finite(item.score), item.why)
            for item, head in ((entry.item, entry.head) for entry in told.entries)
        ),
    )


def _finite(score: float) -> float:
    """Databases of others can hold what no document may: 9e999."""
    return round(score, 4) if math.isfinite(score) else 0.0


def block_reports(blocks: Sequence[Block]) -> tuple[BlockReport, ...]:
    return tuple(BlockReport(b.name, _tokens(b), len(b.text)) for b in blocks)


def _tokens(block: Block | None) -> int:
    return 0 if block is None else estimate_tokens(block.text)
