"""The tools of the MCP server: each from checked arguments to a typed result, over one vault that stays open."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from memidx.doors import mcp_input as given
from memidx.doors import mcp_output as made
from memidx.doors.context_text import FORMS
from memidx.doors.page_filters import filters_of, with_known_kinds
from memidx.doors.visible import visible
from memidx.doors.when import parse_moment
from memidx.ground.errors import UsageError
from memidx.ground.source import WORKTREE, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memidx.ground.diagnostics import Diagnostic
    from memidx.vault import Vault

Made = TypeVar("Made", bound=made.Output)
Run = Callable[["Vault", Any], tuple[made.Output, str | None]]
MOST_FINDINGS = 50


class Tool(NamedTuple):
    """One tool. ``run`` gives the result, and a text for the reader where that is not the result's JSON."""

    name: str
    about: str
    arguments: type[given.Arguments]
    output: type[made.Output]
    run: Run
    reads: bool = True  # changes nothing that git tracks
    destroys: bool = False  # may replace what somebody wrote


def shown(model: type[Made], plain: dict[str, Any]) -> Made:
    """The result, with hidden characters of every text in it made visible."""
    return model.model_validate(made_visible(plain))


def made_visible(value: Any) -> Any:
    r"""Nested values with every text as ``visible`` has it; line ends and tabs stay."""
    if isinstance(value, str):
        return visible(value, keep="\n\t")
    if isinstance(value, dict):
        return {visible(str(key)): made_visible(item) for key, item in value.items()}
    return [made_visible(item) for item in value] if isinstance(value, list | tuple) else value


def real_path(vault: Vault, spec: str) -> str:
    """A path as it was shown to the client, back to the page's own: hidden characters were written out in it."""
    if "\\" not in spec:
        return spec
    path, colon, line = spec.rpartition(":")
    for wanted, rest in ((spec, ""), (path, colon + line)):
        found = [e.path for e in vault.listing().entries if visible(e.path) == wanted]
        if len(found) == 1:
            return found[0] + rest
    return spec


def _query(vault: Vault, asked: given.QueryArguments) -> tuple[made.Output, None]:
    now = time.time()
    answer = vault.query(
        asked.query,
        now=now,
        source=Source("rev", asked.rev) if asked.rev is not None else WORKTREE,
        limit=asked.limit,
        filters=with_known_kinds(filters_of(asked.given(), now), vault.settings),
        only=asked.only,
        rank=asked.rank,
        weights=asked.weight or None,
        floor=asked.floor,
        include_expired=asked.include_expired,
        explain=asked.explain,
    )
    return shown(made.QueryOutput, {**answer.as_json(explain=asked.explain), "notices": list(answer.notices)}), None


def _context(vault: Vault, asked: given.ContextArguments) -> tuple[made.Output, str]:
    from memidx.everyday import context

    now = time.time()
    form = FORMS["markdown"]
    found = context(
        vault,
        asked.question,
        budget=asked.budget,
        now=now,
        filters=with_known_kinds(filters_of(asked.given(), now), vault.settings),
        include_expired=asked.include_expired,
        render=form.whole,
        render_passage=form.passage,
    )
    return shown(made.ContextOutput, {**found.as_json(), "notices": list(found.notices)}), form.whole(found)


def _read(vault: Vault, asked: given.ReadArguments) -> tuple[made.Output, None]:
    from memidx.everyday import related

    source = Source("rev", asked.rev) if asked.rev is not None else WORKTREE
    page = vault.show(real_path(vault, asked.path), source=source)
    plain = page.as_json()
    text = plain.pop("text")
    cut = text[: asked.max_chars]
    near = related(vault, page.entry.path, limit=5)[1] if asked.related and asked.rev is None else []
    out = shown(
        made.ReadOutput,
        {
            **{name: plain[name] for name in ("path", "blob", "title", "kind", "meta", "line", "end_line", "sections")},
            "diagnostics": _findings(page.page.diagnostics),
            "text": cut,
            "exact": visible(cut, keep="\n\t") == cut and not page.page.degraded,
            "truncated": len(cut) < len(text),
            "related": [other.as_json() for other in near],
        },
    )
    return out, None


def _recent(vault: Vault, asked: given.RecentArguments) -> tuple[made.Output, None]:
    from memidx.everyday import recent
    from memidx.outside import known_kinds

    now = time.time()
    found, notices = recent(
        vault,
        since=None if asked.since is None else parse_moment(asked.since, "since", now),
        until=None if asked.until is None else parse_moment(asked.until, "until", now, end_of_day=True),
        kinds=known_kinds(asked.kind, vault.settings),
        limit=asked.limit,
        now=now,
    )
    return shown(made.RecentOutput, {"pages": [page.as_json() for page in found], "notices": list(notices)}), None


def _related(vault: Vault, asked: given.RelatedArguments) -> tuple[made.Output, None]:
    from memidx.everyday import related

    row, found = related(vault, real_path(vault, asked.path), limit=asked.limit)
    plain = {"path": row.path, "title": row.title, "kind": row.kind, "related": [r.as_json() for r in found]}
    return shown(made.RelatedOutput, plain), None


def _feedback(vault: Vault, asked: given.FeedbackArguments) -> tuple[made.Output, None]:
    from memidx.engines.feedback import Said
    from memidx.ledger import give_feedback

    said = Said(asked.kind, time.time(), asked.by, asked.reason)
    (outcome,), notices = give_feedback(vault, [real_path(vault, asked.path)], said)
    return shown(made.FeedbackOutput, {**outcome.as_json(), "notices": list(notices)}), None


