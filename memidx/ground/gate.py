"""The relevance gate: what may be scored at all. It stands before fusion and before every weight."""

from __future__ import annotations

import math
from typing import NamedTuple

SENTINEL = 0.5  # the least relevance of a page that words found


# A cosine says more than a word: at this weight one threshold serves vaults whose vocabulary is known to the questions
# and those where it is not (docs/ranking.md, "Nothing found").
COSINE_WEIGHT = 2.0


# A section that holds words worth this many of the vault's rarest ones is enough, however much else was asked.
# Off-topic and nonsense questions came to 1.41 at most.
RARE_WORDS = 1.5
ALL_WORDS = 0.999  # coverage is a sum of floats


class Calibration(NamedTuple):
    """Cut-offs that depend on the embedding model. Measured on real pages and nonsense questions (docs/ranking.md)."""

    min_similarity: float  # cosines below this are noise
    answer_floor: float  # evidence below this: the vault has no answer


# A model that nobody has measured here: nothing is cut off.
UNCALIBRATED = Calibration(0.0, 0.0)
# Without vectors the evidence is the coverage alone.
LEXICAL_ONLY = Calibration(0.0, 0.35)


def relevance(cosine: float | None, *, words: bool) -> float:
    """The cosine if a vector found the page, at least 0.5 if words found it. Finite, at least 0."""
    value = cosine if cosine is not None and math.isfinite(cosine) else 0.0
    return max(value, SENTINEL if words else 0.0, 0.0)


def passes(value: float, floor: float) -> bool:
    """Inclusive: a page exactly as relevant as the floor stays."""
    return value >= floor


def evidence(best_cosine: float, best_coverage: float) -> float:
    """How much speaks for an answer: coverage plus twice the cosine, at least 0.

    ``best_coverage`` is the share of the question's words, weighted by idf, that stand together in one section.
    """
    return max(best_coverage, 0.0) + COSINE_WEIGHT * max(best_cosine, 0.0)


def has_answer(amount: float, floor: float, *, names_a_page: bool, coverage: float, rare_words: float) -> bool:
    """Whether to answer at all. The name of a page, or a section that holds every word of the question, is enough.

    So is a section with rare words: ``rare_words`` is the idf of the question's words that it holds, over the idf of a
    word that stands in one section alone.
    """
    return names_a_page or coverage >= ALL_WORDS or rare_words >= RARE_WORDS or amount >= floor
