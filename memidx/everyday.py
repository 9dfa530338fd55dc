"""The composition root of what people and agents do all day: context, what is new, what belongs together, citations.

Functions that take an opened vault; the command line and the MCP server share them.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Unpack

from memidx.engines.query import QueryOptions, Ranked, make_question, rank_pages
from memidx.engines.show import find
from memidx.ground.errors import UsageError
from memidx.ground.history import bulk_size
from memidx.ground.source import WORKTREE, Source
from memidx.ground.tokencount import estimate_tokens
from memidx.ledger import count, informed, pages_of_hits, read_sidecar
from memidx.reading import Opened, read_fresh, read_twice

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from memidx.engines.brief import Brief
    from memidx.engines.cite import Cited
    from memidx.engines.context import Context, Passage
    from memidx.engines.query import Question
    from memidx.engines.recent import Recent
    from memidx.engines.related import PageLinks, Related
    from memidx.engines.snapshot import Snapshot
    from memidx.ground.hits import Answer
    from memidx.ledger import Dates
    from memidx.stores.catalog import PageRow
    from memidx.vault import Notify, Refresh, Vault

LEAST_BUDGET = 100  # tokens; less holds no section
MOST_FOR_LEFT_OUT = 200  # tokens
CANDIDATES = 50  # pages ranked for a context; the window of each stream grows with it


# -- context ----------------------------------------------------------------------------------------------------------


class _Packed(NamedTuple):
    context: Context
    pages: list[tuple[str, str]]  # that count as accessed
    broken: bool


def context(
    vault: Vault,
    question: str,
    *,
    budget: int = 2000,
    now: float | None = None,
    refresh: Refresh = "auto",
    notify: Notify | None = None,
    track: bool = True,
    render: Callable[[Context], str] | None = None,
    render_passage: Callable[[Passage], str] | None = None,
    **options: Unpack[QueryOptions],
) -> Context:
    """The best sections for a question, in at most ``budget`` tokens as ``estimate_tokens`` counts them.

    ``render`` is how it will be printed, ``render_passage`` how one passage is: the estimate is of that text.
    Raises UsageError for a budget that holds nothing.
    """
    if budget < LEAST_BUDGET:
        raise UsageError(f"a budget of {budget} tokens holds nothing", hint=f"give at least {LEAST_BUDGET}")
    at = time.time() if now is None else now
    options["limit"] = CANDIDATES
    asked = make_question(question, vault.settings, now=at, **options)
    _, packed = read_twice(
        vault,
        lambda: vault.open_snapshot(WORKTREE, refresh, notify),
        lambda opened: _pack(
            vault,
            opened,
            (question, asked),
            budget,
            whole=render or _plain,
            piece=render_passage or _plain_passage,
        ),
        rebuild=refresh != "never",
        is_broken=lambda made: made.broken,
    )
    if track:
        count(vault, packed.pages, at)
    return packed.context


def _pack(
    vault: Vault,
    opened: Opened,
    asked: tuple[str, Question],
    budget: int,
    *,
    whole: Callable[[Context], str],
    piece: Callable[[Passage], str],
) -> _Packed:
    from memidx.engines.context import Context, pack, units

    snapshot, fresh, notices = opened
    text, question = asked
    result = Ranked(notices=list(question.parsed.hints))
    question, dates = informed(vault, question, snapshot, WORKTREE)
    ranking = rank_pages(snapshot, question, vault.embedder, vault.settings, result)
    if vault.model_error:
        notices = (*notices, f"{vault.model_error.message}; {vault.model_error.hint}")
    found = units(snapshot, ranking, vault.settings)
    commit, commits = _commits(vault, {unit.page.page.id: unit.page.page for unit in found}.values())

    def cost(passage: Passage) -> int:
        return estimate_tokens(piece(passage)) + 1  # the blank line between two

    made = Context(
        text, budget, 0, snapshot.key, fresh, commit, (), (), 0, tuple(result.degraded),
        (*notices, *dates.notices, *result.notices),
    )  # fmt: skip
    # What is left out is to be named too, as far as a twelfth of the budget goes.
    room = budget - estimate_tokens(whole(made)) - min(budget // 12, MOST_FOR_LEFT_OUT)
    passages, left = pack(found, snapshot.lexical.texts, commits, room, cost)
    made = replace(made, passages=tuple(passages), left_out=tuple(left))
    while (tokens := estimate_tokens(whole(replace(made, tokens=budget)))) > budget and (
        made.left_out or made.passages
    ):
        if made.left_out:
            made = replace(made, left_out=made.left_out[:-1], more_left_out=made.more_left_out + 1)
        else:
            made = replace(made, passages=made.passages[:-1], more_left_out=made.more_left_out + 1)
    blobs = {unit.page.page.path: unit.page.page.blob for unit in found}
    pages = [(path, blobs[path]) for path in dict.fromkeys(p.path for p in made.passages)]
    return _Packed(replace(made, tokens=tokens), pages, bool(result.broken))


def _commits(vault: Vault, pages: Iterable[PageRow]) -> tuple[str | None, dict[str, str | None]]:
    """The commit of HEAD, and by path that commit where it holds the page as it is, else None."""
    from memidx.stores.git.changes import blobs_at

    rows = list(pages)
    head = vault.git.commit_of_head()
    if head is None or not rows:
        return head, dict.fromkeys((row.path for row in rows), None)
    there = blobs_at(vault.git.runner, vault.git.where, head, [row.path for row in rows])
    return head, {row.path: head if there.get(row.path) == row.blob else None for row in rows}


def _plain(context: Context) -> str:
    return "\n".join([context.question, *map(_plain_passage, context.passages)])


def _plain_passage(passage: Passage) -> str:
    return "\n".join([passage.title, *passage.heading, passage.citation, passage.text])


# -- what is new, what belongs together -------------------------------------------------------------------------------


def recent(
    vault: Vault,
    *,
    since: float | None = None,
    until: float | None = None,
    kinds: Collection[str] = (),
    limit: int = 20,
    now: float | None = None,
    notify: Notify | None = None,
) -> tuple[list[Recent], tuple[str, ...]]:
    """Pages by when they changed, the last one first, with what changed; and what a person should know.

    Dates are those of the decay: front-matter, else git's history without bulk commits. Undated pages are left out.
    """
    from memidx.engines.recent import newest
    from memidx.engines.recent import recent as tell

    at = time.time() if now is None else now
    every = read_fresh(vault, lambda snapshot: list(snapshot.catalog.all_pages()), notify)
    rows = [row for row in every if not kinds or row.kind in kinds]
    pages = len(every)
    changed, dates = _dater(vault, pages, at)
    chosen = newest(rows, changed, since=since, until=until, limit=limit)
    entries = {entry.path: entry for entry in vault.listing().entries}
    decay = vault.settings.decay
    bulk = bulk_size(pages, decay.bulk_share, decay.bulk_least)
    found = tell(vault.git, chosen, entries, vault.settings, selector=vault.selector, bulk=bulk)
    return found, tuple(dates.notices)


def _dater(vault: Vault, pages: int, now: float) -> tuple[Callable[[PageRow], tuple[int | None, str]], Dates]:
    from memidx.engines.decay import dater
    from memidx.ledger import Dates

    dates = Dates(vault, WORKTREE, pages=pages, now=now, walk=True)
    return dater(dates.history, pages, vault.settings.decay, now), dates


def _page(vault: Vault, snapshot: Snapshot, spec: str, cwd: Path | None) -> PageRow:
    """The page that a person named. Raises UsageError that names the nearest ones."""
    from memidx.ground.listing import Entry

    entries = [Entry(path, blob) for path, blob in snapshot.catalog.listing()]
    path = find(*vault.place(spec, cwd), entries).entry.path
    number = snapshot.catalog.page_ids([path])[path]
    return snapshot.catalog.pages([number])[number]


def related(
    vault: Vault, spec: str, cwd: Path | None = None, *, limit: int = 10, notify: Notify | None = None
) -> tuple[PageRow, list[Related]]:
    """The page that ``spec`` names, and the pages that have to do with it, each with why."""
    from memidx.engines.related import related as relate

    def work(snapshot: Snapshot) -> tuple[PageRow, list[Related]]:
        page = _page(vault, snapshot, spec, cwd)
        return page, relate(snapshot, page, limit)

    return read_fresh(vault, work, notify)


def near(
    vault: Vault,
    spec: str,
    cwd: Path | None = None,
    *,
    now: float | None = None,
    notify: Notify | None = None,
    track: bool = True,
    **options: Unpack[QueryOptions],
) -> Answer:
    """Pages like the one that ``spec`` names, or like its section at a line: ``PATH`` or ``PATH:LINE``.

    They are ranked as for a question that says what the page says. Raises UsageError as ``related`` does.
    """
    from memidx.engines.near import subject
    from memidx.engines.query import answer
    from memidx.vault import make_answer

    path, colon, line = spec.rpartition(":")
    at_line = int(line) if colon and line.isdecimal() else None
    question = make_question("", vault.settings, now=time.time() if now is None else now, **options)

    def work(snapshot: Snapshot) -> tuple[Answer, bool, list[tuple[str, str]]]:
        about = subject(snapshot, _page(vault, snapshot, spec if at_line is None else path, cwd), at_line)
        asked, dates = informed(vault, replace(question, parsed=about.parsed, near=about), snapshot, WORKTREE)
        ranked = answer(snapshot, asked, vault.embedder, vault.settings)
        pages = pages_of_hits(vault, snapshot, ranked.hits) if track else []
        return make_answer(spec, snapshot, "fresh", ranked, dates.notices), bool(ranked.broken), pages

    found, _, pages = read_fresh(vault, work, notify, is_broken=lambda made: made[1])
    count(vault, pages, question.now)
    return found


def links(vault: Vault, spec: str, cwd: Path | None = None, *, notify: Notify | None = None) -> PageLinks:
    """The links on a page and those that lead to it."""
    from memidx.engines.related import page_links

    return read_fresh(vault, lambda snapshot: page_links(snapshot.catalog, _page(vault, snapshot, spec, cwd)), notify)


def brief(vault: Vault, *, days: int = 14, now: float | None = None, notify: Notify | None = None) -> Brief:
    """Rules, decisions in force, what is new, what is flagged or expiring. Raises SidecarError as feedback does."""
    from memidx.engines.brief import brief as tell
    from memidx.ground.events import Page, flagged, judge

    at = time.time() if now is None else now
    rows = read_fresh(vault, lambda snapshot: list(snapshot.catalog.all_pages()), notify)
    sidecar, notices = read_sidecar(vault)
    states = judge(sidecar.events, [Page(row.path, row.blob) for row in rows], vault.settings.decay)
    flags = {path: states[path].flags for path in flagged(states)}
    changed, dates = _dater(vault, len(rows), at)
    said = (*notices, *dates.notices)
    return tell(rows, changed, flags, vault.settings.authority, now=at, days=days, notices=said)


def cite(vault: Vault, text: str, cwd: Path | None = None) -> Cited:
    """What ``path:line@commit`` names, as it was, and whether it has changed since.

    Raises UsageError for a text that is no citation or names no page, GitError for an unknown commit.
    """
    from memidx.engines.cite import cite as look_up
    from memidx.ground.citation import parse_citation

    citation = parse_citation(text)
    path, inside = vault.place(citation.path, cwd)
    then = vault.listing(Source("rev", citation.rev))
    return look_up(citation._replace(path=path), inside, then, vault.listing(), git=vault.git, settings=vault.settings)
