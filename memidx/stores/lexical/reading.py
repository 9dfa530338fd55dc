"""Searching an index."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tantivy import DocAddress, Query, Searcher

from memidx.ground.query import ParsedQuery
from memidx.ground.scores import SectionScore
from memidx.stores.lexical import meta
from memidx.stores.lexical.analyzer import Analyzer
from memidx.stores.lexical.guard import guarded
from memidx.stores.lexical.matching import Matcher, idf
from memidx.stores.lexical.schema import PAGE, RAW, SECTION, open_index

if TYPE_CHECKING:
    from collections.abc import Iterable
    from tempfile import TemporaryDirectory

    from memidx.ground.edits import Correction
    from memidx.ground.pageset import PageSet
    from memidx.parsing.highlight import LineMatch

CORRECTED = 0.7  # of a word's weight, in coverage, when only a word an edit away was found
FEW = 300
_TIES = 16  # hits looked at beyond the limit, so that equal scores are cut in a settled order


class LexicalIndex:
    """An index open for reading. Every method raises BrokenSnapshotError if the files turn out to be damaged."""

    def __init__(self, folder: Path, searcher: Searcher, matcher: Matcher, analyzer: Analyzer) -> None:
        self.folder = folder
        self.analyzer = analyzer
        self._searcher = searcher
        self._matcher = matcher
        self._mirrored: TemporaryDirectory[str] | None = None  # held as long as the index, then removed

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the index in ``folder``. Raises BrokenSnapshotError for anything missing, cut short or foreign."""
        payload = meta.read_payload(folder, meta.read_meta(folder))
        meta.check_sizes(folder, payload)
        analyzer = Analyzer(payload.language, payload.others)
        with guarded(folder):
            mirrored = None if os.access(folder, os.W_OK) else _mirror(folder)
            index = open_index(Path(mirrored.name) if mirrored else folder, analyzer)
            searcher = index.searcher()
            opened = cls(folder, searcher, Matcher(index.schema, searcher, analyzer), analyzer)
            opened._mirrored = mirrored
            return opened

    @property
    def num_docs(self) -> int:
        """The number of sections."""
        return self._searcher.num_docs

    def search(self, query: ParsedQuery, limit: int, pages: PageSet | None = None) -> list[SectionScore]:
        """The best ``limit`` sections, best first, equal scores by section number.

        A query without words finds nothing. ``pages`` is applied inside the search.
        """
        if limit < 1 or not query.has_words:
            return []
        with guarded(self.folder):
            wanted = self._matcher.query(query, pages)
            return [] if wanted is None else self._top(wanted, limit)

    def whole_pages(self, query: ParsedQuery, limit: int, pages: PageSet | None = None) -> dict[int, float]:
        """The best ``limit`` pages by BM25 over all of a page's text, best first. Phrases are not looked at."""
        if limit < 1 or not query.has_words:
            return {}
        with guarded(self.folder):
            wanted = self._matcher.whole(query, pages)
            return {} if wanted is None else {hit.page: hit.score for hit in self._top(wanted, limit)}

    def constrained(self, query: ParsedQuery, pages: PageSet | None = None) -> frozenset[int] | None:
        """The sections that hold every phrase and no excluded word, for streams that cannot tell by themselves.

        None if the query has neither and ``pages`` is None: every section is fine.
        """
        if pages is not None and not pages.allowed:
            return frozenset()
        with guarded(self.folder):
            wanted = self._matcher.constraints(query, pages)
            if wanted is None:
                return None
            addresses = [address for _, address in self._hits(wanted, self.num_docs)]
            return frozenset(self._numbers(SECTION, addresses))

    def coverages(self, query: ParsedQuery, pages: PageSet | None, limit: int) -> list[SectionScore]:
        """The sections that hold the greatest shares of the query's words, weighted by idf; scores in [0, 1]."""
        total = math.fsum(self.idf(self.analyzer.query_terms(query)).values())
        if not total:
            return []
        weights = self.idf(self.terms(query))
        for term in {correction.term for correction in self.corrections(query)}:  # it may well be another word
            weights[term] *= CORRECTED
        with guarded(self.folder):
            wanted = self._matcher.covering(weights, query, pages)
            # Which of equal ones are cut does not matter here: their score is the last one's.
            found = self._scored(self._hits(wanted, limit)) if wanted is not None else []
        return sorted((hit._replace(score=min(1.0, hit.score / total)) for hit in found), key=_best_first)

    def pages_with(self, phrase: str) -> frozenset[int]:
        """The pages on which a word or phrase occurs, in any section."""
        with guarded(self.folder):
            wanted = self._matcher.constraints(ParsedQuery(phrases=(phrase,)), None)
            addresses = [address for _, address in self._hits(wanted, self.num_docs)] if wanted is not None else []
            return frozenset(self._numbers(PAGE, addresses))

    def texts(self, sections: Iterable[int]) -> dict[int, str]:
        """The stored source text by section number. Unknown numbers are left out."""
        numbers = sorted(set(sections))
        if not numbers:
            return {}
        with guarded(self.folder):
            wanted = Query.term_set_query(self._matcher.schema, SECTION, numbers)
            addresses = [address for _, address in self._hits(wanted, len(numbers))]
            found = self._numbers(SECTION, addresses)
            raw = [self._searcher.doc(address).get_first(RAW) for address in addresses]
        return {n: bytes(text or b"").decode() for n, text in sorted(zip(found, raw, strict=True))}

    def terms(self, query: ParsedQuery) -> list[str]:
        """The index terms that the query's words come to, distinct, without stop words if others remain."""
        with guarded(self.folder):
            return self._matcher.terms(query)

    def worth(self, query: ParsedQuery) -> float:
        """The idf of the query's words together, over the idf of a word that stands in one section alone.

        In a small index every word is rare, so it counts as one of FEW sections.
        """
        return math.fsum(self.idf(self.analyzer.query_terms(query)).values()) / idf(max(self.num_docs, FEW), 1)

    def telling(self, text: str, count: int) -> list[str]:
        """The ``count`` words that tell most about a text, by their number in it times their idf.

        Words of one section only are left out: they find nothing but that section.
        """
        values = []
        for term, (word, times) in self.analyzer.counted(text).items():
            frequency = self.doc_freq(term)
            if frequency > 1:
                values.append((-times * idf(self.num_docs, frequency), word))
        return [word for _, word in sorted(values)[:count]]

    def corrections(self, query: ParsedQuery) -> list[Correction]:
        """The query's words that stand nowhere, where the vault has one that is an edit away."""
        with guarded(self.folder):
            return list(self._matcher.corrections(query).values())

    def highlight(self, text: str, query: ParsedQuery) -> list[LineMatch]:
        """The lines of a section's text that the query's words stand in, and where."""
        return self.analyzer.highlight(text, query, self.terms(query))

    def doc_freq(self, term: str) -> int:
        """In how many sections an index term occurs; deleted ones still count until the index is built anew."""
        with guarded(self.folder):
            return self._matcher.frequency(term)

    def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """The weight of each index term: ``ln(1 + (N - n + 0.5) / (n + 0.5))``."""
        return {term: idf(self.num_docs, self.doc_freq(term)) for term in terms}

    def _top(self, wanted: Query, limit: int) -> list[SectionScore]:
        ask = limit + _TIES
        hits = self._hits(wanted, ask)
        # As long as the last hit asked for ties with the last one wanted, an equal one may still be missing.
        while len(hits) == ask and hits[-1][0] == hits[limit - 1][0]:
            ask *= 4
            hits = self._hits(wanted, ask)
        return sorted(self._scored(hits), key=_best_first)[:limit]

    def _scored(self, hits: list[tuple[float, DocAddress]]) -> list[SectionScore]:
        addresses = [address for _, address in hits]
        found = zip(self._numbers(SECTION, addresses), self._numbers(PAGE, addresses), hits, strict=True)
        return [SectionScore(section, page, float(score)) for section, page, (score, _) in found]

    def _hits(self, wanted: Query, limit: int) -> list[tuple[float, DocAddress]]:
        limit = min(limit, self.num_docs)
        return self._searcher.search(wanted, limit, count=False).hits if limit else []

    def _numbers(self, field: str, addresses: list[DocAddress]) -> list[int]:
        return [int(value or 0) for value in self._searcher.fast_field_values(field, addresses)] if addresses else []


def _best_first(hit: SectionScore) -> tuple[float, int]:
    return (-hit.score, hit.section)


def _mirror(folder: Path) -> TemporaryDirectory[str]:
    from memidx.stores.lexical.files import mirror  # 26 ms of imports that a writable folder has no need of

    return mirror(folder)
