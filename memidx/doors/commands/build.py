"""`memidx build`: bring the index up to date with the pages."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memidx.doors.door import Door
    from memidx.engines.build import BuildReport
    from memidx.ground.diagnostics import Diagnostic

SHOWN = 20


@click.command(
    "build",
    cls=Command,
    short_help="Bring the index up to date with the pages.",
    examples=(
        "memidx build",
        "memidx build --dry-run",
        "memidx build --full --json",
    ),
)
@click.option("--full", is_flag=True, help="Build everything again, also what is there.")
@click.option("--staged", is_flag=True, help="Build for the pages as the next commit would have them.")
@click.option("--rev", metavar="REV", help="Build for the pages of a commit, a tag or a branch.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--quiet", is_flag=True, help="Say nothing unless it fails.")
@json_option
@pass_door
def command(
    door: Door, /, *, full: bool, staged: bool, rev: str | None, dry_run: bool, quiet: bool, as_json: bool
) -> int:
    """Bring the index up to date with the pages. It is always whole: there is nothing to list.

    Queries do this by themselves when it is quick. Pages that cannot be read as they are meant are indexed as far
    as they can be, and named on stderr; the exit code is 0 all the same.
    """
    source = door.source(rev, staged=staged)
    vault = door.vault(eager=source.kind == "worktree")
    started = time.perf_counter()
    if dry_run:
        report = vault.plan(source, full=full)
    else:
        try:
            with _progress(shown=door.say.talks_to_terminal and not quiet) as progress:
                report = vault.build(source, full=full, progress=progress)
        except KeyboardInterrupt:
            door.say.note("interrupted; a build counts when it is whole, so nothing is broken")
            raise
    seconds = time.perf_counter() - started
    if vault.model_error:  # said with --quiet too: a part of what was asked for failed
        door.say.note(f"no vector index: {visible(vault.model_error.message)}; {visible(vault.model_error.hint)}")
    if quiet:
        return 0
    if as_json:
        door.say.json(report_json(report, seconds, dry_run=dry_run))
    else:
        for line in report_lines(report, seconds, dry_run=dry_run):
            door.say.out(line)
    for line in diagnostic_lines(report.diagnostics):
        door.say.err(line)
    return 0


def report_lines(report: BuildReport, seconds: float, *, dry_run: bool) -> Iterator[str]:
    """One line of counts; a dry run also names the pages, with git's letters."""
    diff = report.diff
    if dry_run:
        for letter, entries in (("A", diff.added), ("M", diff.changed), ("D", diff.removed)):
            yield from (f"{letter} {visible(entry.path)}" for entry in entries)
    counts = f"added {len(diff.added)}, changed {len(diff.changed)}, removed {len(diff.removed)}"
    counts += f", unchanged {diff.unchanged}"
    why = f"({report.mode}: {visible(report.reason)})"
    yield f"would be {counts} {why}" if dry_run else f"{counts}, sections {report.sections}, {seconds:.2f} s {why}"


def report_json(report: BuildReport, seconds: float, *, dry_run: bool) -> dict[str, Any]:
    """The report as the JSON contract has it."""
    diff = report.diff
    return {
        "snapshot": report.key,
        "dry_run": dry_run,
        "mode": report.mode,
        "reason": report.reason,
        "added": [entry.path for entry in diff.added],
        "changed": [entry.path for entry in diff.changed],
        "removed": [entry.path for entry in diff.removed],
        "unchanged": diff.unchanged,
        "sections": None if dry_run else report.sections,
        "seconds": round(seconds, 3),
        "diagnostics": [d._asdict() for d in report.diagnostics],
    }


def diagnostic_lines(diagnostics: tuple[Diagnostic, ...]) -> Iterator[str]:
    """Warnings and errors as `path:line:col: …` lines, at most 20."""
    worth = [d for d in diagnostics if d.severity != "info"]
    yield from (visible(str(d)) for d in worth[:SHOWN])
    if len(worth) > SHOWN:
        yield f"… and {len(worth) - SHOWN} more; `memidx status` shows all"


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr that appears with the first page; None when nobody looks."""
    if not shown:
        yield None
        return
    bars: list[Any] = []

    def step(done: int, total: int) -> None:
        if not bars:
            bars.append(click.progressbar(length=total, label="pages", file=sys.stderr).__enter__())
        bars[0].update(done - bars[0].pos)

    try:
        yield step
    finally:
        for bar in bars:
            bar.__exit__(None, None, None)
