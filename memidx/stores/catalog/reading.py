"""Reading a catalog."""

from __future__ import annotations

import sqlite3
import weakref
from typing import TYPE_CHECKING, Any, Self

from memidx.ground.diagnostics import Diagnostic
from memidx.ground.edits import one_edit
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.fold import fold_name
from memidx.stores.catalog.rows import (
    Counts,
    NameHit,
    PageRow,
    SectionRow,
    chunks,
    page_row,
    section_row,
    to_bytes,
    to_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from memidx.ground.filters import Filters
    from memidx.ground.page import Link


class Catalog:
    """One open catalog, for reading."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._db = connection
        self._path = path
        self._closed = weakref.finalize(self, connection.close)  # nobody has to remember to close a catalog

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read only. Raises BrokenSnapshotError when the file is missing or not a catalog."""
        try:
            db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            raise BrokenSnapshotError(f"{path}: cannot be read: {error}", hint="run `memidx build --full`") from error
        catalog = cls(db, path)
        try:
            for table in ("pages", "sections"):
                catalog._rows(f"SELECT id FROM {table} LIMIT 1")
        except BrokenSnapshotError:
            catalog.close()
            raise
        return catalog

    def close(self) -> None:
        """Let go of the file."""
        self._closed()

    def listing(self) -> list[tuple[str, str]]:
        """(path, blob) of every page, by path."""
        rows = self._rows("SELECT path, blob FROM pages ORDER BY path")
        return [(to_text(path), blob) for path, blob in rows]

    def page_ids(self, paths: Iterable[str]) -> dict[str, int]:
        """Ids of the pages at these paths; a path without a page is left out."""
        found: dict[str, int] = {}
        for chunk in chunks([to_bytes(p) for p in paths]):
            marks = ",".join("?" * len(chunk))
            rows = self._rows(f"SELECT path, id FROM pages WHERE path IN ({marks})", chunk)
            found.update((to_text(path), page) for path, page in rows)
        return found

    def page_ids_ending(self, path: str) -> list[int]:
        """Ids of the pages whose path is ``path``, or ends with it after a slash."""
        end = to_bytes("/" + path.lstrip("/"))
        rows = self._rows(
            "SELECT id FROM pages WHERE path = ? OR substr(path, ?) = ? ORDER BY id", (end[1:], -len(end), end)
        )
        return [page for (page,) in rows]

    def pages(self, ids: Iterable[int]) -> dict[int, PageRow]:
        """Pages by id."""
        found: dict[int, PageRow] = {}
        for chunk in chunks(list(ids)):
            rows = self._rows(f"SELECT * FROM pages WHERE id IN ({','.join('?' * len(chunk))})", chunk)
            found.update((row[0], page_row(row)) for row in rows)
        return found

    def all_pages(self) -> Iterator[PageRow]:
        """Every page, by path."""
        return map(page_row, self._rows("SELECT * FROM pages ORDER BY path"))

    def degraded(self) -> list[str]:
        """The paths of the pages that could only be read in part, in order."""
        return [to_text(path) for (path,) in self._rows("SELECT path FROM pages WHERE degraded ORDER BY path")]

    def sections(self, ids: Iterable[int]) -> dict[int, SectionRow]:
        """Sections by id."""
        found: dict[int, SectionRow] = {}
        for chunk in chunks(list(ids)):
            rows = self._rows(f"SELECT * FROM sections WHERE id IN ({','.join('?' * len(chunk))})", chunk)
            found.update((row[0], section_row(row)) for row in rows)
        return found

    def sections_of(self, page: int) -> list[SectionRow]:
        """A page's sections in their order."""
        return [section_row(r) for r in self._rows("SELECT * FROM sections WHERE page = ? ORDER BY id", (page,))]

    def sections_by_vector(self, vectors: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
        """(section, page) pairs that share each vector row."""
        found: dict[int, list[tuple[int, int]]] = {}
        for chunk in chunks(list(vectors)):
            marks = ",".join("?" * len(chunk))
            for vector, section, page in self._rows(
                f"SELECT vector, id, page FROM sections WHERE vector IN ({marks}) ORDER BY id", chunk
            ):
                found.setdefault(vector, []).append((section, page))
        return found

    def vectors_of_pages(self, pages: Iterable[int]) -> list[int]:
        """The distinct vector rows of these pages, in ascending order."""
        rows: set[int] = set()
        for chunk in chunks(list(pages)):
            marks = ",".join("?" * len(chunk))
            found = self._rows(f"SELECT vector FROM sections WHERE vector IS NOT NULL AND page IN ({marks})", chunk)
            rows.update(row for (row,) in found)
        return sorted(rows)

    def vectors_by_page(self, pages: Iterable[int]) -> dict[int, list[int]]:
        """The vector row of each section of these pages, by page; pages without one are left out."""
        rows: dict[int, list[int]] = {}
        for chunk in chunks(sorted(set(pages))):
            marks = ",".join("?" * len(chunk))
            sql = f"SELECT page, vector FROM sections WHERE vector IS NOT NULL AND page IN ({marks}) ORDER BY page, id"
            for page, row in self._rows(sql, chunk):
                rows.setdefault(page, []).append(row)
        return rows

    def live_vectors(self) -> list[int]:
        """The distinct vector rows that any section has, in ascending order."""
        return [
            r for (r,) in self._rows("SELECT DISTINCT vector FROM sections WHERE vector IS NOT NULL ORDER BY vector")
        ]

    def vectors_by_digest(self, digests: Iterable[bytes]) -> dict[bytes, int | None]:
        """Vector rows of sections whose text has one of these digests."""
        found: dict[bytes, int | None] = {}
        for chunk in chunks(list(digests)):
            marks = ",".join("?" * len(chunk))
            found.update(self._rows(f"SELECT digest, vector FROM sections WHERE digest IN ({marks})", chunk))
        return found

    def first_sections(self, pages: Iterable[int]) -> dict[int, int]:
        """The first section of each of these pages."""
        found: dict[int, int] = {}
        for chunk in chunks(list(pages)):
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
        for chunk in chunks(names):
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

    def links_called(self, name: str) -> list[tuple[int, Link]]:
        """Links whose folded label is ``name``, each with the page it stands on; one a page and target."""
        rows = self._rows("SELECT page, form, target FROM labels WHERE name = ? ORDER BY page, form, target", (name,))
        if not rows:
            return []
        from memidx.ground.page import Link

        return [(page, Link(form, target, "", name, 0, 0)) for page, form, target in rows]

    def names_near(self, name: str) -> list[NameHit]:
        """Pages with a folded name that is one edit from ``name``, by name."""
        # By the index on the length: every question looks here. One edit leaves one half of a name as it is.
        half = len(name) // 2
        rows = self._rows(
            "SELECT page, name, source FROM names WHERE length(name) BETWEEN ? AND ? "
            "AND (substr(name, 1, ?) = ? OR substr(name, ?) = ?) ORDER BY name, page, source",
            (len(name) - 1, len(name) + 1, half, name[:half], half - len(name) + 1, name[half + 1 :]),
        )
        return [hit for hit in (NameHit(*row) for row in rows) if one_edit(name, hit.name)]

    def select(self, filters: Filters) -> set[int] | None:
        """Ids of the pages that pass; None when every page does."""
        if not filters:
            return None
        sql, values = _conditions(filters)
        rows = self._rows(f"SELECT id, path FROM pages WHERE {sql}", values)
        if not filters.paths:
            return {page for page, _ in rows}
        from memidx.parsing.globs import glob_spec  # pathspec: 10 ms, paid by --path alone

        specs = [glob_spec([glob]) for glob in filters.paths]
        return {page for page, path in rows if all(spec.match_file(to_text(path)) for spec in specs)}

    def links(self, pages: Iterable[int]) -> list[tuple[int, Link]]:
        """Links as written on these pages."""
        from memidx.ground.page import Link  # with it comes what only parsing needs

        found: list[tuple[int, Link]] = []
        for chunk in chunks(list(pages)):
            marks = ",".join("?" * len(chunk))
            rows = self._rows(f"SELECT * FROM links WHERE page IN ({marks}) ORDER BY page, line, col", chunk)
            found.extend((row[0], Link(*row[1:])) for row in rows)
        return found

    def diagnostics(self) -> list[Diagnostic]:
        """Every finding, by path and line."""
        rows = self._rows(
            "SELECT path, line, col, severity, message, code FROM diagnostics ORDER BY path, line, col, code"
        )
        return [Diagnostic(to_text(row[0]), *row[1:]) for row in rows]

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

    def languages(self) -> dict[str, int]:
        """Pages in another language than the vault's, by language."""
        return dict(self._rows("SELECT language, count(*) FROM languages GROUP BY language ORDER BY language"))

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query. Damage shows when a page of the file is read: one error, whatever SQLite says."""
        try:
            try:
                return self._db.execute(sql, values).fetchall()
            except UnicodeEncodeError:  # half a character, from a command line that is not UTF-8: it is in no row
                found = [v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in values]
                return self._db.execute(sql, found).fetchall()
        except sqlite3.DatabaseError as error:
            raise BrokenSnapshotError(
                f"{self._path}: cannot be read: {error}", hint="run `memidx build --full`"
            ) from error


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
