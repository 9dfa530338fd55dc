"""The hook scripts, and the entry for the pre-commit framework."""

from __future__ import annotations

import os
import shutil
import sys

import pytest
import yaml
from clirun import CHECKOUT, WORDS_ONLY, memidx
from repo import run_git

from memidx.doors.cli import COMMANDS

HOOKS = CHECKOUT / "hooks"
SCRIPTS = sorted(path for path in HOOKS.iterdir() if path.suffix == "")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX shells")


@pytest.fixture
def hooked(repo, tmp_path):
    """A repository with every hook, and a memidx on PATH."""
    for script in SCRIPTS:
        shutil.copy(script, repo.git_dir / "hooks" / script.name)
    program = tmp_path / "bin" / "memidx"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{CHECKOUT}" exec "{sys.executable}" -m memidx "$@"\n')
    program.chmod(0o755)
    repo.write({"a.md": "# Lighthouse\n"})
    return repo, {"PATH": f"{program.parent}:{os.environ['PATH']}", **WORDS_ONLY}


def test_the_scripts_are_there_and_can_be_run():
    assert [script.name for script in SCRIPTS] == [
        "post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-commit",
    ]  # fmt: skip
    assert all(os.access(script, os.X_OK) for script in SCRIPTS)


def test_a_commit_is_silent_and_leaves_a_warm_index(hooked):
    repo, env = hooked
    run_git(repo.root, "add", "-A")
    done = run_git(repo.root, "commit", "-q", "-m", "x", env=env)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert memidx("query", "lighthouse", "--require-fresh", cwd=repo.root).code == 0
    assert repo.status() == ""


def test_without_memidx_on_the_path_nothing_is_blocked_and_nothing_said(hooked, tmp_path):
    repo, _ = hooked
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(shutil.which(name))
    run_git(repo.root, "add", "-A")
    done = run_git(repo.root, "commit", "-q", "-m", "x", env={"PATH": str(tools)})
    assert (done.stdout, done.stderr) == (b"", b"")
    assert not (repo.git_dir / "memidx").exists()


def test_a_memidx_that_fails_blocks_nothing(hooked):
    repo, env = hooked
    repo.write({".memidx/config.yaml": "nonsense: 1\n"})
    run_git(repo.root, "add", "-A")
    done = run_git(repo.root, "commit", "-q", "-m", "x", env=env)
    assert b"nonsense" in done.stderr
    assert repo.git("log", "--format=%s") == "x"


def test_the_pre_commit_framework_runs_a_command_that_is_there():
    hooks = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    for hook in hooks:
        program, command, *_ = hook["entry"].split()
        assert program == "memidx"
        assert command in COMMANDS
        assert hook["language"] == "python"
        assert hook["pass_filenames"] is False
