"""Writing pages: `memidx new`, and agents that were asked to. Only below the vault's root, never through a link.

Every write is a temporary file in the page's own folder and one rename, so that a reader sees the old page or the new
one. A crash leaves at most that file, and the next write in the folder takes its place: writers hold a lock.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from memidx.ground.errors import UsageError

FORBIDDEN = frozenset({".git", ".memidx", "git~1"})
# Names that Windows keeps for devices, whatever their ending: such a page could not be checked out there.
DEVICES = frozenset({"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))})
TEMPORARY = ".memidx-page.tmp"
LONGEST = 240  # bytes of one name; most file systems take 255
HINT = "give a path inside the vault, such as notes/name.md"


class PageFiles:
    """The files of one vault, for writing, one process at a time.

    ``root`` is taken as given; everything below it is looked at first.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def exists(self, path: str) -> bool:
        """Whether anything stands at this path, a link included."""
        return os.path.lexists(self.root / path)

    def create(self, path: str, data: bytes) -> None:
        """A new file. Nothing is written over: raises UsageError when something stands there or the path is no good."""
        target = self._checked(path, make=True)
        name = self._temporary(target, data, 0o666 & ~_umask())
        try:
            os.link(name, target)  # unlike a rename, a link never replaces what is there
        except FileExistsError:
            raise UsageError(f"{path}: is there already", hint="choose another title or path") from None
        except OSError:  # a file system without links
            with target.open("xb") as file:
                file.write(data)
        finally:
            name.unlink(missing_ok=True)

    def replace(self, path: str, old: bytes, new: bytes) -> None:
        """Replace a page that still holds ``old``, by one rename; its permissions stay.

        Raises UsageError when it holds anything else by now, is a link, or is gone.
        """
        target = self._checked(path, make=False)
        try:
            about = target.lstat()
            present = target.read_bytes() if stat.S_ISREG(about.st_mode) else None
        except OSError as error:
            raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
        if present != old:
            raise UsageError(f"{path}: has changed since it was read", hint="read it again, then write")
        name = self._temporary(target, new, stat.S_IMODE(about.st_mode))
        try:
            name.replace(target)
        finally:
            name.unlink(missing_ok=True)

    def remove_new(self, path: str, data: bytes) -> None:
        """Take back a file that was just created, if it still holds ``data``."""
        target = self._checked(path, make=False)
        with suppress(OSError):
            if target.read_bytes() == data:
                target.unlink()

    def _checked(self, path: str, *, make: bool) -> Path:
        """The place of a page. Raises UsageError when it is, or leads, anywhere but to a plain place in the vault."""
        parts = path.split("/")
        if not path or any(part in ("", ".", "..") for part in parts) or "\\" in path or Path(path).is_absolute():
            raise UsageError(f"'{path}': is not a path inside the vault", hint=HINT)
        if any(ord(char) < 32 or ord(char) == 127 for char in path):  # noqa: PLR2004 - control characters
            raise UsageError("a new page's path cannot hold control characters", hint=HINT)
        for part in parts:
            if part.casefold() in FORBIDDEN:
                raise UsageError(f"{path}: {part} is not a place for pages", hint=HINT)
            if part.split(".")[0].casefold() in DEVICES or len(os.fsencode(part)) > LONGEST:
                raise UsageError(f"{path}: '{part[:40]}' is no name that every system takes", hint=HINT)
        folder = self.root
        for part in parts[:-1]:
            folder /= part
            self._check_folder(folder, make=make)
        target = folder / parts[-1]
        if target.is_symlink():
            raise UsageError(f"{path}: is a symbolic link, which is not followed", hint=HINT)
        return target

    def _check_folder(self, folder: Path, *, make: bool) -> None:
        try:
            mode = folder.lstat().st_mode
        except FileNotFoundError:
            if not make:
                raise UsageError(f"{folder}: is not there") from None
            folder.mkdir()
            return
        if not stat.S_ISDIR(mode):  # lstat: a link to a folder is none
            raise UsageError(f"{folder}: is not a folder of the vault", hint=HINT)
        if os.path.lexists(folder / ".git"):
            raise UsageError(f"{folder}: is another repository", hint=HINT)

    def _temporary(self, target: Path, data: bytes, mode: int) -> Path:
        path = target.with_name(TEMPORARY)
        path.unlink(missing_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        path.chmod(mode)
        return path


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
