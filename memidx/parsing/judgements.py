"""Queries, judgements and runs from the text of files, for `memidx eval`."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

from memidx.ground.errors import UsageError

QRELS_COLUMNS, RUN_COLUMNS = 3, 6


class JudgedQuery(NamedTuple):
    """A question with its id."""

    id: str
    text: str


Qrels = dict[str, dict[str, int]]  # query id -> path -> gain
Run = dict[str, list[tuple[str, float]]]  # query id -> (path, score), best first


def parse_queries(text: str, where: str) -> list[JudgedQuery]:
    """One JSON object a line with `_id` and `text`. Raises UsageError that names ``where:line``."""
    found: dict[str, JudgedQuery] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            plain = json.loads(line)
            query = JudgedQuery(str(plain["_id"]), str(plain["text"]))
        except (ValueError, KeyError, TypeError) as error:
            raise UsageError(
                f"{where}:{number}: not a query: {error}", hint='write one {"_id": "…", "text": "…"} a line'
            ) from error
        if query.id in found:
            raise UsageError(f"{where}:{number}: the id {query.id} stands twice")
        found[query.id] = query
    return list(found.values())


def parse_qrels(text: str, where: str) -> Qrels:
    """Lines of query id, path and gain between tabs; the first line may be a header. Raises UsageError."""
    found: Qrels = {}
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and not fields[-1].strip().lstrip("-").isdigit()):
            continue
        if len(fields) != QRELS_COLUMNS or not fields[2].strip().lstrip("-").isdigit():
            raise UsageError(f"{where}:{number}: not a judgement", hint="write query id, path and gain between tabs")
        found.setdefault(fields[0], {})[fields[1]] = int(fields[2])
    return found


def parse_run(text: str, where: str) -> Run:
    """A run in TREC's form: `query-id Q0 path rank score tag`. Spaces in a path are written as %20."""
    found: Run = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        fields = line.split()
        try:
            query, _, path, _, score, _ = fields
            value = float(score)
        except ValueError as error:
            raise UsageError(f"{where}:{number}: not a line of a TREC run: {error}") from error
        if not math.isfinite(value):
            raise UsageError(f"{where}:{number}: the score is not finite")
        found.setdefault(query, []).append((path.replace("%20", " ").replace("%25", "%"), value))
    return {query: sorted(rows, key=lambda r: (-r[1], r[0])) for query, rows in found.items()}


def format_run(run: Run, tag: str) -> str:
    """The run in TREC's form."""
    lines = []
    for query, rows in run.items():
        for rank, (path, score) in enumerate(rows, 1):
            name = path.replace("%", "%25").replace(" ", "%20")
            lines.append(f"{query} Q0 {name} {rank} {score:.9g} {tag}\n")
    return "".join(lines)
