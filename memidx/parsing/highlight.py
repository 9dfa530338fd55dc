"""Where the words of a query stand in a text as it was written.

Index terms are folded and stemmed, so they are not looked for in the text; each word of the text is taken to its
terms instead, by the caller's own analysis, and compared.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from memidx.parsing import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

Forms = Callable[[str], Iterable[str]]  # a word to its index terms

_ASCII_WORD: Final = re.compile(r"[A-Za-z0-9]+")
_JOINERS: Final = "\u00ad\u200c\u200d"


class Span(NamedTuple):
    """Characters ``start`` to ``end`` of a line, and the wanted term found there."""

    start: int
    end: int
    term: str


class LineMatch(NamedTuple):
    """A line with matches. ``line`` counts from 0 in the text, ``spans`` are characters of the line, in order."""

    line: int
    spans: tuple[tuple[int, int], ...]
    terms: frozenset[str]


def highlight(text: str, wanted: AbstractSet[str], wholes: AbstractSet[str], forms: Forms) -> list[LineMatch]:
    """The lines of ``text`` that hold a wanted term.

    ``wanted`` are index terms, ``wholes`` identifiers in lower case, looked for as they are. ``forms`` gives the
    index terms of a word.
    """
    if not wanted and not wholes:
        return []
    finder = _Finder(wanted, forms)
    matches = []
    for number, line in enumerate(text.split("\n")):
        spans = [span for start, word in _words(line) for span in finder.spans(word, start)]
        spans += _literal(line, wholes)
        if spans:
            matches.append(LineMatch(number, _merge(spans), frozenset(span.term for span in spans)))
    return matches


class _Finder:
    """Finds wanted terms in words."""

    def __init__(self, wanted: AbstractSet[str], forms: Forms) -> None:
        self._wanted = wanted
        self._short = [term for term in wanted if tokens.is_short_run(term)]
        self._forms = forms
        self._known: dict[str, str] = {}  # the wanted term of a word, or ""

    def spans(self, word: str, start: int) -> Iterator[Span]:
        """The wanted terms in a word that begins at ``start`` of its line."""
        for at, piece in tokens.pieces(word):
            if tokens.has_run(piece):
                yield from self._grams(piece, start + at)
            elif term := self._wanted_term(piece):
                yield Span(start + at, start + at + len(piece), term)
            else:
                for inner, hump in tokens.humps(piece):
                    if term := self._wanted_term(hump):
                        yield Span(start + at + inner, start + at + inner + len(hump), term)

    def _wanted_term(self, word: str) -> str:
        if word not in self._known:
            self._known[word] = next((term for term in self._forms(word) if term in self._wanted), "")
        return self._known[word]

    def _grams(self, run: str, start: int) -> Iterator[Span]:
        kept = [(i, simple) for i, char in enumerate(run) if (simple := tokens.simpler(char))]
        clean = "".join(char for _, char in kept)
        ends = [i for i, _ in kept[1:]] + [len(run)]
        size = tokens.gram_size(run)
        for at in range(len(clean)):
            gram = clean[at : at + size]
            found = [gram] if gram in self._wanted and len(gram) == size else []
            found += [term for term in self._short if clean.startswith(term, at)]
            for term in found:
                yield Span(start + kept[at][0], start + ends[at + len(term) - 1], term)


def _words(line: str) -> Iterator[tuple[int, str]]:
    if line.isascii():
        for match in _ASCII_WORD.finditer(line):
            yield match.start(), match[0]
        return
    for is_word, run in groupby(enumerate(line), key=lambda item: _in_word(item[1])):
        if is_word:
            chars = list(run)
            yield chars[0][0], "".join(char for _, char in chars)


def _in_word(char: str) -> bool:
    return char.isalnum() or char in _JOINERS or unicodedata.category(char)[0] == "M"


def _literal(line: str, wholes: AbstractSet[str]) -> Iterator[Span]:
    lower = line.lower()
    if len(lower) != len(line):  # a few letters grow when lower-cased, and then the places do not agree
        return
    for whole in wholes:
        at = lower.find(whole)
        while at >= 0:
            end = at + len(whole)
            if not lower[at - 1 : at].isalnum() and not lower[end : end + 1].isalnum():
                yield Span(at, end, whole)
            at = lower.find(whole, end)


def _merge(spans: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end, _ in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
