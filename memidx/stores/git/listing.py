"""Git's answers as values: pure functions from the bytes of ``-z`` output to rows and entries."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.diagnostics import Diagnostic
from memidx.ground.listing import Entry
from memidx.stores.git.run import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Selector = Callable[[str], bool]  # decides by vault-relative path whether a file is a page

LINK_MODE = "120000"
GITLINK_MODE = "160000"
INTENT_TO_ADD = 1 << 29  # CE_INTENT_TO_ADD in git's cache.h; `ls-files --debug` prints the flags

_DEBUG = re.compile(r"  ctime: .*\n  mtime: .*\n  dev: .*\n  uid: .*\n  size: \d+\tflags: ([0-9a-f]+)\n")
_DENIED = re.compile(r"^(?:warning: could not open directory '(?P<folder>.+?)/?'|(?P<file>.+)): Permission denied$")


class IndexRow(NamedTuple):
    """An index entry. ``path`` is relative to the vault root."""

    tag: str  # "H" tracked, "S" left out by a sparse checkout, "M" unmerged
    mode: str
    blob: str
    stage: str  # "0"; for an unmerged path "1" base, "2" ours, "3" theirs
    path: str

    def is_plain(self) -> bool:
        return self.tag == "H" and self.stage == "0" and self.mode.startswith("100")


class Change(NamedTuple):
    """A path of the work tree that is not what the index says."""

    path: str
    state: str  # "?" untracked, "u" unmerged, else git's letter: M modified, T type changed, D deleted, A to be added
    mode: str  # of the file on disk, "" when git does not say


def hidden(path: str) -> bool:
    """True inside a ``.memidx`` folder, at any depth: its files are settings and state, never pages."""
    return path.startswith(".memidx/") or "/.memidx/" in path


@lru_cache(maxsize=1)  # a server asks for the same index again and again, and 10,000 pages take 20 ms
def parse_index(out: bytes, prefix: str, selector: Selector) -> tuple[tuple[Entry, ...], tuple[IndexRow, ...]]:
    """Read ``ls-files -s -t -z``: the plain tracked files as entries, in index order, and the other rows.

    Both hold only what the selector wants. A pattern finds the plain rows, which are nearly all of them, in two
    thirds of a loop's time; each match starts after a NUL, so that no file name can pass for a row.
    """
    listed = text(out)
    wanted = _visible(selector) if ".memidx/" in listed else selector
    under = re.escape(prefix)
    plain = re.findall(rf"(?<![^\0])H 100... ([0-9a-f]+) 0\t{under}([^\0]+)\0", listed)
    entries = tuple(Entry(path, blob) for blob, path in plain if wanted(path))
    if len(plain) == out.count(b"\0"):
        return entries, ()
    found = re.findall(rf"(?<![^\0])(\w) (\d+) ([0-9a-f]+) (\d)\t{under}([^\0]+)\0", listed)
    rows = [IndexRow(*row) for row in found]
    return entries, tuple(row for row in rows if not row.is_plain() and wanted(row.path))


def _visible(selector: Selector) -> Selector:
    return lambda path: selector(path) and not hidden(path)


def parse_status(out: bytes, prefix: str, selector: Selector) -> Iterator[Change]:
    """Read ``status --porcelain=v2 -z --no-renames``: what the work tree has that the index has not."""
    for record in text(out).split("\0"):
        match record[:1]:
            case "1":  # 1 XY sub mH mI mW hH hI path
                fields = record.split(" ", 8)
                state, mode, path = fields[1][1], fields[5], fields[8]
                if state == ".":
                    continue
            case "u":  # u XY sub m1 m2 m3 mW h1 h2 h3 path
                fields = record.split(" ", 10)
                state, mode, path = "u", fields[6], fields[10]
            case "?":  # a path that ends in a slash is another repository
                state, mode, path = "?", "", record[2:]
            case _:
                continue
        page = path.removeprefix(prefix)
        if path.startswith(prefix) and not path.endswith("/") and selector(page) and not hidden(page):
            yield Change(page, state, mode)


def parse_tree(out: bytes, prefix: str, selector: Selector) -> tuple[list[Entry], list[IndexRow]]:
    """Read ``ls-tree -r -z``: files as entries, in tree order, and the links and gitlinks the selector wants."""
    entries: list[Entry] = []
    others: list[IndexRow] = []
    for record in text(out).split("\0"):
        head, tab, path = record.partition("\t")  # "100644 blob <id>\t<path>"
        page = path.removeprefix(prefix)
        if not tab or not path.startswith(prefix) or not selector(page) or hidden(page):
            continue
        mode, _, blob = head.split(" ")
        if mode.startswith("100"):
            entries.append(Entry(page, blob))
        else:
            others.append(IndexRow("H", mode, blob, "0", page))
    return entries, others


def parse_to_be_added(out: bytes, prefix: str) -> set[str]:
    """Read ``ls-files --debug -z``: the paths that ``git add -N`` announced and that no commit would hold."""
    found: set[str] = set()
    path = ""
    rest = text(out)
    while rest:
        if path and (flags := _DEBUG.match(rest)):
            if int(flags[1], 16) & INTENT_TO_ADD:
                found.add(path.removeprefix(prefix))
            rest = rest[flags.end() :]
        path, _, rest = rest.partition("\0")
    return found


def unmerged_entries(rows: Iterable[IndexRow]) -> dict[str, Entry]:
    """One entry for each unmerged path: ours, else theirs, else the common base."""
    best: dict[str, IndexRow] = {}
    preference = "231"
    for row in rows:
        if row.stage == "0" or not row.mode.startswith("100"):
            continue
        known = best.get(row.path)
        if known is None or preference.index(row.stage) < preference.index(known.stage):
            best[row.path] = row
    return {path: Entry(path, row.blob) for path, row in best.items()}


def link_notes(rows: Iterable[IndexRow]) -> Iterator[Diagnostic]:
    """Notes about tracked links and submodules that the selector would have taken for pages."""
    for path, mode in dict.fromkeys((row.path, row.mode) for row in rows):
        if mode == LINK_MODE:
            yield link_note(path)
        elif mode == GITLINK_MODE:
            yield Diagnostic(path, 0, 0, "info", "a submodule is not a page of this vault", "submodule")


def link_note(path: str) -> Diagnostic:
    return Diagnostic(path, 0, 0, "info", "a symbolic link is not followed and is not a page", "symlink")


def unreadable_note(path: str, *, kept: bool) -> Diagnostic:
    what = "its last staged content is used" if kept else "it is left out"
    return Diagnostic(path, 0, 0, "warning", f"cannot be read, {what}; check its permissions", "unreadable")


def denied_notes(stderr: bytes, prefix: str, selector: Selector) -> Iterator[Diagnostic]:
    """Notes about folders that git could not look into, and about tracked pages in them."""
    for line in text(stderr).splitlines():
        if not (found := _DENIED.match(line)):
            continue
        path = found["folder"] or found["file"]
        page = path.removeprefix(prefix)
        if not path.startswith(prefix):
            continue
        if found["folder"]:
            yield Diagnostic(page, 0, 0, "warning", "this folder cannot be read; check its permissions", "unreadable")
        elif selector(page):
            yield unreadable_note(page, kept=True)
