"""`memidx context`: what an agent should read before it answers."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from memidx.doors.command import pass_door
from memidx.doors.commands.query import QueryCommand
from memidx.doors.context_text import FORMS
from memidx.doors.page_filters import filter_options, filters_of, with_known_kinds
from memidx.doors.visible import visible

if TYPE_CHECKING:
    from memidx.doors.door import Door

FOUND, NOTHING = 0, 1
BUDGET = 2000


@click.command(
    "context",
    cls=QueryCommand,
    short_help="Pack the best sections for a question into a budget of tokens.",
    examples=(
        "memidx context how do we roll back a deploy",
        "memidx context --budget 4000 --format xml retry budget",
        "memidx context --kind rule,decision --format json database",
    ),
)
@click.argument("question", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--budget", type=int, default=BUDGET, show_default=True, metavar="TOKENS", help="At most so many tokens.")
@click.option(
    "--format", "form", type=click.Choice(list(FORMS)), default="markdown", show_default=True,
    help="Quotes in Markdown, XML tags, or JSON (docs/json.md).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@filter_options
@click.option("--include-expired", is_flag=True, help="Take pages past their expires_at too.")
@click.option("--no-track", is_flag=True, help="Do not count the pages as accessed.")
@pass_door
def command(door: Door, /, question: tuple[str, ...], **given: Any) -> int:
    """Pack the best sections for QUESTION: rules first, whole sections where they fit, no text twice, each with its
    place as path:line@commit (`memidx cite` looks it up), and what was left out.

    Tokens are estimated: 4 ASCII characters are one, a Chinese, Japanese, Korean or Thai character is one, 2 of any
    other are one.

    Exit code: 0 something was found, 1 nothing, 2 an error.
    """
    from memidx.everyday import context

    now = time.time()
    vault = door.vault(eager=True)
    form = FORMS["json" if given["as_json"] else given["form"]]
    made = context(
        vault,
        " ".join(question),
        budget=given["budget"],
        now=now,
        notify=door.say.note,
        track=not given["no_track"],
        render=form.whole,
        render_passage=form.passage,
        filters=with_known_kinds(filters_of(given, now), vault.settings),
        include_expired=given["include_expired"],
    )
    if form is FORMS["json"]:
        door.say.json(json.loads(form.whole(made)))
    elif made.passages:
        door.say.out(form.whole(made))
    for notice in made.notices:
        door.say.note(visible(notice))
    if made.degraded:
        door.say.note(f"degraded: took no part: {', '.join(made.degraded)}")
    if not made.passages:
        found = made.left_out or made.more_left_out
        door.say.note("no section fits; give more --budget" if found else "nothing found")
    return FOUND if made.passages else NOTHING
