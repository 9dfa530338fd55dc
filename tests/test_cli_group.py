"""The group: its table of commands, its options, and what it does not import."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from clirun import CHECKOUT, WORDS_ONLY, memidx

import memidx as package
from memidx.doors.cli import ALIASES, COMMANDS, find_command


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_of_a_command_what_the_command_says(name):
    assert find_command(name).get_short_help_str(limit=100) == COMMANDS[name]
    assert find_command(name).name == name


def test_every_module_of_a_command_is_in_the_table():
    found = {path.stem for path in (CHECKOUT / "memidx/doors/commands").glob("*.py")} - {"__init__"}
    assert found == set(COMMANDS)


@pytest.mark.parametrize("name", [*COMMANDS, *ALIASES])
def test_every_command_has_help_with_an_example(name):
    done = memidx(name, "--help")
    assert done.code == 0
    assert f"  memidx {ALIASES.get(name, name)}" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_without_arguments_the_help_is_shown():
    done = memidx()
    assert (done.code, done.err) == (0, "")
    for name, line in COMMANDS.items():
        assert f"  {name} " in done.out
        assert line.split(".")[0].split()[0] in done.out


def test_version():
    assert memidx("--version").out == f"memidx {package.__version__}\n"


def test_an_unknown_command_names_the_nearest():
    done = memidx("qeury", "x")
    assert (done.code, done.out) == (2, "")
    assert done.err == "memidx: error: there is no command 'qeury'\nhint: did you mean query?\n"
    assert "memidx --help" in memidx("zzzzzz").err


def test_an_unknown_option_names_the_nearest():
    done = memidx("status", "--verfy")
    assert (done.code, done.out) == (2, "")
    assert "--verify" in done.err
    assert "hint: see `memidx status --help`" in done.err


def test_an_option_without_its_value_is_an_error():
    assert memidx("query", "x", "--limit").code == 2
    assert memidx("query", "x", "-n", "0").code == 2
    assert memidx("query").code == 2


def test_c_is_relative_to_the_c_before_and_may_follow_the_command(repo):
    repo.write({"a/b/x.md": "# Lighthouse\n", ".memidx/config.yaml": ""})
    for args in (["-C", "a", "-C", "b", "status"], ["-C", "a", "status", "-C", "b"], ["-C", "", "status"]):
        assert memidx(*args, cwd=repo.root).code == 0
    done = memidx("-C", "a", "show", "x.md", "-C", "b", cwd=repo.root)
    assert done.out == "# Lighthouse\n"


def test_c_of_what_is_no_folder_is_an_error(repo):
    done = memidx("-C", "missing", "status", cwd=repo.root)
    assert (done.code, done.out) == (2, "")
    assert "is not a folder" in done.err


def test_a_setting_on_the_command_line_wins_over_the_environment_and_that_over_the_config(repo):
    repo.write({f"{n}.md": f"# Page {n}\n\nlighthouse\n" for n in range(5)})
    repo.write({".memidx/config.yaml": "query:\n  limit: 2\n"})

    def hits(*args, env=None):
        return len(memidx(*args, "query", "lighthouse", "--json", cwd=repo.root, env=env).json["hits"])

    env = {"MEMIDX_QUERY_LIMIT": "3"}
    assert hits() == 2
    assert hits(env=env) == 3
    assert hits("--set", "query.limit=4", env=env) == 4
    assert hits("--set", "query.limit=1", "--set", "query.limit=5", env=env) == 5


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("query.limt=1", "did you mean 'limit'?"),
        ("qeury.limit=1", "did you mean 'query'?"),
        ("query.limit", "part.name=value"),
        ("query.limit=many", "whole number"),
    ],
)
def test_a_setting_that_cannot_be_used_is_an_error(repo, setting, said):
    done = memidx("--set", setting, "status", cwd=repo.root)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_a_bad_variable_and_a_bad_config_are_errors_with_their_place(repo):
    assert "MEMIDX_QUERY_LIMT" in memidx("status", cwd=repo.root, env={"MEMIDX_QUERY_LIMT": "1"}).err
    repo.write({".memidx/config.yaml": "query:\n  limt: 2\n"})
    done = memidx("status", cwd=repo.root)
    assert done.code == 2
    assert ".memidx/config.yaml:2:3" in done.err


def test_outside_a_repository_is_an_error_with_a_hint(tmp_path):
    for command in (["query", "x"], ["status"], ["build"], ["show", "x.md"], ["init"], ["gc"], ["export", "d"]):
        done = memidx(*command, cwd=tmp_path)
        assert (done.code, done.out) == (2, ""), command
        assert "is not inside a git repository" in done.err
        assert "hint: run `git init`" in done.err


COLD = """
import sys
from memidx.__main__ import main
code = main(sys.argv[1:])
heavy = {"git", "pathspec", "yaml", "pyromark", "filelock", "importlib.metadata"}
heavy |= {"numpy", "tantivy", "tokenizers", "hnswlib", "concurrent.futures", "logging", "asyncio", "tempfile"}
heavy |= {"memidx.engines.query", "memidx.engines.check", "memidx.engines.intake", "memidx.ground.page"}
loaded = sorted(heavy & set(sys.modules)) + sorted(m for m in sys.modules if m.startswith("memidx.doors.commands."))
print(" ".join(loaded), file=sys.stderr)
sys.exit(code)
"""


def loaded_by(cwd, *args, env=None):
    done = subprocess.run(
        [sys.executable, "-c", COLD, *args],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **(env or {})},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.splitlines()[-1].split()


BUILDERS = {"pathspec", "pyromark", "yaml"}


def test_a_warm_query_imports_neither_other_commands_nor_libraries_it_has_no_use_for(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    assert memidx("build", cwd=repo.root, model=True).code == 0
    asked = {"memidx.doors.commands.query", "memidx.engines.query", "tantivy"}
    assert set(loaded_by(repo.root, "query", "lighthouse")) - BUILDERS == {"numpy", *asked}
    assert set(loaded_by(repo.root, "query", "--only", "lexical", "lighthouse")) - BUILDERS == asked


@pytest.mark.parametrize(
    ("args", "modules"),
    [
        (("build", "--quiet"), {"memidx.doors.commands.build"}),
        (("status",), {"memidx.doors.commands.status"}),
        (("hook", "post-commit"), {"memidx.doors.commands.hook", "memidx.doors.commands.status"}),
    ],
)
def test_a_command_with_nothing_to_do_imports_nothing_to_do_it_with(repo, args, modules):
    repo.write({"a.md": "# Lighthouse\n"})
    assert memidx("build", cwd=repo.root, model=True).code == 0
    assert set(loaded_by(repo.root, *args)) == modules


def test_an_update_of_one_page_reads_no_tokenizer(repo):
    repo.write({f"{n}.md": f"# Page {n}\n\nWords of {n}.\n" for n in range(201)})
    assert memidx("build", cwd=repo.root, model=True).code == 0
    repo.write({"7.md": "# Lighthouse\n"})
    loaded = loaded_by(repo.root, "build", "--quiet")
    assert "numpy" in loaded  # it did make vectors
    assert not {"tokenizers", "concurrent.futures", "memidx.engines.query", "hnswlib"} & set(loaded)


def test_a_warm_query_imports_nothing_that_only_a_build_needs(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    assert memidx("build", cwd=repo.root, model=True).code == 0
    assert not set(loaded_by(repo.root, "query", "lighthouse")) & BUILDERS


def test_help_imports_no_command_and_nothing_heavy(repo):
    assert loaded_by(repo.root, "--help") == []
    code = (
        "import sys; from memidx.__main__ import main; main(['--help']); print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **WORDS_ONLY, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(done.stderr.split())
    assert not modules & {"numpy", "tantivy", "hnswlib", "tokenizers", "sqlite3", "subprocess", "memidx.vault"}


def test_completion_prints_a_script_that_calls_back_into_memidx():
    for shell in ("bash", "zsh", "fish"):
        done = memidx("completion", shell)
        assert done.code == 0
        assert "_MEMIDX_COMPLETE" in done.out
    assert memidx("completion", "tcsh").code == 2


def test_completion_completes_commands_and_options(repo):
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "_MEMIDX_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    run = [sys.executable, "-c", "import sys; from memidx.__main__ import main; sys.exit(main([]))"]
    done = subprocess.run(
        run, env={**env, "COMP_WORDS": "memidx sta"}, cwd=repo.root, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["plain,status"]
    env |= {"COMP_WORDS": "memidx query --req", "COMP_CWORD": "2"}
    done = subprocess.run(run, env=env, cwd=repo.root, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["plain,--require-fresh"]
