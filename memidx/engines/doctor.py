"""Looking for what could keep memidx from working. Each finding says what to do about it."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, NamedTuple

from memidx.ground.errors import BrokenSnapshotError, LockedError, MemidxError, ModelError, OtherFormatError
from memidx.stores.snapshots import Snapshots, check_digests, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memidx.ground.model import Embedder
    from memidx.stores.git import Git

State = Literal["ok", "warn", "fail"]
OLDEST_GIT = (2, 31)  # `rev-parse --path-format`
REBUILD = "run `memidx build --full`"
REMOVE = "run `memidx gc --keep 0`, which removes it"


class Finding(NamedTuple):
    """One thing that was looked at. ``remedy`` is empty when all is well."""

    name: str
    state: State
    message: str
    remedy: str = ""


class Library(NamedTuple):
    """A library: its version, and what went wrong when it was imported ("" when nothing did)."""

    name: str
    version: str | None
    problem: str


class Machine(NamedTuple):
    """What the caller found out about this computer."""

    memidx: str
    python: str
    platform: str
    libraries: tuple[Library, ...]
    compiler: str | None  # its path


def machine_findings(machine: Machine) -> Iterator[Finding]:
    """About Python, the libraries and the compiler that one of them is built with."""
    yield Finding("memidx", "ok", f"{machine.memidx}, Python {machine.python}, {machine.platform}")
    broken = [library for library in machine.libraries if library.version is None or library.problem]
    for library in broken:
        why = library.problem or "is not installed"
        yield Finding("library", "fail", f"{library.name}: {why}", f"pip install --force-reinstall {library.name}")
    if not broken:
        named = ", ".join(f"{library.name} {library.version}" for library in machine.libraries)
        yield Finding("libraries", "ok", named)
    if machine.compiler:
        yield Finding("compiler", "ok", machine.compiler)
    elif any(library.name == "hnswlib" for library in broken):
        yield Finding("compiler", "fail", "no C++ compiler; hnswlib is built with one", "install g++ or clang")
    else:
        yield Finding("compiler", "ok", "none, and none is needed: hnswlib is installed")


def git_finding(version: str) -> Finding:
    """Whether git is new enough."""
    number = re.match(r"(\d+)\.(\d+)", version)
    if number and (int(number[1]), int(number[2])) >= OLDEST_GIT:
        return Finding("git", "ok", version)
    return Finding("git", "fail", f"{version} is too old", "install git 2.31 or newer")


def vault_findings(
    git: Git, snapshots: Snapshots, embedder: Embedder | None, model_error: ModelError | None
) -> Iterator[Finding]:
    """About one vault and what is derived from it."""
    where = git.where
    yield Finding("vault", "ok", str(where.root))
    if where.shallow:
        message = "this clone is shallow: the age of most pages is not known, and counts as neutral"
        yield Finding("history", "warn", message, "git fetch --unshallow")
    else:
        yield Finding("history", "ok", "whole")
    yield hooks_finding(git)
    yield model_finding(embedder, model_error)
    yield lock_finding(snapshots.home)
    yield from snapshot_findings(snapshots)


def hooks_finding(git: Git) -> Finding:
    """Where git looks for hooks."""
    path = git.config_get("core.hooksPath", as_path=True)
    if path is None:
        return Finding("hooks", "ok", f"git runs them from {git.where.common_dir / 'hooks'}")
    folder = git.where.top / path
    if folder.is_dir():
        return Finding("hooks", "ok", f"core.hooksPath: git runs them from {folder}")
    return Finding(
        "hooks", "warn", f"core.hooksPath names {folder}, which is not a folder: no hook runs",
        "make the folder, or `git config --unset core.hooksPath`",
    )  # fmt: skip


def model_finding(embedder: Embedder | None, error: ModelError | None) -> Finding:
    """Whether the embedding model is there and whole."""
    try:
        if error:
            raise error
        if embedder is None:
            return Finding("model", "ok", "none, as vector.model says: search by words alone")
        verify = getattr(embedder, "verify", None)
        if verify:
            verify()
        if not embedder.embed_query("memory").any():
            return Finding("model", "fail", f"{embedder.identity.name}: gives no vector", "reinstall it")
    except ModelError as found:
        return Finding("model", "fail", found.message, found.hint)
    return Finding("model", "ok", f"{embedder.identity.name}, {embedder.identity.dimension} dimensions")


def lock_finding(home: Path) -> Finding:
    """Whether another process holds the lock, and whether this one could."""
    if not home.is_dir():
        return Finding("lock", "ok", f"free; {home} is made by the first build")
    try:
        with _lock(home):
            return Finding("lock", "ok", f"free: {home / 'lock'}")
    except LockedError:
        remedy = "wait for it, or stop that process; the lock ends with it"
        return Finding("lock", "warn", f"{home / 'lock'}: another memidx is building", remedy)
    except OSError as error:
        return Finding("lock", "fail", f"{home / 'lock'}: {error.strerror}", "check the permissions of the git folder")
    except MemidxError as error:
        return Finding("lock", "fail", error.message, error.hint)


@contextmanager
def _lock(home: Path) -> Iterator[None]:
    with Snapshots(home, 0.0).lock():
        yield


def snapshot_findings(snapshots: Snapshots) -> Iterator[Finding]:
    """Whether every file of every snapshot is the one that was built."""
    keys: Sequence[str] = snapshots.keys()
    if not keys:
        yield Finding("snapshots", "warn", "nothing has been built yet", "run `memidx build`")
        return
    sound = True
    in_use = snapshots.in_use()
    for key in keys:
        remedy = REBUILD if key in in_use or len(keys) == 1 else REMOVE
        try:
            folder = snapshots.folder(key)
            wrong = check_digests(folder, read_manifest(folder))
        except OtherFormatError as error:
            yield Finding("snapshot", "warn", error.message, "none needed: it is left alone" if error.newer else REMOVE)
        except BrokenSnapshotError as error:
            sound = False
            yield Finding("snapshot", "fail", error.message, remedy)
        else:
            if wrong:
                sound = False
                yield Finding("snapshot", "fail", f"{folder / wrong[0]}: is not what was built", remedy)
    if sound:
        yield Finding("snapshots", "ok", f"{len(keys)}, every file as it was built")
