"""What the check needs to know of one page. It is taken from the parsed page, or from a snapshot's catalog."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.fold import fold_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memidx.ground.diagnostics import Diagnostic
    from memidx.ground.page import Link, Page
    from memidx.stores.catalog import PageRow

# Places that an author made by hand: <a id="x">, <a name="x">, and the {#x} after a heading.
_OWN_ANCHOR = re.compile(rb"""<[^<>]*\b(?:id|name)=["']?([^\s"'>]+)|\{#([^\s}]+)\}""")


class Facts(NamedTuple):
    """One page. ``lines`` are those of its front-matter keys. ``anchors`` is None where the page was not read."""

    path: str
    title: str
    id: str
    aliases: tuple[str, ...]
    superseded_by: tuple[str, ...]
    expires_at: int | None
    links: tuple[Link, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    lines: Mapping[str, int] = {}
    anchors: frozenset[str] | None = None

    def stem(self) -> str:
        """The file's name without folder and ending."""
        return self.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]

    def names(self) -> set[str]:
        """The folded names that mean this page and no other: title, slug, id, aliases."""
        named = (self.title, self.stem(), self.id, *self.aliases)
        return {fold_name(name.encode("utf-8", "replace").decode()) for name in named if name.strip()}


def facts_of_page(page: Page, data: bytes) -> Facts:
    """Everything, from a page that was read. ``data`` are its bytes."""
    meta = page.meta
    lines: dict[str, int] = {}
    for field in page.fields:
        lines.setdefault(field.key.strip().lower().replace("-", "_"), field.line)
    own = {(a or b).decode("utf-8", "replace").casefold() for a, b in _OWN_ANCHOR.findall(data)}
    return Facts(
        page.path, page.title, meta.id or "", meta.aliases, meta.superseded_by, meta.expires_at, page.links,
        page.diagnostics, lines, frozenset(own | {heading.anchor.casefold() for heading in page.headings}),
    )  # fmt: skip


def facts_of_row(row: PageRow) -> Facts:
    """What other pages need to know of this one, from a catalog. No links, findings or anchors."""
    meta = row.meta
    listed = {key: tuple(meta.get(key) or ()) for key in ("aliases", "superseded_by")}
    return Facts(row.path, row.title, meta.get("id") or "", listed["aliases"], listed["superseded_by"], None)
