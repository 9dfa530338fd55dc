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
    """How shares are made for one question. ``decisive`` is the share of an exact title in the convex form."""

    form: str
    k: int
    weights: Mapping[str, float]
    decisive: float


Streams = Mapping[str, Sequence[tuple[int, float]]]
LEXICAL, TITLE, EXACT = "lexical", "title", 1.0
PLAIN = 1.0  # every stream's weight in plain reciprocal rank fusion


def rrf_share(rank: int, weight: float, k: int) -> float:
    """One term of reciprocal rank fusion, ``weight / (k + rank)``, ranks from 1.

    Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning methods,
    SIGIR 2009.
    """
    return weight / (k + rank)


def convex_share(score: float, top: float, weight: float) -> float:
    """``weight * score / top``, in [0, weight]; ``top`` is the greatest score there can be, or that was found.

    The convex combination of normalised scores, with zero as the least score: Bruch, Gai and Ingber, An analysis of
    fusion functions for hybrid retrieval, ACM TOIS 2023 (their TM2C2).
    """
    return weight * max(score, 0.0) / top if top > 0 else 0.0


def contrast(best: float, background: float) -> float:
    """In [0, 1]: how far the best cosine stands out of the vault's background, the mean cosine of all its sections.

    A model that does not know a language, or a word, finds everything equally near, and then its order means nothing.
    """
    return min(1.0, max(0.0, best - background))


def blend(
    best: Sequence[tuple[int, float]], whole: Mapping[int, float] | None, share: float
) -> Sequence[tuple[int, float]]:
    """(page, score), best first: each page's best section and, by ``share`` in [0, 1], the page as a whole.

    A section alone may match by chance, and a page alone may say much about other things too: what both say holds.
    """
    if whole is None:
        return best
    both = [(page, (1 - share) * score + share * whole.get(page, 0.0)) for page, score in best]
    return sorted(both, key=lambda item: -item[1])  # stable: of equals the one whose section came first


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
    if form.form == "rrf":
        return rrf_share(rank, PLAIN, form.k)
    if name == TITLE and score >= EXACT:
        return form.decisive
    # A cosine and a title's score mean the same for every question; BM25 has no greatest score but the best one found.
    return convex_share(score, top if name == LEXICAL else 1.0, form.weights[name])


def fused_score(shares: Mapping[str, Share]) -> float:
    """The sum of an item's shares."""
    # An exactly rounded sum: Python 3.12 changed how `sum` adds floats, and an answer must not depend on that.
    return math.fsum(share.share for share in shares.values())


def decisive_share(greatest_ratio: float, rest: float) -> float:
    """The share with which an exact title stays first whatever the authorities.

    A page without it has at most ``rest``, the sum of the other weights; with it at least this much. It suffices that
    the share is ``greatest_ratio`` times ``rest``; one hundredth more makes it strict.
    """
    return 1.01 * rest * greatest_ratio
