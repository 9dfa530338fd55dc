"""Writing a catalog: in path order and without a journal, so that the same rows give the same bytes."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from memidx.ground.errors import MemidxError
from memidx.ground.fold import fold_name
from memidx.stores.catalog.reading import Catalog
from memidx.stores.catalog.rows import (
    BY_PAGE,
    INDEXES,
    SCHEMA,
    SectionRow,
    chunks,
    heading_json,
    meta_json,
    page_names,
    to_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from memidx.ground.diagnostics import Diagnostic
    from memidx.ground.page import Page

DISTINCT = frozenset({"names", "fields", "labels"})  # what a page says twice is there once


@contextmanager
def room_for_catalog(folder: Path) -> Iterator[None]:
    """SQLite says in words of its own that a disk is full or cannot be written. Raises MemidxError instead."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise MemidxError(f"{folder}: cannot be written: {error}", hint="see that the disk is not full") from error


class CatalogWriter(Catalog):
    """A catalog that is being made with ``create``, or changed after ``update``; ``finish`` ends both."""

    @classmethod
    def create(cls, path: Path) -> Self:
        """A new, empty catalog at ``path``."""
        catalog = cls(_writer(path), path)
        catalog._db.executescript("BEGIN;" + SCHEMA)
        return catalog

    @classmethod
    def update(cls, path: Path) -> Self:
        """A catalog that was copied from another snapshot, to be changed in place."""
        catalog = cls(_writer(path), path)
        catalog._db.execute("BEGIN")
        return catalog

    def finish(self, *, indexes: bool) -> None:
        """Commit and close; ``indexes`` for a new catalog, whose indexes are made at the end in one go."""
        if indexes:
            for statement in INDEXES.strip().split(";\n"):
                self._db.execute(statement.rstrip(";"))
        self._db.execute("COMMIT")
        self.close()

    def add_page(self, page_id: int, page: Page, blob: str, sections: Sequence[SectionRow], language: str = "") -> None:
        """Add a page and all that hangs on it. ``language`` is its own, "" for the vault's."""
        meta = page.meta
        self._db.execute(
            "INSERT INTO pages VALUES (?,?,?,?,?,?,?,?,?)",
            (
                page_id,
                to_bytes(page.path),
                blob,
                page.title,
                page.kind,
                meta.changed_at,
                meta.expires_at,
                page.degraded,
                meta_json(page),
            ),
        )
        self._insert("sections", 8, [(*s[:2], heading_json(s.heading), *s[3:]) for s in sections])
        self._insert("names", 3, [(name, page_id, source) for name, source in page_names(page)])
        self._insert("fields", 3, sorted({(f.key.casefold(), f.value.casefold(), page_id) for f in page.fields}))
        self._insert("links", 7, [(page_id, *link) for link in page.links])
        labels = [(fold_name(k.label), page_id, k.form, k.target) for k in page.links if k.label and k.target]
        self._insert("labels", 4, labels)
        if language:
            self._insert("languages", 2, [(page_id, language)])
        self.add_diagnostics(page.diagnostics, page_id)

    def add_diagnostics(self, diagnostics: Iterable[Diagnostic], page_id: int | None = None) -> None:
        """Add findings; those without a page (what the listing could not take in) belong to no page."""
        self._insert(
            "diagnostics",
            7,
            [(page_id, to_bytes(d.path), d.line, d.col, d.severity, d.message, d.code) for d in diagnostics],
        )

    def _insert(self, table: str, columns: int, rows: Sequence[tuple[object, ...]]) -> None:
        """Add rows. Most pages have nothing for most tables."""
        if rows:
            once = "OR IGNORE" if table in DISTINCT else ""
            self._db.executemany(f"INSERT {once} INTO {table} VALUES ({','.join('?' * columns)})", rows)

    def drop_listing_diagnostics(self) -> None:
        """Forget the findings that belong to no page; the new listing brings its own."""
        self._db.execute("DELETE FROM diagnostics WHERE page IS NULL")

    def remove_pages(self, page_ids: Sequence[int]) -> None:
        """Remove pages and all that hangs on them."""
        for chunk in chunks(page_ids):
            marks = ",".join("?" * len(chunk))
            self._db.execute(f"DELETE FROM pages WHERE id IN ({marks})", chunk)
            for table in BY_PAGE:
                self._db.execute(f"DELETE FROM {table} WHERE page IN ({marks})", chunk)


def _writer(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    # The file is private until its folder is renamed into place, and is flushed there: no journal, no sync of its own.
    try:
        for pragma in (
            "page_size = 4096",
            "journal_mode = OFF",
            "synchronous = OFF",
            "locking_mode = EXCLUSIVE",
            "temp_store = MEMORY",
        ):
            db.execute(f"PRAGMA {pragma}")
    except sqlite3.Error:  # the file is damaged
        db.close()
        raise
    return db
