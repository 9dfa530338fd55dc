"""A repository with memidx in its hooks, and everything that a hook must not change, to be compared before and after."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from clirun import CHECKOUT, WORDS_ONLY, Done, memidx
from repo import run_git

if TYPE_CHECKING:
    from pathlib import Path

    from repo import Repo

PROGRAM = """\
#!/bin/sh
echo "$@" >>"{log}"
PYTHONPATH="{checkout}" exec "{python}" -m memidx "$@"
"""


class Tree(NamedTuple):
    """A working tree: every file with its mode, digest and time of change."""

    files: dict[str, tuple[int, str, int]]


@dataclass
class Hooked:
    """``env`` has a memidx on PATH that notes each call in ``log``."""

    repo: Repo
    env: dict[str, str]
    log: Path
    said: list[str] = field(default_factory=list)

    def git(self, *args: str, cwd: Path | None = None, check: bool = True, env: dict[str, str] | None = None) -> Done:
        """Run git as a user would, with the hooks."""
        done = run_git(cwd or self.repo.root, *args, env={**self.env, **(env or {})}, check=check)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace"))

    def calls(self) -> list[str]:
        """What memidx was asked since the last time, such as ``hook pre-commit``."""
        found = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return found

    def tree(self, root: Path | None = None) -> Tree:
        """The working tree as it is now."""
        top = root or self.repo.root
        files = {}
        for path in sorted(top.rglob("*")):
            name = path.relative_to(top).as_posix()
            if name.split("/")[0] == ".git" or path.is_dir():
                continue
            found = path.lstat()
            data = str(path.readlink()).encode() if stat.S_ISLNK(found.st_mode) else path.read_bytes()
            files[name] = (found.st_mode, hashlib.sha256(data).hexdigest(), found.st_mtime_ns)
        return Tree(files)

    def index_bytes(self) -> bytes:
        """The index file."""
        return (self.repo.git_dir / "index").read_bytes()

    def is_warm(self, root: Path | None = None) -> bool:
        """Whether a query is answered without building."""
        return memidx("query", "lighthouse", "--require-fresh", cwd=root or self.repo.root).code in (0, 1)

    def finds(self, words: str, *args: str, root: Path | None = None) -> list[str]:
        """The paths that a query gives, after whatever refresh it makes."""
        return [hit["path"] for hit in memidx("query", words, "--json", *args, cwd=root or self.repo.root).json["hits"]]


def program(folder: Path) -> tuple[dict[str, str], Path]:
    """A memidx for PATH that runs this source tree and notes what it was asked."""
    log = folder / "calls"
    script = folder / "bin" / "memidx"
    script.parent.mkdir(parents=True)
    script.write_text(PROGRAM.format(log=log, checkout=CHECKOUT, python=sys.executable))
    script.chmod(0o755)
    # A budget that a busy computer keeps; the tests about it set their own.
    budget = {"MEMIDX_HOOKS_BUDGET_SECONDS": "60"}
    return {"PATH": f"{script.parent}:{os.environ['PATH']}", **WORDS_ONLY, **budget}, log


def hooked(repo: Repo, folder: Path) -> Hooked:
    """Put memidx into the hooks of a repository that has one commit with two pages, and build."""
    env, log = program(folder)
    repo.write({"a.md": "# Lighthouse\n\nred lamp\n", "b.md": "# Harbour\n\nblue boat\n", "code.py": "pass\n"})
    repo.commit("first")
    assert memidx("hooks", "install", cwd=repo.root).code == 0
    assert memidx("build", "--quiet", cwd=repo.root).code == 0
    found = Hooked(repo, env, log)
    assert found.calls() == []
    return found
