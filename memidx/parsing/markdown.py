"""The structure of a markdown body: its headings and its links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import pyromark

from memidx.ground.page import Heading, Link
from memidx.parsing.anchors import Anchors

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tables, because a row before a --- line is no heading; footnotes, because [^1]: text would be a link otherwise.
_MARKDOWN = pyromark.Markdown(
    options=pyromark.Options.ENABLE_WIKILINKS | pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_FOOTNOTES
)
_LINKS = frozenset({"Link", "Image"})
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")
_ROOTED = re.compile(r"/[^?#]*\.(?:md|markdown)(?:[?#]|\Z)", re.IGNORECASE)


class Mark(NamedTuple):
    """Where a heading stands in the body. Offsets are in bytes; the heading's lines are ``raw[start:end]``."""

    heading: Heading
    start: int
    end: int
    end_line: int


class Outline(NamedTuple):
    """Headings and links in the order of the document. ``raw`` is the body in UTF-8."""

    raw: bytes
    marks: tuple[Mark, ...]
    links: tuple[Link, ...]


def read_outline(body: str, first_line: int) -> Outline:
    """Read a body whose first line is ``first_line`` of the file.

    Headings count wherever CommonMark sees one, also in list items (outliners write them so), but not inside a block
    quote: what follows the quote does not belong under a heading of the quoted text.
    """
    raw = body.encode()
    reader = _Reader(raw, first_line)
    reader.run(_MARKDOWN.events_with_range(body, merge_text=True))
    return Outline(raw, tuple(reader.marks), tuple(reader.links))


_Target = tuple[str, str, str, bool, int, int]  # form, target, anchor, has a label, line, column


class _Reader:
    def __init__(self, raw: bytes, first_line: int) -> None:
        self.raw = raw
        self.place = _Place(raw, first_line)
        self.anchors = Anchors()
        self.marks: list[Mark] = []
        self.links: list[Link] = []
        self.quotes = 0
        self.open = 0  # headings, links and wiki embeds around the current event
        self.words: list[str] = []  # the text inside them
        self.link: _Target | None = None  # the outermost one
        self.label_start = 0  # where its label starts in ``words``
        self.link_depth = 0
        self.heading_line = 0
        self.formula_end = 0  # where the ``$$`` formula ends that a heading was found in

    def run(self, events: Iterator[tuple[Any, Any]]) -> None:
        """One pass over the events. Most are of no interest, so the tests stand in order of frequency and cost."""
        for event, span in events:
            if "Text" in event:
                if self.open:
                    self.words.append(event["Text"])
            elif "Start" in event:
                tag = event["Start"]
                if type(tag) is dict:
                    self._start(tag, span["start"])
            elif "End" in event:
                self._end(event["End"], span)
            elif self.open:
                # A line break is a bare string and counts as a space.
                self.words.append(event.get("Code", "") if type(event) is dict else " ")

    def _start(self, tag: dict[str, Any], start: int) -> None:
        if "Link" in tag or "Image" in tag:
            self.link_depth += 1
            if self.link is None:
                link = self._read_link(tag, start)
                if link is not None:
                    self.link, self.label_start = link, len(self.words)
                    self.link_depth = 1
                    self.open += 1
        elif "Heading" in tag:
            if not self.quotes:
                self.open += 1
                self.words.clear()
                self.heading_line = self.place.line(start)  # now: a link further down in it moves the place on
        elif "BlockQuote" in tag:
            self.quotes += 1

    def _end(self, tag: str | dict[str, Any], span: dict[str, int]) -> None:
        if isinstance(tag, str):
            if tag in _LINKS:
                self._end_link()
        elif "Heading" in tag:
            if not self.quotes:
                self._heading(int(tag["Heading"][1]), span)
        elif "BlockQuote" in tag:
            self.quotes -= 1

    def _end_link(self) -> None:
        self.link_depth -= 1
        if self.link is None or self.link_depth:
            return
        form, target, anchor, labelled, line, col = self.link
        label = "".join(self.words[self.label_start :]).strip() if labelled else ""
        self.links.append(Link(form, target, anchor, label, line, col))
        self.link = None
        self.open -= 1
        if not self.open:
            self.words.clear()

    def _heading(self, level: int, span: dict[str, int]) -> None:
        text = " ".join("".join(self.words).split())
        self.open -= 1
        self.words.clear()
        if self._is_formula(span["start"], span["end"]):
            return
        start = self.raw.rfind(b"\n", 0, span["start"]) + 1
        newline = self.raw.find(b"\n", max(span["start"], span["end"] - 1))
        end = len(self.raw) if newline < 0 else newline + 1
        line = self.heading_line
        end_line = line + self.raw.count(b"\n", start, end - 1)
        self.marks.append(Mark(Heading(level, text, self.anchors.take(text), line), start, end, end_line))

    def _is_formula(self, start: int, end: int) -> bool:
        """Whether a heading is part of a ``$$`` formula: a line of ``=`` or ``-`` alone is common in them."""
        if start < self.formula_end:
            return True
        if self.raw.startswith(b"#", start) or self.raw.count(b"$$", start, end) % 2 == 0:
            return False
        self.formula_end = self.raw.find(b"$$", end)
        return self.formula_end >= 0

    def _read_link(self, tag: dict[str, Any], start: int) -> _Target | None:
        about = tag.get("Link") or tag["Image"]
        form = about["link_type"]
        target: str = about["dest_url"]
        if _SCHEME.match(target):
            return None
        if type(form) is dict:
            labelled: bool = form["WikiLink"]["has_pothole"]
            # Inside a table the bar is escaped: [[page\|label]].
            page, _, anchor = (target.removesuffix("\\") if labelled else target).partition("#")
            return "wiki", page.strip(), anchor.strip(), labelled, *self.place.at(start)
        if "Image" in tag or form in ("Autolink", "Email") or not target:
            return None
        if target[0] == "/" and not _ROOTED.match(target):
            return None
        page, _, anchor = target.partition("#")
        page = page.partition("?")[0]
        if "%" in target:
            page, anchor = unquote(page), unquote(anchor)
        return "relative", page, anchor, True, *self.place.at(start)


class _Place:
    """Turns growing byte offsets into lines and columns. Each byte is looked at once, so that all of it is linear."""

    def __init__(self, raw: bytes, line: int) -> None:
        self._raw = raw
        self._line = line
        self._seen = 0  # the line is known up to here
        self._col = 1
        self._col_seen = 0  # the column is known up to here, on the same line

    def line(self, offset: int) -> int:
        if offset > self._seen:
            last = self._raw.rfind(b"\n", self._seen, offset)
            if last >= 0:
                self._line += self._raw.count(b"\n", self._seen, last + 1)
                self._col, self._col_seen = 1, last + 1
            self._seen = offset
        return self._line

    def at(self, offset: int) -> tuple[int, int]:
        line = self.line(offset)
        if offset > self._col_seen:
            self._col += len(self._raw[self._col_seen : offset].decode("utf-8", "replace"))
            self._col_seen = offset
        return line, self._col
