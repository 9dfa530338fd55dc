"""answer = rank(query, snapshot, settings): streams, fusion, order, and the words that a person reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memidx.engines import streams
from memidx.engines.snippet import Snippet, make_snippet
from memidx.ground.errors import BrokenSnapshotError, ModelError
from memidx.ground.filters import Filters
from memidx.ground.fusion import Share, fused_score, rrf
from memidx.ground.hits import STREAMS, Hit, StreamHit
from memidx.ground.listing import path_key
from memidx.ground.pageset import PageSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memidx.engines.snapshot import Snapshot
    from memidx.ground.model import Embedder
    from memidx.ground.query import ParsedQuery
    from memidx.ground.settings import Settings
    from memidx.stores.catalog import PageRow


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a snapshot."""

    parsed: ParsedQuery
    limit: int
    filters: Filters = Filters()
    only: str | None = None  # one stream alone
    explain: bool = False


@dataclass(slots=True)
class Ranked:
    """What ranking found. ``broken`` says which part of the snapshot could not be read."""

    hits: tuple[Hit, ...] = ()
    degraded: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    filtered: int = 0
    explain: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page with the numbers that decide its place."""

    page: PageRow
    shares: Mapping[str, Share]
    fused: float
    authority: float
    section: int

    @property
    def rank(self) -> float:
        """Lower is better."""
        return -(self.fused * self.authority)


def answer(snapshot: Snapshot, question: Question, embedder: Embedder | None, settings: Settings) -> Ranked:
    """Rank the pages of ``snapshot`` for ``question``. ``embedder`` is None when there is no model to embed it with."""
    result = Ranked(notices=list(question.parsed.hints))
    pages = allowed_pages(snapshot, question)
    if pages is not None and not pages.allowed:
        return result
    found = _run_streams(snapshot, question, pages, embedder, settings, result)
    candidates = rank(snapshot, found, settings)
    chosen = candidates[: question.limit]
    result.hits = tuple(_hits(snapshot, question, chosen, settings))
    if question.explain:
        result.explain = {
            "streams": {name: len(f.pages) for name, f in found.items()},
            "fusion": {"form": settings.fusion.form, "k": settings.fusion.k, "weights": _weights(settings)},
            "pages_allowed": len(pages.allowed) if pages is not None else None,
        }
    return result


def allowed_pages(snapshot: Snapshot, question: Question) -> PageSet | None:
    """The pages that pass every filter, from options and from operators in the query; None when all do."""
    parsed, given = question.parsed, question.filters
    filters = given._replace(
        kinds=given.kinds or parsed.kinds, tags=given.tags + parsed.tags, paths=given.paths + parsed.paths
    )
    if given.kinds and parsed.kinds:
        filters = filters._replace(kinds=tuple(k for k in given.kinds if k in parsed.kinds) or ("\0",))
    allowed = snapshot.catalog.select(filters)
    needs_words = bool(parsed.phrases or parsed.excluded)
    if allowed is None and not needs_words:
        return None
    every = snapshot.catalog.page_numbers()
    allowed = set(every) if allowed is None else allowed
    # A phrase must stand somewhere on the page, an excluded word nowhere: for the other streams too.
    for phrase in parsed.phrases:
        allowed &= snapshot.lexical.pages_with(phrase)
    for word in parsed.excluded:
        allowed -= snapshot.lexical.pages_with(word)
    return PageSet(frozenset(allowed), frozenset(every))


def _run_streams(
    snapshot: Snapshot,
    question: Question,
    pages: PageSet | None,
    embedder: Embedder | None,
    settings: Settings,
    result: Ranked,
) -> dict[str, streams.Found]:
    window = max(settings.query.window, 4 * question.limit)
    wanted = [question.only] if question.only else list(STREAMS)
    found: dict[str, streams.Found] = {}
    if not question.parsed.has_words:
        return found
    for name in wanted:
        try:
            if name == "lexical":
                found[name] = streams.lexical_stream(snapshot, question.parsed, pages, window)
            elif name == "title":
                found[name] = streams.title_stream(snapshot, question.parsed.text, pages, window)
            elif vector_ready(snapshot, embedder, result) and embedder is not None:
                vector = embedder.embed_query(question.parsed.text)
                if vector.any():
                    found[name] = streams.vector_stream(snapshot, vector, pages, window, settings.vector)
        except BrokenSnapshotError as error:
            result.degraded.append(name)
            result.broken.append(name)
            result.notices.append(f"the {name} stream took no part: {error.message}")
        except ModelError as error:
            result.degraded.append(name)
            result.notices.append(f"the {name} stream took no part: {error.message}; {error.hint}")
    return found


def vector_ready(snapshot: Snapshot, embedder: Embedder | None, result: Ranked) -> bool:
    """Whether the query's vector may be compared with the snapshot's. Says why not."""
    made_with = snapshot.manifest.model
    if embedder is None:
        if made_with is not None:
            result.degraded.append("vector")
            result.notices.append("the vector stream took no part: no embedding model")
        return False
    if made_with is None or made_with != embedder.identity:
        name = made_with.name if made_with else "no model"
        result.degraded.append("vector")
        result.notices.append(
            f"the vector stream took no part: this snapshot was built with {name}, the model here is "
            f"{embedder.identity.name}; run `memidx build`"
        )
        return False
    return True


def rank(snapshot: Snapshot, found: Mapping[str, streams.Found], settings: Settings) -> list[Candidate]:
    """Fuse the streams and put the pages in their final order."""
    weights = _weights(settings)
    by_page = {name: [(s.page, s.score) for s in f.pages] for name, f in found.items()}
    shares = rrf(by_page, weights, settings.fusion.k)
    cited = _cited(found, weights, settings.fusion.k)
    rows = snapshot.catalog.pages(shares)
    candidates = [
        Candidate(rows[page], of, fused_score(of), 1.0, cited[page]) for page, of in shares.items() if page in rows
    ]
    return sorted(candidates, key=order)


def order(candidate: Candidate) -> tuple[float, float, float, bytes]:
    """By rank; ties by fused score, then the more recent page, then the path."""
    changed = candidate.page.changed_at
    return (
        candidate.rank,
        -candidate.fused,
        -changed if changed is not None else float("inf"),
        path_key(candidate.page.path),
    )


def _cited(found: Mapping[str, streams.Found], weights: Mapping[str, float], k: int) -> dict[int, int]:
    """The section that stands for each page: the one the streams that read sections rank best, together."""
    pages_of: dict[int, int] = {}
    listed: dict[str, list[tuple[int, float]]] = {}
    for name, stream in found.items():
        if name != "title":
            listed[name] = [(s.section, s.score) for s in stream.sections]
            pages_of.update((s.section, s.page) for s in stream.sections)
    best: dict[int, tuple[float, int]] = {}
    for section, shares in rrf(listed, weights, k).items():
        page = pages_of[section]
        best[page] = min(best.get(page, (0.0, section)), (-fused_score(shares), section))
    cited: dict[int, int] = {page: section for page, (_, section) in best.items()}
    for score in found.get("title", streams.Found((), ())).pages:
        cited.setdefault(score.page, score.section)
    return cited


def _weights(settings: Settings) -> dict[str, float]:
    return {name: getattr(settings.fusion, name) for name in STREAMS}


def _hits(snapshot: Snapshot, question: Question, chosen: Sequence[Candidate], settings: Settings) -> list[Hit]:
    sections = snapshot.catalog.sections([c.section for c in chosen])
    try:
        texts = snapshot.lexical.texts([c.section for c in chosen])
    except BrokenSnapshotError:
        texts = {}
    hits = []
    for candidate in chosen:
        section = sections[candidate.section]
        text = texts.get(candidate.section, "")
        snippet = make_snippet(text, question.parsed, settings.lexical.language) if text else Snippet("", ())
        page = candidate.page
        hits.append(
            Hit(
                path=page.path,
                title=page.title,
                kind=page.kind,
                tags=tuple(page.meta.get("tags", ())),
                line=section.line,
                end_line=section.end_line,
                heading=section.heading,
                snippet=snippet.text,
                marks=snippet.marks,
                rank=candidate.rank,
                fused=candidate.fused,
                authority=candidate.authority,
                streams={n: StreamHit(s.rank, s.score, s.share) for n, s in candidate.shares.items()},
                explain=_explain(candidate) if question.explain else {},
            )
        )
    return hits


def _explain(candidate: Candidate) -> dict[str, Any]:
    return {"section": candidate.section, "changed_at": candidate.page.changed_at}


__all__ = ["Candidate", "Question", "Ranked", "answer", "order", "rank"]
