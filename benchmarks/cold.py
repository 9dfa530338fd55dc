"""What one command costs from nothing: a new process, over a bare interpreter, beside an older checkout.

    python benchmarks/cold.py [VAULT …] [--pages 10000] [--runs 9] [--before CHECKOUT]

Each vault is copied first; without one, a vault of so many pages is made up. The commands take turns, and so do both
checkouts, so that a busy computer slows all alike. Told are medians of wall and processor time in milliseconds, less
those of `python -c pass`. PYTHONDONTWRITEBYTECODE must not be set, or every process compiles all modules anew.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKOUT = Path(__file__).resolve().parent.parent
IDENTITY = {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "n"), ("EMAIL", "n@x"))
}
QUESTION = "how is a request retried after a timeout"
Times = tuple[float, float]


def run(root: Path, checkout: Path, *args: str) -> Times:
    """Wall and processor time of one process, in milliseconds, with the processes that it waited for."""
    env = {**os.environ, **IDENTITY, "PYTHONPATH": str(checkout)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    begun, used = time.perf_counter(), os.times()
    done = subprocess.run(args, cwd=root, env=env, capture_output=True, text=True, check=False)
    took, now = time.perf_counter() - begun, os.times()
    if done.returncode not in (0, 1):
        raise SystemExit(f"{args}: exit code {done.returncode}: {done.stderr}")
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    return took * 1000, cpu * 1000


def memidx(root: Path, checkout: Path, *args: str) -> Times:
    return run(root, checkout, sys.executable, "-m", "memidx", *args)


def git(root: Path, *args: str) -> Times:
    return run(root, CHECKOUT, "git", *args)


def made_up(root: Path, pages: int) -> None:
    """A vault of pages with five sections each, in words that are spread like those of a language."""
    dice = random.Random(1)
    shapes = ["ka", "lo", "mi", "ser", "tan", "du", "rel", "po", "vin", "es", "tor", "qua", "ne", "bil", "for", "ang"]
    words = ["".join(dice.choices(shapes, k=dice.randint(1, 4))) for _ in range(20_000)]
    words[:9] = QUESTION.split()[:9]
    weights = [1 / (n + 3) for n in range(len(words))]
    for number in range(pages):
        folder = root / f"part-{number % 97}"
        folder.mkdir(parents=True, exist_ok=True)
        text = [f"# Page {number} {' '.join(dice.choices(words, k=3))}\n"]
        for part in range(5):
            body = dice.choices(words, weights, k=70)
            text.append(f"\n## Part {part} {body[0]}\n\n{' '.join(body)}.\n")
        (folder / f"page-{number}.md").write_text("".join(text))


def prepare(vault: Path | None, pages: int, root: Path) -> list[str]:
    """A repository with everything committed, on a branch, and another one that differs in one page."""
    if vault is None:
        made_up(root, pages)
    else:
        shutil.copytree(vault, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    git(root, "init", "-q")
    git(root, "config", "gc.auto", "0")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "all")
    found = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.md"))
    git(root, "branch", "here")
    git(root, "switch", "-q", "-c", "there")
    change(root, found[0], "there")
    git(root, "commit", "-q", "-a", "-m", "there")
    return found


def change(root: Path, page: str, words: str) -> None:
    with (root / page).open("a", encoding="utf-8") as file:
        file.write(f"\nA sentence more: {words}.\n")


def settle(root: Path) -> None:
    """As after a person's own `git status`: git reads a file again, each time, that is as new as its index."""
    time.sleep(1.1)
    git(root, "status")


def measure(root: Path, pages: list[str], checkouts: list[Path], runs: int) -> dict[str, list[list[Times]]]:
    """By what was done: for each checkout the times of its runs."""
    found: dict[str, list[list[Times]]] = {}
    numbers = iter(range(1_000_000))

    def one_page() -> None:
        number = next(numbers)
        change(root, pages[number % len(pages)], f"number {number}")

    def update(checkout: Path) -> Times:
        one_page()
        return memidx(root, checkout, "build", "--quiet")

    def hook(checkout: Path) -> Times:
        one_page()
        git(root, "commit", "-q", "-a", "-m", "x")
        return memidx(root, checkout, "hook", "post-commit")

    def switched(checkout: Path) -> Times:
        git(root, "switch", "-q", "there")
        memidx(root, checkout, "build", "--quiet")
        git(root, "switch", "-q", "here")
        return memidx(root, checkout, "query", QUESTION)

    what: dict[str, Callable[[Path], Times]] = {
        "`python -c pass`": lambda checkout: run(root, checkout, sys.executable, "-c", "pass"),
        "`python -c 'import numpy'`": lambda checkout: run(root, checkout, sys.executable, "-c", "import numpy"),
        "query": lambda checkout: memidx(root, checkout, "query", QUESTION),
        "query --only lexical": lambda checkout: memidx(root, checkout, "query", "--only", "lexical", QUESTION),
        "query, words alone (vector.model=none)": lambda checkout: memidx(
            root, checkout, "--set", "vector.model=none", "query", QUESTION
        ),
        "query after a switch back": switched,
        "build, nothing to do": lambda checkout: memidx(root, checkout, "build", "--quiet"),
        "status": lambda checkout: memidx(root, checkout, "status"),
        "build after one page": update,
        "post-commit hook after one page": hook,
    }
    git(root, "switch", "-q", "here")
    for name, measured in what.items():
        settle(root)
        times: list[list[Times]] = [[] for _ in checkouts]
        for turn in range(runs + 1):
            for kept, checkout in zip(times, checkouts, strict=True):
                took = measured(checkout)
                if turn:  # the first turn builds, compiles and warms the disk's cache
                    kept.append(took)
        found[name] = times
    return found


def table(found: dict[str, list[list[Times]]], *, both: bool) -> None:
    bare = [medians(times) for times in found["`python -c pass`"]]
    head = "| what | wall, ms | processor, ms |"
    print(f"{head} before: wall | processor | wall ratio |" if both else head)
    print("|---|---|---|---|---|---|" if both else "|---|---|---|")
    for name, times in found.items():
        cells = []
        over = []
        for kept, nothing in zip(times, bare, strict=True):
            wall, cpu = medians(kept)
            if "pass" not in name:
                wall, cpu = wall - nothing[0], cpu - nothing[1]
            over.append(wall)
            cells += [f"{wall:.0f}", f"{cpu:.0f}"]
        if both:
            cells.append(f"{over[0] / over[1]:.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def medians(times: list[Times]) -> Times:
    walls, cpus = zip(*times, strict=True)
    return statistics.median(walls), statistics.median(cpus)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("vaults", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--before", type=Path)
    given = parser.parse_args()
    checkouts = [CHECKOUT, *([given.before.resolve()] if given.before else [])]
    for vault in given.vaults or [None]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder, "vault")
            pages = prepare(vault, given.pages, root)
            print(f"\n{vault.parent.name if vault else 'made up'}: {len(pages)} pages. Over a bare interpreter:\n")
            table(measure(root, pages, checkouts, given.runs), both=len(checkouts) > 1)


if __name__ == "__main__":
    main()
