"""What changed pages last: the commit, and the text before and after it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from memidx.stores.git.history import LOG, _change, _seconds, _tokens, ignored_revs
from memidx.stores.git.listing import hidden
from memidx.stores.git.run import text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from memidx.ground.history import Change
    from memidx.stores.git.listing import Selector
    from memidx.stores.git.locate import VaultLocation
    from memidx.stores.git.run import Runner

BLOCK = 1 << 16
MOST_COMMITS = 20_000  # further back nobody calls it recent
MANY = 200  # paths on one command line
# As the walk of history, but from the newest commit on, and with what a person asks of a commit.
_NEWEST = tuple(arg for arg in LOG if arg not in ("--reverse", "--topo-order") and not arg.startswith("--format"))
FORMAT = "--format=%x01%H %at%x02%an%x02%s"


class LastChange(NamedTuple):
    """The last commit that changed a page's text. Blobs are "" where there is none. ``at`` is the author's time."""

    commit: str
    at: int
    author: str
    subject: str
    old: str
    new: str


class _Read(NamedTuple):
    commit: str
    at: int
    author: str
    subject: str
    changes: list[Change]


def blobs_at(git: Runner, where: VaultLocation, commit: str, paths: Collection[str]) -> dict[str, str]:
    """The blobs that a commit has at these paths of the vault; a path without one is left out."""
    asked = sorted(paths)
    found = {}
    for start in range(0, len(asked), MANY):
        under = [where.prefix + path for path in asked[start : start + MANY]]
        out = git.run("ls-tree", "-z", "--full-tree", commit, "--", *under).out
        for record in text(out).split("\0"):
            about, _, path = record.partition("\t")
            if about.split(" ")[1:2] == ["blob"]:
                found[path.removeprefix(where.prefix)] = about.split(" ")[2]
    return found


def last_changes(
    git: Runner, where: VaultLocation, head: str, wanted: Collection[str], *, selector: Selector, bulk: float
) -> dict[str, LastChange]:
    """For each wanted path the last commit before or at ``head`` that changed its text, not only its name.

    Commits that change more than ``bulk`` pages, and those in `.git-blame-ignore-revs`, do not count. Stops as soon as
    all are found.
    """
    names = {path: path for path in wanted}  # what it was called then -> what it is called now
    ignored = ignored_revs(where)
    found: dict[str, LastChange] = {}
    if not names:
        return found
    under = ("--", where.prefix) if where.prefix else ("--",)
    with git.popen((*_NEWEST, FORMAT, f"--max-count={MOST_COMMITS}", head, *under)) as process:
        if process.stdout is None:
            raise AssertionError
        for read in _commits(_tokens(iter(partial(process.stdout.read, BLOCK), b"")), where.prefix, selector):
            came_from = {c.old: c.path for c in read.changes if not c.new}
            real = [c for c in read.changes if c.new and c.old != c.new and (c.old or c.new not in came_from)]
            counts = len(real) <= bulk and read.commit not in ignored
            for change in read.changes:
                now = names.get(change.path)
                if now is None or not change.new:
                    continue
                if not change.old and change.new in came_from:
                    del names[change.path]
                    names[came_from[change.new]] = now
                elif counts:
                    del names[change.path]
                    found[now] = LastChange(read.commit, read.at, read.author, read.subject, change.old, change.new)
            if not names:
                break
        process.kill()  # nobody wants the rest
    return found


def _commits(tokens: Iterator[bytes], prefix: str, selector: Selector) -> Iterator[_Read]:
    read: _Read | None = None
    for token in tokens:
        if token.startswith(b"\x01"):
            if read is not None:
                yield read
            about, _, rest = token[1:].partition(b"\x02")
            author, _, subject = rest.partition(b"\x02")
            commit, _, stamp = about.decode("ascii", "replace").partition(" ")
            who, what = (part.decode("utf-8", "replace") for part in (author, subject))
            read = _Read(commit, _seconds(stamp), who, what, [])
            continue
        raw = token.lstrip(b"\n")
        path = text(next(tokens, b""))
        page = path.removeprefix(prefix)
        is_page = path.startswith(prefix) and selector(page) and not hidden(page)
        if read is not None and raw.startswith(b":") and is_page:
            read.changes.append(_change(page, raw))
    if read is not None:
        yield read
