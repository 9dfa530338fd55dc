"""Links between pages: broken, ambiguous, and to a heading that is not there."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Protocol

from memidx.engines.pagenames import PageNames, normal
from memidx.engines.references import resolve
from memidx.ground.codes import finding
from memidx.parsing.anchors import slug

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memidx.engines.facts import Facts
    from memidx.ground.diagnostics import Diagnostic
    from memidx.ground.page import Link

NAMED = 4  # pages that one message names
_LINE_ANCHOR = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")  # #L10-L20: a place in the source, as forges have it


class Files(Protocol):
    """The files of the vault that are no pages: pictures, code, folders."""

    def has(self, path: str) -> bool:
        """Whether there is a file or a folder at this vault-relative path."""
        ...

    def has_name(self, name: str) -> bool:
        """Whether any file has this name, in whichever folder."""
        ...


class Links:
    """Looks at the links of pages. ``anchors_of`` reads the anchors of a page that is known by name only."""

    def __init__(self, names: PageNames, files: Files, anchors_of: Callable[[int], frozenset[str]]) -> None:
        self._names = names
        self._files = files
        self._anchors_of = anchors_of

    def findings(self, number: int) -> Iterator[Diagnostic]:
        """What is wrong with the links of the page with this number."""
        page = self._names.pages[number]
        for link in page.links:
            if "{{" in link.target or "{{" in link.anchor:
                continue  # the page is a template
            found: tuple[int, ...] | None = (number,)
            if link.target:
                found = self._wiki(page, link) if link.form == "wiki" else self._relative(page, link)
            if found is None:
                continue
            if len(found) == 1:
                if link.anchor and not self._has_anchor(found[0], link.anchor):
                    where = self._names.pages[found[0]].path if found[0] != number else "this page"
                    message = f"{where} has no heading '{link.anchor}'"
                    yield finding("link-anchor", page.path, link.line, link.col, message)
            elif found:
                paths = sorted(self._names.pages[other].path for other in found)
                more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
                message = f"'{link.target}' may mean {', '.join(paths[:NAMED])}{more}; write its path"
                yield finding("link-ambiguous", page.path, link.line, link.col, message)
            else:
                message = f"'{link.target}' is no page and no file of this vault"
                yield finding("link-broken", page.path, link.line, link.col, message)

    def _wiki(self, page: Facts, link: Link) -> tuple[int, ...] | None:
        """Numbers of the pages that the link may mean; None when it means something that is no page."""
        target = link.target.removeprefix("/")
        found = resolve(self._names, target, page.path).pages
        if len(found) > 1 and "/" in target:
            end = "/" + normal(target).removesuffix(".md")
            found = (
                tuple(n for n in found if ("/" + normal(self._names.pages[n].path)).rsplit(".", 1)[0].endswith(end))
                or found
            )
        if found:
            return found
        outside = posixpath.normpath(posixpath.join(posixpath.dirname(page.path), target)).startswith("..")
        if outside or self._files.has_name(target.rsplit("/", 1)[-1]):
            return None
        return None if self._has_file(page.path, target) else ()

    def _relative(self, page: Facts, link: Link) -> tuple[int, ...] | None:
        base = "" if link.target.startswith("/") else posixpath.dirname(page.path)
        path = posixpath.normpath(posixpath.join(base, link.target.lstrip("/")))
        if path.startswith(".."):
            return None  # outside the vault, where nothing is looked up
        for end in ("", ".md", ".markdown"):
            if found := self._names.page_ids([path + end]):
                return tuple(found.values())
        # Some tools write paths from the top without the slash.
        if found := self._names.page_ids([posixpath.normpath(link.target)]):
            return tuple(found.values())
        return None if self._has_file(page.path, link.target) else ()

    def _has_file(self, origin: str, target: str) -> bool:
        folder = posixpath.dirname(origin)
        paths = (posixpath.normpath(posixpath.join(base, target.lstrip("/"))) for base in (folder, ""))
        return any(path == "." or self._files.has(path) for path in paths if not path.startswith(".."))

    def _has_anchor(self, number: int, anchor: str) -> bool:
        last = anchor.rsplit("#", 1)[-1].strip()  # [[page#heading#heading below it]]
        if not last or last.startswith("^") or last.lower() == "top" or _LINE_ANCHOR.fullmatch(last):
            return True
        known = self._names.pages[number].anchors
        if known is None:
            known = self._anchors_of(number)
        return last.casefold() in known or slug(last).casefold() in known
