"""The sidecar, `.memidx/decay.jsonl`: one JSON object a line, written by any version of memidx, merged by git.

Everything in it is kept as it is. What this version does not know (kinds, keys) takes no part and stays; markers of a
merge conflict are passed over and named; a line that is neither is unreadable, and named too.
"""

from __future__ import annotations

import json
import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.ground.accesses import Accessed
from memidx.ground.codes import finding
from memidx.ground.events import MOST_SEQ, VERDICTS, Event
from memidx.parsing.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memidx.ground.diagnostics import Diagnostic

ACCESS = "access"
EPOCH_DAY = date(1970, 1, 1)
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - UTC, written as Z
SECOND = timedelta(seconds=1)
FIRST_SECOND, LAST_SECOND = -62_135_596_800, 253_402_300_799
# Git's markers are seven characters by default and longer where an attribute says so. No JSON object starts like that.
_MARKER = re.compile(r"(<{7,}|\|{7,}|={7,}|>{7,})( .*)?")
_DECODER = json.JSONDecoder()
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANK = " \t\r\n\ufeff"


class Incomplete(NamedTuple):
    """An object of a known kind without what that kind needs."""

    line: int
    why: str


class Sidecar(NamedTuple):
    """What a sidecar says. Line numbers are 1-based."""

    events: tuple[Event, ...] = ()
    accessed: tuple[Accessed, ...] = ()
    markers: tuple[int, ...] = ()
    unreadable: tuple[int, ...] = ()
    incomplete: tuple[Incomplete, ...] = ()
    unknown: int = 0  # objects of kinds that this version does not know
    cut: int = 0  # the last line, when a crash cut it short; 0: it is whole


def parse_sidecar(text: str) -> Sidecar:
    """Read all of it. Never raises: what cannot be read is counted by line."""
    events: list[Event] = []
    accessed: list[Accessed] = []
    markers, unreadable, incomplete = list[int](), list[int](), list[Incomplete]()
    unknown = 0
    tail = cut_off(text)
    last = text.count("\n") + 1 if tail else 0
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip(_BLANK)
        if not stripped or number == last:
            continue
        if is_marker(stripped):
            markers.append(number)
            continue
        found = _objects(stripped)
        if found is None:
            unreadable.append(number)
            continue
        for plain in found:
            try:
                value = _value(plain)
            except ValueError as error:
                incomplete.append(Incomplete(number, str(error)))
                continue
            if isinstance(value, Event):
                events.append(value)
            elif isinstance(value, Accessed):
                accessed.append(value)
            else:
                unknown += 1
    return Sidecar(tuple(events), tuple(accessed), tuple(markers), tuple(unreadable), tuple(incomplete), unknown, last)


def cut_off(text: str) -> str:
    """The beginning of an object that ends the text without a line's end: what a crash leaves of a write, or "".

    Nobody was told that it was taken down. A whole object without a line's end is an event like any other.
    """
    tail = text[text.rfind("\n") + 1 :]
    return tail if tail.lstrip(_BLANK).startswith("{") and _objects(tail.strip(_BLANK)) is None else ""


def is_marker(line: str) -> bool:
    """Whether a line is what git writes around the sides of a conflict."""
    return _MARKER.fullmatch(line) is not None


