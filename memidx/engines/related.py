"""What a page has to do with others: links both ways, pages that replace it or that it replaces, and pages like it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines.references import link_targets, successors
from memidx.ground.fold import fold_name
from memidx.ground.listing import path_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memidx.engines.snapshot import Snapshot
    from memidx.ground.page import Link
    from memidx.stores.catalog import Catalog, PageRow

NEAREST = 60  # rows looked at for each section of the page
MOST_SECTIONS = 32  # of a long page the first ones say what it is about
LEAST_COSINE = 0.4  # of two sections that count as being alike


class LinkRow(NamedTuple):
    """One link on one page, and where it leads. ``state`` is page, ambiguous, file (no page), or broken."""

    path: str  # the page it stands on
    line: int
    written: str
    state: str
    targets: tuple[str, ...]
    anchor: str

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {"targets": list(self.targets)}


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links of a page, and those of other pages that lead to it."""

    path: str
    title: str
    links: tuple[LinkRow, ...]
    backlinks: tuple[LinkRow, ...]

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {
            "path": self.path,
            "title": self.title,
            "links": [row.as_json() for row in self.links],
            "backlinks": [row.as_json() for row in self.backlinks],
        }


class Relation(NamedTuple):
    """Why a page is related. ``how`` is supersedes, superseded-by, link, backlink or near; ``why`` is for people."""

    how: str
    why: str
    line: int  # of the link; for near: of the section of the other page


class Related(NamedTuple):
    """A page and everything that relates it, the strongest reason first. ``cosine`` is None without vectors."""

    path: str
    title: str
    kind: str
    cosine: float | None
    relations: tuple[Relation, ...]

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {"relations": [r._asdict() for r in self.relations]}


class _Near(NamedTuple):
    cosine: float
    covered: float  # mean over this page's sections of the best cosine
    line: int
    why: str


STRENGTH = {"superseded-by": 0, "supersedes": 1, "link": 2, "backlink": 3, "near": 4}


def page_links(catalog: Catalog, page: PageRow) -> PageLinks:
    """Links of a page and links to it. A link that may mean several pages is named, not guessed."""
    own = tuple(_link_row(catalog, page, link) for _, link in catalog.links([page.id]) if link.target)
    return PageLinks(page.path, page.title, own, tuple(_backlinks(catalog, page)))


def _backlinks(catalog: Catalog, page: PageRow) -> list[LinkRow]:
    """Only links whose name could be this page's are resolved: resolving all would ask the catalog for each."""
    names = _names(page)
    rows = {row.id: row for row in catalog.all_pages() if row.id != page.id}
    found = []
    for source, link in catalog.links(rows):
        stem = fold_name(link.target.rsplit("/", 1)[-1].removesuffix(".md").removesuffix(".markdown"))
        if link.target and any(name == stem or name.startswith(stem + " ") for name in names if stem):
            row = _link_row(catalog, rows[source], link)
            if page.path in row.targets:
                found.append(row)
    return sorted(found, key=lambda row: (path_key(row.path), row.line))


def _names(page: PageRow) -> set[str]:
    stem = page.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    named = [page.title, stem, str(page.meta.get("id") or ""), *map(str, page.meta.get("aliases") or ())]
    return {fold_name(name.encode("utf-8", "replace").decode()) for name in named if name.strip()}


def _link_row(catalog: Catalog, page: PageRow, link: Link) -> LinkRow:
    found = link_targets(catalog, page.path, link)
    paths = tuple(row.path for row in catalog.pages(found).values())
    state = "page" if len(paths) == 1 else "ambiguous" if paths else "file" if _is_file(link.target) else "broken"
    written = f"[[{link.target}]]" if link.form == "wiki" else link.target
    return LinkRow(page.path, link.line, written, state, paths, link.anchor)


def _is_file(target: str) -> bool:
    """Whether a target looks like a file that is no page: a picture, code, a folder."""
    end = posixpath.splitext(target)[1].lower()
    return target.endswith("/") or (end not in ("", ".md", ".markdown") and end[1:].isalnum())


