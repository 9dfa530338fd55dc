"""The git store of one vault: its listings, its content, and what git knows about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.ground.errors import GitError
from memidx.ground.listing import Entry, Listing, make_listing
from memidx.stores.git.listing import (
    link_notes,
    parse_index,
    parse_to_be_added,
    parse_tree,
    unmerged_entries,
)
from memidx.stores.git.objects import blob_id, read_entries
from memidx.stores.git.run import Runner, first_line, text
from memidx.stores.git.worktree import WorktreeRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from memidx.stores.git.listing import Selector
    from memidx.stores.git.locate import VaultLocation


class Git:
    """Git, bound to one vault. Holds no state but the location and the environment; writes nothing."""

    def __init__(self, where: VaultLocation, environ: Mapping[str, str]) -> None:
        self.where = where
        # Both folders are named: in a hook of a linked work tree GIT_DIR alone would make the current folder the top.
        self.runner = Runner(where.top, environ, (f"--git-dir={where.git_dir}", f"--work-tree={where.top}"))
        self._under = ("--", where.prefix) if where.prefix else ()

    def start_worktree(self) -> WorktreeRun:
        """Launch the processes behind a worktree listing; ``.finish(selector)`` waits for them."""
        return WorktreeRun(self.runner, self.where)

    def worktree(self, selector: Selector) -> Listing:
        """The pages on disk: tracked ones as they are now, and untracked ones that are not ignored."""
        return self.start_worktree().finish(selector)

    def staged(self, selector: Selector, index_file: str | None = None) -> Listing:
        """The pages as the next commit would have them.

        ``index_file`` is the GIT_INDEX_FILE that a hook has inherited; a relative one is relative to the top of the
        work tree. An unmerged path gives our side, else theirs, else the base. Pages that were only announced with
        ``git add -N`` are left out, as the commit leaves them out.
        """
        env: dict[str, str] = {}
        if index_file:
            path = self.where.top / index_file
            if not path.exists() and path != self.where.git_dir / "index":
                # Git would take it for an empty index, and every page for removed.
                raise GitError(f"GIT_INDEX_FILE names {path}, which does not exist", hint="unset GIT_INDEX_FILE")
            env["GIT_INDEX_FILE"] = str(path)
        done = self.runner.run("ls-files", "-s", "-t", "-z", *self._under, env=env)
        plain, rows = parse_index(done.out, self.where.prefix, selector)
        entries = list(plain)
        left_out = [row for row in rows if row.tag == "S" and row.mode.startswith("100")]
        entries.extend(Entry(row.path, row.blob) for row in left_out)
        entries.extend(unmerged_entries(rows).values())
        empty = blob_id(b"", self.where.object_format)
        if any(entry.blob == empty for entry in entries):
            debug = self.runner.run("ls-files", "--debug", "-z", *self._under, env=env)
            announced = parse_to_be_added(debug.out, self.where.prefix)
            entries = [entry for entry in entries if entry.path not in announced]
        return make_listing("staged", entries, link_notes(rows))

    def revision(self, rev: str, selector: Selector) -> Listing:
        """The pages of a commit, by any name git has for one. The source is ``rev:<commit id>``."""
        commit = self.resolve(rev)
        done = self.runner.run("ls-tree", "-r", "-z", "--full-tree", "--", commit, *self._under[1:])
        entries, rows = parse_tree(done.out, self.where.prefix, selector)
        return make_listing(f"rev:{commit}", entries, link_notes(rows))

    def resolve(self, rev: str) -> str:
        """The full commit id that a revision means. Raises GitError when there is none."""
        hint = "`git log --oneline --all` lists commits"
        if self.where.shallow:
            hint += "; this clone is shallow, `git fetch --unshallow` gets the rest"
        # No name of a revision starts with a dash; an option does.
        if not rev or rev.startswith("-") or "\0" in rev:
            raise GitError(f"unknown revision {rev!r}", hint=hint)
        done = self.runner.run("rev-parse", "--verify", f"{rev}^{{commit}}", accept=(0, 128))
        if done.code:
            raise GitError(f"unknown revision {rev!r}: {first_line(done.err)}", hint=hint)
        return text(done.out).strip()

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Every entry with its content, in the order given, streamed.

        The bytes always hash to ``entry.blob``: a page on disk comes as ``git add`` would store it (with
        core.autocrlf that is LF). Raises PageChangedError when a page is no longer what the listing says, GitError
        when an object is missing.
        """
        return read_entries(self.runner, self.where, entries)

    def commit_of_head(self) -> str | None:
        """The commit id of HEAD; None on a branch without commits."""
        done = self.runner.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1))
        return text(done.out).strip() or None

    def branch(self) -> str | None:
        """The short name of the current branch, born or not; None when HEAD is detached."""
        done = self.runner.run("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        return text(done.out).strip() or None

    def version(self) -> str:
        """Git's version, such as ``2.39.5``."""
        return text(self.runner.run("version").out).removeprefix("git version ").strip()

    def config_get(self, name: str, *, as_path: bool = False) -> str | None:
        """The value of a setting from all of git's files; None when it is not set. ``as_path`` expands ``~/``."""
        kind = ("--type=path",) if as_path else ()
        done = self.runner.run("config", "-z", *kind, "--get", name, accept=(0, 1))
        return None if done.code else text(done.out).removesuffix("\0")
