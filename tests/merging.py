"""Branches of one vault that both have something to say, merged by real git. Shared with benchmarks/decay_matrix.py."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from repo import Repo, run_git

from memidx.ground.accesses import accesses
from memidx.ground.events import Page, judge
from memidx.ground.settings import DecaySettings
from memidx.parsing.sidecar import mend, parse_sidecar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SIDECAR = ".memidx/decay.jsonl"
UNION = ".memidx/decay.jsonl merge=union\n"
NOW = 1_764_500_000.0
PAGES = {"a.md": "# Alpha\n\nfirst\n", "b.md": "# Beta\n\nsecond\n", "c.md": "# Gamma\n\nthird\n"}
_numbers = itertools.count(1)


def event(
    repo: Repo, page: str, kind: str, *, seq: int | None = None, at: str = "2025-11-01T00:00:00Z", **more: object
) -> str:
    """One line for the sidecar, about the page as it is on disk, after all that this branch has seen."""
    text = sidecar(repo)
    blob = repo.git("hash-object", page)
    seen = max((e.seq for e in parse_sidecar(text).events if e.blob == blob), default=0)
    number = next(_numbers)
    plain = {"id": f"{number:032x}", "at": at, "kind": kind, "path": page, "blob": blob, "seq": seq or seen + 1, **more}
    return json.dumps(plain)


def sidecar(repo: Repo) -> str:
    path = repo.root / SIDECAR
    return path.read_text(encoding="utf-8") if path.exists() else ""


def say(repo: Repo, *lines: str) -> list[str]:
    repo.write({SIDECAR: sidecar(repo) + "".join(line + "\n" for line in lines)})
    return list(lines)


def vault(path: Path, *, union: bool) -> Repo:
    repo = Repo.create(path)
    repo.write(PAGES | ({".gitattributes": UNION} if union else {}))
    say(repo, event(repo, "a.md", "helpful"))
    repo.commit("pages")
    return repo


def state(repo: Repo, text: str | None = None) -> dict[str, object]:
    """What the sidecar comes to for the pages that are there."""
    found = parse_sidecar(sidecar(repo) if text is None else text)
    rows = repo.git("ls-files", "-s", "-z").split("\0")
    pages = {row.split("\t")[1]: row.split(" ")[1] for row in rows if row.endswith(".md")}
    pages = [Page(path, blob) for path, blob in pages.items()]
    judged = judge(found.events, pages, DecaySettings())
    used = accesses(found.accessed, pages, NOW)
    return {p.path: (judged.get(p.path), used.get(p.path)) for p in pages}


def merge(repo: Repo, branch: str) -> bool:
    """Merge; whether git called it a conflict. A conflict in the sidecar alone is committed with its markers."""
    done = run_git(repo.root, "merge", "-q", "--no-edit", branch, check=False)
    if done.returncode:
        repo.commit("merged with markers")
    return done.returncode != 0


# -- the cases: what each side does -----------------------------------------------------------------------------------


def same_page(repo: Repo, side: str) -> list[str]:
    return say(repo, event(repo, "a.md", "helpful" if side == "ours" else "not_helpful", by=side))


def other_pages(repo: Repo, side: str) -> list[str]:
    return say(repo, event(repo, "b.md" if side == "ours" else "c.md", "stale", by=side))


def deleted(repo: Repo, side: str) -> list[str]:
    if side == "ours":
        repo.git("rm", "-q", "a.md")
        return []
    return say(repo, event(repo, "a.md", "helpful"), event(repo, "b.md", "helpful"))


def renamed(repo: Repo, side: str) -> list[str]:
    if side == "ours":
        repo.git("mv", "a.md", "moved.md")
        return say(repo, event(repo, "moved.md", "helpful"))
    return say(repo, event(repo, "a.md", "helpful"))


def rewritten(repo: Repo, side: str) -> list[str]:
    if side == "ours":
        repo.write({"a.md": "# Alpha\n\nmended\n"})
        return say(repo, event(repo, "a.md", "helpful"))
    return say(repo, event(repo, "a.md", "wrong"))


def newer_kind(repo: Repo, side: str) -> list[str]:
    if side == "ours":
        return say(repo, '{"id": "n1", "kind": "applauded", "path": "a.md", "claps": [1, {"x": null}]}')
    return say(repo, event(repo, "a.md", "helpful"))


def newer_field(repo: Repo, side: str) -> list[str]:
    return say(repo, event(repo, "a.md", "helpful", mood={"side": side, "n": [1, 2]}))


def shared_counts(repo: Repo, side: str) -> list[str]:
    days = {"2025-11-01": 3, "2025-11-02": 2 if side == "ours" else 5}
    plain = {
        "id": f"x-{side}", "kind": "access", "path": "a.md", "blob": repo.git("hash-object", "a.md"),
        "clone": "one-clone", "days": days, "last": "2025-11-02T10:00:00Z",
    }  # fmt: skip
    other = {**plain, "id": f"y-{side}", "clone": f"clone-{side}"}
    return say(repo, json.dumps(plain), json.dumps(other))


def many_events(repo: Repo, side: str) -> list[str]:
    kinds = ("helpful", "not_helpful", "helpful", "stale", "helpful")
    return [line for n in range(20) for line in say(repo, event(repo, f"{'abc'[n % 3]}.md", kinds[n % 5], by=side))]


def no_line_end(repo: Repo, side: str) -> list[str]:
    lines = say(repo, event(repo, "b.md", "helpful", by=side))
    path = repo.root / SIDECAR
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    return lines


CASES: dict[str, Callable[[Repo, str], list[str]]] = {
    "the same page": same_page,
    "different pages": other_pages,
    "one side deletes the page": deleted,
    "one side moves the page": renamed,
    "one side rewrites the page": rewritten,
    "a kind of a newer version": newer_kind,
    "a field of a newer version": newer_field,
    "shared access counts": shared_counts,
    "20 events on each side": many_events,
    "last lines without an end": no_line_end,
}


class Result:
    """What became of one merge."""

    def __init__(self, path: Path, name: str, *, union: bool) -> None:
        act = CASES[name]
        repo = self.repo = vault(path, union=union)
        start = sidecar(repo).splitlines()
        repo.git("branch", "theirs")
        ours = act(repo, "ours")
        repo.commit("ours")
        repo.git("checkout", "-q", "theirs")
        theirs = act(repo, "theirs")
        repo.commit("theirs")
        repo.git("checkout", "-q", "main")
        self.conflict = merge(repo, "theirs")
        self.text = sidecar(repo)
        self.wanted = [*start, *ours, *theirs]
        self.state = state(repo)
        self.markers = parse_sidecar(self.text).markers
        # The other way round, from the same two commits.
        repo.git("branch", "forward")
        repo.git("checkout", "-q", "theirs")
        merge(repo, "main~1" if not self.conflict else "main^1")
        self.back = state(repo)
        repo.git("checkout", "-q", "main")
        merge(repo, "theirs")
        self.again = state(repo)

    @property
    def lost(self) -> list[str]:
        return [line for line in self.wanted if line not in self.text]

    @property
    def kept_by_mending(self) -> bool:
        mended = mend(self.text)
        return (
            state(self.repo, mended) == self.again
            and not parse_sidecar(mended).markers
            and all(line in mended for line in self.wanted)
        )
