"""`memidx hooks`: put memidx into git's hooks, take it out, or say how it stands."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memidx.doors.door import Door
    from memidx.engines.hooks import Standing

READY, NOT_READY = 0, 1
WORDS = {
    "missing": "not installed",
    "installed": "installed",
    "outdated": "of another version of memidx; `memidx hooks install` updates it",
    "changed": "installed, and changed by hand",
    "other": "not memidx's; `memidx hooks install` keeps it and runs it first",
}


@click.command(
    "hooks",
    cls=Command,
    short_help="Put memidx into git's hooks, take it out, or say how it stands.",
    examples=(
        "memidx hooks install",
        "memidx hooks status --json",
        "memidx hooks uninstall",
    ),
)
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.option("--force", is_flag=True, help="With install: go in front of a hook manager (pre-commit, lefthook) too.")
@json_option
@pass_door
def command(door: Door, /, *, action: str, force: bool, as_json: bool) -> int:
    """Put memidx into this repository's hooks: pages that cannot be read stop a commit, and the index is built as pages
    change. Hooks that are there already are kept, run first, and come back as they were with uninstall.

    Exit code of status: 0 all installed and run by git, 1 not.
    """
    from memidx.upkeep import hooks_install, hooks_status, hooks_uninstall

    if force and action != "install":
        raise UsageError("--force belongs to install")
    if action == "status":
        found = hooks_status(door.cwd, door.environ, shutil.which("memidx", path=door.environ.get("PATH")))
        if as_json:
            door.say.json(found.as_json())
        else:
            for line in status_lines(found):
                door.say.out(line)
        return READY if found.ready else NOT_READY
    if action == "install":
        steps, notes = hooks_install(door.cwd, door.environ, force=force)
    else:
        steps, notes = hooks_uninstall(door.cwd, door.environ), []
    if as_json:
        door.say.json({"steps": [step._asdict() for step in steps], "notes": notes})
        return 0
    for step in steps:
        door.say.out(f"{step.done}: {step.name}" + (f" ({visible(step.why)})" if step.why else ""))
    if not steps:
        door.say.out("nothing to remove: memidx is not in the hooks")
    for note in notes:
        door.say.note(visible(note, keep="\n"))
    return 0


def status_lines(found: Standing) -> Iterator[str]:
    """Where git looks, how each hook stands, what is wrong."""
    where = found.where
    said = "" if where.value is None else f" (core.hooksPath, {where.scope}, {where.origin})"
    yield f"git runs hooks from {visible(str(where.folder) + said)}"
    for hook in found.hooks:
        kept = f"; {hook.name}.before-memidx runs first" if hook.kept and hook.state == "installed" else ""
        yield f"{hook.name:<14} {WORDS[hook.state]}{kept}"
    for problem in found.problems:
        yield f"problem: {visible(problem)}"
    for manager in found.managers:
        yield f"{manager.name} is in use here; its line, for {manager.file}: {manager.line}"
