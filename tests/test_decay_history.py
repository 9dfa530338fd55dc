"""When pages changed, from real histories: bulk commits, moves, merges, shallow clones, rewritten history."""

import os
import random

import pytest
from clirun import memidx
from repo import FIRST_COMMIT, Repo

from memidx.engines import history as engine
from memidx.ground.history import Touch, add_touch, bulk_size
from memidx.ground.source import WORKTREE
from memidx.ledger import Dates, list_decay
from memidx.opening import open_vault
from memidx.stores.git import history as walk

DAY = 86_400
NOW = FIRST_COMMIT + 1000 * DAY
WORDS = {"MEMIDX_VECTOR_MODEL": "none"}


def opened(repo, where=""):
    return open_vault(repo.root / where, environ={**os.environ, **WORDS})


def dates(repo, where=""):
    pages, notices = list_decay(opened(repo, where), NOW)
    return {p.path: (p.changed_at, p.dated_by) for p in pages}, notices


def day(number):
    return FIRST_COMMIT + number * DAY


def test_the_pages_own_date_comes_first_then_the_commit_then_nothing(repo):
    repo.write(
        {
            "dated.md": "---\nupdated: 2024-05-01\n---\n# A\n",
            "plain.md": "# B\n",
            "bad.md": "---\ndate: 2024-02-30\n---\n# C\n",
        }
    )
    repo.commit(when=day(1))
    repo.write({"plain.md": "# B\n\nmore\n"})
    repo.commit(when=day(9))
    repo.write({"new.md": "# D\n"})
    found, _ = dates(repo)
    assert found == {
        "dated.md": (1714521600, "page"),
        "plain.md": (day(9), "history"),
        "bad.md": (day(1), "history"),
        "new.md": (int(NOW), "uncommitted"),
    }


def test_a_bulk_commit_dates_no_page_and_the_one_before_it_does(repo):
    for n in range(30):
        repo.write({f"{n}.md": f"# Page {n}\n"})
        if n % 5 == 4:
            repo.commit(when=day(n))
    repo.write({f"{n}.md": f"# Page {n}\n\nreformatted\n" for n in range(30)})
    repo.commit(when=day(100))
    repo.write({"3.md": "# Page 3\n\nby hand\n"})
    repo.commit(when=day(120))
    found, _ = dates(repo)
    assert found["3.md"] == (day(120), "history")
    assert found["7.md"] == (day(9), "history")
    assert all(at != day(100) for at, _ in found.values())
    # Where nothing is a bulk commit, it counts.
    vault = open_vault(repo.root, environ={**os.environ, **WORDS, "MEMIDX_DECAY_BULK_SHARE": "1"})
    pages, _ = list_decay(vault, NOW)
    assert {p.changed_at for p in pages} == {day(100), day(120)}


def test_a_page_that_only_bulk_commits_touched_has_no_age_and_is_not_cold(repo):
    repo.write({f"{n}.md": f"# Page {n}\n" for n in range(30)})
    repo.commit(when=day(1))
    pages, _ = list_decay(opened(repo), NOW)
    assert {(p.changed_at, p.dated_by, p.retention, p.cold, p.cold_on) for p in pages} == {
        (None, "", None, False, None)
    }


def test_commits_of_git_blame_ignore_revs_do_not_count(repo):
    repo.write({"a.md": "# A\n"})
    repo.commit(when=day(1))
    repo.write({"a.md": "#  A\n"})
    skipped = repo.commit(when=day(50))
    assert dates(repo)[0]["a.md"] == (day(50), "history")
    repo.write({".git-blame-ignore-revs": f"# formatting\n{skipped}  # big\n"})
    assert dates(repo)[0]["a.md"] == (day(1), "history")


