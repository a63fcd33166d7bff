"""The switch of the environment that stops all that Cortex puts into conversations by itself."""

from __future__ import annotations

from collections.abc import Mapping

SWITCH = "HERMES_CORTEX_CONTEXT"
ON = ("", "on", "1", "true", "yes")  # at any other value of it nothing is injected or packed


def is_switched_off(env: Mapping[str, str]) -> bool:
    return env.get(SWITCH, "").strip().casefold() not in ON
