"""How often pages were returned or read: daily counters of clones, which only grow, and their sum.

Two copies of one counter (the same clone, day and page) are the same counter: the greater one counts. Different ones
are added up. So a merge is again a union, in any order and with any repeats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.events import Owners, Page

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY_SECONDS = 86_400
MOST_A_DAY = 1440  # once a minute
AHEAD_DAYS = 1  # a clock may be so far ahead of ours; what is later still does not count before its day has come


class Accessed(NamedTuple):
    """The counters of one page in one clone. A day is a number of days since the epoch, UTC; ``last`` is in seconds."""

    path: str
    blob: str  # what the page held last
    clone: str
    days: tuple[tuple[int, int], ...]  # (day, count)
    last: int


class Use(NamedTuple):
    """How often a page was accessed, and when last (seconds since the epoch)."""

    times: int
    last: float


def accesses(rows: Iterable[Accessed], pages: Iterable[Page], now: float) -> dict[str, Use]:
    """The accesses of each page up to ``now``, by path.

    Counters belong to a path. When there is no page any more at a path, they follow its last text to where that is.
    """
    owners = Owners(pages)
    by_path: dict[str, list[Accessed]] = {}
    for row in rows:
        by_path.setdefault(row.path, []).append(row)
    counters: dict[str, dict[tuple[str, str, int], int]] = {}
    last: dict[str, float] = {}
    limit = int(now // DAY_SECONDS) + AHEAD_DAYS
    for path, known in by_path.items():
        page = _owner(path, known, owners)
        if page is None:
            continue
        for row in known:
            for day, count in row.days:
                if count > 0 and 0 <= day <= limit:
                    key = (path, row.clone, day)
                    mine = counters.setdefault(page, {})
                    mine[key] = max(mine.get(key, 0), min(count, MOST_A_DAY))
                    last[page] = max(last.get(page, 0.0), min(_moment(row, day), now))
    return {page: Use(sum(mine.values()), last[page]) for page, mine in counters.items()}


def _owner(path: str, rows: list[Accessed], owners: Owners) -> str | None:
    if owners.has(path):
        return path
    for row in sorted(rows, key=lambda r: (-r.last, r.blob)):
        if (page := owners.of_text(path, row.blob)) is not None:
            return page
    return None


def _moment(row: Accessed, day: int) -> float:
    """The last access on that day: exact on the row's last day, else the end of the day."""
    start = day * DAY_SECONDS
    exact = row.last if day == max(d for d, _ in row.days) else start + DAY_SECONDS - 1
    return float(min(max(exact, start), start + DAY_SECONDS - 1))
