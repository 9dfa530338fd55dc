"""The streams of a query: each finds sections its own way, within the same pages and one window."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from memidx.engines.references import link_targets
from memidx.ground.fold import fold_name
from memidx.ground.fusion import contrast
from memidx.ground.names import EXACT_OWN, is_path, label_score, name_score, near_score
from memidx.ground.scores import SectionScore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from collections.abc import Set as AbstractSet

    import numpy as np
    from numpy.typing import NDArray

    from memidx.engines.snapshot import Snapshot
    from memidx.ground.pageset import PageSet
    from memidx.ground.query import ParsedQuery
    from memidx.ground.scores import VectorScore
    from memidx.ground.settings import VectorSettings
    from memidx.stores.catalog import Catalog

MIN_PREFIX = 3
MIN_NEAR = 5  # letters of a name that may hold a typing error
PREFIX_WINDOW = 400
NAMES_A_PAGE = 0.6  # a title, alias, slug, id, tag or entity, typed whole
GOOD_RECALL = 0.98


class Found(NamedTuple):
    """What a stream found, best first: one section a page, each page once."""

    sections: tuple[SectionScore, ...]  # every section within the window
    pages: tuple[SectionScore, ...]  # the best section of each page
    weight: float = 1.0  # how much this stream can tell the pages of this question apart
    whole: Mapping[int, float] | None = None  # what a page scores as a whole, in units of the sections' scores


NOTHING = Found((), ())


def lexical_stream(snapshot: Snapshot, query: ParsedQuery, pages: PageSet | None, window: int) -> Found:
    """Sections by BM25."""
    return best_per_page(snapshot.lexical.search(query, window, pages))


def with_whole_pages(snapshot: Snapshot, query: ParsedQuery, pages: PageSet | None, window: int, found: Found) -> Found:
    """The lexical stream with what its pages score as a whole, so that the best page has the best section's score."""
    whole = snapshot.lexical.whole_pages(query, window, pages) if found.pages else {}
    unit = found.pages[0].score / max(whole.values()) if whole else 0.0
    return found._replace(whole={page: score * unit for page, score in whole.items()})


def vector_stream(  # noqa: PLR0917 - everything the stream works with
    snapshot: Snapshot,
    vector: NDArray[np.float32],
    pages: PageSet | None,
    window: int,
    settings: VectorSettings,
    min_similarity: float,
) -> Found:
    """Sections by cosine: exact, or through the graph where it was measured to be as good and is worth loading."""
    allowed = pages.allowed if pages is not None else None
    rows = _nearest(snapshot, vector, allowed, window, settings)
    places = snapshot.catalog.sections_by_vector([r.row for r in rows])
    found = [
        SectionScore(section, page, row.cosine)
        for row in rows
        for section, page in places.get(row.row, ())
        if row.cosine >= min_similarity and (allowed is None or page in allowed)
    ]
    return best_per_page(found[:window])


def compared(snapshot: Snapshot, vector: NDArray[np.float32], found: Mapping[str, Found]) -> Found:
    """The vector stream with the cosines of what the others found, however low, and of its pages as a whole.

    Its weight is the contrast. The direction of a page is that of its sections together.
    """
    near = found["vector"]
    known = {score.section for score in near.sections}
    others = {s.section for name, f in found.items() if name != "vector" for s in f.sections} - known
    placed = [(row, row.vector) for row in snapshot.catalog.sections(sorted(others)).values() if row.vector is not None]
    cosines = snapshot.vectors.cosines(vector, [number for _, number in placed])
    more = [SectionScore(row.id, row.page, cosine) for (row, _), cosine in zip(placed, cosines, strict=True)]
    whole = best_per_page([*near.sections, *more])
    best = whole.pages[0].score if whole.pages else 0.0
    rows = snapshot.catalog.vectors_by_page([score.page for score in whole.pages])
    together = snapshot.vectors.mean_cosines(vector, list(rows.values()))
    return whole._replace(
        weight=contrast(best, snapshot.vectors.background(vector)), whole=dict(zip(rows, together, strict=True))
    )


def _nearest(
    snapshot: Snapshot,
    vector: NDArray[np.float32],
    allowed: AbstractSet[int] | None,
    window: int,
    settings: VectorSettings,
) -> list[VectorScore]:
    if allowed is not None:
        return snapshot.vectors.scan(vector, window, snapshot.catalog.vectors_of_pages(allowed))
    wanted = window + snapshot.manifest.vectors["dead"]  # rows that no page has any more may be among the nearest
    graph = snapshot.manifest.graph
    if graph and graph["recall"] >= GOOD_RECALL and graph["rows"] >= settings.graph_from and graph["ef"] >= wanted:
        from memidx.stores.vectors import merge

        if near := snapshot.graph.search(vector, wanted):
            return merge([near, snapshot.vectors.scan_overlay(vector, wanted)], wanted)
    return snapshot.vectors.scan(vector, wanted)


def title_stream(snapshot: Snapshot, text: str, pages: PageSet | None, window: int) -> Found:
    """Pages whose title, alias, slug, id, tag, entity or path is the query, or starts with it.

    Where there are none: those whose name is one typing error away. And those that other pages call so in their links.
    """
    folded = fold_name(text)
    if not folded:
        return NOTHING
    hits = snapshot.catalog.exact_names([folded])
    if len(folded) >= MIN_PREFIX:
        hits += [h for h in snapshot.catalog.names_with_prefix(folded, PREFIX_WINDOW) if h.name != folded]
    scores = [(hit.page, name_score(folded, hit.name, hit.source)) for hit in hits]
    # A number one digit off is another number, and a short name one letter off another name.
    if not hits and len(folded) >= MIN_NEAR and not any(char.isdigit() for char in folded):
        scores = [(hit.page, near_score(hit.source)) for hit in snapshot.catalog.names_near(folded)]
    scores += _labelled(snapshot.catalog, folded)
    if is_path(text):
        scores += [(page, EXACT_OWN) for page in snapshot.catalog.page_ids_ending(text.strip())]
    best: dict[int, float] = {}
    for page, score in scores:
        if pages is None or page in pages.allowed:
            best[page] = max(best.get(page, 0.0), score)
    first = snapshot.catalog.first_sections(best)
    found = [SectionScore(first[page], page, score) for page, score in best.items() if page in first]
    return best_per_page(found[:window] if len(found) <= window else sorted(found, key=order)[:window])


def _labelled(catalog: Catalog, folded: str) -> list[tuple[int, float]]:
    """The pages that other pages call so in their links, with their scores."""
    links = catalog.links_called(folded)
    origins = catalog.pages({page for page, _ in links})
    led = Counter[int]()
    for page, link in links:
        led.update(other for other in link_targets(catalog, origins[page].path, link) if other != page)
    return [(page, label_score(count / len(links))) for page, count in led.items()]


def order(score: SectionScore) -> tuple[float, int]:
    """Best first; of equals the earlier section."""
    return (-score.score, score.section)


def best_per_page(found: Sequence[SectionScore]) -> Found:
    """Sort by score and keep each page's best section."""
    sections = sorted(found, key=order)
    best: dict[int, SectionScore] = {}
    for score in sections:
        best.setdefault(score.page, score)
    return Found(tuple(sections), tuple(best.values()))
