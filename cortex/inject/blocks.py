"""Which blocks are on, and which of them are due in a turn."""

from __future__ import annotations

from ..config.legacy import BLOCKS
from ..config.schema import LEAST_BUDGET, HooksConfig
from .turn import Turn


def is_on(name: str, hooks: HooksConfig) -> bool:
    """Whether the settings want a block at all, and give it room."""
    settings = getattr(hooks, name)
    if name == "skill_context" and not settings.load_skill:
        return False
    return bool(settings.enabled and settings.budget >= LEAST_BUDGET)


def due(hooks: HooksConfig, turn: Turn) -> list[str]:
    """The blocks to try in this turn, in their order.

    One of the first turn is told there, unless the conversation carries it all the same. One of
    each turn finds out by itself what of it the conversation still carries.
    """
    return [
        name
        for name in BLOCKS
        if is_on(name, hooks)
        and (getattr(hooks, name).when == "each_turn" or (turn.is_first and name not in turn.shown))
    ]
