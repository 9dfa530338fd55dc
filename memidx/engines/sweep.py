"""Who would be swept, and doing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines.references import resolve
from memidx.ground.errors import UsageError
from memidx.ground.sweep import Subject, Verdict, decide, too_many
from memidx.stores.git.removal import move, remove

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from memidx.engines.decay import PageDecay
    from memidx.ground.settings import DecaySettings
    from memidx.stores.catalog import Catalog
    from memidx.stores.git import Git


class Plan(NamedTuple):
    """What a sweep would do."""

    swept: tuple[Verdict, ...]
    kept: tuple[Verdict, ...]  # cold or expired, and left, with the reason
    over_limit: int  # more could be swept than --limit allows
    pages: int
    unknown: int  # pages whose age is not known, and which are not cold for that
    too_many: bool

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        plain = self._asdict()
        return plain | {name: [v._asdict() for v in plain[name]] for name in ("swept", "kept")}


def plan_sweep(
    catalog: Catalog,
    pages: Iterable[PageDecay],
    dirty: Collection[str],
    settings: DecaySettings,
    now: float,
    *,
    limit: int | None = None,
    archive: str | None = None,
    taken: Collection[str] = (),
) -> Plan:
    """Decide about every page. ``archive`` is the folder that pages would move to, ``taken`` the paths in use."""
    known = {page.path: page for page in pages}
    links = protecting_links(catalog, settings, now)
    subjects = []
    for row in catalog.all_pages():
        page = known[row.path]
        subjects.append(
            Subject(
                row.path,
                row.kind,
                page.retention,
                row.meta.get("expires_at"),
                bool(row.meta.get("pinned")),
                row.path in dirty,
                tuple(links.get(row.id, ())),
            )
        )
    verdicts = decide(subjects, now, settings)
    if archive is not None:
        verdicts = [_archivable(verdict, archive, taken) for verdict in verdicts]
    swept = [v for v in verdicts if not v.kept]
    chosen = swept if limit is None else swept[:limit]
    return Plan(
        tuple(chosen),
        tuple(v for v in verdicts if v.kept),
        len(swept) - len(chosen),
        len(subjects),
        sum(page.retention is None for page in known.values()),
        too_many(len(chosen), len(subjects), settings.sweep_share),
    )


def protecting_links(catalog: Catalog, settings: DecaySettings, now: float) -> Mapping[int, list[str]]:
    """Page -> paths of the rules and decisions that link to it. One that has expired protects nothing any more."""
    expired = catalog.expired(now)
    sources = {row.id: row for row in catalog.all_pages() if row.kind in settings.keep_kinds and row.id not in expired}
    found: dict[int, list[str]] = {}
    for source, link in catalog.links(sources):
        if not link.target:
            continue
        # A link that may mean several pages protects all of them: sweeping is no time to guess.
        for page in resolve(catalog, link.target, sources[source].path).pages:
            paths = found.setdefault(page, [])
            if page != source and sources[source].path not in paths:
                paths.append(sources[source].path)
    return found


def _archivable(verdict: Verdict, archive: str, taken: Collection[str]) -> Verdict:
    if verdict.kept:
        return verdict
    if verdict.path.startswith(f"{archive}/"):
        return verdict._replace(kept="is in the archive")
    if f"{archive}/{verdict.path}" in taken:
        return verdict._replace(kept=f"{archive}/{verdict.path} exists")
    return verdict


def sweep(git: Git, plan: Plan, *, archive: str | None = None, many: bool = False) -> None:
    """Take the pages away with git: staged, not committed. Raises UsageError when it is too many at once."""
    if plan.too_many and not many:
        raise UsageError(
            f"this would sweep {len(plan.swept)} of {plan.pages} pages",
            hint="give --limit N, or --yes-many if that is meant",
        )
    paths = [verdict.path for verdict in plan.swept]
    if archive is None:
        remove(git.runner, git.where, paths)
    else:
        move(git.runner, git.where, [(path, f"{archive}/{path}") for path in paths])
