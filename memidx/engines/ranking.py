"""From what the streams found to the final order: gate, fusion, authority or composite, supersession, ties."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines.references import successors
from memidx.ground import composite
from memidx.ground.authority import Authority, Claims, authority, claims_of, counting_tags, greatest_ratio
from memidx.ground.comparability import comparable, level
from memidx.ground.fusion import Form, Share, blend, decisive_share, fuse, fused_score
from memidx.ground.gate import passes, relevance
from memidx.ground.hits import STREAMS
from memidx.ground.listing import path_key

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from memidx.engines.likeness import Likeness
    from memidx.engines.streams import Found
    from memidx.ground.settings import AuthoritySettings, Settings
    from memidx.stores.catalog import Catalog, PageRow

DAY_SECONDS = 86_400.0
RRF = "rrf"
# A successor is put just before the page it replaces: by the least that survives the rounding of a product.
JUST_MORE = 1 + 1e-9


class Usage(NamedTuple):
    """What people did with a page: feedback for and against it, and how often it was returned or read."""

    helpful: int = 0
    unhelpful: int = 0
    accesses: int = 0


UNUSED = Usage()


# (path, blob) -> seconds since the epoch, None where it is not known. Called only where it can matter.
Changed = Callable[[str, str], int | None]


def unknown(path: str, blob: str) -> None:
    """Of no page it is known when it changed."""
    del path, blob


class Order(NamedTuple):
    """How to rank. ``weights`` change the composite's, and the rest is scaled."""

    by: str  # authority, relevance or composite
    now: float
    floor: float
    usage: Mapping[int, Usage]
    weights: Mapping[str, float]
    changed: Changed = unknown  # when pages without a date of their own changed


class Candidate(NamedTuple):
    """A page with the numbers that decide its place."""

    page: PageRow
    shares: Mapping[str, Share]
    relevance: float
    fused: float
    authority: Authority
    comparable: float = 1.0  # to the best match: how far its authority counts
    levelled: float = 1.0  # the factor on the match that takes back the rest
    components: Mapping[str, float] = MappingProxyType({})
    inherited: int | None = None  # the superseded page whose match this one took over

    @property
    def rank(self) -> float:
        """Lower is better: ``rank + fused * authority = 0``."""
        return -(self.fused * self.authority.value)


class Ranking(NamedTuple):
    """Candidates in their order, those that the gate dropped with their relevance, and what the streams found."""

    candidates: list[Candidate]
    dropped: list[tuple[PageRow, float]]
    found: Mapping[str, Found]


NEUTRAL = Authority(1.0, 1.0, (), 1.0, 1.0, ())


def make_form(settings: Settings, found: Mapping[str, Found]) -> Form:
    """The form of fusion for what was found, with the share that keeps an exact title first."""
    fusion = settings.fusion
    weights = {name: getattr(fusion, name) * (found[name].weight if name in found else 1.0) for name in STREAMS}
    decisive = decisive_share(greatest_ratio(settings.authority), math.fsum(weights.values()))
    return Form(fusion.form, fusion.k, weights, decisive)


def rank(catalog: Catalog, found: Mapping[str, Found], settings: Settings, order: Order, likeness: Likeness) -> Ranking:
    """Gate first, then fuse what is left, weigh it, and sort."""
    form = make_form(settings, found)
    relevant = _relevance(found)
    rows = catalog.pages(relevant)
    if order.by == "composite":
        rows = {number: dated(row, order.changed) for number, row in rows.items()}
    kept = {page for page, value in relevant.items() if page in rows and passes(value, order.floor)}
    dropped = [(rows[p], v) for p, v in relevant.items() if p in rows and p not in kept]
    lists = {
        name: [
            item
            for item in blend([(s.page, s.score) for s in f.pages], f.whole, settings.fusion.page)
            if item[0] in kept
        ]
        for name, f in found.items()
    }
    weigh = _Weigher(settings, order)
    candidates = [
        weigh(Candidate(rows[page], shares, relevant[page], fused_score(shares), NEUTRAL))
        for page, shares in fuse(lists, form).items()
    ]
    if order.by == "authority":
        if form.form != RRF:
            candidates = _bound(candidates, settings.authority, likeness)
        candidates = _supersede(catalog, candidates)
    dropped.sort(key=lambda d: (-d[1], path_key(d[0].path)))
    return Ranking(_sorted(candidates, order.changed), dropped, found)


def dated(page: PageRow, changed: Changed) -> PageRow:
    """The page with the time of its last change, which comes from elsewhere when it does not say it itself."""
    return page if page.changed_at is not None else page._replace(changed_at=changed(page.path, page.blob))


def _sorted(candidates: list[Candidate], changed: Changed) -> list[Candidate]:
    """In their order. When pages changed is asked only of those that are level without it: hardly ever."""
    level = Counter((c.rank, c.fused) for c in candidates)
    settled = [c._replace(page=dated(c.page, changed)) if level[c.rank, c.fused] > 1 else c for c in candidates]
    return sorted(settled, key=_place)


def _relevance(found: Mapping[str, Found]) -> dict[int, float]:
    cosines = {s.page: s.score for s in found["vector"].pages} if "vector" in found else {}
    words = {s.page for name, f in found.items() if name != "vector" for s in f.pages}
    return {
        page: relevance(cosines.get(page), words=page in words) for page in [*cosines, *sorted(words - set(cosines))]
    }


