"""Building: the same bytes, the same answers, the old answer until the new one is whole."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

import memidx
from memidx.ground.errors import NoSnapshotError, StaleError
from memidx.ground.settings import BuildSettings, QuerySettings, VectorSettings
from memidx.ground.source import Source
from memidx.stores.snapshots import check_digests, read_manifest

WORDS = [
    "deploy",
    "rollback",
    "database",
    "migration",
    "kafka",
    "consumer",
    "redis",
    "cache",
    "timeout",
    "retry",
    "budget",
    "incident",
    "pager",
    "alert",
    "label",
    "printer",
    "route",
    "planner",
    "parcel",
    "tracking",
    "schema",
    "index",
    "vacuum",
    "replica",
    "certificate",
    "secret",
    "token",
    "gateway",
    "ingress",
]


def mark(seed, number):
    """A word that stands in one section alone: letters only, so that it has no parts to match elsewhere."""
    return "zq" + "".join("abcdefghij"[int(digit)] for digit in f"{seed}{number}") + "qz"


def page(seed, sections=4, words=60):
    rng = random.Random(seed)
    parts = [f"---\ntitle: Page {seed} {rng.choice(WORDS)}\ntags: [t{seed % 3}]\n---\n"]
    for number in range(sections):
        text = " ".join(rng.choice(WORDS) for _ in range(words))
        parts.append(f"## Part {number} {rng.choice(WORDS)}\n\n{text} {mark(seed, number)}\n\n")
    return "".join(parts)


@pytest.fixture
def vault(repo):
    repo.write({f"notes/p{n:03d}.md": page(n) for n in range(60)})
    repo.commit("pages")
    return memidx.open_vault(repo.root)


def files_of(vault, key):
    folder = vault.snapshots.folder(key)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def hits_of(vault, text, **options):
    return [(h.path, h.line) for h in vault.query(text, limit=50, **options).hits]


def test_build_twice_gives_the_same_bytes(vault):
    first = vault.build()
    before = files_of(vault, first.key)
    shutil.rmtree(vault.snapshots.folder(first.key))
    second = vault.build(full=True)
    assert (first.mode, second.mode, second.key) == ("full", "full", first.key)
    assert files_of(vault, second.key) == before


def test_two_clones_in_different_folders_give_the_same_bytes(vault, repo, tmp_path):
    other = tmp_path / "elsewhere" / "clone"
    subprocess.run(["git", "clone", "-q", str(repo.root), str(other)], check=True)
    first, second = vault.build(full=True), memidx.open_vault(other).build(full=True)
    assert first.key == second.key
    assert files_of(vault, first.key) == files_of(memidx.open_vault(other), second.key)


def test_nothing_changed_builds_nothing(vault):
    first = vault.build()
    stamp = (vault.snapshots.folder(first.key) / "manifest.json").stat().st_mtime_ns
    again = vault.build()
    assert again.mode == "unchanged" and not again.diff
    assert (vault.snapshots.folder(first.key) / "manifest.json").stat().st_mtime_ns == stamp


def test_b1_a_changed_page_leaves_the_others(vault, repo):
    vault.build()
    repo.write({"notes/p005.md": "# Five\n\nonly zyzzyva here\n"})
    report = vault.build()
    assert report.mode == "update"
    assert ([e.path for e in report.diff.changed], report.diff.unchanged) == (["notes/p005.md"], 59)
    assert hits_of(vault, "zyzzyva", only="lexical") == [("notes/p005.md", 1)]
    assert ("notes/p006.md", 5) in [(p, line) for p, line in hits_of(vault, mark(6, 0), only="lexical")]


def test_b2_a_page_that_shrinks_is_gone_from_both_indexes(vault, repo):
    vault.build()
    repo.write({"notes/p005.md": "# Five\n\nshort\n"})
    assert vault.build().mode == "update"
    assert hits_of(vault, mark(5, 2), only="lexical") == []
    lines = {line for path, line in hits_of(vault, "deploy rollback", only="vector") if path == "notes/p005.md"}
    assert lines <= {1}


def test_a_removed_page_is_gone_and_a_renamed_one_moves(vault, repo):
    vault.build()
    repo.remove("notes/p001.md")
    repo.git("mv", "notes/p002.md", "notes/moved.md")
    vault.build()
    paths = {path for path, _ in hits_of(vault, f"{mark(1, 0)} {mark(2, 0)}", only="lexical")}
    assert paths == {"notes/moved.md"}


def test_incremental_answers_as_full_does(vault, repo):
    rng = random.Random(7)
    vault.build()
    for step in range(3):
        number = rng.randrange(60)
        if step == 2:
            repo.remove(f"notes/p{number:03d}.md") if (repo.root / f"notes/p{number:03d}.md").exists() else None
        else:
            repo.write({f"notes/p{number:03d}.md": page(1000 + step), f"notes/new{step}.md": page(2000 + step)})
        assert vault.build().mode == "update"
    questions = [" ".join(rng.sample(WORDS, 2)) for _ in range(8)]
    key = vault.build().key
    updated = {(q, s): vault.query(q, limit=10, only=s) for q in questions for s in ("lexical", "vector", "title")}
    assert read_manifest(vault.snapshots.folder(key)).vectors["overlay"] > 0
    assert vault.build(full=True).mode == "full"
    assert read_manifest(vault.snapshots.folder(key)).vectors["overlay"] == 0
    for (question, stream), before in updated.items():
        after = vault.query(question, limit=10, only=stream)
        scores_before = {h.path: h.streams[stream].score for h in before.hits}
        scores_after = {h.path: h.streams[stream].score for h in after.hits}
        # Deleted sections count in BM25's statistics until the next full build.
        tolerance = (0.05 if stream == "lexical" else 1e-5) * max(scores_after.values(), default=0)
        for path in scores_before.keys() & scores_after.keys():
            assert scores_before[path] == pytest.approx(scores_after[path], abs=tolerance)
        assert len(scores_before.keys() ^ scores_after.keys()) <= (4 if stream == "lexical" else 0)


def test_a_branch_switch_back_is_a_look_up(vault, repo):
    first = vault.build()
    repo.git("switch", "-q", "-c", "other")
    repo.write({"notes/p005.md": page(99)})
    repo.commit("other")
    second = vault.build()
    repo.git("switch", "-q", "main")
    back = vault.build()
    assert (back.mode, back.key) == ("unchanged", first.key)
    assert second.key != first.key


def test_vectors_of_unchanged_text_are_never_made_twice(vault, repo, monkeypatch):
    vault.build()
    made = []
    embedder = type(vault.embedder)
    whole = embedder.embed_documents
    monkeypatch.setattr(embedder, "embed_documents", lambda self, texts: made.extend(texts) or whole(self, texts))
    vault.build(full=True)
    assert made == []
    repo.write({"notes/p005.md": page(5) + "\n## More\n\nnew words here\n"})
    memidx.open_vault(repo.root).build()
    assert len(made) == 1


def test_worktrees_share_snapshots_and_answer_from_their_own_pages(vault, repo, tmp_path):
    first = vault.build()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "notes" / "p005.md").write_text("# Five\n\nzyzzyva\n")
    side = memidx.open_vault(tmp_path / "side")
    assert side.snapshots.home == vault.snapshots.home
    assert side.build().mode == "update"
    assert hits_of(side, "zyzzyva", only="lexical") == [("notes/p005.md", 1)]
    assert hits_of(vault, "zyzzyva", only="lexical") == []
    assert vault.build().key == first.key


def test_staged_and_revision_are_their_own_trees(vault, repo):
    repo.write({"a.md": "staged zyzzyva\n"})
    repo.git("add", "a.md")
    repo.write({"a.md": "on disk quokka\n"})
    assert hits_of(vault, "zyzzyva", only="lexical", source=Source("staged")) == [("a.md", 1)]
    assert hits_of(vault, "quokka", only="lexical", source=Source("staged")) == []
    assert hits_of(vault, "quokka", only="lexical") == [("a.md", 1)]
    assert hits_of(vault, "zyzzyva quokka", only="lexical", source=Source("rev", "HEAD")) == []


def test_collection_keeps_what_worktrees_point_to(repo):
    repo.write({"a.md": "one\n"})
    repo.commit("one")
    vault = memidx.open_vault(repo.root, build=BuildSettings(keep=1))
    keys = []
    for number in range(5):
        repo.write({"a.md": f"text {number}\n"})
        keys.append(vault.build().key)
    assert vault.snapshots.has(keys[-1])
    assert len(vault.snapshots.keys()) == 2  # the one pointed to, and one more


# -- freshness --------------------------------------------------------------------------------------------------------


def test_a_query_builds_first_and_refreshes_after(repo):
    repo.write({"a.md": "zyzzyva\n"})
    vault = memidx.open_vault(repo.root)
    assert vault.query("zyzzyva").fresh == "refreshed"
    assert vault.query("zyzzyva").fresh == "fresh"
    repo.write({"a.md": "quokka\n"})
    answer = vault.query("quokka")
    assert (answer.fresh, len(answer.hits)) == ("refreshed", 1)


def test_no_refresh_answers_from_the_last_build_and_says_so(repo):
    repo.write({"a.md": "zyzzyva\n"})
    vault = memidx.open_vault(repo.root)
    with pytest.raises(NoSnapshotError):
        vault.query("zyzzyva", refresh="never")
    vault.build()
    repo.write({"a.md": "quokka\n"})
    answer = vault.query("zyzzyva", refresh="never")
    assert answer.fresh == "stale" and len(answer.hits) == 1
    assert any("last build" in notice for notice in answer.notices)
    with pytest.raises(StaleError):
        vault.query("zyzzyva", refresh="required")


def test_over_budget_the_old_snapshot_answers(repo):
    repo.write({"a.md": "zyzzyva\n"})
    vault = memidx.open_vault(repo.root, query=QuerySettings(refresh_seconds=0.0))
    vault.build()
    repo.write({"a.md": "quokka\n"})
    answer = vault.query("zyzzyva")
    assert answer.fresh == "stale" and answer.hits and "memidx build" in " ".join(answer.notices)


# -- damage -----------------------------------------------------------------------------------------------------------


def part_names(vault):
    return sorted(files_of(vault, vault.build().key))


def test_b6_every_truncated_or_missing_file_is_noticed_and_rebuilt(repo):
    repo.write({f"p{n}.md": page(n) for n in range(4)})
    vault = memidx.open_vault(repo.root)
    key = vault.build().key
    whole = files_of(vault, key)
    for name in whole:
        for damage in ("truncate", "remove"):
            path = vault.snapshots.folder(key) / name
            path.write_bytes(whole[name][:-7]) if damage == "truncate" and whole[name] else path.unlink()
            assert vault.query("deploy rollback").fresh == "refreshed", (name, damage)
            assert files_of(vault, key) == whole, (name, damage)


@pytest.mark.parametrize("name", ["catalog.db", "lexical/meta.json", "vectors/graph.hnsw", "manifest.json"])
def test_b6_zeroed_files_of_the_right_size_are_noticed(vault, name):
    graph = VectorSettings(graph="always", graph_from=1)
    vault.settings = memidx.ground.settings.Settings(vector=graph)
    key = vault.build().key
    whole = files_of(vault, key)
    path = vault.snapshots.folder(key) / name
    path.write_bytes(bytes(len(whole[name])))
    if name != "manifest.json":
        assert check_digests(vault.snapshots.folder(key), read_manifest(vault.snapshots.folder(key))) == [name]
    assert vault.query("deploy rollback").hits
    if name != "vectors/graph.hnsw":
        assert files_of(vault, key) == whole


def test_a_graph_is_built_for_vaults_of_a_size_that_gains(vault):
    def graph_of(**chosen):
        vault.settings = memidx.ground.settings.Settings(vector=VectorSettings(**chosen))
        files = files_of(vault, vault.build().key)
        return files.get("vectors/graph.hnsw"), json.loads(files["manifest.json"])["graph"]

    rows = read_manifest(vault.snapshots.folder(vault.build().key)).vectors["base"]
    always, about = graph_of(graph="always")
    assert always and about["rows"] == rows
    assert graph_of() == graph_of(graph="never") == (None, None)
    assert graph_of(graph_min=rows, graph_max=rows) == (always, about), "begun late, the same bytes"
    assert graph_of(graph_min=rows + 1) == graph_of(graph_min=0, graph_max=rows - 1) == (None, None)


def test_a_confidence_of_nought_is_kept(repo):
    repo.write(
        {"a.md": "---\nconfidence: 0\n---\n# Doubtful\n", "b.md": "---\nactive: false\npinned: false\n---\n# B\n"}
    )
    vault = memidx.open_vault(repo.root)
    vault.build()
    snapshot, *_ = vault.open_snapshot()
    metas = {page.path: page.meta for page in snapshot.catalog.all_pages()}
    assert metas == {"a.md": {"confidence": 0.0}, "b.md": {"active": False}}


def test_b6_a_snapshot_of_another_format_is_rebuilt(vault):
    key = vault.build().key
    path = vault.snapshots.folder(key) / "manifest.json"
    plain = json.loads(path.read_bytes())
    plain["format"] = 999
    path.write_text(json.dumps(plain))
    assert vault.query("deploy").fresh == "refreshed"
    assert read_manifest(vault.snapshots.folder(key)).key == key


KILLER = """
import os, sys, signal, memidx
count, wanted = 0, int(sys.argv[2])
def hook(event, args):
    global count
    if event in ("os.rename", "os.link", "os.remove", "shutil.rmtree", "os.mkdir", "open") and "memidx" in str(args):
        count += 1
        if count == wanted:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