def mend(text: str) -> str:
    """The text without the markers of merge conflicts. Every other line stays as it is, in its place."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    return "".join(line for line in lines if not is_marker(line.strip(_BLANK)))


def sidecar_findings(text: str, path: str) -> tuple[Diagnostic, ...]:
    """What is not as it should be in a sidecar, by line. ``path`` is what to call it."""
    found = parse_sidecar(text)
    rows: list[Diagnostic] = []
    for number in found.markers:
        message = "a marker of a merge conflict; `memidx check --fix` takes it out and keeps every event"
        rows.append(finding("sidecar-conflict", path, number, 1, message))
    for number in found.unreadable:
        message = "is neither an event nor a conflict marker; mend the line, or restore it from git"
        rows.append(finding("sidecar-unreadable", path, number, 1, message))
    if found.cut:
        message = "is cut short and takes no part; the next feedback sets it aside"
        rows.append(finding("sidecar-incomplete", path, found.cut, 1, message))
    for number, why in found.incomplete:
        rows.append(finding("sidecar-incomplete", path, number, 1, f"an event that cannot be used: {why}"))
    return tuple(sorted(rows, key=lambda d: (d.line, d.code)))


def event_line(event: Event) -> str:
    """One verdict as a line, without its end."""
    plain: dict[str, Any] = {
        "id": event.id,
        "at": moment_text(event.at),
        "kind": event.kind,
        "path": event.path,
        "blob": event.blob,
        "seq": event.seq,
    }
    plain |= {name: value for name, value in (("by", event.by), ("reason", event.reason)) if value}
    return _dump(plain)


def access_line(row: Accessed, event_id: str, at: int) -> str:
    """Shared counters as a line, without its end."""
    return _dump(
        {
            "id": event_id,
            "at": moment_text(at),
            "kind": ACCESS,
            "path": row.path,
            "blob": row.blob,
            "clone": row.clone,
            "days": {day_text(day): count for day, count in row.days},
            "last": moment_text(row.last),
        }
    )


def day_text(day: int) -> str:
    """A number of days since the epoch as an ISO date."""
    return date.fromordinal(EPOCH_DAY.toordinal() + day).isoformat()


def moment_text(at: float) -> str:
    """Seconds since the epoch as ISO 8601, UTC. What is beyond the calendar is its first or last second."""
    seconds = min(max(int(at), FIRST_SECOND), LAST_SECOND)
    return (EPOCH + timedelta(seconds=seconds)).isoformat() + "Z"


def _objects(line: str) -> list[dict[str, Any]] | None:
    """The objects of one line: one, or several where a merge has glued lines together. None when it is not objects."""
    try:
        whole = json.loads(line)
        return [whole] if isinstance(whole, dict) else None
    except (ValueError, RecursionError):
        pass
    found: list[dict[str, Any]] = []
    at = 0
    try:
        while at < len(line):
            plain, at = _DECODER.raw_decode(line, at)
            if not isinstance(plain, dict):
                return None
            found.append(plain)
            while at < len(line) and line[at] in _BLANK:
                at += 1
    except (ValueError, RecursionError):
        return None
    return found


def _value(plain: Mapping[str, Any]) -> Event | Accessed | None:
    """The value of one object; None for a kind that is not known here. Raises ValueError that says what is missing."""
    kind = plain.get("kind")
    if kind not in VERDICTS and kind != ACCESS:
        return None
    path, blob = _text(plain, "path"), _text(plain, "blob")
    if kind == ACCESS:
        return Accessed(path, blob, _text(plain, "clone"), tuple(_days(plain.get("days"))), _moment(plain.get("last")))
    seq = plain.get("seq")
    usable = isinstance(seq, int) and not isinstance(seq, bool) and 0 <= seq <= MOST_SEQ
    by, reason = plain.get("by"), plain.get("reason")
    return Event(
        id=_text(plain, "id"),
        kind=str(kind),
        path=path,
        blob=blob,
        seq=seq if usable and isinstance(seq, int) else 0,
        at=_moment(plain.get("at")),
        by=by if isinstance(by, str) else "",
        reason=reason if isinstance(reason, str) else "",
    )


def _text(plain: Mapping[str, Any], key: str) -> str:
    value = plain.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"'{key}' must be a text")
    return value


def _days(plain: Any) -> Iterator[tuple[int, int]]:
    if not isinstance(plain, dict):
        raise ValueError("'days' must be a mapping of dates to counts")  # noqa: TRY004 - one error for all of them
    for day, count in plain.items():
        if isinstance(count, bool) or not isinstance(count, int):
            raise ValueError(f"the count of {day} must be a whole number")  # noqa: TRY004 - as above
        yield date.fromisoformat(day).toordinal() - EPOCH_DAY.toordinal(), count


def _moment(value: Any) -> int:
    """Seconds since the epoch; 0 for what is no moment: order does not rest on it."""
    try:
        if isinstance(value, str) and len(value) == len("2024-02-29T00:00:00Z") and value[-1] == "Z":  # as written here
            return (datetime.fromisoformat(value[:-1]) - EPOCH) // SECOND
        return parse_date(value) if isinstance(value, str) else 0
    except (ValueError, OverflowError, TypeError):  # TypeError: a zone where none is expected
        return 0


def _dump(plain: Mapping[str, Any]) -> str:
    """One line of JSON. Bytes of a path that are not UTF-8 are written as escapes, and so survive any editor."""
    written = json.dumps(plain, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    return _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", written)
