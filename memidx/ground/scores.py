"""What a stream finds, before fusion."""

from __future__ import annotations

from typing import NamedTuple


class SectionScore(NamedTuple):
    """One section as one stream scored it; higher is better."""

    section: int
    page: int
    score: float


class VectorScore(NamedTuple):
    """A vector row and its cosine with the query."""

    row: int
    cosine: float
