"""A candidate on its way to be a hit: what the steps after the fusion pass on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..types import ChannelTrace, Chunk, Json


@dataclass(slots=True)
class Ranked:
    """score = fused * product(factors), where fused = sum of the channels' contributions."""

    ordinal: int  # of the chunk
    note: int  # ordinal
    note_key: int
    chunk: Chunk
    fused: float
    channels: dict[str, ChannelTrace]
    factors: dict[str, float] = field(default_factory=dict)
    remarks: dict[str, Json] = field(default_factory=dict)
    duplicates: list[str] = field(default_factory=list)  # `path:lines` of copies not shown
    more_in_note: int = 0  # further chunks of its note that match and are not shown

    @property
    def score(self) -> float:
        return self.fused * self.factor

    @property
    def factor(self) -> float:
        return math.prod(self.factors.values())

    @property
    def place(self) -> str:
        """`folder/Note.md:3-9`, or `:3` for a chunk of one line."""
        first, last = self.chunk.start_line, self.chunk.end_line
        return f"{self.chunk.note}:{first}-{last}" if last > first else f"{self.chunk.note}:{first}"
