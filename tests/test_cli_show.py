"""`memidx show`: finding a page by what is typed, and printing it."""

from __future__ import annotations

import os

import pytest
from clirun import finished, memidx, process

PAGE = "---\ntitle: Rollback\ntags: [ops, deploy]\ntier: 2\n---\nintro\n\n# Steps\n\nfirst\n\n# After\n\nlast\n"


def test_a_page_goes_out_byte_for_byte(repo):
    data = b"\xef\xbb\xbf# A\r\n\r\ntext \x1b[31m caf\xe9 without an end"
    repo.write({"a.md": data})
    with process("show", "a.md", cwd=repo.root) as running:
        out, err = running.communicate()
    assert (running.returncode, out, err) == (0, data, b"")


def test_a_line_gives_the_section_it_is_in(repo):
    repo.write({"a.md": PAGE})
    assert memidx("show", "a.md:10", cwd=repo.root).out == "# Steps\n\nfirst\n"
    assert memidx("show", "a.md:11", cwd=repo.root).out == "# Steps\n\nfirst\n"
    assert memidx("show", "a.md:14", cwd=repo.root).out == "# After\n\nlast\n"
    assert memidx("show", "a.md:2", cwd=repo.root).out == PAGE[: PAGE.index("intro")]
    for line in ("0", "15", "999"):
        done = memidx("show", f"a.md:{line}", cwd=repo.root)
        assert (done.code, done.out) == (2, "")
        assert f"no line {line}" in done.err
        assert "14 lines" in done.err


def test_a_hit_can_be_shown_as_it_is_cited(repo):
    repo.write({"a.md": PAGE})
    hit = memidx("query", "first", "--json", cwd=repo.root).json["hits"][0]
    assert "first" in memidx("show", f"{hit['path']}:{hit['line']}", cwd=repo.root).out


@pytest.mark.parametrize(
    "name", ["# Meeting [x] (1) 100%.md", "a b\"c'd.md", "笔记.md", "a\\b.md", "a\tb\nc.md", "$HOME *.md"]
)
def test_n3_an_odd_name_is_taken_verbatim(repo, name):
    repo.write({name: "# Odd\n\n## Second\n\ntext\n"})
    assert memidx("show", name, cwd=repo.root).out.startswith("# Odd\n")
    assert memidx("show", f"{name}:5", cwd=repo.root).out == "## Second\n\ntext\n"
    assert memidx("show", name, "--json", cwd=repo.root).json["path"] == name


def test_n1_a_name_that_starts_with_a_dash_comes_after_two(repo):
    repo.write({"-rf.md": "# Dash\n"})
    assert memidx("show", "--", "-rf.md", cwd=repo.root).out == "# Dash\n"
    assert memidx("show", "./-rf.md", cwd=repo.root).out == "# Dash\n"


def test_a_name_that_ends_like_a_line_wins(repo):
    repo.write({"a.md": "# Short\n", "a.md:12": "# Long\n", ".memidx/config.yaml": "pages:\n  include: ['a.*']\n"})
    assert memidx("show", "a.md:12", cwd=repo.root).out == "# Long\n"
    assert memidx("show", "a.md:12:1", cwd=repo.root).out == "# Long\n"
    assert memidx("show", "a.md:1", cwd=repo.root).out == "# Short\n"


def test_n2_another_normal_form_of_the_name_finds_the_page(repo):
    repo.write({"cafe\u0301.md": "# Decomposed\n"})
    assert memidx("show", "caf\u00e9.md", cwd=repo.root).out == "# Decomposed\n"
    repo.write({"caf\u00e9.md": "# Composed\n"})
    assert memidx("show", "caf\u00e9.md", cwd=repo.root).out == "# Composed\n"


def test_a_path_is_relative_to_the_current_folder_then_to_the_root(repo):
    repo.write({"a.md": "# Top\n", "sub/a.md": "# Sub\n", "sub/deep/b.md": "# Deep\n"})
    sub = repo.root / "sub"
    assert memidx("show", "a.md", cwd=sub).out == "# Sub\n"
    assert memidx("show", "../a.md", cwd=sub).out == "# Top\n"
    assert memidx("show", "sub/a.md", cwd=sub).out == "# Sub\n"
    assert memidx("show", str(sub / "deep/b.md"), cwd=repo.root).out == "# Deep\n"
    assert memidx("show", "deep/../deep/b.md", cwd=sub).out == "# Deep\n"


def test_an_unknown_page_names_the_nearest_and_nothing_outside_is_read(repo, tmp_path):
    repo.write({"runbooks/rollback.md": "# R\n"})
    (tmp_path / "secret.md").write_text("secret")
    for typed in ("runbooks/rolback.md", "rollback.md", "rolback.md:3"):
        done = memidx("show", typed, cwd=repo.root)
        assert (done.code, done.out) == (2, "")
        assert "did you mean runbooks/rollback.md?" in done.err
    for typed in ("../secret.md", str(tmp_path / "secret.md"), "/etc/passwd", ".git/config", ""):
        assert memidx("show", typed, cwd=repo.root)[:2] == (2, "")


def test_rev_shows_the_page_as_it_was(repo):
    repo.write({"a.md": "# Old\n"})
    repo.commit()
    repo.git("tag", "v1")
    repo.write({"a.md": "# New\n"})
    assert memidx("show", "a.md", cwd=repo.root).out == "# New\n"
    assert memidx("show", "a.md", "--rev", "v1", cwd=repo.root).out == "# Old\n"
    assert memidx("show", "a.md", "--rev", "v2", cwd=repo.root).code == 2


def test_json_has_the_fields_typed_and_as_written(repo):
    repo.write({"a.md": PAGE})
    plain = memidx("show", "a.md:10", "--json", cwd=repo.root).json
    assert plain["title"] == "Rollback"
    assert plain["blob"] == repo.git("hash-object", "a.md")
    assert plain["meta"]["tags"] == ["ops", "deploy"]
    assert plain["meta"]["tier"] == 2
    assert {"key": "tier", "value": "2", "line": 4} in plain["fields"]
    assert [(s["heading"], s["line"], s["end_line"]) for s in plain["sections"]] == [
        ([], 6, 6),
        (["Steps"], 8, 10),
        (["After"], 12, 14),
    ]
    assert (plain["line"], plain["end_line"], plain["text"]) == (8, 10, "# Steps\n\nfirst\n")


def test_on_a_terminal_control_characters_are_visible(repo):
    pty = pytest.importorskip("pty")
    repo.write({"a.md": "# A\n\ntext \x1b[31m red\n"})
    ours, theirs = pty.openpty()
    try:
        assert finished("show", "a.md", cwd=repo.root, stdout=theirs).code == 0
        shown = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "text \\x1b[31m red" in shown
    assert "\x1b" not in shown
