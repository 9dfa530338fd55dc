"""Whether to build before answering. A pure decision over a few numbers."""

from __future__ import annotations

from typing import Literal, NamedTuple

# Measured on two slow cores; an estimate that is off by a factor of two moves a refresh, never an answer's truth.
UPDATE_SECONDS, UPDATE_SECONDS_PER_PAGE = 0.15, 0.003
FULL_SECONDS, FULL_SECONDS_PER_PAGE = 0.3, 0.002
# A slow model (`Slow`): one or two new sections for a changed page; its other sections are cached.
SLOW_SECONDS_PER_PAGE = 0.15


class Work(NamedTuple):
    """What a refresh would have to do."""

    pages: int  # in the vault
    touched: int  # added, changed or removed since the snapshot
    update: bool  # whether an update is possible; else everything is built
    embedded: int = 0  # pages that a slow model has to look at


def expected_seconds(work: Work) -> float:
    """About how long a refresh takes."""
    embedding = SLOW_SECONDS_PER_PAGE * work.embedded
    if work.update:
        return UPDATE_SECONDS + UPDATE_SECONDS_PER_PAGE * work.touched + embedding
    return FULL_SECONDS + FULL_SECONDS_PER_PAGE * work.pages + embedding


def refresh_or_not(work: Work, budget_seconds: float, *, have_answer: bool) -> Literal["refresh", "stale"]:
    """Refresh when it is quick, or when there is no older snapshot to answer from."""
    if not have_answer or expected_seconds(work) <= budget_seconds:
        return "refresh"
    return "stale"
