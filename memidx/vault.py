"""The composition root: opens a vault, makes the stores and hands them to the engines.

The CLI, the hooks, the tests and the Python API all come through here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from memidx.engines.inputs import Inputs
from memidx.engines.snapshot import Snapshot
from memidx.ground.errors import BrokenSnapshotError, MemidxError, ModelError, NoSnapshotError, StaleError
from memidx.ground.freshness import Work, refresh_or_not
from memidx.ground.manifest import content_key
from memidx.ground.model import Slow
from memidx.ground.source import WORKTREE, Source
from memidx.parsing.selector import make_selector
from memidx.reading import Opened, read_fresh, read_twice
from memidx.stores.embedding import open_embedder
from memidx.stores.git import PageChangedError
from memidx.stores.libraries import installed_versions
from memidx.stores.snapshots import Snapshots, worktree_id

if TYPE_CHECKING:
    from memidx.engines.build import BuildReport
    from memidx.engines.export import Exported
    from memidx.engines.feedback import Outcome
    from memidx.engines.query import QueryOptions, Ranked
    from memidx.engines.show import Shown
    from memidx.engines.status import Status
    from memidx.ground.hits import Answer, Freshness
    from memidx.ground.listing import Listing
    from memidx.ground.model import Embedder
    from memidx.ground.settings import Settings
    from memidx.parsing.judgements import JudgedQuery, Run
    from memidx.stores.git import Git, WorktreeRun
    from memidx.stores.vector_cache import VectorCache

STATE, CACHE = "memidx", "cache"
LISTING_TRIES = 4
Refresh = Literal["auto", "never", "required"]
Notify = Callable[[str], None]


class Vault:
    """One vault, opened. Cheap to make: each store is opened when it is first used."""

    def __init__(
        self, git: Git, settings: Settings, environ: Mapping[str, str], pending: WorktreeRun | None = None
    ) -> None:
        self.git = git
        self.settings = settings
        self.environ = environ
        self._pending = pending
        self.root = git.where.root
        self.selector = make_selector(settings.pages.include, settings.pages.exclude)
        self.snapshots = Snapshots(git.where.common_dir / STATE, settings.build.lock_seconds)
        self.worktree = worktree_id(str(git.where.git_dir), git.where.prefix)

    # -- what a snapshot depends on -------------------------------------------------------------------------------

    @cached_property
    def _model(self) -> tuple[Embedder | None, ModelError | None]:
        try:
            embedder = open_embedder(self.settings.vector, self.root, self.snapshots.home / CACHE)
            if embedder is not None:
                _ = embedder.identity  # some models only know it once they are loaded
        except ModelError as error:
            return None, error
        return embedder, None

    @property
    def embedder(self) -> Embedder | None:
        """The embedding model; None when there is none, or when it cannot be used (``model_error`` says why)."""
        return self._model[0]

    @property
    def model_error(self) -> ModelError | None:
        """Why the configured model cannot be used."""
        return self._model[1]

    def listing(self, source: Source = WORKTREE) -> Listing:
        """The pages of a tree."""
        if source.kind == "staged":
            return self.git.staged(self.selector, source.value)
        if source.kind == "rev":
            return self.git.revision(source.value or "HEAD", self.selector)
        pending, self._pending = self._pending, None
        return (pending or self.git.start_worktree()).finish(self.selector)

    def inputs(self, listing: Listing) -> Inputs:
        """Everything that the snapshot of ``listing`` depends on."""
        model = self.embedder.identity.key() if self.embedder else "none"
        libraries = installed_versions()
        key = content_key(listing.digest(), self.settings.build_digest(), model, libraries)
        return Inputs(listing, self.settings, self.embedder, libraries, key)

    # -- building -------------------------------------------------------------------------------------------------

    def build(
        self,
        source: Source = WORKTREE,
        *,
        full: bool = False,
        progress: Callable[[int, int], None] | None = None,
        now: float | None = None,
    ) -> BuildReport:
        """Make the snapshot of a tree and publish it; nothing to do when it is there."""
        return self.build_inputs(self.inputs(self.listing(source)), source, full=full, progress=progress, now=now)

    def build_inputs(self, inputs: Inputs, source: Source, **options: Any) -> BuildReport:
        """Build; when somebody saves a page meanwhile, take the listing again and start over."""
        for _ in range(LISTING_TRIES):
            try:
                return self._build(inputs, source, **options)
            except PageChangedError:
                inputs = self.inputs(self.listing(source))
        return self._build(inputs, source, **options)

    def plan(self, source: Source = WORKTREE, *, full: bool = False) -> BuildReport:
        """What ``build`` would do."""
        from memidx.engines.build import BuildReport, plan

        inputs = self.inputs(self.listing(source))
        mode, reason, diff, _ = plan(inputs, self.snapshots, self.base_key(), full=full)
        return BuildReport(inputs.key, mode, reason, diff, 0, inputs.listing.notes)

    def _build(
        self,
        inputs: Inputs,
        source: Source,
        *,
        full: bool = False,
        progress: Callable[[int, int], None] | None = None,
        now: float | None = None,
    ) -> BuildReport:
        from memidx.engines.build import Workshop, build

        with self._cache() as cache:
            report = build(
                inputs, Workshop(self.git, self.snapshots, cache), self.base_key(), full=full, progress=progress
            )
        if source.kind == "worktree":
            self.snapshots.point(self.worktree, inputs.key, str(self.git.where.git_dir))
        if report.mode != "unchanged":
            self.snapshots.collect(self.settings.build.keep, time.time() if now is None else now)
        return report

    def base_key(self) -> str | None:
        """The snapshot to start from: this worktree's, else the most recent one."""
        found = self.snapshots.pointer(self.worktree)
        return found or next(iter(self.snapshots.keys()), None)

    @contextmanager
    def _cache(self) -> Iterator[VectorCache | None]:
        if self.embedder is None:
            yield None
            return
        from memidx.stores.vector_cache import VectorCache

        cache = VectorCache(self.snapshots.home / CACHE / self.embedder.identity.document_key() / "vectors.db")
        try:
            yield cache
        finally:
            cache.close()

    # -- asking ---------------------------------------------------------------------------------------------------

    def query(
        self,
        text: str,
        *,
        now: float | None = None,
        refresh: Refresh = "auto",
        source: Source = WORKTREE,
        notify: Notify | None = None,
        track: bool = True,
        **options: Unpack[QueryOptions],
    ) -> Answer:
        """Answer a question from the pages of a tree.

        ``options`` are those of ``QueryOptions``: limit, filters, only, rank, weights, floor and so on. ``now`` is in
        seconds since the epoch, the clock's when it is not given. With ``track`` the pages of the answer count as
        accessed, unless the settings say no.

        Raises StaleError when ``refresh`` is "required" and the index is behind, NoSnapshotError when it is "never"
        and nothing was built yet.
        """
        from memidx.engines.query import answer, make_question  # 25 ms that other commands do without
        from memidx.ledger import count, informed, pages_of_hits

        question = make_question(text, self.settings, now=time.time() if now is None else now, **options)
        if question.only in {None, "vector"} and self.embedder is not None:
            import memidx.stores.vectors  # noqa: F401 - numpy, 65 ms: best spent while git looks at the working tree

        def work(opened: Opened) -> tuple[Ranked, tuple[str, ...], list[tuple[str, str]]]:
            asked, dates = informed(self, question, opened.snapshot, source)
            ranked = answer(opened.snapshot, asked, self.embedder, self.settings)
            pages = pages_of_hits(self, opened.snapshot, ranked.hits) if track else []
            return ranked, tuple(dates.notices), pages

        (snapshot, fresh, notices), (ranked, said, pages) = read_twice(
            self,
            lambda: self.open_snapshot(source, refresh, notify),
            work,
            rebuild=refresh != "never",
            is_broken=lambda done: bool(done[0].broken),
        )
        if self.model_error and question.only in (None, "vector"):
            ranked.degraded.append("vector") if "vector" not in ranked.degraded else None
            notices = (*notices, f"{self.model_error.message}; {self.model_error.hint}")
        count(self, pages, question.now)
        return make_answer(text, snapshot, fresh, ranked, (*notices, *said))

    def open_snapshot(
        self, source: Source = WORKTREE, refresh: Refresh = "auto", notify: Notify | None = None
    ) -> Opened:
        """The snapshot to answer from, whether it is fresh, and what a person should know about that."""
        inputs = self.inputs(self.listing(source))
        notes = tuple(str(note) for note in inputs.listing.notes if note.severity != "info")
        if (snapshot := self._current(inputs, source, refresh)) is not None:
            return Opened(snapshot, "fresh", notes)
        base = self.base_key()
        if refresh == "required":
            raise StaleError("the index is behind the pages", hint="run `memidx build`, or leave --require-fresh out")
        old = self._open_or_none(base)
        if refresh == "never":
            if old is None:
                raise NoSnapshotError(
                    "nothing has been built yet", hint="run `memidx build`, or leave --no-refresh out"
                )
            return Opened(old, "stale", (*notes, "answered from the last build: the pages have changed since"))
        try:
            work = self._work(inputs, old)
        except BrokenSnapshotError:
            old, work = None, self._work(inputs, None)
        if refresh_or_not(work, self.settings.query.refresh_seconds, have_answer=old is not None) == "stale" and old:
            what = f"{work.touched} pages" if work.touched else "the settings"
            words = f"{what} changed since the last build; run `memidx build` for a fresh answer"
            return Opened(old, "stale", (*notes, words))
        if old is None and notify:
            # Not "for the first time": a damaged index, or another version's, is built anew too.
            notify(f"building the index of {len(inputs.listing.entries)} pages")
        report = self.build_inputs(inputs, source)
        return Opened(Snapshot(self.snapshots.folder(report.key)), "refreshed", notes)

    def _current(self, inputs: Inputs, source: Source, refresh: Refresh) -> Snapshot | None:
        """The snapshot of exactly these inputs, if it is there. A damaged one is dropped if it may be rebuilt."""
        if not self.snapshots.has(inputs.key):
            return None
        try:
            snapshot = Snapshot(self.snapshots.folder(inputs.key))
        except BrokenSnapshotError:
            if refresh == "never":
                raise
            self.snapshots.discard(inputs.key)
            return None
        if source.kind == "worktree":
            with suppress(OSError, MemidxError):  # a state folder that must not be written still answers
                self.snapshots.point(self.worktree, inputs.key, str(self.git.where.git_dir))
        return snapshot

    def _open_or_none(self, key: str | None) -> Snapshot | None:
        if key is None:
            return None
        try:
            return Snapshot(self.snapshots.folder(key))
        except BrokenSnapshotError:
            return None

    def _work(self, inputs: Inputs, old: Snapshot | None) -> Work:
        from memidx.ground.listing import diff_listings

        pages = len(inputs.listing.entries)
        if old is None:
            return Work(pages, pages, update=False)
        diff = diff_listings(old.catalog.listing(), inputs.listing.entries)
        touched = len(diff.added) + len(diff.changed) + len(diff.removed)
        model = inputs.embedder.identity if inputs.embedder else None
        same = old.manifest.settings == inputs.settings.build_digest() and old.manifest.model == model
        new = touched if old.manifest.model == model else pages  # another model has seen no page
        return Work(pages, touched, update=same, embedded=new if isinstance(inputs.embedder, Slow) else 0)

    def run(self, queries: Sequence[JudgedQuery], *, now: float, **options: Unpack[QueryOptions]) -> Run:
        """Ask judged queries, as `query` would, of a fresh snapshot. Counts no access."""
        from memidx.engines.evaluate import make_run

        return read_twice(
            self,
            self.open_snapshot,
            lambda opened: make_run(opened.snapshot, queries, self.embedder, self.settings, now=now, **options),
            is_broken=lambda made: bool(made.broken),
        )[1].run

    # -- everyday -------------------------------------------------------------------------------------------------

    def status(self, *, verify: bool = False) -> Status:
        """Whether the index matches the pages, why not, and what is in it. ``verify`` reads every file of it."""
        from memidx.engines.status import status

        broken = self.model_error.message if self.model_error else None
        return status(self.inputs(self.listing()), self.snapshots, self.base_key(), broken, verify=verify)

    def show(self, place: str, cwd: Path | None = None, source: Source = WORKTREE, *, track: bool = True) -> Shown:
        """The page, and with ``path:line`` the section, that ``place`` means from ``cwd`` or from the root.

        With ``track`` it counts as accessed, unless the settings say no.
        """
        from memidx.engines.show import show
        from memidx.ledger import count

        shown = show(*self.place(place, cwd), self.listing(source), self.git, self.settings)
        if track:
            count(self, [(shown.entry.path, shown.entry.blob)], time.time())
        return shown

    def feedback(self, path: str, kind: str, *, reason: str = "", by: str = "", now: float | None = None) -> Outcome:
        """Take down that a page is helpful, not_helpful, stale or wrong, and tell its salience before and after.

        Raises UsageError for another kind or a path without a page, SidecarError when the log cannot be read.
        """
        from memidx.engines.feedback import Said
        from memidx.ledger import give_feedback

        said = Said(kind, time.time() if now is None else now, by, reason)
        return give_feedback(self, [path], said)[0][0]

    def place(self, place: str, cwd: Path | None = None) -> tuple[str, str | None]:
        """A path as a person gave it, and the folder it may be relative to: "" at the root, None outside the vault."""
        here = (cwd or self.root).resolve()
        inside = here.relative_to(self.root).as_posix() if here.is_relative_to(self.root) else None
        if Path(place).is_absolute() and Path(place).is_relative_to(self.root):
            return Path(place).relative_to(self.root).as_posix(), ""
        return place, inside

    def export(self, target: Path, source: Source = WORKTREE) -> Exported:
        """Build what is missing and copy the snapshot to ``target``, for `query --index`."""
        from memidx.engines.export import check_target, export

        check_target(target)
        return read_fresh(self, lambda snapshot: export(snapshot, self.settings, target, time.time()), source=source)

    def collect(self, now: float, keep: int | None = None) -> tuple[list[str], int]:
        """Remove snapshots that nothing needs. Returns their keys and the bytes that came free."""
        from memidx.engines.status import size_of

        before = size_of(self.snapshots.home)
        removed = self.snapshots.collect(self.settings.build.keep if keep is None else keep, now)
        return removed, before - size_of(self.snapshots.home)


def make_answer(text: str, snapshot: Snapshot, fresh: Freshness, ranked: Ranked, notices: Sequence[str]) -> Answer:
    """The frozen answer."""
    from memidx.ground.hits import Answer

    return Answer(
        query=text,
        snapshot=snapshot.key,
        fresh=fresh,
        hits=ranked.hits,
        degraded=tuple(dict.fromkeys(ranked.degraded)),
        filtered=ranked.filtered,
        notices=(*notices, *ranked.notices),
        explain=ranked.explain,
    )
