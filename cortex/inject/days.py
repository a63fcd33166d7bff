"""The days, months and years that a message names, for what was said on them."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

_MONTHS = (  # English, German, French, Spanish, Portuguese
    "january januar janvier enero janeiro",
    "february februar février febrero fevereiro",
    "march märz mars marzo março",
    "april avril abril",
    "may mai mayo maio",
    "june juni juin junio junho",
    "july juli juillet julio julho",
    "august août agosto",
    "september septembre septiembre setembro",
    "october oktober octobre octubre outubro",
    "november novembre noviembre novembro",
    "december dezember décembre diciembre dezembro",
)
_NUMBER = {name: n for n, names in enumerate(_MONTHS, start=1) for name in names.split()}
_ALSO_OTHERWISE = {"may", "march", "mars", "mai"}  # months only beside a number
_NAME = rf"(?P<month>{'|'.join(sorted(_NUMBER, key=len, reverse=True))})"
_YEAR = r"(?:,?\s+(?:de\s+|of\s+)?(?P<year>(?:19|20)\d\d))?"
_FORMS = (
    re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<number>\d\d)(?:-(?P<day>\d\d))?\b"),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?{_NAME}\b{_YEAR}", re.I
    ),
    re.compile(rf"\b{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b{_YEAR}", re.I),
    re.compile(rf"\b{_NAME}\b{_YEAR}", re.I),
)
_NEAR_DAYS = 1  # from the day that is named: clocks differ, and a session goes on past midnight
_OF_MONTH = 0.5  # what the right month counts where a day is named


@dataclass(frozen=True, slots=True)
class Period:
    """A day, or a month, of one year or of any."""

    written: str  # as it stands in the message
    year: int | None
    month: int
    day: int | None

    def nearness(self, moment: float | None) -> float:
        """How much a time in Unix seconds, on the local clock, is in it: 0 to 1."""
        if moment is None:
            return 0.0
        try:
            date = dt.datetime.fromtimestamp(moment).date()
            if self.day is not None:
                named = dt.date(self.year or date.year, self.month, self.day)
                if abs((date - named).days) <= _NEAR_DAYS:
                    return 1.0
        except (ValueError, OverflowError, OSError):
            return 0.0
        if date.month != self.month or self.year not in (None, date.year):
            return 0.0
        return _OF_MONTH if self.day is not None else 1.0


def periods_of(message: str) -> tuple[Period, ...]:
    """The days and months that a message names, in order of their forms, each place once."""
    found: list[Period] = []
    left = message
    for form in _FORMS:
        for match in form.finditer(left):
            parts = match.groupdict()
            name = (parts.get("month") or "").casefold()
            month = _NUMBER[name] if name else int(parts["number"])
            year, day = parts.get("year"), parts.get("day")
            if name in _ALSO_OTHERWISE and not year and not day:
                continue
            if 1 <= month <= 12 and (day is None or 1 <= int(day) <= 31):
                written = match.group()
                found.append(
                    Period(written, int(year) if year else None, month, int(day) if day else None)
                )
        left = form.sub(lambda match: " " * len(match.group()), left)
    return tuple(found)


def nearness(periods: Sequence[Period], moment: float | None) -> float:
    """The best of several; 0 for none."""
    return max((period.nearness(moment) for period in periods), default=0.0)


def day_of(time: float, told_by: str) -> str:
    """The day of a note, as YYYY-MM-DD; "" where its file alone tells one: that may be any."""
    if told_by == "file":
        return ""
    return dt.datetime.fromtimestamp(time, dt.UTC).date().isoformat()
