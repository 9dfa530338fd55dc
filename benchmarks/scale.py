"""What depends on the size of a vault, and what does not: one table column a vault.

    python benchmarks/scale.py VAULT… [--runs 3] [--full 1]

VAULT is a folder that holds a git repository of pages, e.g. made by vaults.py; everything happens in a clone of it.
Whole processes: full builds without a cache beside bare.py, turn by turn, then what everyday commands cost once the
index is there, and a switch to a branch with 500 changed pages and back. Wall / processor seconds (user + system, with
git's), medians; the greatest resident memory of the full build.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from foundation import MEMIDX, QUESTION, Run, full_builds, median, run, touch

CHANGED = 500
GIT = ["git", "-c", "user.name=n", "-c", "user.email=n@x", "-c", "gc.auto=0"]


def branch(clone: Path) -> None:
    """A branch with 500 changed pages (a quarter of them, where there are few), and back to where it began."""
    run([*GIT, "switch", "-q", "-c", "there"], clone)
    pages = sorted(p for p in clone.rglob("*.md") if ".git" not in p.parts)
    count = min(CHANGED, len(pages) // 5)
    for page in pages[:: len(pages) // count][:count]:
        with page.open("a", encoding="utf-8") as file:
            file.write(f"\n\n## There\n\nA paragraph about {page.stem.replace('-', ' ')} on another branch.\n")
    run([*GIT, "commit", "-q", "-a", "-m", "there"], clone)
    run([*GIT, "switch", "-q", "-"], clone)


def measure(vault: Path, runs: int, full: int) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="scale-") as folder:
        clone = Path(folder, "clone")
        subprocess.run(["git", "clone", "-q", str(vault), str(clone)], check=True)
        branch(clone)
        whole, bare = full_builds(clone, full, "--quiet")
        found = {
            "full build": shown(built := median(whole)),
            "bare.py": shown(least := median(bare)),
            "ratio": f"{built.wall / least.wall:.2f} / {built.cpu / least.cpu:.2f}",
            "memory, MB": f"{built.memory:.0f}, bare {least.memory:.0f}",
        }

        def often(name: str, command: list[str], allowed: tuple[int, ...] = (0,)) -> None:
            found[name] = shown(median([run(command, clone, allowed) for _ in range(runs + 1)][1:]))

        often("git status", ["git", "--no-optional-locks", "status", "--porcelain"])
        often("build, nothing to do", [*MEMIDX, "build", "--quiet"])
        often("status", [*MEMIDX, "status"])
        often("query", [*MEMIDX, "query", QUESTION], (0, 1))
        often("query --only lexical", [*MEMIDX, "query", "--only", "lexical", QUESTION], (0, 1))
        changed = []
        for number in range(runs):
            touch(clone, number)
            changed.append(run([*MEMIDX, "build", "--quiet"], clone))
        found["build, one page changed"] = shown(median(changed))
        run([*GIT, "checkout", "-q", "."], clone)
        run([*MEMIDX, "build", "--quiet"], clone)
        run([*GIT, "switch", "-q", "there"], clone)
        found["build, new tree of 500 changed pages"] = shown(run([*MEMIDX, "build", "--quiet"], clone))
        run([*GIT, "switch", "-q", "-"], clone)
        found["build, back to the known tree"] = shown(run([*MEMIDX, "build", "--quiet"], clone))
        return found


def shown(one: Run) -> str:
    return f"{one.wall:.2f} / {one.cpu:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("vaults", nargs="+", type=Path, metavar="VAULT")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--full", type=int, default=1, help="full builds of each")
    given = parser.parse_args()
    columns = {}
    for vault in given.vaults:
        columns[vault.name] = measure(vault.resolve(), given.runs, given.full)
        print(f"{vault.name}: load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    print("| wall / processor s | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name in next(iter(columns.values())):
        print(f"| {name} | " + " | ".join(column[name] for column in columns.values()) + " |")


if __name__ == "__main__":
    main()
