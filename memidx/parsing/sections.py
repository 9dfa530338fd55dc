"""A body cut into sections: one for each heading, long ones cut further."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.page import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memidx.parsing.markdown import Mark

# Where a long text is cut, best first: after a blank line, a line, a sentence, a word.
_BORDERS = (
    re.compile(r"\n(?:[ \t]*\n)+"),
    re.compile(r"\n"),
    re.compile(r"[.!?][\"')\]]?\s|[。！？]"),
    re.compile(r"\s"),
)


class Piece(NamedTuple):
    """Text without blank lines around it, and its first and last line."""

    text: str
    line: int
    end_line: int


def cut(text: str, line: int, max_chars: int) -> Iterator[Piece]:
    """Cut a text that starts at ``line`` into pieces of at most ``max_chars`` characters, in linear time.

    Every line that is not blank is in exactly one piece, unless the line alone is longer than that.
    """
    start, size = 0, len(text)
    most = max(1, max_chars)
    while start < size:
        end = size if size - start <= most else _border(text, start, start + most)
        piece = text[start:end]
        indent = len(piece) - len(piece.lstrip())
        skipped = piece.rfind("\n", 0, indent) + 1
        kept = piece[skipped:].rstrip()
        if kept:
            first = line + piece.count("\n", 0, skipped)
            yield Piece(kept, first, first + kept.count("\n"))
        line += piece.count("\n")
        start = end


def _border(text: str, start: int, stop: int) -> int:
    for border in _BORDERS:
        end = start
        for match in border.finditer(text, start, stop):
            end = match.end()
        if end > start:
            return end
    return stop


def make_sections(
    raw: bytes, marks: Sequence[Mark], title: Sequence[bool], first_line: int, max_chars: int
) -> list[Section]:
    """Sections of a body in UTF-8 that starts at ``first_line``. ``title[i]`` says that heading i is the page's title.

    The title is not repeated in heading paths. A heading without text of its own gives a section only when no heading
    below it carries its name on, and not when it is the title.
    """
    before = raw[: marks[0].start] if marks else raw
    sections = [
        Section((), "", piece.text, piece.line, piece.end_line)
        for piece in cut(before.decode("utf-8", "replace"), first_line, max_chars)
    ]
    stack: list[tuple[int, str]] = []
    for index, mark in enumerate(marks):
        level, name, anchor, line = mark.heading
        while stack and stack[-1][0] >= level:
            stack.pop()
        stack.append((level, "" if title[index] else name))
        path = tuple(above for _, above in stack if above)
        following = marks[index + 1] if index + 1 < len(marks) else None
        text = raw[mark.end : following.start if following else len(raw)].decode("utf-8", "replace")
        pieces = cut(text, mark.end_line + 1, max_chars)
        first = next(pieces, None)
        if first:
            sections.append(Section(path, anchor, first.text, line, first.end_line))
            sections.extend(Section(path, anchor, *piece) for piece in pieces)
        elif not title[index] and not (following and following.heading.level > level):
            sections.append(Section(path, anchor, "", line, mark.end_line))
    return sections
