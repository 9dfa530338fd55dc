"""Killed before each step that changes the file system, and with each write cut in half: then run again, and as good as new.

The steps are found by tracing (tests/crashing.py), not listed by hand. `pytest -m '' tests/test_crash_points.py -s`
prints how many there were, by kind; the default run takes a sample of each command's.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from clirun import CHECKOUT, memidx
from conftest import GIT_CONFIG
from repo import Repo

from memidx.parsing.sidecar import parse_sidecar

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or sys.platform != "linux", reason="forks, and reads /proc")

if TYPE_CHECKING:
    from collections.abc import Iterator

SIDECAR = ".memidx/decay.jsonl"
QUESTIONS = ("deploy rollback", "how is zyzzyva brought back")
HOUR = 3600
# What may be left beside what a clean run leaves: locks are held by processes, not by files, and what a crash cut off a
# line is kept.
LOCKS = {"lock", "decay.lock", "access.lock", "decay-cut.jsonl"}


class Case(NamedTuple):
    """A command, the state it starts from, whether a second run does the work twice, and whether it finds it done."""

    name: str
    command: tuple[str, ...]
    state: str = "built"
    repeats: bool = False
    once: bool = False


CASES = [
    Case("full build", ("build",), "new"),
    Case("update", ("build",), "changed"),
    Case("build --full over a snapshot", ("build", "--full")),
    Case("query that builds and compacts the access log", ("query", "deploy"), "changed+log", repeats=True),
    Case("feedback", ("feedback", "notes/p1.md", "notes/p2.md", "stale"), "built", repeats=True),
    Case("first feedback", ("feedback", "notes/p1.md", "helpful"), "no sidecar", repeats=True),
    Case("share", ("decay", "share")),
    Case("sweep", ("sweep", "--apply", "--yes-many"), once=True),
    Case("sweep into an archive", ("sweep", "--apply", "--yes-many", "--archive", "old"), once=True),
    Case("hooks install", ("hooks", "install")),
    Case("hooks uninstall", ("hooks", "uninstall"), "hooked"),
    Case("check --fix", ("check", "--fix"), "conflict", once=True),
    Case("init", ("init",), "bare", once=True),
    Case("new", ("new", "note", "Kept apart", "--no-edit"), once=True),
    Case("export", ("export", "../out")),
    Case("export over an export", ("export", "../out"), "exported"),
    Case("gc", ("gc", "--keep", "0"), "changed and built"),
]


class Lab:
    """One forking process, and the states it starts from."""

    def __init__(self, place: Path, model: str) -> None:
        self.place = place
        self.env = {"MEMIDX_VECTOR_MODEL": model, "MEMIDX_VECTOR_GRAPH": "always"}
        self.root = place / "work"
        self.repo = self.root / "repo"
        env = {**os.environ, "PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'tests'}", "TOKENIZERS_PARALLELISM": "false"}
        self.server = subprocess.Popen(
            [sys.executable, str(CHECKOUT / "tests" / "crashing.py")],
            env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.states = place / "states"
        self._make_states()

    def ask(self, *commands: tuple[str, ...], **how: Any) -> Any:
        request = {
            "cwd": str(self.repo),
            "root": str(self.root),
            "commands": commands,
            "said": str(self.place / "said"),
        }
        self.server.stdin.write(json.dumps(request | {"env": self.env} | how) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait(timeout=30)
        self.server.stdout.close()

    def restore(self, state: str) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.states / state, self.root, symlinks=True)

    def _keep(self, state: str) -> None:
        shutil.copytree(self.root, self.states / state, symlinks=True)

    def _make_states(self) -> None:
        repo = Repo.create(self.repo)
        body = "".join(f"## Part {n}\n\nabout topic {n}: deploy, rollback, step {n * 7}\n\n" for n in range(30))
        repo.write({f"notes/p{n}.md": f"# Page {n}\n\n{body.replace('topic', f'topic {n}')}" for n in range(8)})
        repo.write({"gone.md": "---\nexpires_at: 2020-01-01\n---\n# Gone\n\nlong past\n", "_rules/r.md": "# Rule\n"})
        repo.commit()
        self._keep("bare")
        self._run("init")
        self._keep("no sidecar")
        self._run("feedback", "notes/p3.md", "helpful")
        repo.commit()
        shutil.rmtree(repo.git_dir / "memidx", ignore_errors=True)
        (repo.git_dir / "hooks" / "pre-commit").write_text("#!/bin/sh\nexit 0\n")
        (repo.git_dir / "hooks" / "pre-commit").chmod(0o755)
        self._keep("new")
        self._run("build")
        self._run("query", "deploy", "rollback")
        self._run("show", "notes/p2.md")
        self._keep("built")
        self._run("hooks", "install")
        self._keep("hooked")
        self.restore("built")
        self._run("export", "../out")
        self._keep("exported")
        self.restore("built")
        sidecar = self.repo / SIDECAR
        line = sidecar.read_text()
        other = json.dumps(json.loads(line) | {"id": "0" * 32, "path": "notes/p4.md", "kind": "wrong"})
        sidecar.write_text(f"<<<<<<< a\n{line}=======\n{other}\n>>>>>>> b\n")
        (self.repo / ".gitattributes").unlink()
        self._keep("conflict")
        self.restore("built")
        repo.write({"notes/p5.md": "# Five\n\n" + body.replace("topic", "zyzzyva")})
        self._keep("changed")
        log = self.repo / ".git/memidx/access.jsonl"
        blob = repo.git("rev-parse", "HEAD:notes/p2.md")
        pages = json.dumps([["notes/p2.md", blob]])
        log.write_text("".join(f'{{"t":{1_700_000_000 + 60 * n},"p":{pages}}}\n' for n in range(6000)))
        self._keep("changed+log")
        self.restore("changed")
        self._run("build")
        self._keep("changed and built")

    def _run(self, *command: str) -> None:
        done = memidx(*command, cwd=self.repo, model=True, env=self.env)
        assert done.code == 0, done.err


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """With vectors and a graph."""
    yield from opened(tmp_path_factory.mktemp("lab"), "wordllama")


@pytest.fixture(scope="module")
def quick_lab(tmp_path_factory):
    """Words alone, for speed."""
    yield from opened(tmp_path_factory.mktemp("lab"), "none")


def opened(place: Path, model: str) -> Iterator[Lab]:
    (place / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in [n for n in os.environ if n.startswith(("GIT_", "MEMIDX_"))]:
            patch.delenv(name)
        patch.setenv("HOME", str(place))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_CONFIG_GLOBAL", str(place / ".gitconfig"))
        patch.setenv("GIT_CEILING_DIRECTORIES", str(place))
        patch.setenv("EDITOR", "true")
        lab = Lab(place, model)
        try:
            yield lab
        finally:
            lab.close()


def pages_of(lab: Lab) -> dict[str, bytes]:
    skipped = (lab.repo / ".git", lab.repo / ".memidx")
    paths = (p for p in lab.repo.rglob("*") if p.is_file() and not any(p.is_relative_to(s) for s in skipped))
    return {p.relative_to(lab.repo).as_posix(): p.read_bytes() for p in paths}


def files_of(lab: Lab) -> set[str]:
    """Every file and folder but git's own objects and the locks."""
    names = (p.relative_to(lab.root).as_posix() for p in lab.root.rglob("*"))
    return {n for n in names if "/.git/objects" not in n and n.rsplit("/", 1)[-1] not in LOCKS}


