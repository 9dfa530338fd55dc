"""The composition root for what is known of pages besides their text: feedback, accesses, and when they changed.

A query comes through here too, so libraries and engines are imported where they are used.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from memidx.ground.errors import GitError
from memidx.reading import read_fresh

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from memidx.engines.decay import PageDecay
    from memidx.engines.feedback import Outcome, Said
    from memidx.engines.query import Question
    from memidx.engines.ranking import Usage
    from memidx.engines.snapshot import Snapshot
    from memidx.engines.sweep import Plan
    from memidx.ground.accesses import Accessed
    from memidx.ground.history import History
    from memidx.ground.hits import Hit
    from memidx.ground.source import Source
    from memidx.parsing.sidecar import Sidecar
    from memidx.stores.access import AccessLog
    from memidx.stores.sidecar import SidecarFile
    from memidx.vault import Notify, Vault

SHALLOW = "this clone is shallow: the age of pages without a date is not known; `git fetch --unshallow` gets it"


class Dates:
    """When pages changed, as git tells it. Looked up when the first page is asked about; ``walk`` says how hard.

    Without ``walk`` only what is cached for this very commit is used: a query is not kept waiting.
    """

    def __init__(self, vault: Vault, source: Source, *, pages: int, now: float, walk: bool) -> None:
        self._vault = vault
        self._rev = source.value or "HEAD" if source.kind == "rev" else "HEAD"
        self._now = now
        self._walk = walk
        self._pages = pages
        self.notices: list[str] = []

    def __call__(self, path: str, blob: str) -> int | None:
        """Seconds since the epoch; None when it is not known. A text that was never committed changed just now."""
        history = self.history
        if history is None:
            return None
        return history.changed_at(path, self._bulk) if history.is_committed(path, blob) else int(self._now)

    @cached_property
    def _bulk(self) -> float:
        from memidx.ground.history import bulk_size

        settings = self._vault.settings.decay
        return bulk_size(self._pages, settings.bulk_share, settings.bulk_least)

    @cached_property
    def history(self) -> History | None:
        """None in a shallow clone, where git does not tell, and without ``walk`` also when it is not cached."""
        from memidx.engines.history import open_cache, read_history
        from memidx.ground.history import History

        vault = self._vault
        if vault.git.where.shallow:
            self.notices.append(SHALLOW)
            return None
        try:
            head = vault.git.commit_of_head() if self._rev == "HEAD" else vault.git.resolve(self._rev)
            if head is None:
                return History("", {})
            cache = open_cache(vault.git, vault.settings, vault.snapshots.home)
            return read_history(vault.git, cache, head, vault.selector) if self._walk else cache.load(head)
        except GitError as error:
            self.notices.append(f"the age of pages without a date is not known: {error.message}")
            return None


# -- on the way of a query ------------------------------------------------------------------------------------------


def informed(vault: Vault, question: Question, snapshot: Snapshot, source: Source) -> tuple[Question, Dates]:
    """The question with what its ranking needs to know. Raises SidecarError when that needs feedback it cannot read."""
    composite = question.rank == "composite"
    filters = question.filters
    walk = composite or filters.since is not None or filters.until is not None
    dates = Dates(vault, source, pages=snapshot.manifest.counts["pages"], now=question.now, walk=walk)
    usage = question.usage
    if composite and not usage:
        usage = usage_of(vault, snapshot, question.now)
    return replace(question, changed=dates, usage=usage), dates


def usage_of(vault: Vault, snapshot: Snapshot, now: float) -> dict[int, Usage]:
    """Feedback and accesses of every page that has any, by page id."""
    from memidx.engines.ranking import Usage
    from memidx.ground.accesses import accesses
    from memidx.ground.events import Judged, Page, judge

    sidecar, _ = read_sidecar(vault)
    places = [Page(path, blob) for path, blob in snapshot.catalog.listing()]
    judged = judge(sidecar.events, places, vault.settings.decay)
    used = accesses([*sidecar.accessed, *accesses_here(vault)], places, now)
    ids = snapshot.catalog.page_ids({**judged, **used})
    fresh = Judged()
    found = {}
    for path, page in ids.items():
        state = judged.get(path, fresh)
        found[page] = Usage(state.helpful, state.unhelpful, used[path].times if path in used else 0)
    return found


def count(vault: Vault, pages: Sequence[tuple[str, str]], now: float) -> None:
    """Note that these (path, blob) pages were returned or read, unless decay.track says no. Fails for nobody."""
    if pages and vault.settings.decay.track:
        prefix = vault.git.where.prefix
        access_log(vault).count([(prefix + path, blob) for path, blob in pages], now)


def pages_of_hits(vault: Vault, snapshot: Snapshot, hits: Sequence[Hit]) -> list[tuple[str, str]]:
    """The (path, blob) pages of an answer, for ``count``. None where nothing is counted: it costs a look-up."""
    if not hits or not vault.settings.decay.track:
        return []
    rows = snapshot.catalog.pages(snapshot.catalog.page_ids([hit.path for hit in hits]).values())
    return [(row.path, row.blob) for row in rows.values()]


# -- commands -------------------------------------------------------------------------------------------------------


def access_log(vault: Vault) -> AccessLog:
    """The accesses of this clone."""
    from memidx.stores.access import AccessLog

    return AccessLog(vault.snapshots.home)


def accesses_here(vault: Vault) -> list[Accessed]:
    """The counters of this clone for pages of this vault."""
    prefix = vault.git.where.prefix
    rows = access_log(vault).read()
    return [row._replace(path=row.path.removeprefix(prefix)) for row in rows if row.path.startswith(prefix)]


def sidecar_file(vault: Vault) -> SidecarFile:
    """The sidecar's file."""
    from memidx.stores.sidecar import SidecarFile

    return SidecarFile(vault.root, vault.snapshots.home, vault.settings.build.lock_seconds)


