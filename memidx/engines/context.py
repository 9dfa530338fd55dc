"""The best sections for a question, packed into a budget: what an agent should read before it answers."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines.ranking import make_form
from memidx.ground.authority import RULE
from memidx.ground.citation import cite
from memidx.ground.fusion import TITLE, Form, fuse, fused_score
from memidx.ground.tokencount import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memidx.engines.ranking import Candidate, Ranking
    from memidx.engines.snapshot import Snapshot
    from memidx.ground.hits import Freshness
    from memidx.ground.settings import Settings
    from memidx.stores.catalog import SectionRow

PAGES = 24  # looked at; a budget that takes more sections than they have is better spent on reading pages
LEAST_SHARE = 0.35  # of the best section's value; less relevant sections are left out whatever room there is
LARGEST_SHARE = 0.6  # of the budget that one section may take before it is cut down to its best piece
LEAST_CUT = 40  # tokens; a piece that must be cut shorter says nothing
SHORT = 60  # tokens; a shorter section counts for less
MOST_PIECES = 4  # of about 1,500 characters; a longer section is not put together again
LINKS_SHARE, LINKS_VALUE = 0.4, 0.5  # a section with more links than that counts for so much less
_LINK = re.compile(r"`[^`\s]*/[^`\s]*`|\[\[[^\]\n]+\]\]|\[[^\]\n]*\]\([^)\n]*\)|https?://\S+")
PIECES = ("\n\n", "\n", ". ", " ")


class Passage(NamedTuple):
    """A section chosen for a question: where it stands, what it says, and how much of it is here.

    ``value`` is relative to the best one. ``cut`` says that ``text`` is not the whole section.
    """

    path: str
    title: str
    kind: str
    heading: tuple[str, ...]
    line: int
    end_line: int
    citation: str
    text: str
    tokens: int
    value: float
    cut: bool

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {"heading": list(self.heading)}


class LeftOut(NamedTuple):
    """A relevant section that is not in the context, and why: no room, or the same text is there already."""

    path: str
    title: str
    heading: tuple[str, ...]
    line: int
    citation: str
    tokens: int
    why: str

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return self._asdict() | {"heading": list(self.heading)}


@dataclass(frozen=True, slots=True)
class Context:
    """What `context` returns. ``tokens`` is the estimate for everything that is printed, and at most ``budget``."""

    question: str
    budget: int
    tokens: int
    snapshot: str
    fresh: Freshness
    commit: str | None
    passages: tuple[Passage, ...]
    left_out: tuple[LeftOut, ...]
    more_left_out: int = 0  # relevant sections that there was not even room to name
    degraded: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {
            "question": self.question,
            "budget": self.budget,
            "tokens": self.tokens,
            "snapshot": self.snapshot,
            "fresh": self.fresh,
            "commit": self.commit,
            "degraded": list(self.degraded),
            "passages": [p.as_json() for p in self.passages],
            "left_out": [p.as_json() for p in self.left_out],
            "more_left_out": self.more_left_out,
        }


class Unit(NamedTuple):
    """A section as its author wrote it, put together again from the pieces it is indexed by."""

    page: Candidate
    rows: tuple[SectionRow, ...]
    best: int  # place in ``rows`` of the piece that matches best
    value: float


def units(snapshot: Snapshot, ranking: Ranking, settings: Settings) -> list[Unit]:
    """The sections that match, the best first. A section's value is its page's match and authority times its own
    share of the page's best match, relative to the best of all; in (0, 1].
    """
    form = make_form(settings, ranking.found)
    scores = _section_scores(ranking, form)
    most = math.fsum(form.weights.values())  # an exact title decides more than it says
    found: list[Unit] = []
    for candidate in ranking.candidates[:PAGES]:
        strength = min(candidate.fused, most) * candidate.authority.value
        rows = snapshot.catalog.sections_of(candidate.page.id)
        best = max((scores.get(row.id, 0.0) for row in rows), default=0.0)
        if not rows or strength <= 0:
            continue
        for pieces in _written(rows):
            values = [scores.get(row.id, 0.0) / best if best else float(row is rows[0]) for row in pieces]
            if max(values) > 0:
                found.append(Unit(candidate, pieces, values.index(max(values)), strength * max(values)))
    if found:
        texts = snapshot.lexical.texts(row.id for unit in found for row in unit.rows)
        found = [u._replace(value=u.value * substance([texts.get(r.id, "") for r in u.rows])) for u in found]
    top = max((unit.value for unit in found), default=1.0)
    ordered = sorted(found, key=lambda u: -u.value)  # stable: of equals the better page, then the earlier section
    return [unit._replace(value=unit.value / top) for unit in ordered if unit.value / top >= LEAST_SHARE]


def _written(rows: Sequence[SectionRow]) -> Iterator[tuple[SectionRow, ...]]:
    """The sections of a page as their author wrote them; of one that is too long each piece by itself."""
    for _, group in groupby(rows, key=lambda row: (row.heading, row.anchor)):
        pieces = tuple(group)
        if len(pieces) <= MOST_PIECES:
            yield pieces
        else:
            yield from ((piece,) for piece in pieces)


def substance(texts: Sequence[str]) -> float:
    """In [0, 1]: how much a section can say. BM25 likes short texts, and a page's title counts for each of its
    sections: without this, "Date" and "See also" of the right page come before what the page says.

    The square root of its length over SHORT tokens, at most 1; half of that when most of it is links.
    """
    words = "".join("".join(text.split()) for text in texts)
    linked = sum(len("".join(m[0].split())) for text in texts for m in _LINK.finditer(text))
    length = min(1.0, math.sqrt(sum(map(estimate_tokens, texts)) / SHORT))
    return length * (LINKS_VALUE if linked > LINKS_SHARE * len(words) else 1.0)


def _section_scores(ranking: Ranking, form: Form) -> dict[int, float]:
    """What the streams that read sections say of each, together."""
    read = {name: [(s.section, s.score) for s in f.sections] for name, f in ranking.found.items() if name != TITLE}
    fused = fuse(read, form)
    return {section: score for section, shares in fused.items() if (score := fused_score(shares)) > 0}


def pack(
    found: Sequence[Unit],
    texts: Callable[[Iterable[int]], Mapping[int, str]],
    commits: Mapping[str, str | None],
    budget: int,
    cost: Callable[[Passage], int],
) -> tuple[list[Passage], list[LeftOut]]:
    """Take sections while they fit: rules first, then by value. ``cost`` is what a passage takes when it is printed.

    ``commits`` says by path which commit holds the page as it is. Whole sections where they fit; one that would take
    most of the budget comes down to its best piece, and a piece that is still too long is cut between paragraphs,
    lines or sentences. A text that is in the context already does not come again.
    """
    passages: list[Passage] = []
    left: list[LeftOut] = []
    seen: list[str] = []
    room = budget
    for unit in sorted(found, key=lambda u: u.page.page.kind != RULE):
        whole = _passage(unit, unit.rows, texts, commits)
        bare = " ".join(whole.text.split())
        if not bare:
            continue
        if any(bare in other for other in seen):
            left.append(_left(whole, "the same text is there already"))
            continue
        chosen = _fitting(unit, whole, texts, commits, room=room, budget=budget, cost=cost)
        if chosen is None:
            left.append(_left(whole, "no room"))
            continue
        passages.append(chosen)
        seen.append(" ".join(chosen.text.split()))
        room -= chosen.tokens
    return _by_page(_without_nested(passages)), left


def _fitting(
    unit: Unit,
    whole: Passage,
    texts: Callable[[Iterable[int]], Mapping[int, str]],
    commits: Mapping[str, str | None],
    *,
    room: int,
    budget: int,
    cost: Callable[[Passage], int],
) -> Passage | None:
    """The whole section, its best piece, or the beginning of that; None when there is no room even for this."""
    tokens = cost(whole)
    if tokens <= min(room, max(budget * LARGEST_SHARE, 1)):
        return whole._replace(tokens=tokens)
    piece = _passage(unit, unit.rows[unit.best : unit.best + 1], texts, commits)
    if len(unit.rows) > 1:
        piece = piece._replace(cut=True)
    tokens = cost(piece)
    if tokens <= room:
        return piece._replace(tokens=tokens)
    shorter = _cut(piece, room, cost)
    return shorter if shorter is not None and estimate_tokens(shorter.text) >= LEAST_CUT else None


def _cut(piece: Passage, room: int, cost: Callable[[Passage], int]) -> Passage | None:
    """As many whole paragraphs from the beginning as fit; else lines, else sentences, else words."""
    for mark in PIECES:
        parts = piece.text.split(mark)
        low, high = 0, len(parts)
        while low < high:  # cost grows with the number of parts
            middle = (low + high + 1) // 2
            if cost(_shortened(piece, mark.join(parts[:middle]))) <= room:
                low = middle
            else:
                high = middle - 1
        if low:
            shorter = _shortened(piece, mark.join(parts[:low]))
            if estimate_tokens(shorter.text) >= LEAST_CUT:
                return shorter._replace(tokens=cost(shorter))
    return None


def _shortened(piece: Passage, text: str) -> Passage:
    kept = text.rstrip()
    return piece._replace(text=kept + " …", end_line=piece.line + kept.count("\n"), cut=True)


def _passage(
    unit: Unit,
    rows: Sequence[SectionRow],
    texts: Callable[[Iterable[int]], Mapping[int, str]],
    commits: Mapping[str, str | None],
) -> Passage:
    page = unit.page.page
    found = texts([row.id for row in rows])
    text = "\n\n".join(found.get(row.id, "").strip("\n") for row in rows)
    return Passage(
        path=page.path,
        title=page.title,
        kind=page.kind,
        heading=rows[0].heading,
        line=rows[0].line,
        end_line=rows[-1].end_line,
        citation=cite(page.path, rows[0].line, commits.get(page.path)),
        text=text,
        tokens=0,
        value=round(unit.value, 4),
        cut=False,
    )


def _left(passage: Passage, why: str) -> LeftOut:
    tokens = estimate_tokens(passage.text)
    return LeftOut(*passage[:2], passage.heading, passage.line, passage.citation, tokens, why)


def _without_nested(passages: Sequence[Passage]) -> list[Passage]:
    """Without those whose whole text a later, longer one holds."""
    bare = [" ".join(p.text.split()) for p in passages]
    return [p for at, p in enumerate(passages) if not any(bare[at] in later for later in bare[at + 1 :])]


def _by_page(passages: Sequence[Passage]) -> list[Passage]:
    """Sections of one page together and in its order; the pages by their best section, rules first."""
    first: dict[str, int] = {}
    for at, passage in enumerate(passages):
        first.setdefault(passage.path, at)
    return sorted(passages, key=lambda p: (first[p.path], p.line))
