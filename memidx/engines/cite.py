"""A citation, looked up: the text as it was, and whether it still says so."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memidx.engines.show import find, section_at
from memidx.ground.citation import SHORT, Citation
from memidx.ground.errors import UsageError
from memidx.ground.page import PageRules
from memidx.parsing.page import parse_page
from memidx.parsing.text import count_lines, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memidx.ground.listing import Entry, Listing
    from memidx.ground.page import Section
    from memidx.ground.settings import Settings
    from memidx.stores.git import Git


@dataclass(frozen=True, slots=True)
class Cited:
    """The text that a citation names, and what became of it.

    ``state`` is same; moved (the same text, at another line or on another page); changed; or gone (the page is no
    more). ``now_path`` and ``now_line`` say where it is; where it has changed, where its section is. ``diff`` leads
    from the cited text to the present one, as unified diff lines.
    """

    citation: str  # with the full commit
    path: str
    commit: str
    line: int
    end_line: int
    text: str
    state: str
    now_path: str | None
    now_line: int | None
    diff: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {name: getattr(self, name) for name in self.__slots__} | {"diff": list(self.diff)}


def cite(citation: Citation, inside: str | None, then: Listing, now: Listing, *, git: Git, settings: Settings) -> Cited:
    """Look up. ``then`` is the listing of the citation's commit, ``now`` that of the working tree.

    Raises UsageError when the commit has no such page or line.
    """
    entry = find(citation.path, inside, then.entries).entry
    old, sections = _read(git, entry, settings)
    line, end = _lines(citation, entry, old, sections)
    text = "\n".join(old[line - 1 : end])
    commit = then.source.removeprefix("rev:")
    short = Citation(entry.path, line, end if citation.end is not None else None, commit[:SHORT])

    def made(state: str, path: str | None, at: int | None, diff: Sequence[str] = ()) -> Cited:
        return Cited(str(short), entry.path, commit, line, end, text + "\n", state, path, at, tuple(diff))

    present = {e.path: e for e in now.entries}
    if entry.path in present and present[entry.path].blob == entry.blob:
        return made("same", entry.path, line)
    candidates = [present[entry.path]] if entry.path in present else []
    candidates += [e for e in now.entries if e.blob == entry.blob and e.path != entry.path]
    for candidate in candidates:
        lines, _ = _read(git, candidate, settings)
        if found := _same(old[line - 1 : end], lines, line):
            same_place = candidate.path == entry.path and found == line
            return made("same" if same_place else "moved", candidate.path, found)
    if entry.path not in present:
        return made("gone", None, None)
    lines, new_sections = _read(git, present[entry.path], settings)
    first, last = _successor(sections, new_sections, line, len(lines), citation)
    diff = difflib.unified_diff(
        old[line - 1 : end], lines[first - 1 : last], str(short), f"{entry.path}:{first}", lineterm=""
    )
    return made("changed", entry.path, first, list(diff))


def _read(git: Git, entry: Entry, settings: Settings) -> tuple[list[str], tuple[Section, ...]]:
    ((_, data),) = git.read([entry])
    rules = PageRules(tuple(settings.pages.kinds.items()), settings.sections.max_chars)
    text = decode(entry.path, data).text
    return text.split("\n")[: count_lines(text)], parse_page(entry.path, data, rules).sections


def _lines(citation: Citation, entry: Entry, lines: Sequence[str], sections: Sequence[Section]) -> tuple[int, int]:
    """The first and last line that are meant."""
    if citation.line is None:
        return 1, len(lines)
    if citation.line > len(lines) or (citation.end or 0) > len(lines):
        raise UsageError(
            f"{entry.path}@{citation.rev}: there is no line {citation.end or citation.line}",
            hint=f"the page had {len(lines)} lines then",
        )
    if citation.end is not None:
        return citation.line, citation.end
    section = section_at(sections, citation.line)
    return (section.line, section.end_line) if section else (1, max(sections[0].line - 1, 1))


def _same(wanted: Sequence[str], lines: Sequence[str], near: int) -> int | None:
    """The line, from 1, at which these lines stand one after the other; of several the nearest to ``near``."""
    size = len(wanted)
    places = [
        at
        for at in range(len(lines) - size + 1)
        if lines[at] == wanted[0] and list(lines[at : at + size]) == list(wanted)
    ]
    return min((at + 1 for at in places), key=lambda at: abs(at - near), default=None)


def _successor(
    old: Sequence[Section], new: Sequence[Section], line: int, length: int, citation: Citation
) -> tuple[int, int]:
    """The present lines of what was cited: the section with the same heading, else the one at that line."""
    if citation.line is None:
        return 1, length
    cited = section_at(old, line)
    twins = [s for s in new if cited and s.anchor == cited.anchor and s.heading == cited.heading]
    section = min(twins, key=lambda s: abs(s.line - line), default=None) or section_at(new, min(line, length))
    return (section.line, section.end_line) if section else (1, length)
