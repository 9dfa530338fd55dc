"""Where a vault is: its root, the work tree around it, and git's folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.errors import GitError, NotARepositoryError
from memidx.stores.git.run import Finished, Runner, first_line, text

if TYPE_CHECKING:
    from collections.abc import Mapping

VAULT_FOLDER = ".memidx"

# --show-toplevel comes last: it is the one that fails outside a work tree, after the others have been printed.
QUESTIONS = (
    "--is-inside-work-tree",
    "--show-object-format",
    "--is-shallow-repository",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-prefix",
    "--show-toplevel",
)


class VaultLocation(NamedTuple):
    """Absolute folders of one vault. ``prefix`` is the root relative to ``top``: ``""`` or ``"sub/dir/"``."""

    root: Path
    top: Path
    prefix: str
    git_dir: Path  # of this work tree: its index and HEAD
    common_dir: Path  # shared by all work trees of the clone: its objects and refs
    object_format: str  # "sha1" or "sha256"
    shallow: bool


def find_vault(start: Path, environ: Mapping[str, str]) -> VaultLocation:
    """Find the vault that holds the folder ``start``: one git process in the usual case.

    The root is the nearest folder upwards with a ``.memidx/`` folder, searched no further than the top of the work
    tree, else that top. The repository is found from ``start``, whatever GIT_DIR a hook has inherited; only where
    that finds none is the caller's GIT_DIR used (a work tree whose git folder lies apart, as for dotfiles).

    Raises NotARepositoryError outside a repository, GitError in a bare repository or a git folder, when git refuses
    the folder's owner, and when git is missing.
    """
    try:
        return _ask(Runner(start, environ))
    except NotARepositoryError:
        git_dir = environ.get("GIT_DIR")
        if not git_dir:
            raise
        scope = [f"--git-dir={git_dir}"]
        if work_tree := environ.get("GIT_WORK_TREE"):
            scope.append(f"--work-tree={work_tree}")
        return _ask(Runner(start, environ, scope))


def _ask(git: Runner) -> VaultLocation:
    args = ("rev-parse", "--path-format=absolute", *QUESTIONS)
    done = git.run(*args, accept=(0, 128))
    if done.code:
        raise _refusal(git.cwd, done)
    answers = text(done.out).removesuffix("\n").split("\n")
    if len(answers) != len(QUESTIONS):
        # A folder's name holds a newline: one question at a time.
        answers = [
            text(git.run("rev-parse", "--path-format=absolute", question).out).removesuffix("\n")
            for question in QUESTIONS
        ]
    _, object_format, shallow, git_dir, common_dir, prefix, top_name = answers
    top = Path(top_name)
    prefix = _vault_prefix(top, prefix)
    return VaultLocation(
        root=top / prefix,
        top=top,
        prefix=prefix,
        git_dir=Path(git_dir),
        common_dir=Path(common_dir),
        object_format=object_format,
        shallow=shallow == "true",
    )


def _vault_prefix(top: Path, prefix: str) -> str:
    """The nearest folder from ``top/prefix`` up to ``top`` that holds the vault folder; a symlink is none."""
    parts = prefix.split("/")[:-1]
    for depth in range(len(parts), 0, -1):
        folder = top.joinpath(*parts[:depth], VAULT_FOLDER)
        if folder.is_dir() and not folder.is_symlink():
            return "/".join(parts[:depth]) + "/"
    return ""


def _refusal(start: Path, done: Finished) -> GitError:
    """Translate what git said when it would not tell us where we are."""
    why = first_line(done.err)
    if "not a git repository" in why:
        return NotARepositoryError(
            f"{start} is not inside a git repository", hint="run `git init` in the folder that holds the pages"
        )
    if "must be run in a work tree" in why:
        return GitError(
            f"{start} is in a git folder or a bare repository, where there are no pages",
            hint="change to a work tree; `git worktree add DIR` makes one",
        )
    remedy = [line.strip() for line in text(done.err).splitlines() if line.strip().startswith("git config")]
    return GitError(f"git refused {start}: {why}", hint=remedy[0] if remedy else "see what `git status` says there")