class _Weigher:
    """Gives candidates their authority, or their composite score."""

    def __init__(self, settings: Settings, order: Order) -> None:
        self._settings = settings
        self._order = order
        self._known: dict[Claims, Authority] = {}  # most pages claim the same: nothing
        self._counting = counting_tags(settings.authority)
        self._weights = composite.rescale(settings.ranking.composite, order.weights)

    def __call__(self, candidate: Candidate) -> Candidate:
        if self._order.by == "authority":
            claims = claims_of(candidate.page.kind, candidate.page.meta, self._counting)
            if claims not in self._known:
                self._known[claims] = authority(claims, self._settings.authority)
            found = self._known[claims]
            return candidate._replace(authority=found)
        if self._order.by == "composite":
            components = self._components(candidate)
            fused = composite.composite(components, self._weights)
            return candidate._replace(components=components, fused=fused)
        return candidate

    def _components(self, candidate: Candidate) -> dict[str, float]:
        page, order = candidate.page, self._order
        used = order.usage.get(page.id, UNUSED)
        age = (order.now - page.changed_at) / DAY_SECONDS if page.changed_at is not None else None
        confidence = page.meta.get("confidence")
        return {
            "relevance": min(candidate.relevance, 1.0),
            "recency": composite.recency(age, composite.half_life(page.meta.get("category", ()), page.kind)),
            "usefulness": composite.usefulness(used.helpful, used.unhelpful),
            "confidence": composite.NEUTRAL_CONFIDENCE if confidence is None else confidence,
            "access": composite.access(used.accesses),
        }


def _bound(candidates: list[Candidate], settings: AuthoritySettings, likeness: Likeness) -> list[Candidate]:
    """Let authority count only as far as a page is comparable to the best match."""
    if not candidates:
        return candidates
    best = min(candidates, key=lambda c: (-c.fused, _place(c)))
    others = [c.page.id for c in candidates if c.authority.value != best.authority.value]
    if not others:
        return candidates
    cosines = likeness.cosines(best.page.id, others)
    bounded = []
    for candidate in candidates:
        page = candidate.page.id
        if page not in cosines:
            bounded.append(candidate)
            continue
        share = comparable(
            likeness.coverage(page),
            cosines[page],
            coverage_power=settings.coverage_power,
            other_topic=settings.other_topic,
            same_topic=settings.same_topic,
        )
        factor = level(best.authority.value, candidate.authority.value, share)
        fused = candidate.fused * factor
        bounded.append(candidate._replace(fused=fused, comparable=share, levelled=factor))
    return bounded


def _supersede(catalog: Catalog, candidates: list[Candidate]) -> list[Candidate]:
    """A page takes over the match of a page it supersedes, so that it comes first whenever both are found."""
    by_page = {c.page.id: c for c in candidates}
    newer = successors(catalog, [c.page for c in candidates if c.page.meta.get("superseded_by")])
    # From the best match down a chain of replacements; one step for each page at most, so a circle ends.
    for _ in range(len(newer)):
        changed = False
        for old_id, new_ids in newer.items():
            old = by_page[old_id]
            for new_id in new_ids:
                new = by_page.get(new_id)
                if new is None or new.rank < old.rank or _replaces(old_id, new_id, newer):
                    continue
                fused = old.fused * old.authority.value / new.authority.value * JUST_MORE
                by_page[new_id] = new._replace(fused=fused, inherited=old_id)
                changed = True
        if not changed:
            break
    return list(by_page.values())


def _replaces(old: int, new: int, newer: Mapping[int, Sequence[int]]) -> bool:
    """Whether ``old`` in turn replaces ``new``: then neither is the newer one."""
    seen: set[int] = set()
    waiting = list(newer.get(new, ()))
    while waiting:
        page = waiting.pop()
        if page == old:
            return True
        if page not in seen:
            seen.add(page)
            waiting.extend(newer.get(page, ()))
    return False


def _place(candidate: Candidate) -> tuple[float, float, float, bytes]:
    """By rank; ties by fused score, then the more recent page, then the path."""
    changed = candidate.page.changed_at
    recent = -float(changed) if changed is not None else float("inf")
    return (candidate.rank, -candidate.fused, recent, path_key(candidate.page.path))


def cite(found: Mapping[str, Found], form: Form, pages: Collection[int]) -> dict[int, int]:
    """The section that stands for each of ``pages``: the one that the streams of sections rank best, together."""
    wanted = set(pages)
    pages_of: dict[int, int] = {}
    listed: dict[str, list[tuple[int, float]]] = {}
    for name, stream in found.items():
        if name != "title":
            listed[name] = [(s.section, s.score) for s in stream.sections]
            pages_of.update((s.section, s.page) for s in stream.sections if s.page in wanted)
    best: dict[int, tuple[float, int]] = {}
    for section, shares in fuse(listed, form, pages_of.keys()).items():
        page = pages_of[section]
        best[page] = min(best.get(page, (0.0, section)), (-fused_score(shares), section))
    cited = {page: section for page, (_, section) in best.items()}
    if "title" in found:
        for score in found["title"].pages:
            cited.setdefault(score.page, score.section)
    return cited


def explain(candidate: Candidate) -> dict[str, Any]:
    """Every number that took part in a candidate's place."""
    plain: dict[str, Any] = {
        "relevance": candidate.relevance,
        "cosine": candidate.shares["vector"].score if "vector" in candidate.shares else None,
        "shares": {name: share.share for name, share in sorted(candidate.shares.items())},
        "sum": math.fsum(share.share for share in candidate.shares.values()),
        "comparable": candidate.comparable,
        "levelled": candidate.levelled,
        "fused": candidate.fused,
        "authority": candidate.authority.as_json(),
        "rank": candidate.rank,
        "changed_at": candidate.page.changed_at,
    }
    if candidate.components:
        plain["components"] = dict(candidate.components)
    if candidate.inherited is not None:
        plain["inherited_from"] = candidate.inherited
    return plain
