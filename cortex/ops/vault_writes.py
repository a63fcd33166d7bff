"""One planned change of one file of the vault, made or taken back; each may be done again.

Where a write stands is read from the file itself: it is as before, as after, or something else.
So a run that was killed goes on from what is there, and nothing is written over what somebody
else wrote meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ..files import sync_folder
from ..types import Json

Stand = Literal["before", "after", "other", "gone"]


@dataclass(frozen=True, slots=True)
class Write:
    """A file that is made (`before` is None) or replaced. Digests are SHA-256 of the bytes."""

    path: str  # vault-relative, "/"-separated
    before: str | None
    after: str
    mode: int = 0o644  # permission bits of the file before; of a new one, those it gets
    modified_ns: int = 0  # its time before, given back with its bytes
    made_folder: bool = False  # its folder was not there before

    @classmethod
    def from_json(cls, values: Mapping[str, Json]) -> Write:
        return cls(**{name: values[name] for name in cls.__slots__})


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def stand(vault: Path, write: Write) -> Stand:
    """How the file compares with the write. Raises OSError if it cannot be read."""
    try:
        data = read_plain(vault / write.path)
    except FileNotFoundError:
        return "before" if write.before is None else "gone"
    except NotAFile:
        return "other"
    found = digest(data)
    return "after" if found == write.after else "before" if found == write.before else "other"


class NotAFile(OSError):
    """A folder, a link or a device stands where a note is expected."""


def read_plain(path: Path) -> bytes:
    """The bytes of a regular file that is no link. Raises OSError, NotAFile among them."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise NotAFile(errno.EINVAL, "not a plain file", str(path))
    return path.read_bytes()


def apply(vault: Path, write: Write, data: bytes, temp: str) -> None:
    """Make or replace the file; the caller has seen that it stands as before.

    data: the bytes after. temp: the name of the file beside it that holds them until they are on
    the disk. Raises FileExistsError rather than replace what appeared meanwhile, and OSError.
    """
    place = vault / write.path
    place.parent.mkdir(parents=True, exist_ok=True)
    _put(vault, place, data, write.mode, temp, is_new=write.before is None)


def take_back(vault: Path, write: Write, data: bytes | None, temp: str) -> None:
    """Give back what was before; the caller has seen that the file stands as after.

    data: the bytes before; None for a file that was made, which is removed.
    """
    place = vault / write.path
    if data is not None:
        _put(vault, place, data, write.mode, temp, is_new=False)
        if write.modified_ns:
            os.utime(place, ns=(write.modified_ns, write.modified_ns))
        return
    os.unlink(place)
    sync_folder(place.parent)
    if write.made_folder:
        with contextlib.suppress(OSError):  # it is not empty any more
            os.rmdir(place.parent)


def remove_leftover(vault: Path, write: Write, temp: str) -> None:
    """What a killed run left of `apply` or `take_back`."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink((vault / write.path).parent / temp)


def _put(vault: Path, place: Path, data: bytes, mode: int, temp: str, *, is_new: bool) -> None:
    inside = os.path.relpath(place.parent, vault)
    wanted = os.path.normpath(os.path.join(os.path.realpath(vault), inside))
    if os.path.realpath(place.parent) != wanted:
        raise NotAFile(errno.EINVAL, "a link leads there, which is not followed", str(place))
    staged = place.parent / temp
    staged.unlink(missing_ok=True)
    try:
        handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(staged, mode)
        if is_new:
            _name(staged, place)
        else:
            os.replace(staged, place)
    finally:
        staged.unlink(missing_ok=True)
    sync_folder(place.parent)


def _name(staged: Path, place: Path) -> None:
    """Give a file its name if nothing has it. Raises FileExistsError."""
    if os.path.lexists(place):
        raise FileExistsError(errno.EEXIST, "something stands there already", str(place))
    try:
        os.link(staged, place)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        os.rename(staged, place)
