"""Weighted reciprocal rank fusion: the score and its trace from one computation."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, TypeVar

import numpy as np

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
) -> Fusion:
    """The sum of weight / (k + rho) over the channels, for each candidate.

    rho is the ordinal rank, or the calibrated rank k (1/s - 1) of a score s in (0, 1]: the best
    candidate of a channel then counts weight / k, one with half its score half as much, and one
    far behind next to nothing, where ordinal ranks would still give it most. A candidate that a
    channel does not have gets nothing from it.
    """
    return Fusion([_Shares(channel, k, rank) for channel in channels if channel.weight > 0], k)


class Fusion:
    """The fused scores of candidates, and what each channel gave to them.

    A trace is made when it is asked for: of thousands of candidates only the hits show theirs.
    """

    def __init__(self, channels: Sequence[_Shares], k: float) -> None:
        self._channels = channels
        self._k = k
        self._lifts: dict[int, dict[str, ChannelTrace]] = {}
        self.scores: dict[int, float] = {}  # of the candidates that got anything
        for channel in channels:
            for key, contribution in channel.contributions.items():
                self.scores[key] = self.scores.get(key, 0.0) + contribution

    def __getitem__(self, key: int) -> tuple[float, dict[str, ChannelTrace]]:
        """(score, trace by channel) of a candidate; 0 and nothing of one that got nothing."""
        traces = {c.name: c.trace(key) for c in self._channels if key in c.contributions}
        return self.scores.get(key, 0.0), {**traces, **self._lifts.get(key, {})}

    def given_by_alone(self, name: str) -> list[int]:
        """The candidates that got something from one channel and nothing from the others."""
        own = [c.contributions for c in self._channels if c.name == name]
        others = [c.contributions for c in self._channels if c.name != name]
        return [key for given in own for key in given if not any(key in o for o in others)]

    def drop(self, keys: Iterable[int]) -> None:
        """Take from candidates all that they got."""
        for key in keys:
            self.scores.pop(key, None)
            for channel in self._channels:
                channel.contributions.pop(key, None)

    def lift(self, key: int, name: str, contribution: float) -> None:
        """Give more to one candidate, as the first of a channel `name`."""
        trace = ChannelTrace(1, 1.0, None, 0.0, contribution * self._k, contribution)
        self._lifts.setdefault(key, {})[name] = trace
        self.scores[key] = self.scores.get(key, 0.0) + contribution


class _Shares:
    """What one channel gives to its candidates."""

    def __init__(self, channel: ChannelScores, k: float, rank: str) -> None:
        self._channel = channel
        self._k = k
        self._is_calibrated = rank == "calibrated"
        size = len(channel.scores)
        keys = np.fromiter(channel.scores, np.int64, size)
        order = np.lexsort((keys, -np.fromiter(channel.scores.values(), np.float64, size)))
        self._places = dict(zip(keys[order].tolist(), count(1), strict=False))
        self.name = channel.name
        weight = channel.weight
        if self._is_calibrated:
            shares = channel.calibrated
            self.contributions = {
                key: weight / (k + k * (1 / share - 1))
                for key in channel.scores
                if (share := shares[key]) > 0
            }
        else:
            self.contributions = {key: weight / (k + at) for key, at in self._places.items()}

    def trace(self, key: int) -> ChannelTrace:
        channel, place = self._channel, self._places[key]
        share = channel.calibrated[key] if self._is_calibrated else None
        rho = float(place) if share is None else self._k * (1 / share - 1)
        return ChannelTrace(
            place, channel.scores[key], share, rho, channel.weight, self.contributions[key]
        )