def _status(vault: Vault, _: given.StatusArguments) -> tuple[made.Output, None]:
    plain = vault.status().as_json()
    findings = plain["diagnostics"]
    names = ("fresh", "reasons", "snapshot", "counts", "kinds", "degraded", "model", "model_error", "graph", "bytes")
    some = {
        **{name: plain[name] for name in names},
        "root": str(vault.root),
        "diagnostics": findings[:MOST_FINDINGS],
        "more_diagnostics": max(len(findings) - MOST_FINDINGS, 0),
    }
    return shown(made.StatusOutput, some), None


def _check(vault: Vault, asked: given.CheckArguments) -> tuple[made.Output, None]:
    from memidx.doors.commands.check import reported_by
    from memidx.upkeep import check_pages

    reported = reported_by(vault, vault.root, tuple(asked.path)) if asked.path else None
    found = check_pages(vault, now=time.time(), reported=reported, least="warning")
    worst = sorted(found.findings, key=lambda d: d.severity != "error")
    plain = {
        **found.as_json(),
        "diagnostics": _findings(worst[: asked.limit]),
        "more_diagnostics": max(len(worst) - asked.limit, 0),
    }
    return shown(made.CheckOutput, plain), None


def _write(vault: Vault, asked: given.WriteArguments) -> tuple[made.Output, None]:
    from memidx.authoring import create_page, plan_page, write_page

    if asked.path is None:
        if not asked.kind or not asked.title or asked.blob is not None:
            raise UsageError("give path (with blob for a page that exists), or kind and title for a new page")
        replaces = real_path(vault, asked.supersedes) if asked.supersedes else None
        draft, old = plan_page(vault, asked.kind, asked.title, supersedes=replaces, body=asked.text, now=time.time())
        written = create_page(vault, draft, old)
    else:
        if asked.kind or asked.title or asked.supersedes:
            raise UsageError("with a path the text says kind and title itself", hint="leave path out, or the others")
        written = write_page(vault, real_path(vault, asked.path), asked.text, asked.blob)
    return shown(made.WriteOutput, written.as_json()), None


def _findings(found: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    return [d._asdict() for d in found]


def resource_text(vault: Vault, path: str) -> str:
    """The page at a path, as it is now."""
    return visible(vault.show(real_path(vault, path)).text, keep="\n\t")


def resource_page(vault: Vault, cursor: str | None, size: int) -> tuple[list[tuple[str, str]], str | None]:
    """Some pages as (path, title) after ``cursor``, a path, and the cursor of the next ones."""
    from memidx.reading import read_twice

    rows = read_twice(
        vault, vault.open_snapshot, lambda opened: [(r.path, r.title) for r in opened.snapshot.catalog.all_pages()]
    )[1]
    start = next((at for at, (path, _) in enumerate(rows) if path == cursor), -1) + 1 if cursor else 0
    some = rows[start : start + size]
    return some, some[-1][0] if start + size < len(rows) else None


def _tool(name: str, about: str, arguments: Any, output: Any, run: Any, **kind: bool) -> Tool:
    return Tool(name, about, arguments, output, cast("Run", run), **kind)


TOOLS: Sequence[Tool] = (
    _tool(
        "memory_query",
        "Search the team's memory (markdown pages in git) by words and by meaning. Ask before you decide or change "
        "something: rules, decisions, runbooks, gotchas. No hits means that the memory has no answer.",
        given.QueryArguments, made.QueryOutput, _query,
    ),
    _tool(
        "memory_context",
        "The best sections for a question, packed into a budget of tokens, rules first, each with a citation "
        "path:line@commit. Use it to answer a question in one call.",
        given.ContextArguments, made.ContextOutput, _context,
    ),
    _tool(
        "memory_read",
        "Read a page, or with path:line one section, with its blob id and the pages related to it.",
        given.ReadArguments, made.ReadOutput, _read,
    ),
    _tool(
        "memory_recent", "Pages by when they changed, the last one first, and what changed in them.",
        given.RecentArguments, made.RecentOutput, _recent,
    ),
    _tool(
        "memory_related", "Pages that replace a page, link to it or are like it, each with why.",
        given.RelatedArguments, made.RelatedOutput, _related,
    ),
    _tool(
        "memory_feedback",
        "Say that a page was helpful, not-helpful, stale or wrong, after you used it. It is added to a log that people "
        "commit.",
        given.FeedbackArguments, made.FeedbackOutput, _feedback, reads=False,
    ),
    _tool(
        "memory_status", "Whether the index matches the pages, and what is in it.",
        given.StatusArguments, made.StatusOutput, _status,
    ),
    _tool(
        "memory_check", "What is wrong in the pages and between them: front-matter, links, duplicates, expiry, flags.",
        given.CheckArguments, made.CheckOutput, _check,
    ),
    _tool(
        "memory_write",
        "Write a page, only when you were asked to: a new one (kind and title, or a path), or the whole new text of a "
        "page given the blob id it was read at; refused when it has changed since. Never commits.",
        given.WriteArguments, made.WriteOutput, _write, reads=False, destroys=True,
    ),
)  # fmt: skip
WRITING = frozenset(tool.name for tool in TOOLS if not tool.reads)
