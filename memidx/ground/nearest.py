"""The nearest known name to a mistyped one, for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """At most ``count`` known names that look like ``word``, best first."""
    import difflib  # 5 ms, and only an error pays it

    return difflib.get_close_matches(word, list(known), n=count, cutoff=0.5)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``did you mean 'x'?`` or the empty string."""
    names = nearest(word, known, 1)
    return f"did you mean '{names[0]}'?" if names else ""
