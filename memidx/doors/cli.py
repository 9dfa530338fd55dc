"""The command line: a table of commands, each imported only when it runs."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

import memidx
from memidx.doors.command import HELP, shared_options
from memidx.doors.visible import visible
from memidx.ground.errors import UsageError
from memidx.ground.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

# Name -> what the group's help says about it. The module is memidx/doors/commands/NAME.py, its command is `command`;
# a test compares these lines with the commands' own.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "query": "Search the pages.",
        "context": "Pack the best sections for a question into a budget of tokens.",
        "show": "Print a page, or the section at a line.",
        "cite": "Show the text of a citation as it was, and whether it has changed.",
        "recent": "List pages by when they changed, and what changed.",
        "related": "List the pages that have to do with one, and why.",
        "links": "List the links on a page and those that lead to it.",
        "brief": "Rules, decisions, what is new and what needs somebody, on one screen.",
        "new": "Make a page from a template.",
        "mcp": "Serve the memory to an agent (Model Context Protocol, stdio).",
        "build": "Bring the index up to date with the pages.",
        "status": "Say whether the index is up to date, and what is in it.",
        "check": "Look for what is wrong in the pages and between them.",
        "feedback": "Say that a page was helpful, or that it is stale or wrong.",
        "decay": "List pages by how well they are remembered, the coldest first.",
        "sweep": "List cold and expired pages, or take them out with git.",
        "hooks": "Put memidx into git's hooks, take it out, or say how it stands.",
        "hook": "Do what a git hook of this name is for. The hooks call this.",
        "init": "Make the vault's settings file and tell git how to merge feedback.",
        "export": "Write the index as a folder that can be searched anywhere.",
        "doctor": "Look for what could keep memidx from working.",
        "gc": "Remove snapshots that are no longer needed.",
        "eval": "Measure the ranking with judged queries.",
        "completion": "Print the script that completes commands in a shell.",
    }
)
ALIASES: Mapping[str, str] = MappingProxyType({"search": "query"})


def find_command(name: str) -> click.Command:
    """Import one command. ``name`` is in the table."""
    command = import_module(f"memidx.doors.commands.{name}").command
    if not isinstance(command, click.Command):
        raise TypeError(name)
    return command


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return [*COMMANDS, *ALIASES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        name = ALIASES.get(cmd_name, cmd_name)
        return find_command(name) if name in COMMANDS else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and name not in ALIASES and not name.startswith("-") and not ctx.resilient_parsing:
            near = nearest(name, self.list_commands(ctx))
            hint = f"did you mean {' or '.join(near)}?" if near else "`memidx --help` lists the commands"
            raise UsageError(f"there is no command '{visible(name)}'", hint=hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        rows = [*COMMANDS.items(), *((alias, f"The same as {name}.") for alias, name in ALIASES.items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _version(ctx: click.Context, _: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"memidx {memidx.__version__}")
        ctx.exit()


cli = LazyGroup(
    name="memidx",
    help="Search the markdown pages of a git repository, by words and by meaning.\n\n"
    "\b\nStart with:\n  memidx query how do we roll back a deploy\n  memidx status\n\n"
    "Exit code: 0 done or found, 1 nothing found or not in order, 2 an error, 3 a bug in memidx.",
    context_settings=HELP,
    params=[
        *shared_options(hidden=False),
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
        ),
    ],
    epilog="`memidx COMMAND --help` explains a command, with an example.",
)
