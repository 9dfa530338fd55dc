"""memidx beside what else a person would search the pages with: one table, everything measured in one run.

    python benchmarks/alternatives.py VAULT… [--rounds 3] [--tools FOLDER] [--limit 600] [--only NAME…]

VAULT is a folder that holds a git repository (vaults.py makes one). It is only read: each tool has its own clone and its own
home. Each step of a round is done by all tools, one after the other, before the next step, so that a busy computer
slows all of them; medians are told. Whole processes, but for "warm". A cell says `wall / cpu (ratios)`: seconds waited,
seconds of processors (user + system, all threads), and both by those of the fastest tool, for a query by those of
`python -c pass` in the same run. basic-memory and qmd are installed into FOLDER, or skipped with the reason.

No-op: a build that finds nothing changed. New tree: a branch on which up to 500 pages differ. Known tree: back on the
branch before it. RSS: the greatest resident memory of the full build.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import plain
import tools as known
from tools import Tool, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

BUILDS = ("full build", "no-op", "one page", "new tree", "known tree")
QUERY = "cold query"
SWITCHED = 500
WARM_QUESTIONS = 50
GIT = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]


class Cost(NamedTuple):
    """One process: wall and processor seconds, greatest resident memory in MB."""

    wall: float
    cpu: float
    memory: float


class TooSlowError(Exception):
    pass


def run(command: Sequence[str], cwd: Path, env: dict[str, str], limit: float, stdin: str = "") -> tuple[Cost, str]:
    """A process and what it started, to the end. Exit code 1 is "nothing found" for all of them."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as source:
        source.write(stdin.encode())
        source.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=source, stdout=out, stderr=err)
        # wait4 tells what the process used, and takes no time limit: a timer ends one that takes too long.
        killer = threading.Timer(limit, process.kill)
        killer.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if wall >= limit:
            raise TooSlowError
        out.seek(0)
        err.seek(0)
        if process.returncode not in (0, 1):
            raise RuntimeError(
                f"{' '.join(command)}: exit {process.returncode}: {err.read().decode(errors='replace')[-500:]}"
            )
        unit = 1 / 1024 if sys.platform != "darwin" else 1 / 1024 / 1024
        return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit), out.read().decode(errors="replace")


