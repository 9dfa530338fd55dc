"""Vectors in flat files, the exact scan, and the graph with its measured recall."""

import os
import subprocess
import sys

import numpy as np
import pytest
from clirun import CHECKOUT
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.settings import VectorSettings
from memidx.stores.embedding import open_embedder
from memidx.stores.embedding.unit import to_unit
from memidx.stores.graph import FILE, Graph, GraphBuilder
from memidx.stores.vectors import BASE, OVERLAY, Vectors, VectorWriter, dots, merge


def unit_rows(count, dimension=16, seed=1):
    return to_unit(np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32))


def written(folder, base, overlay=None):
    sizes = []
    for name, rows in ((BASE, base), (OVERLAY, overlay)):
        if rows is not None:
            writer = VectorWriter(folder / name)
            writer.append(rows)
            writer.close()
            sizes.append(len(rows))
    return Vectors.open(folder, sizes, base.shape[1])


@given(st.integers(1, 40), st.integers(0, 10), st.integers(1, 60), st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_scan_is_the_sorted_list_of_cosines(tmp_path_factory, base, overlay, limit, seed):
    rows = unit_rows(base + overlay, seed=seed)
    vectors = written(tmp_path_factory.mktemp("v"), rows[:base], rows[base:] if overlay else None)
    query = unit_rows(1, seed=seed + 1)[0]
    found = vectors.scan(query, limit)
    expected = sorted(((-round(float(r @ query), 6), i) for i, r in enumerate(rows)))[:limit]
    assert len(found) == min(limit, base + overlay)
    assert np.allclose([f.cosine for f in found], [-c for c, _ in expected], atol=2e-6)
    assert len({f.row for f in found}) == len(found)


@pytest.mark.parametrize("dimension", [256, 384, 100])
def test_a_cosine_does_not_depend_on_the_rows_beside_it(dimension):
    """A BLAS adds in another order for some rows of a block, and splits the rows by the number of threads."""
    rows = unit_rows(301, dimension)
    whole = dots(rows, rows[7])
    for start, end in ((0, 1), (5, 6), (0, 150), (150, 301), (298, 301)):
        assert dots(rows[start:end], rows[7]).tobytes() == whole[start:end].tobytes()
    assert dots(rows[::3], rows[7]).tobytes() == whole[::3].tobytes()


ASKED = """
import numpy as np, sys
from memidx.stores.vectors import Vectors
rows = np.random.default_rng(1).standard_normal((6000, 256)).astype(np.float32)
rows /= np.sqrt((rows * rows).sum(axis=1, keepdims=True))
vectors = Vectors([rows[:5000], rows[5000:]])
print(vectors.scan(rows[7], 50), vectors.background(rows[7]), vectors.cosines(rows[7], range(99)))
"""


def test_answers_are_the_same_for_any_number_of_threads():
    said = {
        subprocess.run(
            [sys.executable, "-c", ASKED],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "3")
    }
    assert len(said) == 1 and b"cosine=1.0" in said.pop()


def test_equal_vectors_come_in_row_order_also_at_the_edge(tmp_path):
    vectors = written(tmp_path, np.repeat(unit_rows(1), 10, axis=0))
    assert [s.row for s in vectors.scan(unit_rows(1)[0], 4)] == [0, 1, 2, 3]


def test_scan_of_some_rows_spans_both_parts(tmp_path):
    rows = unit_rows(12)
    vectors = written(tmp_path, rows[:8], rows[8:])
    found = vectors.scan(rows[9], 3, [2, 5, 9, 11])
    assert found[0].row == 9
    assert {f.row for f in found} <= {2, 5, 9, 11}
    assert np.array_equal(vectors.rows([11, 0]), rows[[11, 0]])


def test_scan_overlay_looks_at_the_overlay_alone(tmp_path):
    rows = unit_rows(12)
    vectors = written(tmp_path, rows[:8], rows[8:])
    assert {s.row for s in vectors.scan_overlay(rows[0], 99)} == {8, 9, 10, 11}
    near = merge([vectors.scan(rows[9], 2), vectors.scan_overlay(rows[9], 2)], 2)
    assert near[0].row == 9 and len(near) == 2


def test_a_truncated_file_is_noticed(tmp_path):
    written(tmp_path, unit_rows(4))
    with pytest.raises(BrokenSnapshotError, match=OVERLAY):
        Vectors.open(tmp_path, [4, 2], 16)
    (tmp_path / BASE).write_bytes((tmp_path / BASE).read_bytes()[:-1])
    with pytest.raises(BrokenSnapshotError, match=BASE):
        Vectors.open(tmp_path, [4], 16)


def test_unit_rows_have_length_one_or_are_zero():
    rows = np.array([[3, 4], [0, 0], [np.inf, 1], [np.nan, 1]], np.float32)
    assert np.allclose(to_unit(rows), [[0.6, 0.8], [0, 0], [0, 0], [0, 0]])


def build_graph(folder, rows, questions):
    builder = GraphBuilder(rows.shape[1], 4)  # fewer than there are: it grows
    for start in range(0, len(rows), 7):
        builder.append(rows[start : start + 7])
    return builder.finish(folder / FILE, rows, questions)


def test_graph_is_the_same_file_twice_and_finds_what_it_says(tmp_path):
    rows, questions = unit_rows(300), unit_rows(20, seed=9)
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    report = build_graph(tmp_path / "a", rows, questions)
    build_graph(tmp_path / "b", rows, questions)
    assert (tmp_path / "a" / FILE).read_bytes() == (tmp_path / "b" / FILE).read_bytes()
    assert report.rows == 300 and report.questions == 20
    graph = Graph.open(tmp_path / "a" / FILE, 16, 300, report.ef)
    exact = [set(np.argsort(-(rows @ q))[:50].tolist()) for q in questions]
    found = [{s.row for s in graph.search(q, 50)} for q in questions]
    recall = np.mean([len(e & f) / 50 for e, f in zip(exact, found, strict=True)])
    assert recall == pytest.approx(report.recall, abs=0.02) and recall > 0.9


def test_a_graph_that_is_given_up_leaves_what_waits():
    """Ctrl-C at 10,000 pages took as long as all the rows that the graph was behind."""
    builder = GraphBuilder(16, 4)
    held = builder._index

    class Slow:
        added = 0

        def add_items(self, rows, *_, **__):
            builder._abandoned = True  # as if it were given up while the first rows are added
            Slow.added += len(rows)

        def __getattr__(self, name):
            return getattr(held, name)

    builder._index = Slow()
    for start in range(0, 300, 3):
        builder.append(unit_rows(300)[start : start + 3])
    builder.abandon()
    assert Slow.added == 3 and not builder._thread.is_alive()


def test_b10_a_graph_never_gives_more_than_it_holds(tmp_path):
    rows = unit_rows(2)
    report = build_graph(tmp_path, rows, rows)
    graph = Graph.open(tmp_path / FILE, 16, 2, report.ef)
    assert {s.row for s in graph.search(rows[0], 50)} == {0, 1}


def test_an_empty_graph_can_be_built_and_asked(tmp_path):
    none = np.zeros((0, 16), np.float32)
    report = GraphBuilder(16, 0).finish(tmp_path / FILE, none, none)
    assert Graph.open(tmp_path / FILE, 16, 0, report.ef).search(unit_rows(1)[0], 5) == []


def test_a_damaged_graph_is_noticed(tmp_path):
    rows = unit_rows(30)
    build_graph(tmp_path, rows, rows)
    with pytest.raises(BrokenSnapshotError):
        Graph.open(tmp_path / FILE, 16, 31, 50)
    (tmp_path / FILE).write_bytes(b"\0" * 10)
    with pytest.raises(BrokenSnapshotError):
        Graph.open(tmp_path / FILE, 16, 30, 50)


def test_few_texts_and_many_texts_give_the_same_vectors():
    texts = [f"the retry budget of service number {n}" for n in range(80)]
    many = open_embedder(VectorSettings()).embed_documents(texts)  # casts the table
    few = open_embedder(VectorSettings()).embed_documents(texts[:5])  # reads the mapped one
    assert np.array_equal(many[:5], few)


def test_a_graph_that_cannot_reach_as_many_as_asked_for_gives_none():
    import hnswlib

    index = hnswlib.Index(space="ip", dim=4)
    index.init_index(10, M=4, ef_construction=10)
    index.add_items(np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 0, 1, 2, 3, 0, 1]])
    for node in range(5):
        index.mark_deleted(node)  # the library then finds five nodes and raises when it is asked for ten
    query = np.eye(4, dtype=np.float32)[0]
    assert Graph(index, 10).search(query, 10) == []
    assert len(Graph(index, 10).search(query, 4)) == 4


