"""An estimate of how many tokens a language model makes of a text. Tokenizers differ; a budget needs one number."""

from __future__ import annotations

import re

# Scripts of which about every character is a token of its own.
_DENSE = re.compile(
    "[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u30ff\u3130-\u318f\u31f0-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ASCII = re.compile(r"[\x00-\x7f]+")


def estimate_tokens(text: str) -> int:
    """A quarter token for each ASCII character, one for each character of Chinese, Japanese, Korean and Thai, half a
    token for any other; rounded up.

    >>> estimate_tokens("roll back")
    3
    """
    ascii_only = sum(len(run) for run in _ASCII.findall(text))
    dense = len(_DENSE.findall(text))
    quarters = ascii_only + 4 * dense + 2 * (len(text) - ascii_only - dense)
    return -(-quarters // 4)