def related(snapshot: Snapshot, page: PageRow, limit: int) -> list[Related]:
    """Pages that have to do with this one: by supersession and links first, then the ones most like it."""
    catalog = snapshot.catalog
    reasons: dict[str, list[Relation]] = {}
    for path, relation in _said(catalog, page):
        known = reasons.setdefault(path, [])
        if all(r.how != relation.how for r in known):
            known.append(relation)
    near = near_pages(snapshot, page)
    order = sorted(near, key=lambda number: (-near[number].covered, number))
    for row in catalog.pages(order[: limit * 2]).values():
        if near[row.id].cosine >= LEAST_COSINE:
            reasons.setdefault(row.path, []).append(Relation("near", near[row.id].why, near[row.id].line))
    reasons.pop(page.path, None)
    rows = catalog.pages(catalog.page_ids(reasons).values())
    found = []
    for row in rows.values():
        relations = sorted(reasons[row.path], key=lambda r: STRENGTH[r.how])
        like = near.get(row.id)
        key = STRENGTH[relations[0].how], -(like.covered if like else 0.0), path_key(row.path)
        found.append((key, Related(row.path, row.title, row.kind, like.cosine if like else None, tuple(relations))))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])[:limit]]


def _said(catalog: Catalog, page: PageRow) -> Iterator[tuple[str, Relation]]:
    """What pages themselves say about each other, by path."""
    for row in catalog.pages(successors(catalog, [page]).get(page.id, ())).values():
        yield row.path, Relation("superseded-by", "replaces this page", 0)
    for row in superseded_by(catalog, page):
        yield row.path, Relation("supersedes", "is replaced by this page", 0)
    both = page_links(catalog, page)
    for link in both.links:
        for path in link.targets if link.state == "page" else ():
            yield path, Relation("link", f"linked at {page.path}:{link.line} as {link.written}", link.line)
    for link in both.backlinks:
        yield link.path, Relation("backlink", f"links here at {link.path}:{link.line} as {link.written}", link.line)


def superseded_by(catalog: Catalog, page: PageRow) -> list[PageRow]:
    """The pages that say they were replaced by this one."""
    old = [row for row in catalog.all_pages() if row.meta.get("superseded_by") and row.id != page.id]
    newer = successors(catalog, old)
    return [row for row in old if page.id in newer.get(row.id, ())]


def near_pages(snapshot: Snapshot, page: PageRow) -> dict[int, _Near]:
    """Pages by how well their sections match this page's, by cosine of their vectors. Empty without a model."""
    catalog = snapshot.catalog
    own = [row for row in catalog.sections_of(page.id) if row.vector is not None][:MOST_SECTIONS]
    if not own or not snapshot.manifest.vectors.get("dimension"):
        return {}
    vectors = snapshot.vectors.rows([row.vector for row in own if row.vector is not None])
    best: dict[int, _Near] = {}
    sums: dict[int, float] = {}
    for row, vector in zip(own, vectors, strict=True):
        hits = {score.row: score.cosine for score in snapshot.vectors.scan(vector, NEAREST)}
        here: dict[int, tuple[float, int]] = {}
        for number, places in catalog.sections_by_vector(hits).items():
            for section, other in places:
                if other != page.id and hits[number] > here.get(other, (0.0, 0))[0]:
                    here[other] = (hits[number], section)
        sections = catalog.sections(section for _, section in here.values())
        for other, (cosine, section) in here.items():
            sums[other] = sums.get(other, 0.0) + cosine
            if other not in best or cosine > best[other].cosine:
                theirs = sections[section]
                why = f"its {_called(theirs.heading)} is like {_called(row.heading)} here (cosine {cosine:.2f})"
                best[other] = _Near(cosine, 0.0, theirs.line, why)
    return {other: near._replace(covered=sums[other] / len(own)) for other, near in best.items()}


def _called(heading: Sequence[str]) -> str:
    return f"'{heading[-1]}'" if heading else "beginning"
