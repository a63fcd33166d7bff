"""Hermes Cortex: search and cited context over a Markdown vault.

from cortex import Cortex

cortex = Cortex.open()              # the settings of `cortex config path`
cortex.index(), cortex.embed(), cortex.build_graph()
for hit in cortex.search("how do I restart the gauge?").hits:
    print(hit.chunk.note, hit.chunk.start_line, hit.snippet)
print(cortex.build_context("how do I restart the gauge?", budget=1500).text)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__
from .errors import Busy, ConfigError, CortexError, Damaged, Unavailable, UsageError

if TYPE_CHECKING:
    from .app import Cortex
    from .types import Chunk, Citation, Context, Hit, SearchResult, Trace
    from .vault.reading import NoteText

__all__ = [
    "Busy",
    "Chunk",
    "Citation",
    "ConfigError",
    "Context",
    "Cortex",
    "CortexError",
    "Damaged",
    "Hit",
    "NoteText",
    "SearchResult",
    "Trace",
    "Unavailable",
    "UsageError",
    "__version__",
]

_TYPES = frozenset({"Chunk", "Citation", "Context", "Hit", "SearchResult", "Trace"})


def __getattr__(name: str) -> Any:
    """Load the parts when first asked for, so that `import cortex` stays instant."""
    if name == "Cortex":
        from .app import Cortex

        return Cortex
    if name == "NoteText":
        from .vault.reading import NoteText

        return NoteText
    if name in _TYPES:
        from . import types

        return getattr(types, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
