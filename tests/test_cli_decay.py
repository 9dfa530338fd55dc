"""feedback, decay and its curves on the command line; what they do to the order of answers."""

import json
import os
import sqlite3
import time
from contextlib import closing

import pytest
from clirun import memidx

from memidx.ledger import Dates
from memidx.opening import open_vault
from memidx.parsing.sidecar import parse_sidecar

SIDECAR = ".memidx/decay.jsonl"
RECENT = "---\nupdated: 2099-01-01\n---\n"


@pytest.fixture
def vault(repo):
    repo.write(
        {
            "a.md": "---\nupdated: 2099-01-01\n---\n# Alpha\n",
            "_rules/r.md": "---\nupdated: 2026-01-01\n---\n# Rule\n",
            "runbooks/roll back.md": "---\nupdated: 2020-01-01\n---\n# Roll back\n",
        }
    )
    repo.commit()
    return repo


def events(repo):
    return parse_sidecar((repo.root / SIDECAR).read_text(encoding="utf-8")).events


def test_feedback_tells_salience_before_and_after_and_retention_now(vault):
    done = memidx("feedback", "a.md", "helpful", "--reason", "saved\nthe day", "--by", "ada", cwd=vault.root)
    assert (done.code, done.err) == (0, "")
    assert done.out == "a.md: salience 1.00 to 1.25, retention 1.250\n"
    assert "salience 1.25 to 0.25" in memidx("feedback", "a.md", "wrong", cwd=vault.root).out
    first, second = events(vault)
    assert (first.kind, first.by, first.reason, first.seq) == ("helpful", "ada", "saved\nthe day", 1)
    assert (second.kind, second.seq, first.blob) == ("wrong", 2, vault.git("hash-object", "a.md"))
    assert abs(first.at - time.time()) < 60
    text = (vault.root / SIDECAR).read_text(encoding="utf-8")
    assert [list(json.loads(line))[:5] for line in text.splitlines()] == [["id", "at", "kind", "path", "blob"]] * 2


def test_feedback_takes_several_pages_from_any_folder(vault, tmp_path):
    done = memidx("feedback", "roll back.md", "../a.md", "a.md", "not-helpful", "--json", cwd=vault.root / "runbooks")
    rows = done.json["feedback"]
    assert [(r["path"], r["kind"], r["salience"]) for r in rows] == [
        ("runbooks/roll back.md", "not_helpful", 0.75),
        ("a.md", "not_helpful", 0.75),
    ]
    done = memidx("feedback", str(vault.root / "a.md"), "helpful", cwd=vault.root / "_rules")
    assert done.out.startswith("a.md: salience 0.75 to 1.00")


def test_feedback_about_no_page_or_with_no_verdict_writes_nothing(vault):
    done = memidx("feedback", "a.md", "runbooks/rollback.md", "helpful", cwd=vault.root)
    assert (done.code, done.out) == (2, "")
    assert "there is no page 'runbooks/rollback.md'" in done.err
    assert "did you mean runbooks/roll back.md" in done.err
    done = memidx("feedback", "a.md", "grand", cwd=vault.root)
    assert done.code == 2
    assert "hint: one of helpful, not-helpful, stale, wrong" in done.err
    assert not (vault.root / SIDECAR).exists()


def test_stale_flags_the_page_until_its_text_changes(vault):
    assert "flagged stale until it changes" in memidx("feedback", "a.md", "stale", cwd=vault.root).out
    assert "(stale)" in memidx("decay", "--flagged", cwd=vault.root).out
    assert "flagged" in memidx("check", "a.md", cwd=vault.root).out
    vault.write({"a.md": "---\nupdated: 2099-01-01\n---\n# Alpha\n\nmended\n"})
    assert memidx("decay", "--flagged", "--json", cwd=vault.root).json["pages"] == []
    assert "flagged" not in memidx("check", "a.md", cwd=vault.root).out
    assert "salience 1.00 to 1.25" in memidx("feedback", "a.md", "helpful", cwd=vault.root).out


