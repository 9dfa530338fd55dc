"""What is not as it should be: in each page, between pages, and in the sidecar.

Works on a listing and the bytes of its pages, so that it can be asked before anything was built, and of the blobs that
are being committed as well as of the files on disk.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memidx.engines.facts import Facts, facts_of_page
from memidx.engines.links import Files, Links
from memidx.engines.pagenames import PageNames
from memidx.engines.references import resolve
from memidx.engines.twins import duplicate_findings, twin_findings
from memidx.ground.codes import CODES, finding
from memidx.ground.diagnostics import Diagnostic
from memidx.ground.page import PageRules
from memidx.parsing.page import parse_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memidx.ground.diagnostics import Severity
    from memidx.ground.listing import Entry, Listing
    from memidx.ground.settings import Settings
    from memidx.stores.git import Git

RANKS: Mapping[str, int] = {"off": 0, "info": 1, "warning": 2, "error": 3}
# These need all pages, not only the reported ones.
BETWEEN = frozenset(
    {
        "link-broken", "link-ambiguous", "link-anchor", "superseded-dangling", "superseded-ambiguous",
        "superseded-circular", "duplicate-title", "duplicate-id",
    }
)  # fmt: skip
DAY_SECONDS = 86_400


class Sidecar(NamedTuple):
    """What feedback says: findings about the file itself, and the flagged pages with the word that flags them."""

    findings: tuple[Diagnostic, ...] = ()
    flagged: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``reported`` says by path what may be named; facts between pages come from all of them.

    ``least`` is the lowest severity that matters: nothing below it is looked for.
    """

    listing: Listing
    now: float
    reported: Callable[[str], bool] = lambda _: True
    least: Severity = "info"
    sidecar: Sidecar = field(default_factory=Sidecar)
    others: tuple[Diagnostic, ...] = ()  # findings of the caller, about files that are no pages


@dataclass(frozen=True, slots=True)
class Checked:
    """All findings, by path and place, with the severities that are configured."""

    pages: int  # that were looked at
    findings: tuple[Diagnostic, ...]
    counts: Mapping[str, int] = field(default_factory=dict)  # by severity

    @property
    def ok(self) -> bool:
        """Whether the check passes: there is no error."""
        return not self.counts.get("error")

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {
            "ok": self.ok,
            "pages": self.pages,
            "counts": {name: self.counts.get(name, 0) for name in ("error", "warning", "info")},
            "diagnostics": [d._asdict() for d in self.findings],
        }


def severity_of(code: str, levels: Mapping[str, str]) -> str:
    """How bad a finding is: as configured, else as the table of codes says. ``off`` drops it."""
    return levels.get(code) or CODES[code][0]


def is_wanted(settings: Settings, least: Severity, *codes: str) -> bool:
    """Whether any of these findings would be told at all."""
    return any(RANKS[severity_of(code, settings.check.severity)] >= RANKS[least] for code in codes)


def check(
    question: Question,
    git: Git,
    settings: Settings,
    files: Files,
    known: Callable[[], Mapping[tuple[str, str], Facts]] = dict,
) -> Checked:
    """Look at the pages of the question. ``known`` gives facts by path and blob, from any snapshot of this vault that
    was built with the present settings: pages it holds unchanged are not read again, unless they are reported.
    """
    work = _Check(question, git, settings, files, known)
    levels = settings.check.severity
    kept = []
    for note in dict.fromkeys(work.findings()):
        level = severity_of(note.code, levels)
        if RANKS[level] >= RANKS[question.least] and question.reported(note.path):
            kept.append(Diagnostic(*note[:3], cast("Severity", level), *note[4:]))
    kept.sort(key=lambda d: (d.path.encode("utf-8", "surrogateescape"), d.line, d.col, d.code))
    return Checked(work.looked_at, tuple(kept), dict(Counter(note.severity for note in kept)))


