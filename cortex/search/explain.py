"""Why a hit stands where it does, and what it is worth, in a few words."""

from __future__ import annotations

from ..types import Hit, Trace

# Of the evidence. Below WEAK the best hit answers nothing: low on purpose, for an answer held back
# is worse than a poor one that is shown as poor.
WEAK, STRONG = 0.2, 0.8


def in_a_word(evidence: float) -> str:
    """strong, fair or weak."""
    return "strong" if evidence >= STRONG else "fair" if evidence >= WEAK else "weak"


def standing(hit: Hit) -> str:
    """`superseded by New.md; expired`: what of a hit's note no longer holds; "" if all holds."""
    labels = ["superseded by " + ", ".join(hit.replaced_by) if hit.replaced_by else "superseded"]
    labels = labels if "superseded" in hit.labels else []
    return "; ".join([*labels, *(label for label in hit.labels if label != "superseded")])


def why(trace: Trace) -> str:
    """`bm25 #1, vector #3; recency x 1.12`: places in the channels, factors other than 1.

    And `replaces Old.md`, for a note that stands where it does since it replaced that one.
    """
    places = {name: f"{name} #{given.rank}" for name, given in trace.channels.items()}
    if "replaces" in trace.notes:
        places["replaces"] = f"replaces {trace.notes['replaces']}"
    channels = ", ".join(places.values())
    told = {name: f"{factor:.2f}" for name, factor in trace.factors.items()}
    factors = [f"{name} x {factor}" for name, factor in told.items() if factor != "1.00"]
    return "; ".join([channels, *factors])
