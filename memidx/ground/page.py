"""A page as parsing leaves it: fields as written, typed metadata, sections, links, diagnostics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.kinds import DEFAULT_KINDS

if TYPE_CHECKING:
    from memidx.ground.diagnostics import Diagnostic


class Section(NamedTuple):
    """A piece of a page under one heading path. Lines are 1-based, inclusive and absolute in the file."""

    heading: tuple[str, ...]  # the heading path below the page title, outermost first; () before the first heading
    anchor: str  # slug of the last heading, distinct within the page; "" before the first heading
    text: str  # the source text, line ends as \n, without the heading line itself
    line: int
    end_line: int


class Heading(NamedTuple):
    """A heading of the page. ``anchor`` is a GitHub-style slug, distinct within the page and never empty."""

    level: int  # 1 to 6
    text: str  # without markup, white space collapsed; may be ""
    anchor: str
    line: int


class Link(NamedTuple):
    """A reference to a page or file, as written. ``target`` is the page part, ``anchor`` what follows ``#``.

    ``target`` is "" for a place in the same page, and never a URL. In the relative form it is percent-decoded; it may
    be any relative path (``../``, a folder, a PDF) or ``/x.md`` from the root. ``label`` is "" where none is written.
    """

    form: str  # "wiki" or "relative"
    target: str
    anchor: str
    label: str
    line: int
    col: int


class Field(NamedTuple):
    """One front-matter value as its author wrote it. A list gives one Field per item, a nested mapping dotted keys."""

    key: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Meta:
    """The known front-matter keys, typed. ``None`` or empty where absent or unusable (a diagnostic says so)."""

    title: str | None = None
    kind: str | None = None
    tier: int | None = None
    category: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    canonical: bool = False
    active: bool | None = None
    pinned: bool = False
    status: str | None = None
    superseded_by: tuple[str, ...] = ()
    expires_at: int | None = None  # seconds since the epoch; a bare date means the end of that day UTC
    changed_at: int | None = None  # seconds since the epoch, from updated, date or created, the first valid one
    confidence: float | None = None  # in [0, 1]
    id: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that a page's path and bytes say. A pure function of the two and of the parsing settings."""

    path: str
    title: str
    kind: str
    meta: Meta
    fields: tuple[Field, ...]
    sections: tuple[Section, ...]  # at least one, so that every page can be found by its title
    links: tuple[Link, ...]
    diagnostics: tuple[Diagnostic, ...]
    degraded: bool  # the front-matter or the encoding could not be read as meant
    body_line: int  # the line at which the body starts; one past the last line where there is none
    headings: tuple[Heading, ...] = ()  # all of them, also those without a section of their own


class PageRules(NamedTuple):
    """The settings that parsing depends on.

    ``kinds`` maps a kind to gitignore-style globs over the page's path; the first kind that matches wins, before what
    the front-matter says. ``max_chars`` is the length in characters over which a section is cut.
    """

    kinds: tuple[tuple[str, tuple[str, ...]], ...] = DEFAULT_KINDS
    max_chars: int = 1500
