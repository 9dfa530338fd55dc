"""An answer as text: what a person reads in a terminal, within 80 columns where the words allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from memidx.doors.visible import Cell, cells, visible, wrapped

if TYPE_CHECKING:
    from memidx.ground.hits import Answer, Hit

COLUMNS = 80
Style = Callable[..., str]
Linked = Callable[[str, str], str]  # (what is shown, path) -> the same as a link


def answer_lines(answer: Answer, style: Style, *, explain: bool = False, linked: Linked | None = None) -> Iterator[str]:
    """Every hit, with a blank line between two; with ``explain`` all the numbers that took part."""
    for number, hit in enumerate(answer.hits, 1):
        if number > 1:
            yield ""
        yield from hit_lines(number, hit, style, explain=explain, linked=linked)
    if explain and answer.hits:
        yield ""
        yield from (f"{name}: {value}" for name, value in flat({"snapshot": answer.snapshot, **answer.explain}))


def hit_lines(number: int, hit: Hit, style: Style, *, explain: bool, linked: Linked | None = None) -> Iterator[str]:
    """One hit: number and title, kind and place, heading path, snippet."""
    head = f"{number}. "
    indent = " " * len(head)
    room = COLUMNS - len(indent)
    for at, piece in enumerate(wrapped(cells(_one_line(hit.title)), room)):
        yield (indent if at else head) + style(_text(piece), bold=True)
    place = f"{visible(hit.path)}:{hit.line}"
    shown = style(place, fg="cyan")
    yield f"{indent}{linked(shown, hit.path) if linked else shown}  {visible(hit.kind)}"
    if hit.heading:
        for piece in wrapped(cells("§ " + " > ".join(map(_one_line, hit.heading))), room):
            yield indent + style(_text(piece), dim=True)
    yield from (indent + line for line in snippet_lines(hit, style, room))
    if explain:
        yield from (indent + line for line in explained(hit))


def snippet_lines(hit: Hit, style: Style, room: int) -> Iterator[str]:
    """The lines of the snippet, its matching words marked."""
    start = 0
    for line in hit.snippet.split("\n"):
        end = start + len(line)
        marks = [(max(a, start) - start, min(b, end) - start) for a, b in hit.marks if a < end and b > start]
        for piece in wrapped(cells(line, marks), room):
            yield _marked(piece, style)
        start = end + 1


def _marked(piece: list[Cell], style: Style) -> str:
    shown = ""
    at = 0
    while at < len(piece):
        end = at
        while end < len(piece) and piece[end].marked == piece[at].marked:
            end += 1
        text = _text(piece[at:end])
        shown += style(text, fg="yellow", bold=True) if piece[at].marked else text
        at = end
    return shown.rstrip(" ")


def explained(hit: Hit) -> Iterator[str]:
    """Every number behind a hit's place: rank = -(fused x authority), and the streams that fused is the sum of."""
    yield f"rank {number_text(hit.rank)} = -(fused {number_text(hit.fused)} x authority {number_text(hit.authority)})"
    for name, s in sorted(hit.streams.items()):
        yield f"{name}: rank {s.rank}, score {number_text(s.score)}, share {number_text(s.share)}"
    yield from (f"{name}: {value}" for name, value in flat(hit.explain))


def flat(plain: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Nested values as dotted names and texts."""
    for name, value in plain.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{before}{name}.")
        elif isinstance(value, list | tuple):
            yield f"{before}{name}", ", ".join(map(number_text, value)) or "none"
        else:
            yield f"{before}{name}", number_text(value)


def number_text(value: Any) -> str:
    """A number as short as it stays exact to six digits; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else visible(str(value))


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))


def _text(piece: list[Cell]) -> str:
    return "".join(cell.text for cell in piece)
