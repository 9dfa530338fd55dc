"""The `memidx` program: `python -m memidx`."""

from __future__ import annotations

import faulthandler
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130  # 128 + SIGINT, as shells say it
# Threads of the linear algebra below numpy cost a quarter of its import, and a scan is over before they are of use.
ONE_THREAD = "OPENBLAS_NUM_THREADS"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 nothing found, 2 an error, 3 a bug, 130 interrupted."""
    os.environ.setdefault(ONE_THREAD, "1")
    if argv is None and sys.stderr is not None:
        # What ends this process without Python's knowing, a fault in a library below or a mapped file that somebody
        # cut, leaves a stack on stderr instead of nothing.
        faulthandler.enable(sys.stderr)
    try:
        from memidx.doors.outcome import run

        return run(sys.argv[1:] if argv is None else list(argv))
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
