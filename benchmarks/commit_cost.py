"""What a commit costs with memidx in the hooks, beside the same commit without.

    python benchmarks/commit_cost.py VAULT [VAULT …] [--runs 5] [--rebase 100]

Each vault is copied first. The two kinds of run take turns, so that a busy computer slows both; medians are told. A
memidx must be on PATH, and PYTHONDONTWRITEBYTECODE should not be set.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

IDENTITY = {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "n"), ("EMAIL", "n@x"))
}
OFF = ("-c", "core.hooksPath=/dev/null")


def git(root: Path, *args: str) -> str:
    env = {**os.environ, **IDENTITY}
    done = subprocess.run(["git", *args], cwd=root, env=env, capture_output=True, text=True, check=True)
    return done.stdout


def timed(root: Path, *args: str) -> tuple[float, float]:
    """Milliseconds on the wall, and of processors: the second moves less when the computer is busy."""
    begun, used = time.perf_counter(), os.times()
    git(root, *args)
    now = os.times()
    cpu = now.children_user + now.children_system - used.children_user - used.children_system
    return (time.perf_counter() - begun) * 1000, cpu * 1000


def prepare(vault: Path, folder: Path) -> Path:
    """A copy of the vault that is a repository with everything committed, the hooks installed and a snapshot."""
    root = folder / "vault"
    shutil.copytree(vault, root, symlinks=True)
    if not (root / ".git").is_dir():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, *OFF, "commit", "-q", "--allow-empty", "-m", "all")
    git(root, "config", "gc.auto", "0")
    for command in (["build", "--quiet"], ["hooks", "install"]):
        subprocess.run(["memidx", *command], cwd=root, check=True, capture_output=True)
    return root


def change(root: Path, pages: list[str], turn: int, count: int) -> None:
    for name in pages[:count]:
        with (root / name).open("a", encoding="utf-8") as file:
            file.write(f"\nSentence {turn} of {name}.\n")
    if not count:
        (root / "code.py").write_text(f"turn = {turn}\n")
    git(root, "add", "-A")


def commits(root: Path, pages: list[str], count: int, runs: int) -> list[tuple[float, float]]:
    """Medians of wall and processor time: without hooks, with hooks."""
    without: list[tuple[float, float]] = []
    with_: list[tuple[float, float]] = []
    for turn in range(runs + 1):
        for hooks, times in ((False, without), (True, with_)):
            change(root, pages, 2 * turn + hooks, count)
            took = timed(root, *(() if hooks else OFF), "commit", "-q", "-m", "x")
            if not hooks:
                subprocess.run(["memidx", "build", "--quiet"], cwd=root, check=True)
            if turn:  # the first turn warms the disk's cache
                times.append(took)
    return [tuple(map(statistics.median, zip(*times, strict=True))) for times in (without, with_)]


def rebase(root: Path, pages: list[str], count: int) -> list[tuple[float, float]]:
    """Wall and processor time of a rebase of so many commits: without hooks, with hooks."""
    base = git(root, "rev-parse", "HEAD").strip()
    git(root, *OFF, "switch", "-q", "-c", "onto")
    (root / "onto.md").write_text("# Onto\n")
    git(root, "add", "-A")
    git(root, *OFF, "commit", "-q", "-m", "onto")
    git(root, *OFF, "switch", "-q", "-c", "long", base)
    for turn in range(count):
        (root / pages[turn % len(pages)]).open("a", encoding="utf-8").write(f"\nRebased sentence {turn}.\n")
        git(root, *OFF, "commit", "-q", "-a", "-m", str(turn))
    times = []
    for hooks in (False, True):
        git(root, *OFF, "switch", "-q", "-C", f"work{hooks}", "long")
        subprocess.run(["memidx", "build", "--quiet"], cwd=root, check=True)
        times.append(timed(root, *(() if hooks else OFF), "rebase", "-q", "onto"))
        subprocess.run(
            ["memidx", "query", "sentence", *(["--require-fresh"] if hooks else [])],
            cwd=root,
            check=True,
            capture_output=True,
        )
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("vaults", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rebase", type=int, default=100)
    given = parser.parse_args()
    print("| vault | what | without, ms | with, ms | added, ms | ratio | processor time added, ms |")
    print("|---|---|---|---|---|---|---|")
    for vault in given.vaults:
        with tempfile.TemporaryDirectory() as folder:
            root = prepare(vault, Path(folder))
            checked = subprocess.run(["memidx", "check", "--json"], cwd=root, capture_output=True, check=False)
            bad = {d["path"] for d in json.loads(checked.stdout)["diagnostics"] if d["severity"] == "error"}
            pages = [name for name in git(root, "ls-files", "-z", "*.md").split("\0") if name and name not in bad]
            name = f"{vault.parent.name} ({len(pages)} pages)"
            for count in (0, 1, 100):
                what = f"commit of {count or 'no'} page{'s' * (count != 1)}"
                print(line(name, what, *commits(root, pages, count, given.runs)), flush=True)
            print(line(name, f"rebase of {given.rebase} commits", *rebase(root, pages, given.rebase)), flush=True)


def line(name: str, what: str, without: tuple[float, float], with_: tuple[float, float]) -> str:
    added, cpu = with_[0] - without[0], with_[1] - without[1]
    return f"| {name} | {what} | {without[0]:.0f} | {with_[0]:.0f} | {added:.0f} | {with_[0] / without[0]:.1f} | {cpu:.0f} |"


if __name__ == "__main__":
    main()
