"""Running the command line in tests: in this process for speed, in one of its own where that is the point."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from memidx.__main__ import main

CHECKOUT = Path(__file__).parent.parent
# Most tests of the command line are not about vectors, and words alone build in a few milliseconds.
WORDS_ONLY = {"MEMIDX_VECTOR_MODEL": "none"}


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def memidx(*args: str, cwd: Path | str | None = None, env: dict[str, str] | None = None, model: bool = False) -> Done:
    """Run ``memidx ARGS`` in this process, as if in ``cwd``. ``model`` builds vectors too."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    before = [] if cwd is None else ["-C", str(cwd)]
    with (
        mock.patch.dict(os.environ, {**({} if model else WORDS_ONLY), **(env or {})}),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", err),
    ):
        code = main([*before, *args])
    for stream in (out, err):
        stream.flush()
    texts = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]
    return Done(code, *texts)


def process(*args: str, cwd: Path, env: dict[str, str] | None = None, **how: Any) -> subprocess.Popen[bytes]:
    """Start ``memidx ARGS`` in a process of its own."""
    whole = {**os.environ, **WORDS_ONLY, "PYTHONPATH": str(CHECKOUT), **(env or {})}
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    return subprocess.Popen([sys.executable, "-m", "memidx", *args], cwd=cwd, env=whole, **how)


def finished(*args: str, cwd: Path, env: dict[str, str] | None = None, **how: Any) -> Done:
    """Run ``memidx ARGS`` in a process of its own."""
    with process(*args, cwd=cwd, env=env, **how) as running:
        out, err = running.communicate(timeout=60)
    return Done(running.returncode, (out or b"").decode(), (err or b"").decode())
