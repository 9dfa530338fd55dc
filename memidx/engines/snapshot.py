"""A snapshot opened for reading. Each part is opened when it is first asked for: a cold query pays for what it uses."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from memidx.ground.errors import BrokenSnapshotError, MemidxError
from memidx.stores.catalog import Catalog
from memidx.stores.snapshots import CATALOG, LEXICAL, VECTORS, check_digests, check_sizes, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memidx.ground.manifest import Manifest
    from memidx.stores.graph import Graph
    from memidx.stores.lexical import LexicalIndex
    from memidx.stores.vectors import Vectors


class Snapshot:
    """The parts of one snapshot folder, wherever it is: in a clone, or exported."""

    def __init__(self, folder: Path) -> None:
        """Read the manifest and compare the files' sizes with it. Raises BrokenSnapshotError."""
        self.folder = folder
        self.manifest: Manifest = read_manifest(folder)
        check_sizes(folder, self.manifest)

    @property
    def key(self) -> str:
        return self.manifest.key

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog.open(self.folder / CATALOG)

    @cached_property
    def lexical(self) -> LexicalIndex:
        from memidx.stores.lexical import LexicalIndex

        return LexicalIndex.open(self.folder / LEXICAL)

    @cached_property
    def vectors(self) -> Vectors:
        from memidx.stores.vectors import Vectors

        sizes = self.manifest.vectors
        rows = [sizes["base"], sizes["overlay"]] if sizes["overlay"] else [sizes["base"]]
        return Vectors.open(self.folder / VECTORS, rows, sizes["dimension"])

    @cached_property
    def graph(self) -> Graph:
        from memidx.stores.graph import FILE, Graph
        from memidx.stores.graphfile import check_graph_file

        about = self.manifest.graph or {}
        path, dimension, rows = self.folder / VECTORS / FILE, self.manifest.vectors["dimension"], about["rows"]
        check_graph_file(path, dimension, rows)
        return Graph.open(path, dimension, rows, about["ef"])


@contextmanager
def blaming_damage(snapshot: Snapshot) -> Iterator[None]:
    """A flipped bit can make anything raise: then the files are compared with their digests.

    Raises BrokenSnapshotError where one is not what was built. Over a sound snapshot an error stays what it is, a bug.
    """
    try:
        yield
    except MemidxError:
        raise
    except Exception as error:
        if not (wrong := check_digests(snapshot.folder, snapshot.manifest)):
            raise
        raise BrokenSnapshotError(
            f"{snapshot.folder / wrong[0]}: is not what was built", hint="run `memidx build --full`"
        ) from error
