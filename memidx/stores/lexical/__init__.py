"""The lexical store: a Tantivy index of sections, in a folder of files with fixed names."""

from memidx.stores.lexical.analyzer import Analyzer
from memidx.stores.lexical.reading import LexicalIndex
from memidx.stores.lexical.stats import LexicalStats, stats
from memidx.stores.lexical.writing import LexicalRow, update_index, write_index

__all__ = [
    "Analyzer",
    "LexicalIndex",
    "LexicalRow",
    "LexicalStats",
    "stats",
    "update_index",
    "write_index",
]
