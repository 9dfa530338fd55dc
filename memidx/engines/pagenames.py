"""The names of all pages of a listing, in memory: what a catalog answers for a snapshot, before there is one."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from typing import TYPE_CHECKING

from memidx.stores.catalog import NameHit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memidx.engines.facts import Facts


class PageNames:
    """Answers as a Catalog does; a page's number is its place in ``pages``.

    A path is also found when it differs only in its Unicode normal form.
    """

    def __init__(self, pages: Sequence[Facts]) -> None:
        self.pages = pages
        self._by_path = {page.path: number for number, page in enumerate(pages)}
        self._by_normal: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        for number, page in enumerate(pages):
            self._by_normal.setdefault(normal(page.path), []).append(number)
            for name in page.names():
                self._by_name.setdefault(name, []).append(number)
        self._sorted = sorted(self._by_name)

    def page_ids(self, paths: Iterable[str]) -> dict[str, int]:
        """Numbers of the pages at these paths; a path without a page is left out."""
        found = {}
        for path in paths:
            number = self._by_path.get(path)
            if number is None:
                same = self._by_normal.get(normal(path), [])
                number = same[0] if len(same) == 1 else None
            if number is not None:
                found[path] = number
        return found

    def exact_names(self, names: Sequence[str]) -> list[NameHit]:
        """Pages that carry one of these folded names as their own."""
        return [NameHit(number, name, "title") for name in names for number in self._by_name.get(name, ())]

    def names_with_prefix(self, prefix: str, limit: int) -> list[NameHit]:
        """Pages with a folded name that starts with ``prefix``, by name."""
        found: list[NameHit] = []
        for at in range(bisect_left(self._sorted, prefix), len(self._sorted)):
            name = self._sorted[at]
            if not name.startswith(prefix) or len(found) >= limit:
                break
            found.extend(NameHit(number, name, "title") for number in self._by_name[name])
        return found


def normal(path: str) -> str:
    """The form under which names are compared: NFC."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)
