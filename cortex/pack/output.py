"""Where a pack may be written, and writing it there: whole or not at all, for its owner alone."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

from ..errors import CortexError, UsageError
from ..files import STAGED, sync_folder
from .model import KIND
from .verify import MOST_BYTES, Broken, opened


def checked_output(path: Path, vault: Path | None) -> Path:
    """`path`, if a pack may be written there.

    Raises UsageError when it lies in the vault, where notes are, or would replace what is no pack.
    """
    if str(path) in ("-", "."):
        raise UsageError("--out takes the name of a file; on stdout the pack is in any case")
    place = Path(os.path.realpath(path.parent)) / path.name
    if vault is not None and Path(os.path.realpath(vault)) in place.parents:
        raise UsageError(
            f"{path} lies in the vault, which packs are no part of; name another place"
        )
    if not place.parent.is_dir():
        raise UsageError(f"there is no folder {path.parent}; make it, or name another place")
    if os.path.lexists(place) and not _is_pack(place):
        raise UsageError(f"{path} is there already, and no pack; name another place")
    return place


def write_pack(path: Path, data: bytes) -> None:
    """Put `data` in the place of the file, which nobody else may read. Raises CortexError."""
    try:
        handle, staged = tempfile.mkstemp(prefix=STAGED, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(staged, path)
        except BaseException:
            Path(staged).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        why = error.strerror or error
        raise CortexError(f"the pack cannot be written to {path}: {why}") from None


def read_input(name: str) -> bytes:
    """What stands in a file that is to be a pack; `-` is stdin. Raises UsageError."""
    if name == "-":
        return _bounded(sys.stdin.buffer.read(MOST_BYTES + 1), "stdin")
    path = Path(name)
    try:
        if not path.is_file():
            what = "is no plain file" if path.exists() else "is not there"
            raise UsageError(f"{path} {what}; name a file that holds a pack, or - for stdin")
        with open(path, "rb") as file:
            return _bounded(file.read(MOST_BYTES + 1), str(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_BYTES:
        raise UsageError(f"{name} is too large for a pack")
    return data


def _is_pack(place: Path) -> bool:
    """Whether a file is a pack, or what is left of one that was damaged."""
    try:
        data = read_input(str(place))
        opened(data)
    except Broken:
        return _BEGINS.match(data) is not None
    except UsageError:
        return False
    return True


_BEGINS = re.compile(rb'\s*\{[^{}\[\]]*"kind"\s*:\s*"' + KIND.encode() + rb'"')
