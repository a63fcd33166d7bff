"""Notes that people name on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..app import Cortex


@contextmanager
def naming(cortex: Cortex, *names: str | None) -> Iterator[None]:
    """Where a name stands for no note, say so if the settings leave the note out that it means.

    The agent is never told: to it there is no such note.
    """
    from ..errors import UsageError
    from ..text import brief
    from ..vault.reading import NoNote

    try:
        yield
    except NoNote:
        for name in filter(None, names):
            found = cortex.left_out(name)
            if found:
                raise UsageError(
                    f"{brief(', '.join(found))} is left out of the index by the settings; "
                    "see: cortex config show"
                ) from None
        raise
