"""Manners of the shell: line formats, NUL, links in terminals, completion, the manual page, 80 columns."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from clirun import CHECKOUT, WORDS_ONLY, finished, memidx
from hypothesis import given, settings
from hypothesis import strategies as st

from memidx.doors.cli import COMMANDS
from memidx.doors.hyperlinks import knows_links, link
from memidx.doors.line_format import fill
from memidx.doors.manpage import man_page
from memidx.ground.errors import UsageError


@pytest.fixture
def vault(repo):
    repo.write(
        {
            "notes/a b\nc.md": "# Odd lamp\n\nlamp\n",
            "notes/red.md": "---\ntags: [sea, seaside]\n---\n# Red {lamp}\n\nintro\n\n## Light\n\nlamp\n",
            "_rules/lamp.md": "# Lamp\n\nlamp\n",
        }
    )
    repo.commit()
    memidx("build", cwd=repo.root)
    return repo


def test_a_line_for_each_hit_as_quickfix_wants_it(vault):
    done = memidx("query", "--kind", "note", "--format", "{path}:{line}: {title}", "red lamp", cwd=vault.root)
    assert "notes/red.md:4: Red {lamp}" in done.out.splitlines()
    assert "notes/a b\\nc.md:1: Odd lamp" in done.out.splitlines()


def test_paths_are_relative_to_the_current_folder_so_that_they_can_be_handed_on(vault):
    done = memidx("query", "-l", "red", cwd=vault.root / "notes")
    assert done.out == "red.md\n"
    assert memidx("query", "-l", "lamp", "kind:rule", cwd=vault.root / "notes").out == "../_rules/lamp.md\n"
    assert memidx("query", "--format", "{page}", "red", cwd=vault.root / "notes").out == "notes/red.md\n"


def test_with_nul_xargs_gets_names_byte_for_byte(vault):
    found = finished("query", "-0", "odd lamp", "path:notes/", cwd=vault.root)
    assert "notes/a b\nc.md\0" in found.out
    script = f"{shlex.quote(sys.executable)} -m memidx query -0 odd | xargs -0 wc -c"
    env = {**os.environ, **WORDS_ONLY, "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(["sh", "-c", script], cwd=vault.root, env=env, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_template_is_data(vault):
    assert fill("{a}\\t{{x}}\\0", {"a": 1}) == "1\t{x}\0"
    for template in ("{a.__class__}", "{0}", "{a!r}", "{a:>9}", "{", "}"):
        with pytest.raises(UsageError):
            fill(template, {"a": 1})
    done = memidx("query", "--format", "{pth}", "lamp", cwd=vault.root)
    assert done.code == 2
    assert "did you mean 'path'" in done.err
    assert memidx("query", "--format", "x", "-l", "lamp", cwd=vault.root).code == 2


@given(st.text(), st.text())
@settings(deadline=None, max_examples=100)
def test_a_template_never_does_more_than_fill_in(template, value):
    try:
        assert isinstance(fill(template, {"a": value}), str)
    except UsageError:
        return


def test_only_terminals_that_are_known_get_links(tmp_path):
    known = (
        {"TERM_PROGRAM": "WezTerm"},
        {"VTE_VERSION": "7003"},
        {"KITTY_WINDOW_ID": "1"},
        {"TERM": "foot"},
        {"FORCE_HYPERLINK": "1"},
    )
    unknown = ({}, {"TERM": "xterm-256color"}, {"VTE_VERSION": "4205"}, {"TERM": "dumb", "TERM_PROGRAM": "vscode"},
               {"TMUX": "x", "VTE_VERSION": "7003"}, {"FORCE_HYPERLINK": "0", "KITTY_WINDOW_ID": "1"})  # fmt: skip
    assert all(knows_links(environ) for environ in known)
    assert not any(knows_links(environ) for environ in unknown)
    shown = link("x", tmp_path / "a\x1b b;.md")
    assert shown.startswith("\x1b]8;;file://")
    assert shown.endswith("\x1b\\x\x1b]8;;\x1b\\")
    assert "a%1B%20b%3B.md" in shown


def test_nothing_but_a_terminal_gets_links(vault):
    done = memidx("query", "--color", "always", "lamp", cwd=vault.root, env={"FORCE_HYPERLINK": "1"})
    assert "\x1b]8" not in done.out


def complete(vault, words, cwd=None):
    env = {"_MEMIDX_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    done = finished(cwd=cwd or vault.root, env=env)
    return [line.partition(",")[2] for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("words", "folder", "found"),
    [
        ("memidx related no", "", ["notes/"]),
        ("memidx show re", "notes", ["red.md"]),
        ("memidx related re", "notes", ["red.md"]),
        ("memidx query --kind de", "", ["decision"]),
        ("memidx query --kind rule,de", "", ["rule,decision"]),
        ("memidx query --tag sea", "", ["sea", "seaside"]),
        ("memidx new dec", "", ["decision"]),
        ("memidx rel", "", ["related"]),
    ],
)
def test_the_shell_completes_paths_kinds_and_tags(vault, words, folder, found):
    assert complete(vault, words, vault.root / folder) == found


def test_outside_a_repository_completion_is_silent(tmp_path):
    env = {"_MEMIDX_COMPLETE": "bash_complete", "COMP_WORDS": "memidx links a", "COMP_CWORD": "2"}
    done = finished(cwd=tmp_path, env=env)
    assert (done.out.strip(), done.err) == ("", "")


def test_the_manual_page_names_every_command_and_reads_as_one(tmp_path):
    page = man_page()
    assert [name for name in COMMANDS if f".SS memidx {name}\n" not in page] == []
    requests = {line.split(" ")[0] for line in page.splitlines() if line.startswith(".")}
    assert requests <= {".TH", ".SH", ".SS", ".B", ".PP", ".TP", ".nf", ".fi", '.\\"'}
    if shutil.which("mandoc"):
        (tmp_path / "memidx.1").write_text(page)
        done = subprocess.run(
            ["mandoc", "-Tlint", "-Werror", str(tmp_path / "memidx.1")], capture_output=True, check=False
        )
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_80_columns_and_has_an_example(name):
    done = memidx(name, "--help")
    assert max(map(len, done.out.splitlines())) <= 80
    assert f"\n  memidx {name}" in done.out or "memidx -C" in done.out


@pytest.mark.parametrize(("args", "near"), [(["contxt"], "context"), (["recent", "--sinc", "1d"], "--since")])
def test_a_mistyped_name_is_answered_with_the_nearest(args, near):
    done = memidx(*args)
    assert done.code == 2
    assert near in done.err
