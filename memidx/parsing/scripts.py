"""Which characters belong to which kind of writing, as classes for regular expressions.

The ranges are written out because computing them from `unicodedata` costs 200 ms at import. A test derives them
again and compares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

# Han, kana, bopomofo and Hangul: words run together, two characters carry about as much as an English word.
CJK: Final = (
    "\u1100-\u11ff\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)

# Thai, Lao, Burmese and Khmer: an alphabet without spaces between words. Digits and punctuation are left out.
NO_SPACES: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109d"
    "\u1780-\u17d3\u17d7\u17dc\u17dd\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
)

# Forms kept in Unicode for the sake of older encodings: full-width Latin, half-width kana, ligatures, compatibility
# ideographs, presentation forms. NFKC gives what was meant. It is applied to these alone: on a whole text it would
# glue a superscript footnote mark or a trade mark sign to the word before it. Lone surrogates are here as well: they
# cannot be stored and become question marks.
COMPATIBILITY: Final = (
    "\ud800-\udfff\u3300-\u33ff\uf900-\ufdff\ufe30-\ufe4f\ufe70-\ufefc\uff01-\uffee\U0002f800-\U0002fa1d"
)

# Marks and invisible characters at which the tokenizer would break a word, most of them accents, vowel killers and
# joiners: dropped, from text and query alike.
DROPPED: Final = (
    "\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0600-\u0605\u0610-\u061a\u061c"
    "\u0640\u064b-\u065f\u0670\u06dd\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u070f\u0711\u0730-\u074a"
    "\u07eb-\u07f3\u07fd\u0816-\u0819\u081b-\u0823\u0825-\u0827\u0829-\u082d\u0859-\u085b\u0890\u0891\u0898-\u089f\u08ca-\u08ff"
    "\u093c\u094d\u0951-\u0954\u09bc\u09cd\u09fe\u0a3c\u0a4d\u0abc\u0acd\u0afd-\u0aff\u0b3c\u0b4d\u0b55\u0bcd\u0c3c\u0c4d"
    "\u0cbc\u0ccd\u0d3b\u0d3c\u0d4d\u0dca\u0e47-\u0e4c\u0e4e\u0eba\u0ec8-\u0ecc\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e\u0f3f"
    "\u0f82-\u0f84\u0f86\u0f87\u0fc6\u1037\u1039\u103a\u108d\u135d-\u135f\u1714\u1715\u1734\u17b4\u17b5\u17c9-\u17d3\u17dd"
    "\u180b-\u180f\u1939-\u193b\u1a60\u1a75-\u1a7c\u1a7f\u1ab0-\u1ace\u1b34\u1b44\u1b6b-\u1b73\u1baa\u1bab\u1be6"
    "\u1bf2\u1bf3\u1c37\u1cd0-\u1cd2\u1cd4-\u1ce8\u1ced\u1cf4\u1cf7-\u1cf9\u1dc0-\u1dff\u200c-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20d0-\u20f0\u2cef-\u2cf1\u2d7f\u302a-\u302f\u3099\u309a\ua66f-\ua672\ua674-\ua67d\ua6f0\ua6f1\ua806"
    "\ua82c\ua8c4\ua8e0-\ua8f1\ua92b-\ua92d\ua953\ua9b3\ua9c0\uaabf\uaac1\uaaf6\uabec\uabed\ufb1e\ufe00-\ufe0f"
    "\ufe20-\ufe2f\ufeff\ufff9-\ufffb"
)

# Accents outside Latin, and letters that keyboards mix: Turkish, Cyrillic, Greek, Persian. Latin accents are left to
# the index's own folding filter, Arabic spelling variants to the Arabic stemmer, which does better with them intact.
SIMPLER: Final = dict(
    zip(
        "İёЁάέήίόύώϊϋΐΰΆΈΉΊΌΎΏΪΫکی",
        "iеЕαεηιουωιυιυΑΕΗΙΟΥΩΙΥكي",
        strict=True,
    )
)


def members(ranges: str) -> Iterator[str]:
    """Every character of a class written as above: ``"a-cx"`` gives a, b, c, x."""
    i = 0
    while i < len(ranges):
        if ranges[i + 1 : i + 2] == "-":
            yield from map(chr, range(ord(ranges[i]), ord(ranges[i + 2]) + 1))
            i += 3
        else:
            yield ranges[i]
            i += 1
