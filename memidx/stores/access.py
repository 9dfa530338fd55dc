r"""Accesses of this clone, `<git common dir>/memidx/access.jsonl`: never tracked, never in the way of a query.

A query appends one line, ``{"t": SECONDS, "p": [[PATH, BLOB], …]}``, without a lock. When the file has grown, it is
renamed to ``access-RANDOM.old``, what it says is added up to one line ``{"sum": "access-RANDOM.old", "rows": …}`` of a
new file, and the old one is removed. Whoever appends looks afterwards whether the file was renamed under it, and if so
appends again. So every access is in some file that is read, and as a page counts once a minute, twice is once.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from memidx.ground.accesses import Accessed

LOG = "access.jsonl"
CLONE = "clone-id"
LOCK = "access.lock"
FULL_BYTES = 512 * 1024  # a log longer than this, its sums apart, is added up
MOST_DAYS = 50_000  # daily counters kept; the oldest days go first
HERE = "here"  # this clone, while it has no name because nothing was shared
MINUTE, DAY = 60, 86_400
MINUTES_A_DAY = 1440
TRIES = 3


class Seen(NamedTuple):
    """The sums of one page: its last text, its last access in seconds since the epoch, and counts by day."""

    blob: str
    last: int
    days: dict[int, int]


class AccessLog:
    """The accesses of one clone. Paths are relative to the top of its work trees."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._path = state / LOG

    def count(self, pages: Sequence[tuple[str, str]], now: float) -> None:
        """Note that these (path, blob) pages were returned. Every failure is ignored: a query comes first."""
        line = json.dumps({"t": int(now), "p": [list(page) for page in pages]}, separators=(",", ":")) + "\n"
        with contextlib.suppress(OSError):
            for _ in range(TRIES):
                size = self._append(line.encode())
                if size is not None:
                    break
            if size and size > FULL_BYTES:
                self._compact()

    def read(self) -> list[Accessed]:
        """The counters of every page. Lines that cannot be read are passed over; [] when there is no file."""
        from memidx.ground.accesses import Accessed  # counting, on a query's way, does without it

        seen = self._read()
        name = self.clone() or HERE
        return [Accessed(path, s.blob, name, tuple(sorted(s.days.items())), s.last) for path, s in sorted(seen.items())]

    def clone(self) -> str | None:
        """The name of this clone in the sidecar, once it has one."""
        try:
            return (self._state / CLONE).read_text(encoding="ascii").strip() or None
        except (OSError, UnicodeDecodeError):
            return None

    def name_clone(self) -> str:
        """The name of this clone; made up now when it has none. Raises OSError."""
        if (known := self.clone()) is not None:
            return known
        import secrets  # 3 ms, and only sharing pays it

        self._state.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), (self._state / CLONE).open("x", encoding="ascii") as file:
            file.write(secrets.token_hex(8) + "\n")
        return self.clone() or HERE

    # -- files ----------------------------------------------------------------------------------------------------

    def _append(self, data: bytes) -> int | None:
        """One write. Returns how much log there is; None when the file was taken away meanwhile."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self._path, flags, 0o666)
        except FileNotFoundError:  # nothing has been built yet
            self._state.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, flags, 0o666)
        try:
            os.write(handle, data)
            mine = os.fstat(handle)
        finally:
            os.close(handle)
        try:
            there = self._path.stat()
        except FileNotFoundError:
            return None
        return mine.st_size if (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino) else None

    def _compact(self) -> None:
        import secrets  # with filelock 10 ms, once in thousands of queries

        from filelock import FileLock, Timeout

        try:
            with FileLock(str(self._state / LOCK), timeout=0):
                with self._path.open("rb") as file:
                    sums = len(file.readline())
                # The sums alone may be long: then the log beside them counts.
                if self._path.stat().st_size - sums <= FULL_BYTES:
                    return
                old = self._path.with_name(f"access-{secrets.token_hex(8)}.old")
                self._path.rename(old)
                # Only what was taken away: the new file goes on being written to.
                olds = self._old()
                rows = {path: [s.blob, s.last, s.days] for path, s in _bounded(_add_up(_not_done(olds, []))).items()}
                plain = {"sum": [path.name for path, _ in olds], "rows": rows}
                self._append((json.dumps(plain, separators=(",", ":")) + "\n").encode())
                for path, _ in olds:
                    path.unlink()
        except Timeout:
            return  # somebody else is at it

    def _old(self) -> list[tuple[Path, list[dict[str, Any]]]]:
        """Files that were taken away to be added up, and are there still: a process was killed, or is at it."""
        found = []
        for path in sorted(self._state.glob("access-*.old")):
            with contextlib.suppress(OSError):
                found.append((path, list(_lines(path.read_bytes()))))
        return found

    def _read(self) -> dict[str, Seen]:
        """All there is. Looks again when the file was taken away between the two readings."""
        olds: list[tuple[Path, list[dict[str, Any]]]] = []
        lines: list[dict[str, Any]] = []
        for _ in range(TRIES):
            before = self._which()
            olds = self._old()
            try:
                lines = list(_lines(self._path.read_bytes()))
            except OSError:
                lines = []
            if self._which() == before:
                break
        return _add_up(_not_done(olds, lines))

    def _which(self) -> int:
        try:
            return self._path.stat().st_ino
        except OSError:
            return 0


def _not_done(
    olds: Sequence[tuple[Path, list[dict[str, Any]]]], lines: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The lines of all files, but for old files that a sum in one of them stands for."""
    every = [*(line for _, part in olds for line in part), *lines]
    done = {name for plain in every if isinstance(plain.get("sum"), list) for name in plain["sum"]}
    for path, part in olds:
        if path.name not in done:
            yield from part
    yield from lines


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            plain = json.loads(line)
            if isinstance(plain, dict):
                yield plain


def _add_up(lines: Iterable[dict[str, Any]]) -> dict[str, Seen]:
    """Sums of sums and of single accesses; of these each minute of a page once."""
    seen: dict[str, Seen] = {}
    minutes: dict[str, set[int]] = {}
    # Sums first: an access of the minute they end with may stand before them in the file.
    for plain in sorted(lines, key=lambda plain: "rows" not in plain):
        with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
            if "rows" in plain:
                for path, (blob, last, days) in plain["rows"].items():
                    known = seen.get(path, Seen("", 0, {}))
                    for day, count in days.items():
                        known.days[int(day)] = known.days.get(int(day), 0) + int(count)
                    seen[path] = Seen(
                        str(blob) if last >= known.last else known.blob, max(known.last, last), known.days
                    )
                    minutes.setdefault(path, set()).add(last // MINUTE)
                continue
            at = int(plain["t"])
            for path, blob in plain["p"]:
                known = seen.get(path, Seen("", 0, {}))
                if at // MINUTE not in minutes.setdefault(path, set()):
                    minutes[path].add(at // MINUTE)
                    day = at // DAY
                    known.days[day] = min(known.days.get(day, 0) + 1, MINUTES_A_DAY)
                seen[path] = Seen(str(blob) if at >= known.last else known.blob, max(known.last, at), known.days)
    return seen


def _bounded(seen: dict[str, Seen]) -> dict[str, Seen]:
    """The most recent days, so that the file does not grow for ever."""
    every = sorted((day for s in seen.values() for day in s.days), reverse=True)
    if len(every) <= MOST_DAYS:
        return seen
    first = every[MOST_DAYS - 1]
    kept = {path: s._replace(days={d: n for d, n in s.days.items() if d > first}) for path, s in seen.items()}
    return {path: s for path, s in kept.items() if s.days}
