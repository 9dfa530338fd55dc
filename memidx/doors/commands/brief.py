"""`memidx brief`: the state of the memory on one screen."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import cells, visible, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.engines.brief import Brief

COLUMNS = 80
HEADINGS = {
    "rules": "Rules",
    "decisions": "Decisions in force",
    "new": "Changed in the last {days} days",
    "attention": "Needs somebody: flagged, expiring, unreadable",
}


@click.command(
    "brief",
    cls=Command,
    short_help="Rules, decisions, what is new and what needs somebody, on one screen.",
    examples=(
        "memidx brief",
        "memidx brief --days 30 --json",
    ),
)
@click.option(
    "--days", type=click.IntRange(min=1), default=14, show_default=True, help="How long a page counts as new."
)
@json_option
@pass_door
def command(door: Door, /, *, days: int, as_json: bool) -> None:
    """Show the rules, the decisions in force, what changed lately, and pages that are flagged, expiring or unreadable.

    It fits one screen, so that an agent can start its session with it.
    """
    from memidx.everyday import brief

    found = brief(door.vault(eager=True), days=days, now=time.time(), notify=door.say.note)
    if as_json:
        door.say.json(found.as_json())
    else:
        for line in brief_lines(found):
            door.say.out(line)
    for notice in found.notices:
        door.say.note(visible(notice))


def brief_lines(found: Brief) -> Iterator[str]:
    """Each part with its first pages and how many more there are; a line is cut at 80 columns."""
    yield f"{found.pages} pages"
    for part in found.parts:
        if not part.total:
            continue
        yield ""
        yield f"{HEADINGS[part.name].format(days=found.days)} ({part.total})"
        for line in part.lines:
            note = f"  ({line.note})" if line.note else ""
            path = visible(line.path)
            yield f"  {path}  {cut(line.title, COLUMNS - 4 - len(path) - len(note))}{visible(note)}"
        if part.total > len(part.lines):
            yield f"  and {part.total - len(part.lines)} more"


def cut(text: str, room: int) -> str:
    """As much as fits so many columns."""
    first, *rest = list(wrapped(cells(" ".join(text.split("\n"))), max(room, 20))) or [[]]
    shown = "".join(cell.text for cell in first)
    return shown + " …" if rest else shown
