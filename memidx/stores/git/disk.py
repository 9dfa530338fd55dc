"""Files of the work tree, looked at without following a symbolic link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Kind = Literal["file", "link", "unreadable", "other"]

# Not on every system: O_NOFOLLOW and O_NONBLOCK (a FIFO must not make us wait) are missing on Windows.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def kind_of(path: Path) -> Kind:
    """What stands at ``path``. "other" is a folder, a device or nothing at all."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return "link"
        if not stat.S_ISREG(mode):
            return "other"
        os.close(os.open(path, _READ))
    except PermissionError:
        return "unreadable"
    except OSError:
        return "other"
    return "file"


def read_inside(root: Path, path: Path) -> bytes | None:
    """The bytes of a regular file below ``root``, an absolute folder without links.

    None when there is no such file, it cannot be read, or a link leads to it.
    """
    try:
        if path.parent.resolve(strict=True) != path.parent or not path.is_relative_to(root):
            return None
        with open(os.open(path, _READ), "rb") as file:  # noqa: PTH123 - pathlib cannot open a descriptor
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read()
    except OSError:
        return None


class Folders:
    """What stands between the root and a file. Each folder is asked once; the root itself is taken as given."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._linked: dict[str, bool] = {"": False}
        self._nested: dict[str, bool] = {"": False}

    def linked(self, path: str) -> bool:
        """True when the way to ``path`` leads through a symbolic link."""
        return self._any(path, self._linked, lambda folder: folder.is_symlink())

    def nested(self, path: str) -> bool:
        """True when ``path`` lies in another repository."""
        return self._any(path, self._nested, lambda folder: os.path.lexists(folder / ".git"))

    def _any(self, path: str, known: dict[str, bool], test: Callable[[Path], bool]) -> bool:
        folder = path.rpartition("/")[0]
        answer = known.get(folder)
        if answer is None:
            answer = known[folder] = self._any(folder, known, test) or test(self._root / folder)
        return answer
