"""The manual page, made from what `--help` says. `make docs` writes it to docs/memidx.1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

import memidx
from memidx.doors.cli import ALIASES, COMMANDS, cli, find_command
from memidx.doors.command import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVIRONMENT = (
    ("MEMIDX_PART_NAME", "A setting, such as MEMIDX_QUERY_LIMIT=5 for query.limit."),
    ("NO_COLOR", "No colour, whatever the terminal."),
    ("FORCE_HYPERLINK", "1: paths are links in terminals that are not known to show them; 0: never."),
    ("VISUAL, EDITOR", "What `memidx new` opens a page with."),
)
FILES = (
    (".memidx/config.yaml", "The settings of the vault. `memidx init` writes one."),
    (".memidx/decay.jsonl", "Feedback. Commit it."),
    (".memidx/templates/KIND.md", "Templates of new pages."),
    ("<git folder>/memidx/", "The index. It may be deleted at any time."),
)
EXITS = ("0 done or found", "1 nothing found, or not in order", "2 an error", "3 a bug in memidx")


def man_page() -> str:
    """The page, as roff with the man macros."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH MEMIDX 1 "" "memidx {memidx.__version__}" "User Commands"'
    yield '.\\" Made from the program by `make docs`.'
    yield ".SH NAME"
    yield "memidx \\- search the markdown pages of a git repository, by words and by meaning"
    yield ".SH SYNOPSIS"
    yield ".B memidx"
    yield "[OPTIONS] COMMAND [ARGS]..."
    yield ".SH DESCRIPTION"
    yield from _paragraphs(cli.help or "")
    yield ".SH OPTIONS"
    with click.Context(cli, info_name="memidx") as ctx:
        yield from _options(ctx)
    yield ".SH COMMANDS"
    for name in COMMANDS:
        command = find_command(name)
        with click.Context(command, info_name=f"memidx {name}") as ctx:
            yield from _command(name, command, ctx)
    for alias, name in ALIASES.items():
        yield f".SS memidx {_text(alias)}"
        yield f"The same as {_text(name)}."
    for heading, rows in (("ENVIRONMENT", ENVIRONMENT), ("FILES", FILES)):
        yield f".SH {heading}"
        for name, what in rows:
            yield from _item(name, what)
    yield ".SH EXIT STATUS"
    yield _text("; ".join(EXITS) + ".")


def _command(name: str, command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f".SS memidx {_text(name)}"
    usage = " ".join(command.collect_usage_pieces(ctx))
    yield f".B memidx {_text(name)}"
    yield _text(usage)
    yield ".PP"
    yield from _paragraphs(command.help or "")
    yield from _options(ctx)
    if isinstance(command, Command) and command.examples:
        yield ".PP"
        yield "Examples:"
        yield ".nf"
        yield from (f"  {_text(line)}" for line in command.examples)
        yield ".fi"


def _options(ctx: click.Context) -> Iterator[str]:
    for param in ctx.command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            yield from _item(*record)


def _item(name: str, what: str) -> Iterator[str]:
    yield ".TP"
    yield f"\\fB{_text(name)}\\fR"
    yield _text(what)


def _paragraphs(help_text: str) -> Iterator[str]:
    r"""Click's paragraphs; one that starts with ``\b`` keeps its lines."""
    import inspect

    for number, paragraph in enumerate(inspect.cleandoc(help_text).split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            yield ".nf"
            yield from (_text(line) for line in paragraph.lstrip("\b\n").split("\n"))
            yield ".fi"
        else:
            yield _text(" ".join(paragraph.split()))


def _text(text: str) -> str:
    """A line that roff takes as it is: no escapes, no line that starts as a request."""
    safe = re.sub(r"\s+", " ", text).replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + safe if safe.startswith((".", "'")) else safe
