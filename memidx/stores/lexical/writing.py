"""Writing an index: all of it, or the difference to another one."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from tantivy import Document, Index, IndexWriter, Schema

from memidx.ground.errors import MemidxError
from memidx.parsing import tokens
from memidx.stores.lexical import files, meta
from memidx.stores.lexical.analyzer import Analyzer
from memidx.stores.lexical.guard import guarded
from memidx.stores.lexical.schema import BODY, EXACT, PAGE, RAW, SECTION, create_index, make_schema, open_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

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


def write_index(folder: Path, rows: Iterable[LexicalRow], language: str, *, memory: int = MEMORY) -> None:
    """Write an index of ``rows``, which may be a stream, into ``folder``. Equal rows give equal bytes.

    Raises ConfigError for an unknown language. ``memory`` in bytes: one segment takes at most as much while written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    analyzer = Analyzer(language)
    with written(folder):
        writer = create_index(folder, analyzer).writer(memory, 1)
    _add(writer, rows)
    with written(folder):
        writer.commit()
        writer.wait_merging_threads()
    files.settle(folder, language)


def update_index(
    base: Path, folder: Path, removed_pages: Iterable[int], rows: Iterable[LexicalRow], language: str
) -> None:
    """Write into ``folder`` the index in ``base`` without the sections of ``removed_pages`` and with ``rows``.

    The pages of ``rows`` must be new to the index or among the removed ones. ``base`` keeps its bytes and may be
    read meanwhile. Raises BrokenSnapshotError if it cannot be read, or was written for another language.
    """
    payload = meta.read_payload(base, meta.read_meta(base))
    meta.check_sizes(base, payload)
    if payload.language != language:
        raise meta.broken(base, f"written for {payload.language}, not {language}")
    files.link_index(base, folder)
    with guarded(folder):
        writer = _open(folder, language).writer(MEMORY, 1)
        for page in removed_pages:
            writer.delete_documents_by_term(PAGE, page)
        _add(writer, rows)
        writer.commit()
        writer.wait_merging_threads()
    files.settle(folder, language)


@contextmanager
def written(folder: Path) -> Iterator[None]:
    """Tantivy's word for a full disk or a missing permission is a ValueError."""
    try:
        yield
    except ValueError as error:
        raise MemidxError(f"{folder}: cannot be written: {error}", hint="see that the disk is not full") from error


def _open(folder: Path, language: str) -> Index:
    return open_index(folder, Analyzer(language))


def _add(writer: IndexWriter, rows: Iterable[LexicalRow]) -> None:
    schema = make_schema()
    for row in rows:
        writer.add_document(_document(row, schema))


def _document(row: LexicalRow, schema: Schema) -> Document:
    ready = tokens.prepare(row.title, "\n".join(row.heading), row.text)
    return Document.from_dict(
        {
            BODY: [value for value in (*ready.words, ready.parts, ready.tails) if value],
            EXACT: ready.exact,
            SECTION: row.section,
            PAGE: row.page,
            RAW: row.text.encode("utf-8", "replace"),
        },
        schema,
    )
