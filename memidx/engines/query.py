"""answer = rank(query, snapshot, settings): streams, gate, order, and the words that a person reads."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from memidx.engines import streams
from memidx.engines.likeness import Likeness
from memidx.engines.ranking import (
    RRF,
    UNUSED,
    Order,
    Ranking,
    Usage,
    cite,
    dated,
    explain,
    make_form,
    rank,
    unknown,
)
from memidx.engines.snippet import Snippet, make_snippet
from memidx.ground.composite import COMPONENTS, check_weights, rescale
from memidx.ground.errors import BrokenSnapshotError, ModelError, UsageError
from memidx.ground.filters import Filters
from memidx.ground.gate import LEXICAL_ONLY, SENTINEL, Calibration, evidence, has_answer
from memidx.ground.hits import STREAMS, Hit, StreamHit
from memidx.ground.pageset import PageSet
from memidx.parsing.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memidx.engines.near import Subject
    from memidx.engines.ranking import Candidate, Changed
    from memidx.engines.snapshot import Snapshot
    from memidx.ground.model import Embedder
    from memidx.ground.query import ParsedQuery
    from memidx.ground.settings import Settings
    from memidx.stores.catalog import Catalog

RANKINGS = ("authority", "relevance", "composite")
MODEL_DECIDES = -1.0  # a cut-off of this value is taken from the model's calibration


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a snapshot, and how to order what is found."""

    parsed: ParsedQuery
    limit: int
    filters: Filters = Filters()  # noqa: RUF009 - an empty tuple of conditions
    only: str | None = None  # one stream alone
    rank: str = "authority"
    weights: Mapping[str, float] = field(default_factory=dict)
    floor: float = 0.0
    now: float = 0.0
    include_expired: bool = False
    explain: bool = False
    usage: Mapping[int, Usage] = field(default_factory=dict)
    changed: Changed = unknown
    near: Subject | None = None  # ask for pages like this one; it has words and a vector of its own


class QueryOptions(TypedDict, total=False):
    """How to ask, by name; what is left out comes from the settings."""

    limit: int | None
    filters: Filters | None
    only: str | None  # lexical, vector or title alone
    rank: str | None  # authority, relevance or composite
    weights: Mapping[str, float] | None  # changes of the composite's weights; the others are scaled
    floor: float | None  # the relevance floor
    include_expired: bool
    explain: bool
    usage: Mapping[int, Usage] | None
    changed: Changed | None  # when pages without a date of their own changed


def make_question(text: str, settings: Settings, *, now: float, **options: Unpack[QueryOptions]) -> Question:
    """A question as ``settings`` and ``options`` say. Raises UsageError, which says what is allowed."""
    limit, floor = options.get("limit"), options.get("floor")
    question = Question(
        parsed=parse_query(text),
        limit=settings.query.limit if limit is None else limit,
        filters=options.get("filters") or Filters(),
        only=options.get("only"),
        rank=options.get("rank") or settings.ranking.default,
        weights=options.get("weights") or {},
        floor=settings.ranking.relevance_floor if floor is None else floor,
        now=now,
        include_expired=options.get("include_expired", False),
        explain=options.get("explain", False),
        usage=options.get("usage") or {},
        changed=options.get("changed") or unknown,
    )
    _check(question, settings)
    return question


def _check(question: Question, settings: Settings) -> None:
    """Raise UsageError, which says what is allowed, when a question cannot be asked like that."""
    if question.only is not None and question.only not in STREAMS:
        raise UsageError(f"unknown stream '{question.only}'", hint=f"one of {', '.join(STREAMS)}")
    if question.limit < 1:
        raise UsageError(f"the number of hits must be at least 1, not {question.limit}")
    if question.rank not in RANKINGS:
        raise UsageError(f"unknown ranking '{question.rank}'", hint=f"one of {', '.join(RANKINGS)}")
    if not 0 <= question.floor < SENTINEL:
        raise UsageError(
            f"the floor must be from 0 to below {SENTINEL}, not {question.floor:g}",
            hint=f"pages that words found count as {SENTINEL} relevant, and a higher floor would drop them",
        )
    if question.weights:
        unknown = sorted(set(question.weights) - set(COMPONENTS))
        if unknown:
            raise UsageError(f"there is no component '{unknown[0]}'", hint=f"one of {', '.join(COMPONENTS)}")
        why = check_weights(rescale(settings.ranking.composite, question.weights))
        if why:
            raise UsageError(f"these weights cannot be used: {why}")


@dataclass(slots=True)
class Ranked:
    """What ranking found. ``broken`` says which part of the snapshot could not be read."""

    hits: tuple[Hit, ...] = ()
    degraded: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    filtered: int = 0
    explain: dict[str, Any] = field(default_factory=dict)


