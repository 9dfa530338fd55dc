"""The base of every command: the options that all of them take, before or after the command's own name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from memidx.doors.door import Door

F = TypeVar("F", bound=Callable[..., Any])
HELP = {"help_option_names": ["-h", "--help"]}
MORE = "`memidx --help` lists the options of every command: -C, --set, --color."

pass_door = click.make_pass_decorator(Door)


def shared_options(*, hidden: bool) -> list[click.Parameter]:
    """-C, --set and --color. Commands take them too, but only the group's help shows them."""
    common: dict[str, Any] = {"expose_value": False, "hidden": hidden}
    return [
        click.Option(
            ["-C", "folders"], metavar="DIR", multiple=True, callback=_enter, **common,
            help="Work in DIR, as `git -C` does. May be given again, relative to the one before.",
        ),
        click.Option(
            ["--set", "settings"], metavar="PART.NAME=VALUE", multiple=True, callback=_set, **common,
            help="Set one setting for this run; wins over the environment and the config. May be given again.",
        ),
        click.Option(
            ["--color"], type=click.Choice(["auto", "always", "never"]), callback=_color, **common,
            help="Colour: on a terminal (auto), always or never. NO_COLOR turns auto off.",
        ),
    ]  # fmt: skip


def _enter(ctx: click.Context, _: click.Parameter, folders: tuple[str, ...]) -> None:
    if (door := ctx.find_object(Door)) and not ctx.resilient_parsing:
        for folder in folders:
            door.enter(folder)


def _set(ctx: click.Context, _: click.Parameter, settings: tuple[str, ...]) -> None:
    if (door := ctx.find_object(Door)) and not ctx.resilient_parsing:
        for assignment in settings:
            door.set(assignment)


def _color(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if (door := ctx.find_object(Door)) and value:
        door.say.color = value


class Command(click.Command):
    """A command with the shared options, examples, and a last line of help about the options."""

    def __init__(self, *args: Any, examples: tuple[str, ...], **kwargs: Any) -> None:
        self.examples = examples
        kwargs["params"] = [*(kwargs.get("params") or []), *shared_options(hidden=True)]
        kwargs.setdefault("epilog", MORE)
        kwargs.setdefault("context_settings", HELP)
        super().__init__(*args, **kwargs)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        super().format_options(ctx, formatter)


def json_option(function: F) -> F:
    """--json, for commands with a JSON form."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md) instead of text.")(function)
