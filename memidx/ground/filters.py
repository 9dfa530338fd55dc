"""Which pages a question is about. Every stream applies the same set of pages, before it cuts its window."""

from __future__ import annotations

from typing import NamedTuple


class Filters(NamedTuple):
    """All conditions must hold; within one tuple of kinds any may hold, of tags, paths and where all of them must."""

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()  # gitignore-style globs, relative to the vault root
    since: int | None = None  # seconds since the epoch, inclusive, against the page's changed-at
    until: int | None = None  # inclusive
    where: tuple[tuple[str, str], ...] = ()  # front-matter key and text, as written, case does not matter

    def __bool__(self) -> bool:
        return self != Filters()
