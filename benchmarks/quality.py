"""How good the answers are, on judged sets: one row a set, one column a way of searching.

    python benchmarks/quality.py [--measure NAME] [--losses N] [--model MODEL] FOLDER…

The ways: `words`, pages by how often the question's words stand in them (what grep can do); `bm25`, the lexical stream
alone; `vectors`, the vector stream alone; `rrf`, plain reciprocal rank fusion; `default`, as `memidx query` ranks,
authority included. A star: the default differs from BM25 by more than chance (paired randomisation test, p < 0.05).
`--losses` lists the questions that the default answers worse than BM25, worst first.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from judged import Judged

from memidx.ground.metrics import MEASURES, randomisation_test
from memidx.ground.settings import VectorSettings

WAYS = ("words", "bm25", "vectors", "rrf", "default")
DEPTH = 100


class Loss(NamedTuple):
    """A question that the default answers worse than BM25."""

    by: float
    text: str
    bm25: list[str]
    default: list[str]
    right: list[str]


class WordCount:
    """Pages by the number of times that the words of a question stand in them, as `grep -o -i -w` would count."""

    def __init__(self, judged: Judged) -> None:
        catalog, lexical = judged.snapshot.catalog, judged.snapshot.lexical
        self._pages = []
        for row in catalog.all_pages():
            texts = lexical.texts([section.id for section in catalog.sections_of(row.id)])
            self._pages.append((row.path, Counter(" ".join(texts.values()).lower().split())))

    def rank(self, text: str) -> list[str]:
        words = text.lower().split()
        scored = [(sum(counts[word] for word in words), path) for path, counts in self._pages]
        return [path for score, path in sorted(scored, key=lambda s: (-s[0], s[1])) if score][:DEPTH]


def rankings(judged: Judged) -> dict[str, dict[str, list[str]]]:
    """By way and query: paths in order."""
    counted = WordCount(judged)
    plain = judged.settings._replace(fusion=judged.settings.fusion._replace(form="rrf"))
    catalog = judged.snapshot.catalog
    found: dict[str, dict[str, list[str]]] = {way: {} for way in WAYS}
    for asked in judged.asked:
        paths = {
            row.id: row.path for row in catalog.pages({s.page for f in asked.found.values() for s in f.pages}).values()
        }
        query = asked.query.id
        found["words"][query] = counted.rank(asked.query.text)
        for way, stream in (("bm25", "lexical"), ("vectors", "vector")):
            pages = asked.apart[stream].pages if stream in asked.apart else ()
            found[way][query] = [paths[s.page] for s in pages[:DEPTH]]
        found["rrf"][query] = [c.page.path for c in judged.ranking(asked, plain, by="relevance")[:DEPTH]]
        ranked = judged.ranking(asked) if asked.evidence.enough else []
        found["default"][query] = [c.page.path for c in ranked[:DEPTH]]
    return found


def report(folder: Path, options: argparse.Namespace) -> dict[str, float]:
    settings = {"vector": VectorSettings(model=options.model)} if options.model else {}
    judged = Judged(folder, limit=options.limit, **settings)
    found = rankings(judged)
    measures = [options.measure] if options.measure else ["nDCG@10", "MRR@10", "R@10", "hit@1"]
    means: dict[str, float] = {}
    for name in measures:
        values = {
            way: [MEASURES[name](found[way][a.query.id], judged.qrels[a.query.id]) for a in judged.asked]
            for way in WAYS
        }
        compared = randomisation_test(values["bm25"], values["default"])
        row = [f"{sum(v) / len(v):.3f}" for v in values.values()]
        row[-1] += "\\*" if compared.p < 0.05 else ""
        print(
            f"| {folder.name} | {len(judged.asked)} | {name} | {' | '.join(row)} | "
            f"{compared.after - compared.before:+.3f} | {compared.better}/{compared.worse} | {compared.p:.3f} |",
            flush=True,
        )
        if name == measures[0]:
            means = {way: sum(v) / len(v) for way, v in values.items()}
    for loss in losses(judged, found)[: options.losses]:
        print(
            f"    {-loss.by:+.2f} {loss.text!r}\n      right {loss.right}\n      bm25 {loss.bm25}\n      default {loss.default}"
        )
    return means


def losses(judged: Judged, found: dict[str, dict[str, list[str]]]) -> list[Loss]:
    """Where the default is worse, worst first."""
    ndcg = MEASURES["nDCG@10"]
    listed = []
    for asked in judged.asked:
        query, gains = asked.query.id, judged.qrels[asked.query.id]
        bm25, default = found["bm25"][query], found["default"][query]
        by = ndcg(bm25, gains) - ndcg(default, gains)
        if by > 0:
            listed.append(
                Loss(by, asked.query.text, bm25[:3], default[:3], sorted(p for p, g in gains.items() if g > 0))
            )
    return sorted(listed, key=lambda loss: -loss.by)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--measure", choices=list(MEASURES))
    parser.add_argument("--losses", type=int, default=0)
    parser.add_argument("--limit", type=int, default=600, help="questions a set, evenly taken")
    parser.add_argument("--model")
    options = parser.parse_args()
    print(f"| set | questions | measure | {' | '.join(WAYS)} | default - bm25 | better/worse | p |")
    print("|---" * (6 + len(WAYS)) + "|")
    means = [report(folder, options) for folder in options.folders]
    row = [f"**{sum(m[way] for m in means) / len(means):.3f}**" for way in WAYS]
    worst = min(m["default"] - m["bm25"] for m in means)
    print(f"| **mean** | | {options.measure or 'nDCG@10'} | {' | '.join(row)} | worst {worst:+.3f} | | |")


if __name__ == "__main__":
    main()
