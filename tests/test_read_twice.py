"""Every command that reads a snapshot: where it is damaged it is built again, and the answer is the right one."""

from __future__ import annotations

import json
import shutil
import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import pytest
from clirun import memidx

import memidx as api
from memidx.ground.errors import BrokenSnapshotError, UsageError
from memidx.reading import read_fresh, read_twice

if TYPE_CHECKING:
    from pathlib import Path

    from repo import Repo

    from memidx.engines.snapshot import Snapshot

PAGES = {
    "_rules/retry.md": "# Retry budget\n\nA client retries three times at most, see [[rollback]].\n",
    "runbooks/rollback.md": "---\ntags: [deploy]\nsupersedes: old-rollback\n---\n# Rollback\n\nRoll a deploy back.\n",
    "runbooks/old-rollback.md": "---\nsuperseded_by: rollback\n---\n# Old rollback\n\nRoll a deploy back by hand.\n",
    "decisions/adr-1.md": "# Deploy on Mondays\n\nDecided by [the retry budget](../_rules/retry.md).\n",
}
JUDGED = {
    "queries.jsonl": '{"_id": "a", "text": "retry budget"}\n',
    "qrels.tsv": "query-id\tcorpus-id\tscore\na\t_rules/retry.md\t1\n",
}
PAGE = "runbooks/rollback.md"
COMMANDS = {
    "query": ("query", "--json", "--no-track", "deploy", "rollback"),
    "near": ("query", "--json", "--no-track", "--near", PAGE),
    "context": ("context", "--json", "--no-track", "deploy", "rollback"),
    "related": ("related", "--json", PAGE),
    "links": ("links", "--json", PAGE),
    "recent": ("recent", "--json"),
    "brief": ("brief", "--json"),
    "decay": ("decay", "--json"),
    "sweep": ("sweep", "--json"),
    "check": ("check", "--json", PAGE),
    "eval": ("eval", "--json", "judged/queries.jsonl", "judged/qrels.tsv"),
    "export": ("export", "out"),
}
# What differs between an answer from an old build, one from a new one, and one a second later.
CHANGES = {"fresh", "snapshot", "fused", "rank", "cosine", "score", "weights", "streams", "tokens"}
CHANGES |= {"at", "age_days", "retention"}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    return tmp_path_factory.mktemp("templates")


def prepared(repo: Repo, template: Path, *, model: bool) -> Repo:
    kept = template / ("vectors" if model else "words")
    if not kept.exists():
        repo.write(PAGES)
        repo.write({f"judged/{name}": text for name, text in JUDGED.items()})
        repo.commit()
        assert memidx("build", cwd=repo.root, model=model).code == 0
        shutil.copytree(repo.root, kept, symlinks=True)
    else:
        shutil.rmtree(repo.root)
        shutil.copytree(kept, repo.root, symlinks=True)
    return repo


def snapshot(repo: Repo) -> Path:
    (folder,) = (repo.root / ".git" / "memidx" / "snapshots").iterdir()
    return folder


def without(plain: object) -> object:
    """A JSON answer without what differs between builds."""
    if isinstance(plain, dict):
        return {key: without(value) for key, value in plain.items() if key not in CHANGES}
    return [without(item) for item in plain] if isinstance(plain, list) else plain


def answer(repo: Repo, name: str, *, model: bool = False) -> tuple[int, object]:
    done = memidx(*COMMANDS[name], cwd=repo.root, model=model)
    assert done.code in (0, 1), (name, done.err)
    shutil.rmtree(repo.root / "out", ignore_errors=True)
    return done.code, without(json.loads(done.out)) if "--json" in COMMANDS[name] else ""


def rows_that_raise(folder: Path) -> None:
    """JSON that is none, in every row: no file has another size."""
    db = sqlite3.connect(folder / "catalog.db")
    db.execute("UPDATE pages SET meta = '['")
    db.execute("UPDATE sections SET heading = '['")
    db.commit()
    db.close()


def zeros(folder: Path) -> None:
    catalog = folder / "catalog.db"
    data = catalog.read_bytes()
    catalog.write_bytes(data[:4096] + bytes(len(data) - 4096))


def texts(folder: Path) -> None:
    """The stored texts of the words' index."""
    for path in (folder / "lexical").glob("*.store"):
        path.write_bytes(bytes(path.stat().st_size))


# Rows that raise are tried with every command, the rest with those that read in other ways; `-m slow` has them all.
USUAL = {"zeros": {"query", "context", "related", "check", "export"}, "texts": {"query", "near", "context", "export"}}
TRIED = [
    pytest.param(name, damage, marks=() if name in USUAL.get(damage.__name__, COMMANDS) else pytest.mark.slow)
    for name in COMMANDS
    for damage in (rows_that_raise, zeros, texts)
]


@pytest.mark.parametrize(("name", "damage"), TRIED)
def test_a_command_over_a_damaged_snapshot_gives_the_right_answer(repo, template, name, damage):
    prepared(repo, template, model=False)
    right = answer(repo, name)
    damage(snapshot(repo))
    assert memidx("doctor", cwd=repo.root).code == 1
    assert answer(repo, name) == right
    reads_texts = name in ("query", "near", "context", "export")
    if name != "check" and (reads_texts or damage is not texts):  # check builds nothing
        assert memidx("doctor", cwd=repo.root).code == 0


@pytest.mark.parametrize("name", ["query", "near", "context", "related"])
def test_a_command_over_vectors_that_are_none_gives_the_right_answer(repo, template, name):
    prepared(repo, template, model=True)
    right = answer(repo, name, model=True)
    path = snapshot(repo) / "vectors" / "base.f32"
    path.write_bytes(np.full(path.stat().st_size // 4, np.nan, np.float32).tobytes())
    assert answer(repo, name, model=True) == right
    assert memidx("doctor", cwd=repo.root, model=True).code == 0


def test_work_that_finds_damage_twice_is_done_twice_and_an_error(repo, template):
    vault = api.open_vault(prepared(repo, template, model=False).root, environ={"MEMIDX_VECTOR_MODEL": "none"})
    seen = []

    def work(opened: Snapshot) -> None:
        seen.append(opened.folder.stat().st_ino)
        raise BrokenSnapshotError("always")

    with pytest.raises(BrokenSnapshotError, match="always"):
        read_fresh(vault, work)
    assert len(seen) == 2
    with pytest.raises(BrokenSnapshotError, match="always"):
        read_twice(vault, vault.open_snapshot, lambda opened: work(opened.snapshot), rebuild=False)
    assert len(seen) == 3


def test_an_error_over_a_sound_snapshot_is_told_and_nothing_is_built_again(repo, template):
    vault = api.open_vault(prepared(repo, template, model=False).root, environ={"MEMIDX_VECTOR_MODEL": "none"})
    before = snapshot(repo).stat().st_mtime_ns, snapshot(repo).stat().st_ino
    for error in (KeyError("a bug"), UsageError("no such page")):

        def work(_: Snapshot, error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)):
            read_fresh(vault, work)
    assert (snapshot(repo).stat().st_mtime_ns, snapshot(repo).stat().st_ino) == before
