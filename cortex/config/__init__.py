"""The settings: find, parse and check them."""

from __future__ import annotations

from .cron import CronConfig, MaintenanceConfig, NightlyPromotionConfig, WeeklyReviewConfig
from .inject import InjectConfig
from .load import load
from .schema import (
    Config,
    ContextBuilderConfig,
    EmbeddingsConfig,
    EndpointConfig,
    HermesMemoryConfig,
    HooksConfig,
    IndexConfig,
    SearchConfig,
    StaticFile,
    ToolsConfig,
    VaultConfig,
    require_vault,
)

__all__ = [
    "Config",
    "ContextBuilderConfig",
    "CronConfig",
    "EmbeddingsConfig",
    "EndpointConfig",
    "HermesMemoryConfig",
    "HooksConfig",
    "IndexConfig",
    "InjectConfig",
    "MaintenanceConfig",
    "NightlyPromotionConfig",
    "SearchConfig",
    "StaticFile",
    "ToolsConfig",
    "VaultConfig",
    "WeeklyReviewConfig",
    "load",
    "require_vault",
]
