"""What a snapshot depends on, apart from the bytes of its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memidx.ground.listing import Listing
    from memidx.ground.model import Embedder
    from memidx.ground.settings import Settings


class Inputs(NamedTuple):
    """Everything a snapshot depends on, but the pages' bytes."""

    listing: Listing
    settings: Settings
    embedder: Embedder | None
    libraries: dict[str, str]
    key: str
