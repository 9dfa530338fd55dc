"""What the options of every command say, and the way from there to a vault."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from memidx.doors.outlet import Outlet
    from memidx.ground.source import Source
    from memidx.vault import Vault


@dataclass
class Door:
    """One run of the program. ``cwd`` is where ``-C`` has led; ``options`` are the ``--set`` pairs in order."""

    environ: Mapping[str, str]
    cwd: Path
    say: Outlet
    options: list[tuple[str, str]] = field(default_factory=list)

    def enter(self, folder: str) -> None:
        """Go to a folder, relative to the present one. An empty name changes nothing, as in git."""
        if not folder:
            return
        target = self.cwd / folder
        if not target.is_dir():
            raise UsageError(f"-C {visible(folder)}: {visible(str(target))} is not a folder")
        self.cwd = target

    def set(self, assignment: str) -> None:
        """Note a setting, ``part.name=value``. It is checked when a vault is opened."""
        name, equals, value = assignment.partition("=")
        if not equals or "." not in name:
            raise UsageError(f"--set {visible(assignment)}: not a setting", hint="write it as part.name=value")
        self.options.append((name.strip(), value))

    def vault(self, *, eager: bool = False) -> Vault:
        """The vault here. ``eager`` for commands that will list the working tree."""
        from memidx.opening import open_vault

        return open_vault(self.cwd, environ=self.environ, eager=eager, options=self.options)

    def source(self, rev: str | None, *, staged: bool = False) -> Source:
        """Which tree of pages the options mean."""
        from memidx.ground.source import WORKTREE, Source

        if rev is not None and staged:
            raise UsageError("--rev and --staged ask for different pages", hint="leave one of them out")
        if staged:
            return Source("staged", self.environ.get("GIT_INDEX_FILE"))
        return Source("rev", rev) if rev is not None else WORKTREE
