r"""Output as a person wants it: ``--format '{path}:{line}: {title}'``, ``-0``, ``--files-with-matches``.

A template names fields in braces; ``{{`` and ``}}`` are braces, ``\n``, ``\t`` and ``\0`` what they are in shells.
Nothing else of Python's formatting: a template is data.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memidx.doors.visible import visible
from memidx.ground.errors import UsageError
from memidx.ground.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from memidx.doors.door import Door

F = TypeVar("F", bound=Callable[..., Any])
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|\\[nt0\\]|[{}]")
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\0": "\0", "\\\\": "\\", "{{": "{", "}}": "}"}


def line_options(function: F) -> F:
    """--format, -l and -0, for commands that list pages."""
    for option in (
        click.option("-0", "--null", "null", is_flag=True, help="End each line with NUL, for xargs -0. Alone: as -l."),
        click.option("-l", "--files-with-matches", "only_paths", is_flag=True, help="Print paths alone, each once."),
        click.option(
            "--format",
            "template",
            metavar="TEXT",
            help="Print this for each: '{path}:{line}: {title}' (docs/shell.md).",
        ),
    ):
        function = option(function)
    return function


def wants_lines(given: Mapping[str, Any]) -> bool:
    """Whether any of those options was given."""
    return bool(given["template"] is not None or given["only_paths"] or given["null"])


def print_lines(door: Door, given: Mapping[str, Any], root: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Print the rows as asked. Each has at least ``path``, which is relative to the root.

    ``{path}`` is printed relative to the current folder, as git and grep do, so that it can be handed on; ``{page}`` is
    the path from the root. With NUL between them paths go out byte for byte; else hidden characters are written out.
    """
    end = "\0" if given["null"] else "\n"
    template = given["template"]
    if template is not None and given["only_paths"]:
        raise UsageError("--format and --files-with-matches contradict each other", hint="leave one of them out")
    seen = set()
    for row in rows:
        fields = {**row, "page": row["path"], "path": relative(row["path"], root, door.cwd)}
        line = fill(template, fields, raw=given["null"]) if template is not None else _path(fields, raw=given["null"])
        if template is None and line in seen:
            continue
        seen.add(line)
        door.say.raw((line + end).encode("utf-8", "surrogateescape"))


def relative(path: str, root: Path, cwd: Path) -> str:
    """A path from the root as one from the current folder. A name that starts with a dash gets ``./`` before it."""
    here = cwd.resolve()
    top = root.resolve()
    if here == top:
        found = path
    elif here.is_relative_to(top):
        found = os.path.relpath(top / path, here).replace(os.sep, "/")
    else:
        found = str(top / path)
    return "./" + found if found.startswith("-") else found


def fill(template: str, fields: Mapping[str, Any], *, raw: bool = False) -> str:
    """Raises UsageError that names the nearest field for one that is not there."""

    def part(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            if found[0] in _ESCAPES:
                return _ESCAPES[found[0]]
            raise UsageError(f"--format: a lone '{found[0]}'", hint="write {{ or }} for a brace")
        if name.strip() not in fields:
            hint = did_you_mean(name.strip(), fields) or f"one of {', '.join(sorted(fields))}"
            raise UsageError(f"--format: there is no field '{visible(name)}'", hint=hint)
        return as_text(fields[name.strip()], raw=raw)

    return _PART.sub(part, template)


def as_text(value: Any, *, raw: bool = False) -> str:
    """A field as text: lists with commas, nothing for what is not known, numbers to six digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(as_text(item, raw=raw) for item in value)
    text = str(value)
    return text if raw else visible(text)


def _path(fields: Mapping[str, Any], *, raw: bool) -> str:
    return str(fields["path"]) if raw else visible(str(fields["path"]))
