"""The composition root for looking after a vault: what is wired here is on no query's way."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memidx.engines import mend
from memidx.engines.check import Checked, Question, Sidecar, check
from memidx.engines.initialise import SIDECAR
from memidx.engines.snapshot import Snapshot
from memidx.ground.errors import BrokenSnapshotError
from memidx.stores.git import PageChangedError
from memidx.stores.git.trees import VaultFiles
from memidx.vault import LISTING_TRIES, WORKTREE

if TYPE_CHECKING:
    from collections.abc import Callable

    from memidx.engines.mend import Mend
    from memidx.ground.diagnostics import Severity
    from memidx.ground.listing import Listing
    from memidx.stores.catalog import Catalog
    from memidx.vault import Source, Vault


def check_pages(
    vault: Vault,
    source: Source = WORKTREE,
    *,
    now: float,
    reported: Callable[[str], bool] | None = None,
    least: Severity = "info",
) -> Checked:
    """Check the pages of a tree. ``reported`` says by path which may be named; default: all. Needs no snapshot."""
    for attempt in range(1, LISTING_TRIES + 1):
        listing = vault.listing(source)
        files = VaultFiles(vault.git, listing.source, source.value if source.kind == "staged" else None)
        question = Question(
            listing,
            now,
            reported or (lambda _: True),
            least,
            _sidecar(vault, listing, files),
            tuple(mend.attributes_findings(files.read)),
        )
        try:
            return check(question, vault.git, vault.settings, files, _known(vault) if reported else None)
        except PageChangedError:  # somebody saves a page: take the listing again
            if attempt == LISTING_TRIES:
                raise
    raise AssertionError


def plan_mends(vault: Vault) -> list[Mend]:
    """What `memidx check --fix` would change on disk."""
    return mend.plan(VaultFiles(vault.git, "worktree").read)


def apply_mends(vault: Vault, mends: list[Mend]) -> None:
    """Do it."""
    mend.apply(vault.root, mends)


def _sidecar(vault: Vault, listing: Listing, files: VaultFiles) -> Sidecar:
    data = files.read(SIDECAR)
    if not data:
        return Sidecar()
    from memidx.ground.events import Page, flagged, judge
    from memidx.parsing.sidecar import parse_sidecar, sidecar_findings

    text = data.decode("utf-8", "replace")
    events = parse_sidecar(text).events
    states = judge(events, (Page(entry.path, entry.blob) for entry in listing.entries), vault.settings.decay)
    words = {path: " and ".join(states[path].flags) for path in flagged(states)}
    return Sidecar(sidecar_findings(text, SIDECAR), words)


def _known(vault: Vault) -> Catalog | None:
    """The catalog of the last snapshot, when it was built with the present settings and libraries."""
    key = vault.base_key()
    if key is None:
        return None
    with suppress(BrokenSnapshotError):
        snapshot = Snapshot(vault.snapshots.folder(key))
        if snapshot.manifest.settings == vault.settings.build_digest():
            return snapshot.catalog
    return None