def events_of(lab: Lab) -> list[tuple[str, str]]:
    path = lab.repo / SIDECAR
    found = parse_sidecar(path.read_text()) if path.exists() else parse_sidecar("")
    assert not found.incomplete
    ids = [event.id for event in found.events]
    assert len(set(ids)) == len(ids)
    return sorted((event.path, event.kind) for event in found.events)


def later(lab: Lab) -> None:
    """Two hours pass for what is temporary."""
    then = time.time() - 2 * HOUR
    for folder in (lab.repo / ".git/memidx/staging", lab.root):
        for path in folder.rglob("*"):
            if folder.name == "staging" or path.name.startswith(
                (".new", ".pre", ".post", ".memidx-", ".decay", ".out")
            ):
                os.utime(path, (then, then))


class Outlook(NamedTuple):
    """Everything that is to be as after a clean run."""

    answers: list[Any]
    status: dict[str, Any]
    decay: dict[str, Any]
    hooks: list[Any]
    git: bytes
    files: set[str]
    config: bytes


def outlook(lab: Lab) -> Outlook:
    later(lab)
    asked = [("query", "--json", "--no-track", *q.split()) for q in QUESTIONS]
    decay = ("decay", "--json", "--at", "2027-01-01")
    hooks = ("hooks", "status")
    # The first one brings the index up to date where a command left that to the next query.
    runs = lab.ask(asked[0], *asked, ("gc",), ("status", "--json", "--verify"), decay, hooks)["runs"]
    status = json.loads(runs[len(asked) + 2][1])
    status = {k: v for k, v in status.items() if k not in ("bytes", "all_bytes", "kept")} | {
        "kept": set(status["kept"])
    }
    git = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=lab.repo, capture_output=True, check=True
    ).stdout
    pages = json.loads(runs[-2][1])["pages"]
    config = lab.repo / ".memidx/config.yaml"
    config = config if config.exists() else Path(os.devnull)
    kept = {p["path"]: [p[name] for name in ("salience", "helpful", "unhelpful", "flags", "accesses")] for p in pages}
    return Outlook(runs[1 : len(asked) + 1], status, kept, runs[-1][:2], git, files_of(lab), config.read_bytes())


