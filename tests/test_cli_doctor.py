"""`memidx doctor`: a sound vault, and each thing that can be wrong with one."""

from __future__ import annotations

import os

from clirun import finished, memidx
from filelock import FileLock

from memidx.engines.doctor import Library, Machine, git_finding, machine_findings


def states(done):
    return {f["name"]: f["state"] for f in done.json["findings"]}


def found(done, name):
    return next(f for f in done.json["findings"] if f["name"] == name)


def test_a_sound_vault(repo):
    repo.write({"a.md": "# A\n"})
    memidx("build", cwd=repo.root, model=True)
    done = memidx("doctor", "--json", cwd=repo.root, model=True)
    assert done.code == 0
    assert done.json["ok"] is True
    assert set(states(done).values()) == {"ok"}
    assert {"memidx", "libraries", "compiler", "git", "config", "vault", "model", "lock", "snapshots"} <= set(
        states(done)
    )
    text = memidx("doctor", cwd=repo.root, model=True)
    assert text.code == 0
    assert all(line.startswith("ok  ") for line in text.out.splitlines())


def test_nothing_built_yet_is_a_warning_with_its_remedy(repo):
    done = memidx("doctor", "--json", cwd=repo.root)
    assert done.code == 0
    assert found(done, "snapshots")["state"] == "warn"
    assert "memidx build" in found(done, "snapshots")["remedy"]
    assert not (repo.git_dir / "memidx").exists()


def test_outside_a_repository(tmp_path):
    done = memidx("doctor", "--json", cwd=tmp_path)
    assert done.code == 1
    assert found(done, "vault")["state"] == "fail"
    assert found(done, "vault")["remedy"]
    assert states(done)["libraries"] == "ok"


def test_without_git(repo, tmp_path):
    done = finished("doctor", "--json", cwd=repo.root, env={"PATH": str(tmp_path)})
    assert done.code == 1
    assert "not found on PATH" in done.out


def test_a_bad_config_is_a_finding_and_the_rest_is_still_looked_at(repo):
    repo.write({".memidx/config.yaml": "query:\n  limt: 2\n"})
    done = memidx("doctor", "--json", cwd=repo.root)
    assert done.code == 1
    assert found(done, "config")["state"] == "fail"
    assert ".memidx/config.yaml:2:3" in found(done, "config")["message"]
    assert "lock" in states(done)
    assert memidx("--set", "query.limt=2", "doctor", cwd=repo.root).code == 1


def test_b8_a_missing_or_truncated_model_is_named_with_its_remedy(repo, tmp_path):
    for name in (f"model2vec:{tmp_path / 'none'}", f"fastembed:{tmp_path / 'none'}"):
        done = memidx("doctor", "--json", cwd=repo.root, env={"MEMIDX_VECTOR_MODEL": name})
        assert done.code == 1
        assert found(done, "model")["state"] == "fail"
        assert found(done, "model")["remedy"]
    done = memidx("doctor", "--json", cwd=repo.root)  # the model of these tests is `none`
    assert found(done, "model")["message"].startswith("none, as vector.model says")


def test_b6_a_damaged_snapshot_fails_and_a_full_build_mends_it(repo):
    repo.write({"a.md": "# A\n"})
    memidx("build", cwd=repo.root)
    (folder,) = (repo.git_dir / "memidx" / "snapshots").iterdir()
    catalog = folder / "catalog.db"
    data = bytearray(catalog.read_bytes())
    data[-1] ^= 1
    catalog.write_bytes(data)
    done = memidx("doctor", "--json", cwd=repo.root)
    assert done.code == 1
    assert "catalog.db" in found(done, "snapshot")["message"]
    assert found(done, "snapshot")["remedy"] == "run `memidx build --full`"
    memidx("build", "--full", cwd=repo.root)
    assert memidx("doctor", cwd=repo.root).code == 0


def test_a_lock_that_is_held_is_a_warning(repo):
    repo.write({"a.md": "# A\n"})
    memidx("build", cwd=repo.root)
    with FileLock(str(repo.git_dir / "memidx" / "lock")):
        done = finished("doctor", "--json", cwd=repo.root)
    assert done.code == 0
    assert found(done, "lock")["state"] == "warn"


def test_g14_a_shallow_clone_is_a_warning(repo, tmp_path):
    repo.write({"a.md": "# A\n"})
    repo.commit()
    repo.commit()
    clone = repo.clone(tmp_path / "clone", "--depth", "1")
    done = memidx("doctor", "--json", cwd=clone.root)
    assert found(done, "history") == {
        "name": "history",
        "state": "warn",
        "message": "this clone is shallow: the age of most pages is not known, and counts as neutral",
        "remedy": "git fetch --unshallow",
    }


def test_g4_a_hooks_path_is_named_and_one_that_leads_nowhere_is_a_warning(repo):
    folder = repo.root / "my-hooks"
    repo.git("config", "core.hooksPath", "my-hooks")
    assert found(memidx("doctor", "--json", cwd=repo.root), "hooks")["state"] == "warn"
    folder.mkdir()
    done = memidx("doctor", "--json", cwd=repo.root)
    assert found(done, "hooks")["state"] == "ok"
    assert os.fspath(folder) in found(done, "hooks")["message"]


def test_old_git_and_broken_libraries_fail_with_what_to_do():
    assert git_finding("2.30.9").state == "fail"
    assert git_finding("2.31.0").state == "ok"
    assert git_finding("2.39.5 (Apple Git-154)").state == "ok"
    assert git_finding("nonsense").state == "fail"
    missing = Library("hnswlib", None, "")
    machine = Machine("0.1.0", "3.11.7", "x", (missing, Library("numpy", "2.0", "cannot be imported: x")), None)
    rows = list(machine_findings(machine))
    assert [(row.name, row.state) for row in rows[1:]] == [
        ("library", "fail"),
        ("library", "fail"),
        ("compiler", "fail"),
    ]
    assert all(row.remedy for row in rows[1:])
    whole = machine._replace(libraries=(Library("hnswlib", "0.8.0", ""),))
    assert {row.state for row in machine_findings(whole)} == {"ok"}
