"""Shared by the ranking benchmarks: a judged vault, its streams run once, and rankings computed from them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import memidx
from memidx.engines import query as engine
from memidx.engines.likeness import Likeness
from memidx.engines.ranking import Order, rank
from memidx.ground.metrics import MEASURES
from memidx.parsing.judgements import JudgedQuery, Qrels, parse_qrels, parse_queries

if TYPE_CHECKING:
    from memidx.engines.streams import Found
    from memidx.stores.catalog import PageRow


class Asked(NamedTuple):
    """A query with what each stream found for it, and whether that is enough for an answer."""

    query: JudgedQuery
    found: dict[str, Found]
    apart: dict[str, Found]  # each stream by itself, as plain RRF takes them
    likeness: Likeness
    evidence: engine.Evidence


class Judged:
    """A folder with `vault`, `queries.jsonl` and `qrels.tsv`."""

    def __init__(self, folder: Path, *, limit: int | None = None, wide: bool = False, **settings: object) -> None:
        self.vault = memidx.open_vault(folder / "vault", **settings)
        self.vault.build()  # a question would rather be answered from an older build than wait for this one
        self.snapshot, _, _ = self.vault.open_snapshot()
        self.settings = self.vault.settings
        queries = parse_queries((folder / "queries.jsonl").read_text(encoding="utf-8"), "queries.jsonl")
        self.qrels: Qrels = parse_qrels((folder / "qrels.tsv").read_text(encoding="utf-8"), "qrels.tsv")
        if limit and len(queries) > limit:
            queries = queries[:: -(-len(queries) // limit)]
        self.asked = [self.ask(q, wide=wide) for q in queries if q.id in self.qrels]

    def ask(self, query: JudgedQuery, *, wide: bool = False) -> Asked:
        """Run the streams. ``wide`` opens retrieval: no cosine cut-off, and a window over everything."""
        question = engine.make_question(query.text, self.settings, now=0.0, limit=100_000 if wide else 100)
        limits = engine.cutoffs(self.snapshot, question, self.vault.embedder, self.settings)
        if wide:
            limits = limits._replace(min_similarity=-1.0)
        plain = self.settings._replace(fusion=self.settings.fusion._replace(form="rrf"))
        found, apart = (
            engine._run_streams(self.snapshot, question, None, self.vault.embedder, s, limits, engine.Ranked())
            for s in (self.settings, plain)
        )
        likeness = Likeness(self.snapshot, question.parsed, None, found)
        return Asked(query, found, apart, likeness, engine._evidence(found, likeness, limits))

    def ranking(self, asked: Asked, settings=None, catalog=None, by: str = "authority", floor: float = 0.15) -> list:
        """Candidates in order, from the streams that were run once."""
        order = Order(by, 0.0, floor, {}, {})
        settings = settings or self.settings
        found = asked.apart if settings.fusion.form == "rrf" else asked.found
        return rank(catalog or self.snapshot.catalog, found, settings, order, asked.likeness).candidates

    def measure(self, rankings: dict[str, list[str]], name: str = "nDCG@10") -> float:
        """The mean of one measure over the queries asked."""
        measure = MEASURES[name]
        return sum(measure(rankings[a.query.id], self.qrels[a.query.id]) for a in self.asked) / max(len(self.asked), 1)


class Relabelled:
    """A catalog whose pages claim something else. Everything else goes to the real one."""

    def __init__(self, catalog, labels: dict[int, tuple[str, dict[str, object]]]) -> None:
        self._catalog = catalog
        self._labels = labels

    def __getattr__(self, name: str):
        return getattr(self._catalog, name)

    def pages(self, ids) -> dict[int, PageRow]:
        rows = self._catalog.pages(ids)
        return {
            page: row._replace(
                kind=self._labels.get(page, ("note", {}))[0], meta=self._labels.get(page, ("note", {}))[1]
            )
            for page, row in rows.items()
        }


def sets_from(arguments: list[str]) -> list[Path]:
    """Folders given on the command line; a word to the user when there are none."""
    if not arguments:
        sys.exit("give folders that hold vault/, queries.jsonl and qrels.tsv")
    return [Path(a) for a in arguments]
