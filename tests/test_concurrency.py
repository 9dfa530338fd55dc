"""Eight processes at one vault while commits go on: no error, no lost event, and no reader waits for a lock."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
from clirun import CHECKOUT, WORDS_ONLY, memidx

from memidx.parsing.sidecar import parse_sidecar

BUILD = ("build", "--quiet")
STALE = ("query", "--no-refresh", "lighthouse")
FRESH = ("query", "lighthouse", "harbour")
SAY = ("feedback", "p{n}.md", "helpful")
MOST_WAIT = 0.1  # seconds


def start(repo, seconds, command, *, trace=None):
    env = {**os.environ, **WORDS_ONLY, "PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'tests'}"}
    call = [sys.executable, str(CHECKOUT / "tests" / "concurrency.py"), str(repo.root), str(seconds), *command]
    if trace is not None:
        call = ["strace", "-f", "-q", "-T", "-e", "trace=flock", "-o", str(trace), *call]
    return subprocess.Popen(call, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def together(repo, seconds, out):
    commands = [BUILD, BUILD, STALE, FRESH, SAY, SAY, ("gc", "--keep", "1"), ("export", str(out))]
    running = [start(repo, seconds, command) for command in commands]
    end, commits = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        repo.write({f"p{commits % 5}.md": f"# Page {commits % 5}\n\nlighthouse harbour {commits}\n"})
        repo.git("add", "--", "*.md")
        repo.commit(add=False)
        commits += 1
        time.sleep(0.1)
    reports = []
    for command, process in zip(commands, running, strict=True):
        said, err = process.communicate(timeout=120)
        assert process.returncode == 0, err[-2000:]
        reports.append((command, json.loads(said)))
        assert reports[-1][1]["bad"] == [], reports[-1]
    return reports, commits


def check(repo, seconds, out):
    repo.write({f"p{n}.md": f"# Page {n}\n\nlighthouse harbour\n" for n in range(40)})
    repo.commit()
    assert memidx("build", cwd=repo.root).code == 0
    reports, commits = together(repo, seconds, out)
    sys.stdout.write(
        f"\n{commits} commits; "
        + "; ".join(
            f"{c[0]} {r['runs']} runs, {r['waits']} locks, longest wait {1000 * r['longest']:.0f} ms"
            for c, r in reports
        )
    )
    said = sum(report["runs"] for command, report in reports if command is SAY)
    events = parse_sidecar((repo.root / ".memidx/decay.jsonl").read_text()).events
    assert len({event.id for event in events}) == len(events) == said > 0
    stale = next(report for command, report in reports if command is STALE)
    assert stale["runs"] > 0 and stale["longest"] <= MOST_WAIT
    assert memidx("build", cwd=repo.root).code == 0
    assert memidx("doctor", cwd=repo.root).code == 0
    assert len(memidx("query", "--json", "-n", "100", "lighthouse", cwd=repo.root).json["hits"]) == 40
    assert list((repo.git_dir / "memidx" / "staging").iterdir()) == []
    assert memidx("query", "--index", str(out), "lighthouse").code == 0


def test_b5_eight_processes_for_some_seconds(repo, tmp_path):
    check(repo, 3, tmp_path / "out")


@pytest.mark.slow
def test_b5_eight_processes_for_a_minute(repo, tmp_path):
    check(repo, 60, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
def test_readers_of_one_snapshot_do_not_wait_for_the_library_s_own_lock(repo, tmp_path):
    """Tantivy locks a file of the snapshot while it opens its segments, also to read."""
    repo.write({f"p{n}.md": f"# Page {n}\n\nlighthouse harbour\n" for n in range(300)})
    memidx("build", cwd=repo.root)
    traces = [tmp_path / f"trace{n}" for n in range(3)]
    running = [start(repo, 5, STALE, trace=trace) for trace in traces]
    for process in running:
        _, err = process.communicate(timeout=60)
        if "ptrace" in err or "Operation not permitted" in err:
            pytest.skip("no process may be traced here")
        assert process.returncode == 0, err
    held = [line for trace in traces for line in trace.read_text().splitlines() if "LOCK_EX" in line and "= 0" in line]
    took = sorted(float(line.rsplit("<", 1)[1].rstrip(">")) for line in held)
    sys.stdout.write(
        f"\n{len(took)} native locks, median {1e3 * took[len(took) // 2]:.2f} ms, longest {1e3 * took[-1]:.1f} ms"
    )
    assert took[-1] <= MOST_WAIT
