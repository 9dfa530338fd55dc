"""Where git looks for hooks, and who said so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memidx.stores.git.run import text

if TYPE_CHECKING:
    from memidx.stores.git.repository import Git


class HooksPath(NamedTuple):
    """``folder`` is absolute. ``value`` is core.hooksPath as it is written, None where it is not set.

    ``scope`` is ``local``, ``worktree``, ``global``, ``system`` or ``command``; ``origin`` the file that sets it.
    """

    folder: Path
    value: str | None = None
    scope: str = ""
    origin: str = ""


def hooks_path(git: Git) -> HooksPath:
    """Ask git. Nothing is read or made."""
    done = git.runner.run("rev-parse", "--path-format=absolute", "--git-path", "hooks")
    folder = Path(text(done.out).removesuffix("\n"))
    asked = git.runner.run("config", "-z", "--show-scope", "--show-origin", "--get", "core.hooksPath", accept=(0, 1))
    if asked.code:
        return HooksPath(folder)
    scope, origin, value, *_ = text(asked.out).split("\0")
    return HooksPath(folder, value, scope, origin.removeprefix("file:"))
