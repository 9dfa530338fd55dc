"""The file of an HNSW graph, looked at before hnswlib reads it: hnswlib follows the numbers in it wherever they lead.

Layout (hnswlib 0.8, ``saveIndex``; little-endian): six sizes of 8 bytes; the top level and the entry point of 4; five
more numbers of 8; for each node its links on the lowest level (a count of 2 bytes, 2 of flags, ids of 4), its vector
and its label of 8; for each node the length in bytes of its links on the levels above, and these.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from memidx.ground.errors import BrokenSnapshotError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

HEAD = struct.Struct("<6QiI3QdQ")
WORD, LABEL = 4, 8
COUNT = 0xFFFF  # the lower half of a list's first word
MOST_LINKS = 1024


def check_graph_file(path: Path, dimension: int, rows: int) -> None:
    """Raise BrokenSnapshotError unless every number in the file leads to a place in it. 0.3 ms for each 1,000 rows.

    Whether the vectors in it are the right ones is not looked at.
    """
    try:
        data = np.memmap(path, np.uint8, "r")
    except (OSError, ValueError) as error:
        raise BrokenSnapshotError(f"{path}: cannot be read: {error}") from error
    try:
        _check(data, dimension, rows)
    except ValueError as why:
        raise BrokenSnapshotError(f"{path}: is damaged: {why}", hint="run `memidx build --full`") from why


def _check(data: Any, dimension: int, rows: int) -> None:
    """Raises ValueError that says what is wrong."""
    if len(data) < HEAD.size:
        raise ValueError("it is cut short")
    start, most, count, size, label_at, vector_at, top, entry, links, links0, m, _, _ = HEAD.unpack(data[: HEAD.size])
    low = WORD * (1 + links0)
    plan = (start, count, vector_at, label_at, size)
    if links0 > MOST_LINKS or links0 != 2 * links or m != links or most != max(count, 1):
        raise ValueError("its numbers of links")
    if plan != (0, rows, low, low + WORD * dimension, low + WORD * dimension + LABEL):
        raise ValueError("its layout")
    if not rows:
        return
    end = HEAD.size + rows * size
    if len(data) < end + WORD * rows or (len(data) - end) % WORD:
        raise ValueError("it is cut short")
    nodes = data[HEAD.size : end].reshape(rows, size)
    if not np.array_equal(nodes[:, label_at:].copy().view("<u8")[:, 0], np.arange(rows, dtype="<u8")):
        raise ValueError("its labels")
    if not _inside(nodes[:, :low].copy().view("<u4"), rows):
        raise ValueError("its links")
    _check_above(np.frombuffer(data[end:].tobytes(), "<u4"), rows, links, top, entry)


def _inside(lists: Any, rows: int) -> bool:
    """Whether lists of (count, ids …) are no longer than they can be and hold nodes only."""
    counts = lists[:, 0] & COUNT
    ids = lists[:, 1:]
    used = np.arange(ids.shape[1]) < counts[:, None]
    return bool((counts <= ids.shape[1]).all() and (ids[used] < rows).all())


def _check_above(words: NDArray[np.uint32], rows: int, links: int, top: int, entry: int) -> None:
    """The levels above the lowest: a list for each level of each node; most nodes have none."""
    levels = np.zeros(rows, np.int64)
    found: list[tuple[int, Any]] = []
    lengths = memoryview(words)  # type: ignore[arg-type]  # plain numbers, in a third of the time
    each = WORD * (1 + links)
    at = 0
    for node in range(rows):
        length = lengths[at] if at < len(words) else -1
        at += 1
        if length:
            end = at + length // WORD
            if length < 0 or length % each or end > len(words):
                raise ValueError("its levels")
            levels[node] = length // each
            found.append((length // each, words[at:end].reshape(-1, 1 + links)))
            at = end
    if at != len(words) or entry >= rows or top < 0 or levels[entry] != top or levels.max() > top:
        raise ValueError("its levels")
    for level in range(1, top + 1):
        lists = np.stack([part[level - 1] for height, part in found if height >= level])
        if not _inside(lists, rows):
            raise ValueError("its links above")
        used = np.arange(links) < (lists[:, :1] & COUNT)
        if (levels[lists[:, 1:][used]] < level).any():
            raise ValueError("its links above")
