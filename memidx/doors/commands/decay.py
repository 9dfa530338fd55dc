"""`memidx decay`: how well each page is remembered, and when it goes cold."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from memidx.doors.command import Command, json_option, pass_door
from memidx.doors.commands.status import counted
from memidx.doors.visible import visible
from memidx.doors.when import parse_moment
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memidx.doors.door import Door
    from memidx.engines.decay import PageDecay
    from memidx.vault import Vault

DAYS = 365
MOST_CURVES = 20


@click.command(
    "decay",
    cls=Command,
    short_help="List pages by how well they are remembered, the coldest first.",
    examples=(
        "memidx decay --cold --kind session,note",
        "memidx decay --at 2027-01-01 --json",
        "memidx decay plot runbooks/rollback.md --out curve.svg",
        "memidx decay share",
    ),
)
@click.argument("words", metavar="[plot|share] [PATH]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--kind", "kinds", multiple=True, help="Only pages of this kind; several, or a,b: any of them.")
@click.option("--path", "globs", multiple=True, metavar="GLOB", help="Only pages whose path matches, as in .gitignore.")
@click.option("--cold", is_flag=True, help="Only cold pages.")
@click.option("--flagged", is_flag=True, help="Only pages that were called stale or wrong.")
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many pages.")
@click.option("--at", metavar="WHEN", help="As it will be then: 2027-01-01. Pages and events are those of now.")
@click.option("--out", metavar="FILE", help="With plot: draw into this .png or .svg file; needs memidx[plot].")
@click.option("--days", type=click.IntRange(min=1, max=36500), default=DAYS, help="With plot: so many days (365).")
@json_option
@pass_door
def command(door: Door, /, words: tuple[str, ...], **given: Any) -> int:
    """List pages by retention, the coldest first: how much salience, age and use have left of each.

    decay plot draws the curves of pages. decay share writes this clone's access counts into .memidx/decay.jsonl, so
    that they count in other clones too; nothing else ever does.
    """
    vault = door.vault(eager=True)
    action = words[0] if words and words[0] in ("plot", "share") else "list"
    specs = words if action == "list" else words[1:]
    if given["out"] and action != "plot":
        raise UsageError("--out belongs to `memidx decay plot`")
    if action == "share":
        return _share(door, vault, specs, given)
    now = time.time()
    at = now if given["at"] is None else float(parse_moment(given["at"], "--at", now))
    from memidx.ledger import list_decay

    pages, notices = list_decay(vault, at, clock=now, notify=door.say.note)
    chosen = _chosen(vault, pages, door, specs, given)
    for notice in notices:
        door.say.note(visible(notice))
    if action == "plot":
        return _plot(door, vault, chosen, given, named=bool(specs or given["kinds"] or given["globs"]))
    if as_json := given["as_json"]:
        door.say.json({"at": int(at), "cold": vault.settings.decay.cold, "pages": [p.as_json() for p in chosen]})
    else:
        for line in decay_lines(chosen):
            door.say.out(line)
    if not chosen and not as_json:
        door.say.note("no page is like that")
    return 0


def _chosen(
    vault: Vault, pages: Sequence[PageDecay], door: Door, specs: Sequence[str], given: dict[str, Any]
) -> list[PageDecay]:
    """The pages that the options and paths mean, in their order."""
    found = list(pages)
    if specs:
        from memidx.engines.feedback import chosen
        from memidx.ground.listing import Entry

        entries = [Entry(page.path, "") for page in pages]
        wanted = {entry.path for entry in chosen([vault.place(spec, door.cwd) for spec in specs], entries)}
        found = [page for page in found if page.path in wanted]
    kinds = [kind.strip() for kinds in given["kinds"] for kind in kinds.split(",") if kind.strip()]
    if kinds:
        from memidx.outside import known_kinds

        known = known_kinds(kinds, vault.settings)
        found = [page for page in found if page.kind in known]
    if given["globs"]:
        from memidx.parsing.globs import glob_spec  # pathspec: 10 ms, paid by --path alone

        specs_ = [glob_spec([glob]) for glob in given["globs"]]
        found = [page for page in found if all(spec.match_file(page.path) for spec in specs_)]
    if given["cold"]:
        found = [page for page in found if page.cold]
    if given["flagged"]:
        found = [page for page in found if page.flags]
    return found[: given["limit"]]


def _share(door: Door, vault: Vault, specs: Sequence[str], given: dict[str, Any]) -> int:
    if specs:
        raise UsageError("`memidx decay share` shares the counts of every page", hint="leave the paths out")
    from memidx.ledger import share

    rows = share(vault, time.time())
    added = [{"path": row.path, "clone": row.clone, "days": len(row.days)} for row in rows]
    if given["as_json"]:
        door.say.json({"shared": added})
    elif rows:
        door.say.out(f"shared the counts of {counted(len(rows), 'page')}; commit .memidx/decay.jsonl")
    else:
        door.say.out("nothing new to share")
    return 0


def _plot(door: Door, vault: Vault, pages: Sequence[PageDecay], given: dict[str, Any], *, named: bool) -> int:
    if not named:
        raise UsageError("which pages?", hint="give paths, --kind or --path")
    from memidx.doors import curves
    from memidx.engines.decay import curve

    known = [page for page in pages if page.retention is not None]
    if not known:
        door.say.note("the retention of these pages is not known")
        return 1
    if len(known) > MOST_CURVES:
        door.say.note(f"the {MOST_CURVES} coldest of {len(known)} pages")
    settings = vault.settings.decay
    lines = [(page.path, curve(page, settings, given["days"])) for page in known[:MOST_CURVES]]
    if given["out"]:
        target = door.cwd / given["out"]
        if curves.draw(lines, settings.cold, target):
            door.say.out(f"drew {counted(len(lines), 'curve')} into {visible(str(target))}")
            return 0
        door.say.note("no file was written: matplotlib is not installed; `pip install 'memidx[plot]'`")
    for line in curves.text_chart(lines, settings.cold, given["days"]):
        door.say.out(line)
    return 1 if given["out"] else 0


def decay_lines(pages: Sequence[PageDecay]) -> Iterator[str]:
    """A table, one page a line."""
    if pages:
        yield "retention  salience    age  accesses  cold on     page"
    for page in pages:
        kept = "-" if page.retention is None else f"{page.retention:.3f}"
        age = "-" if page.age_days is None else f"{page.age_days:.0f} d"
        day = page.cold_on or "-"
        flags = f"  ({', '.join(page.flags)})" if page.flags else ""
        numbers = f"{kept:>9}  {page.salience:>8.2f}  {age:>6} {page.accesses:>8}  {day:<10}"
        yield f"{numbers}  {visible(page.path)}{flags}"
