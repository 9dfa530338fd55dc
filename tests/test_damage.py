"""Damage to what is derived: noticed, named, built again. And disks that are full or must not be written.

What a plain query cannot notice at a reasonable price is said in docs/safety.md; `memidx doctor` notices all of it.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sqlite3
import sys
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from clirun import Done, finished, memidx
from unprivileged import needs_permissions, obey_permissions

from memidx.ground.errors import BrokenSnapshotError
from memidx.ground.manifest import FORMAT, Manifest, _digest
from memidx.stores.catalog.writing import CatalogWriter
from memidx.stores.graph import Graph, GraphBuilder
from memidx.stores.graphfile import check_graph_file
from memidx.stores.vector_cache import VectorCache

if TYPE_CHECKING:
    from pathlib import Path

    from repo import Repo

WORDS = ("harbour", "lighthouse", "deploy", "rollback", "window", "engine", "signal", "anchor")
QUESTIONS = ("deploy rollback", "page 3 lighthouse", "which signal does the anchor window give")
SIZED = ("half", "empty")  # what every query notices
FLIPS = ("first", "quarter", "middle", "end")


VECTORS = {"wanted": True}  # words alone are enough, and much quicker, where a test is not about vectors


def run(*args: str, **how: object) -> Done:
    env = {"MEMIDX_VECTOR_GRAPH": "always"} if VECTORS["wanted"] else None
    return memidx(*args, model=VECTORS["wanted"], env=env, **how)


def body(number: int) -> str:
    dice = random.Random(number)
    parts = (
        f"## Part {n} {dice.choice(WORDS)}\n\n{' '.join(dice.choices(WORDS, k=20))} [[p{n}]]\n\n" for n in range(28)
    )
    return f"---\ntags: [t{number}]\n---\n# Page {number} {WORDS[number]}\n\n" + "".join(parts)


def ask(repo: Repo) -> list[object]:
    """The hits of some questions. Fails where an answer is not a plain one."""
    found: list[object] = []
    for question in QUESTIONS:
        done = run("query", "--json", "--no-track", *question.split(), cwd=repo.root)
        assert done.code in (0, 1) and "Traceback" not in done.err, done.err
        found.append([(hit["path"], hit["line"], hit["rank"]) for hit in done.json["hits"]])
    return found


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    """Where the vaults are kept once they were made."""
    return tmp_path_factory.mktemp("templates")


def made(repo: Repo, template: Path) -> Repo:
    """Two snapshots, the second an update of the first."""
    if template.exists():
        shutil.rmtree(repo.root)
        shutil.copytree(template, repo.root, symlinks=True)
        return repo
    repo.write({f"p{n}.md": body(n) for n in range(8)})
    repo.commit()
    assert run("build", cwd=repo.root).code == 0
    repo.write({"p3.md": body(3) + "\n## Later\n\na signal to the harbour\n"})
    assert "update: pages changed" in run("build", cwd=repo.root).out
    shutil.copytree(repo.root, template, symlinks=True)
    return repo


@pytest.fixture
def vault(repo, templates):
    """With vectors and a graph."""
    VECTORS["wanted"] = True
    return made(repo, templates / "vectors")


@pytest.fixture
def words(repo, templates):
    """Words alone."""
    VECTORS["wanted"] = False
    yield made(repo, templates / "words")
    VECTORS["wanted"] = True


def snapshot(repo: Repo) -> Path:
    status = run("status", "--json", cwd=repo.root).json
    return repo.git_dir / "memidx" / "snapshots" / status["snapshot"]


def damaged(data: bytes, how: str) -> bytes:
    if how == "half":
        return data[: len(data) // 2]
    if how == "empty":
        return b""
    if how == "garbage":
        return random.Random(1).randbytes(len(data))
    at = {"first": 0, "quarter": len(data) // 4, "middle": len(data) // 2, "end": len(data) - 1}[how]
    return data[:at] + bytes([data[at] ^ (1 << at % 8)]) + data[at + 1 :]


def truths(repo: Repo) -> list[list[object]]:
    """The right answers: from an update, and from a full build, which may differ in the last digits of BM25."""
    kept = repo.root.parent / "kept"
    before = ask(repo)
    shutil.copytree(repo.git_dir / "memidx", kept)
    assert run("build", "--full", cwd=repo.root).code == 0
    return [before, ask(repo)]


def try_all(repo: Repo, hows: tuple[str, ...], *, answers: bool, only: tuple[str, ...] = ("",)) -> Counter[str]:
    """Damage each file of the snapshot in each way. Counts what a plain query made of it."""
    folder, right, kept = snapshot(repo), truths(repo), repo.root.parent / "kept"
    home = repo.git_dir / "memidx"
    counts: Counter[str] = Counter()
    shutil.rmtree(home)
    shutil.copytree(kept, home)
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.stat().st_size and p.name.endswith(only)):
        for how in hows:
            shutil.rmtree(home)
            shutil.copytree(kept, home)
            wrong = damaged(path.read_bytes(), how)
            path.write_bytes(wrong)
            name = path.relative_to(folder).as_posix()
            doctor = run("doctor", "--json", cwd=repo.root)
            told = [f["message"] for f in doctor.json["findings"] if f["state"] == "fail"]
            assert doctor.code == 1 and any(name in message for message in told), (name, how, told)
            status = run("status", "--json", "--verify", cwd=repo.root)
            assert name in (status.json["differing"] or ()) or name in str(status.json["reasons"]), (name, how)
            seen = ask(repo)
            mended = not path.exists() or path.read_bytes() != wrong
            assert seen in right or not (answers or mended), (name, how)
            counts["noticed and built again" if mended else "no matter" if seen in right else "not noticed"] += 1
    run("build", "--full", cwd=repo.root)
    run("gc", "--keep", "0", cwd=repo.root)
    assert run("doctor", cwd=repo.root).code == 0
    return counts


def test_b6_a_flipped_bit_in_a_file_is_named_by_doctor_and_mended(vault):
    assert try_all(vault, ("middle",), answers=False, only=("catalog.db", "overlay.f32")).total() == 2


@pytest.mark.slow
@pytest.mark.parametrize("hows", [SIZED, FLIPS, ("garbage",)], ids=["sized", "flips", "garbage"])
def test_b6_damage_of_every_kind_in_every_file(vault, hows):
    counts = try_all(vault, hows, answers=hows != FLIPS)
    sys.stdout.write(f"\n{', '.join(hows)}: {dict(counts)}\n")
    assert hows != SIZED or set(counts) == {"noticed and built again"}


def test_an_update_does_not_vouch_for_damage_that_was_there_before(words):
    """An update copies the catalog and gives the copy a new digest."""
    catalog = snapshot(words) / "catalog.db"
    db = sqlite3.connect(catalog)
    db.execute("UPDATE sections SET line = 9999 WHERE page = 2")
    db.commit()
    db.close()
    size = catalog.stat().st_size
    words.write({"p4.md": body(4) + "\nmore\n"})
    truth = ask(words)
    assert catalog.stat().st_size == size
    assert not any(line == 9999 for hits in truth for _, line, _ in hits)
    assert run("status", "--json", "--verify", cwd=words.root).json["differing"] == []


def test_a_damaged_last_build_does_not_stop_a_query_after_a_change(words):
    catalog = snapshot(words) / "catalog.db"
    data = bytearray(catalog.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    catalog.write_bytes(data)
    words.write({"p4.md": body(4) + "\nmore\n"})
    assert any(ask(words))


def test_a_row_that_makes_a_query_raise_is_blamed_on_the_damage(words):
    db = sqlite3.connect(snapshot(words) / "catalog.db")
    db.execute("UPDATE sections SET heading = '['")
    db.commit()
    db.close()
    assert any(ask(words))


def test_vectors_that_are_none_are_noticed_by_the_query(vault):
    path = snapshot(vault) / "vectors" / "base.f32"
    rows = path.stat().st_size // 4
    right = truths(vault)
    for wrong in (np.nan, 1e30):
        shutil.rmtree(vault.git_dir / "memidx")
        shutil.copytree(vault.root.parent / "kept", vault.git_dir / "memidx")
        path.write_bytes(np.full(rows, wrong, np.float32).tobytes())
        assert ask(vault) in right


def test_a_graph_that_leads_out_of_its_file_is_never_given_to_the_library(tmp_path):
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((200, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    builder = GraphBuilder(16, 200)
    builder.append(vectors)
    path = tmp_path / "graph"
    builder.finish(path, vectors, vectors[:5])
    whole = path.read_bytes()
    check_graph_file(path, 16, 200)
    assert Graph.open(path, 16, 200, 200).search(vectors[7], 1)[0].row == 7
    low = 96 + 4  # the first link of the first node
    labels = 96 + 4 * 33 + 4 * 16
    for at in (0, 8, 16, 24, 32, 40, 48, 52, 56, 64, 72, low, 96, labels, len(whole) - 66, len(whole) - 70):
        path.write_bytes(whole[:at] + b"\xff\xff\xff\x7f" + whole[at + 4 :])
        with pytest.raises(BrokenSnapshotError):
            check_graph_file(path, 16, 200)
    for size in (0, 50, 96, 5000, len(whole) - 4):
        path.write_bytes(whole[:size])
        with pytest.raises(BrokenSnapshotError):
            check_graph_file(path, 16, 200)


def test_a_cached_vector_that_was_damaged_is_made_again(tmp_path):
    path = tmp_path / "vectors.db"
    cache = VectorCache(path)
    cache.put({b"k" * 16: b"v" * 64, b"m" * 16: b"w" * 64})
    cache.close()
    data = path.read_bytes()
    at = data.index(b"v" * 64) + 5
    path.write_bytes(data[:at] + b"x" + data[at + 1 :])
    cache = VectorCache(path)
    assert cache.get([b"k" * 16, b"m" * 16]) == {b"m" * 16: b"w" * 64}
    cache.put({b"k" * 16: b"v" * 64})
    assert cache.get([b"k" * 16]) == {b"k" * 16: b"v" * 64}
    cache.close()


def test_a_catalog_that_cannot_be_changed_is_closed(tmp_path, monkeypatch):
    opened = []

    class Connection(sqlite3.Connection):
        def execute(self, *_):
            opened.append(self)
            raise sqlite3.DatabaseError("malformed")

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **how: connect(path, factory=Connection, **how))
    with pytest.raises(sqlite3.DatabaseError, match="malformed"):
        CatalogWriter.update(tmp_path / "catalog.db")
    (db,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        db.cursor()


# -- other versions ---------------------------------------------------------------------------------------------------


def as_format(folder: Path, number: int) -> None:
    path = folder / "manifest.json"
    plain = json.loads(path.read_bytes())
    plain["format"] = number
    plain.pop("self")
    path.write_text(json.dumps(plain | {"self": _digest(plain)}))


@pytest.mark.parametrize(("number", "who"), [(FORMAT - 1, "an older"), (FORMAT + 1, "a newer")])
def test_b6_a_snapshot_of_another_version_is_named_and_built_again(words, number, who):
    old = snapshot(words)
    as_format(old, number)
    status = run("status", "--json", cwd=words.root)
    assert f"was made by {who} memidx: snapshot format {number}" in str(status.json["reasons"])
    doctor = run("doctor", cwd=words.root)
    assert f"was made by {who} memidx" in doctor.out and doctor.code == 0
    assert any(ask(words))


def test_what_a_newer_version_made_is_not_collected(words):
    folder = snapshot(words)
    newer, older = (folder.with_name(c * 32) for c in "ab")
    for other, number in ((newer, FORMAT + 1), (older, FORMAT - 1)):
        shutil.copytree(folder, other)
        as_format(other, number)
        os.utime(other, (1, 1))
    words.write({"p5.md": "# Another\n"})
    assert any(ask(words))
    run("gc", "--keep", "0", cwd=words.root)
    assert newer.is_dir() and not older.is_dir()


def test_an_exported_index_of_another_version_is_refused_in_clear_words(words, tmp_path):
    assert run("export", str(tmp_path / "out"), cwd=words.root).code == 0
    as_format(tmp_path / "out", FORMAT + 1)
    done = run("query", "--index", str(tmp_path / "out"), "deploy")
    assert done.code == 2 and "was made by a newer memidx" in done.err and "export it again" in done.err


def test_a_manifest_whose_format_was_hit_by_a_flip_is_damage_and_no_other_version(words):
    data = (snapshot(words) / "manifest.json").read_bytes()
    flipped = data.replace(b'"format": %d' % FORMAT, b'"format": %d' % (FORMAT + 4))
    with pytest.raises(BrokenSnapshotError, match="its own digest"):
        Manifest.from_bytes(flipped, "x")


# -- no room, no permission -------------------------------------------------------------------------------------------


def limited(size: int):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


SLOW = pytest.mark.slow


@pytest.mark.parametrize("args", [("build",), pytest.param(("build", "--full"), marks=SLOW)])
@pytest.mark.parametrize("size", [0, 30_000, *(pytest.param(n, marks=SLOW) for n in (5_000, 60_000, 150_000))])
def test_a_disk_that_is_full_while_building_is_one_line_and_the_old_answer_stays(vault, size, args):
    truth = ask(vault)
    home = vault.git_dir / "memidx"
    pages = {f"q{n}.md": body(n).replace("Page", "Copy") for n in range(2)}
    vault.write(pages)
    done = finished(
        *args, "--quiet", cwd=vault.root, env={"MEMIDX_VECTOR_MODEL": "wordllama"}, preexec_fn=limited(size)
    )
    assert done.code == 2, done
    assert "Traceback" not in done.err and "bug in memidx" not in done.err, done.err
    assert list((home / "staging").iterdir()) == []
    old = run("query", "--json", "--no-refresh", "--no-track", *QUESTIONS[0].split(), cwd=vault.root)
    assert [(h["path"], h["line"], h["rank"]) for h in old.json["hits"]] == truth[0]
    vault.remove(*pages)
    assert ask(vault) == truth
    assert run("doctor", cwd=vault.root).code == 0


@needs_permissions
def test_a_state_folder_that_must_not_be_written_still_answers(words):
    folders = [p for p in (words.git_dir / "memidx").rglob("*") if p.is_dir()] + [words.git_dir / "memidx"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        done = finished("query", "deploy", "rollback", cwd=words.root, preexec_fn=obey_permissions)
        assert (done.code, done.err) == (0, "")
        words.write({"p6.md": "# Six\n\nnew words\n"})
        for command in (("build",), ("query", "deploy")):
            done = finished(*command, cwd=words.root, preexec_fn=obey_permissions)
            assert done.code == 2, done
            assert "ermission" in done.err and "Traceback" not in done.err, done.err
        done = finished("query", "--no-refresh", "deploy", cwd=words.root, preexec_fn=obey_permissions)
        assert done.code == 0, done.err
    finally:
        for folder in folders:
            folder.chmod(0o755)
