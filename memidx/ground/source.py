"""Which tree of pages is meant."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Source(NamedTuple):
    """The working tree, the git index (``value``: an inherited GIT_INDEX_FILE), or a revision (``value``: its name)."""

    kind: Literal["worktree", "staged", "rev"]
    value: str | None = None


WORKTREE = Source("worktree")
