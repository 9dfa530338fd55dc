"""The options that say which pages a question is about, the same for every command that asks one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memidx.doors import completions
from memidx.doors.when import parse_moment
from memidx.ground.errors import UsageError
from memidx.ground.filters import Filters

if TYPE_CHECKING:
    from memidx.ground.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(function: F) -> F:
    """--kind, --tag, --path, --since, --until and --where."""
    for option in reversed(
        (
            click.option(
                "--kind", "kinds", multiple=True, shell_complete=completions.kinds,
                help="Only pages of this kind; several, or a,b: any of them.",
            ),
            click.option(
                "--tag", "tags", multiple=True, shell_complete=completions.tags,
                help="Only pages with this tag; several: all of them.",
            ),
            click.option(
                "--path", "paths", multiple=True, metavar="GLOB", shell_complete=completions.paths,
                help="Only pages whose path matches, as in .gitignore.",
            ),
            click.option(
                "--since", metavar="WHEN", help="Only pages changed then or later: 2024-03-31, or 30d, 2w, 6m, 1y ago."
            ),
            click.option(
                "--until", metavar="WHEN",
                help="Only pages changed then or before; a date includes its whole day (UTC).",
            ),
            click.option(
                "--where", "where", multiple=True, metavar="KEY=VALUE", help="Only pages with this in the front-matter."
            ),
        )
    ):  # fmt: skip
        function = option(function)
    return function


def filters_of(given: Mapping[str, Any], now: float) -> Filters:
    """Those options as filters. Kinds are as typed. Raises UsageError that says how an option is written."""
    where = []
    for condition in given["where"]:
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--where {condition}: not a condition", hint="write it as key=value")
        where.append((key.strip(), value.strip()))
    since, until = given["since"], given["until"]
    return Filters(
        kinds=split_kinds(given["kinds"]),
        tags=tuple(tag.removeprefix("#") for tag in given["tags"]),
        paths=tuple(given["paths"]),
        since=None if since is None else parse_moment(since, "--since", now),
        until=None if until is None else parse_moment(until, "--until", now, end_of_day=True),
        where=tuple(where),
    )


def split_kinds(words: Sequence[str]) -> tuple[str, ...]:
    """``a,b`` and repeated options alike."""
    return tuple(kind.strip() for kinds in words for kind in kinds.split(",") if kind.strip())


def with_known_kinds(filters: Filters, settings: Settings) -> Filters:
    """The filters with kinds as the vault has them. Raises UsageError that names the nearest for an unknown one."""
    if not filters.kinds:
        return filters
    from memidx.outside import known_kinds

    return filters._replace(kinds=known_kinds(filters.kinds, settings))
