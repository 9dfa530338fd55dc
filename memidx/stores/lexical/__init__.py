"""The lexical store: a Tantivy index of sections, in a folder of files with fixed names."""

from typing import TYPE_CHECKING, Any

from memidx.stores.lexical.analyzer import Analyzer, chain
from memidx.stores.lexical.reading import LexicalIndex
from memidx.stores.lexical.stats import LexicalStats, stats

if TYPE_CHECKING:
    from memidx.stores.lexical.writing import LexicalRow, update_index, write_index

__all__ = [
    "Analyzer",
    "LexicalIndex",
    "LexicalRow",
    "LexicalStats",
    "chain",
    "stats",
    "update_index",
    "write_index",
]


def __getattr__(name: str) -> Any:
    """Import what writes when it is first asked for: a query saves 25 ms."""
    if name in {"LexicalRow", "update_index", "write_index"}:
        from memidx.stores.lexical import writing

        return getattr(writing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
