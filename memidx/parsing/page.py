"""A page's path and bytes, read as far as they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.ground.codes import DEGRADING, finding
from memidx.ground.page import Page, PageRules, Section
from memidx.parsing.conflicts import conflict_markers, may_conflict
from memidx.parsing.frontmatter import read_front_matter
from memidx.parsing.kinds import NOTE, kind_from_path
from memidx.parsing.markdown import Mark, Outline, read_outline
from memidx.parsing.meta import read_meta
from memidx.parsing.sections import cut, make_sections
from memidx.parsing.text import count_lines, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memidx.ground.diagnostics import Diagnostic

_DEFAULT_RULES = PageRules()
_SUFFIXES = (".md", ".markdown")


def parse_page(path: str, data: bytes, rules: PageRules = _DEFAULT_RULES) -> Page:
    """Read one page. Pure, linear in the size of ``data``, and it never raises: findings say what could not be read.

    ``path`` is relative to the vault root, with ``/``. Front-matter that cannot be used gives no fields; its text is
    kept as a first section, so that nothing an author wrote is lost to search.
    """
    text, notes = decode(path, data)
    front = read_front_matter(path, text)
    meta, meta_notes = read_meta(path, front.entries, rules.kinds)
    outline, gave_up = _outline(path, text[front.body :] if front.body else text, front.body_line)
    title = _title(path, meta.title, outline)
    is_title = _title_marks(title, outline)

    sections = [Section((), "", *piece) for piece in cut(front.unread, 2, rules.max_chars)]
    sections += make_sections(outline.raw, outline.marks, is_title, front.body_line, rules.max_chars)
    if not sections:
        sections.append(_bare_section(text, front.body_line, outline))

    conflicts = conflict_markers(text.split("\n"), path) if may_conflict(text) else ()
    found = [*notes, *front.notes, *meta_notes, *gave_up, *conflicts]
    degraded = any(note.code in DEGRADING for note in found)
    if any(note.line < front.body_line for note in conflicts):
        # The conflict is why the block cannot be read. One cause, one finding.
        found = [note for note in found if note.code != "front-matter-yaml"]
    return Page(
        path=path,
        title=title,
        kind=kind_from_path(path, rules.kinds) or meta.kind or NOTE,
        meta=meta,
        fields=front.fields(),
        sections=tuple(sections),
        links=outline.links,
        diagnostics=tuple(sorted(found, key=lambda note: note[1:3])),
        degraded=degraded,
        body_line=front.body_line,
        headings=tuple(mark.heading for mark in outline.marks),
    )


def _outline(path: str, body: str, first_line: int) -> tuple[Outline, Sequence[Diagnostic]]:
    try:
        return read_outline(body, first_line), ()
    except BaseException as error:
        # A panic of the Rust parser arrives as a BaseException of a class that cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        message = "the markdown parser failed on this page; its text is indexed without headings and links"
        return Outline(body.encode(), (), ()), [finding("markdown-unread", path, 0, 0, message)]


def _title(path: str, declared: str | None, outline: Outline) -> str:
    """From the front-matter, else the first level-1 heading, else the heading the page opens with, else the name."""
    if declared:
        return declared
    marks = [mark for mark in outline.marks if mark.heading.text]
    top = next((mark for mark in marks if mark.heading.level == 1), None)
    if top is None and marks and not outline.raw[: marks[0].start].strip():
        top = marks[0]
    if top is not None:
        return top.heading.text
    name = path.rsplit("/", 1)[-1]
    stem = next((name[: -len(end)] for end in _SUFFIXES if name.lower().endswith(end)), name) or name
    # Bytes of a name that are not UTF-8 travel as surrogates. A title is text that people and indexes can take.
    return stem.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not stem.isascii() else stem


def _title_marks(title: str, outline: Outline) -> list[bool]:
    """For each heading, whether it repeats the page's title: at level 1, or as the heading the page opens with."""
    wanted = " ".join(title.split())
    opens = bool(outline.marks) and not outline.raw[: outline.marks[0].start].strip()
    return [
        mark.heading.text == wanted and (mark.heading.level == 1 or (index == 0 and opens))
        for index, mark in enumerate(outline.marks)
    ]


def _bare_section(text: str, body_line: int, outline: Outline) -> Section:
    """The one section of a page without text, so that it can be found by its title."""
    if outline.marks:
        mark: Mark = outline.marks[0]
        return Section((), mark.heading.anchor, "", mark.heading.line, mark.end_line)
    line = min(body_line, count_lines(text))
    return Section((), "", "", line, line)
