"""A real git repository for tests, made cheaply: no template hooks, no fsync, and every commit has its own second."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST_COMMIT = 1_700_000_000  # 2023-11-14T22:13:20Z
BETWEEN_COMMITS = 60


def run_git(
    cwd: Path, *args: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None, check: bool = True
) -> subprocess.CompletedProcess[bytes]:
    """Run git in ``cwd`` with the (neutralised) environment plus ``env``. A failure shows git's own words."""
    done = subprocess.run(
        ["git", *args], cwd=cwd, env={**os.environ, **(env or {})}, input=stdin, capture_output=True, check=False
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(args)} -> {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done


@dataclass
class Repo:
    """``root`` is the top of the working tree."""

    root: Path
    commits: int = field(default=0)

    @classmethod
    def create(cls, path: Path, *init_args: str) -> Self:
        """``git init`` at ``path`` (made when missing). ``init_args`` go to git, e.g. ``--object-format=sha256``."""
        path.mkdir(parents=True, exist_ok=True)
        run_git(path, "init", "-q", "--template=", *init_args)
        repo = cls(path)
        for folder in ("hooks", "info"):
            (repo.git_dir / folder).mkdir(exist_ok=True)
        return repo

    @property
    def git_dir(self) -> Path:
        """The git folder of this working tree, absolute."""
        usual = self.root / ".git"  # asked some thousand times: a process each adds up
        return usual.resolve() if usual.is_dir() else Path(self.git("rev-parse", "--absolute-git-dir"))

    def git(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None) -> str:
        """Standard output without its last newline. Raises AssertionError with git's stderr when git fails."""
        out = run_git(self.root, *args, env=env, stdin=stdin).stdout
        return out.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files below the root; folders are made. Text goes out as UTF-8 with its line ends as they are."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
            path.write_bytes(data)

    def remove(self, *names: str) -> None:
        """Delete files from disk, not from the index."""
        for name in names:
            (self.root / name).unlink()

    def commit(self, message: str = "change", *, when: int | None = None, add: bool = True) -> str:
        """Stage everything (unless ``add=False``) and commit, also when nothing changed. Returns the commit id.

        ``when`` is the author's and committer's time in seconds since the epoch; each commit is a minute later
        than the one before when it is left out.
        """
        if add:
            self.git("add", "-A")
        stamp = FIRST_COMMIT + self.commits * BETWEEN_COMMITS if when is None else when
        self.commits += 1
        date = {"GIT_AUTHOR_DATE": f"{stamp} +0000", "GIT_COMMITTER_DATE": f"{stamp} +0000"}
        self.git("commit", "-q", "--allow-empty", "-m", message, env=date)
        return self._head()

    def _head(self) -> str:
        name = (self.git_dir / "HEAD").read_text().strip().removeprefix("ref: ")
        loose = self.git_dir / name
        return loose.read_text().strip() if loose.is_file() else self.git("rev-parse", "HEAD")

    def clone(self, path: Path, *args: str) -> Repo:
        """``git clone`` into ``path``. ``args`` go to git, e.g. ``-c``, ``core.autocrlf=true``."""
        run_git(self.root, "clone", "-q", "--template=", *args, self.root.as_uri(), str(path))
        return Repo(path, commits=self.commits)

    def status(self) -> str:
        """``git status --porcelain``, to show that nothing was touched."""
        return self.git("--no-optional-locks", "status", "--porcelain", "--untracked-files=all")
