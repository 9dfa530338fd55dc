"""Text from pages, made safe to print: what a terminal would act on or hide is written out."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Control characters, marks that turn the direction of text, line separators, characters that show nothing, and the
# surrogates that stand for bytes of a path that are not UTF-8.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BYTE, _BASIC = 0x100, 0x10000
_BYTES = range(0xDC80, 0xDD00)  # bytes from 0x80 on, as Python keeps them in a path


def visible(text: str, keep: str = "") -> str:
    r"""``text`` with hidden characters as ``\x1b``, ``\u202e`` and the like. Those in ``keep`` stay."""
    return _HIDDEN.sub(lambda m: m[0] if m[0] in keep else _written_out(m[0]), text)


def _written_out(char: str) -> str:
    code = ord(char)
    if code in _BYTES:
        code -= _BYTES.start - 0x80
    if char in _SHORT:
        return _SHORT[char]
    if code < _BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _BASIC else f"\\U{code:08x}"


class Cell(NamedTuple):
    """A character as it is printed: its text, how many columns it takes, and whether it is marked."""

    text: str
    width: int
    marked: bool


def cells(text: str, marks: Sequence[tuple[int, int]] = ()) -> list[Cell]:
    """The characters of one line. ``marks`` are ranges of character positions; a tab counts as a blank."""
    marked = {at for start, end in marks for at in range(start, min(end, len(text)))}
    found = []
    for at, char in enumerate(text):
        shown = " " if char == "\t" else visible(char)
        found.append(Cell(shown, _width(char) if shown == char else len(shown), at in marked))
    return found


def _width(char: str) -> int:
    if unicodedata.combining(char) or char == "\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrapped(line: Sequence[Cell], width: int) -> Iterator[list[Cell]]:
    """Cut a line so that each piece fits ``width`` columns: at a blank where there is one, else anywhere."""
    rest = list(line)
    while rest:
        taken = columns = 0
        while taken < len(rest) and (columns := columns + rest[taken].width) <= width:
            taken += 1
        taken = max(taken, 1)
        if taken == len(rest):
            yield rest
            return
        blank = next((at for at in range(taken, 0, -1) if rest[at].text == " "), None)
        yield rest[: blank or taken]
        rest = rest[blank + 1 if blank else taken :]
