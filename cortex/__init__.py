"""Hermes Cortex: search and cited context over a Markdown vault.

from cortex import Cortex

cortex = Cortex.open()              # the settings of `cortex config path`
cortex.index(), cortex.embed(), cortex.build_graph()
for hit in cortex.search("how do I restart the gauge?").hits:
    print(hit.chunk.note, hit.chunk.start_line, hit.snippet)
print(cortex.build_context("how do I restart the gauge?", budget=1500).text)

What looks after a vault (new notes, checks, promotion, jobs) is Desk, opened in the same way:

from cortex import Desk, NewNote

Desk.open().new_note(NewNote("Slate instead of tiles", type="decision", body="Lasts longer."))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__
from .errors import Busy, ConfigError, CortexError, Damaged, Unavailable, UsageError

if TYPE_CHECKING:
    from .app import Cortex
    from .desk import Desk
    from .ops.notes import NewNote
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
    "Desk",
    "Hit",
    "NewNote",
    "NoteText",
    "SearchResult",
    "Trace",
    "Unavailable",
    "UsageError",
    "__version__",
]

# Which module has each of the names that are loaded when first asked for.
_MODULES = {
    "Cortex": ".app",
    "Desk": ".desk",
    "NewNote": ".ops.notes",
    "NoteText": ".vault.reading",
    **dict.fromkeys(("Chunk", "Citation", "Context", "Hit", "SearchResult", "Trace"), ".types"),
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first asked for, so that `import cortex` stays instant."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)
