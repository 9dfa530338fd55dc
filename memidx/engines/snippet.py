"""The lines of a section that a person sees under a hit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memidx.ground.query import ParsedQuery
    from memidx.parsing.highlight import LineMatch
    from memidx.stores.lexical import LexicalIndex

LINES = 3
WIDTH = 240  # characters of a line; a longer one is cut around its first match
BEFORE = 60  # characters kept before that match
CUT = "…"


class Snippet(NamedTuple):
    """Text of a few lines and the character ranges in it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(index: LexicalIndex, text: str, query: ParsedQuery) -> Snippet:
    """The lines that hold the most different words of the query, in their order; the first lines if none does."""
    lines = text.split("\n")
    matches = index.highlight(text, query)
    shown: Sequence[tuple[str, Sequence[tuple[int, int]]]] = [(lines[m.line], m.spans) for m in choose(matches)]
    if not shown:
        shown = [(line, ()) for line in lines if line.strip()][:LINES]
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    length = 0
    for line, spans in shown:
        piece, moved = _fit(line, spans)
        marks += [(start + length, end + length) for start, end in moved]
        pieces.append(piece)
        length += len(piece) + 1
    return Snippet("\n".join(pieces), tuple(marks))


def choose(matches: Sequence[LineMatch]) -> list[LineMatch]:
    """At most LINES lines: greedily the one that adds the most words not yet shown, then those with the most."""
    left, chosen, shown = list(matches), list["LineMatch"](), set[str]()
    while left and len(chosen) < LINES:
        best = max(left, key=lambda m: (len(m.terms - shown), len(m.terms), -m.line))
        if chosen and not best.terms - shown and len(chosen) > 1:
            break
        chosen.append(best)
        shown |= best.terms
        left.remove(best)
    return sorted(chosen, key=lambda m: m.line)


def _fit(line: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Cut a long line around its first match; shift the marks with it."""
    indent = len(line) - len(line.lstrip())
    start = indent
    if len(line.rstrip()) - indent > WIDTH and spans and spans[0][0] > indent + WIDTH - BEFORE:
        start = spans[0][0] - BEFORE
        space = line.find(" ", start, spans[0][0])
        start = space + 1 if space >= 0 else start
    end = min(len(line.rstrip()), start + WIDTH)
    head = CUT if start > indent else ""
    tail = CUT if end < len(line.rstrip()) else ""
    moved = [
        (max(s, start) - start + len(head), min(e, end) - start + len(head)) for s, e in spans if e > start and s < end
    ]
    return head + line[start:end] + tail, moved
