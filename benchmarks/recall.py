"""What the HNSW graph finds of what the exact scan finds, at which settings, and from which size on it pays.

    python benchmarks/recall.py FOLDER… [--sizes N…] [--quick]

FOLDER holds a git repository of pages, or `vault/` with one and `queries.jsonl` beside it. Questions are titles and
headings, then those of the file, 200 of each: what people type, and unlike stored vectors, which a graph finds too
easily. With --sizes also so many of the vectors, taken at random. Recall is recall@50, ties counted as found. Times are
medians of one question asked for 200 rows, one thread each. Cold: a process of its own that opens the file
and asks once, with the import of hnswlib for the graph, without that of numpy, which both need. --quick tries the
settings of memidx alone.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import hnswlib
import numpy as np
import plain

import memidx
from memidx.stores.graph import EF_CONSTRUCTION, GOOD_RECALL, RECALL_AT, SEED, TIE, Graph, M
from memidx.stores.vectors import BASE, Vectors, VectorWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Rows = NDArray[np.float32]

WAYS = [(m, construction) for m in (8, 16, 32) for construction in (100, 200)]
EFS = (50, 100, 200, 400)
QUESTIONS = 200
WINDOW = 200
LEAST = 1_000  # vectors; of fewer, nearly all are asked for, and hnswlib fails where it cannot reach so many
COLD_RUNS = 5
COLD = """
import sys, time
import numpy as np
from pathlib import Path
folder, dimension, rows, ef = Path(sys.argv[1]), *map(int, sys.argv[2:5])
query = np.load(folder / "query.npy")
started = time.perf_counter()
if ef:
    from memidx.stores.graph import FILE, Graph
    Graph.open(folder / FILE, dimension, rows, ef).search(query, min(200, ef))
else:
    from memidx.stores.vectors import Vectors
    Vectors.open(folder, [rows], dimension).scan(query, 200)
