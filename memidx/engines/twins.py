"""Pages that get into each other's way: equal titles, equal ids, names that some file systems take for one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from memidx.engines.pagenames import normal
from memidx.ground.codes import finding
from memidx.ground.fold import fold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memidx.engines.facts import Facts
    from memidx.ground.diagnostics import Diagnostic

NAMED = 3
T = TypeVar("T")


def twin_findings(paths: Iterable[str]) -> Iterator[Diagnostic]:
    """Names that differ only in their Unicode form, or only in case. Each of them gets a finding."""
    for group in _groups(paths, lambda path: normal(path).casefold()):
        for path in group:
            same = [other for other in group if other != path and normal(other) == normal(path)]
            if same:
                message = f"there is another page of this name in another Unicode form: {same[0]!a}; remove one"
                yield finding("twin-normal", path, 0, 0, message)
            else:
                other = next(other for other in group if other != path)
                yield finding("twin-case", path, 0, 0, f"{other} differs only in case; rename one")


def duplicate_findings(pages: Sequence[Facts]) -> Iterator[Diagnostic]:
    """Titles and ids that several pages claim. A title that is only the file's name is no claim."""
    for group in _groups(pages, lambda page: fold_name(page.title) if page.title != page.stem() else ""):
        for page in group:
            message = f"{_others(page, group)} also has the title '{page.title}'"
            yield finding(
                "duplicate-title", page.path, page.lines.get("title", 0), 1 if "title" in page.lines else 0, message
            )
    for group in _groups(pages, lambda page: page.id):
        for page in group:
            message = f"{_others(page, group)} also has the id '{page.id}'"
            yield finding("duplicate-id", page.path, page.lines.get("id", 0), 1 if "id" in page.lines else 0, message)


def _groups(items: Iterable[T], key: Callable[[T], str]) -> Iterator[list[T]]:
    """Items whose keys are equal and not empty, two or more of them."""
    by_key: dict[str, list[T]] = {}
    for item in items:
        if name := key(item):
            by_key.setdefault(name, []).append(item)
    return (group for group in by_key.values() if len(group) > 1)


def _others(page: Facts, group: Sequence[Facts]) -> str:
    paths = [other.path for other in group if other.path != page.path]
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(paths[:NAMED]) + more
