"""`memidx export`: write the index as a folder that can be searched anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.doors.commands.status import counted, megabytes
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command(
    "export",
    cls=Command,
    short_help="Write the index as a folder that can be searched anywhere.",
    examples=(
        "memidx export /srv/handbook-index",
        "memidx query --index /srv/handbook-index how do we roll back",
    ),
)
@click.argument("folder", metavar="DIR")
@click.option("--rev", metavar="REV", help="The pages of a commit, a tag or a branch.")
@pass_door
def command(door: Door, /, *, folder: str, rev: str | None) -> int:
    """Write a fresh index to DIR, which must be new, empty, or an earlier export.

    The folder holds the text of the pages. It needs no repository, and nothing in it points back to this one.
    """
    source = door.source(rev)
    done = door.vault(eager=source.kind == "worktree").export(door.cwd / Path(folder), source)
    what = f"{counted(done.pages, 'page')}, {counted(done.sections, 'section')}, {megabytes(done.bytes)}"
    door.say.out(f"exported {what} to {visible(str(done.folder))}")
    return 0
