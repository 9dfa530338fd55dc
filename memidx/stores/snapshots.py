"""The folder of snapshots: staging, publishing by one rename, pointers of worktrees, garbage collection.

<git common dir>/memidx/
    snapshots/<key>/    immutable once it is there
    staging/<random>/   a build in progress; what a killed build leaves is swept later
    worktrees/<id>      the key that a worktree (and vault folder) answered from last
    cache/<model>/      vectors by text
    lock                held while publishing and collecting, never while reading or building
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memidx.ground.errors import BrokenSnapshotError, LockedError, MemidxError, OtherFormatError
from memidx.ground.manifest import FileDigest, Manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

MANIFEST, CATALOG, LEXICAL, VECTORS = "manifest.json", "catalog.db", "lexical", "vectors"
NEW = ".new-"  # what a file is called until it is renamed into place
STALE_STAGING_SECONDS = 3600.0
KEY_LENGTH = 32
HEX = frozenset("0123456789abcdef")


class Snapshots:
    """Snapshots of one clone, shared by its worktrees."""

    def __init__(self, home: Path, lock_seconds: float) -> None:
        self.home = home
        self._lock_seconds = lock_seconds

    # -- reading --------------------------------------------------------------------------------------------------

    def folder(self, key: str) -> Path:
        """Where the snapshot with this key is, or would be."""
        return self.home / "snapshots" / key

    def keys(self) -> list[str]:
        """Keys of the snapshots that are there, the most recently used first."""
        try:
            entries = [e for e in os.scandir(self.home / "snapshots") if is_key(e.name)]
        except OSError:
            return []
        return [e.name for e in sorted(entries, key=lambda e: (-e.stat().st_mtime_ns, e.name))]

    def has(self, key: str) -> bool:
        """Whether a snapshot with this key was published."""
        return (self.folder(key) / MANIFEST).is_file()

    def pointer(self, worktree: str) -> str | None:
        """The key that this worktree answered from last, if it is still there."""
        try:
            key = str(json.loads((self.home / "worktrees" / worktree).read_bytes())["key"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return key if is_key(key) and self.has(key) else None

    def in_use(self) -> set[str]:
        """The keys that worktrees point to. Forgets the pointers of worktrees that are gone."""
        return set(self._live_pointers())

    def _is_damaged(self, key: str) -> bool:
        try:
            return bool(check_digests(self.folder(key), read_manifest(self.folder(key))))
        except OtherFormatError:
            return False
        except BrokenSnapshotError:
            return True

    def _is_newer(self, key: str) -> bool:
        try:
            read_manifest(self.folder(key))
        except OtherFormatError as error:
            return error.newer
        except BrokenSnapshotError:
            pass
        return False

    # -- writing --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def staging(self) -> Iterator[Path]:
        """A fresh folder to build in. It is removed unless ``publish`` moved it away."""
        import shutil  # both: 4 ms that a command with nothing to do does without
        import tempfile

        parent = self.home / "staging"
        _make(parent)
        folder = Path(tempfile.mkdtemp(dir=parent))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def publish(self, staged: Path, key: str) -> None:
        """Make a finished build visible, by one rename. A sound snapshot of that key that came first stays."""
        sync_tree(staged)
        _make(self.home / "snapshots")
        target = self.folder(key)
        with self.lock():
            if self.has(key):
                with contextlib.suppress(BrokenSnapshotError):
                    check_sizes(target, read_manifest(target))
                    os.utime(target)
                    return
            self._put(staged, target)  # what is there is damaged, or has no manifest

    def replace(self, staged: Path, key: str) -> None:
        """As ``publish``, but a snapshot of that key that is there already gives way (a full rebuild was asked for)."""
        sync_tree(staged)
        _make(self.home / "snapshots")
        target = self.folder(key)
        with self.lock():
            self._put(staged, target)

    def point(self, worktree: str, key: str, place: str) -> None:
        """Remember that this worktree answers from ``key``; ``place`` is its git folder, for collection."""
        parent = self.home / "worktrees"
        _make(parent)
        path = parent / worktree
        data = json.dumps({"key": key, "place": place}).encode()
        with contextlib.suppress(OSError):
            if path.read_bytes() == data:
                return
        import tempfile

        handle, name = tempfile.mkstemp(dir=parent, prefix=NEW)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)

    def discard(self, key: str) -> None:
        """Remove a snapshot that turned out to be damaged, and others that are.

        Snapshots share files by hard links: one that is built from a damaged one's neighbour would be damaged again.
        """
        damaged = [key, *(other for other in self.keys() if other != key and self._is_damaged(other))]
        with self.lock():
            for each in damaged:
                self._discard(self.folder(each))

    def collect(self, keep: int, now: float) -> list[str]:
        """Remove snapshots that no worktree points to, but for the ``keep`` most recent. Returns the removed keys.

        What a newer memidx made stays: it looks after that itself.
        """
        with self.lock():
            named = self.in_use()
            spare = [key for key in self.keys() if key not in named]
            removed = [key for key in spare[keep:] if not self._is_newer(key)]
            for key in removed:
                self._discard(self.folder(key))
            self._sweep(now)
            return removed

    def _sweep(self, now: float) -> None:
        """Remove what killed processes left: half builds, and files that were not renamed into place."""
        import shutil

        left = list(_entries(self.home / "staging"))
        for folder in ("worktrees", "history"):
            with contextlib.suppress(OSError):
                left += [e for e in os.scandir(self.home / folder) if e.name.startswith(NEW)]
        for entry in left:
            with contextlib.suppress(OSError):
                if now - entry.stat(follow_symlinks=False).st_mtime <= STALE_STAGING_SECONDS:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink()

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """The lock of this folder, between processes. Raises LockedError when another holds it for too long."""
        from filelock import FileLock, Timeout

        _make(self.home)
        lock = FileLock(str(self.home / "lock"), timeout=self._lock_seconds)
        try:
            lock.acquire()
        except Timeout as error:
            raise LockedError(
                f"{self.home / 'lock'}: another memidx has held the lock for {self._lock_seconds:g} s",
                hint="wait for it, or stop that process; the lock ends with it",
            ) from error
        try:
            yield
        finally:
            lock.release()

    def _put(self, staged: Path, target: Path) -> None:
        """Rename into place. A folder cannot be renamed over: what is there goes aside just before, and away after.

        Between the two renames there is nothing at ``target``.
        """
        aside = self._aside(target) if target.exists() else None
        staged.rename(target)
        sync_folder(target.parent)
        if aside is not None:
            import shutil

            shutil.rmtree(aside, ignore_errors=True)

    def _discard(self, folder: Path) -> None:
        """Rename first, so that no reader finds half a snapshot, then remove."""
        import shutil

        shutil.rmtree(self._aside(folder), ignore_errors=True)

    def _aside(self, folder: Path) -> Path:
        """Take a folder out of sight. Returns what to remove."""
        import tempfile

        _make(self.home / "staging")
        aside = Path(tempfile.mkdtemp(dir=self.home / "staging"))
        with contextlib.suppress(FileNotFoundError):
            folder.rename(aside / "old")
        return aside

    def _live_pointers(self) -> Iterator[str]:
        for entry in _entries(self.home / "worktrees"):
            try:
                plain: dict[str, Any] = json.loads(Path(entry.path).read_bytes())
                if Path(plain["place"]).exists():
                    yield str(plain["key"])
                else:  # the worktree was removed
                    Path(entry.path).unlink()
            except (OSError, ValueError, KeyError, TypeError):
                continue


def is_key(name: str) -> bool:
    """Whether a folder name can be a snapshot's key."""
    return len(name) == KEY_LENGTH and set(name) <= HEX


