"""The lines of a section that a person sees under a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from memidx.ground.query import ParsedQuery


class Snippet(NamedTuple):
    """Text of a few lines and the character ranges in it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(text: str, query: ParsedQuery, language: str) -> Snippet:
    lines = [line for line in text.split("\n") if line.strip()]
    return Snippet("\n".join(lines[:3])[:300], ())
