"""B11: two branches have something to say, and git merges them: nothing is lost, nothing counted twice."""

import random

import pytest
from clirun import memidx
from merging import CASES, SIDECAR, UNION, Result, event, say, sidecar, state
from repo import Repo, run_git

from memidx.ground.events import Page, judge
from memidx.ground.settings import DecaySettings
from memidx.parsing.sidecar import parse_sidecar


@pytest.mark.parametrize("union", [True, False], ids=["union", "no-union"])
@pytest.mark.parametrize("name", CASES)
def test_b11_a_merge_loses_nothing_and_counts_nothing_twice(tmp_path, name, union):
    result = Result(tmp_path / "repo", name, union=union)
    assert result.lost == []
    assert not (union and (result.conflict or result.markers))
    assert result.state == result.back  # whoever merges whom
    assert result.state == result.again  # merging again changes nothing
    assert result.kept_by_mending
    assert not parse_sidecar(result.text).unreadable


def test_b11_the_state_after_a_merge_is_that_of_all_events_in_one_file(tmp_path):
    result = Result(tmp_path / "repo", "the same page", union=True)
    judged, _ = result.state["a.md"]
    # 1 + 0.25 before the branches parted, then + 0.25 and - 0.25
    assert (judged.salience, judged.helpful, judged.unhelpful) == (1.25, 2, 1)


def test_b11_a_deleted_page_stays_deleted_and_its_events_come_back_with_it(tmp_path):
    result = Result(tmp_path / "repo", "one side deletes the page", union=True)
    repo = result.repo
    assert "a.md" not in result.state
    repo.write({"a.md": "# Alpha\n\nfirst\n"})
    repo.git("add", "-A")
    assert state(repo)["a.md"][0].salience == 1.5


def test_b11_feedback_follows_a_move_that_the_other_side_made(tmp_path):
    result = Result(tmp_path / "repo", "one side moves the page", union=True)
    assert "a.md" not in result.state
    assert result.state["moved.md"][0].salience == 1.75


def test_b11_a_rewritten_page_starts_anew_whatever_the_other_side_said(tmp_path):
    result = Result(tmp_path / "repo", "one side rewrites the page", union=True)
    judged, _ = result.state["a.md"]
    assert (judged.salience, judged.flags) == (1.25, ())


def test_b11_shared_counters_merge_by_max_and_then_sum(tmp_path):
    result = Result(tmp_path / "repo", "shared access counts", union=True)
    # one-clone: 3 and max(2, 5); clone-ours: 3 + 2; clone-theirs: 3 + 5
    assert result.state["a.md"][1].times == 8 + 5 + 8


def test_b11_check_finds_a_marked_up_sidecar_and_fix_mends_it_without_losing_a_line(tmp_path):
    result = Result(tmp_path / "repo", "the same page", union=False)
    repo = result.repo
    assert result.conflict
    markers = parse_sidecar(sidecar(repo)).markers
    assert markers
    done = memidx("check", cwd=repo.root)
    assert done.code == 1
    assert f"{SIDECAR}:{markers[0]}:" in done.out
    # It can still be used, and says so with the lines.
    listed = memidx("decay", "a.md", cwd=repo.root)
    assert listed.code == 0
    assert f"lines {', '.join(map(str, markers))}" in listed.err
    memidx("check", "--fix", cwd=repo.root)
    assert not parse_sidecar(sidecar(repo)).markers
    assert all(line in sidecar(repo).split("\n") for line in result.wanted)
    assert state(repo) == result.state


def test_b11_markers_of_diff3_and_of_another_size_are_passed_over(tmp_path):
    repo = Repo.create(tmp_path / "repo")
    repo.write({"a.md": "# A\n", "b.md": "# B\n"})
    one, two, three = (event(repo, "a.md", "helpful", seq=n) for n in (1, 2, 3))
    text = f"<<<<<<< HEAD\n{one}\n||||||| 3f1\n{two}\n=======\n{two}\n>>>>>>> theirs\n<<<<<<<<<< x\n==========\n{three}\n>>>>>>>>>>\n"
    found = parse_sidecar(text)
    assert found.markers == (1, 3, 5, 7, 8, 9, 11)
    assert len({e.id for e in found.events}) == 3
    assert not found.unreadable


def test_b11_init_sets_the_attribute_that_a_merge_needs(tmp_path):
    repo = Repo.create(tmp_path / "repo")
    memidx("init", cwd=repo.root)
    assert UNION in (repo.root / ".gitattributes").read_text(encoding="utf-8")
    assert repo.git("check-attr", "merge", SIDECAR).endswith("merge: union")


@pytest.mark.slow
def test_b11_fifty_clones_with_twenty_events_each_merged_in_any_order_come_to_one_state(tmp_path):
    first = fifty_clones(tmp_path / "one", seed=1)
    assert first == fifty_clones(tmp_path / "two", seed=2)
    assert first[0] == 1000


def fifty_clones(folder, seed, clones=50, each=20):
    """Clones that each add events, pulled into one in random order. Returns the number of events and the state."""
    chance = random.Random(7)
    repo = Repo.create(folder / "hub")
    repo.write({f"{n}.md": f"# Page {n}\n" for n in range(10)} | {".gitattributes": UNION})
    repo.commit("pages")
    for n in range(clones):
        repo.git("checkout", "-q", "-b", f"clone{n}", "main")
        for e in range(each):
            kind = chance.choice(["helpful", "not_helpful", "stale", "wrong"])
            page = f"{chance.randrange(10)}.md"
            number = n * each + e
            line = event(repo, page, kind, at=f"2025-01-01T00:{number // 60 % 60:02}:{number % 60:02}Z")
            say(repo, line.replace(line[8:40], f"{number:032x}"))
        repo.commit(f"clone {n}")
    repo.git("checkout", "-q", "main")
    order = list(range(clones))
    random.Random(seed).shuffle(order)
    for n in order:
        run_git(repo.root, "merge", "-q", "--no-edit", f"clone{n}")
    events = parse_sidecar(sidecar(repo)).events
    rows = [row.split() for row in repo.git("ls-files", "-s").splitlines() if row.endswith(".md")]
    judged = judge(events, [Page(row[3], row[1]) for row in rows], DecaySettings())
    return len({e.id for e in events}), len(events), judged


def test_b11_three_clones_merged_in_two_orders_come_to_one_state(tmp_path):
    first = fifty_clones(tmp_path / "one", seed=1, clones=4, each=5)
    second = fifty_clones(tmp_path / "two", seed=2, clones=4, each=5)
    assert first == second
    assert first[:2] == (20, 20)
