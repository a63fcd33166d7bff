"""That a graph is about notes as they no longer are, told beside what it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import say

if TYPE_CHECKING:
    from ..app import Cortex


def told_drift(cortex: Cortex) -> list[str]:
    """What the graph does not know yet: said on stderr, and returned for a document of --json."""
    from ..checks.freshness import behind

    warnings = list(behind(cortex.freshness, cortex.state))
    for warning in warnings:
        say(warning)
    return warnings
