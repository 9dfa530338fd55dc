"""`memidx doctor`: look for what could keep memidx from working."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door

COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@click.command(
    "doctor",
    cls=Command,
    short_help="Look for what could keep memidx from working.",
    examples=(
        "memidx doctor",
        "memidx doctor --json",
    ),
)
@json_option
@pass_door
def command(door: Door, /, *, as_json: bool) -> int:
    """Look for what could keep memidx from working, and say what to do about it. Exit code 1 if anything fails."""
    from memidx.doors.machine import look
    from memidx.outside import diagnose

    found = diagnose(door.cwd, environ=door.environ, options=door.options, machine=look())
    failed = any(finding.state == "fail" for finding in found)
    if as_json:
        door.say.json({"ok": not failed, "findings": [finding._asdict() for finding in found]})
    else:
        for finding in found:
            state = door.say.style(f"{finding.state:<4}", fg=COLOURS[finding.state])
            door.say.out(f"{state}  {finding.name:<10} {visible(finding.message)}")
            if finding.remedy:
                door.say.out(f"{'':<17}{visible(finding.remedy)}")
    return 1 if failed else 0
