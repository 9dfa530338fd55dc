"""Hooks when things go wrong or happen at once, and in repositories of every shape."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from clirun import CHECKOUT, WORDS_ONLY, memidx
from hookrepo import hooked
from repo import Repo, run_git
from unprivileged import needs_permissions, obey_permissions

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX shells")


@pytest.fixture
def vault(repo, tmp_path):
    return hooked(repo, tmp_path / "p")


def staging(repo):
    folder = repo.git_dir / "memidx" / "staging"
    return list(folder.iterdir()) if folder.is_dir() else []


def slow_memidx(vault, where):
    """A memidx that stops for a minute in ``where``, a statement that replaces a function by ``wait``."""
    folder = Path(vault.env["PATH"].split(":")[0])
    (folder / "slow.py").write_text(
        "import os, pathlib, sys, time\n"
        f"sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "def wait(*_, **__):\n"
        f"    pathlib.Path({str(folder / 'new')!r}).write_text(str(os.getpid()))\n"
        f"    os.replace({str(folder / 'new')!r}, {str(folder / 'waiting')!r})\n"
        "    time.sleep(60)\n"
        f"{where}\n"
        "from memidx.__main__ import main\n"
        "sys.exit(main())\n"
    )
    (folder / "memidx").write_text(f'#!/bin/sh\nexec "{sys.executable}" "{folder}/slow.py" "$@"\n')
    return folder / "waiting"


IN_BUILD = "import memidx.stores.snapshots as s; s.Snapshots.publish = wait"


# -- what stops a commit -------------------------------------------------------------------------------------------------


BAD = {
    "bad1.md": ("---\nkey: `C:\\x`\n---\n# T\n", ":2:"),
    "bad2.md": ("---\n# T\n\ntext\n", ":1:1:"),
    "bad3.md": ("---\ntitle: *Italic*\n---\n# T\n", ":2:"),
    "bad4.md": ("---\na:\n- [[link]]suffix\n---\n# T\n", ":3:"),
    "bad5.md": ("# T\n\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n", ":3:1:"),
    "bad6.md": ("---\n<<<<<<< ours\na: 1\n=======\na: 2\n>>>>>>> theirs\n---\n", ":2:1:"),
}


def test_f4_f14_bad_pages_stop_the_commit_and_each_names_its_line(vault):
    vault.repo.write({**{name: text for name, (text, _) in BAD.items()}, "good.md": "# Good lighthouse\n"})
    vault.repo.git("add", "-A")
    # The bytes of the index are git's: it refreshes them before it runs the hook.
    index, tree = vault.repo.git("ls-files", "-s", "-t"), vault.tree()
    done = vault.git("commit", "-q", "-m", "x", check=False)
    assert done.code == 1
    *lines, last = done.err.splitlines()
    assert "6 errors" in last
    assert "--no-verify" in last
    for line, (name, (_, place)) in zip(lines, BAD.items(), strict=True):
        assert line.startswith(name + place), line
    assert (vault.repo.git("ls-files", "-s", "-t"), vault.tree()) == (index, tree)
    # Committed all the same, the good pages are found and the bad ones are told.
    assert vault.git("commit", "-q", "-n", "-m", "x").code == 0
    assert "good.md" in vault.finds("lighthouse")
    assert "pages degraded" in memidx("status", cwd=vault.repo.root).out


def test_f14_a_fenced_conflict_and_an_underline_stop_nothing(vault):
    vault.repo.write({"c.md": "```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n\nTitle\n=======\n"})
    vault.repo.git("add", "-A")
    assert vault.git("commit", "-q", "-m", "x")[1:] == ("", "")


@pytest.mark.slow
def test_an_old_error_elsewhere_does_not_stop_a_commit(vault):
    vault.repo.write({"bad.md": "---\ntitle: *x*\n---\n"})
    vault.repo.git("add", "-A")
    vault.git("commit", "-q", "-n", "-m", "bad")
    vault.repo.write({"good.md": "# Good\n"})
    vault.repo.git("add", "-A")
    assert vault.git("commit", "-q", "-m", "x")[1:] == ("", "")


def test_severities_from_the_config_decide(vault):
    vault.repo.write(
        {".memidx/config.yaml": "check:\n  severity:\n    link-broken: error\n    front-matter-yaml: off\n"}
    )
    vault.repo.write({"c.md": "---\ntitle: *x*\n---\n[[nowhere]] and [[Harbour]]\n"})
    vault.repo.git("add", "-A")
    done = vault.git("commit", "-q", "-m", "x", check=False)
    assert done.code == 1
    assert done.err.splitlines()[0].startswith("c.md:4:1: error: 'nowhere'")
    assert "front-matter" not in done.err


@pytest.mark.slow
def test_pages_with_an_ending_of_their_own_are_noticed(vault):
    vault.repo.write({".memidx/config.yaml": "pages:\n  include: ['*.txt']\n"})
    vault.repo.commit("config")
    vault.repo.write({"bad.txt": "---\ntitle: *x*\n---\n"})
    vault.repo.git("add", "-A")
    done = vault.git("commit", "-q", "-m", "x", check=False)
    assert (done.code, done.err.startswith("bad.txt:2:")) == (1, True)


def test_a_vault_in_a_folder_is_the_one_that_is_looked_after(repo, tmp_path):
    repo.write({"docs/.memidx/config.yaml": "", "docs/a.md": "# Lighthouse\n", "README.md": "# Not a page\n"})
    found = hooked(repo, tmp_path / "p")
    repo.write({"docs/bad.md": "---\ntitle: *x*\n---\n", "bad.md": "---\ntitle: *x*\n---\n"})
    repo.git("add", "-A")
    done = found.git("commit", "-q", "-m", "x", check=False)
    assert done.code == 1
    assert [line.split(":")[0] for line in done.err.splitlines()[:-1]] == ["docs/bad.md"]


# -- interrupted, killed, out of time, out of room -----------------------------------------------------------------------


def started(vault, waiting, *args):
    vault.repo.write({"c.md": "# C lighthouse\n"})
    vault.repo.git("add", "c.md")
    git = subprocess.Popen(
        ["git", "commit", "-q", "-m", "x"], cwd=vault.repo.root, env={**os.environ, **vault.env},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while not waiting.exists():
        assert time.monotonic() < deadline, git.communicate()
        time.sleep(0.02)
    return git


def test_g8_ctrl_c_in_the_hook_leaves_index_and_tree_and_no_half_snapshot(vault):
    vault.env["MEMIDX_HOOKS_BUDGET_SECONDS"] = "50"
    waiting = slow_memidx(vault, IN_BUILD)
    vault.repo.write({"a.md": "# Lighthouse\n\nhalf\n"})
    vault.repo.git("add", "a.md")
    vault.repo.write({"a.md": "# Lighthouse\n\nhalf and whole\n"})
    git = started(vault, waiting)
    index, tree = vault.index_bytes(), vault.tree()
    os.killpg(git.pid, signal.SIGINT)  # as a terminal does
    git.communicate(timeout=20)
    assert git.returncode != 0
    deadline = time.monotonic() + 10
    while staging(vault.repo) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (vault.index_bytes(), vault.tree(), staging(vault.repo)) == (index, tree, [])
    assert not (vault.repo.git_dir / "index.lock").exists()
    assert vault.repo.git("log", "--format=%s") == "first"
    assert "a.md" in vault.finds("whole")


@pytest.mark.slow
def test_sigkill_in_the_hook_lets_the_commit_go_on_and_the_next_query_builds(vault):
    vault.env["MEMIDX_HOOKS_BUDGET_SECONDS"] = "50"
    waiting = slow_memidx(vault, IN_BUILD)
    git = started(vault, waiting)
    os.kill(int(waiting.read_text()), signal.SIGKILL)
    waiting.unlink()
    deadline = time.monotonic() + 30  # post-commit waits as well
    while not waiting.exists() and git.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if waiting.exists():
        os.kill(int(waiting.read_text()), signal.SIGKILL)
    git.communicate(timeout=20)
    assert git.returncode == 0
    assert vault.repo.git("log", "-1", "--format=%s") == "x"
    assert "c.md" in vault.finds("lighthouse")


def test_past_its_budget_the_commit_goes_on(vault):
    vault.env["MEMIDX_HOOKS_BUDGET_SECONDS"] = "3"
    waiting = slow_memidx(vault, IN_BUILD)
    begun = time.monotonic()
    git = started(vault, waiting)
    out, err = git.communicate(timeout=30)
    assert (git.returncode, out, err) == (0, b"", b"")
    assert time.monotonic() - begun < 20
    assert (vault.repo.status(), staging(vault.repo)) == ("", [])
    assert "c.md" in vault.finds("lighthouse")


def test_a_build_that_is_expected_to_take_too_long_is_not_begun(vault):
    vault.repo.write({"c.md": "# C lighthouse\n"})
    vault.repo.git("add", "c.md")
    assert vault.git("commit", "-q", "-m", "x", env={"MEMIDX_HOOKS_BUDGET_SECONDS": "0.01"})[1:] == ("", "")
    assert memidx("query", "lighthouse", "--require-fresh", cwd=vault.repo.root).code == 2
    assert "c.md" in vault.finds("lighthouse")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.slow
def test_a_full_disk_stops_no_commit_and_is_told_in_one_line(vault, tmp_path):
    state = vault.repo.git_dir / "memidx"
    shutil.rmtree(state)
    state.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(state)], check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        vault.repo.write({"c.md": "# C lighthouse\n" + "word " * 20_000})
        vault.repo.git("add", "c.md")
        done = vault.git("commit", "-q", "-m", "x")
        assert done.code == 0
        assert len(done.err.splitlines()) == 2, done.err  # one line from each of the two hooks
        assert all(line.startswith("memidx: p") for line in done.err.splitlines())
        assert vault.repo.status() == ""
        assert staging(vault.repo) == []
    finally:
        subprocess.run(["umount", str(state)], check=True)
    assert "c.md" in vault.finds("lighthouse")


def test_state_that_cannot_be_written_stops_no_commit(vault):
    shutil.rmtree(vault.repo.git_dir / "memidx")
    (vault.repo.git_dir / "memidx").write_text(
        "in the way"
    )  # root may write into read-only folders, but not into a file
    vault.repo.write({"c.md": "# C lighthouse\n"})
    vault.repo.git("add", "c.md")
    done = vault.git("commit", "-q", "-m", "x")
    assert done.code == 0
    assert [line.split(":")[1].strip() for line in done.err.splitlines()] == ["pre-commit", "post-commit"]
    assert "check the permissions" in done.err


@needs_permissions
def test_a_read_only_state_folder_stops_no_commit(vault):
    state = vault.repo.git_dir / "memidx"
    folders = [state, *(p for p in state.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        vault.repo.write({"c.md": "# C lighthouse\n"})
        vault.repo.git("add", "c.md")
        env = {**os.environ, **vault.env}
        commit = ["git", "commit", "-q", "-m", "x"]
        done = subprocess.run(
            commit, cwd=vault.repo.root, env=env, preexec_fn=obey_permissions, capture_output=True, check=False
        )
        assert done.returncode == 0, done
        assert b"ermission denied" in done.stderr and b"Traceback" not in done.stderr
    finally:
        for folder in folders:
            folder.chmod(0o755)


# -- layouts ------------------------------------------------------------------------------------------------------------


def test_g2_a_partial_commit_builds_what_is_committed_and_leaves_the_rest_staged(vault):
    vault.repo.write({"a.md": "# Lighthouse\n\ngreen lamp\n", "b.md": "# Harbour\n\ngreen boat\n"})
    vault.repo.git("add", "-A")
    assert vault.git("commit", "-q", "-m", "x", "a.md")[1:] == ("", "")
    assert vault.calls() == ["hook pre-commit", "hook post-commit"]
    # The pre-commit built the commit, the post-commit what is on disk: both are there without building.
    assert vault.finds("green", "--rev", "HEAD", "--require-fresh") == ["a.md"]
    assert sorted(vault.finds("green", "--require-fresh")) == ["a.md", "b.md"]
    assert vault.repo.status() == "M  b.md"
    assert vault.repo.git("show", "--format=", "--name-only", "HEAD") == "a.md"


def test_g3_a_commit_in_a_linked_worktree_leaves_the_main_one_alone(vault, tmp_path):
    other = tmp_path / "other"
    vault.git("worktree", "add", "-q", str(other))
    index, tree = vault.index_bytes(), vault.tree()
    (other / "a.md").write_text("# Lighthouse\n\nonly here\n")
    vault.git("commit", "-q", "-a", "-m", "x", cwd=other)
    assert (vault.index_bytes(), vault.tree()) == (index, tree)
    assert vault.is_warm(other)
    assert vault.is_warm()
    assert memidx("query", '"only here"', cwd=other).code == 0
    assert memidx("query", '"only here"', cwd=vault.repo.root).code == 1


@pytest.mark.slow
def test_g13_a_commit_in_a_submodule_and_in_the_repository_around_it(vault, tmp_path):
    outer = hooked(Repo.create(tmp_path / "outer"), tmp_path / "q")
    run_git(outer.repo.root, "submodule", "add", "-q", vault.repo.root.as_uri(), "sub")
    sub = outer.repo.root / "sub"
    assert memidx("hooks", "install", cwd=sub).code == 0
    (sub / "inner.md").write_text("# Inner lighthouse\n")
    run_git(sub, "add", "-A")
    assert outer.git("commit", "-q", "-m", "inner", cwd=sub)[1:] == ("", "")
    assert outer.is_warm(sub)
    run_git(outer.repo.root, "add", "-A")
    assert outer.git("commit", "-q", "-m", "outer")[1:] == ("", "")
    assert "sub/inner.md" not in outer.finds("lighthouse")


def test_g16_a_clone_that_brings_its_hooks_from_a_template(vault, home, tmp_path):
    template = home / "template"
    shutil.copytree(CHECKOUT / "hooks", template / "hooks")
    target = tmp_path / "clone"
    done = run_git(
        tmp_path, "clone", "-q", f"--template={template}", vault.repo.root.as_uri(), str(target), env=vault.env
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert vault.calls() == ["hook post-checkout 0000000000000000000000000000000000000000 "
                             + vault.repo.git("rev-parse", "HEAD") + " 1"]  # fmt: skip
    assert vault.is_warm(target)


@pytest.mark.slow
def test_g14_g15_shallow_and_autocrlf_clones_are_warmed_by_their_commits(vault, tmp_path):
    target = vault.repo.clone(tmp_path / "clone", "--depth", "1", "-c", "core.autocrlf=true")
    assert b"\r\n" in (target.root / "a.md").read_bytes()
    memidx("hooks", "install", cwd=target.root)
    (target.root / "c.md").write_bytes(b"# C lighthouse\r\n")
    target.git("add", "-A")
    assert vault.git("commit", "-q", "-m", "x", cwd=target.root).out == ""
    assert vault.is_warm(target.root)
    assert target.status() == ""


@pytest.mark.slow
def test_g11_amended_and_collected_commits(vault):
    for number in range(3):
        vault.repo.write({"a.md": f"# Lighthouse\n\nversion {number}\n"})
        vault.git("commit", "-q", "-a", "--amend", "-m", "x")
    vault.repo.git("reflog", "expire", "--expire=now", "--all")
    vault.repo.git("gc", "-q", "--prune=now")
    assert vault.is_warm()
    assert vault.finds('"version 2"') == ["a.md"]
    assert vault.finds('"version 1"') == []


@pytest.mark.slow
def test_g9_a_rebase_of_100_commits_builds_once(vault):
    repo = vault.repo
    repo.git("switch", "-q", "-c", "side")
    for number in range(100):
        repo.write({f"p{number}.md": f"# Page {number}\n"})
        repo.git("add", "-A")
        repo.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", str(number))
    repo.git("switch", "-q", "main")
    repo.write({"m.md": "# Main\n"})
    repo.commit("main")
    repo.git("switch", "-q", "side")
    vault.calls()
    vault.git("rebase", "-q", "main")
    assert vault.calls() == ["hook post-rewrite rebase"]
    assert vault.is_warm()
    assert len(vault.finds("page", "-n", "200")) == 100


@pytest.mark.slow
def test_b5_four_worktrees_commit_while_queries_run(vault, tmp_path):  # noqa: C901 - five threads are a handful
    trees = [vault.repo.root, *(tmp_path / f"tree{n}" for n in range(3))]
    for tree in trees[1:]:
        vault.git("worktree", "add", "-q", str(tree))
    problems: list[str] = []
    slowest = [0.0]
    over = threading.Event()
    env = {**os.environ, **vault.env}

    def commits(number: int) -> None:
        for turn in range(5):
            (trees[number] / f"n{number}.md").write_text(f"# Lighthouse {number}\n\nturn {turn}\n")
            for args in (["add", "-A"], ["commit", "-q", "-m", f"{number} {turn}"]):
                done = subprocess.run(["git", *args], cwd=trees[number], env=env, capture_output=True, check=False)
                if done.returncode or done.stdout or done.stderr:
                    problems.append(f"git {args}: {done.returncode} {done.stderr.decode()}")

    def queries() -> None:
        while not over.is_set():
            for tree in trees:
                begun = time.monotonic()
                done = subprocess.run(
                    ["memidx", "query", "lighthouse", "--no-refresh"], cwd=tree, env={**env, **WORDS_ONLY}, capture_output=True, check=False
                )  # fmt: skip
                slowest[0] = max(slowest[0], time.monotonic() - begun)
                if done.returncode:
                    problems.append(f"query: {done.returncode} {done.stderr.decode()}")

    threads = [threading.Thread(target=commits, args=(number,)) for number in range(4)]
    reader = threading.Thread(target=queries)
    for thread in (*threads, reader):
        thread.start()
    for thread in threads:
        thread.join()
    over.set()
    reader.join()
    assert not problems, "\n".join(problems)
    for number, tree in enumerate(trees):
        assert vault.is_warm(tree), tree
        assert f"n{number}.md" in vault.finds('"turn 4"', root=tree)
        assert vault.finds('"turn 3"', root=tree) == []
    assert staging(vault.repo) == []
