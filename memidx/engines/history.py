"""When pages last changed, as git's history tells it: walked once, then only what is new."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from memidx.ground.history import History, Trace, Traces, trace
from memidx.stores.git.history import commits, ignored_revs, is_ancestor

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.ground.settings import Settings
    from memidx.stores.git import Git, Selector
    from memidx.stores.history import HistoryCache


def history_key(git: Git, settings: Settings) -> str:
    """What a history depends on besides its commit: which files are pages, and which commits do not count."""
    hasher = hashlib.sha256()
    for part in (git.where.prefix, *settings.pages.include, "", *settings.pages.exclude, ""):
        hasher.update(part.encode("utf-8", "surrogateescape") + b"\0")
    for commit in sorted(ignored_revs(git.where)):
        hasher.update(commit.encode("utf-8", "surrogateescape") + b"\0")
    return hasher.hexdigest()[:16]


def open_cache(git: Git, settings: Settings, state: Path) -> HistoryCache:
    """The store of this vault's histories. ``state`` is memidx's folder in the git folder."""
    from memidx.stores.history import HistoryCache

    return HistoryCache(state, history_key(git, settings))


def read_history(git: Git, cache: HistoryCache, head: str, selector: Selector) -> History:
    """The history up to ``head``: from the cache, else from a known commit in its past on, else from the beginning.

    After a rewrite of history no known commit is in its past, and all of it is walked, once.
    """
    known = cache.load(head)
    if known is not None:
        return known
    base = _base(git, cache, head)
    traces: Traces = dict(base.traces) if base else {}
    walk = commits(git.runner, git.where, head, base.head if base else None, selector)
    trace(walk, traces, ignored_revs(git.where))
    # Of branches that ran side by side the walk came last to one of them; what was committed is what the tree says.
    for path, blob, _ in git.revision(head, selector).entries:
        found = traces.get(path)
        if found is None or found.blob != blob:
            traces[path] = Trace(blob, found.touches if found else ())
    history = History(head, traces)
    cache.save(history)
    return history


def _base(git: Git, cache: HistoryCache, head: str) -> History | None:
    for older in cache.heads():
        if is_ancestor(git.runner, older, head) and (found := cache.load(older)) is not None:
            return found
    return None
