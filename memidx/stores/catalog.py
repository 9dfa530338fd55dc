"""The catalog: pages, sections, names, tags, fields, links and diagnostics of one snapshot, in one SQLite file.

Written once, in path order, without a journal, so that the same rows give the same bytes. An update copies the file
and changes the copy. Paths are stored as bytes: git's paths need not be UTF-8.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memidx.ground.diagnostics import Diagnostic
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.filters import Filters
from memidx.ground.fold import fold_name
from memidx.ground.page import Link, Page

SCHEMA = """
CREATE TABLE pages (id INTEGER PRIMARY KEY, path BLOB NOT NULL, blob TEXT NOT NULL, title TEXT NOT NULL,
    kind TEXT NOT NULL, changed_at INTEGER, expires_at INTEGER, degraded INTEGER NOT NULL, meta TEXT NOT NULL);
CREATE TABLE sections (id INTEGER PRIMARY KEY, page INTEGER NOT NULL, heading TEXT NOT NULL, anchor TEXT NOT NULL,
    line INTEGER NOT NULL, end_line INTEGER NOT NULL, digest BLOB NOT NULL, vector INTEGER);
CREATE TABLE names (name TEXT NOT NULL, page INTEGER NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (name, page, source)) WITHOUT ROWID;
CREATE TABLE fields (key TEXT NOT NULL, value TEXT NOT NULL, page INTEGER NOT NULL,
    PRIMARY KEY (key, value, page)) WITHOUT ROWID;
CREATE TABLE links (page INTEGER NOT NULL, form TEXT NOT NULL, target TEXT NOT NULL, anchor TEXT NOT NULL,
    label TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL);
CREATE TABLE diagnostics (page INTEGER, path BLOB NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
    severity TEXT NOT NULL, message TEXT NOT NULL, code TEXT NOT NULL);
"""
INDEXES = """
CREATE INDEX pages_path ON pages (path);
CREATE INDEX sections_page ON sections (page);
CREATE INDEX sections_vector ON sections (vector);
CREATE INDEX sections_digest ON sections (digest);
CREATE INDEX names_page ON names (page);
CREATE INDEX fields_page ON fields (page);
CREATE INDEX links_page ON links (page);
CREATE INDEX diagnostics_page ON diagnostics (page);
"""
BY_PAGE = ("sections", "names", "fields", "links", "diagnostics")
MANY = 500  # parameters in one statement; SQLite's own limit is higher, and not everywhere the same


class SectionRow(NamedTuple):
    """A section's place: its page, heading path, lines, text digest and vector row (None: no direction)."""

    id: int
    page: int
    heading: tuple[str, ...]
    anchor: str
    line: int
    end_line: int
    digest: bytes
    vector: int | None


class PageRow(NamedTuple):
    """A page as the catalog keeps it. ``meta`` holds the typed front-matter as plain values."""

    id: int
    path: str
    blob: str
    title: str
    kind: str
    changed_at: int | None
    degraded: bool
    meta: dict[str, Any]


class NameHit(NamedTuple):
    """A page found by a name: the folded name and where it comes from (title, alias, slug, id, tag, entity)."""

    page: int
    name: str
    source: str


class Counts(NamedTuple):
    """What the catalog holds."""

    pages: int
    sections: int
    vectors: int
    degraded: int
    diagnostics: int


