"""Anchors of headings, as GitHub makes them."""

from __future__ import annotations

import re
import unicodedata

_DROPPED = re.compile(r"[^\w\- ]")


def slug(text: str) -> str:
    """Lower case, punctuation dropped, spaces to ``-``, letters and marks of every script kept. In NFC."""
    text = unicodedata.normalize("NFC", text).lower()
    kept = _DROPPED.sub("", text) if text.isascii() else "".join(filter(_is_kept, text))
    return kept.replace(" ", "-")


class Anchors:
    """Hands out anchors that are distinct within one page: ``a``, ``a-1``, ``a-2``."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def take(self, text: str) -> str:
        """The anchor of the next heading in document order. A heading without letters gets ``section``."""
        base = slug(text) or "section"
        anchor = base
        count = self._next.get(base, 0)
        # The counter of the base is kept, so that a page of n equal headings costs n steps.
        while anchor in self._next:
            count += 1
            anchor = f"{base}-{count}"
        self._next[base] = count
        self._next.setdefault(anchor, 0)
        return anchor


def _is_kept(char: str) -> bool:
    # Python's \w leaves out combining marks, which Thai and the Indic scripts cannot do without.
    return char.isalnum() or char in "_- " or unicodedata.category(char)[0] == "M"
