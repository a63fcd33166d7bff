"""That an answer is about notes as they no longer are, told beside what was asked for."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ..errors import CortexError
from .output import counted, say

if TYPE_CHECKING:
    from ..app import Cortex


def told_drift(cortex: Cortex) -> list[str]:
    """What the graph does not know yet: said on stderr, and returned for a document of --json."""
    from ..checks.freshness import behind

    warnings = list(behind(cortex.freshness, cortex.state))
    for warning in warnings:
        say(warning)
    return warnings


def tell_what_waits(cortex: Cortex) -> None:
    """The notes that were not searched, and may hold what was not found."""
    with contextlib.suppress(CortexError):  # the search has told what is wrong with the index
        freshness = cortex.freshness()
        waiting = freshness.added + freshness.changed if freshness else 0
        if waiting:
            say(f"{counted(waiting, 'note')} changed or came since the index; run: cortex index")
