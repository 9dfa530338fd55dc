"""Folding: when two names count as the same name."""

from __future__ import annotations

import re
import unicodedata

_LATIN_MARKS = dict.fromkeys(range(0x300, 0x370))
_BREAKS = re.compile(r"[\W_]+")
_SPECIAL = str.maketrans(
    {"ß": "ss", "ẞ": "ss", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i"}
)


def fold_accents(text: str) -> str:
    """Lower case without Latin, Greek and Cyrillic accents. Vowel signs of other scripts are kept: they are letters."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", text.translate(_SPECIAL)).translate(_LATIN_MARKS)
    return unicodedata.normalize("NFC", spread).casefold()


def fold_name(text: str) -> str:
    """The form under which titles, aliases, slugs, tags and entities are compared.

    >>> fold_name("ADR-016: Use  Postgres")
    'adr 016 use postgres'
    """
    folded = fold_accents(text)
    plain = _BREAKS.sub(" ", folded).strip()
    return plain or folded.strip()
