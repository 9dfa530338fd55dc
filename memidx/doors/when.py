"""Moments as people type them: a date, a date with a time, or how long ago."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, timedelta

from memidx.ground.errors import UsageError
from memidx.parsing.dates import parse_date

_AGO = re.compile(r"(\d{1,6})([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24}
FORMS = "a date (2024-03-31), a date with a time (2024-03-31T10:00), or how long ago (12h, 30d, 2w, 6m, 1y)"


def parse_moment(text: str, option: str, now: float, *, end_of_day: bool = False) -> int:
    """Seconds since the epoch. Times without a zone are UTC; with ``end_of_day`` a bare date is its last second.

    Months and years are those of the calendar: a month before 31 March is 29 or 28 February. Raises UsageError.
    """
    ago = _AGO.fullmatch(text.strip().lower())
    try:
        return _before(now, int(ago[1]), ago[2]) if ago else parse_date(text, end_of_day=end_of_day)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option} {text}: not a moment", hint=f"give {FORMS}") from error


def _before(now: float, count: int, unit: str) -> int:
    moment = datetime.fromtimestamp(now, UTC)
    if unit in _HOURS:
        return int((moment - timedelta(hours=count * _HOURS[unit])).timestamp())
    months = moment.year * 12 + moment.month - 1 - count * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return int(moment.replace(year=year, month=month + 1, day=day).timestamp())
