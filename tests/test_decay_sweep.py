"""Sweeping: who goes, who stays and why, and that git brings everything back."""

import pytest
from clirun import memidx
from repo import FIRST_COMMIT

from memidx.ground.settings import DecaySettings
from memidx.ground.sweep import Subject, decide, too_many

DAY = 86_400
FRESH = "---\nupdated: 2099-01-01\n---\n"
OLD = "---\nupdated: 2020-01-01\n---\n"
SIDECAR = ".memidx/decay.jsonl"


@pytest.fixture
def vault(repo):
    repo.write(
        {f"fresh/{n}.md": f"{FRESH}# Fresh {n}\n" for n in range(30)}
        | {
            "cold.md": f"{OLD}# Cold\n",
            "_rules/r.md": f"{OLD}# Rule\n\nSee [[linked]] and [x](../also-linked.md#part).\n",
            "decisions/d.md": f"{OLD}# Decision\n",
            "pinned.md": "---\nupdated: 2020-01-01\npinned: true\n---\n# Pinned\n",
            "expired.md": "---\nupdated: 2099-01-01\npinned: true\nexpires_at: 2021-01-01\n---\n# Expired\n",
            "linked.md": f"{OLD}# Linked\n",
            "also-linked.md": f"{OLD}# Also\n",
            "dirty.md": f"{OLD}# Dirty\n",
        }
    )
    repo.commit()
    repo.write({"dirty.md": f"{OLD}# Dirty\n\nbeing written\n"})
    return repo


def sweep(repo, *args, code=0):
    done = memidx("sweep", "--json", *args, cwd=repo.root)
    assert done.code == code, done.err
    return done.json if code == 0 else done


KEPT = {
    "_rules/r.md": "is a rule",
    "decisions/d.md": "is a decision",
    "pinned.md": "is pinned",
    "linked.md": "is linked from _rules/r.md",
    "also-linked.md": "is linked from _rules/r.md",
    "dirty.md": "has uncommitted changes",
}


def test_sweep_is_dry_and_says_why_each_page_goes_or_stays(vault):
    before = vault.status()
    found = sweep(vault)
    assert [(v["path"], v["reason"]) for v in found["swept"]] == [("expired.md", "expired"), ("cold.md", "cold")]
    assert {v["path"]: v["kept"] for v in found["kept"]} == KEPT
    assert not found["applied"]
    assert vault.status() == before
    text = memidx("sweep", cwd=vault.root).out
    assert "sweep  expired 2021-01-01      expired.md\n" in text
    assert "keep   cold, retention 0.000   pinned.md: is pinned\n" in text
    assert text.endswith("would remove 2 pages of 38, kept 6 that are cold or expired\n")


def test_apply_stages_the_removals_and_commits_nothing(vault):
    head = vault.git("rev-parse", "HEAD")
    done = memidx("sweep", "--apply", cwd=vault.root)
    assert done.code == 0
    assert sorted(vault.status().splitlines()) == [" M dirty.md", "D  cold.md", "D  expired.md"]
    assert vault.git("rev-parse", "HEAD") == head
    assert not (vault.root / "cold.md").exists()
    assert sweep(vault)["swept"] == []


def test_after_a_sweep_and_a_commit_a_revert_brings_everything_back_feedback_included(vault):
    memidx("feedback", "cold.md", "helpful", "--reason", "it was", cwd=vault.root)
    memidx("feedback", "expired.md", "stale", cwd=vault.root)
    vault.commit("feedback")

    def listed():
        rows = memidx("decay", "--json", "--at", "2030-01-01", cwd=vault.root).json["pages"]
        return {row["path"]: row for row in rows}

    before, sidecar = listed(), (vault.root / SIDECAR).read_bytes()
    assert before["cold.md"]["salience"] == 1.25
    assert memidx("sweep", "--apply", cwd=vault.root).code == 0
    vault.commit("sweep")
    assert "cold.md" not in listed()
    assert (vault.root / SIDECAR).read_bytes() == sidecar
    vault.git("revert", "--no-edit", "HEAD")
    assert listed() == before


def test_archive_moves_and_feedback_follows(vault):
    memidx("feedback", "cold.md", "helpful", cwd=vault.root)
    done = memidx("sweep", "--apply", "--archive", "attic", cwd=vault.root)
    assert done.code == 0
    assert "add 'attic/' to pages.exclude" in done.err
    status = [line for line in vault.status().splitlines() if line.startswith("R")]
    assert status == ["R  cold.md -> attic/cold.md", "R  expired.md -> attic/expired.md"]
    (row,) = memidx("decay", "attic/cold.md", "--json", cwd=vault.root).json["pages"]
    assert row["salience"] == 1.25
    vault.commit()
    again = sweep(vault, "--archive", "attic")
    assert [v["path"] for v in again["swept"]] == ["dirty.md"]  # it has been committed
    assert {v["kept"] for v in again["kept"] if v["path"].startswith("attic/")} == {"is in the archive"}


