"""`memidx new`: a new page."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import click

from memidx.doors import completions
from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from memidx.doors.door import Door


@click.command(
    "new",
    cls=Command,
    short_help="Make a page from a template.",
    examples=(
        "memidx new decision Use Postgres for the ledger",
        "memidx new rule 'No force-push to main' --no-edit",
        "memidx new decision Kafka for events --supersedes _decisions/ADR-001.md",
    ),
)
@click.argument("kind", shell_complete=completions.kinds)
@click.argument("title", nargs=-1, required=True)
@click.option("--supersedes", metavar="PATH", shell_complete=completions.paths, help="The page that it replaces.")
@click.option("--folder", metavar="DIR", help="Put it there, from the root, instead of where pages of its kind are.")
@click.option("--dry-run", is_flag=True, help="Print the page instead of writing it.")
@click.option("--no-edit", is_flag=True, help="Do not open it in $EDITOR.")
@json_option
@pass_door
def command(
    door: Door,
    /,
    *,
    kind: str,
    title: tuple[str, ...],
    supersedes: str | None,
    folder: str | None,
    dry_run: bool,
    no_edit: bool,
    as_json: bool,
) -> None:
    """Make a page of KIND called TITLE: from .memidx/templates/KIND.md or a built-in template, in the folder where
    pages of its kind are, with valid front-matter. Prints its path; on a terminal it is opened in $EDITOR.

    --supersedes links both ways: the new page names the old one, and the old one gets `superseded_by`, which is the
    only line of it that is touched. Nothing is staged or committed.
    """
    from memidx.authoring import create_page, plan_page

    vault = door.vault(eager=True)
    name = " ".join(title)
    draft, old = plan_page(vault, kind, name, folder=folder, supersedes=supersedes, cwd=door.cwd, now=time.time())
    if dry_run:
        door.say.note(f"would write {visible(draft.path)}" + (f" and change {visible(old.path)}" if old else ""))
        if as_json:
            door.say.json({"path": draft.path, "title": draft.title, "kind": draft.kind, "text": draft.text})
        else:
            door.say.raw(draft.text.encode())
        return
    written = create_page(vault, draft, old)
    if as_json:
        door.say.json(written.as_json())
    else:
        door.say.out(visible(written.path))
    if written.superseded:
        door.say.note(f"{visible(written.superseded)} is superseded by it now")
    if not no_edit and not as_json:
        edit(door, vault.root / written.path)


def edit(door: Door, path: Path) -> None:
    """Open a page in $VISUAL or $EDITOR, if a person is there. The words are split as a shell would, and no shell runs.

    Raises UsageError when there is no such program; the page is written by then.
    """
    program = door.environ.get("VISUAL") or door.environ.get("EDITOR")
    if not program or not door.say.to_terminal or sys.stdin is None or not sys.stdin.isatty():
        return
    try:
        subprocess.run([*shlex.split(program), str(path)], check=False)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"$EDITOR ({visible(program)}) cannot be run: {error}", hint=f"the page is there: {visible(str(path))}"
        ) from error
