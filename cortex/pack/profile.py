"""Whose sessions a pack may hold: a profile, its home, and the databases its sessions lie in.

A profile is a home of its own below `profiles` of the root home, with a state.db of its own. A
gateway that serves several keeps all their sessions in the state.db of the one it runs for, with
the profile's name in each row.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from ..records.sessions import connect
from ..redaction import redact

DEFAULT = "default"
# As the host calls the profile of a root home, by where that lies.
_OF_ROOT = frozenset({DEFAULT, "custom"})
DATABASE = "state.db"
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class Store:
    """A session database, and which of its rows are the profile's."""

    database: Path
    names: frozenset[str]  # as rows name the profile; "" is of those that name none
    is_own: bool  # it lies in the profile's own home


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    home: Path | None  # None for one that only a gateway's database knows
    stores: tuple[Store, ...]  # its own first
    is_asking: bool  # it is the one whose home asks


def profile_of(home: Path, named: str | None = None, database: Path | None = None) -> Profile:
    """The profile of that name, None being the one of `home`.

    home: the Hermes home that asks. database: of that one's sessions, where it is not the state.db
    of the home. Raises UsageError with the names there are.
    """
    root = home.parent.parent if home.parent.name == "profiles" else home
    asking = home.name if root != home else DEFAULT
    name = asking if named is None else named.strip()
    name = DEFAULT if name in _OF_ROOT else name
    homes = {DEFAULT: root, **_homes(root)}
    if root != home:
        homes[asking] = home
    own = homes.get(name)
    shared = [place / DATABASE for place in dict.fromkeys((root, home)) if place != own]
    if own is None and name not in {told for one in shared for told in _names_in(one)}:
        known = sorted({*homes, *(told for one in shared for told in _names_in(one))} - {"custom"})
        more = ", …" if len(known) > _MOST_NAMED else ""
        raise UsageError(
            f"there is no profile {redact(name)[0]!r}; there are "
            f"{redact(', '.join(known[:_MOST_NAMED]))[0]}{more}"
        )
    names = _OF_ROOT if name == DEFAULT else frozenset({name})
    stores = []
    if own is not None:
        place = own / DATABASE
        if database is not None and name == asking:
            place = database
        others = [other for other in homes.values() if other != own]
        is_others = any(_same(place.parent, other) for other in others)
        stores.append(Store(place, names if is_others else names | {""}, is_own=True))
    # A nameless row is of whoever has that home; so elsewhere the name must stand there.
    stores += [Store(place, frozenset({name}), is_own=False) for place in shared]
    return Profile(name, own, tuple(stores), is_asking=name == asking)


def _homes(root: Path) -> dict[str, Path]:
    with contextlib.suppress(OSError):
        places = sorted(place for place in (root / "profiles").iterdir() if place.is_dir())
        return {place.name: place for place in places if place.name not in _OF_ROOT}
    return {}


def _names_in(database: Path) -> Iterator[str]:
    """The profiles that rows of a database name; none for one that cannot be read."""
    if not database.is_file():
        return
    with contextlib.suppress(sqlite3.Error, OSError, ValueError):
        with contextlib.closing(connect(database)) as connection:
            rows = connection.execute("SELECT DISTINCT profile_name FROM sessions").fetchall()
        yield from sorted(row[0] for row in rows if isinstance(row[0], str) and row[0])


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
