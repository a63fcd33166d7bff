"""Weighted reciprocal rank fusion: the score and its trace from one computation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from ..types import ChannelTrace

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ChannelScores:
    """What one channel thinks of the candidates of one query.

    scores: the channel's own, higher is better. calibrated: the same in (0, 1], 1 for its best.
    weight: of this channel for this query.
    """

    name: str
    weight: float
    scores: Mapping[int, float]
    calibrated: Mapping[int, float] = field(default_factory=dict)


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[Key]], weights: Mapping[str, float], k: float
) -> list[tuple[Key, float]]:
    """Fuse rankings into one list, best first.

    A channel gives weight / (k + rank) to each entry it ranked, counting from 1, and nothing to the
    others. Equal sums keep the order in which entries first appear, so equal input gives equal
    output. k is in ranks (Cormack, Clarke and Büttcher, SIGIR 2009).
    """
    sums: dict[Key, float] = {}
    for channel, ranking in rankings.items():
        for rank, key in enumerate(dict.fromkeys(ranking), start=1):  # listed twice: once, first
            sums[key] = sums.get(key, 0.0) + weights.get(channel, 1.0) / (k + rank)
    return sorted(sums.items(), key=lambda item: -item[1])


def fuse(
    channels: Sequence[ChannelScores], k: float, rank: Literal["calibrated", "ordinal"]
) -> dict[int, tuple[float, dict[str, ChannelTrace]]]:
    """candidate -> (fused score, trace by channel): the sum of weight / (k + rho).

    rho is the ordinal rank, or the calibrated rank k (1/s - 1) of a score s in (0, 1]: the best
    candidate of a channel then counts weight / k, one with half its score half as much, and one
    far behind next to nothing, where ordinal ranks would still give it most. A candidate that a
    channel does not have gets nothing from it.
    """
    fused: dict[int, tuple[float, dict[str, ChannelTrace]]] = {}
    for channel in channels:
        if channel.weight <= 0:
            continue
        order = sorted(channel.scores, key=lambda key: (-channel.scores[key], key))
        for position, key in enumerate(order, start=1):
            share: float | None = None
            rho = float(position)
            if rank == "calibrated":
                share = channel.calibrated[key]
                if share <= 0:
                    continue
                rho = k * (1 / share - 1)
            contribution = channel.weight / (k + rho)
            total, trace = fused.get(key, (0.0, {}))
            trace[channel.name] = ChannelTrace(
                position, channel.scores[key], share, rho, channel.weight, contribution
            )
            fused[key] = (total + contribution, trace)
    return fused
