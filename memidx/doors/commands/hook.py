"""`memidx hook`: what the scripts in git's hooks folder call. Quiet, and never in the way of a commit without cause."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.doors.commands.status import counted
from memidx.doors.visible import visible
from memidx.ground.errors import MemidxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.vault import Vault

DONE = 0
# Not 1: that is what a Python that cannot even start gives, and it must not stop a commit.
REFUSED = 11
NAMES = ("pre-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite", "framework")
GRACE_SECONDS = 1.0
# How the pre-commit framework tells its hooks that the work tree has just changed; without one of these it is a commit.
AFTERWARDS = ("PRE_COMMIT_CHECKOUT_TYPE", "PRE_COMMIT_IS_SQUASH_MERGE", "PRE_COMMIT_REWRITE_COMMAND")


class OutOfTimeError(BaseException):
    """The budget is used up. Not an Exception: nothing on the way may take it for one of its own."""


@click.command(
    "hook",
    cls=Command,
    short_help="Do what a git hook of this name is for. The hooks call this.",
    examples=(
        "memidx hook pre-commit",
        'memidx hook post-checkout "$@"',
    ),
)
@click.argument("name", type=click.Choice(NAMES))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@pass_door
def command(door: Door, /, *, name: str, args: tuple[str, ...]) -> int:
    """Do what the hook NAME is for: pre-commit looks at the pages that are being committed and builds their snapshot,
    the others build the snapshot of the working tree. ARGS are what git gave the hook.

    Silent when all is well. A commit waits at most hooks.budget_seconds for its snapshot.

    Exit code: 11 a page of the commit cannot be read as it was meant, 0 everything else.
    """
    del args
    try:
        return _run(door, name)
    except OutOfTimeError:
        return DONE  # the next query builds
    except MemidxError as error:
        why = f"{error.message}; {error.hint}" if error.hint else error.message
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
    except Exception as error:  # noqa: BLE001 - a bug of ours is no reason to stop a commit, nor for a page of talk
        why = f"a bug in memidx: {type(error).__name__}: {error}; run `memidx build` and report what it says"
    door.say.note(visible(f"{name}: {' '.join(why.split())}"))
    return DONE


def _run(door: Door, name: str) -> int:
    from memidx.ground.source import WORKTREE
    from memidx.upkeep import vaults_here, warm

    afterwards = name not in {"pre-commit", "framework"}
    vaults = list(vaults_here(door.cwd, door.environ, door.options, eager=afterwards))
    budget = max((vault.settings.hooks.budget_seconds for vault in vaults), default=0.0)
    if name == "pre-commit":
        return _pre_commit(door, vaults, budget)
    if name == "framework":
        return _framework(door, vaults, budget)
    # A commit waits for its post-commit; a checkout, a merge and a rebase are worth a whole build.
    waits = name == "post-commit"
    with limited(budget if waits else None):
        for vault in vaults:
            warm(vault, WORKTREE, budget=budget if waits else None)
    return DONE


def _pre_commit(door: Door, vaults: list[Vault], budget: float) -> int:
    from memidx.ground.source import Source
    from memidx.upkeep import check_staged, is_worktree_warm, leave_note, preload, warm

    staged = Source("staged", door.environ.get("GIT_INDEX_FILE"))
    # Git and the check leave a processor idle, and the model is most of what a small build waits for.
    loading = threading.Thread(target=preload, args=(vaults,), name="model", daemon=True)
    loading.start()
    running = [vault.git.start_worktree() for vault in vaults]
    listings = [vault.listing(staged) for vault in vaults]
    errors = 0
    for vault, listing in zip(vaults, listings, strict=True):
        found = check_staged(vault, staged, listing, time.time())
        prefix = vault.git.where.prefix
        for note in found.findings:
            door.say.err(visible(str(note._replace(path=prefix + note.path))))
        errors += found.counts.get("error", 0)
    if errors:
        what = counted(errors, "error")
        door.say.note(f"{what} in what you commit: mend it and `git add` it, or commit with --no-verify")
        return REFUSED
    if any(rebasing(vault) for vault in vaults):
        return DONE  # the rebase's last hook builds
    try:
        with limited(budget):
            loading.join()
            pairs = zip(vaults, listings, strict=True)
            ready = all(warm(vault, staged, budget=budget, listing=listing) for vault, listing in pairs)
            on_disk = [run.finish(vault.selector) for run, vault in zip(running, vaults, strict=True)]
            # What takes too long is left to the next query: a commit does not wait again in its post-commit.
            done = not ready or is_worktree_warm(vaults, on_disk)
    except OutOfTimeError:
        done = True
    if done:
        leave_note(vaults[0].git)
    return DONE


def _framework(door: Door, vaults: list[Vault], budget: float) -> int:
    """The pre-commit framework does not say which hook it stands for."""
    from memidx.ground.source import WORKTREE, Source
    from memidx.upkeep import nothing_staged, warm

    with limited(budget):
        for vault in vaults:
            committing = not any(key in door.environ for key in AFTERWARDS) and not nothing_staged(vault)
            staged = Source("staged", door.environ.get("GIT_INDEX_FILE"))
            warm(vault, staged if committing else WORKTREE, budget=budget)
    return DONE


def rebasing(vault: Vault) -> bool:
    """Whether a rebase is in progress in this work tree."""
    git_dir = vault.git.where.git_dir
    return any((git_dir / name).is_dir() for name in ("rebase-merge", "rebase-apply"))


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTimeError in the body after so many seconds; a library that does not let go is left behind later."""
    if seconds is None:
        yield
        return

    def stop(*_: object) -> None:
        raise OutOfTimeError

    last = threading.Timer(seconds + GRACE_SECONDS, os._exit, (DONE,))
    last.daemon = True
    last.start()
    timed = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if timed:
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        last.cancel()
        if timed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
