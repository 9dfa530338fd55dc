"""The figures of docs/decay.md, measured again.

    python benchmarks/decay.py matrix          merges by real git: case, result
    python benchmarks/decay.py figures         1,000 queries, 400 idle days, 50 clones
    python benchmarks/decay.py spread VAULT    how retention spreads, cold pages, bulk commits
    python benchmarks/decay.py cost VAULT      folding 100,000 events, walking the history twice

A vault is cloned into a temporary folder and left as it is. "Now" is the time of its last commit.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from memidx.engines.history import open_cache, read_history
from memidx.ground.accesses import accesses
from memidx.ground.events import VERDICTS, Event, Page, judge
from memidx.ground.history import Trace, bulk_size
from memidx.ground.retention import retention
from memidx.ground.settings import DecaySettings
from memidx.ledger import list_decay
from memidx.opening import open_vault
from memidx.parsing.sidecar import event_line, parse_sidecar
from memidx.stores.access import AccessLog
from memidx.stores.git.history import commits

DEFAULT = DecaySettings()
PLAIN = {
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": os.devnull, "MEMIDX_VECTOR_MODEL": "none",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "init.defaultBranch", "GIT_CONFIG_VALUE_0": "main",
}  # fmt: skip


def matrix(folder: Path) -> None:
    from merging import CASES, Result

    print(
        "| case | merge=union | conflict | events lost | counted twice | merged again | other way round | after mending |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for number, name in enumerate(CASES):
        for union in (True, False):
            found = Result(folder / f"{number}-{union}", name, union=union)
            events = parse_sidecar(found.text).events
            twice = judged_twice(found, events)
            same = ["same" if ok else "DIFFERS" for ok in (found.state == found.again, found.state == found.back)]
            mended = "same" if found.kept_by_mending else "DIFFERS"
            marks = f"yes, {len(found.markers)} markers passed over" if found.markers else "no"
            print(
                f"| {name} | {'yes' if union else 'no'} | {marks} | {len(found.lost)} | {twice} | {' | '.join(same)} | {mended} |"
            )


def judged_twice(found, events) -> int:
    """Events that were counted more often than they were given."""
    counted = sum(s.helpful + s.unhelpful for s, _ in found.state.values() if s)
    return max(counted - len({e.id for e in events}), 0)


def figures(folder: Path) -> None:
    log = AccessLog(folder / "state")
    start = 1_700_000_000 // 86_400 * 86_400
    took = []
    for n in range(1000):
        began = time.perf_counter()
        log.count([("a.md", "X")], start + n * 0.05)
        took.append(time.perf_counter() - began)
    use = accesses(log.read(), [Page("a.md", "X")], start + 60)["a.md"]
    size = (folder / "state/access.jsonl").stat().st_size
    value = retention(1.0, 0.0, use.times, 0.0, DEFAULT)
    print(f"1,000 queries for one page within 50 s: {use.times} access, retention {value:.6f}, {size} bytes of log")
    print(
        f"counting one answer: median {sorted(took)[500] * 1e6:.0f} us, 99th percentile {sorted(took)[990] * 1e6:.0f} us"
    )
    for n in range(1000):
        log.count([("a.md", "X")], start + 3600 + n * 60)
    use = accesses(log.read(), [Page("a.md", "X")], start + 90_000)["a.md"]
    print(
        f"1,000 more, one a minute: {use.times} accesses; retention right after {retention(1.0, 0.7, use.times, 0.0, DEFAULT):.6f}"
    )
    idle = retention(1.0, 400.7, use.times, 400.0, DEFAULT)
    print(
        f"the same page after 400 idle days: {idle:.6f} (never accessed: {retention(1.0, 400.7, 0, None, DEFAULT):.6f})"
    )
    from test_decay_merge import fifty_clones

    began = time.perf_counter()
    first = fifty_clones(folder / "one", seed=1)
    second = fifty_clones(folder / "two", seed=2)
    salience = sorted(s.salience for s in first[2].values())
    print(
        f"50 clones x 20 events, merged by git in two random orders: {first[1]} lines, {first[0]} distinct events, "
        f"{'one state' if first == second else 'STATES DIFFER'}; salience of the 10 pages {salience} "
        f"({time.perf_counter() - began:.0f} s for 100 merges)"
    )


def cloned(vault: Path, folder: Path) -> Path:
    subprocess.run(["git", "clone", "-q", str(vault), str(folder / "vault")], check=True)
    return folder / "vault"


def spread(folder: Path, vault: Path) -> None:
    vault = cloned(vault, folder)
    now = float(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=vault, check=True, capture_output=True).stdout)
    opened = open_vault(vault, environ=os.environ)
    pages, notices = list_decay(opened, now)
    print(f"{len(pages)} pages; dated by {dict(Counter(p.dated_by or 'nobody' for p in pages))}", *notices)
    known = [p for p in pages if p.retention is not None]
    bins = Counter(min(int(p.retention * 10), 9) for p in known)
    for n in range(10):
        print(f"  {n / 10:.1f} to {(n + 1) / 10:.1f}  {bins[n]:5}  {'#' * round(60 * bins[n] / max(bins.values()))}")
    print(f"cold (below {DEFAULT.cold:g}): {sum(p.cold for p in pages)}; age not known: {len(pages) - len(known)}")
    bulk = bulk_size(len(pages), DEFAULT.bulk_share, DEFAULT.bulk_least)
    # What the last commit would say, bulk or not.
    head = opened.git.commit_of_head()
    last: dict[str, tuple] = {}
    sizes: dict[str, int] = {}
    for commit in commits(opened.git.runner, opened.git.where, head, None, opened.selector):
        real = [c for c in commit.changes if c.new and c.new != c.old]
        sizes[commit.id] = len(real)
        for change in real:
            last[change.path] = (commit.at, commit.id, len(real))
    big = {c: n for c, n in sizes.items() if n > bulk}
    by_bulk = [p for p in pages if last.get(p.path, (0, "", 0))[2] > bulk]
    print(
        f"commits that change more than {bulk:g} pages: {len(big)} of {len(sizes)} ({sorted(big.values(), reverse=True)[:8]} pages)"
    )
    print(f"pages whose last commit is one of these: {len(by_bulk)} of {len(pages)} ({len(by_bulk) / len(pages):.0%})")
    history = read_history(
        opened.git, open_cache(opened.git, opened.settings, opened.snapshots.home), head, opened.selector
    )
    dated = [p for p in pages if p.dated_by == "history"]
    wrong = [p for p in dated if touch_of(history.traces[p.path], p.changed_at, bulk) is None]
    print(f"pages dated by a bulk commit: {len(wrong)}; of these cold: {sum(p.cold for p in wrong)}")
    naive = 0
    for p in pages:
        at = last.get(p.path, (None,))[0] if p.dated_by != "page" else p.changed_at
        naive += at is not None and retention(p.salience, max(now - at, 0) / 86_400, 0, None, DEFAULT) < DEFAULT.cold
    print(f"if bulk commits counted, cold pages: {naive}")


def touch_of(trace: Trace, at: int, bulk: float):
    return next((t for t in trace.touches if t.at == at and t.size <= bulk), None)


def cost(folder: Path, vault: Path) -> None:
    chance = random.Random(1)
    pages = [Page(f"{n}.md", f"{n:040x}") for n in range(2000)]
    events = []
    for n in range(100_000):
        page = chance.choice(pages)
        events.append(Event(f"{n:032x}", chance.choice(VERDICTS), page.path, page.blob, n % 50, 1_700_000_000 + n))
    text = "".join(event_line(event) + "\n" for event in events)
    began = time.perf_counter()
    parsed = parse_sidecar(text).events
    read = time.perf_counter() - began
    began = time.perf_counter()
    judge(parsed, pages, DEFAULT)
    print(
        f"100,000 events, {len(text) / 1e6:.1f} MB: reading {read:.2f} s, folding {time.perf_counter() - began:.2f} s"
    )
    vault = cloned(vault, folder)
    opened = open_vault(vault, environ=os.environ)
    head = opened.git.commit_of_head()
    number = int(
        subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=vault, check=True, capture_output=True).stdout
    )
    for what in ("the first time", "the second time"):
        began = time.perf_counter()
        cache = open_cache(opened.git, opened.settings, opened.snapshots.home)
        history = read_history(opened.git, cache, head, opened.selector)
        print(
            f"history of {number} commits, {len(history.traces)} paths, {what}: {(time.perf_counter() - began) * 1e3:.1f} ms"
        )
    for name in ("new.md", "newer.md"):
        (vault / name).write_text("# New\n")
        subprocess.run(["git", "add", name], cwd=vault, check=True)
        subprocess.run(["git", "commit", "-q", "-m", name], cwd=vault, check=True)
    began = time.perf_counter()
    head = opened.git.commit_of_head()
    read_history(opened.git, open_cache(opened.git, opened.settings, opened.snapshots.home), head, opened.selector)
    print(f"after two more commits: {(time.perf_counter() - began) * 1e3:.1f} ms")


def main() -> None:
    os.environ.update(PLAIN)
    what, *rest = sys.argv[1:] or ["help"]
    act = {"matrix": matrix, "figures": figures, "spread": spread, "cost": cost}.get(what)
    if act is None:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        act(Path(folder), *(Path(path).resolve() for path in rest))


if __name__ == "__main__":
    main()
