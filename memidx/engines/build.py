"""snapshot = build(pages, config, model).

A full build streams the pages once: parse, embed, and hand each section to the lexical index, which works in a thread
of its own. A graph, where there is to be one, is built from the vectors. An update copies the catalog, links the
immutable files of its base, and changes what changed. Both are made aside and published by one rename.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from memidx.ground.compaction import Wear, rebuild_reason
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.listing import ListingDiff, diff_listings
from memidx.ground.manifest import FileDigest, Manifest
from memidx.stores.catalog import Catalog, CatalogWriter, room_for_catalog
from memidx.stores.snapshots import (
    CATALOG,
    LEXICAL,
    MANIFEST,
    VECTORS,
    Snapshots,
    check_file,
    digests,
    inodes,
    link_or_copy,
    read_manifest,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memidx.engines.inputs import Inputs
    from memidx.engines.intake import Collected, Intake, Progress, VectorSink
    from memidx.ground.diagnostics import Diagnostic
    from memidx.stores.git import Git
    from memidx.stores.graph import GraphReport
    from memidx.stores.vector_cache import VectorCache
    from memidx.stores.vectors import VectorWriter

Mode = Literal["unchanged", "full", "update"]
RECALL_QUESTIONS = 200
GRAPH_ROWS = 512  # added at a time: a build that is stopped waits for so many


class BuildReport(NamedTuple):
    """What a build did, or with ``dry_run`` would do."""

    key: str
    mode: Mode
    reason: str
    diff: ListingDiff
    sections: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Workshop:
    """The stores a build works with."""

    git: Git
    snapshots: Snapshots
    cache: VectorCache | None


def plan(
    inputs: Inputs, snapshots: Snapshots, base_key: str | None, *, full: bool
) -> tuple[Mode, str, ListingDiff, Manifest | None]:
    """What to do about ``inputs``, with the reason, what differs from the base, and the base to update."""
    if not full and snapshots.has(inputs.key):
        return "unchanged", "already built", ListingDiff((), (), (), len(inputs.listing.entries)), None
    old, listing_before = _base(inputs, snapshots, base_key)
    diff = diff_listings(listing_before, inputs.listing.entries)
    if full:
        return "full", "asked for", diff, None
    if old is None:
        return "full", "nothing to start from", diff, None
    from memidx.stores import lexical  # Tantivy, 5 ms that a build with nothing to do saves

    folder = snapshots.folder(old.key)
    try:
        live, dead, segments = lexical.stats(folder / LEXICAL)
    except BrokenSnapshotError:
        return "full", "the last snapshot is damaged", diff, None
    touched = len(diff.added) + len(diff.changed) + len(diff.removed)
    wear = Wear(
        old.counts["pages"], old.counts["sections"], old.vectors["base"], old.vectors["overlay"], old.vectors["dead"],
        live, dead, segments,
    )  # fmt: skip
    reason = rebuild_reason(wear, touched)
    return ("full", reason, diff, None) if reason else ("update", "pages changed", diff, old)


def build(
    inputs: Inputs, shop: Workshop, base_key: str | None, *, full: bool = False, progress: Progress | None = None
) -> BuildReport:
    """Make the snapshot for ``inputs`` and publish it. Nothing is visible before it is whole."""
    mode, reason, diff, base = plan(inputs, shop.snapshots, base_key, full=full)
    if mode == "unchanged":
        try:
            return _report(inputs, shop.snapshots, mode, reason, diff)
        except BrokenSnapshotError as error:
            mode, reason = "full", f"the snapshot was damaged: {error.message}"
            shop.snapshots.discard(inputs.key)
    with shop.snapshots.staging() as folder, room_for_catalog(folder):
        work = _Work(inputs, shop, folder, progress)
        if mode == "update" and base is not None:
            try:
                work.update(base, diff)
            except BrokenSnapshotError as error:
                mode, reason = "full", f"the last snapshot is damaged: {error.message}"
                _empty(folder)
        if mode == "full":
            work.full()
        publish = shop.snapshots.replace if full else shop.snapshots.publish
        publish(folder, inputs.key)
    return _report(inputs, shop.snapshots, mode, reason, diff)


def _base(inputs: Inputs, snapshots: Snapshots, base_key: str | None) -> tuple[Manifest | None, list[tuple[str, str]]]:
    """The manifest to update from, if it can be, and the (path, blob) pairs it holds."""
    if base_key is None:
        return None, []
    folder = snapshots.folder(base_key)
    try:
        old = read_manifest(folder)
        catalog = Catalog.open(folder / CATALOG)
        try:
            listing = catalog.listing()
        finally:
            catalog.close()
    except BrokenSnapshotError:
        return None, []
    model = inputs.embedder.identity if inputs.embedder else None
    same = old.settings == inputs.settings.build_digest() and old.model == model and old.libraries == inputs.libraries
    return (old if same else None), listing


def _report(inputs: Inputs, snapshots: Snapshots, mode: Mode, reason: str, diff: ListingDiff) -> BuildReport:
    folder = snapshots.folder(inputs.key)
    manifest = read_manifest(folder)
    catalog = Catalog.open(folder / CATALOG)
    try:
        found = tuple(catalog.diagnostics())
    finally:
        catalog.close()
    return BuildReport(inputs.key, mode, reason, diff, manifest.counts["sections"], inputs.listing.notes + found)


class _Work:
    """One build in its staging folder."""

    def __init__(self, inputs: Inputs, shop: Workshop, folder: Path, progress: Progress | None) -> None:
        self.inputs = inputs
        self.shop = shop
        self.folder = folder
        self.progress = progress

    # -- whole ----------------------------------------------------------------------------------------------------

    def full(self) -> None:
        """Build everything from the pages."""
        from memidx.stores import lexical

        catalog = CatalogWriter.create(self.folder / CATALOG)
        (self.folder / LEXICAL).mkdir()
        writer = self._vector_writer()
        intake = self._intake(catalog, [writer] if writer else [])
        try:
            rows = intake.rows(self.inputs.listing.entries)
            lexical.write_index(self.folder / LEXICAL, rows, self.inputs.settings.lexical.language)
            if writer:
                writer.close()
            report = self._graph(intake)
        except BaseException:
            catalog.close()
            if writer:
                writer.close()
            raise
        catalog.finish(indexes=True)
        self._finish(base_rows=intake.next_row, overlay_rows=0, graph=report._asdict() if report else None, linked={})

    def _intake(self, catalog: CatalogWriter, sinks: Sequence[VectorSink]) -> Intake:
        from memidx.engines.intake import Intake  # the parsers: 60 ms that a build with nothing to do saves

        inputs = self.inputs
        return Intake(
            self.shop.git, inputs.settings, catalog, inputs.embedder, self.shop.cache, sinks, progress=self.progress
        )

    def _vector_writer(self) -> VectorWriter | None:
        if self.inputs.embedder is None:
            return None
        from memidx.stores.vectors import BASE, VectorWriter

        (self.folder / VECTORS).mkdir()
        return VectorWriter(self.folder / VECTORS / BASE)

    def _graph(self, intake: Intake) -> GraphReport | None:
        """Build a graph of the vectors that were written, where there is to be one."""
        embedder = self.inputs.embedder
        settings = self.inputs.settings.vector
        # How many vectors there are is only known now. A graph that is begun before, beside the rest of the build,
        # would be in vain for most vaults, and takes as long as all the rest.
        fits = settings.graph == "auto" and settings.graph_min <= intake.next_row <= settings.graph_max
        if embedder is None or not (fits or settings.graph == "always"):
            return None
        import numpy as np

        from memidx.stores.graph import FILE, GraphBuilder
        from memidx.stores.vectors import Vectors

        # What people type looks like titles and headings, and unlike stored vectors, which a graph finds too easily.
        step = max(1, len(intake.questions) // RECALL_QUESTIONS)
        asked = [embedder.embed_query(text) for text in intake.questions[::step][:RECALL_QUESTIONS]]
        asked = [vector for vector in asked if vector.any()]
        dimension = embedder.identity.dimension
        base = Vectors.open(self.folder / VECTORS, [intake.next_row], dimension).base
        questions = np.stack(asked) if asked else np.zeros((0, dimension), np.float32)
        graph = GraphBuilder(dimension, len(base))
        try:
            for start in range(0, len(base), GRAPH_ROWS):
                graph.append(base[start : start + GRAPH_ROWS])
            return graph.finish(self.folder / VECTORS / FILE, base, questions)
        except BaseException:
            graph.abandon()
            raise

    # -- in part --------------------------------------------------------------------------------------------------

    def update(self, base: Manifest, diff: ListingDiff) -> None:
        """Change what changed since ``base``. Raises BrokenSnapshotError when the base cannot be read."""
        import shutil

        from memidx.stores import lexical

        source = self.shop.snapshots.folder(base.key)
        # What is linked keeps the digest it was built with. What is copied gets a new one, which must not vouch for
        # damage that was there before.
        linked = _links(source / MANIFEST, self.folder / MANIFEST)
        for name in base.files:
            if not linked or name == CATALOG or name.endswith((".json", "/overlay.f32")):
                check_file(source / name, base.files[name])
        try:
            shutil.copyfile(source / CATALOG, self.folder / CATALOG)
        except OSError as error:
            raise BrokenSnapshotError(f"{source}: cannot be read: {error.strerror}") from error
        (self.folder / LEXICAL).mkdir()
        catalog = CatalogWriter.update(self.folder / CATALOG)
        gone = sorted(catalog.page_ids([e.path for e in (*diff.changed, *diff.removed)]).values())
        from memidx.engines.intake import Collected

        fresh = Collected()
        intake = self._intake(catalog, [fresh])
        intake.first_page, intake.first_section = catalog.next_ids()
        intake.next_row = base.vectors["base"] + base.vectors["overlay"]
        intake.known = catalog.vectors_by_digest
        # The old rows of a changed page go last: its unchanged sections keep their vectors.
        rows = list(intake.rows(sorted((*diff.added, *diff.changed))))
        catalog.remove_pages(gone)
        language = self.inputs.settings.lexical.language
        lexical.update_index(source / LEXICAL, self.folder / LEXICAL, gone, rows, language, others=catalog.languages())
        overlay_rows = self._update_vectors(base, source, fresh) if base.model else 0
        catalog.finish(indexes=False)
        self._finish(
            base_rows=base.vectors["base"], overlay_rows=overlay_rows, graph=base.graph, linked=inodes(source, base)
        )

    def _update_vectors(self, base: Manifest, source: Path, fresh: Collected) -> int:
        from memidx.stores.graph import FILE
        from memidx.stores.vectors import BASE, OVERLAY, VectorWriter

        (self.folder / VECTORS).mkdir()
        link_or_copy(source / VECTORS / BASE, self.folder / VECTORS / BASE)
        if base.graph:
            link_or_copy(source / VECTORS / FILE, self.folder / VECTORS / FILE)
        old = source / VECTORS / OVERLAY
        if not fresh.arrays:
            if base.vectors["overlay"]:
                link_or_copy(old, self.folder / VECTORS / OVERLAY)
            return base.vectors["overlay"]
        writer = VectorWriter(self.folder / VECTORS / OVERLAY)
        if base.vectors["overlay"]:
            import numpy as np

            writer.append(np.fromfile(old, np.float32).reshape(-1, base.vectors["dimension"]))
        for array in fresh.arrays:
            writer.append(array)
        writer.close()
        return writer.rows

    def _finish(
        self,
        *,
        base_rows: int,
        overlay_rows: int,
        graph: dict[str, object] | None,
        linked: dict[tuple[int, int], FileDigest],
    ) -> None:
        """Write the manifest."""
        catalog = Catalog.open(self.folder / CATALOG)
        counts = catalog.counts()
        kinds, languages = catalog.kinds(), catalog.languages()
        catalog.close()
        model = self.inputs.embedder.identity if self.inputs.embedder else None
        manifest = Manifest(
            key=self.inputs.key,
            listing=self.inputs.listing.digest(),
            settings=self.inputs.settings.build_digest(),
            model=model,
            libraries=self.inputs.libraries,
            counts={
                **counts._asdict(),
                **{f"kind.{kind}": n for kind, n in kinds.items()},
                **{f"language.{language}": n for language, n in languages.items()},
            },
            vectors={
                "dimension": model.dimension if model else 0,
                "base": base_rows if model else 0,
                "overlay": overlay_rows,
                "dead": base_rows + overlay_rows - counts.vectors if model else 0,
            },
            graph=graph,
            files=digests(self.folder, linked),
        )
        (self.folder / MANIFEST).write_bytes(manifest.to_bytes())


def _links(source: Path, target: Path) -> bool:
    """Whether the file system has hard links."""
    try:
        os.link(source, target)
    except OSError:
        return False
    target.unlink()
    return True


def _empty(folder: Path) -> None:
    import shutil

    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            Path(entry.path).unlink()
