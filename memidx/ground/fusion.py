"""Fusion: several ranked lists become one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple


class Share(NamedTuple):
    """What one stream gives to one item: its rank from 1, its score, and its part of the fused score."""

    rank: int
    score: float
    share: float


class Form(NamedTuple):
    """How shares are made. ``decisive`` is the share of an exact title in the scored form."""

    form: str
    k: int
    power: float
    weights: Mapping[str, float]
    decisive: float


Streams = Mapping[str, Sequence[tuple[int, float]]]
TITLE, EXACT = "title", 1.0


def rrf_share(rank: int, weight: float, k: int) -> float:
    """One term of reciprocal rank fusion, ``weight / (k + rank)``, ranks from 1.

    Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning methods,
    SIGIR 2009.
    """
    return weight / (k + rank)


def scored_share(rank: int, score: float, top: float, weight: float, k: int) -> float:
    """``weight * (k + 1) / (k + rank) * score / top``: an RRF term in units of the first rank that fades.

    In [0, weight]; the sum over streams whose weights sum to 1 is in [0, 1].
    """
    return weight * (k + 1) / (k + rank) * max(score, 0.0) / top if top > 0 else 0.0


def fuse(streams: Streams, form: Form, only: AbstractSet[int] | None = None) -> dict[int, dict[str, Share]]:
    """Shares of every item, or of those in ``only``, of (item, score) lists, best first.

    Items of equal score have the same rank.
    """
    shares: dict[int, dict[str, Share]] = {}
    for name, items in streams.items():
        top = items[0][1] if items else 0.0
        rank, before = 0, None
        for position, (item, score) in enumerate(items, 1):
            if score != before:
                rank, before = position, score
            if only is None or item in only:
                shares.setdefault(item, {})[name] = Share(rank, score, _share(name, rank, score, top, form))
    return shares


def _share(name: str, rank: int, score: float, top: float, form: Form) -> float:
    weight = form.weights[name]
    if form.form == "rrf":
        return rrf_share(rank, weight, form.k)
    if name == TITLE:  # its scores mean the same for every query: they are not scaled by the best one
        return form.decisive if score >= EXACT else weight * score
    return scored_share(rank, score, top, weight, form.k)


def fused_score(shares: Mapping[str, Share], form: Form) -> float:
    """The sum of an item's shares; in the scored form, to the power.

    With power p, authority a overtakes authority 1 where that sum is at most ``a ** (1 / p)`` times its own.
    """
    # An exactly rounded sum: Python 3.12 changed how `sum` adds floats, and an answer must not depend on that.
    total = math.fsum(share.share for share in shares.values())
    return total**form.power if form.form == "scored" else total


def decisive_share(greatest_ratio: float, power: float, rest: float) -> float:
    """The share with which an exact title stays first whatever the authorities.

    A page without it has at most ``rest``, the sum of the other weights; with it at least this much. It suffices that
    ``share ** power`` is ``greatest_ratio`` times ``rest ** power``; one hundredth more makes it strict.
    """
    return float(1.01 * rest * greatest_ratio ** (1 / power))
