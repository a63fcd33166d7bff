"""The record of packs that were let through with their secrets: that they were, never a secret."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from ..errors import CortexError
from ..files import append_event
from ..types import Json

RECORD = "audit.jsonl"  # in the state folder: a line of JSON for each use of --allow-secret


def record(state: Path, now: float, event: str, about: Mapping[str, Json]) -> None:
    """Append a line and see it on the disk. now: Unix seconds. Raises CortexError."""
    try:
        append_event(state / RECORD, dt.datetime.fromtimestamp(now, dt.UTC), event, about)
    except OSError as error:
        why = error.strerror or error
        raise CortexError(
            f"{RECORD} in the state folder cannot be written ({why}); without it no secret is "
            "let through"
        ) from None
