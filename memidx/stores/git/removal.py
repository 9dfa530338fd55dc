"""What `memidx sweep` does to the index and the working tree. Everything is staged, nothing is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.ground.errors import GitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memidx.stores.git.locate import VaultLocation
    from memidx.stores.git.run import Runner

MANY = 200  # paths on one command line


def remove(git: Runner, where: VaultLocation, paths: Sequence[str]) -> None:
    """``git rm``: from the index and the disk. Git refuses a file that is not as committed, and then removes none."""
    if paths:
        listed = "".join(f"{where.prefix}{path}\0" for path in paths).encode("utf-8", "surrogateescape")
        git.run("rm", "-q", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=listed)


def move(git: Runner, where: VaultLocation, moves: Sequence[tuple[str, str]]) -> None:
    """``git mv``: in the index and on disk. Nothing is written over. Raises GitError, and says what was moved."""
    groups: dict[str, list[str]] = {}
    for old, new in moves:
        groups.setdefault(new.rpartition("/")[0], []).append(old)
    done = 0
    for folder, olds in groups.items():
        target = where.root / folder
        target.mkdir(parents=True, exist_ok=True)
        for start in range(0, len(olds), MANY):
            some = [where.prefix + old for old in olds[start : start + MANY]]
            try:
                git.run("mv", "--", *some, f"{where.prefix}{folder}/")
            except GitError as error:
                said = f"; {done} pages were moved before it, `git status` lists them" if done else ""
                raise GitError(error.message + said, hint=error.hint) from error
            done += len(some)


def check_folder(where: VaultLocation, folder: Path) -> str:
    """The folder relative to the vault's root. Raises UsageError unless it is inside, without a link on the way."""
    hint = "give a folder inside the vault, such as archive"
    try:
        inside = folder.relative_to(where.root)
    except ValueError:
        raise UsageError(f"{folder}: is not inside the vault {where.root}", hint=hint) from None
    if not inside.parts or inside.parts[0] in (".git", ".memidx") or ".." in inside.parts:
        raise UsageError(f"{folder}: cannot hold pages", hint=hint)
    path = where.root
    for part in inside.parts:
        path /= part
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise UsageError(f"{path}: is not a folder", hint=hint)
    return inside.as_posix()
