"""What Cortex raises. A message says what was wrong, where, and what to do about it."""

from __future__ import annotations

SEEK = "look for it with: cortex search"  # how a message ends when there is no such note


class CortexError(Exception):
    """A mistake or a state that a person can mend. `exit_code` is what the CLI ends with."""

    exit_code = 1


class UsageError(CortexError):
    """Asked wrongly: a bad argument, filter, path or setting."""

    exit_code = 2


class ConfigError(UsageError):
    """The settings are missing or wrong; the message names the file and the key.

    faults: each thing that is wrong, with its line and key, where more than the file is known.
    """

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class Busy(CortexError):
    """Another process holds the writer lock."""


class Damaged(CortexError):
    """An artifact does not match its stamp; rebuilding it mends this."""


class Unavailable(CortexError):
    """A part that cannot work now. The pipeline above it carries on and reports it.

    what: the part, as a channel or engine name. why: one sentence that ends with the remedy.
    """

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        self.why = why
