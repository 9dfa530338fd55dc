"""`memidx completion`: the script that completes commands in a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command(
    "completion",
    cls=Command,
    short_help="Print the script that completes commands in a shell.",
    examples=(
        "memidx completion bash >> ~/.bashrc",
        "memidx completion fish > ~/.config/fish/completions/memidx.fish",
    ),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_door
def command(door: Door, /, *, shell: str) -> int:
    """Print the script that completes memidx commands in SHELL."""
    from click.shell_completion import get_completion_class

    from memidx.doors.cli import cli
    from memidx.doors.outcome import COMPLETE

    completion = get_completion_class(shell)
    if completion is None:
        raise UsageError(f"this version of click cannot complete in {shell}")
    door.say.out(completion(cli, {}, "memidx", COMPLETE).source().rstrip("\n"))
    return 0
