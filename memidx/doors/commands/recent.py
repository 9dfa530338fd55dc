"""`memidx recent`: what is new."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.line_format import line_options, print_lines, wants_lines
from memidx.doors.page_filters import split_kinds
from memidx.doors.visible import visible
from memidx.doors.when import parse_moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.engines.recent import Recent

NAMED = 4  # sections that one line names
FOUND, NOTHING = 0, 1


@click.command(
    "recent",
    cls=Command,
    short_help="List pages by when they changed, and what changed.",
    examples=(
        "memidx recent",
        "memidx recent --since 2w --kind decision,rule",
        "memidx recent --format '{date} {path}: {subject}'",
    ),
)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many pages.")
@click.option("--since", metavar="WHEN", help="Only pages changed then or later: 2024-03-31, or 30d, 2w, 6m, 1y ago.")
@click.option("--until", metavar="WHEN", help="Only pages changed then or before; a date includes its whole day (UTC).")
@click.option("--kind", "kinds", multiple=True, shell_complete=completions.kinds, help="Only pages of this kind.")
@line_options
@json_option
@pass_door
def command(door: Door, /, **given: Any) -> int:
    """List pages by when they changed, the last one first, with the commit and the sections that are new or changed.

    A page's own date (updated, date, created) counts first, then git's history without commits that touch a large
    share of the pages.
    """
    from memidx.everyday import recent
    from memidx.outside import known_kinds

    now = time.time()
    vault = door.vault(eager=True)
    found, notices = recent(
        vault,
        since=None if given["since"] is None else parse_moment(given["since"], "--since", now),
        until=None if given["until"] is None else parse_moment(given["until"], "--until", now, end_of_day=True),
        kinds=known_kinds(split_kinds(given["kinds"]), vault.settings),
        limit=given["limit"],
        now=now,
        notify=door.say.note,
    )
    if given["as_json"]:
        door.say.json({"pages": [page.as_json() for page in found]})
    elif wants_lines(given):
        rows = ({**page._asdict(), "line": 1, "date": date_of(page), "sections": sections(page)} for page in found)
        print_lines(door, given, vault.root, rows)
    else:
        for page in found:
            for line in recent_lines(page):
                door.say.out(line)
    for notice in notices:
        door.say.note(visible(notice))
    if not found:
        door.say.note("nothing changed in that time")
    return FOUND if found else NOTHING


def recent_lines(page: Recent) -> Iterator[str]:
    """``2024-03-31  path  title``, then what changed."""
    yield f"{date_of(page)}  {visible(page.path)}  {visible(page.title)}"
    said = [
        "" if page.what == "unknown" else page.what,
        f"{page.commit[:10]} {visible(page.subject)}" if page.commit else "",
        sections(page),
    ]
    if any(said):
        yield "            " + "; ".join(part for part in said if part)


def date_of(page: Recent) -> str:
    """The day, UTC."""
    return datetime.fromtimestamp(page.changed_at or 0, UTC).date().isoformat()


def sections(page: Recent) -> str:
    """``+ New section, ~ Other section, - Gone section``; a page that is new as a whole needs no list."""
    if page.what == "new":
        return ""
    marked = [(mark, name) for mark, names in zip("+~-", page[-3:], strict=True) for name in names]
    shown = ", ".join(f"{mark} {visible(name) or 'beginning'}" for mark, name in marked[:NAMED])
    return shown + (f" and {len(marked) - NAMED} more" if len(marked) > NAMED else "")
