"""The decay of every page: salience, age, accesses, retention, and the day it goes cold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.accesses import DAY_SECONDS, Accessed, Use, accesses
from memidx.ground.events import Judged, Page, judge
from memidx.ground.history import History, bulk_size
from memidx.ground.listing import path_key
from memidx.ground.page import PageRules
from memidx.ground.retention import cold_after, retention
from memidx.parsing.sidecar import access_line, parse_sidecar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memidx.ground.listing import Entry
    from memidx.ground.settings import DecaySettings, Settings
    from memidx.parsing.sidecar import Sidecar
    from memidx.stores.catalog import PageRow
    from memidx.stores.git import Git
    from memidx.stores.sidecar import SidecarFile

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = Use(0, 0.0)


class PageDecay(NamedTuple):
    """One page. Ages are in days; None where they are not known, and then neither is retention."""

    path: str
    title: str
    kind: str
    salience: float
    helpful: int
    unhelpful: int
    flags: tuple[str, ...]
    changed_at: int | None  # seconds since the epoch
    dated_by: str  # "page", "history", "uncommitted" or "" when unknown
    age_days: float | None
    accesses: int
    idle_days: float | None  # since the last access
    retention: float | None
    cold: bool
    cold_on: str | None  # ISO date; None when never or unknown

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {"flags": list(self.flags)}


class Knowledge(NamedTuple):
    """What decay depends on besides the pages and the clock."""

    sidecar: Sidecar
    here: Sequence[Accessed]  # the accesses of this clone
    history: History | None  # None when it is not known: a shallow clone
    places: Sequence[Page]  # every page there is


def decay(
    pages: Iterable[PageRow], known: Knowledge, settings: DecaySettings, now: float, clock: float | None = None
) -> list[PageDecay]:
    """The decay of these pages, the coldest first; those whose retention is not known come last.

    ``clock`` is the real time when ``now`` is another: texts that were never committed changed then.
    """
    judged = judge(known.sidecar.events, known.places, settings)
    used = accesses([*known.sidecar.accessed, *known.here], known.places, now)
    changed = dater(known.history, len(known.places), settings, now if clock is None else clock)
    fresh = Judged(settings.salience)
    found = []
    for row in pages:
        state, use = judged.get(row.path, fresh), used.get(row.path, NEVER)
        found.append(_page(row, state, use, dated=changed(row), settings=settings, now=now))
    return sorted(found, key=lambda p: (p.retention is None, p.retention or 0.0, path_key(p.path)))


def read_rows(git: Git, entries: Sequence[Entry], settings: Settings) -> list[PageRow]:
    """What decay needs to know of a few pages, read from them and not from an index."""
    from memidx.parsing.page import parse_page
    from memidx.stores.catalog import PageRow

    rules = PageRules(tuple(settings.pages.kinds.items()), settings.sections.max_chars)
    rows = []
    for entry, data in git.read(entries):
        page = parse_page(entry.path, data, rules)
        rows.append(PageRow(0, entry.path, entry.blob, page.title, page.kind, page.meta.changed_at, page.degraded, {}))
    return rows


def dater(
    history: History | None, pages: int, settings: DecaySettings, now: float
) -> Callable[[PageRow], tuple[int | None, str]]:
    """When a page changed and who says so: its own front-matter, else history, else nobody."""
    bulk = bulk_size(pages, settings.bulk_share, settings.bulk_least)

    def changed(row: PageRow) -> tuple[int | None, str]:
        if row.changed_at is not None:
            return row.changed_at, "page"
        if history is None:
            return None, ""
        if not history.is_committed(row.path, row.blob):
            return int(now), "uncommitted"
        at = history.changed_at(row.path, bulk)
        return at, "history" if at is not None else ""

    return changed


def _page(
    row: PageRow, state: Judged, use: Use, *, dated: tuple[int | None, str], settings: DecaySettings, now: float
) -> PageDecay:
    changed_at, by = dated
    age = None if changed_at is None else max(now - changed_at, 0.0) / DAY_SECONDS
    idle = max(now - use.last, 0.0) / DAY_SECONDS if use.times else None
    kept = after = None
    if age is not None:
        kept = retention(state.salience, age, use.times, idle, settings)
        after = cold_after(state.salience, age, use.times, idle, settings)
    return PageDecay(
        path=row.path,
        title=row.title,
        kind=row.kind,
        salience=state.salience,
        helpful=state.helpful,
        unhelpful=state.unhelpful,
        flags=state.flags,
        changed_at=changed_at,
        dated_by=by,
        age_days=age,
        accesses=use.times,
        idle_days=idle,
        retention=kept,
        cold=kept is not None and kept < settings.cold,
        cold_on=None if after is None else day_after(now, after),
    )


def curve(page: PageDecay, settings: DecaySettings, days: int, points: int = 256) -> list[tuple[float, float]]:
    """Retention over the coming days if nothing happens: (days from now, retention). The page's age is known."""
    found = []
    for number in range(points):
        later = days * number / (points - 1)
        idle = None if page.idle_days is None else page.idle_days + later
        found.append((later, retention(page.salience, (page.age_days or 0.0) + later, page.accesses, idle, settings)))
    return found


def day_after(now: float, days: float) -> str | None:
    """The date so many days after ``now``, UTC; None beyond the calendar."""
    try:
        return (EPOCH + timedelta(seconds=now) + timedelta(days=days)).date().isoformat()
    except OverflowError:
        return None


def unshared(rows: Iterable[Accessed], shared: Sidecar, clone: str) -> list[Accessed]:
    """What of this clone's counters the sidecar does not say yet. ``rows`` are the clone's own."""
    said: dict[tuple[str, int], int] = {}
    for row in shared.accessed:
        if row.clone == clone:
            for day, count in row.days:
                said[row.path, day] = max(said.get((row.path, day), 0), count)
    found = []
    for row in rows:
        days = tuple((day, count) for day, count in row.days if count > said.get((row.path, day), 0))
        if days:
            found.append(row._replace(clone=clone, days=days))
    return found


def share(
    file: SidecarFile,
    rows: Sequence[Accessed],
    clone: str,
    *,
    now: float,
    read: Callable[[Sidecar], Sidecar],
    new_id: Callable[[], str],
) -> list[Accessed]:
    """Write what is new of this clone's counters into the sidecar. Returns what was written."""
    written: list[Accessed] = []

    def lines(text: str) -> list[str]:
        written[:] = unshared(rows, read(parse_sidecar(text)), clone)
        return [access_line(row, new_id(), int(now)) for row in written]

    file.append(lines)
    return written
