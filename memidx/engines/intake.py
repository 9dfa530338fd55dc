"""The intake of a build: pages are read, parsed, embedded and given their numbers, in one stream.

The sections come out for the lexical index; on the way the catalog gets its rows, and each new vector goes to the
vector file and to the graph. Memory is bounded by a batch.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from memidx.ground.codes import finding
from memidx.ground.model import Slow
from memidx.ground.page import Page, PageRules
from memidx.parsing.language import page_language
from memidx.parsing.page import parse_page
from memidx.stores.catalog import CatalogWriter, SectionRow
from memidx.stores.lexical import LexicalRow, chain

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memidx.ground.listing import Entry
    from memidx.ground.model import Embedder
    from memidx.ground.settings import Settings
    from memidx.stores.git import Git
    from memidx.stores.vector_cache import VectorCache

BATCH_SECTIONS = 512
PORTION = 4096  # texts embedded at a time: only a page of some megabytes has more, and its vectors are large
Known = Callable[[Sequence[bytes]], dict[bytes, "int | None"]]
Progress = Callable[[int, int], None]  # pages done, pages in all


class VectorSink(Protocol):
    """Takes the rows of new vectors, in the order of their numbers."""

    def append(self, rows: NDArray[np.float32]) -> None: ...


class Collected:
    """New vectors of an update, kept until the overlay is written."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[np.float32]] = []

    def append(self, rows: NDArray[np.float32]) -> None:
        self.arrays.append(rows)


def embedded_text(page: Page, number: int) -> str:
    """What the model sees of a section: the page's title and the heading path, then the text."""
    section = page.sections[number]
    return "\n".join((page.title, *section.heading, section.text))


@dataclass(slots=True)
class Intake:
    """One stream of pages into one staging folder."""

    git: Git
    settings: Settings
    catalog: CatalogWriter
    embedder: Embedder | None
    cache: VectorCache | None
    sinks: Sequence[VectorSink]  # the vector file, or the collected overlay; and the graph
    first_page: int = 0
    first_section: int = 0
    next_row: int = 0
    known: Known | None = None  # vector rows that the base of an update has already
    progress: Progress | None = None
    questions: list[str] = field(default_factory=list)  # titles and headings, for measuring the graph
    _rows_by_digest: dict[bytes, int | None] = field(default_factory=dict)
    _rows_by_vector: dict[bytes, int] = field(default_factory=dict)

    def rows(self, entries: Sequence[Entry]) -> Iterator[LexicalRow]:
        """Take in the pages of ``entries`` and yield their sections for the lexical index."""
        page_id, section_id, done = self.first_page, self.first_section, 0
        for batch in self._batches(entries):
            texts = [embedded_text(page, n) for page, _ in batch for n in range(len(page.sections))]
            digests = [hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
            self._place(texts, digests, partial(self._tell, done, len(batch), len(entries)))
            placed = iter(digests)
            for page, entry in batch:
                rows = []
                for section in page.sections:
                    digest = next(placed)
                    place = (section.heading, section.anchor, section.line, section.end_line)
                    rows.append(SectionRow(section_id, page_id, *place, digest, self._rows_by_digest.get(digest)))
                    section_id += 1
                language = self._language(page)
                self.catalog.add_page(page_id, page, entry.blob, rows, language)
                self.questions.extend([page.title, *(s.heading[-1] for s in page.sections if s.heading)])
                for row, section in zip(rows, page.sections, strict=True):
                    yield LexicalRow(row.id, page_id, page.title, section.heading, section.text, language)
                page_id += 1
            done += len(batch)
            self._tell(done, 0, len(entries), 1.0)

    def _language(self, page: Page) -> str:
        """The language to stem a page in; "" where the vault's own analysis is the right one."""
        chosen = self.settings.lexical
        if not chosen.by_page or chosen.language == "none":
            return ""
        found = page_language(page, chosen.language)
        return "" if found in chain(chosen.language) else found

    def _tell(self, done: int, pages: int, total: int, share: float) -> None:
        """``done`` pages and ``share`` of the next ``pages`` are through."""
        if self.progress:
            self.progress(done + int(share * pages), total)

    def _batches(self, entries: Iterable[Entry]) -> Iterator[list[tuple[Page, Entry]]]:
        rules = PageRules(tuple(self.settings.pages.kinds.items()), self.settings.sections.max_chars)
        batch: list[tuple[Page, Entry]] = []
        sections = 0
        for entry, data in self.git.read(entries):
            if len(data) > self.settings.pages.max_bytes:
                page = _oversized(entry.path, len(data), rules)
            else:
                page = parse_page(entry.path, data, rules)
            batch.append((page, entry))
            sections += len(page.sections)
            if sections >= BATCH_SECTIONS:
                yield batch
                batch, sections = [], 0
        if batch:
            yield batch

    def _place(self, texts: Sequence[str], digests: Sequence[bytes], tell: Callable[[float], None]) -> None:
        """Give every text's digest a vector row: a known one, or a new one for a new vector."""
        if self.embedder is None:
            return
        wanted = {d: t for d, t in zip(digests, texts, strict=True) if d not in self._rows_by_digest}
        if self.known:
            self._rows_by_digest.update(self.known(list(wanted)))
            wanted = {d: t for d, t in wanted.items() if d not in self._rows_by_digest}
        if not wanted:
            return
        dimension = self.embedder.identity.dimension
        nothing = bytes(4 * dimension)
        new: list[bytes] = []
        for digest, vector in self._vectors(wanted, dimension, tell).items():
            if vector == nothing:  # no direction: not in the vector index
                self._rows_by_digest[digest] = None
                continue
            short = hashlib.blake2b(vector, digest_size=16).digest()
            row = self._rows_by_vector.get(short)
            if row is None:
                row = self._rows_by_vector[short] = self.next_row
                self.next_row += 1
                new.append(vector)
            self._rows_by_digest[digest] = row
        if new:
            import numpy as np

            array = np.frombuffer(b"".join(new), np.float32).reshape(-1, dimension)
            for sink in self.sinks:
                sink.append(array)

    def _vectors(self, wanted: dict[bytes, str], dimension: int, tell: Callable[[float], None]) -> dict[bytes, bytes]:
        """Vectors as float32 bytes, in the order of ``wanted``: cached ones, and new ones, which are then cached.

        What a slow model made is cached portion by portion, and ``tell`` gets the share that is done: a build that is
        stopped goes on from there the next time.
        """
        if self.embedder is None:
            return {}
        cached = self.cache.get(list(wanted)) if self.cache else {}
        cached = {d: v for d, v in cached.items() if len(v) == 4 * dimension}
        missing = [d for d in wanted if d not in cached]
        portion = self.embedder.portion if isinstance(self.embedder, Slow) else PORTION
        fresh: dict[bytes, bytes] = {}
        for start in range(0, len(missing), portion):
            some = missing[start : start + portion]
            made = self.embedder.embed_documents([wanted[d] for d in some])
            new = {d: row.tobytes() for d, row in zip(some, made, strict=True)}
            if self.cache:
                self.cache.put(new)
            fresh.update(new)
            if len(some) < len(missing):
                tell(len(fresh) / len(missing))
        return {d: cached.get(d) or fresh[d] for d in wanted}


def _oversized(path: str, size: int, rules: PageRules) -> Page:
    """A page that is only found by its name, because its text is too large to index."""
    bare = parse_page(path, b"", rules)
    return replace(
        bare, diagnostics=(finding("too-large", path, 0, 0, f"{size} bytes is over pages.max_bytes"),), degraded=True
    )
