"""The composition root for looking after a vault: what is wired here is on no query's way."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from memidx.engines.snapshot import Snapshot, blaming_damage
from memidx.ground.errors import BrokenSnapshotError, MemidxError
from memidx.ground.freshness import Work, expected_seconds
from memidx.ground.model import Slow
from memidx.ground.settings import Settings
from memidx.ground.source import WORKTREE, Source
from memidx.opening import load_settings, open_vault
from memidx.parsing.config import set_option
from memidx.stores.git import Git, PageChangedError, find_vault
from memidx.stores.git.trees import VaultFiles, staged_paths, vault_prefixes
from memidx.stores.sidecar import SIDECAR, SidecarFile
from memidx.stores.snapshots import Snapshots
from memidx.vault import LISTING_TRIES, STATE, Vault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from memidx.engines.check import Checked, Sidecar
    from memidx.engines.facts import Facts
    from memidx.engines.hooks import Standing, Step
    from memidx.engines.mend import Mend
    from memidx.ground.diagnostics import Diagnostic, Severity
    from memidx.ground.listing import Listing

NOTE = "warm-after"  # in the git folder of a work tree; hooks/post-commit reads it
SIDECAR_CODES = ("sidecar-conflict", "sidecar-unreadable", "sidecar-incomplete")


def check_pages(
    vault: Vault,
    source: Source = WORKTREE,
    *,
    now: float,
    reported: Callable[[str], bool] | None = None,
    least: Severity = "info",
    listing: Listing | None = None,
) -> Checked:
    """Check the pages of a tree. ``reported`` says by path which may be named; default: all. Needs no snapshot.

    ``listing`` is that of ``source``, where the caller has it already.
    """
    for attempt in range(1, LISTING_TRIES + 1):
        taken = listing if listing and attempt == 1 else vault.listing(source)
        try:
            return _check(vault, source, taken, reported=reported, least=least, now=now)
        except PageChangedError:  # somebody saves a page: take the listing again
            if attempt == LISTING_TRIES:
                raise
    raise AssertionError


def _check(
    vault: Vault,
    source: Source,
    listing: Listing,
    *,
    reported: Callable[[str], bool] | None,
    least: Severity,
    now: float,
) -> Checked:
    from memidx.engines.check import Question, Sidecar, check, is_wanted  # with it the parsers, 40 ms

    settings = vault.settings
    files = VaultFiles(vault.git, listing.source, source.value if source.kind == "staged" else None)
    said = reported or (lambda _: True)
    sidecar, others = Sidecar(), list["Diagnostic"]()
    # Each of these reads a file, which of a commit is a process; a hook asks for errors alone.
    if is_wanted(settings, least, "flagged") or (said(SIDECAR) and is_wanted(settings, least, *SIDECAR_CODES)):
        sidecar = _sidecar(vault, listing, files)
    if said(SIDECAR) and is_wanted(settings, least, "sidecar-merge"):
        from memidx.engines.mend import attributes_findings

        others += attributes_findings(files.read)
    question = Question(listing, now, said, least, sidecar, tuple(others))
    return check(question, vault.git, settings, files, lambda: _known(vault) if reported else {})


def plan_mends(vault: Vault) -> list[Mend]:
    """What `memidx check --fix` would change on disk."""
    from memidx.engines.mend import plan

    return plan(VaultFiles(vault.git, "worktree").read)


def apply_mends(vault: Vault, mends: list[Mend]) -> None:
    """Do it. The sidecar is mended as it is by then, under its lock."""
    from memidx.engines.mend import apply
    from memidx.parsing.sidecar import mend

    for planned in mends:
        if planned.path == SIDECAR:
            sidecar = SidecarFile(vault.root, vault.snapshots.home, vault.settings.build.lock_seconds)
            sidecar.rewrite(mend)
        else:
            with vault.snapshots.lock():
                apply(vault.root, planned)


def _sidecar(vault: Vault, listing: Listing, files: VaultFiles) -> Sidecar:
    from memidx.engines.check import Sidecar

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


def _known(vault: Vault) -> dict[tuple[str, str], Facts]:
    """What the last snapshot says, when it was built with the present settings, and can be read."""
    from memidx.engines.facts import facts_of_row

    key = vault.base_key()
    if key is None:
        return {}
    with suppress(BrokenSnapshotError):
        snapshot = Snapshot(vault.snapshots.folder(key))
        if snapshot.manifest.settings == vault.settings.build_digest():
            with blaming_damage(snapshot):
                return {(row.path, row.blob): facts_of_row(row) for row in snapshot.catalog.all_pages()}
    return {}


# -- hooks ------------------------------------------------------------------------------------------------------------


def vaults_here(
    start: Path, environ: Mapping[str, str], options: Iterable[tuple[str, str]], *, eager: bool = False
) -> Iterator[Vault]:
    """The vaults of the work tree that ``start`` is in, outermost first. Each is opened when it is asked for.

    ``eager`` starts the listing of the working tree at once.
    """
    where = find_vault(start, environ)
    git = Git(where, environ)
    pending = git.start_worktree() if eager else None
    for prefix in vault_prefixes(git, environ.get("GIT_INDEX_FILE")):
        if prefix == where.prefix:
            yield Vault(git, settings_of(where.root, environ, options), environ, pending)
        else:
            yield open_vault(where.top / prefix, environ=environ, options=options)


def settings_of(root: Path, environ: Mapping[str, str], options: Iterable[tuple[str, str]]) -> Settings:
    """The settings of a vault, with ``("part.name", "value")`` pairs over them."""
    settings = load_settings(root, environ)
    for name, value in options:
        settings = set_option(settings, name, value, "--set")
    return settings


def check_staged(vault: Vault, staged: Source, listing: Listing, now: float) -> Checked:
    """The errors in what is about to be committed: pages that it adds or changes, and nothing else."""
    prefix = vault.git.where.prefix
    changed = {p.removeprefix(prefix) for p in staged_paths(vault.git, staged.value) if p.startswith(prefix)}
    if not changed:
        from memidx.engines.check import Checked

        return Checked(0, ())
    return check_pages(vault, staged, now=now, reported=changed.__contains__, least="error", listing=listing)


def preload(vaults: Iterable[Vault]) -> None:
    """Load the models, which builds of changed pages will need. Harmless in a thread beside other work."""
    for vault in vaults:
        with suppress(MemidxError):
            if vault.embedder is not None:
                vault.embedder.embed_query("memory")


def nothing_staged(vault: Vault) -> bool:
    """Whether the next commit would change nothing: after a commit, or before an empty one."""
    return not staged_paths(vault.git, vault.environ.get("GIT_INDEX_FILE"))


def warm(
    vault: Vault, source: Source = WORKTREE, *, budget: float | None = None, listing: Listing | None = None
) -> bool:
    """Build the snapshot of a tree, unless that is expected to take longer than ``budget`` seconds.

    Returns whether the snapshot is there now. ``listing`` is that of ``source``, where the caller has it already.
    """
    inputs = vault.inputs(listing or vault.listing(source))
    if vault.snapshots.has(inputs.key):
        if source.kind == "worktree":
            vault.snapshots.point(vault.worktree, inputs.key, str(vault.git.where.git_dir))
        return True
    if budget is not None:
        from memidx.engines.build import plan

        mode, _, diff, _ = plan(inputs, vault.snapshots, vault.base_key(), full=False)
        touched = len(diff.added) + len(diff.changed) + len(diff.removed)
        pages, update = len(inputs.listing.entries), mode == "update"
        new = (touched if update else pages) if isinstance(inputs.embedder, Slow) else 0
        work = Work(pages, touched, update=update, embedded=new)
        if expected_seconds(work) > budget:
            return False
    vault.build_inputs(inputs, source)
    return True


def is_worktree_warm(vaults: Sequence[Vault], worktree: Sequence[Listing]) -> bool:
    """Whether the snapshots of these working trees are there. Then queries there are pointed to them."""
    for vault, listing in zip(vaults, worktree, strict=True):
        key = vault.inputs(listing).key
        if not vault.snapshots.has(key):
            return False
        vault.snapshots.point(vault.worktree, key, str(vault.git.where.git_dir))
    return True


def leave_note(git: Git) -> None:
    """Tell this commit's post-commit script that there is nothing left to do. The note holds the parent's id."""
    head = git.commit_of_head()
    if head:
        note = git.where.git_dir / STATE / NOTE
        note.parent.mkdir(exist_ok=True)
        note.write_text(f"{head}\n", encoding="ascii")


def hooks_install(start: Path, environ: Mapping[str, str], *, force: bool) -> tuple[list[Step], list[str]]:
    """Put our hooks into the repository that ``start`` is in. Returns the steps, and what else is worth knowing.

    Raises MemidxError with the remedy where that is not for memidx to do.
    """
    from memidx.engines import hooks

    git = Git(find_vault(start, environ), environ)
    with _lock(git):
        steps = hooks.install(git, force=force)
    managers = hooks.standing(git, "").managers
    return steps, [f"{m.name} is in use here too; its own line, for {m.file}:\n{m.line}" for m in managers]


def hooks_uninstall(start: Path, environ: Mapping[str, str]) -> list[Step]:
    """Take our hooks out; what was there before comes back."""
    from memidx.engines import hooks

    git = Git(find_vault(start, environ), environ)
    with _lock(git):
        return hooks.uninstall(git)


def _lock(git: Git) -> AbstractContextManager[None]:
    """Two at once would take each other's temporary files for those of a killed process."""
    return Snapshots(git.where.common_dir / STATE, Settings().build.lock_seconds).lock()


def hooks_status(start: Path, environ: Mapping[str, str], program: str | None) -> Standing:
    """How the hooks stand."""
    from memidx.engines import hooks

    return hooks.standing(Git(find_vault(start, environ), environ), program)
