"""The relevance gate: what may be scored at all. It stands before fusion and before every weight."""

from __future__ import annotations

import math
from typing import NamedTuple

SENTINEL = 0.5  # the least relevance of a page that words found


class Calibration(NamedTuple):
    """Cut-offs that depend on the embedding model. Measured on real pages and nonsense questions (docs/ranking.md)."""

    min_similarity: float  # cosines below this are noise
    answer_floor: float  # best cosine plus best coverage below this: the vault has no answer


# A model that nobody has measured here: nothing is cut off but what words alone would not answer either.
UNCALIBRATED = Calibration(0.0, 0.55)
# Without vectors the cosine is missing from the evidence: coverage alone must reach this.
LEXICAL_ONLY = Calibration(0.0, 0.55)


def relevance(cosine: float | None, *, words: bool) -> float:
    """The cosine if a vector found the page, at least 0.5 if words found it. Finite, at least 0."""
    value = cosine if cosine is not None and math.isfinite(cosine) else 0.0
    return max(value, SENTINEL if words else 0.0, 0.0)


def passes(value: float, floor: float) -> bool:
    """Inclusive: a page exactly as relevant as the floor stays."""
    return value >= floor


def has_answer(best_cosine: float, best_coverage: float, floor: float, *, names_a_page: bool) -> bool:
    """Whether the evidence is enough to answer at all. The exact name of a page is always enough.

    ``best_coverage`` is the share of the question's words, weighted by idf, that stand together in one section.
    """
    return names_a_page or best_cosine + best_coverage >= floor
