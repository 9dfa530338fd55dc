"""From text to index terms: prepare, tokenize, lower-case, fold Latin accents, stem."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from memidx.ground.errors import ConfigError
from memidx.ground.languages import LANGUAGES
from memidx.parsing import stopwords, tokens
from memidx.parsing.functionwords import FUNCTION_WORDS
from memidx.parsing.highlight import LineMatch, highlight
from memidx.parsing.language import question_language
from memidx.parsing.query import MAX_TERMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memidx.ground.query import ParsedQuery

_OTHER_ALPHABETS: Final = frozenset({"arabic", "greek", "russian", "tamil"})
_TANTIVY_STOPWORDS: Final = frozenset(
    {"danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"}
    | {"russian", "spanish", "swedish"}
)


VARIANT: Final = " "  # between the variants of a term; no index term has a blank in it


class Word(NamedTuple):
    """One word of a query: its index term, and whether it says little.

    Where pages are in several languages, a word has an index term in each. Those that differ are kept together as one
    term, its variants with blanks between; `variants` takes them apart.
    """

    term: str
    stop: bool


def variants(term: str) -> list[str]:
    """The index terms that a query's term stands for."""
    return term.split(VARIANT)


class Analyzer:
    """The analysis of a vault's language and those of single pages. ``none`` stems nothing.

    A page in another language is stemmed in it before the field's own analysis, so what is in the index is stemmed
    twice, and a question's word is taken both ways. All pages stay in one field, which keeps lengths and frequencies
    comparable.
    """

    def __init__(self, language: str, others: Iterable[str] = ()) -> None:
        """``others`` are the languages of single pages. Raise ConfigError for one without a stemmer."""
        self.language = language
        self.others = tuple(sorted(set(others) - {language}))
        for name in (language, *self.others):
            if name != "none" and name not in LANGUAGES:
                raise ConfigError(f"no stemmer for language {name!r}", hint=f"one of none, {', '.join(LANGUAGES)}")
        self.text: TextAnalyzer = _build(chain(language))
        self.exact: TextAnalyzer = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        self._plain = _build(())
        self._last: tuple[ParsedQuery, list[str]] | None = None

    def stemmed(self, folded: str, language: str) -> str:
        """A folded text of a page in another language, ready for the field's own analysis."""
        return " ".join(_stemmer(language).analyze(folded))

    def sequences(self, folded: str) -> list[list[str]]:
        """The index terms of a folded text in order, in each language that has its own."""
        found = [self.text.analyze(folded)]
        for language in self.others:
            terms = self.text.analyze(self.stemmed(folded, language))
            if terms not in found:
                found.append(terms)
        return found

    def words(self, folded: str, language: str | None) -> list[Word]:
        """The words of a folded text, in order. ``language`` is what it is asked in, None what nothing tells."""
        plain = self._plain.analyze(folded)
        stop = _stopwords(language or self.language)
        terms = self._terms(folded, plain, language)
        return [Word(term, word in stop) for term, word in zip(terms, plain, strict=True)]

    def forms(self, word: str) -> list[str]:
        """The index terms of a word by itself, in all languages."""
        return list(dict.fromkeys(term for terms in self.sequences(tokens.fold(word)) for term in terms))

    def spelled(self, query: ParsedQuery) -> dict[str, str]:
        """The terms of a query's words outside phrases, each with the folded word as it was typed."""
        folded = "\n".join(text for term in query.terms for text in tokens.prepare(term).words)
        plain = self._plain.analyze(folded)
        return dict(zip(self._terms(folded, plain, self.asked_in(query)), plain, strict=True))

    def counted(self, text: str) -> dict[str, tuple[str, int]]:
        """The terms of a text's words but stop words, each with the word, folded, and its number."""
        folded = "\n".join(tokens.prepare(text).words)
        found: dict[str, tuple[str, int]] = {}
        words = self.words(folded, self._language_of(text))
        for word, plain in zip(words, self._plain.analyze(folded), strict=True):
            if not word.stop:
                found[word.term] = (plain, found.get(word.term, ("", 0))[1] + 1)
        return found

    def query_terms(self, query: ParsedQuery) -> list[str]:
        """The terms of a query's words and phrases, distinct, without stop words if others remain."""
        if self._last is None or self._last[0] != query:  # matching, coverage and every snippet ask in turn
            ready = [tokens.prepare(text) for text in (*query.terms, *query.phrases)]
            folded = "\n".join(text for r in ready for text in (*r.words, r.parts))
            words = self.words(folded, self.asked_in(query))
            telling = dict.fromkeys(word.term for word in words if not word.stop)
            self._last = query, list(telling or dict.fromkeys(word.term for word in words))[:MAX_TERMS]
        return list(self._last[1])

    def asked_in(self, query: ParsedQuery) -> str | None:
        """The language of a query, among those of the pages; None if nothing tells."""
        return self._language_of(" ".join((*query.terms, *query.phrases)))

    def _language_of(self, text: str) -> str | None:
        return question_language(text, (self.language, *self.others)) if self.others else None

    def _terms(self, folded: str, plain: list[str], language: str | None) -> list[str]:
        """The terms of a folded text's words; ``plain`` are the words.

        A question whose language is known is not looked for in the others' ways: two languages write the same letters
        and mean other words. Names are found there all the same, by the field's own analysis.
        """
        terms = self.text.analyze(folded)
        others = self.others if language is None else [name for name in self.others if name == language]
        if not others:
            return terms
        return [
            VARIANT.join(dict.fromkeys((term, *(t for name in others for t in self._other(word, name)))))
            for term, word in zip(terms, plain, strict=True)
        ]

    def _other(self, word: str, language: str) -> list[str]:
        return self.text.analyze(self.stemmed(word, language))

    def highlight(self, text: str, query: ParsedQuery, terms: Iterable[str] | None = None) -> list[LineMatch]:
        """The lines of a section's text that the query's words stand in, and where.

        ``terms`` in place of the query's own: an index knows which words are typing errors.
        """
        wholes = {
            whole
            for typed in (*query.terms, *query.phrases)
            for whole in tokens.prepare(typed).exact.split()
            if not whole.isalnum()
        }
        wanted = {v for term in (self.query_terms(query) if terms is None else terms) for v in variants(term)}
        return highlight(text, wanted, wholes, self.forms)