def read_sidecar(vault: Vault) -> tuple[Sidecar, tuple[str, ...]]:
    """The sidecar, and what a person should know about it. Raises SidecarError when part of it cannot be read."""
    from memidx.engines.feedback import readable, sidecar_notices
    from memidx.parsing.sidecar import parse_sidecar

    file = sidecar_file(vault)
    sidecar = readable(parse_sidecar(file.read()), str(file.path))
    return sidecar, tuple(sidecar_notices(sidecar))


def give_feedback(
    vault: Vault, specs: Sequence[str], said: Said, cwd: Path | None = None
) -> tuple[list[Outcome], tuple[str, ...]]:
    """Take down a verdict about pages, and tell their retention since. Raises UsageError for a path without a page."""
    from uuid import uuid4

    from memidx.engines import feedback
    from memidx.engines.decay import Knowledge, decay, read_rows
    from memidx.ground.events import Page

    listing = vault.listing()
    pages = feedback.chosen([vault.place(spec, cwd) for spec in specs], listing.entries)
    outcomes = feedback.give_feedback(
        sidecar_file(vault),
        pages,
        listing.entries,
        said,
        settings=vault.settings.decay,
        new_id=lambda: uuid4().hex,
    )
    sidecar, notices = read_sidecar(vault)
    dates = _walked(vault, len(listing.entries), said.at)
    places = [Page(entry.path, entry.blob) for entry in listing.entries]
    known = Knowledge(sidecar, accesses_here(vault), dates.history, places)
    rows = read_rows(vault.git, pages, vault.settings)
    kept = {page.path: page.retention for page in decay(rows, known, vault.settings.decay, said.at)}
    return [o._replace(retention=kept[o.path]) for o in outcomes], (*notices, *dates.notices)


def list_decay(
    vault: Vault, now: float, *, clock: float | None = None, notify: Notify | None = None
) -> tuple[list[PageDecay], tuple[str, ...]]:
    """The decay of every page, the coldest first; what a person should know.

    ``clock`` is the real time when ``now`` is another.
    """
    return read_fresh(vault, lambda snapshot: _decay(vault, snapshot, now, clock), notify)


def _decay(
    vault: Vault, snapshot: Snapshot, now: float, clock: float | None = None
) -> tuple[list[PageDecay], tuple[str, ...]]:
    from memidx.engines.decay import Knowledge, decay
    from memidx.ground.events import Page

    sidecar, notices = read_sidecar(vault)
    rows = list(snapshot.catalog.all_pages())
    dates = _walked(vault, len(rows), now)
    known = Knowledge(sidecar, accesses_here(vault), dates.history, [Page(row.path, row.blob) for row in rows])
    return decay(rows, known, vault.settings.decay, now, clock), (*notices, *dates.notices)


def share(vault: Vault, now: float) -> list[Accessed]:
    """Write this clone's counters into the sidecar, as far as it does not say them yet."""
    from uuid import uuid4

    from memidx.engines import decay
    from memidx.engines.feedback import readable

    rows = accesses_here(vault)
    if not rows:
        return []
    file = sidecar_file(vault)
    return decay.share(
        file,
        rows,
        access_log(vault).name_clone(),
        now=now,
        read=lambda sidecar: readable(sidecar, str(file.path)),
        new_id=lambda: uuid4().hex,
    )


def plan_sweep(
    vault: Vault,
    now: float,
    *,
    limit: int | None = None,
    archive: Path | None = None,
    notify: Notify | None = None,
) -> tuple[Plan, str | None, tuple[str, ...]]:
    """What a sweep would do, and the archive's folder relative to the root. Raises UsageError for a folder outside."""
    from memidx.engines.sweep import plan_sweep as plan
    from memidx.stores.git.history import uncommitted
    from memidx.stores.git.removal import check_folder

    folder = check_folder(vault.git.where, archive) if archive is not None else None
    dirty = uncommitted(vault.git.runner, vault.git.where.prefix)
    taken: Collection[str] = ()
    if folder is not None and (vault.root / folder).exists():
        taken = {path.relative_to(vault.root).as_posix() for path in (vault.root / folder).rglob("*")}
    kept = vault.settings.decay

    def work(snapshot: Snapshot) -> tuple[Plan, str | None, tuple[str, ...]]:
        pages, notices = _decay(vault, snapshot, now)
        found = plan(snapshot.catalog, pages, dirty, kept, now, limit=limit, archive=folder, taken=taken)
        return found, folder, notices

    return read_fresh(vault, work, notify)


def apply_sweep(vault: Vault, plan: Plan, archive: str | None, *, many: bool) -> None:
    """Do it: staged, not committed."""
    from memidx.engines.sweep import sweep

    sweep(vault.git, plan, archive=archive, many=many)


def _walked(vault: Vault, pages: int, now: float) -> Dates:
    from memidx.ground.source import WORKTREE

    dates = Dates(vault, WORKTREE, pages=pages, now=now, walk=True)
    dates.history  # noqa: B018 - looked up here, so that its notices are there
    return dates
