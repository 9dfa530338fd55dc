"""`memidx query`: search the pages."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memidx.doors import completions
from memidx.doors.answer_text import answer_lines
from memidx.doors.command import Command, pass_door
from memidx.doors.hyperlinks import knows_links, link
from memidx.doors.line_format import line_options, print_lines, wants_lines
from memidx.doors.page_filters import filter_options, filters_of, with_known_kinds
from memidx.doors.ranking_options import ranking_of, ranking_options
from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memidx.doors.door import Door
    from memidx.ground.hits import Answer, Hit
    from memidx.vault import Refresh

FOUND, NOTHING = 0, 1
_LIMIT = re.compile(r"-n\d+")


def split_words(args: Iterable[str], takes_value: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """Tell options from the words of the query. ``takes_value`` says of each known option whether a value follows.

    What starts with two dashes is an option. What starts with one is an option only if it is exactly a known one, or
    -n with its number; anything else is a word to leave out, like `-draft`. After `--` everything is words.
    """
    options: list[str] = []
    words: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            words.extend(rest)
        elif arg in takes_value or (arg.startswith("--") and len(arg) > 2):  # noqa: PLR2004 - more than the dashes
            options.append(arg)
            if takes_value.get(arg):
                options.extend(value for value in [next(rest, None)] if value is not None)
        elif _LIMIT.fullmatch(arg):
            options.append(arg)
        else:
            words.append(arg)
    return options, words


class QueryCommand(Command):
    """A command whose words may start with a dash."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        takes_value = {name: not (p.is_flag or p.count) for p in options for name in (*p.opts, *p.secondary_opts)}
        chosen, words = split_words(args, takes_value)
        return super().parse_args(ctx, [*chosen, "--", *words])


@click.command(
    "query",
    cls=QueryCommand,
    short_help="Search the pages.",
    examples=(
        "memidx query how do we roll back a deploy",
        "memidx query '\"exact words\"' deploy -draft tag:ops kind:procedure",
        "memidx query --kind decision,rule --since 6m -n 5 retries",
        "memidx query --near notes/2026-05-12.md:40",
    ),
)
@click.argument("text", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--near", metavar="PATH[:LINE]", shell_complete=completions.paths, help="In place of TEXT: pages like this one."
)
@click.option("-n", "--limit", type=click.IntRange(min=1), help="At most so many hits (default: query.limit, 10).")
@filter_options
@ranking_options
@click.option("--rev", metavar="REV", help="Search the pages of a commit, a tag or a branch.")
@click.option("--staged", is_flag=True, help="Search the pages as the next commit would have them.")
@click.option("--index", metavar="DIR", help="Search an exported index; needs no repository.")
@click.option("--no-refresh", is_flag=True, help="Answer from the last build, whatever has changed.")
@click.option("--require-fresh", is_flag=True, help="Fail (exit 2) instead of building or answering from an old build.")
@click.option("--no-track", is_flag=True, help="Do not count the pages of the answer as accessed.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object (docs/json.md).")
@click.option("--jsonl", "as_lines", is_flag=True, help="Print one JSON object a hit, each on its line.")
@line_options
@click.option("--explain", is_flag=True, help="Show every number that took part.")
@pass_door
def command(door: Door, /, text: tuple[str, ...], **given: Any) -> int:
    """Search the pages for TEXT, by words and by meaning.

    The words may be quoted together or not. A word that starts with one dash is left out of the answer; after `--`
    everything is words, also what looks like an option. Operators: "side by side", -word, tag:x, path:x, kind:x.

    Exit code: 0 something was found, 1 nothing, 2 an error.
    """
    if not text and given["near"] is None:
        raise UsageError("nothing is asked", hint="give a question, or --near PATH for pages like one")
    answer, root = _ask(door, " ".join(text), given)
    _print(door, answer, given, root)
    return FOUND if answer.hits else NOTHING


def _ask(door: Door, text: str, given: Mapping[str, Any]) -> tuple[Answer, Path]:
    """The answer, and the folder that its paths are relative to."""
    now = time.time()
    asked: dict[str, Any] = {
        "limit": given["limit"],
        "filters": filters_of(given, now),
        **ranking_of(given),
        "explain": given["explain"],
        "now": now,
    }
    refresh = _refresh(given)
    if given["near"] is not None:
        return _near(door, text, given, asked)
    if given["index"] is not None:
        if given["rev"] is not None or given["staged"] or refresh != "auto":
            raise UsageError("--index answers from that folder alone", hint="leave --rev, --staged and --…fresh out")
        from memidx.outside import query_exported

        folder = door.cwd / Path(given["index"])
        return query_exported(folder, text, environ=door.environ, options=door.options, **asked), door.cwd
    source = door.source(given["rev"], staged=given["staged"])
    vault = door.vault(eager=source.kind == "worktree")
    asked["filters"] = with_known_kinds(asked["filters"], vault.settings)
    notify, track = door.say.note, not given["no_track"]
    return vault.query(text, refresh=refresh, source=source, notify=notify, track=track, **asked), vault.root


def _near(door: Door, text: str, given: Mapping[str, Any], asked: dict[str, Any]) -> tuple[Answer, Path]:
    from memidx.everyday import near

    other = [name for name in ("rev", "staged", "index", "no_refresh", "require_fresh") if given[name]]
    if text or other:
        what = "a question" if text else "--" + other[0].replace("_", "-")
        raise UsageError(f"--near and {what} do not go together", hint="leave one of them out")
    vault = door.vault(eager=True)
    asked["filters"] = with_known_kinds(asked["filters"], vault.settings)
    found = near(vault, given["near"], door.cwd, notify=door.say.note, track=not given["no_track"], **asked)
    return found, vault.root


def _refresh(given: Mapping[str, Any]) -> Refresh:
    if given["no_refresh"] and given["require_fresh"]:
        raise UsageError("--no-refresh and --require-fresh contradict each other", hint="leave one of them out")
    if given["require_fresh"]:
        return "required"
    return "never" if given["no_refresh"] else "auto"


def _print(door: Door, answer: Answer, given: Mapping[str, Any], root: Path) -> None:
    explain = given["explain"]
    if given["as_json"]:
        door.say.json(answer.as_json(explain=explain))
    elif given["as_lines"]:
        for hit in answer.hits:
            door.say.json(hit.as_json(explain=explain), line=True)
    elif wants_lines(given):
        print_lines(door, given, root, (hit_fields(number, hit) for number, hit in enumerate(answer.hits, 1)))
    else:
        places = door.say.to_terminal and door.say.color != "never" and knows_links(door.environ)
        linked = (lambda shown, path: link(shown, root / path)) if places else None
        for line in answer_lines(answer, door.say.style, explain=explain, linked=linked):
            door.say.out(line)
    if answer.fresh == "stale":
        door.say.note("stale: this answer is from an older build")
    if answer.degraded:
        door.say.note(f"degraded: took no part: {', '.join(answer.degraded)}")
    for notice in answer.notices:
        door.say.note(visible(notice))
    if not answer.hits:
        door.say.note("nothing found")


def hit_fields(number: int, hit: Hit) -> dict[str, Any]:
    """What --format can name."""
    return {
        "number": number,
        "path": hit.path,
        "title": hit.title,
        "kind": hit.kind,
        "tags": hit.tags,
        "line": hit.line,
        "end_line": hit.end_line,
        "heading": " > ".join(hit.heading),
        "snippet": " ".join(hit.snippet.split("\n")),
        "rank": hit.rank,
        "fused": hit.fused,
        "authority": hit.authority,
    }