@given(st.lists(st.lists(st.integers(0, 29), min_size=1, max_size=5), max_size=6), st.integers(0, 30))
@settings(deadline=None, max_examples=30)
def test_mean_cosines_are_those_of_the_directions_together(tmp_path_factory, groups, base):
    rows = unit_rows(30)
    vectors = written(tmp_path_factory.mktemp("v"), rows[:base], rows[base:])
    query = unit_rows(1, seed=2)[0]
    expected = [float(vectors.mean(group) @ query) for group in groups]
    assert vectors.mean_cosines(query, groups) == pytest.approx(expected, abs=2e-6)


def test_a_page_of_very_many_sections_has_a_direction_like_any_other(tmp_path):
    """They are added at once: a step for each section made a question about such a page slow."""
    rows = unit_rows(300)
    vectors = written(tmp_path, rows[:200], rows[200:])
    query = unit_rows(1, seed=2)[0]
    groups = [list(range(300)), [7], list(range(65)), list(range(64))]
    assert vectors.mean_cosines(query, groups) == pytest.approx(
        [float(vectors.mean(g) @ query) for g in groups], abs=2e-6
    )


def test_rows_that_cancel_out_have_no_direction(tmp_path):
    rows = unit_rows(2)
    vectors = written(tmp_path, np.concatenate([rows, -rows]))
    assert vectors.mean_cosines(rows[0], [[0, 2], [0]]) == [0.0, pytest.approx(1.0, abs=1e-6)]
