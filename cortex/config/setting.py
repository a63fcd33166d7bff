"""A setting: a dataclass field whose metadata says what its value means and may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Setting:
    """What a field's metadata says about its value."""

    meaning: str  # one line, for the commented config
    unit: str = ""
    low: float | None = None  # inclusive
    high: float | None = None  # inclusive
    above: float | None = None  # exclusive
    pattern: str = ""  # a regular expression that the whole text matches
    choices: str = ""  # what `pattern` allows, in words
    base: Literal["config", "state"] = "config"  # the folder that a relative default path starts at
    may_be_path: bool = False  # a text that starts like a path is expanded as one
    wrong: Callable[[Any], str] | None = None  # what is wrong with a value, "" if nothing is


def setting(default: Any, meaning: str, **about: Any) -> Any:
    """A dataclass field; `about` are the other fields of Setting."""
    return field(default=default, metadata={"setting": Setting(meaning, **about)})