def crash(lab: Lab, case: Case, clean: Any, die: int, *, torn: bool) -> None:
    """Die before step ``die``, look, run again, compare."""
    lab.restore(case.state)
    before, pages = events_of(lab), pages_of(lab)
    done = lab.ask(case.command, die=die, torn=torn)
    assert done["killed"], done
    check_pages(case, pages, clean["pages"], pages_of(lab))
    if case.state not in ("new", "bare", "no sidecar"):
        (answer,) = lab.ask(("query", "--json", "--no-refresh", "--no-track", *QUESTIONS[0].split()))["runs"]
        # A folder cannot be renamed over: between two renames a snapshot that is made anew is not there.
        between_renames = case.command == ("build", "--full") and clean["steps"][die - 1][0] == "rename"
        assert answer[0] == 0 or between_renames, answer
    between = Counter(events_of(lab))
    gained = between - Counter(before)
    assert Counter(before) <= between <= Counter(clean["events"])
    if "feedback" in case.name and (lab.place / "said").read_bytes():
        assert between == Counter(clean["events"])
    (again,) = lab.ask(case.command)["runs"]
    # What was done before it died is not there to do again.
    assert again[0] == clean["code"] or (case.once and again[0] in (1, 2)), again
    assert "Traceback" not in again[2], again
    assert Counter(events_of(lab)) == Counter(clean["events"]) + (gained if case.repeats else Counter())
    if case.command[0] == "export":  # what it left is swept by a later one
        later(lab)
        lab.ask(case.command)
    compare(case, outlook(lab), clean["outlook"], repeated=case.repeats and bool(gained or case.command[0] == "query"))


def check_pages(case: Case, before: dict[str, bytes], after: dict[str, bytes], now: dict[str, bytes]) -> None:
    """A page is whole, old or new; nothing but the command's own pages was touched."""
    for path, data in now.items():
        ours = path.endswith(("new-memidx", "/.memidx-page.tmp", ".gitattributes"))
        assert ours or data in (before.get(path), after.get(path)), path
    lost = [path for path in before if path not in now and path in after]
    assert not lost


def compare(case: Case, seen: Outlook, wanted: Outlook, *, repeated: bool) -> None:
    if repeated:  # the second one counts as well, as it should
        seen = seen._replace(decay=wanted.decay)
    for name, one, other in zip(wanted._fields, seen, wanted, strict=True):
        more = (sorted(one - other), sorted(other - one)) if isinstance(one, set) else (one, other)
        if one != other:
            pytest.fail(f"{name}: {str(more)[:2000]}", pytrace=False)


def clean_run(lab: Lab, case: Case) -> Any:
    lab.restore(case.state)
    done = lab.ask(case.command, die=0)
    assert not done["killed"]
    done["events"], done["pages"] = events_of(lab), pages_of(lab)
    done["outlook"] = outlook(lab)
    assert done["outlook"].status["differing"] == []
    return done


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_b4_killed_before_each_step_and_run_again(request, case):
    lab = request.getfixturevalue("lab" if case.name in ("full build", "update") else "quick_lab")
    clean = clean_run(lab, case)
    kinds: Counter[str] = Counter()
    failed = []
    for number, (kind, path, splits) in enumerate(clean["steps"], 1):
        for torn in (False, True) if splits else (False,):
            try:
                crash(lab, case, clean, number, torn=torn)
            except (AssertionError, pytest.fail.Exception) as error:
                failed.append(f"{number} {kind}{' torn' if torn else ''} {path}: {str(error)[:3000]}")
            kinds[f"{kind} torn" if torn else kind] += 1
    told = ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items()))
    sys.stdout.write(f"\n{case.name}: {kinds.total()} crash points, {len(failed)} not survived: {told}\n")
    assert kinds.total() > 0
    assert not failed, f"{len(failed)} of {kinds.total()}:\n" + "\n".join(failed)


SAMPLE = [
    ("full build", 0.9, False),
    ("update", 0.5, True),
    ("first feedback", 1, True),
    ("share", 0.6, False),
    ("hooks install", 0.5, False),
]


@pytest.mark.parametrize(("name", "share", "torn"), SAMPLE, ids=[row[0] for row in SAMPLE])
def test_b4_killed_before_one_step_and_run_again(quick_lab, name, share, torn):
    (case,) = [c for c in CASES if c.name == name]
    clean = clean_run(quick_lab, case)
    numbers = [n for n, step in enumerate(clean["steps"], 1) if step[2] or not torn]
    crash(quick_lab, case, clean, numbers[int(share * (len(numbers) - 1))], torn=torn)
