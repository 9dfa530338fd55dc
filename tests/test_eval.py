"""`memidx eval`: measures, comparison, runs in and out."""

import json
import random

import pytest
from clirun import memidx as run_memidx
from hypothesis import given, settings
from hypothesis import strategies as st

import memidx
from memidx.ground.errors import UsageError
from memidx.ground.metrics import MEASURES, dcg, ndcg, randomisation_test, recall, reciprocal_rank
from memidx.parsing.judgements import format_run, parse_qrels, parse_queries, parse_run

ir_measures = pytest.importorskip("ir_measures", reason="the dev extra has it")


def test_measures_by_hand():
    assert dcg([3, 2]) == pytest.approx(3 / 1 + 2 / 1.584962500721156)
    assert ndcg(["x", "a"], {"a": 1}) == pytest.approx(1 / 1.584962500721156)
    assert reciprocal_rank(["x", "y", "a"], {"a": 1, "y": 0}) == pytest.approx(1 / 3)
    assert recall(["a", "b"], {"a": 1, "c": 1, "d": 0}, 10) == 0.5


@given(st.integers(0, 10_000))
@settings(deadline=None, max_examples=40)
def test_measures_agree_with_ir_measures(seed):
    rng = random.Random(seed)
    pool = [f"d{i}" for i in range(150)]
    ranking = rng.sample(pool, rng.randrange(1, 120))
    gains = {d: rng.randrange(0, 4) for d in rng.sample(pool, rng.randrange(1, 30))}
    if not any(gains.values()):
        return
    theirs = {
        "nDCG@10": ir_measures.nDCG @ 10,
        "MRR@10": ir_measures.RR @ 10,
        "R@10": ir_measures.R @ 10,
        "R@100": ir_measures.R @ 100,
        "hit@1": ir_measures.Success @ 1,
    }
    run = {"q": {d: float(len(ranking) - i) for i, d in enumerate(ranking)}}
    found = ir_measures.calc_aggregate(theirs.values(), {"q": gains}, run)
    for name, measure in theirs.items():
        assert MEASURES[name](ranking, gains) == pytest.approx(found[measure], abs=1e-9), name


def test_the_randomisation_test_sees_a_difference_and_does_not_invent_one():
    better = randomisation_test([0.0] * 40, [1.0] * 30 + [0.0] * 10)
    assert better.p < 0.001 and (better.better, better.worse, better.same) == (30, 0, 10)
    level = randomisation_test([0.0, 1.0] * 20, [1.0, 0.0] * 20)
    assert level.p > 0.5 and level.before == level.after == 0.5
    assert randomisation_test([1.0], [1.0]).p == 1.0


@pytest.mark.parametrize(
    ("parse", "text", "where"),
    [
        (parse_queries, '{"_id": "1", "text": "a"}\nnot json\n', "f:2"),
        (parse_queries, '{"_id": "1"}\n', "f:1"),
        (parse_queries, '{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}\n', "f:2"),
        (parse_qrels, "query-id\tpath\tgain\nq\ta.md\n", "f:2"),
        (parse_qrels, "q\ta.md\tx\nq\ta.md\tx\n", "f:2"),
        (parse_run, "q Q0 a.md 1 nan t\n", "f:1"),
        (parse_run, "q a.md 1\n", "f:1"),
    ],
)
def test_a_wrong_line_is_named(parse, text, where):
    with pytest.raises(UsageError, match=where):
        parse(text, "f")


def test_runs_survive_a_round_trip_with_awkward_paths():
    run = {"q 1".replace(" ", "_"): [("a b/100%.md", 2.5), ("c.md", 1.0)]}
    assert parse_run(format_run(run, "t"), "f") == run


@pytest.fixture
def judged(repo):
    repo.write(
        {
            "a.md": "# Apple\n\nred fruit from a tree\n",
            "b.md": "# Boat\n\nsails on the sea\n",
            "c.md": "# Car\n\nhas wheels\n",
        }
    )
    (repo.root / "queries.jsonl").write_text(
        '{"_id": "1", "text": "red fruit"}\n{"_id": "2", "text": "sails sea"}\n{"_id": "3", "text": "unjudged"}\n'
    )
    (repo.root / "qrels.tsv").write_text("query-id\tpath\tgain\n1\ta.md\t1\n2\tb.md\t1\n")
    return repo


def test_eval_prints_the_five_measures_as_json(judged):
    done = run_memidx("eval", "queries.jsonl", "qrels.tsv", "--json", cwd=judged.root)
    plain = json.loads(done.out)
    assert done.code == 0 and plain["queries"] == 2
    assert plain["metrics"] == {"nDCG@10": 1.0, "MRR@10": 1.0, "R@10": 1.0, "R@100": 1.0, "hit@1": 1.0}


def test_eval_compares_two_settings_and_shows_each_query(judged):
    done = run_memidx(
        "eval", "queries.jsonl", "qrels.tsv", "--per-query", "--versus", "--only title", "--json", cwd=judged.root
    )
    plain = json.loads(done.out)
    assert plain["versus"]["metrics"]["nDCG@10"] == 0.0 and plain["versus"]["unanswered"] == 2
    assert plain["comparison"]["hit@1"]["worse"] == 2
    assert set(plain["per_query"]) == {"1", "2"}
    text = run_memidx("eval", "queries.jsonl", "qrels.tsv", "--versus", "--rank relevance", cwd=judged.root)
    assert "nDCG@10" in text.out and "2 queries" in text.out


def test_eval_writes_and_reads_trec_runs(judged):
    assert run_memidx("eval", "queries.jsonl", "qrels.tsv", "--run-out", "out.run", cwd=judged.root).code == 0
    assert (judged.root / "out.run").read_text().startswith("1 Q0 a.md 1 ")
    again = run_memidx("eval", "queries.jsonl", "qrels.tsv", "--run-in", "out.run", "--json", cwd=judged.root)
    assert json.loads(again.out)["metrics"]["nDCG@10"] == 1.0


def test_eval_takes_ranking_options_and_refuses_bad_ones(judged):
    assert run_memidx("eval", "queries.jsonl", "qrels.tsv", "--floor", "0.7", cwd=judged.root).code == 2
    assert run_memidx("eval", "missing.jsonl", "qrels.tsv", cwd=judged.root).code == 2
    assert (
        run_memidx(
            "eval", "queries.jsonl", "qrels.tsv", "--rank", "composite", "--weight", "recency=0.4", cwd=judged.root
        ).code
        == 0
    )


def test_eval_counts_no_access(judged):
    run_memidx("eval", "queries.jsonl", "qrels.tsv", cwd=judged.root)
    vault = memidx.open_vault(judged.root)
    assert not (vault.snapshots.home / "access.jsonl").exists()
