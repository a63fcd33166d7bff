"""The settings: find, parse and check them."""

from __future__ import annotations

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
    "EmbeddingsConfig",
    "EndpointConfig",
    "HermesMemoryConfig",
    "HooksConfig",
    "IndexConfig",
    "SearchConfig",
    "StaticFile",
    "ToolsConfig",
    "VaultConfig",
    "load",
    "require_vault",
]
