"""One edit: a letter left out, put in, changed, or two neighbours swapped."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Correction(NamedTuple):
    """A word of a query that stands nowhere, as it was typed (folded), and the index term to look for instead."""

    word: str
    term: str


def one_edit(first: str, second: str) -> bool:
    """Whether one edit turns ``first`` into ``second``: the restricted Damerau-Levenshtein distance is exactly 1."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    start = 0
    for a, b in zip(first, second, strict=False):
        if a != b:
            break
        start += 1
    rest, other = first[start:], second[start:]
    if len(rest) == len(other):
        return rest[1:] == other[1:] or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    return rest[1:] == other if len(rest) > len(other) else rest == other[1:]


def edits(word: str) -> Iterator[str]:
    """Every string one edit from ``word`` that starts with the same letter, with the letters a to z; some twice."""
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in ascii_lowercase:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
        if tail:
            yield head + tail[1:]
            yield head + tail[1:2] + tail[0] + tail[2:]
