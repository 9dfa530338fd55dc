"""The state of a memory on one screen: rules, decisions in force, what is new, and what needs somebody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.authority import claims_of, counting_tags, status_reasons
from memidx.ground.listing import path_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memidx.ground.settings import AuthoritySettings
    from memidx.stores.catalog import PageRow

DAY_SECONDS = 86_400
EXPIRING_DAYS = 30
ROWS = 5  # of each part, so that all of it fits a screen of 24 to 40 lines


class Line(NamedTuple):
    """One page in a part of the brief. ``note`` says what there is to it: a date, why it needs somebody."""

    path: str
    title: str
    kind: str
    note: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the brief: its first lines, and how many pages there are in all."""

    name: str  # rules, decisions, new or attention
    lines: tuple[Line, ...]
    total: int

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {"name": self.name, "total": self.total, "pages": [line._asdict() for line in self.lines]}


@dataclass(frozen=True, slots=True)
class Brief:
    """What `brief` returns."""

    pages: int
    days: int
    parts: tuple[Part, ...]
    notices: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {"pages": self.pages, "days": self.days, "parts": [part.as_json() for part in self.parts]}


def brief(
    rows: Iterable[PageRow],
    changed: Callable[[PageRow], tuple[int | None, str]],
    flagged: Mapping[str, Sequence[str]],
    settings: AuthoritySettings,
    *,
    now: float,
    days: int,
    most: int = ROWS,
    notices: Sequence[str] = (),
) -> Brief:
    """Rules and decisions that are in force, pages changed in the last ``days``, and those that need somebody."""
    pages = list(rows)
    dated = {row.path: changed(row)[0] for row in pages}

    def newest(row: PageRow) -> tuple[bool, int, bytes]:
        return not row.meta.get("pinned"), -(dated[row.path] or 0), path_key(row.path)

    def line(row: PageRow, note: str) -> Line:
        return Line(row.path, row.title, row.kind, note)

    standing = [row for row in pages if in_force(row, settings, now)]
    rules = sorted((row for row in standing if row.kind == "rule"), key=newest)
    decisions = sorted((row for row in standing if row.kind == "decision"), key=newest)
    since = now - days * DAY_SECONDS
    fresh = [row for row in pages if since <= (dated[row.path] or 0) <= now + DAY_SECONDS]
    fresh.sort(key=lambda row: (-(dated[row.path] or 0), path_key(row.path)))
    wanting = [(row, why) for row in pages if (why := attention(row, flagged.get(row.path, ()), now))]
    parts = (
        ("rules", [line(row, "pinned" if row.meta.get("pinned") else "") for row in rules]),
        ("decisions", [line(row, ago(dated[row.path], now)) for row in decisions]),
        ("new", [line(row, ago(dated[row.path], now)) for row in fresh]),
        ("attention", [line(row, why) for row, why in wanting]),
    )
    made = tuple(Part(name, tuple(lines[:most]), len(lines)) for name, lines in parts)
    return Brief(len(pages), days, made, tuple(notices))


def in_force(row: PageRow, settings: AuthoritySettings, now: float) -> bool:
    """Whether nothing says that the page no longer holds: not superseded, inactive, deprecated or expired."""
    claims = claims_of(row.kind, row.meta, counting_tags(settings))
    tags = {tag.casefold() for tag in claims.tags}
    expires = row.meta.get("expires_at")
    expired = isinstance(expires, int) and expires < now
    return not expired and not status_reasons(claims, tags, settings)


def attention(row: PageRow, flags: Sequence[str], now: float) -> str:
    """Why somebody should look at the page; "" when there is no need."""
    why = []
    if flags:
        why.append(f"said to be {' and '.join(flags)}")
    expires = row.meta.get("expires_at")
    if isinstance(expires, int) and expires < now + EXPIRING_DAYS * DAY_SECONDS:
        days = int((expires - now) // DAY_SECONDS)
        why.append("expires today" if not days else f"expires in {days} d" if days > 0 else f"expired {-days} d ago")
    if row.degraded:
        why.append("could not be read as meant")
    return ", ".join(why)


def ago(at: int | None, now: float) -> str:
    """``today``, ``3 d ago``; "" when it is not known."""
    if at is None:
        return ""
    days = int(max(now - at, 0) // DAY_SECONDS)
    return "today" if not days else f"{days} d ago"
