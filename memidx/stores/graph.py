"""The HNSW graph over the base vectors of a snapshot (`hnswlib`).

One node for each distinct vector, added by one thread in row order with a fixed seed, so that the same rows give the
same file. The thread is apart, so that a build that is stopped need not wait for all of them.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memidx.ground.errors import BrokenSnapshotError, MemidxError
from memidx.ground.scores import VectorScore, check_cosine

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FILE = "graph.hnsw"
M = 16
EF_CONSTRUCTION = 100
SEED = 20_090_719
GOOD_RECALL = 0.98
RECALL_AT = 50
TRIED_EF = (200, 400, 800, 1600, 3200)
TIE = 1e-6


class GraphReport(NamedTuple):
    """What the build measured. ``recall`` is recall@50 against the exact scan at ``ef``, ties counted as found."""

    rows: int
    m: int
    ef_construction: int
    ef: int
    recall: float
    questions: int


class GraphBuilder:
    """Builds a graph in a thread while rows arrive."""

    def __init__(self, dimension: int, expected_rows: int) -> None:
        hnswlib = _library()
        self._index: Any = hnswlib.Index(space="ip", dim=dimension)
        self._index.init_index(max(expected_rows, 16), ef_construction=EF_CONSTRUCTION, M=M, random_seed=SEED)
        self._index.set_num_threads(1)
        self._rows = 0
        self._error: Exception | None = None
        self._abandoned = False
        self._queue: queue.Queue[NDArray[np.float32] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name="memidx-graph", daemon=True)
        self._thread.start()

    def append(self, rows: NDArray[np.float32]) -> None:
        """Hand over the next rows, shape (n, dimension)."""
        self._queue.put(rows)

    def finish(self, path: Path, base: NDArray[np.float32], questions: NDArray[np.float32]) -> GraphReport:
        """Wait for the last row, measure recall on ``questions`` (shape (q, dimension)) and save."""
        self._queue.put(None)
        self._thread.join()
        if self._error:
            raise self._error
        self._index.resize_index(max(self._rows, 1))
        report = measure(self._index, base, questions)
        self._index.save_index(str(path))
        # hnswlib does not look whether it could write.
        if (size := path.stat().st_size) != self._index.index_file_size():
            raise MemidxError(f"{path}: only {size} bytes could be written", hint="see that the disk is not full")
        return report

    def abandon(self) -> None:
        """Stop without a result, after the rows that are being added and before those that wait."""
        self._abandoned = True
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (rows := self._queue.get()) is not None:
            if self._error or self._abandoned:
                continue
            try:
                needed = self._rows + len(rows)
                if needed > self._index.get_max_elements():
                    self._index.resize_index(max(needed, 2 * self._index.get_max_elements()))
                self._index.add_items(rows, np.arange(self._rows, needed), num_threads=1)
                self._rows = needed
            except Exception as error:  # noqa: BLE001 - carried over to the thread that waits
                self._error = error


class Graph:
    """A saved graph, opened for queries."""

    def __init__(self, index: Any, rows: int) -> None:
        self._index = index
        self._rows = rows

    @classmethod
    def open(cls, path: Path, dimension: int, rows: int, ef: int) -> Graph:
        """Load the graph (1 to 2 ms for each 1,000 rows). Raises BrokenSnapshotError when it cannot be read.

        The file was looked at before (`check_graph_file`): hnswlib trusts it.
        """
        index = _library().Index(space="ip", dim=dimension)
        try:
            index.load_index(str(path))
            index.set_num_threads(1)
            index.set_ef(ef)
        except Exception as error:  # hnswlib raises RuntimeError and worse
            raise BrokenSnapshotError(f"{path}: cannot be read: {error}", hint="run `memidx build --full`") from error
        if index.get_current_count() != rows:
            raise BrokenSnapshotError(f"{path}: {index.get_current_count()} nodes instead of {rows}")
        return cls(index, rows)

    def search(self, query: NDArray[np.float32], limit: int) -> list[VectorScore]:
        """About the nearest rows; at most as many as the graph holds. None at all when it cannot reach so many."""
        count = min(limit, self._rows)
        if count <= 0:
            return []
        try:
            labels, distances = self._index.knn_query(query[None, :], k=count, num_threads=1)
        except RuntimeError:  # fewer nodes than asked for hang together
            return []
        cosines = np.round(1.0 - distances[0].astype(np.float64), 6)
        check_cosine(float(np.abs(cosines).max()), "the vectors of the graph")
        order = np.lexsort((labels[0], -cosines))
        return [VectorScore(int(labels[0][i]), float(cosines[i])) for i in order]


def measure(index: Any, base: NDArray[np.float32], questions: NDArray[np.float32]) -> GraphReport:
    """The least ``ef`` tried whose recall is good, or the greatest with what it reached."""
    count = min(RECALL_AT, len(base))
    if not count or not len(questions):
        return GraphReport(len(base), M, EF_CONSTRUCTION, TRIED_EF[0], 1.0 if not len(base) else 0.0, len(questions))
    exact = questions @ base.T
    edge = np.partition(exact, exact.shape[1] - count, axis=1)[:, exact.shape[1] - count]
    ef, recall = TRIED_EF[0], 0.0
    for ef in TRIED_EF:
        index.set_ef(max(ef, count))
        try:
            _, distances = index.knn_query(questions, k=count, num_threads=1)
        except RuntimeError:  # fewer nodes than asked for hang together: no recall to speak of
            continue
        recall = float(np.mean((1.0 - distances) >= edge[:, None] - TIE))
        if recall >= GOOD_RECALL:
            break
    return GraphReport(len(base), M, EF_CONSTRUCTION, ef, round(recall, 4), len(questions))


def _library() -> Any:
    try:
        import hnswlib
    except ImportError as error:
        raise MemidxError(
            f"hnswlib cannot be imported: {error}",
            hint="it is built from source: install a C++ compiler, then `pip install --force-reinstall hnswlib`",
        ) from error
    return hnswlib
