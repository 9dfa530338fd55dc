"""When an update is not worth it and the whole snapshot is built again."""

from __future__ import annotations

from typing import NamedTuple

SMALL_SECTIONS = 200  # a full build of so little takes less time than an update's own overhead
CHANGED_SHARE = 0.25
OVERLAY_SHARE = 0.10
OVERLAY_ROWS = 1000
DEAD_SHARE = 0.05
SEGMENTS = 12


class Wear(NamedTuple):
    """How far a snapshot has drifted from one that was built whole."""

    pages: int
    sections: int
    base_rows: int
    overlay_rows: int
    dead_rows: int
    live_docs: int
    dead_docs: int
    segments: int


def rebuild_reason(wear: Wear, touched: int) -> str | None:  # noqa: PLR0911 - a table of reasons
    """Why to build whole instead of updating ``touched`` pages; None when an update is right.

    Deleted documents still count in BM25's statistics until their segment is rewritten; the bound on their share is
    the bound on how far an updated snapshot's scores may be from a full build's.
    """
    if wear.sections < SMALL_SECTIONS:
        return "small vault"
    if touched > CHANGED_SHARE * max(wear.pages, 1):
        return "most pages changed"
    if wear.overlay_rows > max(OVERLAY_ROWS, OVERLAY_SHARE * wear.base_rows):
        return "overlay grown"
    if wear.dead_rows > DEAD_SHARE * max(wear.base_rows + wear.overlay_rows, 1):
        return "dead vectors"
    if wear.dead_docs > DEAD_SHARE * max(wear.live_docs, 1):
        return "dead documents"
    if wear.segments > SEGMENTS:
        return "many segments"
    return None
