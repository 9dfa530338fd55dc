"""The files in a hooks folder: ours, and those that were there before, which are kept beside them."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import Literal, NamedTuple

from memidx.ground.errors import MemidxError

NAMES = ("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite")
KEPT = ".before-memidx"
_MARK = re.compile(rb"\A#![^\n]*\n# memidx hook (\d+): ")
_EXECUTABLE = 0o755

Kind = Literal["absent", "file", "link", "other"]


class HookFile(NamedTuple):
    """One place in the folder. ``data`` is what git would run, also through a link; None where nothing is read."""

    kind: Kind
    data: bytes | None = None
    executable: bool = False

    @property
    def version(self) -> int | None:
        """The version of our script, None when it is not ours."""
        mark = _MARK.match(self.data or b"") if self.kind == "file" else None
        return int(mark[1]) if mark else None


def shims() -> dict[str, bytes]:
    """Our scripts by hook name: from the package, or from the source tree it is run from."""
    package = Path(__file__).parent.parent
    for folder in (package / "_hooks", package.parent / "hooks"):
        if folder.is_dir():
            return {name: (folder / name).read_bytes() for name in NAMES}
    raise MemidxError("the hook scripts are not where memidx was installed", hint="reinstall memidx")


class HooksFolder:
    """A folder that git runs hooks from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def look(self, name: str) -> HookFile:
        """What stands at a name."""
        path = self.path / name
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return HookFile("absent")
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):
            return HookFile("other")
        kind: Kind = "link" if stat.S_ISLNK(mode) else "file"
        try:
            return HookFile(kind, path.read_bytes(), os.access(path, os.X_OK))
        except OSError:
            return HookFile(kind)

    def writable(self) -> bool:
        """Whether files can be put here; for a folder that is not there yet, whether it can be made."""
        path = self.path
        while not path.exists() and path != path.parent:
            path = path.parent
        return path.is_dir() and os.access(path, os.W_OK | os.X_OK)

    def place(self, name: str, data: bytes, *, keep: bool) -> None:
        """Put our script at ``name``. With ``keep`` what is there now stands at ``name`` + KEPT first.

        At each moment git finds the old hook or ours. Raises MemidxError when the folder cannot be written.
        """
        path = self.path / name
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.forget(name)
            new = self._new(name)
            try:
                with new.open("xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                new.chmod(_EXECUTABLE)
                if keep:
                    _second_name(path, self.path / (name + KEPT))
                new.replace(path)
            except OSError:
                new.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _unwritable(self.path, error) from error

    def forget(self, name: str) -> None:
        """Remove what a process that was killed in `place` left. Nothing may be placed at the same time."""
        with contextlib.suppress(OSError):
            self._new(name).unlink(missing_ok=True)

    def _new(self, name: str) -> Path:
        return self.path / f".{name}.new-memidx"

    def take(self, name: str) -> None:
        """Take our script away; what was kept comes back, as the file it was."""
        path = self.path / name
        kept = self.path / (name + KEPT)
        try:
            if os.path.lexists(kept):
                kept.replace(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise _unwritable(self.path, error) from error


def _second_name(path: Path, kept: Path) -> None:
    """Give a file or a link a second name; where there are no hard links it gets the new name alone."""
    try:
        os.link(path, kept, follow_symlinks=False)
    except (OSError, NotImplementedError):
        if os.path.lexists(kept):
            raise
        path.rename(kept)


def _unwritable(folder: Path, error: OSError) -> MemidxError:
    return MemidxError(f"{folder}: cannot be written: {error.strerror}", hint="check its permissions")
