"""Long pages: is the right passage among the first five sections, and how much else comes with it?

    python benchmarks/passages.py FOLDER [LIMIT]

FOLDER holds long pages `*.md` and `questions.jsonl`, a line `{"_id", "text", "doc", "spans": [[from, to], …]}`, spans in
characters of the page. Takes the first sections over all pages, as `memidx context` orders them. Prints the share of
questions with every span touched, recall and precision of characters, and how many characters were shown.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import memidx
from memidx.engines import query as engine
from memidx.engines.context import units

FIRST = (1, 3, 5, 10)


class Shown(NamedTuple):
    """A section that was shown: its page and characters."""

    doc: str
    begin: int
    end: int


def measured(shown: list[Shown], doc: str, spans: list[list[int]]) -> tuple[float, ...]:
    """Touched, recall, precision, characters shown."""
    seen = {at for one in shown if one.doc == doc for at in range(one.begin, one.end)}
    total = sum(one.end - one.begin for one in shown)
    wanted = {at for begin, end in spans for at in range(begin, end)}
    touched = all(any(at in seen for at in range(begin, end)) for begin, end in spans)
    both = len(wanted & seen)
    return float(touched), both / len(wanted), both / total if total else 0.0, float(total)


def main(folder: Path, limit: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        pages = {path.stem: path.read_bytes().decode("utf-8") for path in sorted(folder.glob("*.md"))}
        for stem, text in pages.items():
            (root / f"{stem}.md").write_bytes(text.encode())
        vault = memidx.open_vault(root)
        snapshot, _, _ = vault.open_snapshot()
        questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
        questions = questions[:: max(1, len(questions) // limit)]
        found: dict[int, list[tuple[float, ...]]] = {count: [] for count in FIRST}
        for asked in questions:
            question = engine.make_question(asked["text"], vault.settings, now=0.0, limit=50)
            ranking = engine.rank_pages(snapshot, question, vault.embedder, vault.settings, engine.Ranked())
            best = units(snapshot, ranking, vault.settings)[: max(FIRST)]
            texts = snapshot.lexical.texts([unit.rows[unit.best].id for unit in best])
            shown = []
            for unit in best:
                doc, text = unit.page.page.path.removesuffix(".md"), texts[unit.rows[unit.best].id]
                begin = pages[doc].replace("\r\n", "\n").find(text)
                shown.append(Shown(doc, max(begin, 0), max(begin, 0) + len(text) if begin >= 0 else 0))
            for count in FIRST:
                found[count].append(measured(shown[:count], asked["doc"], asked["spans"]))
        print(f"{len(questions)} questions, {len(pages)} pages, {snapshot.lexical.num_docs} sections\n")
        print("| sections | every span touched | recall of characters | precision | characters shown |")
        print("|---|---|---|---|---|")
        for count, rows in found.items():
            touched, recall, precision, total = (statistics.mean(column) for column in zip(*rows, strict=True))
            print(f"| {count} | {touched:.3f} | {recall:.3f} | {precision:.3f} | {total:.0f} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