def test_archive_writes_over_nothing_and_stays_inside(vault, tmp_path):
    vault.write({"attic/cold.md": f"{FRESH}# Other\n"})
    vault.commit()
    found = sweep(vault, "--archive", "attic")
    assert {v["path"]: v["kept"] for v in found["kept"]}["cold.md"] == "attic/cold.md exists"
    for folder in ("..", str(tmp_path / "out"), ".", ".git/x", ".memidx", "fresh/1.md"):
        assert sweep(vault, "--apply", "--archive", folder, code=2).out == ""
    (vault.root / "link").symlink_to(tmp_path)
    assert "is not a folder" in sweep(vault, "--apply", "--archive", "link/x", code=2).err
    # From a folder below, DIR is relative to that.
    done = memidx("sweep", "--json", "--archive", "../box", cwd=vault.root / "fresh")
    assert done.json["archive"] == "box"


def test_limit_takes_the_first_and_says_how_many_more(vault):
    found = sweep(vault, "--limit", "1", "--apply")
    assert [v["path"] for v in found["swept"]] == ["expired.md"]
    assert found["over_limit"] == 1
    assert (vault.root / "cold.md").exists()


def test_more_than_a_fifth_of_the_vault_needs_a_second_word(repo):
    repo.write({f"{n}.md": f"{OLD if n < 3 else FRESH}# {n}\n" for n in range(10)})
    repo.commit()
    assert sweep(repo)["too_many"]
    done = memidx("sweep", "--apply", cwd=repo.root)
    assert done.code == 2
    assert "this would sweep 3 of 10 pages" in done.err
    assert repo.status() == ""
    assert memidx("sweep", "--apply", "--limit", "2", cwd=repo.root).code == 0
    repo.git("reset", "-q", "--hard")
    assert memidx("sweep", "--apply", "--yes-many", cwd=repo.root).code == 0
    assert len(repo.status().splitlines()) == 3


def test_an_expired_rule_goes_and_protects_nothing_any_more(repo):
    repo.write({f"{n}.md": f"{FRESH}# {n}\n" for n in range(20)})
    repo.write({"_rules/r.md": "---\nexpires_at: 2021-01-01\n---\n# R\n\n[[old]]\n", "old.md": f"{OLD}# Old\n"})
    repo.commit()
    assert [v["path"] for v in sweep(repo)["swept"]] == ["_rules/r.md", "old.md"]


def test_a_link_that_may_mean_several_pages_protects_all_of_them(repo):
    repo.write({f"{n}.md": f"{FRESH}# {n}\n" for n in range(20)})
    repo.write({"_rules/r.md": "# R\n\n[[twin]]\n", "a/twin.md": f"{OLD}# Twin\n", "b/twin.md": f"{OLD}# Twin\n"})
    repo.commit()
    found = sweep(repo)
    assert found["swept"] == []
    assert {v["path"] for v in found["kept"] if "linked" in v["kept"]} == {"a/twin.md", "b/twin.md"}


def test_n1_odd_names_are_swept_and_staged_pages_are_left_alone(repo):
    names = ["笔记.md", 'a b"c.md', "new\nline.md", "-rf.md", "*.md", ":(top)x.md"]
    repo.write({f"f/{n}.md": f"{FRESH}# {n}\n" for n in range(60)} | {name: f"{OLD}# {name!r}\n" for name in names})
    repo.commit()
    repo.write({"staged.md": f"{OLD}# S\n"})
    repo.git("add", "staged.md")
    found = sweep(repo, "--apply")
    assert {v["path"] for v in found["swept"]} == set(names)
    assert {v["path"]: v["kept"] for v in found["kept"]} == {"staged.md": "has uncommitted changes"}
    assert repo.git("ls-files", "-z").count("\0") == 61
    assert len(list((repo.root / "f").iterdir())) == 60


def test_g3_a_sweep_in_a_linked_worktree_touches_that_worktree_alone(vault, tmp_path):
    vault.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    before = vault.status()
    assert memidx("sweep", "--apply", cwd=tmp_path / "tree").code == 0
    assert vault.status() == before
    assert not (tmp_path / "tree/cold.md").exists()


def test_a_feedback_that_warms_a_page_keeps_it(repo):
    # Salience 2.0 at 100 days: 0.27; 1.0: 0.135.
    repo.write({f"{n}.md": f"{FRESH}# {n}\n" for n in range(20)} | {"p.md": "---\nupdated: 2023-11-14\n---\n# P\n"})
    repo.commit()
    at = FIRST_COMMIT + 100 * DAY
    rows = [Subject("p.md", "note", value) for value in (0.27, 0.135)]
    assert [bool(decide([row], at, DecaySettings())) for row in rows] == [False, True]


def test_decisions_in_order_and_at_the_edges():
    now = 1000.0
    rows = [
        Subject("b", "note", 0.1),
        Subject("a", "note", 0.1),
        Subject("edge", "note", 0.2),
        Subject("now", "note", None, 1000),
        Subject("past", "rule", None, 999, pinned=True),
        Subject("unknown", "note", None),
        Subject("pin", "note", 0.0, pinned=True),
    ]
    assert [(v.path, v.kept) for v in decide(rows, now, DecaySettings())] == [
        ("past", ""), ("a", ""), ("b", ""), ("pin", "is pinned"),
    ]  # fmt: skip
    assert too_many(3, 10, 0.2)
    assert not too_many(2, 10, 0.2)
