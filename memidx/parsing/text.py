"""Bytes to text: encodings, line ends and what counts as a line."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.codes import finding

if TYPE_CHECKING:
    from memidx.ground.diagnostics import Diagnostic

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# A byte that is no UTF-8 is most often a Western one: read it so. Five bytes have no meaning there.
_STRAY_BYTES = {0xDC00 + byte: bytes([byte]).decode("cp1252", "replace") for byte in range(0x80, 0x100)}


class Text(NamedTuple):
    """A decoded page. Every line ends in LF; there is no BOM, no NUL and no lone surrogate."""

    text: str
    notes: tuple[Diagnostic, ...]


def decode(path: str, data: bytes) -> Text:
    """Decode a page. Never fails: what cannot be read is guessed or replaced; an ``encoding`` finding says where."""
    wide = next((name for bom, name in _WIDE if data.startswith(bom)), None)
    notes: list[Diagnostic] = []
    if wide:
        text = data.decode(wide, "replace")
        notes.append(finding("utf-16", path, 0, 0, f"the page is {wide.upper()}; save it as UTF-8, git sees binary"))
        if _REPLACEMENT in text:
            notes.append(_lossy(path, text[: text.index(_REPLACEMENT)], f"not clean {wide.upper()}"))
    else:
        data = data.removeprefix(codecs.BOM_UTF8)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-8")
            notes.append(_lossy(path, before, f"byte 0x{data[error.start]:02x} is not UTF-8"))
            text = data.decode("utf-8", "surrogateescape").translate(_STRAY_BYTES)
    if "\0" in text:
        notes.append(_lossy(path, text[: text.index("\0")], "a NUL byte"))
        text = text.replace("\0", _REPLACEMENT)
    return Text(unify_line_ends(text), tuple(notes))


def unify_line_ends(text: str) -> str:
    r"""CRLF and lone CR become LF. Nothing else ends a line: not \v, \f, nor U+2028."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def count_lines(text: str) -> int:
    """The number of lines, at least 1. A last line without its end counts."""
    return max(1, text.count("\n") + (not text.endswith("\n")))


def _lossy(path: str, before: str, what: str) -> Diagnostic:
    before = unify_line_ends(before)
    line = before.count("\n") + 1
    col = len(before) - before.rfind("\n")
    return finding("encoding", path, line, col, f"{what}; the page was read with loss, save it as UTF-8")
