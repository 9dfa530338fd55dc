"""Who is swept, who is not although it could be, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.listing import path_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memidx.ground.settings import DecaySettings


class Subject(NamedTuple):
    """What the decision about one page depends on. ``retention`` is None when the page's age is not known."""

    path: str
    kind: str
    retention: float | None
    expires_at: int | None = None  # seconds since the epoch
    pinned: bool = False
    dirty: bool = False
    linked_from: tuple[str, ...] = ()  # pages of kept kinds, in force, that link here


class Verdict(NamedTuple):
    """One page that is cold or expired. ``kept`` says why it is left; empty when it is swept."""

    path: str
    reason: str  # "expired" or "cold"
    retention: float | None
    expires_at: int | None
    kept: str


def decide(subjects: Iterable[Subject], now: float, settings: DecaySettings) -> list[Verdict]:
    """Every page that is expired or cold: the expired ones first, then the coldest; those that are kept come last."""
    found = [verdict for subject in subjects if (verdict := _judge(subject, now, settings))]
    return sorted(found, key=_order)


def _judge(page: Subject, now: float, settings: DecaySettings) -> Verdict | None:
    expired = page.expires_at is not None and page.expires_at < now
    cold = page.retention is not None and page.retention < settings.cold
    if not expired and not cold:
        return None
    return Verdict(
        page.path,
        "expired" if expired else "cold",
        page.retention,
        page.expires_at,
        _protection(page, settings, expired),
    )


def _protection(page: Subject, settings: DecaySettings, expired: bool) -> str:  # noqa: FBT001 - private
    """Why the page stays. Its own date outranks its pin and its kind, but not other pages that rest on it."""
    if page.dirty:
        return "has uncommitted changes"
    if not expired and page.kind in settings.keep_kinds:
        return f"is a {page.kind}"
    if not expired and page.pinned:
        return "is pinned"
    if page.linked_from:
        others = len(page.linked_from) - 1
        more = f" and {others} more" if others else ""
        return f"is linked from {page.linked_from[0]}{more}"
    return ""


def _order(verdict: Verdict) -> tuple[bool, bool, float, bytes]:
    expired = verdict.reason == "expired"
    rank = float(verdict.expires_at or 0) if expired else verdict.retention or 0.0
    return bool(verdict.kept), not expired, rank, path_key(verdict.path)


def too_many(swept: int, pages: int, share: float) -> bool:
    """Whether so many removals need a second word."""
    return swept > share * pages
