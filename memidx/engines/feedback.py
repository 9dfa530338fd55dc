"""Verdicts about pages: taking them down, and telling what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines.show import find
from memidx.ground.errors import SidecarError, UsageError
from memidx.ground.events import VERDICTS, Event, Judged, Page, judge, next_seq
from memidx.parsing.sidecar import Sidecar, event_line, parse_sidecar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memidx.ground.listing import Entry
    from memidx.ground.settings import DecaySettings
    from memidx.stores.sidecar import SidecarFile

LONGEST_REASON = 10_000


class Said(NamedTuple):
    """A verdict to take down."""

    kind: str  # one of VERDICTS, or with - for _
    at: float  # seconds since the epoch
    by: str = ""
    reason: str = ""


class Outcome(NamedTuple):
    """One page before and after a verdict. ``retention`` is filled in by the caller, who knows age and accesses."""

    path: str
    blob: str
    event: Event
    before: Judged
    after: Judged
    retention: float | None = None

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        return {
            "path": self.path,
            "blob": self.blob,
            "id": self.event.id,
            "kind": self.event.kind,
            "salience_before": self.before.salience,
            "salience": self.after.salience,
            "flags": list(self.after.flags),
            "retention": self.retention,
        }


def chosen(specs: Sequence[tuple[str, str | None]], entries: Sequence[Entry]) -> list[Entry]:
    """The pages that paths mean, each once. With each path goes the folder it may be relative to.

    Raises UsageError that names the nearest ones for a path without a page.
    """
    found: dict[str, Entry] = {}
    for spec, inside in specs:
        entry = find(spec, inside, entries).entry
        found[entry.path] = entry
    return list(found.values())


def give_feedback(
    file: SidecarFile,
    pages: Sequence[Entry],
    every: Sequence[Entry],
    said: Said,
    *,
    settings: DecaySettings,
    new_id: Callable[[], str],
) -> list[Outcome]:
    """Take down one verdict about each of ``pages``, out of ``every`` page there is.

    Raises UsageError for a verdict that is none, SidecarError when the sidecar cannot be read.
    """
    kind = said.kind.strip().lower().replace("-", "_")
    if kind not in VERDICTS:
        words = ", ".join(name.replace("_", "-") for name in VERDICTS)
        raise UsageError(f"'{said.kind}' is no verdict", hint=f"one of {words}")
    if len(said.reason) > LONGEST_REASON:
        raise UsageError(f"the reason has more than {LONGEST_REASON} characters", hint="write it on a page")
    places = [Page(entry.path, entry.blob) for entry in every]
    before: dict[str, Judged] = {}
    made: list[Event] = []

    def lines(text: str) -> list[str]:
        known = readable(parse_sidecar(text), str(file.path)).events
        before.update(judge(known, places, settings))
        made.clear()
        for page in pages:
            seq = next_seq((*known, *made), page.blob)
            made.append(Event(new_id(), kind, page.path, page.blob, seq, int(said.at), said.by, said.reason))
        return [event_line(event) for event in made]

    after = judge(parse_sidecar(file.append(lines)).events, places, settings)
    fresh = Judged(settings.salience)
    return [Outcome(e.path, e.blob, e, before.get(e.path, fresh), after.get(e.path, fresh)) for e in made]


def readable(sidecar: Sidecar, where: str) -> Sidecar:
    """The sidecar, unless part of it cannot be read: half a ledger is none. Raises SidecarError that names lines."""
    if not sidecar.unreadable:
        return sidecar
    first, *more = sidecar.unreadable
    others = f", and so are lines {', '.join(map(str, more[:10]))}" if more else ""
    raise SidecarError(
        f"{where}:{first}: is neither an event nor a conflict marker{others}",
        hint="mend the line, or get the file back from git: `git log -- .memidx/decay.jsonl`",
    )


def sidecar_notices(sidecar: Sidecar) -> Iterator[str]:
    """What a person should know about a sidecar that could be read."""
    if sidecar.markers:
        lines = ", ".join(map(str, sidecar.markers[:10])) + (" …" if len(sidecar.markers) > 10 else "")  # noqa: PLR2004
        yield f".memidx/decay.jsonl: markers of a merge conflict were passed over (lines {lines}); `memidx check --fix`"
    if sidecar.cut:
        yield f".memidx/decay.jsonl:{sidecar.cut}: is cut short and takes no part; the next feedback sets it aside"
    for number, why in sidecar.incomplete[:10]:
        yield f".memidx/decay.jsonl:{number}: an event that cannot be used: {why}"
    if sidecar.unknown:
        yield f".memidx/decay.jsonl: {sidecar.unknown} events of a newer version were passed over"
