"""When the text of each page last changed, from the commits that touched it. Bulk commits say nothing about that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class Change(NamedTuple):
    """One file in a commit. A blob is "" where there is none."""

    path: str
    old: str
    new: str


class Commit(NamedTuple):
    """A commit and the pages it touched. ``at`` is the author's time in seconds since the epoch."""

    id: str
    at: int
    changes: tuple[Change, ...]


class Touch(NamedTuple):
    """A change of a page's text: when, and how many pages the commit changed."""

    at: int
    size: int


class Trace(NamedTuple):
    """What history says of one path: its last text, and the touches that could be its last change.

    ``touches`` go from the most recent on; an older one is kept only if its commit was smaller, so that whatever is
    called a bulk commit, the answer is among them.
    """

    blob: str
    touches: tuple[Touch, ...]


Traces = dict[str, Trace]


class History(NamedTuple):
    """The traces of all paths up to a commit."""

    head: str
    traces: Mapping[str, Trace]

    def changed_at(self, path: str, bulk: float) -> int | None:
        """Seconds since the epoch of the last commit that changed the page and not more than ``bulk`` pages."""
        trace = self.traces.get(path)
        if trace is None:
            return None
        return next((touch.at for touch in trace.touches if touch.size <= bulk), None)

    def is_committed(self, path: str, blob: str) -> bool:
        """Whether the page's text is the one that was committed last."""
        trace = self.traces.get(path)
        return trace is not None and trace.blob == blob


def bulk_size(pages: int, share: float, least: int) -> float:
    """A commit that changes more pages than this is a bulk commit, in a vault of so many pages."""
    return max(share * pages, least - 1)


def trace(commits: Iterable[Commit], traces: Traces, ignored: Collection[str] = ()) -> None:
    """Bring ``traces`` forward over commits, parents before children.

    A text that left one path and came to another carries its trace along (a move, a swap) and is no change; neither is
    a page that comes back with the text it had (a revert of its removal). Ignored commits change texts without a date.
    """
    for commit in commits:
        left = {c.old: traces[c.path] for c in commit.changes if c.old != c.new and c.path in traces}
        changed = []
        for path, old, new in commit.changes:
            known = traces.get(path)
            if not new or old == new or (not old and known is not None and known.blob == new):
                continue
            if new in left:
                traces[path] = Trace(new, left[new].touches)
            else:
                changed.append(Change(path, old, new))
        size = len(changed)
        for path, _, new in changed:
            known = traces.get(path)
            touches = known.touches if known else ()
            traces[path] = Trace(new, touches if commit.id in ignored else add_touch(touches, Touch(commit.at, size)))


def add_touch(touches: tuple[Touch, ...], new: Touch) -> tuple[Touch, ...]:
    """Keep what may be the answer: from the most recent on, each smaller than all before it."""
    kept: list[Touch] = []
    for touch in sorted({*touches, new}, key=lambda t: (-t.at, t.size)):
        if not kept or touch.size < kept[-1].size:
            kept.append(touch)
    return tuple(kept)
