"""`memidx build` and `memidx gc`."""

from __future__ import annotations

import errno
import importlib
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from clirun import CHECKOUT, finished, memidx

from memidx.ground.errors import MemidxError
from memidx.parsing.page import parse_page
from memidx.vault import Vault

BROKEN = "---\ntitle: *Italic*\n---\n# Body\n\nlighthouse\n"


def test_the_report_is_one_line_of_counts(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n"})
    done = memidx("build", cwd=repo.root)
    assert done.code == 0
    assert re.fullmatch(
        r"added 2, changed 0, removed 0, unchanged 0, sections 2, \d+\.\d\d s \(full: nothing to start from\)\n",
        done.out,
    )
    repo.write({"a.md": "# Changed\n", "c.md": "# C\n"})
    repo.remove("b.md")
    assert memidx("build", cwd=repo.root).out.startswith("added 1, changed 1, removed 1, unchanged 0, sections 2, ")
    assert "(unchanged: already built)" in memidx("build", cwd=repo.root).out
    assert "(full: asked for)" in memidx("build", "--full", cwd=repo.root).out


def test_a_dry_run_names_the_pages_and_builds_nothing(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n"})
    memidx("build", cwd=repo.root)
    repo.write({"a.md": "# Changed\n", "c\n.md": "# C\n"})
    repo.remove("b.md")
    kept = memidx("status", "--json", cwd=repo.root).json["kept"]
    done = memidx("build", "--dry-run", cwd=repo.root)
    assert done.out.splitlines()[:3] == ["A c\\n.md", "M a.md", "D b.md"]
    assert done.out.splitlines()[3].startswith("would be added 1, changed 1, removed 1, unchanged 0 (")
    plain = memidx("build", "--dry-run", "--json", cwd=repo.root).json
    assert (plain["added"], plain["changed"], plain["removed"]) == (["c\n.md"], ["a.md"], ["b.md"])
    assert plain["dry_run"] is True
    assert memidx("status", "--json", cwd=repo.root).json["kept"] == kept


def test_f4_findings_are_on_stderr_with_their_place_and_the_exit_code_is_0(repo):
    repo.write({"bad.md": BROKEN, "good.md": "# Good\n"})
    done = memidx("build", cwd=repo.root)
    assert done.code == 0
    assert re.search(r"^bad\.md:2:\d+: error: .+ \(front-matter-yaml\)$", done.err, re.MULTILINE)
    assert "bad.md" not in done.out


def test_at_most_twenty_findings_are_shown(repo):
    repo.write({f"bad{n:02}.md": BROKEN for n in range(25)})
    lines = memidx("build", cwd=repo.root).err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "… and 5 more; `memidx status` shows all"
    assert memidx("status", cwd=repo.root).out.count("(front-matter-yaml)") == 25


def test_quiet_says_nothing_but_errors(repo, tmp_path):
    repo.write({"bad.md": BROKEN})
    assert memidx("build", "--quiet", cwd=repo.root) == (0, "", "")
    done = memidx("build", "--quiet", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err


def test_quiet_says_that_there_is_no_vector_index(repo):
    repo.write({"a.md": "# A\n"})
    done = memidx("build", "--quiet", "--set", "vector.model=model2vec:nowhere", cwd=repo.root, model=True)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("memidx: no vector index: ")


@pytest.mark.parametrize("leaving", [SystemExit(1), SystemExit(), MemidxError(""), OSError(errno.ENOSPC, "")])
def test_nothing_ends_a_quiet_build_without_a_word(repo, monkeypatch, leaving):
    def build(*_args, **_options):
        raise leaving

    monkeypatch.setattr(Vault, "build", build)
    done = memidx("build", "--quiet", cwd=repo.root)
    assert done.code in (2, 3) and done.out == ""
    assert len(done.err.removeprefix("memidx: error: ").strip()) > 3


@pytest.mark.parametrize("fault", ["SIGSEGV", "SIGBUS", "SIGABRT"])
def test_a_fault_in_a_library_below_leaves_a_stack_on_stderr(repo, fault):
    program = f"""
import os, signal, sys
from memidx.__main__ import main
from memidx.vault import Vault
def build(*args, **options):
    os.kill(os.getpid(), signal.{fault})
Vault.build = build
sys.argv = ["memidx", "build", "--quiet"]
sys.exit(main())
"""
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", program], cwd=repo.root, env=env, capture_output=True, check=False)
    assert done.returncode == -getattr(signal, fault)
    assert b"Fatal Python error" in done.stderr and b"in build" in done.stderr


def test_b1_build_takes_no_paths_so_the_other_pages_stay(repo):
    repo.write({"a.md": "# A lighthouse\n", "b.md": "# B lighthouse\n"})
    memidx("build", cwd=repo.root)
    assert memidx("build", "a.md", cwd=repo.root).code == 2
    assert len(memidx("query", "lighthouse", "--json", cwd=repo.root).json["hits"]) == 2


def test_staged_builds_from_the_index_file_that_git_names(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    repo.git("add", "a.md")
    repo.write({"a.md": "# Foghorn\n"})
    done = memidx("build", "--staged", "--json", cwd=repo.root)
    assert done.json["added"] == ["a.md"]
    staged = done.json["snapshot"]
    assert memidx("build", "--json", cwd=repo.root).json["snapshot"] != staged
    other = repo.git_dir / "other-index"
    repo.git("read-tree", "--empty", env={"GIT_INDEX_FILE": str(other)})
    done = memidx("build", "--staged", "--json", cwd=repo.root, env={"GIT_INDEX_FILE": str(other)})
    assert done.json["snapshot"] not in (staged, None)
    assert done.json["removed"] == ["a.md"]


def test_progress_is_shown_on_a_terminal_alone(repo):
    repo.write({"a.md": "# A\n"})
    done = finished("build", cwd=repo.root)
    assert done.err == ""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    try:
        done = finished("build", "--full", cwd=repo.root, stderr=theirs)
        os.close(theirs)
        theirs = -1
        shown = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)
    assert "pages" in shown
    assert "100%" in shown
    assert done.out.startswith("added ")


def test_a_model_that_is_missing_is_said_and_words_are_indexed(repo, tmp_path):
    repo.write({"a.md": "# Lighthouse\n"})
    done = memidx("build", cwd=repo.root, env={"MEMIDX_VECTOR_MODEL": f"fastembed:{tmp_path / 'no'}"})
    assert done.code == 0
    assert "no vector index" in done.err


@pytest.mark.parametrize(
    "stage", ["memidx.engines.intake.parse_page", "memidx.stores.lexical.files.settle", "memidx.stores.graph.measure"]
)
def test_an_interrupted_build_says_so_in_one_line_and_leaves_the_last_one(repo, monkeypatch, stage):
    graph = {"MEMIDX_VECTOR_GRAPH": "always"}
    repo.write({f"p{n}.md": f"# Page {n}\n\nlighthouse {n}\n" for n in range(9)})
    before = memidx("build", "--json", cwd=repo.root, model=True, env=graph).json["snapshot"]
    repo.write({"new.md": "# New\n\nharbour\n"})
    module, _, name = stage.rpartition(".")
    calls = []

    def interrupted(*args, **how):
        calls.append(args)
        if name != "parse_page" or len(calls) == 5:
            raise KeyboardInterrupt
        return parse_page(*args, **how)

    with monkeypatch.context() as patch:
        patch.setattr(importlib.import_module(module), name, interrupted)
        done = memidx("build", "--full", cwd=repo.root, model=True, env=graph)
    assert calls and (done.code, done.out) == (130, "")
    assert done.err == "memidx: interrupted; a build counts when it is whole, so nothing is broken\n"
    home = repo.git_dir / "memidx"
    assert [path.name for path in (home / "snapshots").iterdir()] == [before]
    assert not list((home / "staging").iterdir())
    assert not [thread for thread in threading.enumerate() if thread.name == "memidx-graph"]
    assert memidx("build", cwd=repo.root, model=True, env=graph).code == 0
    assert "new.md" in memidx("query", "harbour", cwd=repo.root, model=True, env=graph).out


def test_gc_keeps_what_is_in_use(repo):
    for n in range(3):
        repo.write({"a.md": f"# Page {n}\n"})
        memidx("build", cwd=repo.root)
    assert memidx("gc", cwd=repo.root).out.startswith("removed 0 snapshots, ")
    assert memidx("gc", "--keep", "0", cwd=repo.root).out.startswith("removed 2 snapshots, ")
    assert memidx("status", cwd=repo.root).out.startswith("up to date\n")
    assert memidx("gc", "--keep", "-1", cwd=repo.root).code == 2
