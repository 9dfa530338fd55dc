"""What building and asking cost, one table row a vault, beside the yardstick of bare.py in the same run.

    python benchmarks/foundation.py [--rounds 3] [--profile] VAULT...

VAULT is a folder that holds a git repository of pages. Everything happens in a clone of it in a temp folder. Builds are whole
processes (`python -m memidx build`), full builds without a cache and alternating with bare.py; each number is the
median of the rounds. Wall seconds say what a person waits for; processor seconds (user + system, all threads) stay
comparable when the machine is busy, so both are given.
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
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MEMIDX = [sys.executable, "-m", "memidx"]
QUESTION = "how do we roll back a release"


class Run(NamedTuple):
    """One process: wall seconds, processor seconds, greatest resident memory in MB, its output."""

    wall: float
    cpu: float
    memory: float
    out: str


def environment() -> dict[str, str]:
    """No settings from outside, and byte code is cached as it is in an installed package."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMIDX_") and k != "PYTHONDONTWRITEBYTECODE"}
    return {**env, "PYTHONPATH": str(HERE.parent)}


def run(command: list[str], cwd: Path, allowed: tuple[int, ...] = (0,)) -> Run:
    """Run a process and its children to the end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, env=environment(), stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode not in allowed:
            sys.exit(f"{' '.join(command)}: exit {process.returncode}\n{err.read().decode(errors='replace')}")
        unit = 1024 if sys.platform != "darwin" else 1024 * 1024
        text = out.read().decode()
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit, text)


def median(runs: list[Run]) -> Run:
    """Each number's own median; the output of the last run."""
    numbers = [statistics.median(column) for column in zip(*(r[:3] for r in runs), strict=True)]
    return Run(*numbers, runs[-1].out)


def copy_of(vault: Path, place: Path) -> Path:
    """A copy without derived state. The original is only read."""
    copy = place / "vault"
    shutil.copytree(
        vault,
        copy,
        symlinks=True,
        ignore=lambda folder, names: {"memidx"} & set(names) if Path(folder).name == ".git" else set(),
    )
    # The copied files are as young as the copied index, which makes git hash them again on every listing.
    subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=copy, check=False, stdout=subprocess.DEVNULL)
    time.sleep(1.1)
    subprocess.run(["git", "status", "--porcelain"], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    return copy


def drop_derived(copy: Path) -> None:
    shutil.rmtree(copy / ".git" / "memidx", ignore_errors=True)


def touch(copy: Path, number: int) -> None:
    """Change one page, as an editor would."""
    page = sorted(p for p in copy.rglob("*.md") if ".git" not in p.parts and p.is_file())[number]
    with page.open("a", encoding="utf-8") as file:
        file.write(f"\n\nOne more paragraph, number {number}, about a change.\n")


def full_builds(copy: Path, rounds: int, *options: str) -> tuple[list[Run], list[Run]]:
    """Full builds of `copy`, and bare.py's beside them."""
    full, bare = [], []
    with tempfile.TemporaryDirectory(prefix="bare-") as folder:
        for number in range(rounds):
            drop_derived(copy)
            full.append(run([*MEMIDX, "build", *options], copy))
            bare.append(run([sys.executable, str(HERE / "bare.py"), str(copy), str(Path(folder, str(number)))], copy))
            shutil.rmtree(Path(folder, str(number)))
    return full, bare


def measure(vault: Path, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="foundation-") as folder:
        copy = copy_of(vault, Path(folder))
        run([*MEMIDX, "build", "--quiet"], copy)  # once, for the page cache and the byte code
        full, bare = full_builds(copy, rounds, "--json")
        changed = []
        same = [run([*MEMIDX, "build", "--json"], copy) for _ in range(rounds)]
        cold = [run([*MEMIDX, "query", "--json", QUESTION], copy, (0, 1)) for _ in range(rounds)]
        before = json.loads(run([*MEMIDX, "status", "--json"], copy).out)
        for number in range(rounds):
            touch(copy, number)
            changed.append(run([*MEMIDX, "build", "--json"], copy))
        modes = {json.loads(r.out)["mode"] for r in changed}
        return {
            "name": vault.parent.name if vault.name == "vault" else vault.name,
            "pages": before["counts"]["pages"],
            "sections": before["counts"]["sections"],
            "vectors": before["counts"]["vectors"],
            "diagnostics": before["counts"]["diagnostics"],
            "full": median(full),
            "bare": median(bare),
            "same": median(same),
            "changed": median(changed),
            "modes": "/".join(sorted(modes)),
            "cold": median(cold),
            "bytes": before["bytes"],
            "all_bytes": before["all_bytes"],
        }


HEAD = (
    "vault | pages | sections | vectors | findings | full wall / cpu s | bare wall / cpu s | ratio wall / cpu "
    "| no-op wall / cpu s | one page wall / cpu s | query wall / cpu s | memory MB | snapshot MB | all MB"
)


def row(found: dict[str, object]) -> str:
    def both(name: str) -> str:
        return f"{found[name].wall:.2f} / {found[name].cpu:.2f}"

    full, bare = found["full"], found["bare"]
    return " | ".join(
        (
            str(found["name"]), str(found["pages"]), str(found["sections"]), str(found["vectors"]),
            str(found["diagnostics"]), both("full"), both("bare"),
            f"{full.wall / bare.wall:.2f} / {full.cpu / bare.cpu:.2f}", both("same"),
            f"{both('changed')} ({found['modes']})", both("cold"), f"{full.memory:.0f}",
            f"{found['bytes'] / 1e6:.1f}", f"{found['all_bytes'] / 1e6:.1f}",
        )
    )  # fmt: skip


PROFILE = """
import cProfile, pstats, sys
from memidx.__main__ import main
profile = cProfile.Profile()
profile.runcall(main, sys.argv[1:])
pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(15)
"""


def explain(vault: Path) -> None:
    """Where a full build and a cold query spend their time."""
    with tempfile.TemporaryDirectory(prefix="foundation-") as folder:
        copy = copy_of(vault, Path(folder))
        print(f"\n{vault}: full build, by own time in the main thread", flush=True)
        subprocess.run([sys.executable, "-c", PROFILE, "build", "--quiet"], cwd=copy, env=environment(), check=True)
        print(f"\n{vault}: cold query, imports of at least 2 ms (own / with theirs)")
        command = [sys.executable, "-X", "importtime", "-m", "memidx", "query", "-n", "3", QUESTION]
        done = subprocess.run(command, cwd=copy, env=environment(), capture_output=True, text=True, check=False)
        for line in done.stderr.splitlines():
            own, _, rest = line.removeprefix("import time:").partition("|")
            whole = rest.partition("|")[0].strip()
            if line.startswith("import time:") and whole.isdigit() and int(whole) >= 2000:
                print(f"{int(own) / 1000:8.1f} {int(whole) / 1000:8.1f} ms  {rest.partition('|')[2].rstrip()}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("vaults", nargs="+", type=Path, metavar="VAULT")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--profile", action="store_true", help="also say where the time goes")
    given = arguments.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(HEAD)
    for vault in given.vaults:
        print(row(measure(vault.resolve(), given.rounds)), flush=True)
    print(f"load after: {os.getloadavg()[0]:.1f}")
    if given.profile:
        for vault in given.vaults:
            explain(vault.resolve())


if __name__ == "__main__":
    main()
