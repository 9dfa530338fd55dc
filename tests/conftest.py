"""Every test runs with a home, a git configuration and an environment of its own; forgetting to ask is not possible."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from repo import Repo

from memidx.stores.embedding import pieces, wordllama

if TYPE_CHECKING:
    from tokenizers import Tokenizer

GIT_CONFIG = """\
[user]
    name = Test Person
    email = test@example.org
[init]
    defaultBranch = main
[core]
    fsync = none
[gc]
    auto = 0
[commit]
    gpgSign = false
[protocol "file"]
    allow = always
"""


MEMORY, LEAST_MEMORY = Path("/dev/shm"), 2 << 30  # noqa: S108 - pytest makes a folder of its own in it


def pytest_configure(config: pytest.Config) -> None:
    """Repositories are made in memory where there is room and programs may run: a disk takes a third longer.

    ``--basetemp`` and PYTEST_DEBUG_TEMPROOT win.
    """
    if (
        config.getoption("basetemp")
        or "PYTEST_DEBUG_TEMPROOT" in os.environ
        or not os.access(MEMORY, os.W_OK | os.X_OK)
    ):
        return
    about = os.statvfs(MEMORY)
    if not about.f_flag & os.ST_NOEXEC and about.f_bavail * about.f_frsize > LEAST_MEMORY:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)


# Nearly every test opens a vault of its own, and with it the default model: half a second for the same two results.
_read_tokenizer = wordllama.read_tokenizer
_tokenizers: dict[tuple[str, int, int], Tokenizer] = {}


def _read_tokenizer_once(path: Path) -> Tokenizer:
    if not path.is_file():
        return _read_tokenizer(path)
    about = path.stat()
    key = str(path), about.st_mtime_ns, about.st_size
    if key not in _tokenizers:
        _tokenizers[key] = _read_tokenizer(path)
    return _tokenizers[key]


wordllama.read_tokenizer = _read_tokenizer_once
pieces.compact = cache(pieces.compact)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder; git reads no configuration but ``.gitconfig`` in it."""
    folder = tmp_path_factory.mktemp("home")
    (folder / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    for name in list(os.environ):
        if name.startswith(("GIT_", "MEMIDX_", "XDG_", "HF_")) or name in ("NO_COLOR", "FORCE_COLOR", "PRE_COMMIT"):
            monkeypatch.delenv(name)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # or each process compiles everything anew
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(folder / ".gitconfig"))
    # A repository that surrounds the temp folder must not be found by accident.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv("TZ", "UTC")
    return folder


@cache
def _fresh(folder: Path) -> Path:
    return Repo.create(folder / "repo").root


@pytest.fixture
def repo(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A fresh repository without a commit, in a folder of its own: a copy of what ``git init`` made once."""
    template = tmp_path_factory.getbasetemp() / "fresh"
    shutil.copytree(_fresh(template), tmp_path / "repo")
    return Repo(tmp_path / "repo")
