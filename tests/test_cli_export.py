"""`memidx export` and `query --index`."""

from __future__ import annotations

import os
import shutil
import time

import pytest
from clirun import memidx

from memidx.engines.export import export
from memidx.engines.snapshot import Snapshot
from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.settings import Settings

PAGES = {"a.md": "# Lighthouse\n\nred and white\n", "_rules/b.md": "# Rule\n\nabout the lighthouse\n"}


@pytest.fixture
def vault(repo):
    repo.write(PAGES)
    repo.commit()
    return repo


def hits(*args, **how):
    return memidx("query", "lighthouse", "--json", "--explain", *args, **how).json["hits"]


def test_the_exported_index_answers_as_the_vault_does_without_a_repository(vault, tmp_path):
    done = memidx("export", "../out", cwd=vault.root, model=True)
    assert done.code == 0
    assert done.out.startswith("exported 2 pages, 2 sections, ")
    here = hits(cwd=vault.root, model=True)
    moved = tmp_path / "elsewhere" / "index"
    moved.parent.mkdir()
    (tmp_path / "out").rename(moved)
    shutil.rmtree(vault.root)
    assert hits("--index", "index", cwd=moved.parent, model=True) == here
    assert len(here) == 2
    assert memidx("query", "zxqv", "--index", str(moved), "--json", cwd=tmp_path).json["hits"] == []


def test_export_is_fresh_and_a_second_one_replaces_the_first(vault, tmp_path):
    out = tmp_path / "out"
    memidx("export", str(out), cwd=vault.root)
    vault.write({"c.md": "# Lighthouse keeper\n"})
    assert memidx("export", str(out), cwd=vault.root).code == 0
    assert {hit["path"] for hit in hits("--index", str(out), cwd=tmp_path)} == {*PAGES, "c.md"}
    assert memidx("export", str(out), "--rev", "HEAD", cwd=vault.root).code == 0
    assert {hit["path"] for hit in hits("--index", str(out), cwd=tmp_path)} == set(PAGES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "repo"]


def test_what_a_person_made_is_never_replaced(vault, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    for target in (out, vault.root, out / "notes.txt"):
        done = memidx("export", str(target), cwd=vault.root)
        assert (done.code, done.out) == (2, "")
        assert "earlier export" in done.err
    assert (out / "notes.txt").read_text() == "mine"
    assert vault.status() == ""
    empty = tmp_path / "empty"
    empty.mkdir()
    memidx("export", str(empty), cwd=vault.root)
    (empty / "mine.txt").write_text("mine")
    assert "mine.txt" in memidx("export", str(empty), cwd=vault.root).err
    assert (empty / "mine.txt").read_text() == "mine"


def test_the_folder_gets_the_usual_permissions(vault, tmp_path):
    memidx("export", str(tmp_path / "out"), cwd=vault.root)
    (tmp_path / "usual").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_settings_of_the_vault_travel_and_options_win(vault, tmp_path):
    vault.write({".memidx/config.yaml": "query:\n  limit: 1\n"})
    memidx("export", str(tmp_path / "out"), cwd=vault.root)
    index = ("--index", str(tmp_path / "out"))
    assert len(hits(*index, cwd=tmp_path)) == 1
    assert len(hits(*index, "--set", "query.limit=5", cwd=tmp_path)) == 2
    assert len(hits(*index, cwd=tmp_path, env={"MEMIDX_QUERY_LIMIT": "2"})) == 2
    assert {hit["kind"] for hit in hits(*index, "-n5", "--kind", "rules", cwd=tmp_path)} == {"rule"}


def test_an_index_without_vectors_is_not_called_degraded(vault, tmp_path):
    memidx("export", str(tmp_path / "out"), cwd=vault.root)
    done = memidx("query", "lighthouse", "--json", "--index", str(tmp_path / "out"), cwd=tmp_path, model=True)
    assert done.json["degraded"] == []
    assert done.err == ""


def test_b6_a_damaged_index_is_an_error_that_says_to_export_again(vault, tmp_path):
    out = tmp_path / "out"
    memidx("export", str(out), cwd=vault.root)
    (out / "catalog.db").write_bytes(b"")
    done = memidx("query", "lighthouse", "--index", str(out), cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "catalog.db" in done.err
    assert "memidx export" in done.err
    done = memidx("query", "lighthouse", "--index", str(vault.root), cwd=tmp_path)
    assert "is not an exported index" in done.err


def test_b6_a_damaged_snapshot_is_not_exported_but_built_again(vault, tmp_path):
    memidx("build", cwd=vault.root)
    (folder,) = (vault.git_dir / "memidx" / "snapshots").iterdir()
    sound = (folder / "catalog.db").read_bytes()
    damaged = sound[:-1] + bytes([sound[-1] ^ 1])
    (folder / "catalog.db").write_bytes(damaged)
    with pytest.raises(BrokenSnapshotError, match=r"catalog\.db: is not what was built"):
        export(Snapshot(folder), Settings(), tmp_path / "out", time.time())
    assert not (tmp_path / "out").exists()
    assert memidx("export", str(tmp_path / "out"), cwd=vault.root).code == 0
    assert (tmp_path / "out" / "catalog.db").read_bytes() == (folder / "catalog.db").read_bytes() == sound
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "repo"]


def test_what_killed_exports_left_is_swept_after_an_hour_and_nothing_else(repo, tmp_path):
    repo.write({"a.md": "# A\n"})
    left, young, foreign = (tmp_path / name for name in (".out-abcdefgh", ".out-ijklmnop", ".out-qrstuvwx"))
    for folder in (left, young, foreign):
        (folder / "new").mkdir(parents=True)
    (foreign / "mine").write_text("kept")
    for folder in (left, foreign):
        os.utime(folder, (1, 1))
    assert memidx("export", str(tmp_path / "out"), cwd=repo.root).code == 0
    assert not left.exists() and young.exists() and (foreign / "mine").exists()
