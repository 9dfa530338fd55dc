"""How full of deleted sections an index is, so that a caller can decide to build it anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memidx.stores.lexical.meta import broken, read_meta

if TYPE_CHECKING:
    from pathlib import Path


class LexicalStats(NamedTuple):
    """Counts of sections and segments. Deleted sections still weigh in document frequencies."""

    live: int
    deleted: int
    segments: int


def stats(folder: Path) -> LexicalStats:
    """Read from ``meta.json`` alone. Raises BrokenSnapshotError."""
    segments = read_meta(folder)["segments"]
    try:
        deleted = sum(s["deletes"]["num_deleted_docs"] for s in segments if s["deletes"])
        return LexicalStats(sum(s["max_doc"] for s in segments) - deleted, deleted, len(segments))
    except (KeyError, TypeError) as error:
        raise broken(folder, error) from error
