"""A listing: the sorted pages of one tree, and the difference between two of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memidx.ground.diagnostics import Diagnostic

Origin = Literal["object", "disk"]


class Entry(NamedTuple):
    """One page: where it is and which content it has.

    ``path`` is relative to the vault root, with ``/``; bytes that are not UTF-8 are kept as surrogates.
    ``blob`` is git's object id of the (clean-filtered) content, in hex.
    ``origin`` says where the bytes are read from; it takes no part in identity.
    """

    path: str
    blob: str
    origin: Origin = "object"


class Listing(NamedTuple):
    """Pages sorted by the bytes of their path, each path once. ``notes`` are what the listing could not take in."""

    source: str  # "worktree", "staged" or "rev:<commit id>"
    entries: tuple[Entry, ...]
    notes: tuple[Diagnostic, ...] = ()

    def digest(self) -> str:
        """Hex SHA-256 over (path, blob) pairs. Equal digests mean equal pages, whatever the source."""
        rows = "".join([f"{entry.path}\0{entry.blob}\n" for entry in self.entries])
        return hashlib.sha256(rows.encode("utf-8", "surrogateescape")).hexdigest()


class ListingDiff(NamedTuple):
    """What leads from one listing to another. ``changed`` holds the new entries."""

    added: tuple[Entry, ...]
    changed: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


def path_key(path: str) -> bytes:
    """The order of paths everywhere: by their bytes, as git sorts them."""
    return path.encode("utf-8", "surrogateescape")


def make_listing(source: str, entries: Iterable[Entry], notes: Iterable[Diagnostic] = ()) -> Listing:
    """Sort by path bytes; of two entries with one path the later one wins."""
    by_path = {entry.path: entry for entry in entries}
    return Listing(source, tuple(sorted(by_path.values(), key=lambda e: path_key(e.path))), tuple(notes))


def diff_listings(old: Sequence[tuple[str, str]], new: Sequence[Entry]) -> ListingDiff:
    """Compare (path, blob) pairs with entries, by path."""
    before = dict(old)
    added, changed = [], []
    unchanged = 0
    for entry in new:
        blob = before.pop(entry.path, None)
        if blob is None:
            added.append(entry)
        elif blob != entry.blob:
            changed.append(entry)
        else:
            unchanged += 1
    removed = sorted((Entry(p, b) for p, b in before.items()), key=lambda e: path_key(e.path))
    return ListingDiff(tuple(added), tuple(changed), tuple(removed), unchanged)
