"""The fields of the index.

body      title, heading path and text of a section, then the parts of identifiers and the ends of runs;
          one field, because boosting and adding fields did worse than BM25 over their sum
whole     the page's title, headings and text, in the document of its first section: pages are found as a whole too.
          Its lengths are measured against the mean over all documents, so length counts for more than BM25 has it
          (b .75 becomes about .9 with five sections a page). That ranked pages better than an index of pages did
exact     whole identifiers and accented words
section   its number; page: the number of its page. Integers: an unsigned field panics in Document(field=5)
raw       the section's text as it stands in the page, compressed, for snippets
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tantivy import Index, Schema, SchemaBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.stores.lexical.analyzer import Analyzer

BODY: Final = "body"
WHOLE: Final = "whole"
EXACT: Final = "exact"
SECTION: Final = "section"
PAGE: Final = "page"
RAW: Final = "raw"

_BODY_TOKENIZER: Final = "memidx-body"
_EXACT_TOKENIZER: Final = "memidx-exact"


def make_schema() -> Schema:
    builder = SchemaBuilder()
    builder.add_text_field(BODY, tokenizer_name=_BODY_TOKENIZER, index_option="position")
    builder.add_text_field(WHOLE, tokenizer_name=_BODY_TOKENIZER, index_option="freq")
    builder.add_text_field(EXACT, tokenizer_name=_EXACT_TOKENIZER, index_option="freq")
    builder.add_integer_field(SECTION, indexed=True, fast=True)
    builder.add_integer_field(PAGE, indexed=True, fast=True)
    builder.add_bytes_field(RAW, stored=True)
    return builder.build()


def create_index(folder: Path, analyzer: Analyzer) -> Index:
    return _register(Index(make_schema(), str(folder), reuse=False), analyzer)


def open_index(folder: Path, analyzer: Analyzer) -> Index:
    return _register(Index.open(str(folder)), analyzer)


def _register(index: Index, analyzer: Analyzer) -> Index:
    index.register_tokenizer(_BODY_TOKENIZER, analyzer.text)
    index.register_tokenizer(_EXACT_TOKENIZER, analyzer.exact)
    return index