class Contest:
    """All tools on one vault."""

    def __init__(self, vault: Path, place: Path, given: argparse.Namespace) -> None:
        self.source, self.place, self.given = vault, place, given
        self.vaults, self.homes = place / "vaults", place / "homes"
        self.skipped: dict[str, str] = {}
        self.costs: dict[tuple[str, str], list[Cost]] = defaultdict(list)
        self.warm: dict[str, list[float]] = defaultdict(list)
        self.bytes: dict[str, int] = {}
        self.too_slow: dict[str, str] = {}
        self.tools = known.every(
            self.vaults, self.homes, given.tools, self.skipped, seconds=given.install_seconds, only=given.only
        )
        for name in {t.twin or t.name for t in self.tools}:
            (self.homes / name).mkdir(parents=True)
            self.git(place, "clone", "-q", str(vault), str(self.vaults / name))
        first = self.vaults / (self.tools[0].twin or self.tools[0].name)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "*.md"], cwd=first, capture_output=True, text=True, check=True
        )
        self.pages = [
            p for p in listed.stdout.split("\0") if p and (first / p).is_file() and not (first / p).is_symlink()
        ]
        step = max(len(self.pages) // WARM_QUESTIONS, 1)
        titles = (title(first / page) for page in self.pages[::step])
        self.questions = [t for t in dict.fromkeys(titles) if t]

    def git(self, cwd: Path, *args: str) -> None:
        subprocess.run([*GIT, *args], cwd=cwd, check=True, stdout=subprocess.DEVNULL)

    def each(self, step: str) -> list[tuple[Tool, Path]]:
        """The tools that take part in a step, with their clones."""
        builds = step in BUILDS
        able = [t for t in self.tools if t.name not in self.too_slow and t.twin not in self.too_slow]
        return [(t, self.vaults / (t.twin or t.name)) for t in able if not builds or t.build]

    def do(self, step: str, tool: Tool, cwd: Path, command: Sequence[str], stdin: str = "") -> str:
        try:
            cost, out = run(command, cwd, environment(self.homes, tool.twin or tool.name), self.given.limit, stdin)
        except TooSlowError:
            self.too_slow[tool.name] = step
            return ""
        if step:
            self.costs[step, tool.name].append(cost)
        return out

    def build(self, step: str) -> None:
        for tool, cwd in self.each(step or BUILDS[0]):
            self.do(step, tool, cwd, tool.build)

    def full(self, step: str) -> None:
        for tool, cwd in self.each(BUILDS[0]):
            for folder in tool.state:
                shutil.rmtree(folder, ignore_errors=True)
            self.do(step, tool, cwd, tool.first or tool.build)
            self.bytes[tool.name] = size(tool.state)

    def change(self, pages: list[str], text: str) -> None:
        for _, cwd in self.clones():
            for page in pages:
                with (cwd / page).open("a", encoding="utf-8") as file:
                    file.write(f"\n\n{text}\n")

    def clones(self) -> list[tuple[Tool, Path]]:
        return [(t, self.vaults / t.name) for t in self.tools if not t.twin]

    def everywhere(self, *args: str) -> None:
        for _, cwd in self.clones():
            self.git(cwd, *args)

    def settle(self) -> None:
        """A file as young as git's index is read again by every git command, until a status a second later."""
        time.sleep(1.1)
        self.everywhere("status", "--porcelain")

    def round(self, number: int) -> None:
        base = "base"
        self.full("full build")
        self.build("no-op")
        self.change(self.pages[number : number + 1], f"One more paragraph, number {number}, about a change.")
        self.build("one page")
        self.everywhere("checkout", "-q", ".")
        self.settle()
        self.build("")
        for turn in range(3):
            question = self.questions[(3 * number + turn) % len(self.questions)]
            cost, _ = run([sys.executable, "-c", "pass"], self.place, environment(self.homes, ""), self.given.limit)
            self.costs[QUERY, "python -c pass"].append(cost)
            for tool, cwd in self.each(QUERY):
                self.do(QUERY, tool, cwd, tool.ask(question))
        step = max(len(self.pages) // SWITCHED, 1)
        self.everywhere("switch", "-q", "-c", f"round-{number}", base)
        self.change(self.pages[::step][:SWITCHED], f"What branch {number} says about it.")
        self.everywhere("commit", "-q", "-a", "-m", f"round {number}")
        self.settle()
        self.build("new tree")
        self.everywhere("switch", "-q", base)
        self.settle()
        self.build("known tree")
        for tool, cwd in self.each("warm"):
            if tool.warm and (out := self.do("warm", tool, cwd, tool.warm, "\n".join(self.questions))):
                self.warm[tool.name] += json.loads(out)[1:]  # the first one opens things

    def run(self) -> None:
        self.everywhere("switch", "-q", "-c", "base")
        self.settle()
        self.full("")  # once before, for the page cache and the byte code
        # A tool that writes into the pages has what it wrote committed, so that a checkout does not take it away.
        self.everywhere("commit", "-q", "-a", "--allow-empty", "-m", "what the tool added")
        for tool, cwd in self.each(QUERY):
            self.do("", tool, cwd, tool.ask(self.questions[0]))
        for number in range(self.given.rounds):
            self.round(number)

    # -- the table ------------------------------------------------------------------------------------------------

    def median(self, step: str, name: str) -> Cost | None:
        rows = self.costs.get((step, name))
        return Cost(*(statistics.median(column) for column in zip(*rows, strict=True))) if rows else None

    def cell(self, step: str, tool: Tool) -> str:
        mine = self.median(step, tool.name)
        if not mine:
            return f"over {self.given.limit:.0f} s" if self.too_slow.get(tool.name) == step else ""
        others = [c for t in self.tools if (c := self.median(step, t.name))]
        if step == QUERY:
            others = [c for c in [self.median(step, "python -c pass")] if c]
        wall, cpu = min(c.wall for c in others), min(c.cpu for c in others)
        ratios = f"{mine.wall / wall:.1f} / {mine.cpu / max(cpu, 1e-3):.1f}"
        return f"{mine.wall:.2f} / {mine.cpu:.2f} ({ratios})"

    def rows(self) -> list[str]:
        lines = []
        for tool in self.tools:
            warm = f"{statistics.median(self.warm[tool.name]):.1f}" if self.warm[tool.name] else ""
            full = self.median("full build", tool.name)
            memory = f"{full.memory:.0f}" if full else ""
            stored = f"{self.bytes[tool.name] / 1e6:.1f}" if tool.name in self.bytes else ""
            cells = [self.cell(step, tool) for step in (*BUILDS, QUERY)]
            vault = f"{self.source.name} ({len(self.pages)})"
            lines.append(f"| {' | '.join((vault, tool.name, *cells, warm, memory, stored))} |")
        return lines


def title(page: Path) -> str:
    """The first heading, as somebody may type it."""
    for line in page.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("# "):
            return " ".join(plain.WORD.findall(line))
    return ""


def size(folders: tuple[Path, ...]) -> int:
    """Bytes in files, one with several names counted once."""
    found = {
        (s.st_dev, s.st_ino): s.st_size
        for folder in folders
        for f in folder.rglob("*")
        if f.is_file()
        for s in [f.stat()]
    }
    return sum(found.values())


HEAD = ("vault (pages)", "tool", *(f"{step}, s" for step in (*BUILDS, QUERY)), "warm, ms", "RSS, MB", "disk, MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("vaults", nargs="+", type=Path, metavar="VAULT")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, help="seconds after which a tool is given up")
    parser.add_argument("--tools", type=Path, default=Path(tempfile.gettempdir(), "memidx-alternatives"))
    parser.add_argument("--install-seconds", type=float, default=120)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="only these tools")
    given = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n")
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    notes: dict[str, str] = {}
    for vault in given.vaults:
        with tempfile.TemporaryDirectory(prefix="alternatives-") as folder:
            contest = Contest(vault.resolve(), Path(folder).resolve(), given)
            contest.run()
            print("\n".join(contest.rows()), flush=True)
            notes |= contest.skipped
    for name, reason in notes.items():
        print(f"\nskipped: {name}: {reason}")
    print(f"\nload after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
