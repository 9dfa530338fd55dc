"""G4 and G5: putting memidx into hooks folders of every kind, beside whatever is there, and taking it out again."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
import yaml
from clirun import CHECKOUT, finished, memidx
from hookrepo import hooked, program
from repo import Repo, run_git
from unprivileged import needs_permissions, obey_permissions

from memidx.doors.cli import COMMANDS
from memidx.stores.hooks import KEPT, NAMES

HOOKS = CHECKOUT / "hooks"
pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX shells")
THEIRS = b'#!/bin/sh\necho "theirs: $* $(cat)" >>"$OUT"\nexit ${CODE:-0}\n'


@pytest.fixture
def vault(repo):
    repo.write({"a.md": "# Lighthouse\n"})
    repo.commit()
    return repo


def folder_bytes(folder):
    """Names, modes and bytes (of links: the target) of a hooks folder."""
    found = {}
    for path in sorted(folder.iterdir()):
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        found[path.name] = (path.lstat().st_mode, data)
    return found


def put(folder, name, data=THEIRS, mode=0o755):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    (folder / name).chmod(mode)


def test_the_scripts_are_one_text_under_five_names_and_can_be_run():
    texts = {
        name: (HOOKS / name).read_text().replace(name, "NAME", 1).replace(f"name={name}\n", "name=NAME\n")
        for name in NAMES
    }
    assert sorted(path.name for path in HOOKS.iterdir()) == sorted(NAMES)
    assert len(set(texts.values())) == 1
    assert all(os.access(HOOKS / name, os.X_OK) for name in NAMES)


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_shellcheck_has_nothing_to_say():
    import subprocess

    done = subprocess.run(["shellcheck", "-s", "sh", *map(str, HOOKS.iterdir())], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_install_and_uninstall_leave_the_folder_as_it_was_and_twice_is_as_once(vault):
    hooks = vault.git_dir / "hooks"
    put(hooks, "pre-push")
    before = folder_bytes(hooks)
    assert memidx("hooks", "status", cwd=vault.root).code == 1
    assert "installed: pre-commit" in memidx("hooks", "install", cwd=vault.root).out
    once = folder_bytes(hooks)
    again = memidx("hooks", "install", cwd=vault.root)
    assert all(line.startswith("kept: ") for line in again.out.splitlines())
    assert folder_bytes(hooks) == once
    assert memidx("hooks", "uninstall", cwd=vault.root).out.count("removed: ") == len(NAMES)
    assert folder_bytes(hooks) == before
    assert "nothing to remove" in memidx("hooks", "uninstall", cwd=vault.root).out
    assert vault.status() == ""


@pytest.mark.parametrize("mode", [0o755, 0o700, 0o644], ids=oct)
def test_g5_hooks_that_are_there_come_back_byte_for_byte(vault, mode):
    hooks = vault.git_dir / "hooks"
    for name in NAMES:
        put(hooks, name, b"#!/bin/bash\r\n\xff\x00 " + name.encode(), mode)
    before = folder_bytes(hooks)
    memidx("hooks", "install", cwd=vault.root)
    memidx("hooks", "install", cwd=vault.root)
    assert set(folder_bytes(hooks)) == {*NAMES, *(name + KEPT for name in NAMES)}
    assert "restored: pre-commit" in memidx("hooks", "uninstall", cwd=vault.root).out
    assert folder_bytes(hooks) == before


def test_g5_a_hook_that_is_a_link_is_kept_as_a_link_and_runs(vault, tmp_path):
    hooks = vault.git_dir / "hooks"
    put(tmp_path / "tools", "their-hook")
    (hooks / "pre-commit").symlink_to(tmp_path / "tools" / "their-hook")
    before = folder_bytes(hooks)
    memidx("hooks", "install", cwd=vault.root)
    assert (hooks / f"pre-commit{KEPT}").is_symlink()
    run_git(vault.root, "commit", "-q", "--allow-empty", "-m", "x", env={"OUT": str(tmp_path / "out")})
    assert (tmp_path / "out").read_text().startswith("theirs:")
    memidx("hooks", "uninstall", cwd=vault.root)
    assert folder_bytes(hooks) == before


@pytest.mark.parametrize("code", [0, 1, 3])
def test_g5_the_hook_that_was_there_gets_arguments_and_input_and_its_exit_code_counts(vault, tmp_path, code):
    hooks = vault.git_dir / "hooks"
    for name in ("pre-commit", "post-rewrite", "post-checkout"):
        put(hooks, name)
    memidx("hooks", "install", cwd=vault.root)
    env, _ = program(tmp_path / "p")
    env |= {"OUT": str(tmp_path / "out"), "CODE": str(code)}
    for name, args in (("pre-commit", []), ("post-rewrite", ["amend"]), ("post-checkout", ["a b", "", "1"])):
        done = run_git(
            vault.root, "-c", f"alias.h=!.git/hooks/{name}", "h", *args, env=env, stdin=b"in\nput", check=False
        )
        assert done.returncode == code, name
    # The arguments arrive unsplit, and the input whole.
    assert (tmp_path / "out").read_text() == "theirs:  in\nput\ntheirs: amend in\nput\ntheirs: a b  1 in\nput\n"


def test_g5_a_hook_that_git_would_not_run_is_not_run(vault, tmp_path):
    put(vault.git_dir / "hooks", "pre-commit", mode=0o644)
    memidx("hooks", "install", cwd=vault.root)
    run_git(vault.root, "commit", "-q", "--allow-empty", "-m", "x", env={"OUT": str(tmp_path / "out")})
    assert not (tmp_path / "out").exists()


def test_a_hook_that_someone_put_over_ours_is_left_and_nothing_is_lost(vault):
    hooks = vault.git_dir / "hooks"
    put(hooks, "pre-commit", b"#!/bin/sh\n# first\n")
    memidx("hooks", "install", cwd=vault.root)
    put(hooks, "pre-commit", b"#!/bin/sh\n# second\n")
    before = folder_bytes(hooks)
    done = memidx("hooks", "install", cwd=vault.root)
    assert (done.code, KEPT in done.err) == (2, True)
    assert folder_bytes(hooks) == before
    assert "left: pre-commit" in memidx("hooks", "uninstall", cwd=vault.root).out
    assert (hooks / "pre-commit").read_bytes().endswith(b"second\n")
    assert (hooks / f"pre-commit{KEPT}").read_bytes().endswith(b"first\n")


def test_our_hook_changed_by_hand_is_left_and_one_of_another_version_is_updated(vault):
    hook = vault.git_dir / "hooks" / "post-merge"
    memidx("hooks", "install", cwd=vault.root)
    own = hook.read_bytes()
    hook.write_bytes(own + b"echo mine\n")
    assert memidx("hooks", "install", cwd=vault.root).code == 2
    assert "changed by hand" in memidx("hooks", "uninstall", cwd=vault.root).out
    assert hook.read_bytes() == own + b"echo mine\n"
    hook.write_bytes(own.replace(b"# memidx hook 1:", b"# memidx hook 0:") + b"older\n")
    assert "updated: post-merge" in memidx("hooks", "install", cwd=vault.root).out
    assert hook.read_bytes() == own


# -- core.hooksPath -----------------------------------------------------------------------------------------------------


def setting(repo, scope):
    return run_git(repo.root, "config", f"--{scope}", "--get", "core.hooksPath", check=False).stdout


def test_g4_a_local_hookspath_outside_the_work_tree_is_respected(vault, tmp_path, home):
    vault.git("config", "core.hooksPath", "~/my hooks")
    memidx("hooks", "install", cwd=vault.root)
    assert (home / "my hooks" / "pre-commit").is_file()
    assert not (vault.git_dir / "hooks" / "pre-commit").exists()
    assert setting(vault, "local") == b"~/my hooks\n"
    env, log = program(tmp_path / "p")
    vault.write({"c.md": "# C\n"})
    vault.git("add", "-A")
    run_git(vault.root, "commit", "-q", "-m", "x", env=env)
    assert log.read_text().startswith("hook pre-commit\n")
    memidx("hooks", "uninstall", cwd=vault.root)
    assert not list((home / "my hooks").iterdir())


@pytest.mark.parametrize("value", ["/absolute", "~/hooks"])
def test_g4_a_global_hookspath_is_refused_with_the_remedy_and_left(vault, home, value):
    run_git(vault.root, "config", "--global", "core.hooksPath", value)
    done = memidx("hooks", "install", cwd=vault.root)
    assert done.code == 2
    assert "core.hooksPath (global" in done.err
    assert 'memidx hook pre-commit "$@"' in done.err
    assert "git config --local core.hooksPath" in done.err
    assert setting(vault, "global") == value.encode() + b"\n"
    # The remedy works as it is written.
    remedy = done.err.split("its own: ")[1].splitlines()[0]
    run_git(vault.root, "-c", f"alias.r=!{remedy}", "r")
    assert memidx("hooks", "install", cwd=vault.root).code == 0
    assert (vault.git_dir / "hooks" / "pre-commit").is_file()


def test_g4_a_folder_of_the_work_tree_is_refused_and_the_tree_stays_clean(vault):
    put(vault.root / ".githooks", "pre-commit")
    vault.git("config", "core.hooksPath", ".githooks")
    vault.commit()
    done = memidx("hooks", "install", cwd=vault.root)
    assert (done.code, "working tree" in done.err, "memidx hook pre-commit" in done.err) == (2, True, True)
    assert vault.status() == ""


@pytest.mark.parametrize("path", [".husky", ".husky/_"])
def test_g4_husky_is_recognised_with_the_line_to_add(vault, path):
    put(vault.root / path, "pre-commit")
    vault.git("config", "core.hooksPath", path)
    done = memidx("hooks", "install", cwd=vault.root)
    assert done.code == 2
    assert "husky" in done.err
    assert '.husky/pre-commit:\nhint: ! command -v memidx >/dev/null || memidx hook pre-commit "$@"' in done.err
    assert "husky is in use here" in memidx("hooks", "status", cwd=vault.root).out


def test_g4_hooks_switched_off_by_dev_null_are_told(vault):
    vault.git("config", "core.hooksPath", "/dev/null")
    done = memidx("hooks", "install", cwd=vault.root)
    assert (done.code, "no hook runs" in done.err) == (2, True)


@needs_permissions
def test_g4_a_read_only_folder_is_refused_before_anything_is_touched(vault):
    hooks = vault.git_dir / "hooks"
    hooks.chmod(0o555)
    try:
        done = finished("hooks", "install", cwd=vault.root, preexec_fn=obey_permissions)
        assert (done.code, "cannot be written" in done.err) == (2, True)
        assert not list(hooks.iterdir())
    finally:
        hooks.chmod(0o755)


def test_status_as_json_says_what_the_text_says(vault, tmp_path):
    env, _ = program(tmp_path / "p")
    before = memidx("hooks", "status", "--json", cwd=vault.root, env=env)
    assert (before.code, before.json["ok"], before.json["hooks_path"]) == (1, False, None)
    assert {hook["state"] for hook in before.json["hooks"]} == {"missing"}
    (vault.git_dir / "hooks" / "post-merge").write_text("#!/bin/sh\n")
    made = memidx("hooks", "install", "--json", cwd=vault.root)
    assert {step["done"] for step in made.json["steps"]} == {"installed"} and made.json["notes"] == []
    after = memidx("hooks", "status", "--json", cwd=vault.root, env=env)
    assert (after.code, after.json["ok"], after.json["problems"], after.json["managers"]) == (0, True, [], [])
    assert {hook["name"] for hook in after.json["hooks"] if hook["kept"]} == {"post-merge"}
    assert after.json["folder"] == str(vault.git_dir / "hooks")
    run_git(vault.root, "config", "core.hooksPath", "elsewhere")
    moved = memidx("hooks", "status", "--json", cwd=vault.root, env=env)
    assert (moved.code, moved.json["hooks_path"], moved.json["scope"]) == (1, "elsewhere", "local")
    assert [
        line.removeprefix("problem: ")
        for line in memidx("hooks", "status", cwd=vault.root, env=env).out.split("\n")
        if line.startswith("problem: ")
    ] == moved.json["problems"]
    run_git(vault.root, "config", "--unset", "core.hooksPath")
    gone = memidx("hooks", "uninstall", "--json", cwd=vault.root)
    assert {step["done"] for step in gone.json["steps"]} == {"removed", "restored"}
    assert memidx("hooks", "uninstall", "--json", cwd=vault.root).json == {"steps": [], "notes": []}


def test_g4_status_says_when_git_would_not_run_them(vault, home, tmp_path):
    memidx("hooks", "install", cwd=vault.root)
    env, _ = program(tmp_path / "p")
    assert memidx("hooks", "status", cwd=vault.root, env=env).code == 0
    (vault.git_dir / "hooks" / "post-merge").chmod(0o644)
    done = memidx("hooks", "status", cwd=vault.root, env=env)
    assert (done.code, "post-merge cannot be executed: chmod +x" in done.out) == (1, True)
    (vault.git_dir / "hooks" / "post-merge").chmod(0o755)
    run_git(vault.root, "config", "--global", "core.hooksPath", "/elsewhere")
    done = memidx("hooks", "status", cwd=vault.root, env=env)
    assert done.code == 1
    assert f"git does not run the hooks in {vault.git_dir / 'hooks'}: core.hooksPath (global" in done.out
    run_git(vault.root, "config", "--global", "--unset", "core.hooksPath")
    done = memidx("hooks", "status", cwd=vault.root, env={"PATH": str(tmp_path / "nothing") + ":/usr/bin:/bin"})
    assert (done.code, "not on PATH" in done.out) == (1, True)


# -- managers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        (b"#!/usr/bin/env bash\n# File generated by pre-commit: https://pre-commit.com\n", "pre-commit", "entry: memidx check --staged"),
        (b"#!/bin/sh\nlefthook run pre-commit\n", "lefthook", "run: memidx hook pre-commit"),
    ],
)  # fmt: skip
def test_a_manager_is_recognised_with_the_line_to_add_and_force_goes_in_front(vault, text, name, line):
    hooks = vault.git_dir / "hooks"
    put(hooks, "pre-commit", text)
    before = folder_bytes(hooks)
    done = memidx("hooks", "install", cwd=vault.root)
    assert (done.code, line in done.err, name in done.err) == (2, True, True)
    assert folder_bytes(hooks) == before
    assert memidx("hooks", "install", "--force", cwd=vault.root).code == 0
    assert memidx("hooks", "install", cwd=vault.root).code == 0
    memidx("hooks", "uninstall", cwd=vault.root)
    assert folder_bytes(hooks) == before


@pytest.mark.parametrize("file", [".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yaml"])
def test_a_manager_whose_settings_are_there_is_mentioned(vault, file):
    vault.write({file: "repos: []\n"})
    done = memidx("hooks", "install", cwd=vault.root)
    assert (done.code, file in done.err) == (0, True)
    assert f"its line, for {file}" in memidx("hooks", "status", cwd=vault.root).out


# -- repositories of every shape -----------------------------------------------------------------------------------------


def test_a_linked_worktree_installs_for_the_whole_clone(vault, tmp_path):
    other = tmp_path / "other"
    vault.git("worktree", "add", "-q", str(other))
    memidx("hooks", "install", cwd=other)
    assert (vault.git_dir / "hooks" / "pre-commit").is_file()
    memidx("hooks", "uninstall", cwd=vault.root)
    assert not list((vault.git_dir / "hooks").iterdir())


def test_a_submodule_gets_its_own(vault, tmp_path):
    outer = Repo.create(tmp_path / "outer")
    run_git(outer.root, "submodule", "add", "-q", vault.root.as_uri(), "sub")
    memidx("hooks", "install", cwd=outer.root / "sub")
    assert (outer.git_dir / "modules" / "sub" / "hooks" / "pre-commit").is_file()
    assert not (outer.git_dir / "hooks" / "pre-commit").exists()


def test_a_separate_git_dir_and_a_missing_hooks_folder(tmp_path):
    repo = Repo.create(tmp_path / "work", f"--separate-git-dir={tmp_path / 'elsewhere'}")
    shutil.rmtree(tmp_path / "elsewhere" / "hooks")
    memidx("hooks", "install", cwd=repo.root)
    assert stat.S_IMODE((tmp_path / "elsewhere" / "hooks" / "pre-commit").stat().st_mode) == 0o755


# -- without memidx, and with a broken one -------------------------------------------------------------------------------


def test_without_memidx_on_the_path_nothing_is_blocked_and_nothing_said(repo, tmp_path):
    found = hooked(repo, tmp_path / "p")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(Path(shutil.which(name)).resolve())
    repo.write({"bad.md": "---\ntitle: *x*\n---\n"})
    repo.git("add", "-A")
    done = run_git(repo.root, "commit", "-q", "-m", "x", env={"PATH": str(tools)})
    assert (done.stdout, done.stderr, found.calls()) == (b"", b"", [])


@pytest.mark.parametrize("body", ["exit 1", "exit 2", "kill -9 $$", "exec /nowhere/python"])
def test_a_memidx_that_is_broken_blocks_nothing(repo, tmp_path, body):
    found = hooked(repo, tmp_path / "p")
    (tmp_path / "p" / "bin" / "memidx").write_text(f"#!/bin/sh\n{body}\n")
    repo.write({"c.md": "# C\n"})
    repo.git("add", "-A")
    assert found.git("commit", "-q", "-m", "x").code == 0


def test_a_config_that_cannot_be_read_blocks_nothing_and_is_told_in_one_line(repo, tmp_path):
    found = hooked(repo, tmp_path / "p")
    repo.write({".memidx/config.yaml": "nonsense: 1\n"})
    repo.git("add", "-A")
    done = found.git("commit", "-q", "-m", "x")
    assert done.err.splitlines()[0].startswith(
        "memidx: pre-commit: .memidx/config.yaml:1:1: unknown setting 'nonsense'"
    )
    assert len(done.err.splitlines()) == 2  # one from each hook
    assert repo.git("log", "-1", "--format=%s") == "x"


# -- the framework's file ------------------------------------------------------------------------------------------------


def test_the_entries_for_the_pre_commit_framework_are_commands_that_are_there():
    hooks = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in hooks] == ["memidx-check", "memidx-build"]
    for hook in hooks:
        name, command, *_ = hook["entry"].split()
        assert name == "memidx"
        assert command in COMMANDS
        assert hook["language"] == "python"
    assert hooks[1]["stages"] == ["pre-commit", "post-merge", "post-checkout", "post-rewrite", "post-commit"]


def test_b4_an_installation_killed_half_way_is_taken_up_again(vault):
    hooks = vault.git_dir / "hooks"
    put(hooks, "pre-commit")
    before = (hooks / "pre-commit").read_bytes()
    os.link(hooks / "pre-commit", hooks / f"pre-commit{KEPT}")
    (hooks / ".pre-commit.new-memidx").write_text("#!/bin/sh\n# half")
    done = memidx("hooks", "install", cwd=vault.root)
    assert done.code == 0, done.err
    assert (hooks / f"pre-commit{KEPT}").read_bytes() == before
    assert not (hooks / ".pre-commit.new-memidx").exists()
    memidx("hooks", "uninstall", cwd=vault.root)
    assert (hooks / "pre-commit").read_bytes() == before
