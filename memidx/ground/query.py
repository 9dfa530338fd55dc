"""A query as it was understood."""

from __future__ import annotations

from typing import NamedTuple


class ParsedQuery(NamedTuple):
    """What a typed query asks for. Words and phrases are as typed; the stores fold and stem them their own way.

    A text without ``terms`` and ``phrases`` finds nothing by itself; if it has no filters either, a hint says why.
    """

    text: str = ""  # the words to look for without operators, phrases included: what an embedding is made of
    terms: tuple[str, ...] = ()  # chunks between blanks, distinct, in the order typed; any of them may match
    phrases: tuple[str, ...] = ()  # must occur, words side by side
    excluded: tuple[str, ...] = ()  # words and phrases that must not occur
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()  # sentences for the person who typed it

    @property
    def has_words(self) -> bool:
        return bool(self.terms or self.phrases)

    @property
    def has_filters(self) -> bool:
        return bool(self.tags or self.paths or self.kinds)
