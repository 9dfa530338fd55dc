"""What people and agents said about pages: events, and the fold that makes a page's state of them.

The fold is a function of the *set* of events: the order of lines does not matter and neither do repeats, so a merge is
a union. An event is about a text (a blob), at the place where the text was. When the text moves, what was said about
it follows; when the text changes, it starts anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memidx.ground.settings import DecaySettings

VERDICTS = ("helpful", "not_helpful", "stale", "wrong")
FLAGS = ("stale", "wrong")
MOST_SEQ = 10**9  # a larger sequence number is damage, and must not outlast every later event


class Event(NamedTuple):
    """One verdict about one text. ``at`` is in seconds since the epoch, and for people: order comes from ``seq``.

    ``seq`` is one more than the greatest that its author had seen for this text (Lamport 1978), so that an event
    comes after those it answers, whatever the clocks said.
    """

    id: str
    kind: str  # one of VERDICTS
    path: str
    blob: str
    seq: int = 0
    at: int = 0
    by: str = ""
    reason: str = ""


class Page(NamedTuple):
    """Where a text is now."""

    path: str
    blob: str


class Judged(NamedTuple):
    """The state of one page. ``flags`` are those of FLAGS that were raised; they stay until the text changes."""

    salience: float = 1.0
    helpful: int = 0
    unhelpful: int = 0
    flags: tuple[str, ...] = ()
    last: Event | None = None


class Owners:
    """Which page an event is about, now."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._by_path: dict[str, str] = {}
        self._by_blob: dict[str, list[str]] = {}
        for path, blob in pages:
            self._by_path[path] = blob
            self._by_blob.setdefault(blob, []).append(path)

    def has(self, path: str) -> bool:
        """Whether there is a page at this path."""
        return path in self._by_path

    def of_text(self, path: str, blob: str) -> str | None:
        """The page that holds the text: the one at its old path, else where it has moved to.

        Of several copies the one with the same file name; None when that does not decide it either, or when the text
        is gone.
        """
        if self._by_path.get(path) == blob:
            return path
        places = self._by_blob.get(blob, [])
        if len(places) > 1:
            name = path.rsplit("/", 1)[-1]
            places = [place for place in places if place.rsplit("/", 1)[-1] == name]
        return places[0] if len(places) == 1 else None


def distinct(events: Iterable[Event]) -> list[Event]:
    """Each event once, in the order that the fold takes them. Of two with one id (damage) always the same one wins."""
    by_id: dict[str, Event] = {}
    for event in events:
        known = by_id.get(event.id)
        if known is None or event > known:
            by_id[event.id] = event
    return sorted(by_id.values(), key=lambda e: (e.seq, e.at, e.id))


def judge(events: Iterable[Event], pages: Iterable[Page], settings: DecaySettings) -> dict[str, Judged]:
    """The state of every page that somebody said something about, by path."""
    owners = Owners(pages)
    found: dict[str, Judged] = {}
    for event in distinct(events):
        path = owners.of_text(event.path, event.blob)
        if path is not None:
            found[path] = step(found.get(path, Judged(settings.salience)), event, settings)
    return found


def step(state: Judged, event: Event, settings: DecaySettings) -> Judged:
    """The state after one more event: a step up or down, or straight to the floor; then the clamp."""
    salience, flags = state.salience, state.flags
    if event.kind == "helpful":
        salience += settings.helpful
    elif event.kind == "not_helpful":
        salience -= settings.not_helpful
    elif event.kind in FLAGS:
        salience = settings.salience_least
        flags = tuple(sorted({*flags, event.kind}))
    else:
        return state
    salience = max(min(salience, settings.salience_most), settings.salience_least)
    good = event.kind == "helpful"
    return Judged(salience, state.helpful + good, state.unhelpful + (not good), flags, event)


def next_seq(events: Iterable[Event], blob: str) -> int:
    """The sequence number of the next event about this text."""
    return min(max((e.seq for e in events if e.blob == blob), default=0) + 1, MOST_SEQ)


def flagged(states: Mapping[str, Judged]) -> dict[str, Event]:
    """Pages that were called stale or wrong and have not changed since, with the last event about each."""
    return {path: state.last for path, state in states.items() if state.flags and state.last}
