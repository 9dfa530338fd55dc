"""How far the scores after an update are from those of a full build: the figures of decision 4.

    python benchmarks/tolerance.py VAULT… [--shares .01 .049 .2] [--questions 100]

VAULT is a folder that holds a git repository of pages; everything happens in a clone of it. A share of the pages gets
a paragraph that others of the vault have, and the index is updated; a small share in two steps, so that an update of
an update is measured. Then titles are asked, before and after `build --full` of the same pages, each stream alone and
all together. A difference is a share of the best score of the full build's answer; told are the mean and the greatest
over the pages that both found. FOLDER/vault is taken for FOLDER where it is there.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import memidx

if TYPE_CHECKING:
    from memidx.vault import Vault

STREAMS = ("lexical", "vector", "title", None)
LIMIT = 10
TWICE = 0.06  # a share of the pages; fewer are updated in two steps


class Found(NamedTuple):
    """The hits of one question, best first: path and score."""

    scores: dict[str, float]

    @property
    def best(self) -> float:
        return max(self.scores.values(), default=0.0)


def change(root: Path, pages: list[str], dice: random.Random) -> None:
    """Every page gets the last paragraph of another one: words that the vault has, where it had them not."""
    texts = {page: (root / page).read_text(encoding="utf-8", errors="replace") for page in pages}
    for page in pages:
        other = texts[dice.choice(pages)].rstrip().rpartition("\n\n")[2]
        (root / page).write_text(f"{texts[page].rstrip()}\n\n{other}\n", encoding="utf-8")


def ask(vault: Vault, questions: list[str], stream: str | None) -> list[Found]:
    answers = (vault.query(text, limit=LIMIT, only=stream, track=False, now=1.8e9) for text in questions)
    return [Found({h.path: h.streams[stream].score if stream else -h.rank for h in a.hits}) for a in answers]


def row(name: str, before: list[Found], after: list[Found]) -> str:
    differences = [
        abs(b.scores[path] - a.scores[path]) / a.best
        for b, a in zip(before, after, strict=True)
        for path in b.scores.keys() & a.scores.keys()
        if a.best
    ]
    asked = len(after)
    first = sum(next(iter(b.scores), "") == next(iter(a.scores), "") for b, a in zip(before, after, strict=True))
    same = [len(b.scores.keys() & a.scores.keys()) / max(len(a.scores), 1) for b, a in zip(before, after, strict=True)]
    mean, most = (statistics.mean(differences), max(differences)) if differences else (0.0, 0.0)
    answered = [share for share, a in zip(same, after, strict=True) if a.scores]
    hits = statistics.mean(answered) if answered else 1.0
    return f"| {name} | {mean:.2%} | {most:.2%} | {first} of {asked} | {hits:.1%} |"


def measure(source: Path, share: float, count: int) -> None:
    dice, name = random.Random(4), source.name
    with tempfile.TemporaryDirectory() as place:
        clone = Path(place, "clone")
        source = source / "vault" if (source / "vault").is_dir() else source
        subprocess.run(["git", "clone", "-q", str(source.resolve()), str(clone)], check=True)
        vault = memidx.open_vault(clone, environ={}, options=(("query.refresh_seconds", "100"),))
        vault.build()
        snapshot, *_ = vault.open_snapshot()
        pages = sorted(snapshot.catalog.all_pages(), key=lambda page: page.path)
        files = [page.path for page in pages if (clone / page.path).is_file()]
        questions = [page.title for page in pages][:: max(len(pages) // count, 1)][:count]
        chosen = dice.sample(files, max(int(share * len(files)), 2))
        modes = []
        half = len(chosen) // 2
        # After a large update the next build is a full one.
        for part in [chosen[:half], chosen[half:]] if share < TWICE else [chosen]:
            change(clone, part, dice)
            modes.append(vault.build().mode)
        updated = {stream: ask(vault, questions, stream) for stream in STREAMS}
        vault.build(full=True)
        print(f"\n{name}: {len(files)} pages, {len(chosen)} changed ({share:.1%}; {' and '.join(modes)})\n")
        print("| stream | mean | greatest | same first hit | same ten hits |\n|---|---|---|---|---|")
        for stream in STREAMS:
            print(row(stream or "all", updated[stream], ask(vault, questions, stream)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("vaults", nargs="+", type=Path, metavar="VAULT")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.01, 0.049, 0.2])
    parser.add_argument("--questions", type=int, default=100)
    given = parser.parse_args()
    for vault in given.vaults:
        for share in given.shares:
            measure(vault, share, given.questions)


if __name__ == "__main__":
    main()
