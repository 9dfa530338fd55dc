"""The composition root for looking after a vault: what is wired here is on no query's way."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memidx.engines import mend
from memidx.engines.check import Checked, Question, Sidecar, check
from memidx.engines.initialise import SIDECAR
from memidx.engines.snapshot import Snapshot
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.freshness import Work, expected_seconds
from memidx.parsing.sidecar import mend as without_markers
from memidx.stores.git import Git, PageChangedError, find_vault
from memidx.stores.git.trees import VaultFiles, staged_paths, vault_prefixes
from memidx.stores.sidecar import SidecarFile
from memidx.vault import LISTING_TRIES, WORKTREE, Source, Vault, open_vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from memidx.engines.hooks import Standing, Step
    from memidx.engines.mend import Mend
    from memidx.ground.diagnostics import Severity
    from memidx.ground.listing import Listing
    from memidx.stores.catalog import Catalog


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
    """Do it. The sidecar is mended as it is by then, under its lock."""
    for planned in mends:
        if planned.path == SIDECAR:
            sidecar = SidecarFile(vault.root, vault.snapshots.home, vault.settings.build.lock_seconds)
            sidecar.rewrite(without_markers)
        else:
            mend.apply(vault.root, planned)


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


# -- hooks ------------------------------------------------------------------------------------------------------------


def vaults_here(start: Path, environ: Mapping[str, str], options: Iterable[tuple[str, str]]) -> Iterator[Vault]:
    """The vaults of the work tree that ``start`` is in, outermost first. Each is opened when it is asked for."""
    where = find_vault(start, environ)
    git = Git(where, environ)
    for prefix in vault_prefixes(git, environ.get("GIT_INDEX_FILE")):
        yield open_vault(where.top / prefix, environ=environ, options=options)


def check_staged(vault: Vault, now: float) -> Checked:
    """The errors in what is about to be committed: pages that it adds or changes, and nothing else."""
    index_file = vault.environ.get("GIT_INDEX_FILE")
    prefix = vault.git.where.prefix
    changed = {p.removeprefix(prefix) for p in staged_paths(vault.git, index_file) if p.startswith(prefix)}
    if not changed:
        return Checked(0, ())
    staged = Source("staged", index_file)
    return check_pages(vault, staged, now=now, reported=changed.__contains__, least="error")


def nothing_staged(vault: Vault) -> bool:
    """Whether the next commit would change nothing: after a commit, or before an empty one."""
    return not staged_paths(vault.git, vault.environ.get("GIT_INDEX_FILE"))


def warm(vault: Vault, source: Source = WORKTREE, *, budget: float | None = None) -> bool:
    """Build the snapshot of a tree, unless that is expected to take longer than ``budget`` seconds.

    Returns whether the snapshot is there now.
    """
    inputs = vault.inputs(vault.listing(source))
    if vault.snapshots.has(inputs.key):
        if source.kind == "worktree":
            vault.snapshots.point(vault.worktree, inputs.key, str(vault.git.where.git_dir))
        return True
    if budget is not None:
        from memidx.engines.build import plan

        mode, _, diff, _ = plan(inputs, vault.snapshots, vault.base_key(), full=False)
        touched = len(diff.added) + len(diff.changed) + len(diff.removed)
        work = Work(len(inputs.listing.entries), touched, update=mode == "update")
        if expected_seconds(work) > budget:
            return False
    vault._settled(inputs, source)  # noqa: SLF001 - one composition root in two files
    return True


def hooks_install(start: Path, environ: Mapping[str, str], *, force: bool) -> tuple[list[Step], list[str]]:
    """Put our hooks into the repository that ``start`` is in. Returns the steps, and what else is worth knowing.

    Raises MemidxError with the remedy where that is not for memidx to do.
    """
    from memidx.engines import hooks

    git = Git(find_vault(start, environ), environ)
    steps = hooks.install(git, force=force)
    managers = hooks.standing(git, "").managers
    return steps, [f"{m.name} is in use here too; its own line, for {m.file}:\n{m.line}" for m in managers]


def hooks_uninstall(start: Path, environ: Mapping[str, str]) -> list[Step]:
    """Take our hooks out; what was there before comes back."""
    from memidx.engines import hooks

    return hooks.uninstall(Git(find_vault(start, environ), environ))


def hooks_status(start: Path, environ: Mapping[str, str], program: str | None) -> Standing:
    """How the hooks stand."""
    from memidx.engines import hooks

    return hooks.standing(Git(find_vault(start, environ), environ), program)
