"""How like the best match the other candidates are. Asked only when their authorities differ."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from memidx.engines.snapshot import Snapshot
    from memidx.engines.streams import Found
    from memidx.ground.pageset import PageSet
    from memidx.ground.query import ParsedQuery

LOOKED_AT = 1000  # sections by coverage; what is beyond them covers at most as much as the last


class Likeness:
    """Coverage and cosines of one question's candidates, each worked out once."""

    def __init__(
        self, snapshot: Snapshot, query: ParsedQuery, pages: PageSet | None, found: Mapping[str, Found]
    ) -> None:
        self._snapshot = snapshot
        self._query = query
        self._pages = pages
        self._found = found

    @property
    def best_coverage(self) -> float:
        """The greatest share of the question's words that one section holds."""
        return max(self._coverage[0].values(), default=0.0)

    @property
    def rare_words(self) -> float:
        """The idf of the words that that section holds, over the idf of a word that stands in one section alone."""
        return self.best_coverage * self._snapshot.lexical.worth(self._query) if self.best_coverage else 0.0

    def coverage(self, page: int) -> float:
        """A page's best coverage over the greatest; 1 when words took no part."""
        known, beyond = self._coverage
        best = self.best_coverage
        return known.get(page, beyond) / best if best > 0 else 1.0

    def cosines(self, best: int, pages: Collection[int]) -> dict[int, float]:
        """Cosine between the best section of page ``best`` and those of ``pages``; 1 where vectors took no part."""
        if "vector" not in self._found:
            return dict.fromkeys(pages, 1.0)
        from memidx.stores.vectors import dots  # with vectors numpy is there already

        rows = self._rows([best, *pages])
        if best not in rows:
            return dict.fromkeys(pages, 1.0)
        wanted = [page for page in pages if page in rows]
        vectors = self._snapshot.vectors.rows([rows[best], *(rows[page] for page in wanted)])
        found = dots(vectors[1:], vectors[0]).round(6).tolist()
        # A page without a vector (no text at all) is like nothing.
        return {**dict.fromkeys(pages, 0.0), **dict(zip(wanted, found, strict=True))}

    @cached_property
    def _coverage(self) -> tuple[dict[int, float], float]:
        if "lexical" not in self._found:
            return {}, 0.0
        found = self._snapshot.lexical.coverages(self._query, self._pages, LOOKED_AT)
        known: dict[int, float] = {}
        for section in found:
            known.setdefault(section.page, section.score)
        return known, found[-1].score if len(found) == LOOKED_AT else 0.0

    def _rows(self, pages: Collection[int]) -> dict[int, int]:
        """The vector row of each page's best section: the nearest to the question, else the one with its words."""
        sections: dict[int, int] = {}
        for name in ("vector", "lexical", "title"):
            for score in self._found[name].pages if name in self._found else ():
                sections.setdefault(score.page, score.section)
        wanted = {page: sections[page] for page in pages if page in sections}
        rows = self._snapshot.catalog.sections(wanted.values())
        return {p: row for p, s in wanted.items() if s in rows and (row := rows[s].vector) is not None}
