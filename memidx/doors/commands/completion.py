"""`memidx completion`: the script that completes commands in a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command("completion", cls=Command, short_help="Print the script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_door
def command(door: Door, /, *, shell: str) -> int:
    r"""Print the script that completes memidx commands in SHELL.

    \b
    memidx completion bash >> ~/.bashrc
    memidx completion fish > ~/.config/fish/completions/memidx.fish
    """
    from click.shell_completion import get_completion_class

    from memidx.doors.cli import cli

    completion = get_completion_class(shell)
    if completion is None:
        raise UsageError(f"this version of click cannot complete in {shell}")
    door.say.out(completion(cli, {}, "memidx", "_MEMIDX_COMPLETE").source().rstrip("\n"))
    return 0
