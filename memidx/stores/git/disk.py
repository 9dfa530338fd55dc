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
