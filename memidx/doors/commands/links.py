"""`memidx links`: the links of a page, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.line_format import line_options, print_lines, wants_lines
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.engines.related import LinkRow

FOUND, NOTHING = 0, 1


@click.command(
    "links",
    cls=Command,
    short_help="List the links on a page and those that lead to it.",
    examples=(
        "memidx links runbooks/rollback.md",
        "memidx links --format '{path}:{line}: {written}' runbooks/rollback.md",
    ),
)
@click.argument("page", metavar="PATH", type=click.UNPROCESSED, shell_complete=completions.paths)
@line_options
@json_option
@pass_door
def command(door: Door, /, *, page: str, **given: Any) -> int:
    """List the links on PATH with where they lead, and the links on other pages that lead to it.

    A link that may mean several pages names them all; `memidx check` finds the broken ones everywhere.

    Exit code: 0 there are links, 1 none, 2 an error.
    """
    from memidx.everyday import links

    vault = door.vault(eager=True)
    found = links(vault, page, door.cwd, notify=door.say.note)
    both = [("links", row) for row in found.links] + [("backlinks", row) for row in found.backlinks]
    if given["as_json"]:
        door.say.json(found.as_json())
    elif wants_lines(given):
        print_lines(door, given, vault.root, ({**row._asdict(), "way": way} for way, row in both))
    else:
        for way in ("links", "backlinks"):
            for line in link_lines(way, [row for name, row in both if name == way]):
                door.say.out(line)
    if not both:
        door.say.note("no links either way")
    return FOUND if both else NOTHING


def link_lines(way: str, rows: list[LinkRow]) -> Iterator[str]:
    """A heading with the number of links, then each with its place and where it leads."""
    if rows:
        yield f"{way} ({len(rows)})"
    for row in rows:
        to = ", ".join(map(visible, row.targets)) or row.state
        anchor = f"#{visible(row.anchor)}" if row.anchor else ""
        if way == "links":
            several = " (may mean any of them)" if row.state == "ambiguous" else ""
            yield f"  line {row.line}: {visible(row.written)} -> {to}{anchor}{several}"
        else:
            yield f"  {visible(row.path)}:{row.line}: {visible(row.written)}{anchor}"
