"""What a check of one note found, and how to mend it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import CortexError


@dataclass(frozen=True, slots=True)
class Issue:
    severity: Literal["error", "warning"]
    code: str
    message: str
    field: str | None = None  # the property it is about
    line: int | None = None  # in the file, from 1
    suggestion: str | None = None  # what to write or do; lines of a note each on their own


def refuse_unreadable(vault: Path) -> None:
    """Raise CortexError if the vault may not be read: no issue of a note, and no empty vault."""
    if not os.access(vault, os.R_OK | os.X_OK):
        raise CortexError(f"the vault {vault} cannot be read; give yourself the right to read it")
