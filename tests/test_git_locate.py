"""Finding the vault: every layout a work tree can have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from repo import Repo, run_git

from memidx.ground.errors import GitError, NotARepositoryError
from memidx.stores.git import Git, find_vault

if TYPE_CHECKING:
    from pathlib import Path


def locate(start: Path, **extra: str):
    return find_vault(start, {**os.environ, **extra})


def md(path: str) -> bool:
    return path.endswith(".md")


def pages(start: Path, **extra: str) -> list[str]:
    git = Git(locate(start, **extra), {**os.environ, **extra})
    return [entry.path for entry in git.worktree(md).entries]


def test_plain_repository_from_its_top_and_from_a_subfolder(repo: Repo) -> None:
    repo.write({"a/b/p.md": "x"})
    repo.commit()
    where = locate(repo.root / "a" / "b")
    assert where == locate(repo.root)
    assert (where.root, where.top, where.prefix) == (repo.root, repo.root, "")
    assert where.git_dir == where.common_dir == repo.root / ".git"
    assert (where.object_format, where.shallow) == ("sha1", False)


def test_the_nearest_memidx_folder_is_the_root(repo: Repo) -> None:
    repo.write({"sub/dir/.memidx/config.yaml": "", "sub/dir/deep/p.md": "x", "out.md": "y"})
    where = locate(repo.root / "sub" / "dir" / "deep")
    assert (where.root, where.prefix) == (repo.root / "sub" / "dir", "sub/dir/")
    assert locate(where.root / ".memidx").root == where.root
    assert locate(repo.root / "sub").root == repo.root


def test_the_search_stops_at_the_top_of_the_work_tree(tmp_path: Path) -> None:
    (tmp_path / ".memidx").mkdir()
    repo = Repo.create(tmp_path / "inner")
    assert locate(repo.root).root == repo.root


def test_a_link_named_memidx_is_not_a_vault_folder(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (repo.root / "sub").mkdir()
    (repo.root / "sub" / ".memidx").symlink_to(tmp_path / "elsewhere")
    assert locate(repo.root / "sub").root == repo.root


def test_linked_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.write({"p.md": "x"})
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "wt"), "-b", "other")
    where = locate(tmp_path / "wt")
    assert where.root == tmp_path / "wt"
    assert where.git_dir == repo.root / ".git" / "worktrees" / "wt"
    assert where.common_dir == repo.root / ".git"
    assert pages(tmp_path / "wt") == ["p.md"]


def test_linked_worktree_of_a_bare_repository(repo: Repo, tmp_path: Path) -> None:
    repo.write({"p.md": "x"})
    repo.commit()
    bare = tmp_path / "bare.git"
    repo.clone(bare, "--bare")
    run_git(bare, "worktree", "add", "-q", str(tmp_path / "wt"), "main")
    assert locate(tmp_path / "wt").common_dir == bare
    assert pages(tmp_path / "wt") == ["p.md"]


def test_submodule_is_a_vault_of_its_own(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.create(tmp_path / "inner")
    inner.write({"in.md": "x"})
    inner.commit()
    repo.git("submodule", "--quiet", "add", inner.root.as_uri(), "mod")
    where = locate(repo.root / "mod")
    assert where.root == repo.root / "mod"
    assert where.git_dir == repo.root / ".git" / "modules" / "mod"
    assert pages(repo.root / "mod") == ["in.md"]


def test_separate_git_dir(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "work", f"--separate-git-dir={tmp_path / 'store'}")
    repo.write({"p.md": "x"})
    assert locate(repo.root).git_dir == tmp_path / "store"
    assert pages(repo.root) == ["p.md"]


def test_unborn_branch(repo: Repo) -> None:
    repo.write({"staged.md": "x", "untracked.md": "y"})
    repo.git("add", "staged.md")
    git = Git(locate(repo.root), os.environ)
    assert pages(repo.root) == ["staged.md", "untracked.md"]
    assert [entry.path for entry in git.staged(md).entries] == ["staged.md"]
    assert git.commit_of_head() is None
    assert git.branch() == "main"


def test_an_empty_repository_has_no_pages(repo: Repo) -> None:
    git = Git(locate(repo.root), os.environ)
    assert git.worktree(md).entries == git.staged(md).entries == ()


def test_sha256_repository(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r", "--object-format=sha256")
    repo.write({"a.md": "one", "b.md": "two", "empty.md": ""})
    commit = repo.commit()
    repo.write({"b.md": "changed"})
    git = Git(locate(repo.root), os.environ)
    assert git.where.object_format == "sha256"
    listing = git.worktree(md)
    assert {len(entry.blob) for entry in listing.entries} == {64}
    assert [data for _, data in git.read(listing.entries)] == [b"one", b"changed", b""]
    assert git.revision(commit, md).digest() == git.staged(md).digest()


def test_shallow_clone_says_so(repo: Repo, tmp_path: Path) -> None:
    for text in ("one", "two"):
        repo.write({"a.md": text})
        first = repo.commit()
    clone = repo.clone(tmp_path / "c", "--depth=1")
    git = Git(locate(clone.root), os.environ)
    assert git.where.shallow
    with pytest.raises(GitError) as caught:
        git.revision(f"{first}~1", md)
    assert "--unshallow" in caught.value.hint


def test_a_folder_with_a_newline_in_its_name(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "two\nlines")
    repo.write({"sub\n/.memidx/config.yaml": "", "sub\n/p.md": "x"})
    where = locate(repo.root / "sub\n")
    assert (where.top, where.prefix) == (repo.root, "sub\n/")
    assert pages(where.root) == ["p.md"]


def test_reached_through_a_link_the_real_folder_is_the_root(repo: Repo, tmp_path: Path) -> None:
    repo.write({"p.md": "x"})
    (tmp_path / "link").symlink_to(repo.root)
    assert locate(tmp_path / "link").root == repo.root


def test_not_a_repository(tmp_path: Path) -> None:
    with pytest.raises(NotARepositoryError, match="not inside a git repository") as caught:
        locate(tmp_path)
    assert "git init" in caught.value.hint


def test_inside_the_git_folder_and_in_a_bare_repository(repo: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    run_git(bare, "init", "-q", "--bare")
    for start in (repo.git_dir, bare):
        with pytest.raises(GitError, match="git folder or a bare repository") as caught:
            locate(start)
        assert not isinstance(caught.value, NotARepositoryError)
        assert "git worktree add" in caught.value.hint


def test_gits_remedy_for_another_owner_is_passed_on(repo: Repo) -> None:
    with pytest.raises(GitError, match="dubious ownership") as caught:
        locate(repo.root, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert caught.value.hint == f"git config --global --add safe.directory {repo.root}"


def test_settings_from_the_environment_reach_git(repo: Repo) -> None:
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    assert locate(repo.root, GIT_TEST_ASSUME_DIFFERENT_OWNER="1", **settings).root == repo.root


def test_git_missing_from_path(repo: Repo, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="not found on PATH") as caught:
        locate(repo.root, PATH=str(tmp_path))
    assert "install git" in caught.value.hint


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a folder"):
        locate(tmp_path / "nowhere")


def test_g3_a_hooks_environment_does_not_redirect_us(repo: Repo, tmp_path: Path) -> None:
    repo.write({"mine.md": "x"})
    repo.commit()
    other = Repo.create(tmp_path / "other")
    other.write({"theirs.md": "y"})
    other.commit()
    inherited = {
        "GIT_DIR": str(other.git_dir),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(other.git_dir / "index"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "nothing"),
        "GIT_COMMON_DIR": str(other.git_dir),
        "GIT_PREFIX": "sub/",
        "GIT_NAMESPACE": "n",
        "GIT_ICASE_PATHSPECS": "1",
    }
    assert pages(repo.root, **inherited) == ["mine.md"]
    git = Git(locate(repo.root, **inherited), {**os.environ, **inherited})
    assert [data for _, data in git.read(git.staged(md).entries)] == [b"x"]


def test_g3_git_dir_without_work_tree_in_a_linked_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.write({"a.md": "main"})
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "wt"), "-b", "other")
    linked = Repo(tmp_path / "wt")
    linked.write({"sub/b.md": "linked"})
    assert pages(linked.root / "sub", GIT_DIR=str(linked.git_dir)) == ["a.md", "sub/b.md"]
    assert pages(repo.root, GIT_DIR=str(linked.git_dir)) == ["a.md"]


def test_a_work_tree_whose_git_folder_lies_apart_is_found_by_its_environment(repo: Repo, tmp_path: Path) -> None:
    home = tmp_path / "dotfiles"
    home.mkdir()
    (home / "p.md").write_text("x")
    found = pages(home, GIT_DIR=str(repo.git_dir), GIT_WORK_TREE=str(home))
    assert found == ["p.md"]


def test_every_variable_git_calls_local_is_scrubbed_or_kept_on_purpose(repo: Repo) -> None:
    from memidx.stores.git.run import SCRUBBED

    local = set(repo.git("rev-parse", "--local-env-vars").split())
    assert local - SCRUBBED == {"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}


def test_small_questions(repo: Repo) -> None:
    repo.write({"a.md": "x"})
    commit = repo.commit()
    git = Git(locate(repo.root), os.environ)
    assert git.commit_of_head() == commit
    assert git.version() in repo.git("version")
    assert git.config_get("user.name") == "Test Person"
    assert git.config_get("no.such") is None
    repo.git("config", "core.hooksPath", "~/hooks")
    assert git.config_get("core.hooksPath", as_path=True) == f"{os.environ['HOME']}/hooks"
    repo.git("checkout", "-q", "--detach")
    assert git.branch() is None


def test_a_broken_index_is_an_error_with_gits_reason(repo: Repo) -> None:
    repo.write({"a.md": "x"})
    repo.commit()
    (repo.git_dir / "index").write_bytes(b"garbage" * 10)
    with pytest.raises(GitError, match=r"git status failed in .*: index file corrupt"):
        Git(locate(repo.root), os.environ).worktree(md)
