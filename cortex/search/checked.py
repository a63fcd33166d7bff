"""What callers give to a search, checked: other values than these raise UsageError."""

from __future__ import annotations

from typing import Any, Literal

from ..errors import UsageError
from ..text import brief


def checked_text(text: Any, *, may_be_blank: bool = False) -> str:
    if not isinstance(text, str):
        raise UsageError(f"the query must be text, not {type(text).__name__}")
    if not text.strip() and not may_be_blank:
        raise UsageError("the query is empty; say what to look for")
    return text


def checked_share(value: Any) -> float:
    try:
        share = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        share = float("nan")
    if not 0 <= share <= 1:
        raise UsageError(f"min_evidence must be a number from 0 to 1, not {brief(repr(value))}")
    return share


def checked_count(name: str, value: Any) -> int:
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} must be a whole number from 1 up, not {brief(repr(value))}")
    return value


def checked_group(value: Any) -> Literal["chunk", "note"]:
    if value not in ("chunk", "note"):
        raise UsageError(f"group must be chunk or note, not {brief(repr(value))}")
    return "note" if value == "note" else "chunk"


def checked_limit(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UsageError(
            "max_per_note must be a whole number, 0 for any number of chunks, not "
            f"{brief(repr(value))}"
        )
    return value
