"""From a parsed query to a Tantivy query.

Words are any-of, scored by BM25 (Robertson and Zaragoza 2009, k1 1.2, b 0.75). Beside the words of an identifier
counts its whole, as a term of ``exact`` and as a phrase; so does an accented word as it was typed. Phrases must occur,
excluded words must not, and the page filter is part of the query, so that no limit cuts before it.
"""

from __future__ import annotations

import math
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final

from tantivy import Occur, Query, Schema, Searcher

from memidx.ground.edits import Correction, edits, one_edit
from memidx.ground.query import ParsedQuery
from memidx.parsing import tokens
from memidx.stores.lexical.analyzer import VARIANT, variants
from memidx.stores.lexical.schema import BODY, EXACT, PAGE, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memidx.ground.pageset import PageSet
    from memidx.stores.lexical.analyzer import Analyzer

_WHOLE_WEIGHT: Final = 2.0
MAX_JOINED: Final = 32  # words of a query whose neighbours are tried as one word
MIN_CORRECTED: Final = 5  # letters of a word that may be a typing error; shorter ones are other words by chance
MAX_CORRECTED: Final = 40  # a longer one is no word, and the edits of it take time by the square of its length
MAX_CORRECTIONS: Final = 16  # words of a query that are looked at for a typing error
MIN_JOINED: Final = 6  # shorter ones are other words by chance: `to do`, `in to`


def idf(documents: int, frequency: int) -> float:
    """BM25's inverse document frequency: ``ln(1 + (N - n + 0.5) / (n + 0.5))``, as Tantivy computes it."""
    frequency = min(frequency, documents)
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


