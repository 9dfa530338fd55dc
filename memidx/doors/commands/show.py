"""`memidx show`: print a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command(
    "show",
    cls=Command,
    short_help="Print a page, or the section at a line.",
    examples=(
        "memidx show runbooks/rollback.md",
        "memidx show runbooks/rollback.md:12",
        "memidx show --rev v1.2 -- -odd-name.md",
    ),
)
@click.argument("place", metavar="PATH[:LINE]", type=click.UNPROCESSED, shell_complete=completions.paths)
@click.option("--rev", metavar="REV", help="The page as it was in a commit, a tag or a branch.")
@click.option("--no-track", is_flag=True, help="Do not count the page as accessed.")
@json_option
@pass_door
def command(door: Door, /, *, place: str, rev: str | None, no_track: bool, as_json: bool) -> int:
    """Print a page as it is now, or the section at LINE. PATH is relative to this folder or to the vault's root.

    Into a file or a pipe the page goes as it is; on a terminal control characters are made visible.
    """
    source = door.source(rev)
    shown = door.vault(eager=source.kind == "worktree").show(place, door.cwd, source, track=not no_track)
    if as_json:
        door.say.json(shown.as_json())
    elif door.say.to_terminal:
        door.say.out(visible(shown.text.removesuffix("\n"), keep="\n\t"))
    else:
        door.say.raw(shown.text.encode() if shown.data is None else shown.data)
    return 0
