"""Which sessions of the host count, by the settings and what was asked for beside them."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..config import Config
from ..errors import UsageError
from ..home import expand
from ..records.transcripts import Wanted

SESSION_GLOBS = ("sessions/*.jsonl", "sessions/session_*.json")  # in the Hermes home
MAX_DAYS = 3650


def wanted_sessions(
    config: Config,
    home: Path,
    env: Mapping[str, str],
    now: dt.datetime,
    *,
    lookback_days: float | None = None,
    timezone: str | None = None,
    state_db_path: str | os.PathLike[str] | None = None,
    session_globs: Sequence[str] | None = None,
    legacy_fallback: bool | None = None,
    with_compacted: bool = False,
) -> Wanted:
    """What `cron.nightly_promotion` says, with what is given in its place.

    home: the Hermes home that asks; its own state.db counts unless another is named, and in one
    that several profiles share, the sessions of its profile. Raises UsageError.
    """
    settings = config.cron.nightly_promotion
    days = settings.lookback_days if lookback_days is None else lookback_days
    if not 0 < days <= MAX_DAYS:
        raise UsageError(f"lookback_days must be above 0 and at most {MAX_DAYS}, found {days:g}")
    database = state_db_path or settings.state_db_path or home / "state.db"
    globs = settings.session_globs if session_globs is None else session_globs
    has_fallback = settings.legacy_fallback_enabled
    return Wanted(
        database=_path(database, env),
        now=now,
        lookback_days=days,
        timezone=settings.timezone if timezone is None else timezone,
        globs=tuple(os.fspath(_path(pattern, env)) for pattern in globs)
        or tuple(os.fspath(home / pattern) for pattern in SESSION_GLOBS),
        legacy_fallback=has_fallback if legacy_fallback is None else legacy_fallback,
        profiles=_profiles(home, _path(database, env)),
        with_compacted=with_compacted,
    )


def _profiles(home: Path, database: Path) -> tuple[str, ...]:
    """Whose sessions count. The default profile's name none, so in its database, asked by another
    profile, those without a name are not the asker's.
    """
    if home.parent.name != "profiles":
        return ("default", "custom", "")  # as the host calls it, by where its home is
    root = home.parent.parent
    is_of_default = os.path.realpath(database.parent) == os.path.realpath(root)
    return (home.name,) if is_of_default else (home.name, "")


def _path(text: str | os.PathLike[str], env: Mapping[str, str]) -> Path:
    return expand(os.fspath(text), Path.cwd(), env)
