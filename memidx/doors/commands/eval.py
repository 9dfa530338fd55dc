"""`memidx eval`: measure the ranking with judged queries."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.ranking_options import ranking_of, ranking_options
from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memidx.doors.door import Door
    from memidx.engines.evaluate import Evaluation
    from memidx.ground.metrics import Comparison
    from memidx.parsing.judgements import Run

SIGNIFICANT = 0.05


@click.command(
    "eval",
    cls=Command,
    short_help="Measure the ranking with judged queries.",
    examples=(
        "memidx eval queries.jsonl qrels.tsv",
        "memidx eval queries.jsonl qrels.tsv --rank relevance --per-query",
        "memidx eval queries.jsonl qrels.tsv --versus '--only lexical'",
        "memidx eval queries.jsonl qrels.tsv --run-in theirs.run --versus ''",
    ),
)
@click.argument("queries", metavar="QUERIES.jsonl")
@click.argument("qrels", metavar="QRELS.tsv")
@ranking_options
@click.option("--versus", metavar="OPTIONS", help="Compare with these ranking options instead, in one argument.")
@click.option("--per-query", is_flag=True, help="Also each query's own measures.")
@click.option("--run-in", metavar="FILE", help="Measure this TREC run instead of asking the vault.")
@click.option("--run-out", metavar="FILE", help="Write the run in TREC's form.")
@json_option
@pass_door
def command(door: Door, /, *, queries: str, qrels: str, **given: Any) -> int:
    """Ask every judged query of the vault here and measure the answers: nDCG@10, MRR@10, R@10, R@100, hit@1.

    QUERIES has one {"_id", "text"} a line; QRELS has query id, path and gain between tabs. Only judged queries are
    asked. Nothing is counted as an access. With --versus both rankings are measured and compared, query by query,
    with a paired randomisation test.
    """
    from memidx.engines import evaluate as engine
    from memidx.parsing import judgements

    asked = judgements.parse_queries(_read(door, queries), queries)
    judged = judgements.parse_qrels(_read(door, qrels), qrels)
    known = {query.id for query in asked}
    wanted = [query for query in asked if query.id in judged]
    missing = sorted(set(judged) - known)
    if not wanted:
        raise UsageError(f"{qrels} judges none of the queries in {queries}", hint="compare the ids of both files")
    if missing:
        door.say.note(
            f"{len(missing)} judged queries are not in {queries}, they are left out: {', '.join(missing[:3])}"
        )
        judged = {query: gains for query, gains in judged.items() if query in known}

    def run(options: Mapping[str, Any]) -> Run:
        return door.vault(eager=True).run(wanted, now=now, **ranking_of(options))

    now = time.time()
    made = judgements.parse_run(_read(door, given["run_in"]), given["run_in"]) if given["run_in"] else run(given)
    if given["run_out"]:
        (door.cwd / Path(given["run_out"])).write_text(judgements.format_run(made, "memidx"), encoding="utf-8")
    found = engine.evaluate(made, judged)
    other = comparison = None
    if given["versus"] is not None:
        other = engine.evaluate(run(_options(given["versus"])), judged)
        comparison = engine.compare(found, other)
    if given["as_json"]:
        door.say.json(_plain(found, other, comparison, per_query=given["per_query"]))
    else:
        for line in _lines(found, comparison, per_query=given["per_query"]):
            door.say.out(line)
    return 0


def _options(text: str) -> dict[str, Any]:
    """Ranking options from one argument."""
    parser = command.make_context("--versus", ["q", "r", *shlex.split(text)], resilient_parsing=True)
    return dict(parser.params)


def _read(door: Door, name: str) -> str:
    path = door.cwd / Path(name)
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{visible(str(path))}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{visible(str(path))}: is not UTF-8: {error.reason}") from error


def _plain(
    found: Evaluation, other: Evaluation | None, comparison: Mapping[str, Comparison] | None, *, per_query: bool
) -> dict[str, Any]:
    plain: dict[str, Any] = {"metrics": found.metrics, "queries": found.queries, "unanswered": found.unanswered}
    if other is not None and comparison is not None:
        plain["versus"] = {"metrics": other.metrics, "unanswered": other.unanswered}
        plain["comparison"] = {name: row._asdict() for name, row in comparison.items()}
    if per_query:
        plain["per_query"] = found.per_query
        if other is not None:
            plain["versus"]["per_query"] = other.per_query
    return plain


def _lines(found: Evaluation, comparison: Mapping[str, Comparison] | None, *, per_query: bool) -> Iterator[str]:
    if per_query:
        names = list(found.metrics)
        yield "\t".join(["query", *names])
        for query, measures in found.per_query.items():
            yield "\t".join([visible(query), *(f"{measures[name]:.4f}" for name in names)])
        yield ""
    if comparison is None:
        for name, value in found.metrics.items():
            yield f"{name:8} {value:.4f}"
    else:
        yield f"{'':8} {'this':>7} {'versus':>7} {'change':>8} {'better':>6} {'worse':>6} {'p':>7}"
        for name, row in comparison.items():
            change = row.after - row.before
            mark = " *" if row.p < SIGNIFICANT else ""
            scores = f"{row.before:7.4f} {row.after:7.4f} {change:+8.4f}"
            yield f"{name:8} {scores} {row.better:6d} {row.worse:6d} {row.p:7.4f}{mark}"
    yield f"{found.queries} queries, {found.unanswered} without an answer"
