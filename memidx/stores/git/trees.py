"""What a commit is about to change, which vaults a work tree has, and which files a tree has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memidx.stores.git.disk import Folders
from memidx.stores.git.run import text

if TYPE_CHECKING:
    from memidx.stores.git.repository import Git

EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


def index_environment(git: Git, index_file: str | None) -> dict[str, str]:
    """The environment in which git looks at the index that a hook has inherited."""
    return {"GIT_INDEX_FILE": str(git.where.top / index_file)} if index_file else {}


def staged_paths(git: Git, index_file: str | None = None) -> list[str]:
    """Paths below the top of the work tree that the next commit adds or changes against HEAD."""
    args = ("diff-index", "--cached", "--name-only", "--no-renames", "--diff-filter=d", "-z")
    env = index_environment(git, index_file)
    done = git.runner.run(*args, "HEAD", "--", env=env, accept=(0, 128))
    if done.code:  # a branch without commits, or damage, which the second try names
        done = git.runner.run(*args, git.commit_of_head() or EMPTY_TREES[git.where.object_format], "--", env=env)
    return [path for path in text(done.out).split("\0") if path]


def vault_prefixes(git: Git, index_file: str | None = None) -> list[str]:
    """The vaults that are tracked in this work tree, as ``""`` or ``"folder/"``, outermost first.

    Without any ``.memidx`` folder the whole work tree is one.
    """
    env = {**index_environment(git, index_file), "GIT_LITERAL_PATHSPECS": "0"}
    done = git.runner.run("ls-files", "-z", "--", ":(top,glob)**/.memidx/*", env=env)
    found = {path.rpartition(".memidx/")[0] for path in text(done.out).split("\0") if path}
    if (git.where.top / ".memidx").is_dir():
        found.add("")
    return sorted(found) or [""]


class VaultFiles:
    """The files of a tree of the vault, pages or not. Asked of git when first needed."""

    def __init__(self, git: Git, source: str, index_file: str | None = None) -> None:
        """``source`` is a listing's: ``worktree``, ``staged`` or ``rev:<commit id>``."""
        self._git = git
        self._source = source
        self._index_file = index_file
        self._paths: set[str] | None = None
        self._names: set[str] = set()
        self._folders = Folders(git.where.root)

    def has(self, path: str) -> bool:
        """Whether there is a file or a folder at this vault-relative path. Nothing behind a link is looked at: yes."""
        if path in self._all():
            return True
        return self._source == "worktree" and (
            self._folders.linked(path) or os.path.lexists(self._git.where.root / path)
        )

    def has_name(self, name: str) -> bool:
        """Whether any file has this name, in whichever folder."""
        return bool(self._all()) and name in self._names

    def read(self, path: str) -> bytes | None:
        """The bytes of one file; None where there is none."""
        if self._source == "worktree":
            return self._folders.read(path)
        where = self._git.where.prefix + path
        name = f"{self._source.removeprefix('rev:')}:{where}" if self._source != "staged" else f":0:{where}"
        env = index_environment(self._git, self._index_file)
        done = self._git.runner.run("cat-file", "blob", name, env=env, accept=(0, 128))
        return None if done.code else done.out

    def _all(self) -> set[str]:
        if self._paths is None:
            files = self._list()
            self._names = {path.rsplit("/", 1)[-1] for path in files}
            folders: set[str] = set()
            for file in files:
                path = file
                while (path := path.rpartition("/")[0]) and path not in folders:
                    folders.add(path)
            self._paths = {*files, *folders}
        return self._paths

    def _list(self) -> list[str]:
        git, prefix = self._git, self._git.where.prefix
        under = ("--", prefix) if prefix else ()
        if self._source.startswith("rev:"):
            commit = self._source.removeprefix("rev:")
            args = ("ls-tree", "-r", "-z", "--full-tree", "--name-only", "--", commit, *under[1:])
        else:
            more = ("-c", "-o", "--exclude-standard") if self._source == "worktree" else ("-c",)
            args = ("ls-files", "-z", *more, *under)
        done = git.runner.run(*args, env=index_environment(git, self._index_file))
        found = text(done.out).split("\0")
        return [path.removeprefix(prefix) for path in found if path and path.startswith(prefix)]
