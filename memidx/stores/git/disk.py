"""Files of the work tree, looked at without following a symbolic link."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
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


class Folders:
    """What stands between the root and a file. Each folder is asked once; the root itself is taken as given."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._linked: dict[str, bool] = {"": False}

    def linked(self, path: str) -> bool:
        """True when the way to ``path`` leads through a symbolic link."""
        folder = path.rpartition("/")[0]
        answer = self._linked.get(folder)
        if answer is None:
            answer = self._linked[folder] = self.linked(folder) or (self._root / folder).is_symlink()
        return answer

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file below the root.

        None when there is no such file, it cannot be read, or a link or ``..`` leads to it.
        """
        if path.startswith("/") or ".." in path.split("/") or self.linked(path):
            return None
        try:
            with open(os.open(self._root / path, _READ), "rb") as file:  # noqa: PTH123 - pathlib opens no descriptor
                return file.read() if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
        except OSError:
            return None