def worktree_id(git_dir: str, prefix: str) -> str:
    """A name for a worktree and the vault folder in it."""
    return hashlib.sha256(f"{git_dir}\0{prefix}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def read_manifest(folder: Path) -> Manifest:
    """Raises BrokenSnapshotError when it is missing, damaged or of another format."""
    path = folder / MANIFEST
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BrokenSnapshotError(f"{path}: cannot be read: {error.strerror}") from error
    return Manifest.from_bytes(data, str(path))


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Every file is there and has its size. Raises BrokenSnapshotError that names the first that does not."""
    for name, digest in manifest.files.items():
        path = folder / name
        try:
            size = path.stat().st_size
        except OSError as error:
            raise BrokenSnapshotError(f"{path}: cannot be read: {error.strerror}") from error
        if size != digest.size:
            raise BrokenSnapshotError(f"{path}: {size} bytes instead of {digest.size}")


def check_file(path: Path, digest: FileDigest) -> None:
    """The file is, byte for byte, the one that was built. Raises BrokenSnapshotError."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BrokenSnapshotError(f"{path}: cannot be read: {error.strerror}") from error
    if found != digest.sha256:
        raise BrokenSnapshotError(f"{path}: is not what was built")


def check_digests(folder: Path, manifest: Manifest) -> list[str]:
    """Names of the files whose bytes are not those that were built."""
    found = digests(folder, {})
    wrong = [name for name, digest in manifest.files.items() if found.get(name) != digest]
    return sorted(wrong + [name for name in found if name not in manifest.files])


def digests(folder: Path, known: dict[tuple[int, int], FileDigest]) -> dict[str, FileDigest]:
    """Size and SHA-256 of every file below ``folder`` but the manifest.

    ``known`` gives digests of files by (device, inode), for those that are hard links into an older snapshot.
    """
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file() and p != folder / MANIFEST]

    def one(path: Path) -> FileDigest:
        stat = path.stat()
        linked = known.get((stat.st_dev, stat.st_ino))
        if linked is not None:
            return linked
        with path.open("rb") as file:
            return FileDigest(stat.st_size, hashlib.file_digest(file, "sha256").hexdigest())

    names = [path.relative_to(folder).as_posix() for path in paths]
    if known:  # an update: what is left is soon done
        return dict(zip(names, map(one, paths), strict=True))
    from concurrent.futures import ThreadPoolExecutor  # 10 ms that a query and an update do not need

    with ThreadPoolExecutor(2) as pool:  # hashing works outside the interpreter lock
        return dict(zip(names, pool.map(one, paths), strict=True))


def inodes(folder: Path, manifest: Manifest) -> dict[tuple[int, int], FileDigest]:
    """Digests of a snapshot's files by (device, inode)."""
    result = {}
    for name, digest in manifest.files.items():
        with contextlib.suppress(OSError):
            stat = (folder / name).stat()
            result[stat.st_dev, stat.st_ino] = digest
    return result


def sync_tree(folder: Path) -> None:
    """Flush every file and folder below ``folder`` to the disk.

    A hard link is into a snapshot that was published, and flushed then.
    """
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            sync_folder(path)
        elif path.stat().st_nlink == 1:
            with path.open("rb") as file:
                os.fsync(file.fileno())
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Flush a folder's names to the disk, where the system can."""
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def link_or_copy(source: Path, target: Path) -> None:
    """A hard link where the file system has them, else a copy."""
    try:
        os.link(source, target)
    except OSError:
        import shutil

        shutil.copyfile(source, target)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        return [e for e in os.scandir(folder) if not e.name.startswith(".")]
    except OSError:
        return []


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MemidxError(
            f"{folder}: cannot be made: {error.strerror}", hint="check the permissions of the git folder"
        ) from error
