"""Judged queries against a snapshot: measures, per query and on the average, and a paired comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Unpack

from memidx.engines.query import QueryOptions, Ranked, make_question, rank_pages
from memidx.ground.metrics import MEASURES, Comparison, randomisation_test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from memidx.engines.snapshot import Snapshot
    from memidx.ground.model import Embedder
    from memidx.ground.settings import Settings
    from memidx.parsing.judgements import JudgedQuery, Qrels, Run

DEPTH = 100  # R@100 looks that far


class Evaluation(NamedTuple):
    """Means over the judged queries, and each query's own measures. ``unanswered`` counts queries without a hit."""

    metrics: dict[str, float]
    per_query: dict[str, dict[str, float]]
    queries: int
    unanswered: int


class Made(NamedTuple):
    """A run, and the streams that could not be read for it."""

    run: Run
    broken: tuple[str, ...]


def make_run(
    snapshot: Snapshot,
    queries: Sequence[JudgedQuery],
    embedder: Embedder | None,
    settings: Settings,
    *,
    now: float,
    progress: Callable[[int, int], None] | None = None,
    **options: Unpack[QueryOptions],
) -> Made:
    """Ask every query as `memidx query` would; (path, score) to depth 100, the score being ``-rank``."""
    run: Run = {}
    result = Ranked()
    options["limit"] = DEPTH
    for number, query in enumerate(queries, 1):
        question = make_question(query.text, settings, now=now, **options)
        ranking = rank_pages(snapshot, question, embedder, settings, result)
        run[query.id] = [(c.page.path, -c.rank) for c in ranking.candidates[:DEPTH]]
        if progress:
            progress(number, len(queries))
    return Made(run, tuple(dict.fromkeys(result.broken)))


def evaluate(run: Run, qrels: Qrels) -> Evaluation:
    """Measure a run. Every judged query counts; one that the run does not hold counts as 0."""
    per_query = {}
    for query, gains in qrels.items():
        ranking = [path for path, _ in run.get(query, ())]
        per_query[query] = {name: measure(ranking, gains) for name, measure in MEASURES.items()}
    count = len(per_query)
    metrics = {name: math.fsum(q[name] for q in per_query.values()) / count if count else 0.0 for name in MEASURES}
    unanswered = sum(1 for query in qrels if not run.get(query))
    return Evaluation(metrics, per_query, count, unanswered)


def compare(before: Evaluation, after: Evaluation) -> dict[str, Comparison]:
    """Each measure of two runs over the same queries, with a paired randomisation test."""
    queries = [query for query in before.per_query if query in after.per_query]
    return {
        name: randomisation_test(_column(before.per_query, queries, name), _column(after.per_query, queries, name))
        for name in MEASURES
    }


def _column(per_query: Mapping[str, Mapping[str, float]], queries: Sequence[str], name: str) -> list[float]:
    return [per_query[query][name] for query in queries]
