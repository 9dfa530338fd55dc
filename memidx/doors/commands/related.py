"""`memidx related`: the pages that have to do with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.line_format import line_options, print_lines, wants_lines
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door

FOUND, NOTHING = 0, 1


@click.command(
    "related",
    cls=Command,
    short_help="List the pages that have to do with one, and why.",
    examples=(
        "memidx related runbooks/rollback.md",
        "memidx related -n 5 --json decisions/adr-012.md",
    ),
)
@click.argument("page", metavar="PATH", type=click.UNPROCESSED, shell_complete=completions.paths)
@click.option("-n", "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="At most so many pages.")
@line_options
@json_option
@pass_door
def command(door: Door, /, *, page: str, limit: int, **given: Any) -> int:
    """List pages that replace PATH or that it replaces, pages linked either way, and pages that say similar things.

    Exit code: 0 something was found, 1 nothing, 2 an error.
    """
    from memidx.everyday import related

    vault = door.vault(eager=True)
    row, found = related(vault, page, door.cwd, limit=limit, notify=door.say.note)
    if given["as_json"]:
        plain = {"path": row.path, "title": row.title, "kind": row.kind}
        door.say.json({**plain, "related": [other.as_json() for other in found]})
    elif wants_lines(given):
        rows = (
            {
                "path": other.path, "title": other.title, "kind": other.kind, "cosine": other.cosine,
                "line": next((r.line for r in other.relations if r.how == "near"), 1),
                "how": [r.how for r in other.relations], "why": [r.why for r in other.relations],
            }
            for other in found
        )  # fmt: skip
        print_lines(door, given, vault.root, rows)
    else:
        for other in found:
            door.say.out(f"{visible(other.path)}  {visible(other.title)}")
            for relation in other.relations:
                door.say.out(f"  {relation.how}: {visible(relation.why)}")
    if not found:
        door.say.note("nothing is related to it")
    return FOUND if found else NOTHING
