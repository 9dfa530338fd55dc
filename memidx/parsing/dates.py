"""Dates as people write them in front-matter, as seconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_SPACE_BEFORE_ZONE = re.compile(r"\s+(?=(?:Z|[+-]\d\d(?::?\d\d)?)\Z)", re.ASCII)
_LONGEST = 64


def parse_date(text: str, *, end_of_day: bool = False) -> int:
    """Seconds since the epoch of an ISO date or date-time, rounded down. Without a zone it is UTC.

    A bare date is its first second, or its last one (23:59:59) with ``end_of_day``. Also reads the form static site
    generators write, ``2024-03-31 10:00:00 +0900``. Raises ValueError for anything else, also for a day that is none.
    """
    text = text.strip()
    if len(text) > _LONGEST:
        raise ValueError("too long for a date")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = datetime.fromisoformat(_SPACE_BEFORE_ZONE.sub("", text))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // _SECOND
    midnight = (day - _EPOCH.date()).days * 86_400
    return midnight + 86_399 if end_of_day else midnight
