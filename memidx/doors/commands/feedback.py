"""`memidx feedback`: say what a page is worth."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door
    from memidx.engines.feedback import Outcome


@click.command(
    "feedback",
    cls=Command,
    short_help="Say that a page was helpful, or that it is stale or wrong.",
    examples=(
        "memidx feedback runbooks/rollback.md helpful",
        "memidx feedback a.md b.md stale --reason 'the old cluster is gone'",
        "memidx feedback decisions/adr-012.md not-helpful --by ci-agent",
    ),
)
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.UNPROCESSED, shell_complete=completions.paths
)
@click.argument("verdict", metavar="VERDICT")
@click.option("--reason", metavar="TEXT", default="", help="Why, for whoever mends the page.")
@click.option("--by", metavar="NAME", default="", help="Who says so.")
@json_option
@pass_door
def command(door: Door, /, *, paths: tuple[str, ...], verdict: str, reason: str, by: str, as_json: bool) -> None:
    """Say what pages are worth. VERDICT is helpful, not-helpful, stale or wrong.

    helpful and not-helpful move a page's salience one step; stale and wrong take it to the least at once and flag the
    page in `memidx check` until its text changes. It is written to .memidx/decay.jsonl: commit that file.
    """
    from memidx.engines.feedback import Said
    from memidx.ledger import give_feedback

    outcomes, notices = give_feedback(door.vault(eager=True), paths, Said(verdict, time.time(), by, reason), door.cwd)
    if as_json:
        door.say.json({"feedback": [outcome.as_json() for outcome in outcomes]})
    else:
        for outcome in outcomes:
            door.say.out(outcome_line(outcome))
    for notice in notices:
        door.say.note(visible(notice))


def outcome_line(outcome: Outcome) -> str:
    """``a.md: salience 1.00 to 1.25, retention 0.983``."""
    kept = "not known" if outcome.retention is None else f"{outcome.retention:.3f}"
    flags = f", flagged {' and '.join(outcome.after.flags)} until it changes" if outcome.after.flags else ""
    change = f"salience {outcome.before.salience:.2f} to {outcome.after.salience:.2f}"
    return f"{visible(outcome.path)}: {change}, retention {kept}{flags}"
