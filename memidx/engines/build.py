"""snapshot = build(pages, config, model).

A full build streams the pages once: parse, embed, and hand each section to the lexical index and the graph, which
work in threads of their own. An update copies the catalog, links the immutable files of its base, and changes what
changed. Both are made aside and published by one rename.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from memidx.ground.codes import finding
from memidx.ground.compaction import Wear, rebuild_reason
from memidx.ground.diagnostics import Diagnostic
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.listing import Entry, Listing, ListingDiff, diff_listings
from memidx.ground.manifest import Manifest
from memidx.ground.page import Page, PageRules
from memidx.parsing.page import parse_page
from memidx.stores import lexical
from memidx.stores.catalog import Catalog, SectionRow
from memidx.stores.snapshots import MANIFEST, Snapshots, digests, inodes, link_or_copy, read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from memidx.ground.model import Embedder
    from memidx.ground.settings import Settings
    from memidx.stores.git import Git
    from memidx.stores.graph import GraphBuilder, GraphReport
    from memidx.stores.vector_cache import VectorCache
    from memidx.stores.vectors import VectorWriter

Mode = Literal["unchanged", "full", "update"]
Progress = Callable[[int, int], None]  # pages done, pages in all
CATALOG, LEXICAL, VECTORS = "catalog.db", "lexical", "vectors"
BATCH_SECTIONS = 512
RECALL_QUESTIONS = 200


class BuildReport(NamedTuple):
    """What a build did, or with ``dry_run`` would do."""

    key: str
    mode: Mode
    reason: str
    diff: ListingDiff
    sections: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything a snapshot depends on, but the pages' bytes."""

    listing: Listing
    settings: Settings
    embedder: Embedder | None
    libraries: dict[str, str]
    key: str


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
    with shop.snapshots.staging() as folder:
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


def embedded_text(page: Page, number: int) -> str:
    """What the model sees of a section: the page's title and the heading path, then the text."""
    section = page.sections[number]
    return "\n".join((page.title, *section.heading, section.text))