memidx.open_vault(sys.argv[1]).build()
print("done", count)
"""


@pytest.mark.slow
def test_b4_killed_at_each_step_the_old_answer_stays_and_the_next_build_is_whole(vault, repo):
    old = vault.build().key
    repo.write({"notes/p005.md": "# Five\n\nzyzzyva\n"})
    for step in range(1, 400, 7):
        done = subprocess.run(
            [sys.executable, "-c", KILLER, str(repo.root), str(step)], capture_output=True, check=False
        )
        assert vault.snapshots.has(old)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        answer = vault.query(mark(5, 2), refresh="never", only="lexical")
        assert (answer.fresh == "fresh" and not answer.hits) or (answer.fresh == "stale" and answer.hits)
    else:
        pytest.fail("the build never got through")
    assert hits_of(vault, "zyzzyva", only="lexical") == [("notes/p005.md", 1)]
    key = vault.build().key
    assert check_digests(vault.snapshots.folder(key), read_manifest(vault.snapshots.folder(key))) == []


@pytest.mark.slow
def test_b5_four_builds_and_queries_at_once(vault, repo):
    build = [sys.executable, "-c", f"import memidx; memidx.open_vault({str(repo.root)!r}).build()"]
    ask = [sys.executable, "-c", f"import memidx; assert memidx.open_vault({str(repo.root)!r}).query('deploy').hits"]
    running = [subprocess.Popen(c, stderr=subprocess.PIPE) for c in (build, ask, build, ask, build, build)]
    for process in running:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
    assert vault.build().mode == "unchanged"


def test_leftovers_of_killed_builds_are_swept_after_an_hour(vault):
    vault.build()
    left = vault.snapshots.home / "staging" / "dead"
    left.mkdir(parents=True)
    os.utime(left, (time.time() - 7200, time.time() - 7200))
    vault.snapshots.collect(keep=5, now=time.time())
    assert not left.exists()


def test_files_that_were_not_renamed_into_place_are_swept_after_an_hour(vault):
    vault.build()
    home = vault.snapshots.home
    left = [home / "worktrees" / ".new-dead", home / "history" / ".new-dead"]
    young = home / "worktrees" / ".new-alive"
    for path in (*left, young):
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
    for path in left:
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    vault.snapshots.collect(keep=5, now=time.time())
    assert not any(path.exists() for path in left) and young.exists()


# -- odd vaults -------------------------------------------------------------------------------------------------------


def test_b10_an_empty_vault_has_no_answer_and_no_error(repo):
    vault = memidx.open_vault(repo.root)
    assert vault.build().sections == 0
    assert vault.query("anything").hits == ()


def test_b10_two_pages_and_a_page_of_punctuation(repo):
    repo.write({"a.md": "# Apple\n\nred fruit\n", "b.md": "# ???\n\n--- !!! ...\n"})
    vault = memidx.open_vault(repo.root)
    assert vault.query("apple", limit=10).hits[0].path == "a.md"


def test_without_a_model_the_answer_is_lexical_and_complete(repo):
    repo.write({"a.md": "# Apple\n\nred fruit\n"})
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model="none"))
    answer = vault.query("fruit")
    assert [h.path for h in answer.hits] == ["a.md"] and answer.degraded == ()


def test_b8_a_missing_model_gives_a_lexical_answer_and_a_notice(repo):
    repo.write({"a.md": "# Apple\n\nred fruit\n"})
    vault = memidx.open_vault(repo.root, vector=VectorSettings(model="model2vec:/nowhere/at/all"))
    answer = vault.query("fruit")
    assert [h.path for h in answer.hits] == ["a.md"]
    assert answer.degraded == ("vector",) and any("model2vec" in n for n in answer.notices)


def test_b7_vectors_of_another_model_are_never_compared(repo):
    repo.write({"a.md": "# Apple\n\nred fruit\n"})
    vault = memidx.open_vault(repo.root)
    vault.build()
    embedder = vault.embedder
    other = embedder.identity._replace(revision="other")
    monkey = type("Other", (), {"identity": other, "embed_query": embedder.embed_query})()
    vault.__dict__["_model"] = (monkey, None)
    answer = vault.query("fruit", refresh="never")
    assert answer.fresh == "stale" and "vector" in answer.degraded
    assert all("vector" not in h.streams for h in answer.hits)


def test_an_update_flushes_what_is_new_and_not_what_is_linked(repo, monkeypatch):
    repo.write({f"{n}.md": f"# Page {n}\n\nWords of {n}.\n" for n in range(201)})
    vault = memidx.open_vault(repo.root)
    vault.build()
    flushed = set()
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (flushed.add(os.fstat(handle).st_ino), fsync(handle)))
    repo.write({"7.md": "# Lighthouse\n"})
    report = memidx.open_vault(repo.root).build()
    assert report.mode == "update"
    folder = vault.snapshots.folder(report.key)
    files = [path for path in folder.rglob("*") if path.is_file()]
    linked = {path.name for path in files if path.stat().st_nlink > 1}
    assert {"base.f32"} <= linked
    assert {path.name for path in files if path.stat().st_ino in flushed} == {path.name for path in files} - linked
