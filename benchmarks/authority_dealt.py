"""What authority costs when its labels are not about the question.

    python benchmarks/authority_dealt.py FOLDER…

Deals rule 5 %, decision 15 %, pinned 5 %, canonical 10 % and deprecated 5 % at random over the pages of each judged
vault, ten seeds, and prints the share of nDCG@10 lost against `--rank relevance` for each form of fusion.
"""

from __future__ import annotations

import random
import statistics
import sys

from judged import Judged, Relabelled, sets_from

SEEDS = 10
FORMS = ("rrf", "convex")


def deal(pages: list[int], seed: int) -> dict[int, tuple[str, dict[str, object]]]:
    rng = random.Random(seed)
    labels = {}
    for page in pages:
        draw = rng.random()
        kind = "rule" if draw < 0.05 else "decision" if draw < 0.20 else "note"
        meta: dict[str, object] = {}
        if rng.random() < 0.05:
            meta["pinned"] = True
        if rng.random() < 0.10:
            meta["canonical"] = True
        if rng.random() < 0.05:
            meta["tags"] = ["deprecated"]
        labels[page] = (kind, meta)
    return labels


def main(folders: list[str]) -> None:
    print("| set | form | nDCG@10 by relevance | with dealt authority | lost, mean of seeds | worst seed |")
    print("|---|---|---|---|---|---|")
    for folder in sets_from(folders):
        judged = Judged(folder, limit=600)
        pages = [row.id for row in judged.snapshot.catalog.all_pages()]
        for form in FORMS:
            settings = judged.settings._replace(fusion=judged.settings.fusion._replace(form=form))
            plain = Relabelled(judged.snapshot.catalog, {})
            base = judged.measure(
                {
                    a.query.id: [c.page.path for c in judged.ranking(a, settings, plain, "relevance")[:10]]
                    for a in judged.asked
                }
            )
            seeds = []
            for seed in range(SEEDS):
                dealt = Relabelled(judged.snapshot.catalog, deal(pages, seed))
                ranked = {
                    a.query.id: [c.page.path for c in judged.ranking(a, settings, dealt)[:10]] for a in judged.asked
                }
                seeds.append(judged.measure(ranked))
            lost = [1 - value / base for value in seeds]
            print(
                f"| {folder.name} | {form} | {base:.4f} | {statistics.mean(seeds):.4f} | "
                f"{statistics.mean(lost):.1%} | {max(lost):.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
