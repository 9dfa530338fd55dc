"""Reading content: in order, streamed, and never under another content's id."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from repo import Repo

from memidx.ground.errors import GitError
from memidx.ground.listing import Entry
from memidx.stores.git import Git, PageChangedError, blob_id, find_vault

if TYPE_CHECKING:
    from pathlib import Path


def md(path: str) -> bool:
    return path.endswith(".md")


def git_at(root: Path, **extra: str) -> Git:
    environ = {**os.environ, **extra}
    return Git(find_vault(root, environ), environ)


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_blob_ids_are_gits(tmp_path: Path, object_format: str) -> None:
    repo = Repo.create(tmp_path / "r", f"--object-format={object_format}")
    for data in (b"", b"x", b"\0\r\n" * 1000):
        assert blob_id(data, object_format) == repo.git("hash-object", "--stdin", stdin=data)


def test_order_is_kept_with_objects_and_disk_mixed(repo: Repo) -> None:
    repo.write({f"p{number:04}.md": f"committed {number}" for number in range(600)})
    repo.commit()
    repo.write({f"p{number:04}.md": f"edited {number}" for number in range(0, 600, 2)})
    git = git_at(repo.root)
    entries = git.worktree(md).entries
    assert [entry.origin for entry in entries] == ["disk", "object"] * 300
    expected = [f"{'committed' if number % 2 else 'edited'} {number}".encode() for number in range(600)]
    assert list(git.read(entries)) == list(zip(entries, expected, strict=True))
    backwards = entries[::-1]
    assert [entry for entry, _ in git.read(backwards)] == list(backwards)


def test_large_content_and_many_questions_do_not_block_each_other(repo: Repo) -> None:
    data = os.urandom(3_000_000)
    repo.write({"big.md": data, "nul.md": b"a\0b\n\n", "empty.md": b""})
    repo.commit()
    git = git_at(repo.root)
    entries = git.worktree(md).entries * 20_000
    total = 0
    for number, (entry, content) in enumerate(git.read(entries)):
        total += len(content)
        if number < 3:
            assert content == {"big.md": data, "nul.md": b"a\0b\n\n", "empty.md": b""}[entry.path]
        if number == 30:
            break
    assert total > 30_000_000


def test_nothing_to_read(repo: Repo) -> None:
    assert list(git_at(repo.root).read([])) == []


def test_a_missing_object_names_the_page(repo: Repo) -> None:
    repo.write({"a.md": "x", "b.md": "lost"})
    repo.commit()
    git = git_at(repo.root)
    entries = git.worktree(md).entries
    blob = entries[1].blob
    (repo.git_dir / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(GitError, match=rf"b\.md: object {blob} is missing") as caught:
        list(git.read(entries))
    assert "git fsck" in caught.value.hint


def test_an_object_that_is_not_a_blob_is_refused(repo: Repo) -> None:
    commit = repo.commit()
    with pytest.raises(GitError, match=r"p\.md: object .* is not a blob but commit"):
        list(git_at(repo.root).read([Entry("p.md", commit)]))


def test_a_partial_clone_is_never_fetched_from(repo: Repo, tmp_path: Path) -> None:
    repo.write({"a.md": "not here"})
    commit = repo.commit()
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = repo.clone(tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    git = git_at(clone.root)
    listing = git.revision(commit, md)
    with pytest.raises(GitError, match=r"a\.md: object .* is missing"):
        list(git.read(listing.entries))
    blob = listing.entries[0].blob
    missing = clone.git("rev-list", "--objects", "--missing=print", "HEAD")
    assert f"?{blob}" in missing


def test_replaced_objects_are_read_as_themselves(repo: Repo) -> None:
    repo.write({"a.md": "true", "b.md": "other"})
    repo.commit()
    git = git_at(repo.root)
    entries = git.worktree(md).entries
    repo.git("replace", entries[0].blob, entries[1].blob)
    assert [data for _, data in git.read(entries)] == [b"true", b"other"]


@pytest.mark.parametrize("how", ["edited", "removed", "linked", "folder-linked", "piped"])
def test_a_page_that_changed_since_the_listing_is_refused(repo: Repo, tmp_path: Path, how: str) -> None:
    repo.write({"sub/a.md": "listed"})
    git = git_at(repo.root)
    entries = git.worktree(md).entries
    page = repo.root / "sub" / "a.md"
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("listed")
    if how == "edited":
        page.write_text("edited")
    else:
        page.unlink()
    if how == "linked":
        page.symlink_to(outside / "a.md")
    elif how == "folder-linked":
        page.parent.rmdir()
        page.parent.symlink_to(outside)
    elif how == "piped":
        os.mkfifo(page)
    with pytest.raises(PageChangedError) as caught:
        list(git.read(entries))
    assert caught.value.path == "sub/a.md"
    assert caught.value.hint


@pytest.mark.parametrize("path", ["../secret.md", "{outside}/secret.md", "sub/../../secret.md"])
def test_nothing_outside_the_root_is_read(repo: Repo, path: str) -> None:
    repo.write({"sub/a.md": "x"})
    (repo.root.parent / "secret.md").write_text("secret")
    entry = Entry(path.format(outside=repo.root.parent), blob_id(b"secret", "sha1"), "disk")
    with pytest.raises(PageChangedError):
        list(git_at(repo.root).read([entry]))


def test_a_filtered_page_that_changed_is_refused_too(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.write({"a.md": "one\r\n", "b.md": "two\r\n"})
    git = git_at(repo.root)
    entries = git.worktree(md).entries
    assert [data for _, data in git.read(entries)] == [b"one\n", b"two\n"]
    repo.write({"b.md": "three\r\n"})
    with pytest.raises(PageChangedError):
        list(git.read(entries))


def test_safecrlf_does_not_stop_a_query(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.git("config", "core.safecrlf", "true")
    repo.write({"mixed.md": "one\r\ntwo\n"})
    git = git_at(repo.root)
    assert [data for _, data in git.read(git.worktree(md).entries)] == [b"one\ntwo\n"]


def test_a_clean_filter_gives_what_git_would_store(repo: Repo) -> None:
    repo.git("config", "filter.upper.clean", "tr a-z A-Z")
    repo.write({".gitattributes": "*.md filter=upper\n", "a.md": "text", "b.md": "more"})
    git = git_at(repo.root)
    listing = git.worktree(md)
    assert [data for _, data in git.read(listing.entries)] == [b"TEXT", b"MORE"]
    repo.git("add", "-A")
    assert git.staged(md).digest() == listing.digest()


def test_a_filter_that_fails_costs_only_its_own_page(repo: Repo) -> None:
    repo.write({"a.md": "a", "bad.md": "old", "c.md": "c"})
    repo.commit()
    repo.write({".gitattributes": "bad.md filter=bad\n", "a.md": "aa", "bad.md": "longer", "c.md": "cc"})
    repo.git("config", "filter.bad.clean", "false")
    repo.git("config", "filter.bad.required", "true")
    git = git_at(repo.root)
    listing = git.worktree(md)
    assert {entry.path: data for entry, data in git.read(listing.entries)} == {
        "a.md": b"aa",
        "bad.md": b"old",
        "c.md": b"cc",
    }
    assert [(note.path, note.code) for note in listing.notes] == [("bad.md", "unreadable")]
