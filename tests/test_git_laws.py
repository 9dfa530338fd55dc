"""Three ways to list one tree agree, whatever was done to it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repo import Repo

from memidx.ground.listing import Entry, diff_listings, make_listing, path_key
from memidx.stores.git import Git, blob_id, find_vault

NAMES = ["a.md", "b c.md", "é.md", "d/a.md", "d/e/b.md", "d.md", 'q"\n.md', "x.txt"]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["write", "write", "remove", "add", "commit", "link", "move", "chmod", "announce"]),
        st.sampled_from(NAMES),
        st.sampled_from(["", "one\n", "two\n", "one\r\n"]),
    ),
    max_size=12,
)


def md(path: str) -> bool:
    return path.endswith(".md")


def apply(repo: Repo, act: str, name: str, text: str) -> None:
    path = repo.root / name
    there = os.path.lexists(path)
    if act == "write":
        if path.is_symlink():
            path.unlink()
        repo.write({name: text})
    elif act == "remove" and there:
        path.unlink()
    elif act == "link":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to("x.txt")
    elif act == "move" and there:
        shutil.move(path, repo.root / f"moved-{name.replace('/', '-')}")
    elif act == "chmod" and there and not path.is_symlink():
        path.chmod(0o755)
    elif act == "add":
        repo.git("add", "-A")
    elif act == "announce" and there:
        repo.git("add", "-N", "--", name)
    elif act == "commit":
        repo.commit()


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
def test_worktree_staged_and_revision_agree_after_any_edits(edits: list[tuple[str, str, str]], tmp_path: Path) -> None:
    with TemporaryDirectory(dir=tmp_path) as folder:
        repo = Repo.create(Path(folder))
        git = Git(find_vault(repo.root, os.environ), os.environ)
        for edit in edits:
            apply(repo, *edit)
        worktree = git.worktree(md)
        assert [entry.path for entry in worktree.entries] == sorted({e.path for e in worktree.entries}, key=path_key)
        on_disk = {
            str(path.relative_to(repo.root)): path.read_bytes()
            for path in repo.root.rglob("*.md")
            if not path.is_symlink()
        }
        assert {entry.path: data for entry, data in git.read(worktree.entries)} == on_disk
        assert {entry.path: entry.blob for entry in worktree.entries} == {
            path: blob_id(data, "sha1") for path, data in on_disk.items()
        }
        repo.git("add", "-A")
        assert git.staged(md).digest() == worktree.digest()
        assert git.worktree(md).digest() == worktree.digest()
        assert git.revision(repo.commit(), md).digest() == worktree.digest()


ENTRIES = st.dictionaries(st.sampled_from(["a", "b", "é", "\udcff", "\uffee", "\U0001f600"]), st.sampled_from("0123"))


@given(old=ENTRIES, new=ENTRIES)
def test_a_diff_leads_from_one_listing_to_the_other(old: dict[str, str], new: dict[str, str]) -> None:
    before = make_listing("staged", [Entry(*pair) for pair in old.items()])
    after = make_listing("worktree", [Entry(*pair) for pair in reversed(new.items())])
    diff = diff_listings([entry[:2] for entry in before.entries], after.entries)
    state = {entry.path: entry.blob for entry in before.entries}
    for entry in diff.removed:
        del state[entry.path]
    state.update((entry.path, entry.blob) for entry in (*diff.added, *diff.changed))
    assert state == new
    assert diff.unchanged + len(diff.added) + len(diff.changed) == len(new)
    assert bool(diff) == (old != new) == (before.digest() != after.digest())


def test_the_digest_written_out() -> None:
    import hashlib

    listing = make_listing("staged", [Entry("b.md", "22"), Entry("a\udcff.md", "11", "disk")])
    assert listing.digest() == hashlib.sha256(b"a\xff.md\x0011\nb.md\x0022\n").hexdigest()
