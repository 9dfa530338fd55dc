"""Finding a page by what a person typed, and reading it as it is now."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.errors import UsageError
from memidx.ground.nearest import nearest
from memidx.ground.page import Page, PageRules, Section
from memidx.parsing.page import parse_page
from memidx.parsing.text import count_lines, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memidx.ground.listing import Entry, Listing
    from memidx.ground.settings import Settings
    from memidx.stores.git import Git

_LINE = re.compile(r"(.+):(\d{1,9})", re.DOTALL)


class Place(NamedTuple):
    """A page, and the line that was asked for."""

    entry: Entry
    line: int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as it is. With a line asked for, ``text`` has the section at it alone and ``data`` is None."""

    entry: Entry
    page: Page
    data: bytes | None  # the whole page, byte for byte
    text: str
    line: int
    end_line: int

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        page = self.page
        return {
            "path": page.path,
            "blob": self.entry.blob,
            "title": page.title,
            "kind": page.kind,
            "degraded": page.degraded,
            "meta": {name: _plain(value) for name, value in asdict(page.meta).items() if value not in (None, ())},
            "fields": [field._asdict() for field in page.fields],
            "sections": [_section_json(section) for section in page.sections],
            "diagnostics": [d._asdict() for d in page.diagnostics],
            "line": self.line,
            "end_line": self.end_line,
            "text": self.text,
        }


def show(spec: str, inside: str | None, listing: Listing, git: Git, settings: Settings) -> Shown:
    """The page that ``spec`` (``path`` or ``path:line``) means, read. Raises UsageError when there is none.

    ``inside`` is the current folder relative to the vault root, "" at the root and None outside it.
    """
    place = find(spec, inside, listing.entries)
    ((entry, data),) = git.read([place.entry])
    rules = PageRules(tuple(settings.pages.kinds.items()), settings.sections.max_chars)
    page = parse_page(entry.path, data, rules)
    text = decode(entry.path, data).text
    last = count_lines(text)
    if place.line is None:
        return Shown(entry, page, data, text, 1, last)
    if not 1 <= place.line <= last:
        raise UsageError(f"{entry.path}: there is no line {place.line}", hint=f"the page has {last} lines")
    section = section_at(page.sections, place.line)
    first, end = (section.line, section.end_line) if section else (1, page.sections[0].line - 1)
    lines = text.split("\n")[first - 1 : end]
    return Shown(entry, page, None, "\n".join(lines) + "\n", first, end)


def find(spec: str, inside: str | None, entries: Sequence[Entry]) -> Place:
    """A path relative to the current folder, else to the vault root; then the same with a ``:line`` taken off.

    So a page whose name ends in ``:12`` is found by its name. A name that differs only in its Unicode normal form is
    found too, when it is the only one.
    """
    by_path = {entry.path: entry for entry in entries}
    split = _LINE.fullmatch(spec)
    tries: list[tuple[str, int | None]] = [(spec, None)]
    if split:
        tries.append((split[1], int(split[2])))
    for name, line in tries:
        for path in _paths(name, inside):
            if path in by_path:
                return Place(by_path[path], line)
    for name, line in tries:
        for path in _paths(name, inside):
            same = [e for e in entries if _normal(e.path) == _normal(path)]
            if len(same) == 1:
                return Place(same[0], line)
    name = tries[-1][0]
    raise UsageError(f"there is no page '{name}'", hint=_near(name, inside, list(by_path)))


def section_at(sections: Sequence[Section], line: int) -> Section | None:
    """The last section that starts at or above ``line``; None above the first one (in the front-matter)."""
    above = [section for section in sections if section.line <= line]
    return max(above, key=lambda section: section.line) if above else None


def _paths(name: str, inside: str | None) -> Iterator[str]:
    name = name.replace(os.sep, "/")
    for base in dict.fromkeys([inside, ""]):
        if base is None:
            continue
        path = posixpath.normpath(posixpath.join(base, name))
        if not path.startswith(("../", "/")):
            yield path


def _normal(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _near(name: str, inside: str | None, paths: list[str]) -> str:
    asked = next(_paths(name, inside), name)
    found = nearest(asked, paths)
    by_name = {path.rsplit("/", 1)[-1]: path for path in paths}
    found += [by_name[n] for n in nearest(asked.rsplit("/", 1)[-1], by_name) if by_name[n] not in found]
    return f"did you mean {' or '.join(found[:3])}?" if found else "`memidx query WORDS` finds pages by what they say"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _section_json(section: Section) -> dict[str, Any]:
    return {
        "heading": list(section.heading),
        "anchor": section.anchor,
        "line": section.line,
        "end_line": section.end_line,
    }
