"""The section `cron`: the jobs that `cortex cron install` puts into the scheduler of Hermes."""

# ruff: noqa: RUF009  (setting() is dataclasses.field, which ruff knows by that name alone)
from __future__ import annotations

import re
import zoneinfo
from calendar import monthrange
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .setting import setting

# As the scheduler of Hermes reads them: digits only, no names of days or months.
_FIELDS = (
    ("the minute", 0, 59),
    ("the hour", 0, 23),
    ("the day", 1, 31),
    ("the month", 1, 12),
    ("the weekday", 0, 7),
    ("the second", 0, 59),
)
_PART = re.compile(r"(\*|\d+(?:-\d+)?)(?:/(\d+))?", re.ASCII)
_LEAP = 2024  # a year in which each month is at its longest


def wrong_schedule(schedule: str) -> str:
    """What is wrong with a schedule of five or six cron fields; "" if nothing is."""
    parts = schedule.split()
    if len(parts) not in (5, 6):
        example = "0 2 * * *"
        return f"must have 5 or 6 cron fields such as {example!r}, found {schedule!r}"
    values = []
    for (what, low, high), part in zip(_FIELDS, parts, strict=False):
        found = _values(part, low, high)
        if not found:
            return f"must have numbers from {low} to {high} for {what}, found {part!r}"
        values.append(found)
    days, months, weekdays = values[2], values[3], parts[4]
    if weekdays == "*" and min(days) > max(monthrange(_LEAP, month)[1] for month in months):
        return f"must name a day that its month has, found {schedule!r}"
    return ""


def _values(part: str, low: int, high: int) -> set[int]:
    """What a field stands for; empty if it is none."""
    found: set[int] = set()
    for item in part.split(","):
        match = _PART.fullmatch(item)
        if match is None:
            return set()
        first, _, last = match[1].partition("-")
        start = low if first == "*" else int(first)
        stop = high if first == "*" or (match[2] and not last) else int(last or first)
        step = int(match[2] or 1)
        if not low <= start <= stop <= high or step < 1:
            return set()
        found.update(range(start, stop + 1, step))
    return found


def wrong_timezone(name: str) -> str:
    """What is wrong with the name of a time zone; "" if nothing is, and for the system's own."""
    if not name:
        return ""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        # Where no zone is known at all, whether there is this one cannot be told.
        if zoneinfo.available_timezones() or not re.fullmatch(r"[A-Za-z0-9_+/-]+", name):
            return (
                f"must be a time zone such as Europe/Paris, empty for the system's, found {name!r}"
            )
    return ""


def _wrong_list(what: str) -> Any:
    def wrong(values: tuple[str, ...]) -> str:
        return "" if values else f"must name {what}"

    return wrong


def _name(default: str) -> Any:
    return setting(
        default,
        "its name in the scheduler of Hermes",
        pattern=r"\S([^\x00-\x1f\x7f]{0,98}\S)?",
        choices="some text of at most 100 characters, on one line",
    )


def _schedule(default: str, when: str) -> Any:
    return setting(
        default,
        "minute hour day month weekday, and at will the second at the end, on the scheduler's "
        f"clock; the default is {when}",
        wrong=wrong_schedule,
    )


def _deliver() -> Any:
    return setting(
        "origin",
        "where its report goes: origin (where the job was made), local, or a platform's name "
        "such as telegram",
        pattern=r"\S+",
        choices="one word, such as origin, local or telegram",
    )


def _toolsets() -> Any:
    return setting(
        ("cortex",),
        "what the model of this job may use; it needs neither files nor a terminal",
        wrong=_wrong_list("a toolset, e.g. [cortex]; for no model at all set model: false"),
    )


_TIMEZONE = "of the days it is about; empty means the system's. The scheduler keeps its own clock"
_MODEL = "false delivers the report as it is, with no model involved"


@dataclass(frozen=True, slots=True)
class NightlyPromotionConfig:
    """Drafts out of yesterday's sessions, then the promotion of what the inbox has ready."""

    enabled: bool = setting(False, "true lets cortex cron install make this job")
    name: str = _name("hermes-cortex-nightly-promotion")
    schedule: str = _schedule("0 2 * * *", "2:00 each night")
    timezone: str = setting("", _TIMEZONE, wrong=wrong_timezone)
    deliver: str = _deliver()
    model: bool = setting(True, _MODEL)
    enabled_toolsets: tuple[str, ...] = _toolsets()
    lookback_days: int = setting(1, "how far back sessions are read", unit="days", low=1, high=3650)
    state_db_path: Path | None = setting(None, "empty means state.db of the Hermes home that asks")
    legacy_fallback_enabled: bool = setting(
        True, "read session files where the database has nothing to read"
    )
    session_globs: tuple[Path, ...] = setting(
        (), "those files; empty means sessions/ of the Hermes home that asks"
    )
    dry_run_first: bool = setting(True, "write only if a dry run before found nothing wrong")


@dataclass(frozen=True, slots=True)
class WeeklyReviewConfig:
    """A report on duplicates, stale notes, broken links and contradictions; it writes nothing."""

    enabled: bool = setting(False, "true lets cortex cron install make this job")
    name: str = _name("hermes-cortex-weekly-review")
    schedule: str = _schedule("0 8 * * 1", "8:00 on Mondays")
    timezone: str = setting("", _TIMEZONE, wrong=wrong_timezone)
    deliver: str = _deliver()
    model: bool = setting(True, _MODEL)
    enabled_toolsets: tuple[str, ...] = _toolsets()
    output_format: Literal["markdown"] = setting("markdown", "the one there is")
    dry_run: bool = setting(True, "the review never writes; this only names it so in the report")
    stale_days: int = setting(
        180, "without a check, a note is stale after", unit="days", low=1, high=36500
    )
    stale_min_importance: float = setting(
        4.0, "stale notes of at least this importance are told", low=0, high=5
    )
    consolidation_min_degree: int = setting(
        3, "links a note needs to be the centre of a proposal", low=1, high=10000
    )


@dataclass(frozen=True, slots=True)
class MaintenanceConfig:
    """Index, embed and graph, brought up to the notes; no model is asked."""

    enabled: bool = setting(False, "true lets cortex cron install make this job")
    name: str = _name("hermes-cortex-maintenance")
    schedule: str = _schedule("30 3 * * *", "3:30 each night")
    deliver: str = _deliver()


@dataclass(frozen=True, slots=True)
class CronConfig:
    """Jobs in the scheduler of Hermes; none is there before `cortex cron install`."""

    nightly_promotion: NightlyPromotionConfig = NightlyPromotionConfig()
    weekly_review: WeeklyReviewConfig = WeeklyReviewConfig()
    maintenance: MaintenanceConfig = MaintenanceConfig()


def twins(cron: CronConfig) -> list[tuple[str, str]]:
    """Jobs that have the name of another, as (YAML path, what is wrong)."""
    found = []
    by_name: dict[str, str] = {}
    for section in ("nightly_promotion", "weekly_review", "maintenance"):
        name = getattr(cron, section).name.casefold()
        where = f"cron.{section}.name"
        if name in by_name:
            found.append((where, f"must not be that of {by_name[name]}"))
        by_name.setdefault(name, where)
    return found