print((time.perf_counter() - started) * 1000)
"""


class Material(NamedTuple):
    """The distinct vectors of a vault, and questions by their kind, one unit vector a row."""

    rows: Rows
    questions: Mapping[str, Rows]


def material(folder: Path, place: Path) -> Material:
    source = folder / "vault" if (folder / "vault").is_dir() else folder
    clone = place / "clone"
    subprocess.run(["git", "clone", "-q", str(source.resolve()), str(clone)], check=True)
    vault = memidx.open_vault(clone, environ={}, options=(("vector.graph", "never"),))
    vault.build()
    snapshot, *_ = vault.open_snapshot()
    assert vault.embedder is not None
    headings = []
    for page in sorted(snapshot.catalog.all_pages(), key=lambda p: p.path):
        text = (clone / page.path).read_text(encoding="utf-8", errors="replace")
        headings += [page.title, *(section.heading for section in plain.sections(text))]
    texts = {"headings": headings}
    if (folder / "queries.jsonl").exists():
        texts["questions"] = [json.loads(line)["text"] for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    asked = {}
    for kind, found in texts.items():
        distinct = [text for text in dict.fromkeys(found) if text]
        chosen = distinct[:: max(len(distinct) // QUESTIONS, 1)][:QUESTIONS]
        vectors = np.stack([vault.embedder.embed_query(text) for text in chosen])
        asked[kind] = vectors[np.linalg.norm(vectors, axis=1) > 0]
    return Material(np.array(snapshot.vectors.base), asked)


def build(rows: Rows, m: int, construction: int) -> tuple[Any, float]:
    """The graph, and the processor seconds it took."""
    started = time.process_time()
    index = hnswlib.Index(space="ip", dim=rows.shape[1])
    index.init_index(len(rows), ef_construction=construction, M=m, random_seed=SEED)
    index.set_num_threads(1)
    index.add_items(rows, np.arange(len(rows)), num_threads=1)
    return index, time.process_time() - started


def recall(index: Any, ef: int, questions: Rows, edges: Rows) -> float:
    """Recall@50 at ``ef``. ``edges`` are the cosines of the 50th best row of each question."""
    index.set_ef(ef)
    _, distances = index.knn_query(questions, k=RECALL_AT, num_threads=1)
    return float(np.mean((1.0 - distances) >= edges[:, None] - TIE))


def edges_of(rows: Rows, questions: Rows) -> Rows:
    exact = questions @ rows.T
    return np.partition(exact, exact.shape[1] - RECALL_AT, axis=1)[:, exact.shape[1] - RECALL_AT]


def milliseconds(ask: Callable[[Rows], object], questions: Rows) -> float:
    times = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def cold(folder: Path, dimension: int, rows: int, ef: int) -> float:
    command = [sys.executable, "-c", COLD, str(folder), str(dimension), str(rows), str(ef)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def settings(name: str, found: Material, ways: list[tuple[int, int]]) -> None:
    """One line a way of building."""
    rows = found.rows
    edges = {kind: edges_of(rows, asked) for kind, asked in found.questions.items()}
    for m, construction in ways:
        index, seconds = build(rows, m, construction)
        cells = []
        for ef in EFS:
            shares = [f"{recall(index, ef, asked, edges[kind]):.3f}" for kind, asked in found.questions.items()]
            took = milliseconds(lambda q, i=index: i.knn_query(q[None, :], k=RECALL_AT), found.questions["headings"])
            cells.append(f"{' / '.join(shares)}, {took:.2f} ms")
        print(f"| {name} | {len(rows)} | {m} | {construction} | {seconds:.1f} | {' | '.join(cells)} |", flush=True)


def paying(name: str, found: Material) -> str:
    """Exact scan beside the graph as memidx builds it, at the least ``ef`` that covers the window and finds enough."""
    rows, asked = found.rows, found.questions["headings"]
    index, _ = build(rows, M, EF_CONSTRUCTION)
    edges, ef, reached = edges_of(rows, asked), WINDOW, 0.0
    while (reached := recall(index, ef, asked, edges)) < GOOD_RECALL and ef < 3200:
        ef *= 2
    with tempfile.TemporaryDirectory() as folder:
        place, dimension = Path(folder), rows.shape[1]
        writer = VectorWriter(place / BASE)
        writer.append(rows)
        writer.close()
        file = place / "graph.hnsw"
        index.save_index(str(file))
        np.save(place / "query.npy", asked[0])
        exact = Vectors.open(place, [len(rows)], dimension)
        graph = Graph.open(file, dimension, len(rows), ef)
        warm = [milliseconds(lambda q, ask=ask: ask(q, WINDOW), asked) for ask in (exact.scan, graph.search)]
        runs = [[cold(place, dimension, len(rows), e) for e in (0, ef)] for _ in range(COLD_RUNS)]
        once = [statistics.median(column) for column in zip(*runs, strict=True)]
        size = file.stat().st_size / 1e6
    return (
        f"| {name} | {len(rows)} | {ef} | {reached:.3f} | {size:.0f} | {warm[0]:.2f} | {warm[1]:.2f} "
        f"| {warm[0] / warm[1]:.1f} | {once[0]:.1f} | {once[1]:.1f} | {once[0] / once[1]:.2f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--sizes", nargs="+", type=int, default=[], metavar="N")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    ways = [(M, EF_CONSTRUCTION)] if given.quick else WAYS
    print("recall@50 of headings / questions, then the time of one\n")
    print("| vault | vectors | M | ef_construction | build, cpu s | " + " | ".join(f"ef {ef}" for ef in EFS) + " |")
    print("|" + "---|" * (5 + len(EFS)))
    lines = []
    for folder in given.folders:
        with tempfile.TemporaryDirectory() as place:
            found = material(folder, Path(place))
        shuffled = np.random.default_rng(SEED).permutation(len(found.rows))
        for size in sorted({*(n for n in given.sizes if RECALL_AT < n < len(found.rows)), len(found.rows)}):
            part = found._replace(rows=np.ascontiguousarray(found.rows[shuffled[:size]]))
            settings(folder.name, part, ways)
            if size >= LEAST:
                lines.append(paying(folder.name, part))
    print("\nms of one question; a ratio over 1 is where the graph pays\n")
    print(
        "| vault | vectors | ef | recall | graph, MB | scan, warm | graph, warm | ratio | scan, cold | graph, cold | ratio |"
    )
    print("|" + "---|" * 11)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
