"""The file of the sidecar: read whole, only ever appended to. It is the one thing that cannot be made again."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

from memidx.ground.errors import LockedError, SidecarError
from memidx.parsing.sidecar import cut_off

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

SIDECAR = ".memidx/decay.jsonl"
LOCK = "decay.lock"
ASIDE = "decay-cut.jsonl"  # what crashes left of a last line, in the state folder
MENDED = ".decay-mended"
# Not on Windows, where making a link takes a privilege; the check before the opening is all there is.
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class SidecarFile:
    """The sidecar of one vault. The lock is in ``state``, a folder of the clone, so that the tree stays clean."""

    def __init__(self, root: Path, state: Path, lock_seconds: float) -> None:
        self.path = root / SIDECAR
        self._state = state
        self._lock_seconds = lock_seconds

    def read(self) -> str:
        """The text as it is, "" when there is no file. Bytes that are not UTF-8 become surrogates.

        Raises SidecarError when it is a link, not a plain file, or cannot be read.
        """
        try:
            with self._open(os.O_RDONLY) as handle, os.fdopen(handle, "rb", closefd=False) as file:
                return file.read().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise self._error(error) from error

    def append(self, make: Callable[[str], Sequence[str]]) -> str:
        """Add the lines that ``make`` gives for the present text, in one write, synced. Returns the new text.

        The lock is held from the reading to the writing, so that two processes come one after the other and ``make``
        has seen what the other wrote. All lines are written or none, as far as the system is alive to say so: a last
        line that a crash cut short is moved to a file in the state folder first. Raises SidecarError, LockedError.
        """
        with self._lock():
            before = self.read()
            cut = cut_off(before)
            lines = make(before)
            if not lines:
                return before
            if cut:
                self._set_aside(cut.encode("utf-8", "surrogateescape"))
                before = before.removesuffix(cut)
            # A last line without an end (an editor, a cut-off copy) must not run into ours.
            gap = "" if not before or before.endswith("\n") else "\n"
            added = gap + "".join(line + "\n" for line in lines)
            try:
                self._write(added.encode("utf-8", "surrogateescape"))
            except OSError as error:
                raise self._error(error) from error
            return before + added

    def rewrite(self, make: Callable[[str], str]) -> None:
        """Replace the text by what ``make`` gives for it, by one rename. For mending alone: feedback is appended.

        The lock is held from the reading to the rename, so that no line that comes meanwhile is lost. Raises
        SidecarError, LockedError.
        """
        with self._lock():
            before = self.read()
            after = make(before)
            if after == before:
                return
            mended = self.path.with_name(MENDED)
            try:
                mended.unlink(missing_ok=True)  # a killed process left it: the lock is ours
                with mended.open("xb") as file:
                    file.write(after.encode("utf-8", "surrogateescape"))
                    file.flush()
                    os.fsync(file.fileno())
                mended.chmod(stat.S_IMODE(self.path.stat().st_mode))
                mended.replace(self.path)
                _sync(self.path.parent)
            except OSError as error:
                raise self._error(error) from error

    def _set_aside(self, cut: bytes) -> None:
        """Keep what is left of a last line elsewhere, then take it away. Nothing of the file is lost."""
        try:
            with (self._state / ASIDE).open("ab") as kept:
                kept.write(cut + b"\n")
                kept.flush()
                os.fsync(kept.fileno())
            with self._open(os.O_RDWR) as handle:
                size = os.fstat(handle).st_size
                if os.pread(handle, len(cut), size - len(cut)) == cut:
                    os.ftruncate(handle, size - len(cut))
        except OSError as error:
            raise self._error(error) from error

    def _write(self, data: bytes) -> None:
        new = not self.path.exists()
        with contextlib.suppress(FileExistsError):
            self.path.parent.mkdir()
        with self._open(os.O_WRONLY | os.O_APPEND | os.O_CREAT) as handle:
            size = os.fstat(handle).st_size
            try:
                written = os.write(handle, data)
                while written < len(data):  # a signal, or a nearly full disk: then the next one raises
                    written += os.write(handle, data[written:])
                os.fsync(handle)
            except OSError:
                os.ftruncate(handle, size)
                raise
        if new:  # the file is only safe when its name is
            _sync(self.path.parent)
            _sync(self.path.parent.parent)

    @contextlib.contextmanager
    def _open(self, flags: int) -> Iterator[int]:
        """A handle of the plain file. A vault is not trusted: no link is followed, neither the file nor its folder."""
        for path in (self.path.parent, self.path):
            with contextlib.suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if stat.S_ISLNK(mode):
                    raise SidecarError(
                        f"{path}: is a symbolic link, which is not followed", hint="replace it by a file"
                    )
                if path == self.path and not stat.S_ISREG(mode):
                    raise SidecarError(f"{path}: is not a plain file", hint="move it away")
        handle = os.open(self.path, flags | NO_FOLLOW, 0o666)
        try:
            yield handle
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # 10 ms, and only writing pays it

        try:
            self._state.mkdir(parents=True, exist_ok=True)
            lock = FileLock(str(self._state / LOCK), timeout=self._lock_seconds)
            lock.acquire()
        except Timeout as error:
            raise LockedError(
                f"{self._state / LOCK}: another memidx has held the lock for {self._lock_seconds:g} s",
                hint="wait for it, or stop that process; the lock ends with it",
            ) from error
        except OSError as error:
            raise self._error(error) from error
        try:
            yield
        finally:
            lock.release()

    def _error(self, error: OSError) -> SidecarError:
        where = error.filename or self.path
        return SidecarError(f"{where}: {error.strerror}; nothing was written", hint="check permissions and free space")


def _sync(folder: Path) -> None:
    """Flush a folder's names to the disk, where the system can."""
    with contextlib.suppress(OSError):  # folders cannot be opened on Windows
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
