"""The commits of a vault with the pages they touched, in one streaming walk."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memidx.ground.errors import GitError
from memidx.ground.history import Change, Commit
from memidx.stores.git.listing import hidden
from memidx.stores.git.run import Finished, failure, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memidx.stores.git.listing import Selector
    from memidx.stores.git.locate import VaultLocation
    from memidx.stores.git.run import Runner

IGNORED_REVS = ".git-blame-ignore-revs"
MOST_IGNORED_BYTES = 4 * 1024 * 1024
BLOCK = 1 << 16
# Parents before children. -c shows of a merge what is in none of its parents. Every option that a user's configuration
# could set otherwise is given.
LOG = (
    "log",
    "--topo-order",
    "--reverse",
    "--raw",
    "-z",
    "-c",
    "--no-renames",
    "--no-abbrev",
    "--no-show-signature",
    "--no-notes",
    "--no-ext-diff",
    "--ignore-submodules=all",
    "--format=%x01%H %at",
)


def commits(git: Runner, where: VaultLocation, head: str, base: str | None, selector: Selector) -> Iterator[Commit]:
    """Every commit up to ``head`` that is not in ``base``'s past, with its pages. Raises GitError when git fails."""
    # Without --full-history git leaves out side branches when it is asked about a folder.
    under = ("--full-history", head, *([f"^{base}"] if base else []), "--", *([where.prefix] if where.prefix else []))
    with git.popen((*LOG, *under)) as process:
        out, err = process.stdout, process.stderr
        if out is None or err is None:
            raise GitError("git log gave no output", hint="try again")
        yield from _parse(_tokens(iter(partial(out.read, BLOCK), b"")), where.prefix, selector)
        said = err.read()
        code = process.wait()
    if code:
        raise failure(LOG, Finished(code, b"", said), git.cwd)


def _tokens(blocks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\0")
        yield from whole


def _parse(tokens: Iterator[bytes], prefix: str, selector: Selector) -> Iterator[Commit]:
    """A 1 byte, ``<id> <seconds>``, then for each file ``:modes blobs letters`` and its path; a newline comes first."""
    name, at = "", 0
    changes: list[Change] = []
    for token in tokens:
        if token.startswith(b"\x01"):
            if name and changes:
                yield Commit(name, at, tuple(changes))
            name, _, stamp = token[1:].decode("ascii").partition(" ")
            at, changes = _seconds(stamp), []
            continue
        raw = token.lstrip(b"\n")
        if not raw:  # an empty one stands before the files of a merge
            continue
        path = text(next(tokens, b""))
        page = path.removeprefix(prefix)
        if raw.startswith(b":") and path.startswith(prefix) and selector(page) and not hidden(page):
            changes.append(_change(page, raw))
    if name and changes:
        yield Commit(name, at, tuple(changes))


def _change(path: str, raw: bytes) -> Change:
    """One file of a raw diff; of a merge, against the first of its parents. What is no plain file counts as none."""
    parents = len(raw) - len(raw.lstrip(b":"))
    fields = raw[parents:].decode("ascii").split(" ")
    modes, blobs = fields[: parents + 1], fields[parents + 1 : 2 * parents + 2]
    old = blobs[0] if modes[0].startswith("100") else ""
    new = blobs[-1] if modes[-1].startswith("100") else ""
    return Change(path, old, new)


def _seconds(stamp: str) -> int:
    try:
        return int(stamp)
    except ValueError:
        return 0  # a commit made by a broken tool


def ignored_revs(where: VaultLocation) -> frozenset[str]:
    """The commits that `.git-blame-ignore-revs` at the top of the work tree names. A link is not followed."""
    path = where.top / IGNORED_REVS
    try:
        if path.is_symlink() or path.stat().st_size > MOST_IGNORED_BYTES:
            return frozenset()
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    return frozenset(line.partition("#")[0].strip().lower() for line in lines) - {""}


def is_ancestor(git: Runner, older: str, newer: str) -> bool:
    """Whether ``older`` is in the past of ``newer``; also False when it is gone."""
    return git.run("merge-base", "--is-ancestor", older, newer, accept=(0, 1, 128)).code == 0


def uncommitted(git: Runner, prefix: str) -> frozenset[str]:
    """Paths, relative to the vault, that differ from the last commit: staged, changed on disk, untracked, unmerged."""
    under = ("--", prefix) if prefix else ()
    out = git.run("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=no", "--no-renames", *under).out
    columns = {"1": 8, "u": 10, "?": 1, "2": 9}
    found = set()
    for record in text(out).split("\0"):
        if record[:1] in columns:
            path = record.split(" ", columns[record[:1]])[-1]
            if path.startswith(prefix):
                found.add(path.removeprefix(prefix))
    return frozenset(found)