def test_an_unreadable_sidecar_stops_with_file_and_line_and_is_left_as_it_is(vault):
    text = '{"kind": "later"}\nnonsense\n'
    vault.write({SIDECAR: text})
    for args in (
        ["feedback", "a.md", "helpful"],
        ["decay"],
        ["decay", "share"],
        ["sweep"],
        ["query", "alpha", "--rank", "composite"],
    ):
        memidx("show", "a.md", cwd=vault.root)
        done = memidx(*args, cwd=vault.root)
        assert (done.code, done.out) == (2, ""), args
        assert f"{SIDECAR}:2: is neither an event nor a conflict marker" in done.err
    assert (vault.root / SIDECAR).read_text() == text
    # What does not rest on it goes on.
    assert memidx("query", "alpha", cwd=vault.root).code == 0


def test_decay_lists_the_coldest_first_with_the_day_they_go_cold(vault):
    rows = memidx("decay", "--at", "2026-03-01", "--json", "-n", "9", cwd=vault.root).json
    assert rows["cold"] == 0.2
    found = {r["path"]: r for r in rows["pages"]}
    assert [r["path"] for r in rows["pages"]] == ["runbooks/roll back.md", "_rules/r.md", "a.md"]
    rule = found["_rules/r.md"]
    # 59 days: exp(-1.18); it is 80.47 days old on 2026-03-22.
    assert (rule["age_days"], round(rule["retention"], 6)) == (59.0, 0.307279)
    assert (rule["cold"], rule["cold_on"], rule["dated_by"]) == (False, "2026-03-22", "page")
    assert found["runbooks/roll back.md"]["cold_on"] == "2020-03-21"
    assert found["a.md"]["age_days"] == 0.0
    text = memidx("decay", "--at", "2026-03-01", cwd=vault.root).out.splitlines()
    assert text[0].split() == ["retention", "salience", "age", "accesses", "cold", "on", "page"]
    assert text[2].split() == ["0.307", "1.00", "59", "d", "0", "2026-03-22", "_rules/r.md"]


def test_decay_filters(vault):
    def paths(*args):
        return [r["path"] for r in memidx("decay", "--json", *args, cwd=vault.root).json["pages"]]

    assert paths("--kind", "rules") == ["_rules/r.md"]
    assert paths("--path", "run*/") == ["runbooks/roll back.md"]
    assert "a.md" not in paths("--cold")
    assert paths("a.md") == ["a.md"]
    assert paths("--cold", "-n", "1") == ["runbooks/roll back.md"]
    assert memidx("decay", "b.md", cwd=vault.root).code == 2
    assert memidx("decay", "--at", "soon", cwd=vault.root).code == 2
    assert memidx("decay", "--out", "x.png", cwd=vault.root).code == 2


def test_decay_plot_draws_text(vault):
    done = memidx("decay", "plot", "_rules/r.md", "--at", "2026-01-01", "--days", "100", cwd=vault.root)
    lines = done.out.splitlines()
    assert done.code == 0
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("   1.00 |a")
    assert lines[-1].endswith("a _rules/r.md")
    assert any("---" in line for line in lines[:16])  # the line of cold
    assert memidx("decay", "plot", cwd=vault.root).code == 2


