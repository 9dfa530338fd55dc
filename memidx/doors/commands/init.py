"""`memidx init`: make the vault's settings file and tell git how to merge feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command(
    "init",
    cls=Command,
    short_help="Make the vault's settings file and tell git how to merge feedback.",
    examples=(
        "memidx init",
        "memidx init docs/handbook",
    ),
)
@click.argument("folder", metavar="[DIR]", required=False)
@pass_door
def command(door: Door, /, *, folder: str | None) -> int:
    """Make .memidx/config.yaml, with every setting commented out, and add a line to .gitattributes.

    The vault is the whole repository; with DIR it is that folder. Nothing is overwritten, and memidx works without
    this: it is for changing settings and for sharing feedback.
    """
    from memidx.outside import initialise

    root, steps = initialise(door.cwd, folder, door.environ)
    for step in steps:
        door.say.out(f"{step.done}: {visible(str(root / step.path))}" + (f" ({visible(step.why)})" if step.why else ""))
    return 0