def test_g12_a_move_a_swap_and_a_changed_mode_are_no_change_and_an_edit_on_the_way_is(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n", "d.md": "# D\n"})
    repo.commit(when=day(1))
    repo.git("mv", "a.md", "moved.md")
    repo.git("mv", "b.md", "edited.md")
    repo.write({"edited.md": "# B\n\nnew\n", "c.md": "# D\n", "d.md": "# C\n"})
    repo.commit(when=day(30))
    repo.git("update-index", "--chmod=+x", "c.md")
    repo.commit(when=day(40), add=False)
    repo.git("checkout", "-q", ".")
    found, _ = dates(repo)
    assert found == {
        "moved.md": (day(1), "history"),
        "c.md": (day(1), "history"),
        "d.md": (day(1), "history"),
        "edited.md": (day(30), "history"),
    }


def test_a_page_that_comes_back_as_it_was_keeps_its_age(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n"})
    repo.commit(when=day(1))
    repo.git("rm", "-q", "a.md")
    repo.commit(when=day(20))
    repo.write({"a.md": "# A\n"})
    repo.commit(when=day(40))
    assert dates(repo)[0]["a.md"] == (day(1), "history")


def test_a_merge_counts_what_it_changed_itself_and_both_of_its_sides(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n", "c.md": "# C\n"})
    repo.commit(when=day(1))
    repo.git("checkout", "-q", "-b", "side")
    repo.write({"a.md": "# A side\n", "b.md": "# B side\n"})
    repo.commit(when=day(2))
    repo.git("checkout", "-q", "main")
    repo.write({"a.md": "# A main\n"})
    repo.commit(when=day(3))
    with pytest.raises(AssertionError):
        repo.git("merge", "-q", "side")
    repo.write({"a.md": "# A both\n"})
    repo.commit("merge", when=day(10))
    found, _ = dates(repo)
    assert found == {"a.md": (day(10), "history"), "b.md": (day(2), "history"), "c.md": (day(1), "history")}


def test_a_vault_in_a_folder_sees_its_own_pages(repo):
    repo.write({"sub/.memidx/config.yaml": "", "sub/a.md": "# A\n", "other.md": "# O\n"})
    repo.commit(when=day(1))
    repo.write({"other.md": "# Other\n"})
    repo.commit(when=day(5))
    assert dates(repo, "sub")[0] == {"a.md": (day(1), "history")}


def test_n1_odd_names_have_dates_too(repo):
    names = ["笔记.md", 'a b"c.md', "tab\there.md", "new\nline.md", "-rf.md", "\x01.md", "b\udcff.md", ":100644 x.md"]
    repo.write({name: f"# {number}\n" for number, name in enumerate(names)})
    repo.commit(when=day(1))
    assert dates(repo)[0] == dict.fromkeys(names, (day(1), "history"))


def test_without_a_commit_everything_is_new(repo):
    repo.write({"a.md": "# A\n"})
    assert dates(repo)[0] == {"a.md": (int(NOW), "uncommitted")}


def test_b12_a_commit_from_the_future_and_a_clock_that_went_back_stay_bounded(repo):
    repo.write({"a.md": "# A\n"})
    repo.commit(when=int(NOW) + 900 * DAY)
    repo.write({"b.md": "# B\n"})
    repo.commit(when=day(3))
    pages, _ = list_decay(opened(repo), NOW)
    found = {p.path: (p.age_days, p.retention) for p in pages}
    assert found["a.md"] == (0.0, 1.0)
    assert found["b.md"][0] == 997.0


def test_g14_in_a_shallow_clone_ages_are_unknown_and_neutral_with_one_warning(repo, tmp_path):
    for n in range(3):
        repo.write({f"{n}.md": f"# Lighthouse {n}\n"})
        repo.commit(when=day(n))
    there = repo.clone(tmp_path / "there", "--depth", "1")
    found, notices = dates(there)
    assert {by for _, by in found.values()} == {""}
    assert len(notices) == 1
    assert "shallow" in notices[0]
    done = memidx("sweep", cwd=there.root)
    assert (done.code, done.out) == (0, "would remove 0 pages of 3, kept 0 that are cold or expired\n")
    done = memidx("query", "lighthouse", "--rank", "composite", "--json", "--explain", cwd=there.root)
    assert {hit["explain"]["components"]["recency"] for hit in done.json["hits"]} == {0.5}
    assert done.err.count("clone is shallow") == 1
    # The default order is that of the whole clone.
    order = [
        [h["path"] for h in memidx("query", "lighthouse", "--json", cwd=r.root).json["hits"]] for r in (repo, there)
    ]
    assert sorted(order[0]) == sorted(order[1])


# -- cost -------------------------------------------------------------------------------------------------------------


def walks(repo, monkeypatch, act):
    """How many commits were walked while ``act`` ran."""
    seen = []
    real = walk.commits

    def commits(*args):
        for commit in real(*args):
            seen.append(commit.id)
            yield commit

    monkeypatch.setattr(engine, "commits", commits)
    act()
    monkeypatch.undo()
    return len(seen)


def read(repo):
    return lambda: Dates(opened(repo), WORKTREE, pages=9, now=NOW, walk=True).history


def test_a_second_run_walks_nothing_and_a_new_commit_walks_one(repo, monkeypatch):
    for n in range(5):
        repo.write({"a.md": f"# {n}\n"})
        repo.commit()
    assert walks(repo, monkeypatch, read(repo)) == 5
    assert walks(repo, monkeypatch, read(repo)) == 0
    repo.write({"a.md": "# new\n"})
    repo.commit()
    assert walks(repo, monkeypatch, read(repo)) == 1


def test_g11_after_a_rewrite_history_is_walked_once_and_branches_do_not_walk_again(repo, monkeypatch):
    for n in range(4):
        repo.write({"a.md": f"# {n}\n"})
        repo.commit()
    read(repo)()
    repo.git("commit", "-q", "--amend", "-m", "other")
    assert walks(repo, monkeypatch, read(repo)) == 4
    repo.git("reflog", "expire", "--expire=now", "--all")
    repo.git("gc", "-q", "--prune=now")
    assert walks(repo, monkeypatch, read(repo)) == 0
    repo.git("checkout", "-q", "-b", "side", "HEAD~1")
    repo.write({"b.md": "# B\n"})
    repo.commit()
    read(repo)()
    repo.git("checkout", "-q", "main")
    assert walks(repo, monkeypatch, read(repo)) == 0
    repo.git("checkout", "-q", "side")
    assert walks(repo, monkeypatch, read(repo)) == 0


def test_a_damaged_cache_is_made_again(repo, monkeypatch):
    repo.write({"a.md": "# A\n"})
    repo.commit()
    read(repo)()
    (path,) = (repo.git_dir / "memidx/history").iterdir()
    for damage in (b"", b"{}", b"[1]", path.read_bytes()[:-9], path.read_bytes().replace(b'"format":1', b'"format":2')):
        path.write_bytes(damage)
        assert walks(repo, monkeypatch, read(repo)) == 1


def test_a_default_query_walks_no_history_and_one_by_date_does(repo, monkeypatch):
    repo.write({"a.md": "# Lighthouse\n", "b.md": "# Lighthouse\n"})
    repo.commit(when=day(1))
    vault = opened(repo)
    vault.build()
    assert walks(repo, monkeypatch, lambda: vault.query("lighthouse", now=NOW)) == 0
    assert walks(repo, monkeypatch, lambda: vault.query("lighthouse", now=NOW, rank="composite")) == 1


@pytest.mark.parametrize("seed", range(6))
def test_law_what_is_learned_step_by_step_is_what_is_learned_at_once(tmp_path, seed):
    chance = random.Random(seed)
    repo = Repo.create(tmp_path / "repo")
    texts = [f"# {n}\n" for n in range(4)]
    for _ in range(25):
        paths = sorted(p.name for p in repo.root.glob("*.md"))
        act = chance.random()
        if paths and act < 0.2:
            repo.remove(chance.choice(paths))
        elif paths and act < 0.4:
            (repo.root / chance.choice(paths)).rename(repo.root / f"{chance.randrange(6)}.md")
        else:
            repo.write({f"{chance.randrange(6)}.md": chance.choice(texts) for _ in range(chance.randrange(1, 4))})
        repo.commit(when=day(chance.randrange(50)))
        if chance.random() < 0.4:
            read(repo)()
    step = read(repo)()
    for path in (repo.git_dir / "memidx/history").iterdir():
        path.unlink()
    whole = read(repo)()
    assert step == whole


def test_touches_keep_an_answer_for_every_size_of_bulk():
    touches = ()
    for touch in (Touch(5, 3), Touch(9, 50), Touch(7, 10), Touch(6, 20), Touch(9, 60), Touch(1, 1)):
        touches = add_touch(touches, touch)
    assert touches == (Touch(9, 50), Touch(7, 10), Touch(5, 3), Touch(1, 1))
    assert bulk_size(1000, 0.2, 10) == 200
    assert bulk_size(5, 0.2, 10) == 9  # small vaults have no bulk commits below bulk_least pages