class _Check:
    def __init__(
        self,
        question: Question,
        git: Git,
        settings: Settings,
        files: Files,
        known: Callable[[], Mapping[tuple[str, str], Facts]],
    ) -> None:
        self.question = question
        self.git = git
        self.settings = settings
        self.files = files
        self.known = known
        self.rules = PageRules(tuple(settings.pages.kinds.items()), settings.sections.max_chars)
        self.looked_at = 0

    def wanted(self, *codes: str) -> bool:
        return is_wanted(self.settings, self.question.least, *codes)

    def findings(self) -> Iterator[Diagnostic]:
        question = self.question
        entries = question.listing.entries
        reported = [entry for entry in entries if question.reported(entry.path)]
        self.looked_at = len(reported)
        yield from question.listing.notes
        yield from question.others
        yield from question.sidecar.findings
        pages = {facts.path: facts for facts in self.read(reported)}
        for facts in pages.values():
            yield from facts.findings
            yield from self.about_time(facts)
            if word := question.sidecar.flagged.get(facts.path):
                message = f"feedback says it is {word}; change the page, or give it other feedback"
                yield finding("flagged", facts.path, 0, 0, message)
        if self.wanted("twin-normal", "twin-case"):
            yield from twin_findings(entry.path for entry in entries)
        if reported and self.wanted(*BETWEEN):
            others = self.others([entry for entry in entries if entry.path not in pages])
            pages |= {facts.path: facts for facts in others}
            yield from self.between([pages[entry.path] for entry in entries], {entry.path for entry in reported})

    def read(self, entries: Iterable[Entry]) -> Iterator[Facts]:
        most = self.settings.pages.max_bytes
        for entry, data in self.git.read(entries):
            if len(data) > most:
                note = finding("too-large", entry.path, 0, 0, f"{len(data)} bytes is over pages.max_bytes")
                yield facts_of_page(parse_page(entry.path, b"", self.rules), b"")._replace(findings=(note,))
            else:
                yield facts_of_page(parse_page(entry.path, data, self.rules), data)

    def others(self, entries: Sequence[Entry]) -> Iterator[Facts]:
        """Facts about pages that are not reported: from the last snapshot where it has them, else by reading."""
        known = self.known()
        for entry in entries:
            if facts := known.get((entry.path, entry.blob)):
                yield facts
        yield from self.read([entry for entry in entries if (entry.path, entry.blob) not in known])

    def about_time(self, facts: Facts) -> Iterator[Diagnostic]:
        if facts.expires_at is not None and facts.expires_at < self.question.now:
            days = int(self.question.now - facts.expires_at) // DAY_SECONDS
            since = "today" if not days else "a day ago" if days == 1 else f"{days} days ago"
            line = facts.lines.get("expires_at", 0)
            message = f"expired {since}; bring it up to date, or remove it"
            yield finding("expired", facts.path, line, 1 if line else 0, message)

    def between(self, pages: Sequence[Facts], reported: set[str]) -> Iterator[Diagnostic]:
        names = PageNames(pages)
        entries = {entry.path: entry for entry in self.question.listing.entries}

        @cache
        def anchors_of(number: int) -> frozenset[str]:
            (facts,) = self.read([entries[pages[number].path]])
            return facts.anchors or frozenset()

        if self.wanted("link-broken", "link-ambiguous", "link-anchor"):
            links = Links(names, self.files, anchors_of)
            for number, page in enumerate(pages):
                if page.path in reported:
                    yield from links.findings(number)
        if self.wanted("duplicate-title", "duplicate-id"):
            yield from duplicate_findings(pages)
        yield from _supersession(names)


def _supersession(names: PageNames) -> Iterator[Diagnostic]:
    """Dangling, ambiguous and circular `superseded_by`."""
    newer: dict[int, list[int]] = {}
    for number, page in enumerate(names.pages):
        line = page.lines.get("superseded_by", 0)
        for name in page.superseded_by:
            found = resolve(names, name, page.path).pages
            if not found:
                message = f"superseded_by '{name}' names no page"
                yield finding("superseded-dangling", page.path, line, 1 if line else 0, message)
            elif len(found) > 1:
                paths = ", ".join(sorted(names.pages[other].path for other in found)[:4])
                message = f"superseded_by '{name}' may mean {paths}; write its path"
                yield finding("superseded-ambiguous", page.path, line, 1 if line else 0, message)
            else:
                newer.setdefault(number, []).append(found[0])
    for number in newer:
        if _leads_back(number, newer):
            page = names.pages[number]
            line = page.lines.get("superseded_by", 0)
            message = "superseded_by leads back to this page"
            yield finding("superseded-circular", page.path, line, 1 if line else 0, message)


def _leads_back(start: int, newer: Mapping[int, Sequence[int]]) -> bool:
    seen: set[int] = set()
    waiting = list(newer[start])
    while waiting:
        number = waiting.pop()
        if number == start:
            return True
        if number not in seen:
            seen.add(number)
            waiting.extend(newer.get(number, ()))
    return False