class Matcher:
    """Makes queries for one open index."""

    def __init__(self, schema: Schema, searcher: Searcher, analyzer: Analyzer) -> None:
        self.schema = schema
        self._searcher = searcher
        self._analyzer = analyzer
        self._corrected: tuple[ParsedQuery | None, dict[str, Correction]] = (None, {})

    def frequency(self, term: str) -> int:
        """In how many sections a term occurs, at most N: the sum over its variants.

        A run shorter than an n-gram counts the n-grams it starts.
        """
        if VARIANT in term:
            found = sum(map(self.frequency, variants(term)))
        elif tokens.is_short_run(term):
            found = sum(count for _, count in self._searcher.terms_with_prefix(BODY, term))
        else:
            return int(self._searcher.doc_freq(BODY, term))
        return min(found, self._searcher.num_docs)

    def terms(self, query: ParsedQuery) -> list[str]:
        """The index terms that the query's words come to, distinct, those with a typing error as they were meant."""
        fixed = self.corrections(query)
        terms = self._analyzer.query_terms(query)
        return list(dict.fromkeys(fixed[term].term if term in fixed else term for term in terms))

    def corrections(self, query: ParsedQuery) -> dict[str, Correction]:
        """Terms that occur nowhere and look like a typing error, with the most frequent term an edit away, if any.

        The first letter is taken to be right: it nearly always is. Words in phrases are meant as they stand.
        """
        if self._corrected[0] == query:
            return self._corrected[1]
        fixed: dict[str, Correction] = {}
        tried = 0
        asked = frozenset(self._analyzer.query_terms(query))  # without its stop words
        for term, word in self._analyzer.spelled(query).items():
            if term not in asked or not MIN_CORRECTED <= len(word) <= MAX_CORRECTED or tried == MAX_CORRECTIONS:
                continue
            if not word.isalpha() or tokens.has_run(word) or self.frequency(term):
                continue
            tried += 1
            near = self._near(word) if word.isascii() else self._near_term(term)
            if near:
                fixed[term] = Correction(word, min(near, key=lambda hit: (-hit[1], hit[0]))[0])
        self._corrected = (query, fixed)  # asked for by matching, coverage and snippets in turn
        return fixed

    def _near(self, word: str) -> list[tuple[str, int]]:
        """The terms of all words that are an edit away, each with its frequency, which is not 0."""
        terms = dict.fromkeys(chain.from_iterable(self._analyzer.sequences(" ".join(edits(word)))))
        return [(term, count) for term in terms if (count := int(self._searcher.doc_freq(BODY, term)))]

    def _near_term(self, term: str) -> list[tuple[str, int]]:
        """As ``_near``, for words beyond a to z: only the terms themselves are compared."""
        hits = self._searcher.terms_with_prefix(BODY, term[0])
        return [hit for hit in hits if any(one_edit(variant, hit[0]) for variant in variants(term))]

    def query(self, query: ParsedQuery, pages: PageSet | None) -> Query | None:
        """The whole query; None if it cannot find anything."""
        wanted = [(Occur.Should, self._word(term)) for term in self.terms(query)]
        wanted += [(Occur.Should, whole) for whole in self._wholes(query)]
        wanted += [(Occur.Should, joined) for joined in self._joined(query)]
        if not wanted:
            return None
        clauses = [(Occur.Must, Query.boolean_query(wanted))]
        return self._constrain(clauses, query, pages)

    def whole(self, query: ParsedQuery, pages: PageSet | None) -> Query | None:
        """The query's words in pages as a whole; None if it has none. Each page is one document."""
        wanted = [(Occur.Should, self._word(term, WHOLE)) for term in self.terms(query)]
        return self._constrain([(Occur.Must, Query.boolean_query(wanted))], ParsedQuery(), pages) if wanted else None

    def covering(self, weights: Mapping[str, float], query: ParsedQuery, pages: PageSet | None) -> Query | None:
        """A query whose score is the sum of the weights of the words that a section holds."""
        wanted = [(Occur.Should, Query.const_score_query(self._word(term), weight)) for term, weight in weights.items()]
        if not wanted:
            return None
        return self._constrain([(Occur.Must, Query.boolean_query(wanted))], query, pages)

    def constraints(self, query: ParsedQuery, pages: PageSet | None) -> Query | None:
        """Only what must and must not be, for everything; None if the query has no such condition."""
        if not query.phrases and not query.excluded and pages is None:
            return None
        return self._constrain([(Occur.Must, Query.all_query())], query, pages)

    def _constrain(self, clauses: list[tuple[Occur, Query]], query: ParsedQuery, pages: PageSet | None) -> Query | None:
        for phrase in query.phrases:
            required = self._phrase(phrase)
            if required is not None:
                clauses.append((Occur.Must, required))
        for phrase in query.excluded:
            forbidden = self._phrase(phrase)
            if forbidden is not None:
                clauses.append((Occur.MustNot, forbidden))
        if pages is not None:
            if not pages.allowed:
                return None
            if 2 * len(pages.allowed) <= len(pages.every):
                clauses.append((Occur.Must, Query.const_score_query(self._pages(pages.allowed), 0.0)))
            elif excluded := pages.excluded():
                clauses.append((Occur.MustNot, self._pages(excluded)))
        return Query.boolean_query(clauses)

    def _pages(self, pages: Iterable[int]) -> Query:
        return Query.term_set_query(self.schema, PAGE, sorted(pages))

    def _word(self, term: str, field: str = BODY) -> Query:
        if VARIANT in term:
            return self._variants([v for v in variants(term) if self.frequency(v)], field)
        if not tokens.is_short_run(term):
            return Query.term_query(self.schema, field, term, index_option="freq")
        found = [word for word, _ in self._searcher.terms_with_prefix(BODY, term)]
        if not found:
            return Query.empty_query()
        score = idf(self._searcher.num_docs, self.frequency(term))
        return Query.const_score_query(Query.term_set_query(self.schema, field, found), score)

    def _variants(self, terms: list[str], field: str) -> Query:
        """Any of the terms. Each counts as if it stood wherever one of them does: together they are one word."""
        if not terms:
            return Query.empty_query()
        if len(terms) == 1:
            return self._word(terms[0], field)
        documents = self._searcher.num_docs
        together = idf(documents, sum(map(self.frequency, terms)))
        weighted = [
            Query.boost_query(self._word(term, field), together / idf(documents, self.frequency(term)))
            for term in terms
        ]
        return Query.boolean_query([(Occur.Should, query) for query in weighted])

    def _wholes(self, query: ParsedQuery) -> list[Query]:
        """What puts an identifier or an accented word first where it stands as it was typed.

        Its weight is 2 over the square of the number of telling words. Asked for alone, an identifier leads; in a
        question of ten words it must not drown the others (fixed weights of .1 to 1 lost up to .03 nDCG@10).
        """
        language = self._analyzer.asked_in(query)
        words = [self._analyzer.words(tokens.fold(chunk), language) for chunk in query.terms]
        telling = sum(any(not word.stop for word in chunk) for chunk in words)
        weight = _WHOLE_WEIGHT / max(1, telling) ** 2
        return [Query.boost_query(whole, weight) for chunk in query.terms for whole in self._whole(chunk)]

    def _joined(self, query: ParsedQuery) -> Iterator[Query]:
        """Neighbours of the query that the index knows as one word: `roll back` for `rollback`."""
        words = [term for term in query.terms if term.isalpha()]
        language = self._analyzer.asked_in(query)
        for first, second in pairwise(words[:MAX_JOINED]):
            if len(first) + len(second) < MIN_JOINED:
                continue
            found = self._analyzer.words(tokens.prepare(first + second).words[0], language)
            if len(found) == 1 and not tokens.is_short_run(found[0].term) and self.frequency(found[0].term):
                yield self._word(found[0].term)

    def _whole(self, chunk: str) -> Iterator[Query]:
        ready = tokens.prepare(chunk)
        for term in ready.exact.split():
            frequency = int(self._searcher.doc_freq(EXACT, term))
            if frequency:
                score = idf(self._searcher.num_docs, frequency)
                yield Query.const_score_query(self._exact(term), score)
        if ready.exact and chunk.isascii():
            sequences = self._analyzer.sequences(ready.words[0])
            if len(sequences[0]) > 1:
                yield self._any(Query.phrase_query(self.schema, BODY, list(words)) for words in sequences)

    def _exact(self, term: str) -> Query:
        return Query.term_query(self.schema, EXACT, term, index_option="freq")

    def _phrase(self, phrase: str) -> Query | None:
        """A phrase that must or must not occur; None if it has no words."""
        ready = tokens.prepare(phrase)
        exact = ready.exact.split()
        # C++, .NET and --force differ from their words by symbols at the edge, which only the whole has.
        if len(exact) == 1 and not (exact[0][0].isalnum() and exact[0][-1].isalnum()):
            return self._exact(exact[0])
        sequences = self._analyzer.sequences(ready.words[0])
        return self._any(map(self._sequence, sequences)) if sequences[0] else None

    def _sequence(self, words: list[str]) -> Query:
        """These terms one after the other."""
        if len(words) == 1:
            return self._word(words[0])
        if tokens.is_short_run(words[-1]):
            return Query.phrase_prefix_query(self.schema, BODY, list(words))
        return Query.phrase_query(self.schema, BODY, list(words))

    @staticmethod
    def _any(queries: Iterable[Query]) -> Query:
        either = list(queries)
        return either[0] if len(either) == 1 else Query.boolean_query([(Occur.Should, query) for query in either])
