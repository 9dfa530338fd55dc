"""Does the page that decides come first among louder notes of the same topic?

    python benchmarks/deciding.py VAULT

Makes a vault from real pages. For each of 80 topics (a page with three or more sections) there are a deciding page, in
turn a rule or a decision, that holds one section of the topic, and four notes that hold other sections and say the
topic's title three times more. The question is the topic's title. Prints hit@1 for each form of fusion, the mean rank
of the deciding page, and how much louder the best note is.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from judged import Judged

import memidx
from memidx.ground.page import PageRules
from memidx.parsing.page import parse_page

TOPICS, NOTES = 80, 4
FORMS = ("rrf", "convex")


def topics(root: Path) -> list[tuple[str, list[str]]]:
    found = []
    vault = memidx.open_vault(root)
    for entry, data in vault.git.read(vault.listing().entries):
        page = parse_page(entry.path, data, PageRules())
        texts = [s.text for s in page.sections if 200 <= len(s.text) <= 1500]
        if len(texts) > NOTES and len(page.title.split()) >= 3 and page.title.isascii():
            found.append((page.title.replace('"', "'"), texts))
    step = max(1, len(found) // TOPICS)
    return found[::step][:TOPICS]


def write(folder: Path, name: str, title: str, body: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'---\ntitle: "{title}"\n---\n\n{body}\n', encoding="utf-8")


def make(root: Path, out: Path) -> int:
    vault = out / "vault"
    found = topics(root)
    queries, qrels = [], ["query-id\tpath\tgain"]
    for number, (title, texts) in enumerate(found):
        kind = ("_rules", "_decisions")[number % 2]
        shortest = min(range(len(texts)), key=lambda n: len(texts[n]))
        deciding = f"{kind}/d{number:03d}.md"
        write(vault, deciding, f"{title}: what holds", f"{title}.\n\n{texts[shortest]}")
        others = [t for n, t in enumerate(texts) if n != shortest][:NOTES]
        for note, text in enumerate(others):
            loud = "\n\n".join([f"On {title}.", text, f"More on {title}.", f"Still about {title}."])
            write(vault, f"notes/n{number:03d}-{note}.md", f"{title}: part {note + 1} of the talk", loud)
        queries.append(f'{{"_id": "q{number}", "text": {__import__("json").dumps(title)}}}')
        qrels.append(f"q{number}\t{deciding}\t1")
    (out / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")
    (out / "qrels.tsv").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(vault)], check=True)
    return len(found)


def main(root: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        count = make(root, Path(name))
        judged = Judged(Path(name))
        print(f"{count} topics from {root}, one deciding page and {NOTES} louder notes each\n")
        print(
            "| form | hit@1 by relevance | hit@1 with authority | mean rank | the best note's match / the deciding page's, median and 95 % |"
        )
        print("|---|---|---|---|---|")
        for form in FORMS:
            settings = judged.settings._replace(fusion=judged.settings.fusion._replace(form=form))
            plain, ranked, places, louder = {}, {}, [], []
            for asked in judged.asked:
                by_relevance = judged.ranking(asked, settings, by="relevance")
                plain[asked.query.id] = [c.page.path for c in by_relevance]
                ranked[asked.query.id] = [c.page.path for c in judged.ranking(asked, settings)]
                wanted = next(iter(judged.qrels[asked.query.id]))
                places.append(ranked[asked.query.id].index(wanted) + 1)
                fused = {c.page.path: c.fused for c in by_relevance}
                louder.append(max(fused.values()) / fused[wanted])
            louder.sort()
            print(
                f"| {form} | {judged.measure(plain, 'hit@1'):.3f} | {judged.measure(ranked, 'hit@1'):.3f} | "
                f"{statistics.mean(places):.2f} | {statistics.median(louder):.2f}, {louder[int(0.95 * len(louder))]:.2f} |"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
