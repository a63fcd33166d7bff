"""Why a hit stands where it does, in a line."""

from __future__ import annotations

from ..types import Trace


def why(trace: Trace) -> str:
    """`bm25 #1, vector #3; recency x 1.12`: places in the channels, factors other than 1."""
    channels = ", ".join(f"{name} #{given.rank}" for name, given in trace.channels.items())
    told = {name: f"{factor:.2f}" for name, factor in trace.factors.items()}
    factors = [f"{name} x {factor}" for name, factor in told.items() if factor != "1.00"]
    return "; ".join([channels, *factors])
