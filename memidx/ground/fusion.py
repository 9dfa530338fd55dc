"""Fusion: several ranked lists become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Share(NamedTuple):
    """What one stream gives to one item: its rank from 1, its score, and its part of the fused score."""

    rank: int
    score: float
    share: float


def rrf_share(rank: int, weight: float, k: int) -> float:
    """One term of reciprocal rank fusion, ``weight / (k + rank)``, ranks from 1.

    Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning methods,
    SIGIR 2009.
    """
    return weight / (k + rank)


def rrf(streams: Mapping[str, Sequence[tuple[int, float]]], weights: Mapping[str, float], k: int) -> dict[int, dict[str, Share]]:
    """Plain reciprocal rank fusion of (item, score) lists, best first; an item's fused score is the sum of its shares."""
    shares: dict[int, dict[str, Share]] = {}
    for name, items in streams.items():
        for rank, (item, score) in enumerate(items, 1):
            shares.setdefault(item, {})[name] = Share(rank, score, rrf_share(rank, weights[name], k))
    return shares


def fused_score(shares: Mapping[str, Share]) -> float:
    """The sum of an item's shares, added in the order of the streams' names so that it is the same everywhere."""
    return sum(shares[name].share for name in sorted(shares))
