"""`memidx sweep`: take cold and expired pages out of the vault."""

from __future__ import annotations

import os.path
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.commands.status import counted
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.engines.sweep import Plan
    from memidx.ground.sweep import Verdict


@click.command(
    "sweep",
    cls=Command,
    short_help="List cold and expired pages, or take them out with git.",
    examples=(
        "memidx sweep",
        "memidx sweep --apply --limit 10",
        "memidx sweep --apply --archive archive",
    ),
)
@click.option("--apply", "do_it", is_flag=True, help="Do it: staged with git, not committed. Without: only list.")
@click.option("--archive", metavar="DIR", help="Move the pages to this folder of the vault instead of removing them.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many pages, the coldest first.")
@click.option("--yes-many", is_flag=True, help="Yes, also more than decay.sweep_share of all pages (20 %).")
@json_option
@pass_door
def command(
    door: Door, /, *, do_it: bool, archive: str | None, limit: int | None, yes_many: bool, as_json: bool
) -> None:
    """List pages that are cold or past their expires_at, each with the reason; and those that stay, with the reason.

    --apply removes them from the index and the disk and leaves the commit to you: `git restore --staged --worktree`
    or, after a commit, `git revert` brings them back, and what was said about them counts again.
    """
    from memidx.ledger import apply_sweep, plan_sweep

    vault = door.vault(eager=True)
    target = None if archive is None else Path(os.path.normpath(door.cwd.resolve() / archive))
    plan, folder, notices = plan_sweep(vault, time.time(), limit=limit, archive=target, notify=door.say.note)
    if do_it:
        apply_sweep(vault, plan, folder, many=yes_many)
    if as_json:
        door.say.json({"applied": do_it, "archive": folder, **plan.as_json()})
    else:
        for line in plan_lines(plan):
            door.say.out(line)
        door.say.out(summary(plan, folder, done=do_it))
    if plan.too_many and not do_it:
        door.say.note(f"{len(plan.swept)} of {plan.pages} pages are many: --apply will want --limit N or --yes-many")
    if folder and plan.swept and vault.selector(f"{folder}/x.md"):
        door.say.note(f"pages in {visible(folder)}/ are still searched; add '{visible(folder)}/' to pages.exclude")
    for notice in notices:
        door.say.note(visible(notice))


def plan_lines(plan: Plan) -> Iterator[str]:
    """First what goes, then what stays."""
    for verdict in plan.swept:
        yield f"sweep  {_why(verdict):<22}  {visible(verdict.path)}"
    for verdict in plan.kept:
        yield f"keep   {_why(verdict):<22}  {visible(verdict.path)}: {visible(verdict.kept)}"


def _why(verdict: Verdict) -> str:
    if verdict.reason == "expired" and verdict.expires_at is not None:
        return f"expired {_day(verdict.expires_at)}"
    return f"cold, retention {verdict.retention or 0.0:.3f}"


def _day(at: int) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "long ago"


def summary(plan: Plan, archive: str | None, *, done: bool) -> str:
    """The last line."""
    number = counted(len(plan.swept), "page")
    where = f" to {visible(archive)}/" if archive else ""
    verb = ("moved" if archive else "removed") if done else ("would move" if archive else "would remove")
    more = f"; {plan.over_limit} more over the limit" if plan.over_limit else ""
    staged = "; staged, commit when it is right" if done and plan.swept else ""
    return f"{verb} {number} of {plan.pages}{where}, kept {len(plan.kept)} that are cold or expired{more}{staged}"
