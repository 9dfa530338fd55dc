"""The second ranking formula: a weighted mean of five components, each in [0, 1]."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Days after which a page of this category counts half as recent.
HALF_LIVES: Mapping[str, float] = {
    "factual": 180.0,
    "procedural": 120.0,
    "preference": 45.0,
    "behavioral": 30.0,
    "episodic": 14.0,
}
KIND_CATEGORY: Mapping[str, str] = {
    "rule": "factual",
    "decision": "factual",
    "concept": "factual",
    "note": "factual",
    "procedure": "procedural",
    "gotcha": "procedural",
    "session": "episodic",
}
UNKNOWN_HALF_LIFE = 14.0
NEUTRAL_RECENCY = 0.5
NEUTRAL_CONFIDENCE = 0.5
FULL_ACCESS = 10
COMPONENTS = ("relevance", "recency", "usefulness", "confidence", "access")
SUM_TOLERANCE = 1e-9


def recency(age_days: float | None, half_life_days: float) -> float:
    """``exp(-ln 2 * age / half-life)``; an unknown age is neutral, one below zero (a clock went back) is zero."""
    if age_days is None:
        return NEUTRAL_RECENCY
    return math.exp(-math.log(2) * max(age_days, 0.0) / half_life_days)


def half_life(categories: Sequence[str], kind: str) -> float:
    """Days: of several categories the shortest, an unknown one 14; without a category the kind decides."""
    named = [category.casefold() for category in categories] or [KIND_CATEGORY.get(kind, "")]
    return min(HALF_LIVES.get(category, UNKNOWN_HALF_LIFE) for category in named)


def usefulness(helpful: int, unhelpful: int) -> float:
    """``(p + 1) / (p + n + 2)``: the rule of succession (Laplace), 0.5 without feedback."""
    return (helpful + 1) / (helpful + unhelpful + 2)


def access(count: int) -> float:
    """``min(1, count / 10)``."""
    return min(1.0, max(count, 0) / FULL_ACCESS)


def composite(components: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum; the weights sum to 1, so it stays in [0, 1]."""
    return math.fsum(weights[name] * components[name] for name in COMPONENTS)


def check_weights(weights: Mapping[str, float]) -> str:
    """Why these weights cannot be used; empty when they can."""
    for name in COMPONENTS:
        weight = weights.get(name)
        if weight is None:
            return f"there is no weight for {name}"
        if not (math.isfinite(weight) and 0 <= weight <= 1):
            return f"the weight of {name} must be from 0 to 1, not {weight:g}"
    unknown = sorted(set(weights) - set(COMPONENTS))
    if unknown:
        return f"there is no component {unknown[0]}"
    total = math.fsum(weights.values())
    return "" if abs(total - 1) <= SUM_TOLERANCE else f"the weights sum to {total:g}, not to 1"


def rescale(weights: Mapping[str, float], changes: Mapping[str, float]) -> dict[str, float]:
    """Set some weights and scale the others so that all sum to 1.

    >>> rescale({"a": 0.5, "b": 0.25, "c": 0.25}, {"a": 0.6})
    {'a': 0.6, 'b': 0.2, 'c': 0.2}
    """
    rest = 1 - math.fsum(changes.values())
    others = math.fsum(w for name, w in weights.items() if name not in changes)
    scaled = {}
    for name, weight in weights.items():
        if name in changes:
            scaled[name] = changes[name]
        else:
            scaled[name] = round(weight * rest / others, 12) if others > 0 else 0.0
    return scaled
