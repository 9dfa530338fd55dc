"""What was learned from git's history, by commit: `<git common dir>/memidx/history/`. Derived, and never waited for."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path

from memidx.ground.history import History, Touch, Trace

FORMAT = 1
KEPT = 6  # heads: of the branches and worktrees one goes to and fro between


class HistoryCache:
    """Histories under one ``key``, which says what they depend on besides the commit."""

    def __init__(self, state: Path, key: str) -> None:
        self._folder = state / "history"
        self._key = key

    def load(self, head: str) -> History | None:
        """The history up to ``head``; None when it is not here, damaged or of another format."""
        try:
            plain = json.loads((self._folder / self._name(head)).read_bytes())
            if plain["format"] != FORMAT or plain["head"] != head or plain["key"] != self._key:
                return None
            traces = {
                path: Trace(row[0], tuple(map(Touch, row[1::2], row[2::2]))) for path, row in plain["paths"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
            return None
        return History(head, traces)

    def heads(self) -> list[str]:
        """The commits that are known, the most recently used first."""
        end = f"-{self._key}.json"
        try:
            found = [e for e in os.scandir(self._folder) if e.name.endswith(end)]
            return [e.name.removesuffix(end) for e in sorted(found, key=lambda e: (-e.stat().st_mtime_ns, e.name))]
        except OSError:
            return []

    def save(self, history: History) -> None:
        """Remember, by one rename. A failure costs the next run its time and nothing else."""
        rows = {p: [t.blob, *(n for touch in t.touches for n in touch)] for p, t in history.traces.items()}
        plain = {"format": FORMAT, "head": history.head, "key": self._key, "paths": rows}
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".new-")
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(plain, file, separators=(",", ":"))
            Path(name).replace(self._folder / self._name(history.head))
            self._forget()

    def _forget(self) -> None:
        files = sorted(self._folder.iterdir(), key=lambda path: -path.stat().st_mtime_ns)
        for path in files[KEPT:]:
            path.unlink(missing_ok=True)

    def _name(self, head: str) -> str:
        return f"{head}-{self._key}.json"
