"""The pages a search may return."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


class PageSet(NamedTuple):
    """Allowed page numbers out of all the pages of a snapshot, so that a store may use whichever side is smaller."""

    allowed: AbstractSet[int]
    every: AbstractSet[int]

    def excluded(self) -> AbstractSet[int]:
        return self.every - self.allowed
