"""`memidx check`: what is not as it should be."""

from __future__ import annotations

import os
import posixpath
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.commands.status import counted
from memidx.doors.findings_text import github_lines, sarif_text, text_lines
from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from memidx.doors.door import Door
    from memidx.engines.check import Checked
    from memidx.vault import Vault

PASSED, FAILED = 0, 1


@click.command(
    "check",
    cls=Command,
    short_help="Look for what is wrong in the pages and between them.",
    examples=(
        "memidx check",
        "memidx check --staged notes/deploy.md",
        "memidx check --fix --dry-run",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path())
@click.option("--staged", is_flag=True, help="Check the pages as the next commit would have them.")
@click.option("--rev", metavar="REV", help="Check the pages of a commit, a tag or a branch.")
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and show it as a diff. Never changes a page.")
@click.option("--dry-run", is_flag=True, help="With --fix: only show the diff.")
@click.option("--all", "everything", is_flag=True, help="Show also what is only good to know.")
@click.option(
    "--format", "form", type=click.Choice(["text", "github", "sarif"]), default="text",
    help="text; github: annotations in a workflow; sarif: for code scanners.",
)  # fmt: skip
@json_option
@pass_door
def command(
    door: Door,
    /,
    *,
    paths: tuple[str, ...],
    staged: bool,
    rev: str | None,
    fix: bool,
    dry_run: bool,
    everything: bool,
    form: str,
    as_json: bool,
) -> int:
    """Look for what is wrong in the pages: front-matter, merge conflicts, broken and ambiguous links, duplicate titles
    and ids, expired and superseded pages, names that clash on other systems.

    With PATHS (files or folders) only those are named, whatever they are compared with. Nothing needs to be built.
    How bad a finding is can be set by its code: check.severity in the config.

    Exit code: 0 no errors, 1 errors, 2 the check could not be made.
    """
    if dry_run and not fix:
        raise UsageError("--dry-run belongs to --fix", hint="a check alone changes nothing")
    if fix and (staged or rev is not None):
        raise UsageError("--fix changes files on disk", hint="leave --staged and --rev out")
    if as_json and form != "text":
        raise UsageError(f"--json and --format {form} contradict each other", hint="leave one of them out")
    source = door.source(rev, staged=staged)
    vault = door.vault(eager=source.kind == "worktree" and not fix)
    from memidx.upkeep import check_pages

    reported = reported_by(vault, door.cwd, paths) if paths else None
    if fix:
        _fix(door, vault, dry_run=dry_run, quiet=as_json or form != "text")
    found = check_pages(vault, source, now=time.time(), reported=reported)
    if as_json:
        door.say.json(found.as_json())
    elif form == "sarif":
        door.say.out(sarif_text(found.findings, vault.git.where.prefix))
    elif form == "github":
        for line in github_lines(found.findings, vault.git.where.prefix):
            door.say.out(line)
    else:
        _print(door, found, everything=everything)
    return PASSED if found.ok else FAILED


def reported_by(vault: Vault, cwd: Path, paths: tuple[str, ...]) -> Callable[[str], bool]:
    """A predicate over vault-relative paths: below one of ``paths``, which are relative to ``cwd``.

    Raises UsageError for a path outside the vault. One that is no page is passed over: callers hand in what changed.
    """
    root = vault.root.resolve()
    chosen = set()
    for path in paths:
        # The last part is not followed: a link in the vault is itself, wherever it points.
        name = os.path.normpath(cwd / path)
        whole = Path(name).parent.resolve() / Path(name).name
        if whole != root and not whole.is_relative_to(root):
            raise UsageError(f"{visible(path)} is outside the vault {visible(str(root))}")
        chosen.add(posixpath.normpath(whole.relative_to(root).as_posix()))
    folders = tuple(path + "/" for path in chosen)
    return lambda path: "." in chosen or path in chosen or path.startswith(folders)


def _fix(door: Door, vault: Vault, *, dry_run: bool, quiet: bool) -> None:
    from memidx.upkeep import apply_mends, plan_mends

    mends = plan_mends(vault)
    for mend in mends:
        for line in mend.diff():
            (door.say.err if quiet else door.say.out)(visible(line, keep="\t"))
    if not dry_run:
        apply_mends(vault, mends)
    what = "would be changed" if dry_run else "changed"
    door.say.note(f"{counted(len(mends), 'file')} {what}" if mends else "nothing that can be mended without you")


def _print(door: Door, found: Checked, *, everything: bool) -> None:
    shown = [note for note in found.findings if everything or note.severity != "info"]
    for line in text_lines(shown):
        door.say.out(line)
    counts = found.counts
    words = [counted(counts[name], name) for name in ("error", "warning") if counts.get(name)]
    if notes := counts.get("info", 0):
        words.append(counted(notes, "note") + ("" if everything else " (--all shows them)"))
    door.say.note(f"{counted(found.pages, 'page')}: {', '.join(words) or 'nothing to say'}")
