"""hooks.context_injection, the older form of the blocks: what it means, and when it counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from .schema import (
    BootstrapContextConfig,
    Config,
    DynamicContextConfig,
    HooksConfig,
    RecentContextConfig,
    SkillContextConfig,
)

Origin = Literal["semantic", "semantic-default", "legacy"]

# In the order in which they stand behind the message; behind them stand the sources of `inject`.
BLOCKS = (
    "skill_context",
    "bootstrap_context",
    "session_pack",
    "recent_context",
    "dynamic_context",
)


def in_force(config: Config) -> tuple[HooksConfig, Origin]:
    """The blocks that count, and where they are from.

    One of today's blocks in the config is enough for context_injection to be ignored, and so is
    inject.enabled: true: "semantic". With context_injection alone they are made of it: "legacy".
    With none, the defaults: "semantic-default". A block is in the config when a setting stands
    below its name. The bare name does not count: `cortex init` writes all of them, with the
    settings below commented out. Nor does `inject` while it is off: it would tell nothing instead.
    """
    hooks = config.hooks
    if config.inject.enabled or any(_says_something(config, block) for block in BLOCKS):
        return hooks, "semantic"
    if not is_given(config):
        return hooks, "semantic-default"
    old = hooks.context_injection
    return (
        replace(
            hooks,
            skill_context=SkillContextConfig(
                enabled=old.enabled and old.load_skill, skill_path=old.skill_path
            ),
            bootstrap_context=BootstrapContextConfig(),
            recent_context=RecentContextConfig(),
            dynamic_context=DynamicContextConfig(
                enabled=old.enabled, budget=old.budget, query=old.query
            ),
        ),
        "legacy",
    )


def is_given(config: Config) -> bool:
    """Whether a setting stands below context_injection."""
    return _says_something(config, "context_injection")


def _says_something(config: Config, block: str) -> bool:
    return any(path.startswith(f"hooks.{block}.") for path in config.given)
