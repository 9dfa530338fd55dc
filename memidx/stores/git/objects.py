"""Content: from blob ids to bytes, and from files on disk to blob ids."""

from __future__ import annotations

import hashlib
import subprocess
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from memidx.ground.errors import GitError
from memidx.stores.git.disk import Folders
from memidx.stores.git.run import first_line, text

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    from memidx.ground.listing import Entry
    from memidx.stores.git.locate import VaultLocation
    from memidx.stores.git.run import Runner

BATCH = 256  # at most so many pages from disk are held in memory at a time
_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')


class PageChangedError(GitError):
    """A page on disk is no longer what the listing says. The listing is old: make a new one."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed while it was read", hint="run the command again")
        self.path = path


def blob_id(data: bytes, object_format: str) -> str:
    """Git's id of a blob: the hash of ``blob <size>``, a NUL, and the bytes (gitformat-object)."""
    whole = hashlib.new(object_format, usedforsecurity=False)
    whole.update(b"blob %d\0" % len(data))
    whole.update(data)
    return whole.hexdigest()


def quoted(path: str) -> bytes:
    """A path as git quotes it in C style, which lets any byte travel on a line of its own."""
    raw = path.encode("utf-8", "surrogateescape")
    return b'"%s"' % b"".join(b"%c" % byte if byte in _PLAIN else b"\\%03o" % byte for byte in raw)


def hash_files(git: Runner, paths: Sequence[str], *, store: Path | None = None) -> list[str | None]:
    """The blob ids of files, with their filters applied as ``git add`` would (line ends, encodings, clean filters).

    ``paths`` are relative to the top of the work tree. None stands where git could not read a file or a filter
    failed. With ``store`` the filtered content is written there, into an object folder of its own, never into the
    repository. One process for all; when git stops at a file, halves are tried
    until it stands alone.

    One exception to "as git add": a file that is in the index with CRLF keeps it under core.autocrlf, and git does
    not look there when it only hashes. Such an edited page gets the id of its LF form until it is staged.
    """
    if not paths:
        return []
    args = ["-c", "core.safecrlf=false", "hash-object", *(["-w"] if store else []), "--stdin-paths"]
    env = {"GIT_OBJECT_DIRECTORY": str(store)} if store else {}
    done = git.run(*args, stdin=b"\n".join(map(quoted, paths)) + b"\n", env=env, accept=(0, 1, 128))
    ids = text(done.out).split()
    if done.code == 0 and len(ids) == len(paths):
        return list(ids)
    if len(paths) == 1:
        return [None]
    half = len(paths) // 2
    return [*hash_files(git, paths[:half], store=store), *hash_files(git, paths[half:], store=store)]


def read_entries(git: Runner, where: VaultLocation, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
    """Every entry with its content, in the order given. The content always hashes to the entry's blob id.

    A page on disk whose bytes do not hash to its id either went through a filter, and then git filters it again, or
    was changed, and then PageChangedError is raised. A missing object raises GitError with the page's path.
    """
    asked = list(entries)
    from_objects = _read_objects(git, [entry for entry in asked if entry.origin == "object"], {})
    with closing(from_objects):
        for start in range(0, len(asked), BATCH):
            batch = asked[start : start + BATCH]
            on_disk = _read_disk(git, where, [entry for entry in batch if entry.origin == "disk"])
            for entry in batch:
                yield next(from_objects) if entry.origin == "object" else (entry, on_disk[entry.path])


def _read_disk(git: Runner, where: VaultLocation, batch: list[Entry]) -> dict[str, bytes]:
    """Content of files on disk, by path."""
    contents: dict[str, bytes] = {}
    filtered: list[Entry] = []
    folders = Folders(where.root)  # a new one each time: what it knows must not grow old
    for entry in batch:
        data = folders.read(entry.path)
        if data is None:
            raise PageChangedError(entry.path)
        if blob_id(data, where.object_format) == entry.blob:
            contents[entry.path] = data
        else:
            filtered.append(entry)
    if filtered:
        contents.update(_read_filtered(git, where, filtered))
    return contents


def _read_filtered(git: Runner, where: VaultLocation, entries: list[Entry]) -> dict[str, bytes]:
    """Content of files that git filters, by path."""
    import tempfile  # 9 ms, and few vaults have filters

    with tempfile.TemporaryDirectory(prefix="memidx-objects-") as folder:
        ids = hash_files(git, [where.prefix + entry.path for entry in entries], store=Path(folder))
        for entry, found in zip(entries, ids, strict=True):
            if found != entry.blob:
                raise PageChangedError(entry.path)
        pairs = _read_objects(git, entries, {"GIT_OBJECT_DIRECTORY": folder})
        return {entry.path: data for entry, data in pairs}


def _read_objects(
    git: Runner, asked: Sequence[Entry], env: Mapping[str, str]
) -> Generator[tuple[Entry, bytes], None, None]:
    """Stream blobs through one ``cat-file --batch``. A thread writes, so that neither side waits forever."""
    if not asked:
        return
    process = git.popen(("cat-file", "--batch", "--buffer"), env, stdin=subprocess.PIPE)
    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise AssertionError  # all three are piped
    questions = "".join(entry.blob + "\n" for entry in asked).encode("ascii")
    errors: list[bytes] = []
    helpers = [
        threading.Thread(target=_write, args=(process, questions), name="git-input", daemon=True),
        threading.Thread(target=lambda: errors.append(_drain(process)), name="git-errors", daemon=True),
    ]
    for helper in helpers:
        helper.start()
    try:
        for entry in asked:
            header = process.stdout.readline().split()
            if len(header) != 3 or header[1] != b"blob":  # noqa: PLR2004 - id, type and size
                helpers[1].join(timeout=1)
                raise _missing(entry, header, b"".join(errors))
            size = int(header[2])
            data = process.stdout.read(size + 1)
            if len(data) != size + 1:
                raise _missing(entry, [], b"")
            yield entry, data[:-1]
    finally:
        process.kill()  # the answers have been read, or nobody wants the rest
        for helper in helpers:
            helper.join()
        process.stdout.close()
        process.stderr.close()
        process.wait()


def _write(process: subprocess.Popen[bytes], questions: bytes) -> None:
    if process.stdin is None:
        return
    try:
        with process.stdin as pipe:
            pipe.write(questions)
    except (BrokenPipeError, ValueError, OSError):
        return  # git has ended; the reading side says why


def _drain(process: subprocess.Popen[bytes]) -> bytes:
    return process.stderr.read() if process.stderr else b""


def _missing(entry: Entry, header: list[bytes], stderr: bytes) -> GitError:
    if header and header[-1] != b"missing":
        why = f"is not a blob but {text(header[1]) if len(header) > 1 else 'something else'}"
    else:
        said = first_line(stderr)
        why = "is missing" + (f" ({said})" if said else "")
    return GitError(
        f"{entry.path}: object {entry.blob} {why}",
        hint="`git fsck` says what is damaged; in a partial clone `git fetch --refetch --no-filter` gets the rest",
    )