class Cutoffs(NamedTuple):
    """The cut-offs in force for one question."""

    floor: float
    min_similarity: float
    answer_floor: float


class Evidence(NamedTuple):
    """What speaks for an answer: the best cosine, the best coverage of the question's words by one section."""

    cosine: float
    coverage: float
    amount: float
    rare_words: float
    names_a_page: bool
    enough: bool


def answer(snapshot: Snapshot, question: Question, embedder: Embedder | None, settings: Settings) -> Ranked:
    """Rank the pages of ``snapshot`` for ``question``. ``embedder`` is None when there is no model to embed it with."""
    result = Ranked(notices=list(question.parsed.hints))
    ranking = rank_pages(snapshot, question, embedder, settings, result)
    result.filtered = len(ranking.dropped)
    for word in question.parsed.excluded:
        if left_out := len(snapshot.lexical.pages_with(word)):
            result.notices.append(f'-{word} left out {left_out} pages; write "-{word}" to look for it instead')
    for correction in snapshot.lexical.corrections(question.parsed) if "lexical" in ranking.found else ():
        result.notices.append(f"'{correction.word}' stands nowhere; looked for '{correction.term}…' instead")
    chosen = ranking.candidates[: question.limit]
    if question.explain:
        chosen = [c._replace(page=dated(c.page, question.changed)) for c in chosen]
    result.hits = tuple(_hits(snapshot, question, chosen, ranking.found, settings, result=result))
    return result


def rank_pages(
    snapshot: Snapshot, question: Question, embedder: Embedder | None, settings: Settings, result: Ranked
) -> Ranking:
    """All candidates in their order, without the words around them. What went wrong goes to ``result``."""
    pages = allowed_pages(snapshot, question)
    nothing = Ranking([], [], {})
    if pages is not None and not pages.allowed:
        return nothing
    limits = cutoffs(snapshot, question, embedder, settings)
    found = _run_streams(snapshot, question, pages, embedder, settings, limits, result)
    likeness = Likeness(snapshot, question.parsed, pages, found)
    found_out = _evidence(found, likeness, limits)
    enough = question.only is not None or question.near is not None or found_out.enough
    order = Order(question.rank, question.now, limits.floor, question.usage, question.weights, question.changed)
    ranking = rank(snapshot.catalog, found, settings, order, likeness) if enough else nothing
    if question.explain:
        form = make_form(settings, found)
        result.explain = {
            "ranking": question.rank,
            "streams": {name: len(f.pages) for name, f in found.items()},
            "fusion": {"form": form.form, "k": form.k, "weights": dict(form.weights)},
            "cutoffs": limits._asdict(),
            "evidence": found_out._asdict(),
            "pages_allowed": len(pages.allowed) if pages is not None else None,
            "filtered": [{"path": row.path, "relevance": value} for row, value in ranking.dropped],
        }
    return ranking


def cutoffs(snapshot: Snapshot, question: Question, embedder: Embedder | None, settings: Settings) -> Cutoffs:
    """Settings where they say a number; what depends on the model from its calibration where they do not."""
    usable = embedder is not None and snapshot.manifest.model == embedder.identity
    known: Calibration = embedder.calibration if usable and embedder is not None else LEXICAL_ONLY
    given = settings.ranking
    return Cutoffs(
        question.floor,
        known.min_similarity if given.min_similarity == MODEL_DECIDES else given.min_similarity,
        known.answer_floor if given.answer_floor == MODEL_DECIDES else given.answer_floor,
    )


def _evidence(found: Mapping[str, streams.Found], likeness: Likeness, limits: Cutoffs) -> Evidence:
    """Whether what was found is enough for an answer."""
    vector = found.get("vector", streams.NOTHING).pages
    title = found.get("title", streams.NOTHING).pages
    named = bool(title) and title[0].score >= streams.NAMES_A_PAGE
    coverage = likeness.best_coverage
    # A cosine below the cut-off is noise, though it is known where words found the page.
    cosine = vector[0].score if vector and vector[0].score >= limits.min_similarity else 0.0
    amount = evidence(cosine, coverage)
    rare = likeness.rare_words
    enough = has_answer(amount, limits.answer_floor, names_a_page=named, coverage=coverage, rare_words=rare)
    return Evidence(cosine, coverage, amount, rare, named, enough)


