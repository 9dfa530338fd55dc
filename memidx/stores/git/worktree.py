"""The listing of the work tree: the index, what differs from it on disk, and what is untracked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.ground.errors import GitError
from memidx.ground.listing import Entry, Listing, make_listing
from memidx.stores.git.disk import Folders, kind_of
from memidx.stores.git.listing import (
    LINK_MODE,
    Change,
    denied_notes,
    link_note,
    link_notes,
    parse_index,
    parse_status,
    unmerged_entries,
    unreadable_note,
)
from memidx.stores.git.objects import hash_files
from memidx.stores.git.run import failure

if TYPE_CHECKING:
    from memidx.ground.diagnostics import Diagnostic
    from memidx.stores.git.listing import Selector
    from memidx.stores.git.locate import VaultLocation
    from memidx.stores.git.run import Finished, Runner

# Every option that a user's configuration could set otherwise is given. The exceptions are core.fsmonitor and
# core.untrackedCache, which change how fast the answer comes and not what it is.
STATUS = (
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignored=no",
    "--no-renames",
    "--ignore-submodules=all",
)
LS_FILES = ("ls-files", "-s", "-t", "-z")
TRIES = 5


class WorktreeRun:
    """``git status`` and ``git ls-files``, already running side by side. Git's stat cache finds the dirty pages."""

    def __init__(self, git: Runner, where: VaultLocation) -> None:
        self._git = git
        self._where = where
        self._launch()

    def _launch(self) -> None:
        under = ("--", self._where.prefix) if self._where.prefix else ()
        self._index_before = self._index_mark()
        self._status = self._git.start(*STATUS, *under)
        self._index = self._git.start(*LS_FILES, *under)

    def _index_mark(self) -> tuple[int, int, int]:
        """Which index file this is: git replaces it by a rename, so another one has another inode, size or time."""
        try:
            found = (self._where.git_dir / "index").stat()
        except FileNotFoundError:
            return (0, 0, 0)
        return (found.st_ino, found.st_size, found.st_mtime_ns)

    def finish(self, selector: Selector) -> Listing:
        """Wait for git and put the listing together. ``selector`` says by vault-relative path what is a page.

        Starts over when the index was replaced between the two commands. Raises GitError when git fails.
        """
        for _ in range(TRIES):
            status, index = self._status.wait(), self._index.wait()
            if self._index_mark() == self._index_before:
                for args, done in ((STATUS, status), (LS_FILES, index)):
                    if done.code:
                        raise failure(args, done, self._where.top)
                return self._assemble(status, index, selector)
            self._launch()
        raise GitError(
            f"the git index in {self._where.git_dir} keeps changing", hint="wait for the other git command, try again"
        )

    def _assemble(self, status: Finished, index: Finished, selector: Selector) -> Listing:
        prefix = self._where.prefix
        tracked, rows = parse_index(index.out, prefix, selector)
        changes = list(parse_status(status.out, prefix, selector))
        # A file that a sparse checkout leaves out may be there all the same, and then git does not look at it.
        changes.extend(Change(row.path, "S", "") for row in rows if row.tag == "S" and row.mode.startswith("100"))
        notes = list(denied_notes(status.err, prefix, selector))
        decided = {change.path for change in changes}
        notes.extend(link_notes([row for row in rows if row.path not in decided]))
        if not changes:
            return Listing("worktree", tracked, tuple(notes))  # the index has the order of a listing
        pages = {entry.path: entry for entry in tracked}
        before = pages | unmerged_entries(rows)
        before |= {row.path: Entry(row.path, row.blob) for row in rows if row.tag == "S"}
        self._apply(changes, pages, before, notes)
        return make_listing("worktree", pages.values(), notes)

    def _apply(
        self,
        changes: list[Change],
        pages: dict[str, Entry],
        before: dict[str, Entry],
        notes: list[Diagnostic],
    ) -> None:
        """Bring ``pages`` from what the index says to what the disk says, path by path."""
        folders = Folders(self._where.root)
        present: list[tuple[str, Entry | None]] = []
        for path, state, mode in changes:
            pages.pop(path, None)
            old = before.get(path) if state != "A" else None  # what `add -N` leaves in the index is no content
            if folders.linked(path):
                continue
            kind = "link" if mode == LINK_MODE else kind_of(self._where.root / path)
            if kind == "file":
                present.append((path, old))
            elif kind == "link":
                notes.append(link_note(path))
            elif kind == "unreadable":
                self._keep(path, old, pages, notes)
        ids = hash_files(self._git, [self._where.prefix + path for path, _ in present])
        for (path, old), blob in zip(present, ids, strict=True):
            if blob is not None:
                pages[path] = old if old and old.blob == blob else Entry(path, blob, "disk")
            elif kind_of(self._where.root / path) != "other":  # a filter failed; else the file has just gone
                self._keep(path, old, pages, notes)

    @staticmethod
    def _keep(path: str, old: Entry | None, pages: dict[str, Entry], notes: list[Diagnostic]) -> None:
        """Leave a page that cannot be read as it was staged, if it was, and say so."""
        if old:
            pages[path] = old
        notes.append(unreadable_note(path, kept=old is not None))
