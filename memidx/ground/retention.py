"""Retention: how much of a page is still there in memory, and when it will have gone cold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memidx.ground.settings import DecaySettings

LONGEST_DAYS = 1_000_000.0  # beyond 2,700 years the answer is "never"
STEPS = 80  # of bisection: from a million days down to less than a second


def retention(salience: float, age_days: float, count: int, idle_days: float | None, settings: DecaySettings) -> float:
    """``salience x exp(-lambda x age) + sigma x ln(1 + count) x exp(-mu x days since access)``.

    The forgetting curve (Ebbinghaus 1885) plus what use adds to it. Ages below zero (a clock that went back, a date in
    the future) count as zero. ``idle_days`` is None for a page that was never accessed, and then the second term is 0.

    >>> from memidx.ground.settings import DecaySettings
    >>> round(retention(1.0, 200.0, 50, 2.0, DecaySettings()), 6)
    2.196035
    """
    kept = salience * math.exp(-settings.lam * max(age_days, 0.0))
    if count <= 0 or idle_days is None:
        return kept
    return kept + settings.sigma * math.log1p(count) * math.exp(-settings.mu * max(idle_days, 0.0))


def cold_after(
    salience: float, age_days: float, count: int, idle_days: float | None, settings: DecaySettings
) -> float | None:
    """Days from now until retention falls below ``cold`` if nothing happens; None when it never does.

    Negative for a page that is cold already: it went cold so many days ago. No further back than its last change or
    access: before that the curve was another one.
    """
    if count <= 0:
        idle_days = None
    start = -min(max(age_days, 0.0), math.inf if idle_days is None else max(idle_days, 0.0))

    def warm(days: float) -> bool:
        idle = None if idle_days is None else max(idle_days, 0.0) + days
        return retention(salience, max(age_days, 0.0) + days, count, idle, settings) >= settings.cold

    if not warm(start):
        return start
    if warm(LONGEST_DAYS):
        return None
    # Both terms only fall, so there is one crossing.
    low, high = start, LONGEST_DAYS
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if warm(middle) else (low, middle)
    return high
