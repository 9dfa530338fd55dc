"""What native code writes (SQLite, Tantivy, hnswlib), seen with strace: killed at its system calls, and refused room.

Python's audit events do not see these. strace counts calls by thread and by kind, so that the n-th call of a kind of
whichever thread comes to it first is the one; how many different ones were hit is printed. One call of each kind is
also answered with "no space left on device", from then on: a full disk in the middle of what a library writes.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from clirun import CHECKOUT, memidx

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed"),
]
WRITES = ("write", "pwrite64", "writev", "ftruncate", "rename", "unlink", "fdatasync", "fsync", "mkdir", "link")
ROOMY = ("write", "pwrite64", "writev", "mkdir", "link", "openat")  # what a full disk refuses
EVERY = 9  # each so many-th call of the frequent kinds


def traced(repo, log: Path, *inject: str):
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "MEMIDX_VECTOR_MODEL": "wordllama", "RUST_BACKTRACE": "0"}
    watch = ("-e", f"trace={','.join((*WRITES, 'openat'))}", "-y", "-s", "0", "-o", str(log))
    rules = [part for rule in inject for part in ("-e", f"inject={rule}")]
    run = ["strace", "-f", "-qq", *watch, *rules, sys.executable, "-m", "memidx", "build", "--quiet"]
    return subprocess.run(run, cwd=repo.root, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def vault(repo, tmp_path):
    body = "".join(f"## Part {n}\n\nlighthouse topic {n} harbour\n\n" for n in range(30))
    repo.write({f"p{n}.md": f"# Page {n}\n\n{body.replace('topic', f'topic {n}')}" for n in range(8)})
    repo.commit()
    assert memidx("build", cwd=repo.root, model=True).code == 0
    repo.write({"p3.md": "# Three\n\nzyzzyva\n" + body})
    probe = traced(repo, tmp_path / "probe")
    if "ptrace" in probe.stderr or "Operation not permitted" in probe.stderr:
        pytest.skip("no process may be traced here")
    assert probe.returncode == 0, probe.stderr
    return repo


def calls(log: Path) -> Counter[str]:
    """The calls by kind, as strace numbers them: the most of any one thread."""
    by_thread: Counter[tuple[str, str]] = Counter()
    for line in log.read_text(errors="replace").splitlines():
        if match := re.match(r"(\d+) +(\w+)\(", line):
            by_thread[match[1], match[2]] += 1
    most: Counter[str] = Counter()
    for (_, kind), count in by_thread.items():
        most[kind] = max(most[kind], count)
    return most


def answers(repo):
    found = []
    for question in ("lighthouse harbour", "zyzzyva"):
        done = memidx("query", "--json", "--no-track", *question.split(), cwd=repo.root, model=True)
        found.append((done.code, done.json["snapshot"], done.json["hits"]))
    return found


def test_b4_killed_at_the_system_calls_of_libraries(vault, tmp_path):
    home, kept, log = vault.git_dir / "memidx", tmp_path / "kept", tmp_path / "log"
    memidx("gc", "--keep", "0", cwd=vault.root, model=True)
    (newest,) = (home / "snapshots").iterdir()
    shutil.rmtree(newest)
    vault.write({"p3.md": "# Three\n\nold\n"})
    memidx("build", cwd=vault.root, model=True)
    (old,) = [p.name for p in (home / "snapshots").iterdir()]
    vault.write(
        {
            "p3.md": "# Three\n\nzyzzyva\n"
            + "".join(f"## Part {n}\n\nlighthouse topic {n} harbour\n\n" for n in range(30))
        }
    )
    shutil.copytree(home, kept)
    assert traced(vault, log).returncode == 0
    numbers, right = calls(log), answers(vault)
    hit: Counter[str] = Counter()
    seen: set[str] = set()
    for kind in WRITES:
        for number in range(1, numbers[kind] + 1, EVERY if numbers[kind] > 20 else 1):
            shutil.rmtree(home)
            shutil.copytree(kept, home)
            done = traced(vault, log, f"{kind}:signal=KILL:when={number}")
            if done.returncode != -signal.SIGKILL and done.returncode != 128 + signal.SIGKILL:
                continue  # this run made fewer such calls
            last = [line for line in log.read_text(errors="replace").splitlines() if f" {kind}(" in line][-1]
            seen.add(re.sub(r"\d+ +|[0-9a-f]{32}|tmp\w+|\d+<", "", last))
            hit[kind] += 1
            assert (home / "snapshots" / old).is_dir()
            (found, done_code) = answers(vault), memidx("doctor", cwd=vault.root, model=True).code
            assert found == right, (kind, number, last)
            assert done_code == 0
    sys.stdout.write(f"\n{hit.total()} kills, {len(seen)} different calls: {dict(hit)}\n")
    assert hit.total() > 20


def test_a_full_disk_in_the_middle_of_what_a_library_writes(vault, tmp_path):
    home, kept, log = vault.git_dir / "memidx", tmp_path / "kept", tmp_path / "log"
    right = answers(vault)
    vault.write({"new.md": "# Five\n\nnew harbour\n"})
    shutil.copytree(home, kept)
    assert traced(vault, log).returncode == 0
    numbers = calls(log)
    tried: Counter[str] = Counter()
    for kind in ROOMY[:3]:
        for number in range(1, numbers[kind] + 1, max(1, numbers[kind] // 12)):
            shutil.rmtree(home)
            shutil.copytree(kept, home)
            done = traced(vault, log, f"{kind}:error=ENOSPC:when={number}+")
            tried[kind] += 1
            assert done.returncode in (0, 2), (kind, number, done.stderr[-1500:])
            assert "Traceback" not in done.stderr
            for folder in (home / "staging").iterdir() if (home / "staging").is_dir() else ():
                pytest.fail(f"{folder} was left")
            assert memidx("doctor", cwd=vault.root, model=True).code == 0, (kind, number)
    vault.remove("new.md")
    assert answers(vault) == right
    sys.stdout.write(f"\n{tried.total()} times no room: {dict(tried)}\n")