class _Work:
    """One build in its staging folder."""

    def __init__(self, inputs: Inputs, shop: Workshop, folder: Path, progress: Progress | None) -> None:
        self.inputs = inputs
        self.shop = shop
        self.folder = folder
        self.progress = progress
        self.rules = PageRules(tuple(inputs.settings.pages.kinds.items()), inputs.settings.sections.max_chars)
        self.rows_by_digest: dict[bytes, int | None] = {}
        self.rows_by_vector: dict[bytes, int] = {}
        self.next_row = 0
        self.questions: list[str] = []

    # -- whole ----------------------------------------------------------------------------------------------------

    def full(self) -> None:
        """Build everything from the pages."""
        catalog = Catalog.create(self.folder / CATALOG)
        (self.folder / LEXICAL).mkdir()
        writer, graph = self._vector_outputs()
        try:
            rows = self._rows(self.inputs.listing.entries, catalog, writer, graph, 0, 0)
            lexical.write_index(self.folder / LEXICAL, rows, self.inputs.settings.lexical.language)
            report = self._finish_vectors(writer, graph)
        except BaseException:
            if graph:
                graph.abandon()
            raise
        catalog.finish(indexes=True)
        self._finish(base_rows=self.next_row, overlay_rows=0, graph=report._asdict() if report else None, linked=None)

    def _vector_outputs(self) -> tuple[VectorWriter | None, GraphBuilder | None]:
        embedder = self.inputs.embedder
        if embedder is None:
            return None, None
        from memidx.stores.vectors import BASE, VectorWriter

        (self.folder / VECTORS).mkdir()
        writer = VectorWriter(self.folder / VECTORS / BASE)
        settings = self.inputs.settings.vector
        if settings.graph == "never":
            return writer, None
        from memidx.stores.graph import GraphBuilder

        return writer, GraphBuilder(embedder.identity.dimension, 4 * len(self.inputs.listing.entries))

    def _finish_vectors(self, writer: VectorWriter | None, graph: GraphBuilder | None) -> GraphReport | None:
        embedder = self.inputs.embedder
        if writer is None or embedder is None:
            return None
        writer.close()
        if graph is None:
            return None
        settings = self.inputs.settings.vector
        if settings.graph == "auto" and self.next_row > settings.graph_max:
            graph.abandon()
            return None
        import numpy as np

        from memidx.stores.graph import FILE
        from memidx.stores.vectors import Vectors

        step = max(1, len(self.questions) // RECALL_QUESTIONS)
        asked = [embedder.embed_query(text) for text in self.questions[::step][:RECALL_QUESTIONS]]
        asked = [vector for vector in asked if vector.any()]
        dimension = embedder.identity.dimension
        base = Vectors.open(self.folder / VECTORS, [self.next_row], dimension).base
        questions = np.stack(asked) if asked else np.zeros((0, dimension), np.float32)
        return graph.finish(self.folder / VECTORS / FILE, base, questions)

    # -- in part --------------------------------------------------------------------------------------------------

    def update(self, base: Manifest, diff: ListingDiff) -> None:
        """Change what changed since ``base``. Raises BrokenSnapshotError when the base cannot be read."""
        source = self.shop.snapshots.folder(base.key)
        try:
            shutil.copyfile(source / CATALOG, self.folder / CATALOG)
            if base.model:
                (self.folder / VECTORS).mkdir()
        except OSError as error:
            raise BrokenSnapshotError(f"{source}: cannot be read: {error.strerror}") from error
        catalog = Catalog.update(self.folder / CATALOG)
        gone = catalog.page_ids([e.path for e in (*diff.changed, *diff.removed)])
        # Vectors of the pages that go are looked up first: an edited page keeps those of its unchanged sections.
        self._known = catalog.vectors_by_digest
        first_page, first_section = catalog.next_ids()
        self.next_row = base.vectors["base"] + base.vectors["overlay"]
        fresh = _Collected()
        entries = sorted((*diff.added, *diff.changed))
        rows = list(self._rows(entries, catalog, fresh, None, first_page, first_section, total=len(entries)))
        catalog.remove_pages(sorted(gone.values()))
        lexical.update_index(
            source / LEXICAL, self.folder / LEXICAL, sorted(gone.values()), rows, self.inputs.settings.lexical.language
        )
        overlay_rows = self._update_vectors(base, source, fresh) if base.model else 0
        catalog.finish(indexes=False)
        self._finish(
            base_rows=base.vectors["base"], overlay_rows=overlay_rows, graph=base.graph, linked=inodes(source, base)
        )

    def _update_vectors(self, base: Manifest, source: Path, fresh: _Collected) -> int:
        from memidx.stores.graph import FILE
        from memidx.stores.vectors import BASE, OVERLAY, VectorWriter

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

    # -- both -----------------------------------------------------------------------------------------------------

    def _known(self, digests_: Sequence[bytes]) -> dict[bytes, int | None]:  # replaced by an update
        del digests_
        return {}

    def _rows(
        self,
        entries: Iterable[Entry],
        catalog: Catalog,
        vectors: VectorWriter | _Collected | None,
        graph: GraphBuilder | None,
        page_id: int,
        section_id: int,
        total: int | None = None,
    ) -> Iterator[lexical.LexicalRow]:
        """Parse and embed in batches; catalog the pages; yield the sections for the lexical index."""
        total = len(self.inputs.listing.entries) if total is None else total
        done = 0
        for batch in self._batches(entries):
            texts = [embedded_text(page, n) for page, _ in batch for n in range(len(page.sections))]
            found = [hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
            self._place(texts, found, vectors, graph)
            number = 0
            for page, entry in batch:
                rows = []
                for section in page.sections:
                    digest = found[number]
                    row = self.rows_by_digest.get(digest)
                    rows.append(
                        SectionRow(
                            section_id + number, page_id, section.heading, section.anchor, section.line,
                            section.end_line, digest, row,
                        )  # fmt: skip
                    )
                    number += 1
                catalog.add_page(page_id, page, entry.blob, rows)
                self.questions.extend([page.title, *(s.heading[-1] for s in page.sections if s.heading)])
                for row_, section in zip(rows, page.sections, strict=True):
                    yield lexical.LexicalRow(row_.id, page_id, page.title, section.heading, section.text)
                page_id += 1
            section_id += number
            done += len(batch)
            if self.progress:
                self.progress(done, total)

    def _batches(self, entries: Iterable[Entry]) -> Iterator[list[tuple[Page, Entry]]]:
        batch: list[tuple[Page, Entry]] = []
        sections = 0
        for entry, data in self.shop.git.read(entries):
            if len(data) > self.inputs.settings.pages.max_bytes:
                page = _oversized(entry.path, len(data), self.rules)
            else:
                page = parse_page(entry.path, data, self.rules)
            batch.append((page, entry))
            sections += len(page.sections)
            if sections >= BATCH_SECTIONS:
                yield batch
                batch, sections = [], 0
        if batch:
            yield batch

    def _place(
        self,
        texts: Sequence[str],
        found: Sequence[bytes],
        vectors: VectorWriter | _Collected | None,
        graph: GraphBuilder | None,
    ) -> None:
        """Give every text's digest a vector row: a known one, a cached one, or a new one."""
        if vectors is None or self.inputs.embedder is None:
            return
        import numpy as np

        wanted = {d: t for d, t in zip(found, texts, strict=True) if d not in self.rows_by_digest}
        self.rows_by_digest.update(self._known(list(wanted)))
        wanted = {d: t for d, t in wanted.items() if d not in self.rows_by_digest}
        if not wanted:
            return
        dimension = self.inputs.embedder.identity.dimension
        cached = self.shop.cache.get(list(wanted)) if self.shop.cache else {}
        cached = {d: v for d, v in cached.items() if len(v) == 4 * dimension}
        missing = [d for d in wanted if d not in cached]
        made = self.inputs.embedder.embed_documents([wanted[d] for d in missing])
        fresh = {d: row.tobytes() for d, row in zip(missing, made, strict=True)}
        if self.shop.cache and fresh:
            self.shop.cache.put(fresh)
        new: list[bytes] = []
        nothing = bytes(4 * dimension)
        for digest in wanted:
            vector = cached.get(digest) or fresh[digest]
            if vector == nothing:  # no direction: not in the vector index
                self.rows_by_digest[digest] = None
                continue
            short = hashlib.blake2b(vector, digest_size=16).digest()
            row = self.rows_by_vector.get(short)
            if row is None:
                row = self.rows_by_vector[short] = self.next_row
                self.next_row += 1
                new.append(vector)
            self.rows_by_digest[digest] = row
        if new:
            array = np.frombuffer(b"".join(new), np.float32).reshape(-1, dimension)
            vectors.append(array)
            if graph:
                graph.add(array)

    def _finish(
        self, *, base_rows: int, overlay_rows: int, graph: dict[str, object] | None, linked: dict[tuple[int, int], object] | None
    ) -> None:
        """Write the manifest."""
        catalog = Catalog.open(self.folder / CATALOG)
        counts = catalog.counts()
        kinds = catalog.kinds()
        catalog.close()
        model = self.inputs.embedder.identity if self.inputs.embedder else None
        manifest = Manifest(
            key=self.inputs.key,
            listing=self.inputs.listing.digest(),
            settings=self.inputs.settings.build_digest(),
            model=model,
            libraries=self.inputs.libraries,
            counts={**counts._asdict(), **{f"kind.{kind}": n for kind, n in kinds.items()}},
            vectors={
                "dimension": model.dimension if model else 0,
                "base": base_rows if model else 0,
                "overlay": overlay_rows,
                "dead": base_rows + overlay_rows - counts.vectors if model else 0,
            },
            graph=graph,
            files=digests(self.folder, linked or {}),  # type: ignore[arg-type]
        )
        (self.folder / MANIFEST).write_bytes(manifest.to_bytes())


def _oversized(path: str, size: int, rules: PageRules) -> Page:
    """A page that is only found by its name, because its text is too large to index."""
    bare = parse_page(path, b"", rules)
    return replace(bare, diagnostics=(finding("too-large", path, 0, 0, f"{size} bytes is over pages.max_bytes"),), degraded=True)


class _Collected:
    """New vectors of an update, in row order."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[np.float32]] = []

    def append(self, rows: NDArray[np.float32]) -> None:
        self.arrays.append(rows)


def _empty(folder: Path) -> None:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