def chain(language: str) -> tuple[str, ...]:
    """The stemmers to apply, one after the other.

    A stemmer leaves words of another alphabet alone, so a second one costs little and serves the pages, or the names
    and code, that are not in the vault's language. Russian beside English: nDCG@10 .87 to .95 on Russian questions,
    6 % more time. Arabic and Greek beside English would take twice the time and are used only when asked for.
    """
    if language == "none":
        return ()
    stemmers = [language]
    if language in _OTHER_ALPHABETS:
        stemmers.append("english")
    if language != "russian":
        stemmers.append("russian")
    return tuple(stemmers)


@cache
def _stemmer(language: str) -> TextAnalyzer:
    return _build((language,))


def _build(stemmers: tuple[str, ...]) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase()).filter(Filter.ascii_fold())
    for stemmer in stemmers:
        builder = builder.filter(Filter.stemmer(stemmer))
    return builder.build()


class _Stopwords:
    """A language's stop words, folded. Only a filter knows Tantivy's list: a word is in it if it is taken out."""

    def __init__(self, language: str) -> None:
        self._known = stopwords.ENGLISH if language not in _TANTIVY_STOPWORDS else frozenset()
        # With their accents folded: the filter knows `für`, and a question's word comes as `fur`.
        self._known |= frozenset(_build(()).analyze(tokens.fold(" ".join(FUNCTION_WORDS.get(language, ())))))
        raw = TextAnalyzerBuilder(Tokenizer.raw())
        self._filter = raw.filter(Filter.stopword(language)).build() if language in _TANTIVY_STOPWORDS else None

    def __contains__(self, word: str) -> bool:
        return word in self._known or (self._filter is not None and not self._filter.analyze(word))


@cache
def _stopwords(language: str) -> frozenset[str] | _Stopwords:
    if language == "none":
        return frozenset()
    return stopwords.ENGLISH if language == "english" else _Stopwords(language)
