"""Pages by when they changed, with what changed: the commit, and the sections that are new, other or gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.errors import GitError
from memidx.ground.listing import Entry, path_key
from memidx.ground.page import PageRules
from memidx.parsing.page import parse_page
from memidx.stores.git.changes import LastChange, blobs_at, last_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memidx.ground.page import Page
    from memidx.ground.settings import Settings
    from memidx.stores.catalog import PageRow
    from memidx.stores.git import Git, Selector

UNCOMMITTED = LastChange("", 0, "", "", "", "")


class Recent(NamedTuple):
    """A page and its last change. ``what`` is new, changed, uncommitted or unknown.

    Sections are named by their heading path, "" for the text before the first heading.
    """

    path: str
    title: str
    kind: str
    changed_at: int | None  # seconds since the epoch
    dated_by: str  # page (its front-matter), history, uncommitted, or "" when unknown
    what: str
    commit: str
    author: str
    subject: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {name: list(getattr(self, name)) for name in ("added", "changed", "removed")}


def newest(
    rows: Iterable[PageRow],
    changed: Callable[[PageRow], tuple[int | None, str]],
    *,
    since: float | None,
    until: float | None,
    limit: int,
) -> list[tuple[PageRow, int, str]]:
    """(page, changed-at, who says so) of pages that changed in the period, the last one first. Undated ones are out."""
    dated = ((row, *changed(row)) for row in rows)
    found = [
        (row, at, by)
        for row, at, by in dated
        if at is not None and (since is None or at >= since) and (until is None or at <= until)
    ]
    return sorted(found, key=lambda r: (-r[1], path_key(r[0].path)))[:limit]


def recent(
    git: Git,
    pages: Sequence[tuple[PageRow, int, str]],
    entries: Mapping[str, Entry],
    settings: Settings,
    *,
    selector: Selector,
    bulk: float,
) -> list[Recent]:
    """The last change of each of these pages. ``entries`` are the pages of the working tree, by path.

    Where an old text is not here (a partial or shallow clone) the change is told without its sections.
    """
    head = git.commit_of_head()
    committed = blobs_at(git.runner, git.where, head, [row.path for row, _, _ in pages]) if head else {}
    dirty = {row.path for row, _, _ in pages if committed.get(row.path) != row.blob}
    clean = [row.path for row, _, _ in pages if row.path not in dirty]
    changes: dict[str, LastChange] = {}
    if head:
        changes = last_changes(git.runner, git.where, head, clean, selector=selector, bulk=bulk)
    for row, _, _ in pages:
        if row.path in dirty:
            changes[row.path] = UNCOMMITTED._replace(old=committed.get(row.path, ""), new=row.blob)
    parsed = _read(git, changes, entries, settings)
    found = []
    for row, at, by in pages:
        change = changes.get(row.path)
        what = (
            "uncommitted" if row.path in dirty else "unknown" if change is None else "changed" if change.old else "new"
        )
        old, new = (parsed.get(getattr(change, side, "")) for side in ("old", "new"))
        diff = section_diff(old, new) if new is not None and (old is not None or not change or not change.old) else NONE
        said = change or UNCOMMITTED
        found.append(Recent(row.path, row.title, row.kind, at, by, what, said.commit, said.author, said.subject, *diff))
    return found


def _read(
    git: Git, changes: Mapping[str, LastChange], entries: Mapping[str, Entry], settings: Settings
) -> dict[str, Page]:
    """The texts before and after, parsed, by blob."""
    rules = PageRules(tuple(settings.pages.kinds.items()), settings.sections.max_chars)
    asked: dict[str, Entry] = {}
    for path, change in changes.items():
        entry = entries.get(path)
        for blob in (change.old, change.new):
            if blob:
                asked[blob] = entry if entry and entry.blob == blob else Entry(path, blob)
    found = {}
    for entry in asked.values():
        try:
            for _, data in git.read([entry]) if entry.origin == "disk" else ():
                found[entry.blob] = parse_page(entry.path, data, rules)
        except GitError:  # it changes while we look
            continue
    objects = [entry for entry in asked.values() if entry.origin == "object"]
    try:
        for entry, data in git.read(objects):
            found[entry.blob] = parse_page(entry.path, data, rules)
    except GitError:  # an object is not in this clone: the rest is told without sections
        return found
    return found


NONE: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]] = ((), (), ())


def section_diff(old: Page | None, new: Page) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Heading paths of sections that are added, changed and removed, in the order of the page they are on."""
    before, after = _texts(old) if old else {}, _texts(new)
    added = tuple(name for name in after if name not in before)
    changed = tuple(name for name, text in after.items() if name in before and before[name] != text)
    return added, changed, tuple(name for name in before if name not in after)


def _texts(page: Page) -> dict[str, str]:
    found: dict[str, str] = {}
    for section in page.sections:
        name = " > ".join(section.heading)
        found[name] = found.get(name, "") + "\n" + " ".join(section.text.split())
    return {name: text for name, text in found.items() if name or text.strip()}
