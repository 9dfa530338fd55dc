"""The pre-commit framework itself, with this source tree as the hook repository."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from clirun import CHECKOUT, WORDS_ONLY
from repo import Repo

STAGES = ("pre-commit", "post-merge", "post-checkout", "post-rewrite", "post-commit")
CONFIG = """\
repos:
- repo: {url}
  rev: {rev}
  hooks:
  - id: memidx-check
  - id: memidx-build
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"),
]


def framework(*args: str, cwd: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    whole = {**os.environ, **env}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *args], cwd=cwd, env=whole, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Where pre-commit keeps what it installs. Once for all tests: installing takes a minute."""
    return {"PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("pre-commit")), **WORDS_ONLY}


@pytest.fixture
def user(tmp_path, environment):
    """A repository that uses the hooks, with every stage installed."""
    source = Repo.create(tmp_path / "memidx")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=CHECKOUT, check=True, capture_output=True
    )  # fmt: skip
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (
            name.startswith(("memidx/", "hooks/", ".pre-commit-hooks", "pyproject", "README", "LICENSE"))
            and (CHECKOUT / name).is_file()
        ):
            (source.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(CHECKOUT / name, source.root / name)
    # The same sources at the same time make the same commit, so that the installation is found again.
    rev = source.commit("memidx")
    repo = Repo.create(tmp_path / "user")
    stable = Path(environment["PRE_COMMIT_HOME"]) / "source"
    if not stable.exists():
        shutil.copytree(source.root, stable)
    repo.write(
        {".pre-commit-config.yaml": CONFIG.format(url=stable.as_uri(), rev=rev), "a.md": "# Lighthouse\n\nred\n"}
    )
    repo.commit("first")
    types = [f"--hook-type={stage}" for stage in STAGES]
    done = framework("install", "--install-hooks", *types, cwd=repo.root, env=environment)
    if done.returncode and any(
        word in done.stdout + done.stderr for word in ("Connection", "resolve", "Could not find a version", "timed out")
    ):
        pytest.skip("no network: pre-commit cannot install memidx's libraries")
    assert done.returncode == 0, done.stdout + done.stderr
    return repo


def commit(repo, env, *args):
    done = subprocess.run(
        ["git", "commit", "-q", "-m", "x", *args],
        cwd=repo.root,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def warm(repo, env, *args):
    """Whether the memidx that pre-commit installed finds its snapshot. Another one may have other libraries."""
    (program,) = Path(env["PRE_COMMIT_HOME"]).glob("repo*/py_env-*/bin/memidx")
    command = [str(program), "query", "lighthouse", "--require-fresh", *args]
    return (
        subprocess.run(command, cwd=repo.root, env={**os.environ, **env}, capture_output=True, check=False).returncode
        == 0
    )


def test_a_commit_is_checked_as_staged_and_leaves_a_warm_index(user, environment):
    user.write({"a.md": "# Lighthouse\n\nstaged\n"})
    user.git("add", "-A")
    user.write({"a.md": "# Lighthouse\n\nstaged and not\n", "b.md": "---\ntitle: *x*\n---\n"})
    code, said = commit(user, environment)
    assert code == 0, said
    assert user.git("show", "HEAD:a.md") == "# Lighthouse\n\nstaged"
    assert user.status().split("\n") == [" M a.md", "?? b.md"]
    assert (user.root / "a.md").read_text() == "# Lighthouse\n\nstaged and not\n"
    # The framework puts away what is not staged, also after the commit: what is warm is the commit.
    assert warm(user, environment, "--rev", "HEAD"), said

    # A bad page stops it, and what was not staged comes back.
    user.git("add", "b.md")
    code, said = commit(user, environment)
    assert code == 1
    assert "b.md:2:" in said
    assert user.status().split("\n") == [" M a.md", "A  b.md"]
    # Mended on disk but not staged it still fails; the other way round it passes.
    user.write({"b.md": "# B\n"})
    assert commit(user, environment)[0] == 1
    user.git("add", "b.md")
    user.write({"b.md": "---\ntitle: *x*\n---\n"})
    assert commit(user, environment)[0] == 0

    user.git("restore", "b.md")
    user.git("restore", "a.md")
    run = {**os.environ, **environment}
    for command in (["switch", "-q", "-c", "side", "HEAD~1"], ["merge", "-q", "main"], ["switch", "-q", "main"]):
        subprocess.run(["git", *command], cwd=user.root, env=run, check=True, capture_output=True)
        assert warm(user, environment), command
    assert framework("run", "--all-files", cwd=user.root, env=environment).returncode == 0
