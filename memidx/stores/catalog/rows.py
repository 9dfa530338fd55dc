"""The tables of a catalog and their rows as values. Paths are stored as bytes: git's paths need not be UTF-8."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.fold import fold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memidx.ground.page import Page

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
CREATE TABLE labels (name TEXT NOT NULL, page INTEGER NOT NULL, form TEXT NOT NULL, target TEXT NOT NULL,
    PRIMARY KEY (name, page, form, target)) WITHOUT ROWID;
CREATE TABLE languages (page INTEGER PRIMARY KEY, language TEXT NOT NULL);
CREATE TABLE diagnostics (page INTEGER, path BLOB NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL,
    severity TEXT NOT NULL, message TEXT NOT NULL, code TEXT NOT NULL);
"""
INDEXES = """
CREATE INDEX pages_path ON pages (path);
CREATE INDEX sections_page ON sections (page);
CREATE INDEX sections_vector ON sections (vector);
CREATE INDEX sections_digest ON sections (digest);
CREATE INDEX names_page ON names (page);
CREATE INDEX names_length ON names (length(name));
CREATE INDEX fields_page ON fields (page);
CREATE INDEX links_page ON links (page);
CREATE INDEX labels_page ON labels (page);
CREATE INDEX diagnostics_page ON diagnostics (page);
"""
BY_PAGE = ("sections", "names", "fields", "links", "labels", "languages", "diagnostics")
INDEX_PAGES = frozenset({"index", "_index", "readme"})  # a page of one of these names speaks for its folder
_META = json.JSONEncoder(sort_keys=True).encode
_quoted: Callable[[str], str] = json.encoder.encode_basestring
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


def page_names(page: Page) -> list[tuple[str, str]]:
    """The folded names a page answers to, each with its source, sorted."""
    *folders, name = page.path.split("/")
    stem = name.rsplit(".", 1)[0]
    meta = page.meta
    named = [("title", page.title), ("slug", stem), ("id", meta.id or "")]
    if folders and stem.lower() in INDEX_PAGES:
        named.append(("folder", folders[-1]))
    named += (
        [("alias", a) for a in meta.aliases] + [("tag", t) for t in meta.tags] + [("entity", e) for e in meta.entities]
    )
    return sorted(
        {(fold_name(text.encode("utf-8", "replace").decode()), source) for source, text in named if text.strip()}
    )


def meta_json(page: Page) -> str:
    meta = page.meta
    plain = {}
    for name in meta.__slots__:
        value = getattr(meta, name)
        # Not `in (None, (), False)`: that would take 0, a confidence somebody wrote, for False.
        if value is not None and value != () and (value is not False or name == "active"):
            plain[name] = value
    return _META(plain)


def heading_json(heading: tuple[str, ...]) -> str:
    """As ``json.dumps`` would write it, which takes ten times as long to get ready as to write."""
    return f"[{', '.join(map(_quoted, heading))}]"


def page_row(row: Sequence[Any]) -> PageRow:
    return PageRow(row[0], to_text(row[1]), row[2], row[3], row[4], row[5], bool(row[7]), json.loads(row[8]))


def section_row(row: Sequence[Any]) -> SectionRow:
    return SectionRow(row[0], row[1], tuple(json.loads(row[2])), *row[3:])


def chunks(values: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), MANY):
        yield list(values[start : start + MANY])


def to_bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def to_text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
