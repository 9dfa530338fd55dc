"""What a page, or one of its sections, is about, as a question: its most telling words and its own vector."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from memidx.engines.related import MOST_SECTIONS
from memidx.ground.errors import UsageError
from memidx.ground.query import ParsedQuery

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memidx.engines.snapshot import Snapshot
    from memidx.stores.catalog import PageRow, SectionRow

WORDS = 25  # as many as Lucene's MoreLikeThis takes


class Subject(NamedTuple):
    """What to look for in place of a typed question, and the page that it comes from, which is no answer."""

    parsed: ParsedQuery
    vector: NDArray[np.float32] | None  # unit length; None without a model, or when the text has no direction
    page: int


def subject(snapshot: Snapshot, page: PageRow, line: int | None) -> Subject:
    """What the page is about; with ``line``, the section in which that line of its file stands.

    Raises UsageError when there is no text to compare.
    """
    sections = snapshot.catalog.sections_of(page.id)
    chosen = sections[:MOST_SECTIONS] if line is None else _at(sections, line)
    texts = snapshot.lexical.texts([section.id for section in chosen])
    text = "\n".join([page.title, *(" ".join(s.heading) for s in chosen), *texts.values()])
    words = snapshot.lexical.telling(text, WORDS)
    if not words:
        raise UsageError(f"{page.path} has no words to compare", hint="name a page with some text")
    return Subject(ParsedQuery(text=" ".join(words), terms=tuple(words)), _mean(snapshot, chosen), page.id)


def _at(sections: list[SectionRow], line: int) -> list[SectionRow]:
    """The section that holds a line, else the last one before it, else the first."""
    before = [section for section in sections if section.line <= line]
    return before[-1:] or sections[:1]


def _mean(snapshot: Snapshot, sections: list[SectionRow]) -> NDArray[np.float32] | None:
    rows = [section.vector for section in sections if section.vector is not None]
    if not rows or not snapshot.manifest.vectors.get("dimension"):
        return None
    return snapshot.vectors.mean(rows)
