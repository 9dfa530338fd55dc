"""Names that pages give to other pages, resolved. Ambiguity is named, never guessed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memidx.ground.diagnostics import Diagnostic
from memidx.ground.fold import fold_name
from memidx.ground.names import OWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memidx.ground.page import Link
    from memidx.stores.catalog import Catalog, NameHit, PageRow

CANDIDATES = 8  # as many as a message can name


class Names(Protocol):
    """What answers which pages carry a name: the catalog of a snapshot, or the same in memory."""

    def page_ids(self, paths: Iterable[str]) -> dict[str, int]: ...

    def exact_names(self, names: Sequence[str]) -> list[NameHit]: ...

    def names_with_prefix(self, prefix: str, limit: int) -> list[NameHit]: ...


class Resolved(NamedTuple):
    """Pages a name may mean; one is an answer, none is dangling, several are ambiguous."""

    name: str
    pages: tuple[int, ...]


def resolve(catalog: Names, name: str, origin: str) -> Resolved:
    """The page that ``name`` means on the page at path ``origin``: a path, else a title, alias, slug or id.

    A name such as `ADR-012` also finds the one page whose name starts with it.
    """
    bare = name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0].partition("#")[0].strip()
    if not bare:
        return Resolved(name, ())
    folder = posixpath.dirname(origin)
    paths = [posixpath.normpath(posixpath.join(base, bare + end)) for base in (folder, "") for end in ("", ".md")]
    by_path = catalog.page_ids(paths)
    for path in paths:
        if path in by_path:
            return Resolved(name, (by_path[path],))
    stem = bare.rsplit("/", 1)[-1].removesuffix(".md")
    folded = fold_name(stem)
    exact = _pages(hit.page for hit in catalog.exact_names([folded]) if hit.source in OWN)
    if exact or not any(c.isdigit() for c in folded):
        return Resolved(name, exact)
    longer = catalog.names_with_prefix(folded + " ", CANDIDATES * 4)
    return Resolved(name, _pages(hit.page for hit in longer if hit.source in OWN))


def link_targets(catalog: Names, origin: str, link: Link) -> tuple[int, ...]:
    """The pages a link may mean: a wiki link by path or name, a relative one by path."""
    if link.form == "wiki":
        return resolve(catalog, link.target.removeprefix("/"), origin).pages
    base = "" if link.target.startswith("/") else posixpath.dirname(origin)
    path = posixpath.normpath(posixpath.join(base, link.target.lstrip("/")))
    for name in (path, path + ".md", path + ".markdown", posixpath.normpath(link.target)):
        if not name.startswith("..") and (found := catalog.page_ids([name])):
            return tuple(found.values())
    return ()


def successors(catalog: Catalog, pages: Iterable[PageRow]) -> dict[int, tuple[int, ...]]:
    """For each superseded page the pages that replace it, as far as the names resolve to one page."""
    found = {}
    for page in pages:
        newer = [r.pages[0] for r in _named(catalog, page) if len(r.pages) == 1 and r.pages[0] != page.id]
        if newer:
            found[page.id] = tuple(dict.fromkeys(newer))
    return found


def supersession_findings(catalog: Catalog) -> list[Diagnostic]:
    """Dangling, ambiguous and circular `superseded_by`."""
    pages = {page.id: page for page in catalog.all_pages() if page.meta.get("superseded_by")}
    findings = []
    for page in pages.values():
        for resolved in _named(catalog, page):
            if not resolved.pages:
                message = f"superseded_by '{resolved.name}' names no page"
                findings.append(Diagnostic(page.path, 0, 0, "warning", message, "superseded-dangling"))
            elif len(resolved.pages) > 1:
                names = ", ".join(row.path for row in catalog.pages(resolved.pages[:CANDIDATES]).values())
                message = f"superseded_by '{resolved.name}' may mean {names}"
                findings.append(Diagnostic(page.path, 0, 0, "warning", message, "superseded-ambiguous"))
    newer = successors(catalog, pages.values())
    for page in pages.values():
        if _circular(page.id, newer):
            message = "superseded_by leads back to this page"
            findings.append(Diagnostic(page.path, 0, 0, "warning", message, "superseded-circular"))
    return findings


def _named(catalog: Catalog, page: PageRow) -> list[Resolved]:
    return [resolve(catalog, str(name), page.path) for name in page.meta.get("superseded_by", ())]


def _circular(start: int, newer: dict[int, tuple[int, ...]]) -> bool:
    seen: set[int] = set()
    waiting = list(newer.get(start, ()))
    while waiting:
        page = waiting.pop()
        if page == start:
            return True
        if page not in seen:
            seen.add(page)
            waiting.extend(newer.get(page, ()))
    return False


def _pages(found: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(found))