def test_decay_plot_without_matplotlib_draws_text_and_says_so(vault, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    done = memidx("decay", "plot", "a.md", "--out", "x.svg", cwd=vault.root)
    assert done.code == 1
    assert "pip install 'memidx[plot]'" in done.err
    assert "a a.md" in done.out
    assert not (vault.root / "x.svg").exists()


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_decay_plot_draws_a_file(vault, ending):
    pytest.importorskip("matplotlib")
    done = memidx("decay", "plot", "--kind", "rule", "a.md", "--out", f"x.{ending}", cwd=vault.root)
    assert (done.code, done.out) == (1, "")  # no page is both
    done = memidx("decay", "plot", "a.md", "--out", f"x.{ending}", cwd=vault.root)
    assert (done.code, done.err) == (0, "")
    assert (vault.root / f"x.{ending}").stat().st_size > 1000
    assert memidx("decay", "plot", "a.md", "--out", "x.gif", cwd=vault.root).code == 2


# -- what it does to answers ------------------------------------------------------------------------------------------


def order(repo, *args):
    return [
        hit["path"] for hit in memidx("query", "lighthouse", "--json", "--no-track", *args, cwd=repo.root).json["hits"]
    ]


def test_composite_uses_feedback_accesses_and_recency(repo):
    text = f"{RECENT}# Page\n\nlighthouse\n"
    repo.write(
        {f"{name}.md": text + f"\n{name}\n" for name in "abc"}
        | {"old.md": "---\nupdated: 2010-01-01\n---\n# Page\n\nlighthouse\n\nd\n"}
    )
    repo.commit()
    before = order(repo)
    assert order(repo, "--rank", "composite") == ["a.md", "b.md", "c.md", "old.md"]
    memidx("show", "c.md", cwd=repo.root)
    assert order(repo, "--rank", "composite")[0] == "c.md"
    memidx("feedback", "b.md", "helpful", cwd=repo.root)
    assert order(repo, "--rank", "composite")[:2] == ["b.md", "c.md"]
    explained = memidx("query", "lighthouse", "--rank", "composite", "--json", "--explain", "--no-track", cwd=repo.root)
    parts = {hit["path"]: hit["explain"]["components"] for hit in explained.json["hits"]}
    assert parts["b.md"]["usefulness"] == pytest.approx(2 / 3)
    assert parts["c.md"]["access"] == pytest.approx(0.1)
    assert parts["old.md"]["recency"] < 1e-6
    # Feedback and accesses do not touch the default order.
    assert order(repo) == before


def test_ties_of_the_default_ranking_go_to_the_more_recent_page_once_history_is_known(repo):
    for number, name in enumerate("abc"):
        repo.write({f"{name}.md": f"# Page\n\nlighthouse {'xyz'[number]}\n"})
        repo.commit(when=1_700_000_000 + number * 86_400)
    assert order(repo) == ["a.md", "b.md", "c.md"]  # level, nothing known: by path
    memidx("decay", cwd=repo.root)
    assert order(repo) == ["c.md", "b.md", "a.md"]


def test_since_and_until_use_the_history_of_pages_without_a_date(repo):
    repo.write({"a.md": "# A lighthouse\n"})
    repo.commit(when=1_700_000_000)  # 2023-11-14
    repo.write({"b.md": "# B lighthouse\n", "dated.md": "---\ndate: 2020-05-05\n---\n# D lighthouse\n"})
    repo.commit(when=1_710_000_000)  # 2024-03-09
    assert order(repo, "--since", "2024-01-01") == ["b.md"]
    assert sorted(order(repo, "--until", "2023-12-31")) == ["a.md", "dated.md"]
    assert order(repo, "--since", "2023-11-14", "--until", "2023-11-14") == ["a.md"]
    assert order(repo, "--since", "2024-01-01", "--kind", "note", "--path", "a*") == []


def test_a_revision_is_dated_by_its_own_history(repo):
    repo.write({"a.md": "# A\n"})
    repo.commit(when=1_700_000_000)
    repo.write({"a.md": "# A lighthouse\n"})
    repo.commit(when=1_710_000_000)
    vault = open_vault(repo.root, environ={**os.environ, "MEMIDX_VECTOR_MODEL": "none"})
    from memidx.ground.source import Source

    old = Dates(vault, Source("rev", "HEAD~1"), pages=1, now=2e9, walk=True)
    assert old("a.md", repo.git("rev-parse", "HEAD~1:a.md")) == 1_700_000_000


def test_history_feedback_and_accesses_change_no_byte_of_the_snapshot(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    repo.commit()
    key = memidx("build", "--full", "--json", cwd=repo.root).json["snapshot"]
    memidx("query", "lighthouse", "--rank", "composite", cwd=repo.root)
    memidx("feedback", "a.md", "helpful", cwd=repo.root)
    assert memidx("build", "--json", cwd=repo.root).json["snapshot"] == key
    catalog = repo.git_dir / f"memidx/snapshots/{key}/catalog.db"
    if catalog.exists():
        with closing(sqlite3.connect(catalog)) as db:
            assert db.execute("SELECT changed_at FROM pages").fetchall() == [(None,)]
    assert memidx("status", "--verify", cwd=repo.root).code == 0