def allowed_pages(snapshot: Snapshot, question: Question) -> PageSet | None:
    """The pages that pass every filter, from options and from operators in the query; None when all do."""
    parsed, given = question.parsed, question.filters
    filters = given._replace(
        kinds=given.kinds or parsed.kinds, tags=given.tags + parsed.tags, paths=given.paths + parsed.paths
    )
    if given.kinds and parsed.kinds:
        filters = filters._replace(kinds=tuple(k for k in given.kinds if k in parsed.kinds) or ("\0",))
    allowed = _selected(snapshot.catalog, filters, question.changed)
    expired = frozenset() if question.include_expired else snapshot.catalog.expired(question.now)
    needs_words = bool(parsed.phrases or parsed.excluded)
    left_out = expired if question.near is None else expired | {question.near.page}
    if allowed is None and not needs_words and not left_out:
        return None
    every = snapshot.catalog.page_numbers()
    allowed = (set(every) if allowed is None else allowed) - left_out
    # A phrase must stand somewhere on the page, an excluded word nowhere: for the other streams too.
    for phrase in parsed.phrases:
        allowed &= snapshot.lexical.pages_with(phrase)
    for word in parsed.excluded:
        allowed -= snapshot.lexical.pages_with(word)
    return PageSet(frozenset(allowed), frozenset(every))


def _selected(catalog: Catalog, filters: Filters, changed: Changed) -> set[int] | None:
    """The pages that pass the filters. A page is in a period by its own date, else by what ``changed`` says."""
    since, until = filters.since, filters.until
    found = catalog.select(filters._replace(since=None, until=None))
    if since is None and until is None:
        return found
    first, last = -math.inf if since is None else since, math.inf if until is None else until
    rows = catalog.all_pages() if found is None else catalog.pages(found).values()
    dates = ((row.id, dated(row, changed).changed_at) for row in rows)
    return {page for page, at in dates if at is not None and first <= at <= last}


def _run_streams(  # noqa: PLR0917 - everything a stream works with
    snapshot: Snapshot,
    question: Question,
    pages: PageSet | None,
    embedder: Embedder | None,
    settings: Settings,
    limits: Cutoffs,
    result: Ranked,
) -> dict[str, streams.Found]:
    window = max(settings.query.window, 4 * question.limit)
    wanted = [question.only] if question.only else list(STREAMS)
    found: dict[str, streams.Found] = {}
    vector: NDArray[np.float32] | None = None
    if not question.parsed.has_words:
        return found
    for name in wanted:
        try:
            if name == "lexical":
                found[name] = streams.lexical_stream(snapshot, question.parsed, pages, window)
            elif name == "title":
                found[name] = streams.title_stream(snapshot, question.parsed.text, pages, window)
            elif vector_ready(snapshot, embedder, result) and embedder is not None:
                near = question.near
                vector = near.vector if near is not None else embedder.embed_query(question.parsed.text)
                if vector is not None and vector.any():  # without a direction nothing is near it
                    found[name] = streams.vector_stream(
                        snapshot, vector, pages, window, settings.vector, limits.min_similarity
                    )
        except BrokenSnapshotError as error:
            result.degraded.append(name)
            result.broken.append(name)
            result.notices.append(f"the {name} stream took no part: {error.message}")
        except ModelError as error:
            result.degraded.append(name)
            result.notices.append(f"the {name} stream took no part: {error.message}; {error.hint}")
    if settings.fusion.form != RRF:
        found.update(_beyond_sections(snapshot, question, pages, window, vector, found))
    return found


def _beyond_sections(  # noqa: PLR0917 - what the streams worked with, and what they found
    snapshot: Snapshot,
    question: Question,
    pages: PageSet | None,
    window: int,
    vector: NDArray[np.float32] | None,
    found: Mapping[str, streams.Found],
) -> Iterator[tuple[str, streams.Found]]:
    """The streams of words and vectors with what they need to be weighed together."""
    if "lexical" in found:
        yield "lexical", streams.with_whole_pages(snapshot, question.parsed, pages, window, found["lexical"])
    if vector is not None and "vector" in found:
        yield "vector", streams.compared(snapshot, vector, found)


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


def _hits(
    snapshot: Snapshot,
    question: Question,
    chosen: Sequence[Candidate],
    found: Mapping[str, streams.Found],
    settings: Settings,
    *,
    result: Ranked,
) -> list[Hit]:
    form = make_form(settings, found)
    cited = cite(found, form, [c.page.id for c in chosen])
    sections = snapshot.catalog.sections(cited.values())
    try:
        texts = snapshot.lexical.texts(cited.values())
    except BrokenSnapshotError as error:
        texts = {}
        result.broken.append("texts")
        result.notices.append(f"there are no snippets: {error.message}")
    hits = []
    for candidate in chosen:
        section = sections[cited[candidate.page.id]]
        text = texts.get(section.id, "")
        snippet = make_snippet(snapshot.lexical, text, question.parsed) if text else Snippet("", ())
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
                authority=candidate.authority.value,
                streams={n: StreamHit(s.rank, s.score, s.share) for n, s in candidate.shares.items()},
                explain=explain(candidate) if question.explain else {},
            )
        )
    return hits


__all__ = ["UNUSED", "Question", "Ranked", "Usage", "answer", "rank_pages"]