class Catalog:
    """One open catalog. Read with ``open``; write with ``create`` or ``update``, then ``finish``."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self._path = path

    @classmethod
    def open(cls, path: Path) -> Catalog:
        """Read only. Raises BrokenSnapshotError when the file is missing or not a catalog."""
        try:
            db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
            db.execute("SELECT id FROM pages LIMIT 1").fetchone()
            db.execute("SELECT id FROM sections LIMIT 1").fetchone()
        except sqlite3.Error as error:
            raise BrokenSnapshotError(f"{path}: cannot be read: {error}", hint="run `memidx build --full`") from error
        return cls(db, path)

    @classmethod
    def create(cls, path: Path) -> Catalog:
        """A new, empty catalog at ``path``."""
        catalog = cls(_writer(path), path)
        catalog._db.executescript("BEGIN;" + SCHEMA)
        return catalog

    @classmethod
    def update(cls, path: Path) -> Catalog:
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
        self._db.close()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    # -- writing --------------------------------------------------------------------------------------------------

    def add_page(self, page_id: int, page: Page, blob: str, sections: Sequence[SectionRow]) -> None:
        """Add a page and all that hangs on it."""
        meta = page.meta
        self._db.execute(
            "INSERT INTO pages VALUES (?,?,?,?,?,?,?,?,?)",
            (
                page_id,
                _bytes(page.path),
                blob,
                page.title,
                page.kind,
                meta.changed_at,
                meta.expires_at,
                page.degraded,
                _meta_json(page),
            ),
        )
        self._db.executemany(
            "INSERT INTO sections VALUES (?,?,?,?,?,?,?,?)",
            [
                (
                    s.id,
                    s.page,
                    json.dumps(s.heading, ensure_ascii=False),
                    s.anchor,
                    s.line,
                    s.end_line,
                    s.digest,
                    s.vector,
                )
                for s in sections
            ],
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO names VALUES (?,?,?)", [(n, page_id, s) for n, s in page_names(page)]
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO fields VALUES (?,?,?)",
            sorted({(f.key.casefold(), f.value.casefold(), page_id) for f in page.fields}),
        )
        self._db.executemany("INSERT INTO links VALUES (?,?,?,?,?,?,?)", [(page_id, *link) for link in page.links])
        self.add_diagnostics(page.diagnostics, page_id)

    def add_diagnostics(self, diagnostics: Iterable[Diagnostic], page_id: int | None = None) -> None:
        """Add findings; those without a page (what the listing could not take in) belong to no page."""
        self._db.executemany(
            "INSERT INTO diagnostics VALUES (?,?,?,?,?,?,?)",
            [(page_id, _bytes(d.path), d.line, d.col, d.severity, d.message, d.code) for d in diagnostics],
        )

    def drop_listing_diagnostics(self) -> None:
        """Forget the findings that belong to no page; the new listing brings its own."""
        self._db.execute("DELETE FROM diagnostics WHERE page IS NULL")

    def remove_pages(self, page_ids: Sequence[int]) -> None:
        """Remove pages and all that hangs on them."""
        for chunk in _chunks(page_ids):
            marks = ",".join("?" * len(chunk))
            self._db.execute(f"DELETE FROM pages WHERE id IN ({marks})", chunk)
            for table in BY_PAGE:
                self._db.execute(f"DELETE FROM {table} WHERE page IN ({marks})", chunk)

    # -- reading --------------------------------------------------------------------------------------------------

    def listing(self) -> list[tuple[str, str]]:
        """(path, blob) of every page, by path."""
        rows = self._rows("SELECT path, blob FROM pages ORDER BY path")
        return [(_text(path), blob) for path, blob in rows]

    def page_ids(self, paths: Iterable[str]) -> dict[str, int]:
        """Ids of the pages at these paths; a path without a page is left out."""
        found: dict[str, int] = {}
        for chunk in _chunks([_bytes(p) for p in paths]):
            marks = ",".join("?" * len(chunk))
            rows = self._rows(f"SELECT path, id FROM pages WHERE path IN ({marks})", chunk)
            found.update((_text(path), page) for path, page in rows)
        return found

    def pages(self, ids: Iterable[int]) -> dict[int, PageRow]:
        """Pages by id."""
        found: dict[int, PageRow] = {}
        for chunk in _chunks(list(ids)):
            rows = self._rows(f"SELECT * FROM pages WHERE id IN ({','.join('?' * len(chunk))})", chunk)
            found.update((row[0], _page_row(row)) for row in rows)
        return found

    def all_pages(self) -> Iterator[PageRow]:
        """Every page, by path."""
        return map(_page_row, self._rows("SELECT * FROM pages ORDER BY path"))

    def sections(self, ids: Iterable[int]) -> dict[int, SectionRow]:
        """Sections by id."""
        found: dict[int, SectionRow] = {}
        for chunk in _chunks(list(ids)):
            rows = self._rows(f"SELECT * FROM sections WHERE id IN ({','.join('?' * len(chunk))})", chunk)
            found.update((row[0], _section_row(row)) for row in rows)
        return found

    def sections_of(self, page: int) -> list[SectionRow]:
        """A page's sections in their order."""
        return [_section_row(r) for r in self._rows("SELECT * FROM sections WHERE page = ? ORDER BY id", (page,))]

    def sections_by_vector(self, vectors: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
        """(section, page) pairs that share each vector row."""
        found: dict[int, list[tuple[int, int]]] = {}
        for chunk in _chunks(list(vectors)):
            marks = ",".join("?" * len(chunk))
            for vector, section, page in self._rows(
                f"SELECT vector, id, page FROM sections WHERE vector IN ({marks}) ORDER BY id", chunk
            ):
                found.setdefault(vector, []).append((section, page))
        return found

    def vectors_of_pages(self, pages: Iterable[int]) -> list[int]:
        """The distinct vector rows of these pages, in ascending order."""
        rows: set[int] = set()
        for chunk in _chunks(list(pages)):
            marks = ",".join("?" * len(chunk))
            found = self._rows(f"SELECT vector FROM sections WHERE vector IS NOT NULL AND page IN ({marks})", chunk)
            rows.update(row for (row,) in found)
        return sorted(rows)

    def live_vectors(self) -> list[int]:
        """The distinct vector rows that any section has, in ascending order."""
        return [
            r for (r,) in self._rows("SELECT DISTINCT vector FROM sections WHERE vector IS NOT NULL ORDER BY vector")
        ]

    def vectors_by_digest(self, digests: Iterable[bytes]) -> dict[bytes, int | None]:
        """Vector rows of sections whose text has one of these digests."""
        found: dict[bytes, int | None] = {}
        for chunk in _chunks(list(digests)):
            marks = ",".join("?" * len(chunk))
            found.update(self._rows(f"SELECT digest, vector FROM sections WHERE digest IN ({marks})", chunk))
        return found

    def first_sections(self, pages: Iterable[int]) -> dict[int, int]:
        """The first section of each of these pages."""
        found: dict[int, int] = {}
        for chunk in _chunks(list(pages)):
            marks = ",".join("?" * len(chunk))
            found.update(self._rows(f"SELECT page, min(id) FROM sections WHERE page IN ({marks}) GROUP BY page", chunk))
        return found

    def expired(self, now: float) -> frozenset[int]:
        """Pages whose `expires_at` is before ``now``, seconds since the epoch."""
        return frozenset(page for (page,) in self._rows("SELECT id FROM pages WHERE expires_at < ?", (now,)))

    def page_numbers(self) -> set[int]:
        """The ids of all pages."""
        return {page for (page,) in self._rows("SELECT id FROM pages")}

    def next_ids(self) -> tuple[int, int]:
        """The first unused page and section id."""
        page = self._rows("SELECT coalesce(max(id), -1) + 1 FROM pages")[0][0]
        section = self._rows("SELECT coalesce(max(id), -1) + 1 FROM sections")[0][0]
        return page, section

    def exact_names(self, names: Sequence[str]) -> list[NameHit]:
        """Pages that carry one of these folded names."""
        hits: list[NameHit] = []
        for chunk in _chunks(names):
            marks = ",".join("?" * len(chunk))
            rows = self._rows(
                f"SELECT page, name, source FROM names WHERE name IN ({marks}) ORDER BY name, page", chunk
            )
            hits.extend(NameHit(*row) for row in rows)
        return hits

    def names_with_prefix(self, prefix: str, limit: int) -> list[NameHit]:
        """Pages with a folded name that starts with ``prefix``, by name."""
        rows = self._rows(
            "SELECT page, name, source FROM names WHERE name >= ? AND name < ? ORDER BY name, page, source LIMIT ?",
            (prefix, prefix + "\U0010ffff", limit),
        )
        return [NameHit(*row) for row in rows]

    def select(self, filters: Filters) -> set[int] | None:
        """Ids of the pages that pass; None when every page does."""
        if not filters:
            return None
        sql, values = _conditions(filters)
        rows = self._rows(f"SELECT id, path FROM pages WHERE {sql}", values)
        if not filters.paths:
            return {page for page, _ in rows}
        import pathspec  # 10 ms, paid by --path alone

        specs = [pathspec.GitIgnoreSpec.from_lines([glob]) for glob in filters.paths]
        return {page for page, path in rows if all(spec.match_file(_text(path)) for spec in specs)}

    def links(self, pages: Iterable[int]) -> list[tuple[int, Link]]:
        """Links as written on these pages."""
        found: list[tuple[int, Link]] = []
        for chunk in _chunks(list(pages)):
            marks = ",".join("?" * len(chunk))
            rows = self._rows(f"SELECT * FROM links WHERE page IN ({marks}) ORDER BY page, line, col", chunk)
            found.extend((row[0], Link(*row[1:])) for row in rows)
        return found

    def diagnostics(self) -> list[Diagnostic]:
        """Every finding, by path and line."""
        rows = self._rows(
            "SELECT path, line, col, severity, message, code FROM diagnostics ORDER BY path, line, col, code"
        )
        return [Diagnostic(_text(row[0]), *row[1:]) for row in rows]

    def counts(self) -> Counts:
        """How many of each."""
        row = self._rows(
            "SELECT (SELECT count(*) FROM pages), (SELECT count(*) FROM sections),"
            " (SELECT count(DISTINCT vector) FROM sections), (SELECT count(*) FROM pages WHERE degraded),"
            " (SELECT count(*) FROM diagnostics)"
        )[0]
        return Counts(*row)

    def kinds(self) -> dict[str, int]:
        """Pages of each kind, by kind."""
        return dict(self._rows("SELECT kind, count(*) FROM pages GROUP BY kind ORDER BY kind"))

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query. Damage shows only when a page of the file is read: it is one error, whatever SQLite says."""
        try:
            return self._db.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise BrokenSnapshotError(
                f"{self._path}: cannot be read: {error}", hint="run `memidx build --full`"
            ) from error


def page_names(page: Page) -> list[tuple[str, str]]:
    """The folded names a page answers to, each with its source, sorted."""
    stem = page.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    meta = page.meta
    named = [("title", page.title), ("slug", stem), ("id", meta.id or "")]
    named += (
        [("alias", a) for a in meta.aliases] + [("tag", t) for t in meta.tags] + [("entity", e) for e in meta.entities]
    )
    return sorted(
        {(fold_name(text.encode("utf-8", "replace").decode()), source) for source, text in named if text.strip()}
    )


def _conditions(filters: Filters) -> tuple[str, list[Any]]:
    parts, values = ["1"], list[Any]()
    if filters.kinds:
        parts.append(f"kind IN ({','.join('?' * len(filters.kinds))})")
        values += filters.kinds
    for tag in filters.tags:
        parts.append("id IN (SELECT page FROM names WHERE name = ? AND source = 'tag')")
        values.append(fold_name(tag))
    if filters.since is not None:
        parts.append("changed_at >= ?")
        values.append(filters.since)
    if filters.until is not None:
        parts.append("changed_at <= ?")
        values.append(filters.until)
    for key, value in filters.where:
        parts.append("id IN (SELECT page FROM fields WHERE key = ? AND value = ?)")
        values += [key.casefold(), value.casefold()]
    return " AND ".join(parts), values


def _writer(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None)
    # The file is private until its folder is renamed into place, and is flushed there: no journal, no sync of its own.
    for pragma in (
        "page_size = 4096",
        "journal_mode = OFF",
        "synchronous = OFF",
        "locking_mode = EXCLUSIVE",
        "temp_store = MEMORY",
    ):
        db.execute(f"PRAGMA {pragma}")
    return db


def _chunks(values: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), MANY):
        yield list(values[start : start + MANY])


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _meta_json(page: Page) -> str:
    meta = page.meta
    plain = {name: getattr(meta, name) for name in meta.__slots__}
    return json.dumps(
        {k: v for k, v in plain.items() if v not in (None, (), False) or (k == "active" and v is False)}, sort_keys=True
    )


def _page_row(row: Sequence[Any]) -> PageRow:
    return PageRow(row[0], _text(row[1]), row[2], row[3], row[4], row[5], bool(row[7]), json.loads(row[8]))


def _section_row(row: Sequence[Any]) -> SectionRow:
    return SectionRow(row[0], row[1], tuple(json.loads(row[2])), *row[3:])
