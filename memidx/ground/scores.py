"""What a stream finds, before fusion."""

from __future__ import annotations

from typing import NamedTuple

from memidx.ground.errors import BrokenSnapshotError

SLACK = 1e-3  # rounding leaves a unit vector as long as this


class SectionScore(NamedTuple):
    """One section as one stream scored it; higher is better."""

    section: int
    page: int
    score: float


class VectorScore(NamedTuple):
    """A vector row and its cosine with the query."""

    row: int
    cosine: float


def check_cosine(largest: float, what: str) -> None:
    """Vectors have unit length: a cosine beyond 1, or one that is no number, is damage. Raises BrokenSnapshotError."""
    if not largest <= 1.0 + SLACK:
        raise BrokenSnapshotError(f"{what}: are damaged: a cosine is {largest:g}", hint="run `memidx build --full`")
