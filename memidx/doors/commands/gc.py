"""`memidx gc`: remove snapshots that are no longer needed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.doors.commands.status import counted, megabytes

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command(
    "gc",
    cls=Command,
    short_help="Remove snapshots that are no longer needed.",
    examples=(
        "memidx gc",
        "memidx gc --keep 0",
    ),
)
@click.option("--keep", type=click.IntRange(min=0), help="Keep so many besides those in use (default: build.keep, 6).")
@pass_door
def command(door: Door, /, *, keep: int | None) -> int:
    """Remove snapshots that no worktree uses, but for the most recent ones, and what killed builds left behind.

    Builds do this by themselves. Nothing is lost: a snapshot can be built again from the pages.
    """
    removed, size = door.vault().collect(time.time(), keep)
    door.say.out(f"removed {counted(len(removed), 'snapshot')}, {megabytes(size)}")
    return 0
