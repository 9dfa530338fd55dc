"""`memidx mcp`: the memory as tools of an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, pass_door
from memidx.ground.errors import MemidxError

if TYPE_CHECKING:
    from memidx.doors.door import Door


@click.command(
    "mcp",
    cls=Command,
    short_help="Serve the memory to an agent (Model Context Protocol, stdio).",
    examples=(
        "memidx -C path/to/vault mcp",
        "memidx mcp --read-only",
        "claude mcp add memidx -- memidx -C path/to/vault mcp",
    ),
)
@click.option("--read-only", is_flag=True, help="Offer no tool that writes: no memory_feedback, no memory_write.")
@pass_door
def command(door: Door, /, *, read_only: bool) -> None:
    """Serve the vault here to an agent over stdin and stdout, until the client closes them. docs/agents.md has the
    lines that Claude Code, Cursor, Codex and Zed want.

    Needs the extra: pip install 'memidx[mcp]'.
    """
    try:
        import mcp  # noqa: F401 - 500 ms, and only this command needs it
    except ImportError as error:
        raise MemidxError(
            f"the MCP server needs the mcp package, which cannot be imported: {error}",
            hint="pip install 'memidx[mcp]'",
        ) from error
    from memidx.doors.mcp import run

    run(door.cwd, door.environ, door.options, read_only=read_only)
