"""`memidx cite`: a citation, looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door
    from memidx.engines.cite import Cited

STANDS, OTHER = 0, 1


@click.command(
    "cite",
    cls=Command,
    short_help="Show the text of a citation as it was, and whether it has changed.",
    examples=(
        "memidx cite runbooks/rollback.md:12@1f0c2a94d4e7",
        "memidx cite --diff runbooks/rollback.md:12-20@v1.2",
    ),
)
@click.argument("citation", metavar="PATH:LINE@COMMIT", type=click.UNPROCESSED, shell_complete=completions.paths)
@click.option("--diff", is_flag=True, help="Show what changed instead of the text.")
@json_option
@pass_door
def command(door: Door, /, *, citation: str, diff: bool, as_json: bool) -> int:
    """Show the section at LINE as COMMIT has it, and say whether it still says so: the same, moved, changed or gone.

    PATH:FIRST-LAST@COMMIT names lines, PATH@COMMIT a page. COMMIT is any name git has for one. `context` prints such
    citations.

    Exit code: 0 the text still stands, 1 it has changed or is gone, 2 an error.
    """
    from memidx.everyday import cite

    found = cite(door.vault(), citation, door.cwd)
    if as_json:
        door.say.json(found.as_json())
    elif diff:
        for line in found.diff:
            door.say.out(visible(line, keep="\t"))
    elif door.say.to_terminal:
        door.say.out(visible(found.text.removesuffix("\n"), keep="\n\t"))
    else:
        door.say.raw(found.text.encode("utf-8", "surrogateescape"))
    door.say.note(verdict(found))
    return STANDS if found.state in ("same", "moved") else OTHER


def verdict(found: Cited) -> str:
    """What became of it, in a sentence."""
    place = visible(f"{found.now_path}:{found.now_line}")
    match found.state:
        case "same":
            return "it still says so"
        case "moved":
            return f"it still says so, at {place} now"
        case "changed":
            return f"it has changed since; see {place}, or --diff"
    return "the page is gone; git has it: `memidx show --rev COMMIT PATH`"
