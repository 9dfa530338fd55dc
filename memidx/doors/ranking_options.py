"""The options that say how to rank, the same for every command that ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from memidx.ground.errors import UsageError
from memidx.ground.hits import STREAMS

F = TypeVar("F", bound=Callable[..., Any])


def ranking_options(function: F) -> F:
    """--only, --rank, --weight, --floor and --include-expired."""
    for option in reversed(
        (
            click.option("--only", type=click.Choice(STREAMS), help="Search with one stream alone."),
            click.option(
                "--rank", metavar="HOW", help="authority (default), relevance or composite (docs/ranking.md)."
            ),
            click.option(
                "--weight",
                "weights",
                multiple=True,
                metavar="NAME=X",
                help="Composite: set one weight, scale the rest.",
            ),
            click.option(
                "--floor", type=float, metavar="X", help="Drop candidates less relevant than this (below 0.5)."
            ),
            click.option("--include-expired", is_flag=True, help="Search pages past their expires_at too."),
        )
    ):
        function = option(function)
    return function


def ranking_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those options as the engines take them."""
    return {
        "only": given["only"],
        "rank": given["rank"],
        "weights": _weights(given["weights"]),
        "floor": given["floor"],
        "include_expired": given["include_expired"],
    }


def _weights(given: Sequence[str]) -> dict[str, float]:
    weights = {}
    for text in given:
        name, equals, value = text.partition("=")
        try:
            weights[name.strip()] = float(value) if equals else float("nan")
        except ValueError as error:
            raise UsageError(f"--weight {text}: not a number", hint="write it as --weight recency=0.4") from error
        if not equals:
            raise UsageError(f"--weight {text}: no value", hint="write it as --weight recency=0.4")
    return weights
