"""`memidx status`: is the index up to date, and what is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.engines.status import Status


@click.command(
    "status",
    cls=Command,
    short_help="Say whether the index is up to date, and what is in it.",
    examples=(
        "memidx status",
        "memidx status --verify --json",
    ),
)
@click.option("--verify", is_flag=True, help="Compare every file of the index with its digest; exit 1 if one differs.")
@json_option
@pass_door
def command(door: Door, /, *, verify: bool, as_json: bool) -> int:
    """Say whether the index is up to date, and what is in it. Builds nothing."""
    vault = door.vault(eager=True)
    found = vault.status(verify=verify)
    if as_json:
        door.say.json(found.as_json())
    else:
        for line in status_lines(found):
            door.say.out(line)
    if found.differing:
        door.say.note(f"{len(found.differing)} files of the index differ; run `memidx build --full`")
    return 1 if found.differing else 0


def status_lines(found: Status) -> Iterator[str]:
    """The verdict first, then the facts, then every finding."""
    degraded = counted(len(found.degraded), "page") + " degraded"
    if not found.fresh:
        yield f"not up to date: {visible('; '.join(found.reasons))}; `memidx build` mends it"
        if found.degraded:
            yield degraded
    else:
        yield f"{degraded}, else up to date" if found.degraded else "up to date"
    if found.snapshot:
        yield from _facts(found)
    if found.model_error:
        yield f"model      cannot be used: {visible(found.model_error)}"
    worth = [d for d in found.diagnostics if d.severity != "info"]
    if worth:
        yield "findings"
        yield from (f"  {visible(str(d))}" for d in worth)
    if found.differing == ():
        yield "verified   every file is as it was built"
    for name in found.differing or ():
        yield f"differs    {name}"


def _facts(found: Status) -> Iterator[str]:
    counts = found.counts
    kinds = ", ".join(f"{n} {visible(kind)}" for kind, n in sorted(found.kinds.items(), key=lambda k: (-k[1], k[0])))
    yield f"snapshot   {found.snapshot}"
    yield f"pages      {counts['pages']}" + (f": {kinds}" if kinds else "")
    if found.languages:
        yield "languages  " + ", ".join(f"{n} {visible(name)}" for name, n in found.languages.items())
    yield f"sections   {counts['sections']}, {counts['vectors']} distinct vectors"
    yield f"model      {visible(found.model or 'none: search by words alone')}"
    if found.graph:
        use = "used by queries" if found.graph.used else "not used by queries"
        yield f"graph      {found.graph.rows} vectors, recall {found.graph.recall:.3f}; {use}: {found.graph.why}"
    elif found.model:
        yield "graph      none; queries scan exactly"
    yield f"size       {megabytes(found.bytes)}, with all that is derived {megabytes(found.all_bytes)}"
    yield f"kept       {counted(len(found.kept), 'snapshot')}"


def counted(number: int, noun: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def megabytes(size: int) -> str:
    """Bytes in a unit that is read at a glance."""
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"  # noqa: PLR2004 - 0.1 MB
