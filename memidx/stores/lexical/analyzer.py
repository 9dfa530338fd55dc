"""From text to index terms: prepare, tokenize, lower-case, fold Latin accents, stem."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from memidx.ground.errors import ConfigError
from memidx.parsing import stopwords, tokens
from memidx.parsing.highlight import LineMatch, highlight
from memidx.parsing.query import MAX_TERMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memidx.ground.query import ParsedQuery

STEMMERS: Final = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian"),
    *("norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish"),
)
_OTHER_ALPHABETS: Final = frozenset({"arabic", "greek", "russian", "tamil"})
_TANTIVY_STOPWORDS: Final = frozenset(
    {"danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"}
    | {"russian", "spanish", "swedish"}
)


class Word(NamedTuple):
    """One word of a query: its index term, and whether it says little."""

    term: str
    stop: bool


class Analyzer:
    """The analysis of one language. ``none`` stems nothing."""

    def __init__(self, language: str) -> None:
        """Raise ConfigError for a language without a stemmer."""
        if language != "none" and language not in STEMMERS:
            raise ConfigError(f"no stemmer for language {language!r}", hint=f"one of none, {', '.join(STEMMERS)}")
        self.language = language
        self.text: TextAnalyzer = _build(_chain(language))
        self.exact: TextAnalyzer = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        self._plain = _build(())

    def terms(self, *texts: str) -> list[str]:
        """The index terms of texts in order, with those of the parts of identifiers at the end."""
        ready = tokens.prepare(*texts)
        return [term for value in (*ready.words, ready.parts) for term in self.text.analyze(value)]

    def words(self, folded: str) -> list[Word]:
        """The words of a folded text, in order."""
        terms = self.text.analyze(folded)
        plain = self._plain.analyze(folded)
        stop = _stopwords(self.language)
        return [Word(term, word in stop) for term, word in zip(terms, plain, strict=True)]

    def forms(self, word: str) -> list[str]:
        """The index terms of a word by itself."""
        return self.text.analyze(tokens.fold(word))

    def spelled(self, query: ParsedQuery) -> dict[str, str]:
        """The index terms of a query's words outside phrases, each with the folded word as it was typed."""
        folded = "\n".join(text for term in query.terms for text in tokens.prepare(term).words)
        return dict(zip(self.text.analyze(folded), self._plain.analyze(folded), strict=True))

    def counted(self, text: str) -> dict[str, tuple[str, int]]:
        """The index terms of a text's words but stop words, each with the word, folded, and its number."""
        folded = "\n".join(tokens.prepare(text).words)
        found: dict[str, tuple[str, int]] = {}
        for word, plain in zip(self.words(folded), self._plain.analyze(folded), strict=True):
            if not word.stop:
                found[word.term] = (plain, found.get(word.term, ("", 0))[1] + 1)
        return found

    def query_terms(self, query: ParsedQuery) -> list[str]:
        """The index terms of a query's words and phrases, distinct, without stop words if others remain."""
        ready = [tokens.prepare(text) for text in (*query.terms, *query.phrases)]
        words = self.words("\n".join(text for r in ready for text in (*r.words, r.parts)))
        telling = dict.fromkeys(word.term for word in words if not word.stop)
        return list(telling or dict.fromkeys(word.term for word in words))[:MAX_TERMS]

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
        return highlight(text, set(self.query_terms(query) if terms is None else terms), wholes, self.forms)


def _chain(language: str) -> tuple[str, ...]:
    """The stemmers to apply, one after the other.

    A stemmer leaves words of another alphabet alone, so a second one costs little and serves the pages, or the names
    and code, that are not in the vault's language. Russian beside English: nDCG@10 .87 to .95 on Russian questions,
    6 % more time. Arabic and Greek beside English would take twice the time and are used only when asked for.
    """
    if language == "none":
        return ()
    chain = [language]
    if language in _OTHER_ALPHABETS:
        chain.append("english")
    if language != "russian":
        chain.append("russian")
    return tuple(chain)


def _build(stemmers: tuple[str, ...]) -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase()).filter(Filter.ascii_fold())
    for stemmer in stemmers:
        builder = builder.filter(Filter.stemmer(stemmer))
    return builder.build()


class _Stopwords:
    """A set of words that only Tantivy knows: a word is in it if the filter takes it out."""

    def __init__(self, language: str) -> None:
        self._filter = TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stopword(language)).build()

    def __contains__(self, word: str) -> bool:
        return not self._filter.analyze(word)


@cache
def _stopwords(language: str) -> frozenset[str] | _Stopwords:
    if language in _TANTIVY_STOPWORDS:
        return _Stopwords(language)
    return frozenset() if language == "none" else stopwords.ENGLISH
