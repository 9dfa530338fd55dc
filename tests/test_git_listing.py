"""What a listing holds: names, trees and the states a page can be in."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path
from tempfile import gettempdir

import pytest
from repo import Repo, run_git

from memidx.ground.errors import GitError
from memidx.ground.listing import Listing, path_key
from memidx.stores.git import Git, find_vault


def md(path: str) -> bool:
    return path.endswith(".md")


def git_at(root: Path, **extra: str) -> Git:
    environ = {**os.environ, **extra}
    return Git(find_vault(root, environ), environ)


def names(listing: Listing) -> list[str]:
    return [entry.path for entry in listing.entries]


def contents(git: Git, listing: Listing) -> dict[str, bytes]:
    return {entry.path: data for entry, data in git.read(listing.entries)}


def notes(listing: Listing) -> list[tuple[str, str, str]]:
    return [(note.path, note.severity, note.code) for note in listing.notes]


ODD_NAMES = [
    "笔记.md",
    unicodedata.normalize("NFC", "café.md"),
    unicodedata.normalize("NFD", "café.md"),
    'a b"c.md',
    "new\nline.md",
    "carriage\r.md",
    "tab\there.md",
    "-rf.md",
    "back\\slash.md",
    "star*[x]?.md",
    " lead and trail .md",
    "H 100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\tfake.md",
    "\udcff-latin1.md",  # the byte 0xff, which is not UTF-8
    "-folder/p.md",
    '"quoted"/p.md',
]


@pytest.mark.parametrize("quote", ["true", "false"])
def test_n1_odd_names_in_every_source_and_state(repo: Repo, quote: str) -> None:
    repo.git("config", "core.quotePath", quote)
    repo.git("config", "status.relativePaths", "true")
    repo.write({name: f"first {number}" for number, name in enumerate(ODD_NAMES)})
    git = git_at(repo.root)
    expected = sorted(ODD_NAMES, key=path_key)
    untracked = git.worktree(md)
    assert names(untracked) == expected
    commit = repo.commit()
    clean = git.worktree(md)
    assert clean.digest() == untracked.digest() == git.staged(md).digest() == git.revision(commit, md).digest()
    assert {entry.origin for entry in clean.entries} == {"object"}
    repo.write({name: f"second {number}" for number, name in enumerate(ODD_NAMES)})
    dirty = git.worktree(md)
    assert names(dirty) == expected
    assert {entry.origin for entry in dirty.entries} == {"disk"}
    assert contents(git, dirty) == {name: f"second {n}".encode() for n, name in enumerate(ODD_NAMES)}
    repo.remove(*ODD_NAMES)
    assert names(git.worktree(md)) == []


@pytest.mark.parametrize("folder", ["-x", "sp ace", "star*", "umläut", "[a-z]", ":(top)"])
def test_n1_vault_folders_with_odd_names(repo: Repo, folder: str) -> None:
    repo.write({f"{folder}/.memidx/config.yaml": "", f"{folder}/in.md": "x", "out.md": "y", "zz/a.md": "z"})
    commit = repo.commit()
    repo.write({f"{folder}/new.md": "n", "new.md": "n"})
    git = git_at(repo.root / folder)
    assert names(git.worktree(md)) == ["in.md", "new.md"]
    assert names(git.staged(md)) == names(git.revision(commit, md)) == ["in.md"]
    assert contents(git, git.worktree(md)) == {"in.md": b"x", "new.md": b"n"}


def test_subfolder_vault_sees_only_its_own_pages(repo: Repo) -> None:
    repo.write({"a.md": "1", "sub/dir/.memidx/config.yaml": "", "sub/dir/b.md": "2", "sub/dir2/c.md": "3"})
    first = repo.commit()
    repo.write({"sub/dir/b.md": "22", "sub/dir/d/e.md": "4", "a.md": "11"})
    git = git_at(repo.root / "sub" / "dir")
    assert contents(git, git.worktree(md)) == {"b.md": b"22", "d/e.md": b"4"}
    assert contents(git, git.revision(first, md)) == {"b.md": b"2"}
    assert git.revision(first, md).source == f"rev:{first}"


def test_a_revision_from_before_the_vault_folder_has_no_pages(repo: Repo) -> None:
    first = repo.commit()
    repo.write({"sub/.memidx/config.yaml": "", "sub/a.md": "x"})
    repo.commit()
    assert git_at(repo.root / "sub").revision(first, md).entries == ()


def test_files_of_the_memidx_folder_are_never_pages(repo: Repo) -> None:
    repo.write({".memidx/notes.md": "x", "sub/.memidx/n.md": "y", "x.memidx/page.md": "z"})
    git = git_at(repo.root)
    assert names(git.worktree(md)) == ["x.memidx/page.md"]
    commit = repo.commit()
    for listing in (git.worktree(md), git.staged(md), git.revision(commit, md)):
        assert names(listing) == ["x.memidx/page.md"]


def test_n4_names_that_differ_in_case_and_a_rename_in_case(repo: Repo) -> None:
    repo.write({"README.md": "a", "readme.md": "b", "Foo.md": "c"})
    repo.commit()
    git = git_at(repo.root)
    repo.git("mv", "Foo.md", "foo.md")
    assert names(git.worktree(md)) == names(git.staged(md)) == ["README.md", "foo.md", "readme.md"]


def test_n5_links_are_not_followed_and_are_reported(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    repo.write({"real.md": "x", "becomes-link.md": "y", "folder/p.md": "z"})
    (repo.root / "passwd.md").symlink_to("/etc/passwd")
    (repo.root / "loop.md").symlink_to("loop.md")
    (repo.root / "linked").symlink_to(outside)
    git = git_at(repo.root)
    links = [("loop.md", "info", "symlink"), ("passwd.md", "info", "symlink")]
    untracked = git.worktree(md)
    assert names(untracked) == ["becomes-link.md", "folder/p.md", "real.md"]
    assert sorted(notes(untracked)) == links
    commit = repo.commit()
    for listing in (git.worktree(md), git.staged(md), git.revision(commit, md)):
        assert names(listing) == ["becomes-link.md", "folder/p.md", "real.md"]
        assert sorted(notes(listing)) == links
    repo.remove("becomes-link.md", "folder/p.md")
    (repo.root / "becomes-link.md").symlink_to("/etc/passwd")
    (repo.root / "folder").rmdir()
    (repo.root / "folder").symlink_to(outside)
    (outside / "p.md").write_text("not mine")
    after = git.worktree(md)
    assert names(after) == ["real.md"]
    assert sorted(notes(after)) == [("becomes-link.md", "info", "symlink"), *links]


def test_n5_a_links_name_cannot_pass_for_a_row_of_the_index(repo: Repo) -> None:
    name = f"x H 100644 {'e' * 40} 0\tfake.md"
    (repo.root / name).symlink_to("/etc/passwd")
    repo.commit()
    git = git_at(repo.root)
    for listing in (git.worktree(md), git.staged(md), git.revision("HEAD", md)):
        assert names(listing) == []
        assert notes(listing) == [(name, "info", "symlink")]


def test_n5_a_tracked_link_that_becomes_a_page(repo: Repo) -> None:
    (repo.root / "l.md").symlink_to("/etc/passwd")
    repo.commit()
    repo.remove("l.md")
    git = git_at(repo.root)
    assert (names(git.worktree(md)), notes(git.worktree(md))) == ([], [])
    repo.write({"l.md": "a page now"})
    listing = git.worktree(md)
    assert contents(git, listing) == {"l.md": b"a page now"}
    assert notes(listing) == []


def test_n5_without_links_on_disk_the_target_text_is_not_a_page(repo: Repo, tmp_path: Path) -> None:
    (repo.root / "l.md").symlink_to("/etc/passwd")
    repo.commit()
    clone = repo.clone(tmp_path / "c", "-c", "core.symlinks=false")
    assert (clone.root / "l.md").read_text() == "/etc/passwd"
    assert names(git_at(clone.root).worktree(md)) == []
    clone.write({"l.md": "/etc/shadow"})
    listing = git_at(clone.root).worktree(md)
    assert names(listing) == []
    assert notes(listing) == [("l.md", "info", "symlink")]


def test_a_page_replaced_by_a_folder_or_a_pipe(repo: Repo) -> None:
    repo.write({"a.md": "x", "b.md": "y"})
    repo.commit()
    repo.remove("a.md", "b.md")
    repo.write({"a.md/inner.md": "z"})
    os.mkfifo(repo.root / "b.md")
    os.mkfifo(repo.root / "c.md")
    git = git_at(repo.root)
    assert contents(git, git.worktree(md)) == {"a.md/inner.md": b"z"}


# Root can read everything, so the script becomes somebody else, after its imports.
UNREADABLE = """
import os, sys
from pathlib import Path
from memidx.stores.git import Git, find_vault
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
git = Git(find_vault(Path(sys.argv[1]), os.environ), os.environ)
listing = git.worktree(lambda path: path.endswith(".md"))
for entry, data in git.read(listing.entries):
    print("page", entry.path, data.decode())
