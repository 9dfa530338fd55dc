"""Measures of retrieval quality, one formula each. Checked against `ir-measures` in the tests.

They are here rather than in a library because both candidates bring scipy or numba along, over 100 MB for five lines.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

Ranking = Sequence[str]
Gains = Mapping[str, int]


def dcg(gains: Sequence[int]) -> float:
    """Discounted cumulative gain: the sum of ``gain / log2(rank + 1)``, ranks from 1 (Järvelin and Kekäläinen 2002)."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ndcg(ranking: Ranking, gains: Gains, k: int = 10) -> float:
    """DCG at k over that of the best possible order; 0 when nothing is relevant."""
    best = dcg(sorted((g for g in gains.values() if g > 0), reverse=True)[:k])
    return dcg([gains.get(item, 0) for item in ranking[:k]]) / best if best else 0.0


def reciprocal_rank(ranking: Ranking, gains: Gains, k: int = 10) -> float:
    """One over the rank of the first relevant item within k, else 0."""
    return next((1 / rank for rank, item in enumerate(ranking[:k], 1) if gains.get(item, 0) > 0), 0.0)


def recall(ranking: Ranking, gains: Gains, k: int) -> float:
    """The share of relevant items within the first k."""
    relevant = {item for item, gain in gains.items() if gain > 0}
    return len(relevant & set(ranking[:k])) / len(relevant) if relevant else 0.0


def hit(ranking: Ranking, gains: Gains, k: int = 1) -> float:
    """1 when a relevant item is within the first k."""
    return float(any(gains.get(item, 0) > 0 for item in ranking[:k]))


MEASURES: Mapping[str, Callable[[Ranking, Gains], float]] = {
    "nDCG@10": partial(ndcg, k=10),
    "MRR@10": partial(reciprocal_rank, k=10),
    "R@10": partial(recall, k=10),
    "R@100": partial(recall, k=100),
    "hit@1": partial(hit, k=1),
}


class Comparison(NamedTuple):
    """A paired comparison of two settings over the same queries."""

    before: float
    after: float
    better: int
    worse: int
    same: int
    p: float


def randomisation_test(
    before: Sequence[float], after: Sequence[float], *, rounds: int = 10_000, seed: int = 0
) -> Comparison:
    """Two-sided paired randomisation test on the mean difference (Smucker, Allan and Carterette, CIKM 2007).

    ``p`` is the share of rounds, with each pair's sign dealt at random, whose mean differs at least as much.
    """
    differences = [b - a for a, b in zip(before, after, strict=True)]
    count = len(differences) or 1
    observed = abs(math.fsum(differences))
    moving = [d for d in differences if d]
    dealt = random.Random(seed)  # noqa: S311 - a seeded generator: the same data gives the same p
    extreme = 0
    for _ in range(rounds if moving else 0):
        bits = dealt.getrandbits(len(moving))
        total = 0.0
        for position, difference in enumerate(moving):
            total += difference if bits >> position & 1 else -difference
        extreme += abs(total) >= observed - 1e-12
    return Comparison(
        math.fsum(before) / count,
        math.fsum(after) / count,
        sum(d > 0 for d in differences),
        sum(d < 0 for d in differences),
        sum(d == 0 for d in differences),
        (extreme + 1) / (rounds + 1) if moving else 1.0,
    )
