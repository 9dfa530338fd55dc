"""`memidx status`: the verdict, the reasons, the facts."""

from __future__ import annotations

from clirun import memidx


def folder_of(repo):
    found = memidx("status", "--json", cwd=repo.root).json
    return repo.git_dir / "memidx" / "snapshots" / found["snapshot"]


def test_nothing_built_yet_and_status_builds_nothing(repo):
    repo.write({"a.md": "# A\n"})
    for _ in range(2):
        done = memidx("status", cwd=repo.root)
        assert done.code == 0
        assert done.out == "not up to date: nothing has been built yet; `memidx build` mends it\n"
    assert not (repo.git_dir / "memidx").exists()


def test_up_to_date_with_its_facts(repo):
    repo.write({"a.md": "# A\n", "_rules/b.md": "# B\n", "c.md": "# C\n"})
    graph = {"MEMIDX_VECTOR_GRAPH": "always"}
    memidx("build", cwd=repo.root, model=True, env=graph)
    lines = memidx("status", cwd=repo.root, model=True, env=graph).out.splitlines()
    assert lines[0] == "up to date"
    assert "pages      3: 2 note, 1 rule" in lines
    assert "sections   3, 3 distinct vectors" in lines
    assert any(line.startswith("model      wordllama") for line in lines)
    assert any(line.startswith("graph      3 vectors, recall 1.000; not used by queries: ") for line in lines)
    assert "kept       1 snapshot" in lines


def test_stale_says_how_many_pages_and_what_else_differs(repo):
    repo.write({"a.md": "# A\n", "b.md": "# B\n"})
    memidx("build", cwd=repo.root)
    repo.write({"a.md": "# Changed\n", "c.md": "# C\n", "d.md": "# D\n"})
    repo.remove("b.md")
    first = memidx("status", cwd=repo.root).out.splitlines()[0]
    assert "2 added, 1 changed, 1 removed since the last build" in first
    memidx("build", cwd=repo.root)
    assert "other settings" in memidx("--set", "sections.max_chars=500", "status", cwd=repo.root).out
    done = memidx("status", cwd=repo.root, model=True)
    assert "other model: built with none, now wordllama" in done.out
    plain = memidx("status", "--json", cwd=repo.root, model=True).json
    assert (plain["fresh"], plain["added"], plain["changed"], plain["removed"]) == (False, [], [], [])


def test_a_revert_is_up_to_date_again_without_a_build(repo):
    repo.write({"a.md": "# A\n"})
    memidx("build", cwd=repo.root)
    repo.write({"a.md": "# Changed\n"})
    memidx("build", cwd=repo.root)
    repo.write({"a.md": "# A\n"})
    assert memidx("status", cwd=repo.root).out.startswith("up to date\n")


def test_f4_a_degraded_page_is_never_plain_up_to_date(repo):
    shapes = {
        "a.md": "---\nkey: `C:\\x`\n---\nbody\n",
        "b.md": "---\ntitle: never closed\n\nbody\n",
        "c.md": "---\ntitle: *Italic*\n---\nbody\n",
        "d.md": "---\nlinks:\n- [[link]]suffix\n---\nbody\n",
    }
    for count, (name, text) in enumerate(shapes.items(), 1):
        repo.write({name: text})
        repo.commit()
        repo.write({"good.md": f"# Good {count}\n"})
        repo.commit()
        memidx("build", cwd=repo.root)
        lines = memidx("status", cwd=repo.root).out.splitlines()
        noun = "page" if count == 1 else "pages"
        assert lines[0] == f"{count} {noun} degraded, else up to date"
        assert any(line.startswith(f"  {name}:") for line in lines[lines.index("findings") :])
        assert memidx("status", "--json", cwd=repo.root).json["degraded"] == sorted(shapes)[:count]


def test_verify_names_the_files_that_differ(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    memidx("build", cwd=repo.root)
    memidx("query", "lighthouse", cwd=repo.root)
    done = memidx("status", "--verify", cwd=repo.root)
    assert done.code == 0
    assert "verified   every file is as it was built" in done.out
    catalog = folder_of(repo) / "catalog.db"
    data = bytearray(catalog.read_bytes())
    data[-1] ^= 1
    catalog.write_bytes(data)
    done = memidx("status", "--verify", cwd=repo.root)
    assert done.code == 1
    assert "differs    catalog.db" in done.out
    assert memidx("status", "--verify", "--json", cwd=repo.root).json["differing"] == ["catalog.db"]
    assert "differing" not in memidx("status", "--json", cwd=repo.root).json


def test_b6_a_damaged_build_is_said_and_mended_by_the_next(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    memidx("build", cwd=repo.root)
    folder = folder_of(repo)
    (folder / "manifest.json").write_bytes(b"{")
    done = memidx("status", cwd=repo.root)
    assert done.code == 0
    assert done.out.startswith("not up to date: the last build is damaged: ")
    assert memidx("query", "lighthouse", cwd=repo.root).code == 0
    assert memidx("status", cwd=repo.root).out.startswith("up to date\n")


def test_a_model_that_cannot_be_used_is_said(repo, tmp_path):
    repo.write({"a.md": "# A\n"})
    env = {"MEMIDX_VECTOR_MODEL": f"model2vec:{tmp_path / 'no'}"}
    memidx("build", cwd=repo.root, env=env)
    assert "model      cannot be used: " in memidx("status", cwd=repo.root, env=env).out
