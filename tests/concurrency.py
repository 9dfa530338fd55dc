"""One part of the concurrency test: runs a command again and again, and measures how long it waited for locks.

What is measured is waiting for a lock and nothing else: the time from the first try that found a lock taken to the one
that got it. Where the first try gets the lock the wait is nought, however long the processor was busy elsewhere.
Python's locks are tried without blocking (filelock does); SQLite's are asked by its busy handler, which is not reached
by a reader, whose catalog is opened as immutable. Tantivy's own lock is native: strace sees that one, where it is there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import filelock
from clirun import memidx


def main() -> None:
    root, seconds, command = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    waits: list[float] = []
    acquire = filelock.FileLock.acquire

    def measured(self, *args, **how):
        took: list[float] = []
        try_once = self._acquire

        def trying():
            try_once()
            if self._context.lock_file_fd is None:
                took.append(time.monotonic())

        self._acquire = trying
        try:
            return acquire(self, *args, **how)
        finally:
            self._acquire = try_once
            waits.append(time.monotonic() - took[0] if took else 0.0)

    filelock.FileLock.acquire = measured
    end = time.monotonic() + seconds
    runs, bad = 0, []
    while time.monotonic() < end:
        args = [word.replace("{n}", str(runs % 5)) for word in command]
        done = memidx(*args, cwd=root)
        runs += 1
        if done.code not in (0, 1) or "Traceback" in done.err:
            bad.append([done.code, done.err[-500:]])
    sys.stdout.write(
        json.dumps({"runs": runs, "bad": bad[:3], "waits": len(waits), "longest": max(waits, default=0.0)})
    )


main()
