"""Writing an index: all of it, or the difference to another one."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from tantivy import Document, IndexWriter, Schema

from memidx.ground.errors import MemidxError
from memidx.parsing import tokens
from memidx.stores.lexical import files, meta
from memidx.stores.lexical.analyzer import Analyzer
from memidx.stores.lexical.guard import guarded
from memidx.stores.lexical.schema import BODY, EXACT, PAGE, RAW, SECTION, WHOLE, create_index, make_schema, open_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from memidx.parsing.tokens import Prepared

# The most Tantivy allows a thread. It is a ceiling at which a segment is closed, not an allocation: a writer takes
# about 1.3 times the text, and below the ceiling there is one segment.
MEMORY: Final = 4_000_000_000


class LexicalRow(NamedTuple):
    """One section to index. ``section`` is its number, ``page`` that of its page; ``text`` is the page's source."""

    section: int
    page: int
    title: str
    heading: tuple[str, ...]
    text: str
    language: str = ""  # the page's, where the index's own analysis is not the right one


def write_index(folder: Path, rows: Iterable[LexicalRow], language: str, *, memory: int = MEMORY) -> None:
    """Write an index of ``rows``, which may be a stream, into ``folder``. Equal rows give equal bytes.

    The sections of a page come one after the other, and have its language.
    Raises ConfigError for an unknown language. ``memory`` in bytes: one segment takes at most as much while written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    analyzer = Analyzer(language)
    with written(folder):
        writer = create_index(folder, analyzer).writer(memory, 1)
    others = _add(writer, rows, analyzer)
    with written(folder):
        writer.commit()
        writer.wait_merging_threads()
    files.settle(folder, language, others)


def update_index(
    base: Path,
    folder: Path,
    removed_pages: Iterable[int],
    rows: Iterable[LexicalRow],
    language: str,
    *,
    others: Iterable[str] = (),
) -> None:
    """Write into ``folder`` the index in ``base`` without the sections of ``removed_pages`` and with ``rows``.

    The pages of ``rows`` must be new to the index or among the removed ones. ``others`` are the languages of single
    pages that remain. ``base`` keeps its bytes and may be read meanwhile. Raises BrokenSnapshotError if it cannot be
    read, or was written for another language.
    """
    payload = meta.read_payload(base, meta.read_meta(base))
    meta.check_sizes(base, payload)
    if payload.language != language:
        raise meta.broken(base, f"written for {payload.language}, not {language}")
    files.link_index(base, folder)
    analyzer = Analyzer(language)
    with guarded(folder):
        writer = open_index(folder, analyzer).writer(MEMORY, 1)
        for page in removed_pages:
            writer.delete_documents_by_term(PAGE, page)
        added = _add(writer, rows, analyzer)
        writer.commit()
        writer.wait_merging_threads()
    files.settle(folder, language, added.union(others))


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Tantivy's word for a full disk or a missing permission is a ValueError."""
    try:
        yield
    except ValueError as error:
        raise MemidxError(f"{folder}: cannot be written: {error}", hint="see that the disk is not full") from error


def _add(writer: IndexWriter, rows: Iterable[LexicalRow], analyzer: Analyzer) -> set[str]:
    """Add the rows, and tell which languages beside the index's own they have."""
    schema = make_schema()
    others: set[str] = set()
    for _, sections in groupby(rows, key=lambda row: row.page):
        page = list(sections)
        language = page[0].language
        if language:
            others.add(language)
        stemmed = partial(analyzer.stemmed, language=language) if language else str
        ready = [tokens.prepare(row.title, "\n".join(row.heading), row.text) for row in page]
        ready = [r._replace(words=tuple(map(stemmed, r.words))) for r in ready]
        for number, (row, prepared) in enumerate(zip(page, ready, strict=True)):
            whole = [] if number else _whole(page, ready, stemmed)
            writer.add_document(_document(row, prepared, whole, schema))
    return others


def _whole(page: Sequence[LexicalRow], ready: Sequence[Prepared], stemmed: Callable[[str], str]) -> list[str]:
    """What counts for the page as a whole: its title once, each heading once, and all texts."""
    headings = dict.fromkeys(row.heading[-1] for row in page if row.heading)
    texts = (value for prepared in ready for value in (prepared.words[2], prepared.parts))
    return list(filter(None, (ready[0].words[0], stemmed(tokens.fold("\n".join(headings))), *texts)))


def _document(row: LexicalRow, ready: Prepared, whole: list[str], schema: Schema) -> Document:
    fields = {
        BODY: [value for value in (*ready.words, ready.parts, ready.tails) if value],
        EXACT: ready.exact,
        SECTION: row.section,
        PAGE: row.page,
        RAW: row.text.encode("utf-8", "replace"),
    }
    return Document.from_dict({**fields, WHOLE: whole} if whole else fields, schema)
