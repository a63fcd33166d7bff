"""What a check of one note found, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Issue:
    severity: Literal["error", "warning"]
    code: str
    message: str
    field: str | None = None  # the property it is about
    line: int | None = None  # in the file, from 1
    suggestion: str | None = None  # what to write or do, on one line
