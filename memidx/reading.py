"""How the composition root reads a snapshot: one that turns out to be damaged is built again, and read once more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from memidx.engines.snapshot import Snapshot, blaming_damage
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.source import WORKTREE, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from memidx.ground.hits import Freshness
    from memidx.vault import Notify, Vault

T = TypeVar("T")


class Opened(NamedTuple):
    """A snapshot to answer from, whether it is fresh, and what a person should know about that."""

    snapshot: Snapshot
    fresh: Freshness
    notices: tuple[str, ...]


def read_twice(
    vault: Vault,
    opening: Callable[[], Opened],
    work: Callable[[Opened], T],
    *,
    rebuild: bool = True,
    is_broken: Callable[[T], bool] = lambda _: False,
) -> tuple[Opened, T]:
    """What ``work`` makes of a snapshot. It must change nothing: it is done again where the snapshot is damaged.

    Damage is what raises BrokenSnapshotError, what raises anything else over files that are not what was built, and
    what ``is_broken`` finds in the result. Without ``rebuild`` it is left as it is: raised, or in the result.
    """
    opened = opening()
    try:
        with blaming_damage(opened.snapshot):
            done = work(opened)
        if not rebuild or not is_broken(done):
            return opened, done
    except BrokenSnapshotError:
        if not rebuild:
            raise
    # The snapshot is derived, so nothing is lost with it.
    vault.snapshots.discard(opened.snapshot.key)
    opened = opening()
    with blaming_damage(opened.snapshot):
        return opened, work(opened)


def read_fresh(
    vault: Vault,
    work: Callable[[Snapshot], T],
    notify: Notify | None = None,
    source: Source = WORKTREE,
    *,
    is_broken: Callable[[T], bool] = lambda _: False,
) -> T:
    """The same over the snapshot of the pages as they are, built if need be."""
    return read_twice(
        vault, lambda: _fresh(vault, notify, source), lambda opened: work(opened.snapshot), is_broken=is_broken
    )[1]


def _fresh(vault: Vault, notify: Notify | None, source: Source) -> Opened:
    snapshot, fresh, notices = vault.open_snapshot(source, notify=notify)
    if fresh == "stale":
        return Opened(Snapshot(vault.snapshots.folder(vault.build(source).key)), "refreshed", notices)
    return Opened(snapshot, fresh, notices)