for note in sorted(listing.notes):
    print("note", note.path, note.severity, note.code)
"""


def test_n6_unreadable_pages_keep_their_old_entry_or_are_skipped(repo: Repo, home: Path) -> None:
    repo.write({"good.md": "good", "dirty.md": "old", "clean.md": "clean", "shut/in.md": "in", "open/x.md": "x"})
    repo.commit()
    repo.write({"dirty.md": "newer", "untracked.md": "secret", "announced.md": "secret"})
    repo.git("add", "-N", "announced.md")
    repo.git("config", "--global", "safe.directory", "*")
    for folder in {home, *home.parents, repo.root, *repo.root.parents} - {Path("/"), *Path(gettempdir()).parents}:
        if folder != Path(gettempdir()):
            folder.chmod(0o755)
    shut = [repo.root / name for name in ("announced.md", "dirty.md", "clean.md", "untracked.md", "shut")]
    for path in shut:
        path.chmod(0)
    try:
        done = subprocess.run(
            [sys.executable, "-c", UNREADABLE, str(repo.root)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for path in shut:
            path.chmod(0o755)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "page clean.md clean",
        "page dirty.md old",
        "page good.md good",
        "page open/x.md x",
        "page shut/in.md in",
        "note announced.md warning unreadable",
        "note clean.md warning unreadable",
        "note dirty.md warning unreadable",
        "note shut warning unreadable",
        "note shut/in.md warning unreadable",
        "note untracked.md warning unreadable",
    ]


def test_g13_submodules_and_nested_repositories_are_not_listed(repo: Repo, tmp_path: Path) -> None:
    inner = Repo.create(tmp_path / "inner")
    inner.write({"in.md": "x"})
    inner.commit()
    repo.write({"mine.md": "y"})
    repo.git("submodule", "--quiet", "add", inner.root.as_uri(), "mod.md")
    commit = repo.commit()
    (repo.root / "mod.md" / "in.md").write_text("edited in the submodule")
    nested = Repo.create(repo.root / "nested")
    nested.write({"deep/n.md": "z"})
    nested.commit()
    unborn = Repo.create(repo.root / "unborn")
    unborn.write({"deep/u.md": "z"})
    git = git_at(repo.root)
    for listing in (git.worktree(md), git.staged(md), git.revision(commit, md)):
        assert names(listing) == ["mine.md"]
        assert notes(listing) == [("mod.md", "info", "submodule")]


def test_g15_autocrlf_clone_has_no_dirty_pages_and_the_same_digest(repo: Repo, tmp_path: Path) -> None:
    repo.write({"a.md": "one\ntwo\n", "b/c.md": "three\n"})
    repo.commit()
    clone = repo.clone(tmp_path / "crlf", "-c", "core.autocrlf=true")
    assert (clone.root / "a.md").read_bytes() == b"one\r\ntwo\r\n"
    plain, crlf = git_at(repo.root), git_at(clone.root)
    listing = crlf.worktree(md)
    assert {entry.origin for entry in listing.entries} == {"object"}
    assert listing.digest() == plain.worktree(md).digest()
    for path in clone.root.rglob("*.md"):  # as a checkout or a touch would leave them
        os.utime(path, (1, 1))
    assert crlf.worktree(md) == listing
    # An edited page: the id and the bytes are those that git would store.
    clone.write({"a.md": b"one\r\nedited\r\n", "new.md": b"fresh\r\n"})
    repo.write({"a.md": "one\nedited\n", "new.md": "fresh\n"})
    edited = crlf.worktree(md)
    assert edited.digest() == plain.worktree(md).digest()
    assert contents(crlf, edited) == {"a.md": b"one\nedited\n", "b/c.md": b"three\n", "new.md": b"fresh\n"}
    clone.git("add", "-A")
    assert crlf.staged(md).digest() == edited.digest()


def test_a_working_tree_encoding_is_read_as_git_would_store_it(repo: Repo) -> None:
    repo.write({".gitattributes": "u.md text working-tree-encoding=UTF-16\n", "u.md": "héllo\n".encode("utf-16")})
    git = git_at(repo.root)
    assert contents(git, git.worktree(md)) == {"u.md": "héllo\n".encode()}
    assert repo.git("count-objects") == "0 objects, 0 kilobytes"


def test_g17_a_merge_in_progress_gives_one_entry_a_page(repo: Repo) -> None:
    repo.write({"both.md": "base\n", "gone.md": "base\n", "same.md": "same\n"})
    repo.commit()
    repo.git("checkout", "-q", "-b", "other")
    repo.write({"both.md": "theirs\n", "gone.md": "theirs\n", "added.md": "theirs\n"})
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.write({"both.md": "ours\n", "added.md": "ours\n"})
    repo.remove("gone.md")
    repo.commit()
    run_git(repo.root, "merge", "other", check=False)
    git = git_at(repo.root)
    listing = git.worktree(md)
    assert names(listing) == ["added.md", "both.md", "gone.md", "same.md"]
    assert b"<<<<<<<" in contents(git, listing)["both.md"]
    staged = git.staged(md)
    assert contents(git, staged) == {
        "added.md": b"ours\n",
        "both.md": b"ours\n",
        "gone.md": b"theirs\n",
        "same.md": b"same\n",
    }
    repo.remove("both.md")
    assert names(git.worktree(md)) == ["added.md", "gone.md", "same.md"]


def test_the_states_of_a_page_on_disk(repo: Repo) -> None:
    repo.write(
        {"clean.md": "1", "edited.md": "2", "gone.md": "3", "mode.md": "4", "touched.md": "5", ".gitignore": "ig*"}
    )
    repo.commit()
    repo.write({"edited.md": "22", "new.md": "6", "ignored.md": "7", "deep/new.md": "8", "other.txt": "9"})
    repo.remove("gone.md")
    (repo.root / "mode.md").chmod(0o755)
    os.utime(repo.root / "touched.md", (1, 1))
    repo.git("config", "status.showUntrackedFiles", "no")
    repo.git("config", "status.branch", "true")
    repo.git("config", "status.showStash", "true")
    git = git_at(repo.root)
    listing = git.worktree(md)
    assert {(entry.path, entry.origin) for entry in listing.entries} == {
        ("clean.md", "object"),
        ("edited.md", "disk"),
        ("mode.md", "object"),
        ("touched.md", "object"),
        ("new.md", "disk"),
        ("deep/new.md", "disk"),
    }
    assert listing.source == "worktree"
    assert listing.notes == ()


def test_same_size_and_time_is_still_a_change(repo: Repo) -> None:
    repo.write({"a.md": "one"})
    repo.commit()
    stamp = (repo.root / "a.md").stat().st_mtime_ns
    repo.write({"a.md": "two"})
    os.utime(repo.root / "a.md", ns=(stamp, stamp))
    git = git_at(repo.root)
    assert contents(git, git.worktree(md)) == {"a.md": b"two"}


@pytest.mark.parametrize("text", ["announced", ""])
def test_intent_to_add_is_on_disk_and_not_staged(repo: Repo, text: str) -> None:
    repo.write({"a.md": "x", "empty.md": "", "ita.md": text, "gone.md": ""})
    repo.git("add", "a.md", "empty.md")
    repo.git("add", "-N", "ita.md", "gone.md")
    repo.remove("gone.md")
    git = git_at(repo.root)
    listing = git.worktree(md)
    assert contents(git, listing) == {"a.md": b"x", "empty.md": b"", "ita.md": text.encode()}
    assert names(git.staged(md)) == ["a.md", "empty.md"]


def test_g2_the_index_of_a_partial_commit(repo: Repo, tmp_path: Path) -> None:
    repo.write({"a.md": "old a", "b.md": "old b"})
    repo.commit()
    repo.write({"a.md": "new a", "b.md": "new b"})
    repo.git("add", "-A")
    hook = repo.git_dir / "hooks" / "pre-commit"
    hook.write_text(f'#!/bin/sh\necho "$GIT_INDEX_FILE" > {tmp_path}/name\ncp "$GIT_INDEX_FILE" .git/next\n')
    hook.chmod(0o755)
    repo.git("commit", "-q", "-m", "partial", "a.md")
    assert (tmp_path / "name").read_text().strip().endswith(".lock")
    git = git_at(repo.root)
    for index_file in (".git/next", str(repo.root / ".git/next")):
        assert contents(git, git.staged(md, index_file)) == {"a.md": b"new a", "b.md": b"old b"}
    assert contents(git, git.staged(md)) == {"a.md": b"new a", "b.md": b"new b"}


def test_g1_staged_under_commit_all_locks_nothing(repo: Repo, tmp_path: Path) -> None:
    repo.write({"a.md": "old"})
    repo.commit()
    repo.write({"a.md": "new"})
    script = tmp_path / "hook.py"
    script.write_text(
        "import os\nfrom pathlib import Path\nfrom memidx.stores.git import Git, find_vault\n"
        "git = Git(find_vault(Path.cwd(), os.environ), os.environ)\n"
        "md = lambda path: path.endswith('.md')\n"
        "staged = git.staged(md, os.environ['GIT_INDEX_FILE'])\n"
        "print(os.path.basename(os.environ['GIT_INDEX_FILE']), *[data for _, data in git.read(staged.entries)])\n"
        "print(*[data for _, data in git.read(git.worktree(md).entries)])\n"
    )
    hook = repo.git_dir / "hooks" / "pre-commit"
    out = tmp_path / "out"
    path = str(Path(__file__).parents[1])
    hook.write_text(f"#!/bin/sh\nPYTHONPATH='{path}' exec '{sys.executable}' '{script}' > '{out}'\n")
    hook.chmod(0o755)
    repo.git("commit", "-q", "-a", "-m", "all")
    assert out.read_text() == "index.lock b'new'\nb'new'\n"
    assert repo.status() == ""


def test_an_index_that_does_not_exist_is_an_error_and_not_an_empty_vault(repo: Repo) -> None:
    repo.write({"a.md": "x"})
    repo.commit()
    with pytest.raises(GitError, match="does not exist"):
        git_at(repo.root).staged(md, ".git/next-index-1.lock")


def test_sparse_checkout_lists_what_is_on_disk(repo: Repo) -> None:
    repo.write({"in/a.md": "1", "out/b.md": "2", "top.md": "3"})
    commit = repo.commit()
    repo.git("sparse-checkout", "set", "--cone", "in")
    git = git_at(repo.root)
    assert names(git.worktree(md)) == ["in/a.md", "top.md"]
    assert names(git.staged(md)) == names(git.revision(commit, md)) == ["in/a.md", "out/b.md", "top.md"]
    repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert names(git.worktree(md)) == ["in/a.md", "top.md"]


def test_a_page_marked_skip_worktree_that_is_there_is_read(repo: Repo) -> None:
    repo.write({"a.md": "committed"})
    repo.commit()
    repo.git("update-index", "--skip-worktree", "a.md")
    repo.write({"a.md": "local"})
    git = git_at(repo.root)
    assert contents(git, git.worktree(md)) == {"a.md": b"local"}


def test_revisions_by_any_name(repo: Repo) -> None:
    repo.write({"a.md": "one"})
    first = repo.commit()
    repo.git("tag", "-a", "v1", "-m", "tag")
    repo.write({"a.md": "two"})
    repo.commit()
    git = git_at(repo.root)
    for name in ("v1", "HEAD~1", first[:10], "main^", "refs/tags/v1"):
        listing = git.revision(name, md)
        assert (listing.source, contents(git, listing)) == (f"rev:{first}", {"a.md": b"one"})


@pytest.mark.parametrize("rev", ["nope", "-h", "--all", "", "HEAD:a.md", "HEAD~9", "a\nb", "x\0y", "HEAD..HEAD"])
def test_unknown_revisions_are_named(repo: Repo, rev: str) -> None:
    repo.write({"a.md": "one"})
    repo.commit()
    with pytest.raises(GitError, match="unknown revision") as caught:
        git_at(repo.root).revision(rev, md)
    assert repr(rev) in caught.value.message
    assert "git log" in caught.value.hint


def test_a_listing_writes_nothing(repo: Repo) -> None:
    repo.write({"a.md": "x", "b.md": "y"})
    repo.commit()
    repo.write({"a.md": "dirty", "c.md": "new"})
    os.utime(repo.root / "b.md", (1, 1))
    before = {path: path.stat() for path in sorted(repo.git_dir.rglob("*"))}
    git = git_at(repo.root)
    contents(git, git.worktree(md))
    contents(git, git.staged(md))
    after = {path: path.stat() for path in sorted(repo.git_dir.rglob("*"))}
    same = ("st_ino", "st_size", "st_mtime_ns")
    assert [(p, *(getattr(s, n) for n in same)) for p, s in before.items()] == [
        (p, *(getattr(s, n) for n in same)) for p, s in after.items()
    ]


def test_an_index_replaced_between_the_two_commands_is_read_again(repo: Repo) -> None:
    repo.write({"a.md": "one"})
    repo.commit()
    git = git_at(repo.root)
    run = git.start_worktree()
    run._status.wait()
    run._index.wait()
    repo.write({"a.md": "two", "b.md": "new"})
    repo.git("add", "-A")
    assert run.finish(md) == git.worktree(md)
    assert contents(git, run.finish(md)) == {"a.md": b"two", "b.md": b"new"}
