"""A laboratory for crashes: runs `memidx`, notes every step that changes the file system, and dies before a chosen one.

It is a process of its own that forks for each run, so that libraries are imported once. Steps are found by tracing:
Python's audit events (open for writing, rename, remove, link, mkdir, chmod …, and the start of git), and the writes,
flushes and copies that these do not report, which are wrapped. What native code writes (SQLite, Tantivy, hnswlib) is
seen at the call that starts it and at the step after it; `test_crash_native.py` looks between with strace.

    python tests/crashing.py        one JSON request a line on stdin, one JSON answer a line on stdout
"""

from __future__ import annotations

import builtins
import io
import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MANY = 1  # how many arguments of an event are paths
TWO = ("os.rename", "os.link", "os.symlink")
CHANGES = frozenset(
    {"os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.utime", "sqlite3.connect", *TWO}
)  # fmt: skip


class Tracer:
    """Counts the steps below ``root``. ``die`` is the number of the step not to be taken, from 1; 0: live."""

    def __init__(self, root: str, die: int, *, torn: bool) -> None:
        self.root, self.die, self.torn = os.path.realpath(root), die, torn
        self.steps: list[tuple[str, str, bool]] = []
        self.lock = threading.RLock()
        self.busy = threading.local()

    def step(self, kind: str, where: object, half: Any = None) -> None:
        """``half`` does the first half of a write: such a step can also be torn."""
        path = self._inside(where)
        if path is None or getattr(self.busy, "on", False):
            return
        with self.lock:
            self.steps.append((kind, path, half is not None))
            if len(self.steps) != self.die or (self.torn and half is None):
                return
            if self.torn:
                self.busy.on = True
                half()
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            if isinstance(args[2], int) and args[2] & WRITES and not isinstance(args[0], int):
                self.step("open", args[0])
        elif event in CHANGES:
            self.step(event.removeprefix("os."), args[0])
        elif event == "subprocess.Popen":
            words = [w for w in map(os.fsdecode, args[1]) if not w.startswith("-")]
            self.step("git", Path(self.root, " ".join(words[:3]).replace("/", "|")))

    def _inside(self, where: object) -> str | None:
        if isinstance(where, int):
            try:
                where = str(Path(f"/proc/self/fd/{where}").readlink())
            except OSError:
                return None
        try:
            path = os.path.abspath(os.fsdecode(where))  # type: ignore[arg-type]  # noqa: PTH100 - resolve() follows links
        except (TypeError, ValueError):
            return None
        return os.path.relpath(path, self.root) if path.startswith(self.root + os.sep) else None

    def install(self) -> None:
        sys.addaudithook(self.hook)
        real_open, real_write, real_fsync, real_truncate = io.open, os.write, os.fsync, os.ftruncate
        real_sendfile = getattr(os, "sendfile", None)
        tracer = self

        class Raw(io.FileIO):
            def write(self, data: Any) -> int:
                tracer.step("write", self.fileno(), lambda: real_write(self.fileno(), bytes(data)[: len(data) // 2]))
                return super().write(data)

        def opened(file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **how: Any) -> Any:
            if not set(mode) & set("wax") or "+" in mode or buffering == 0:
                return real_open(file, mode, buffering, *rest, **how)
            names = dict(zip(("encoding", "errors", "newline"), rest, strict=False)) | how
            raw = Raw(
                file, mode.replace("b", "").replace("t", ""), names.pop("closefd", True), names.pop("opener", None)
            )
            buffered = io.BufferedWriter(raw)
            return buffered if "b" in mode else io.TextIOWrapper(buffered, **names)

        def write(handle: int, data: bytes) -> int:
            tracer.step("write", handle, lambda: real_write(handle, bytes(data)[: len(data) // 2]))
            return real_write(handle, data)

        def fsync(handle: int) -> None:
            tracer.step("fsync", handle)
            real_fsync(handle)

        def truncate(handle: int, length: int) -> None:
            tracer.step("truncate", handle)
            real_truncate(handle, length)

        def sendfile(out: int, source: int, offset: int, count: int) -> int:
            size = os.fstat(source).st_size
            tracer.step("copy", out, lambda: real_sendfile(out, source, offset, size // 2))
            return real_sendfile(out, source, offset, count)

        io.open = builtins.open = opened  # type: ignore[assignment]
        os.write, os.fsync, os.ftruncate = write, fsync, truncate
        if real_sendfile:
            os.sendfile = sendfile  # type: ignore[assignment]


def child(request: dict[str, Any], out: int) -> None:
    """In the fork: run the command (several: one after the other) and report through ``out``."""
    sys.path.insert(0, str(Path(__file__).parent))
    from clirun import memidx

    os.chdir(request["cwd"])
    os.environ.update(request.get("env", {}))
    tracer = Tracer(request["root"], request.get("die", 0), torn=request.get("torn", False))
    if "die" in request:
        # What is printed counts as said when it has left the process.
        said = os.open(request["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(said, 1)
        from memidx.__main__ import main

        tracer.install()
        code = main(request["commands"][0])
        sys.stdout.flush()
        answer = {"code": code, "steps": tracer.steps}
    else:
        answer = {"runs": [list(memidx(*command, model=True)) for command in request["commands"]]}
    os.writev(out, [json.dumps(answer).encode()])


def serve() -> None:
    """Fork once for each request."""
    warm()
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryFile() as report:
            pid = os.fork()
            if not pid:
                code = 70
                try:
                    child(request, report.fileno())
                    code = 0
                finally:
                    sys.stderr.flush()
                    os._exit(code)
            _, status = os.waitpid(pid, 0)
            report.seek(0)
            text = report.read().decode()
        answer = json.loads(text) if text else {}
        answer["killed"] = os.waitstatus_to_exitcode(status) == -signal.SIGKILL
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def warm() -> None:
    """Import what the commands import. No thread may run when the process forks."""
    import importlib
    import pkgutil

    import memidx

    for module in pkgutil.walk_packages(memidx.__path__, "memidx."):
        if not module.name.endswith(
            ("__main__", ".mcp", "mcp_tools", "mcp_input", "mcp_output", "model2vec", "fastembed")
        ):
            importlib.import_module(module.name)
    for name in ("hnswlib", "tantivy", "tokenizers", "filelock", "yaml", "safetensors", "pathspec"):
        importlib.import_module(name)


if __name__ == "__main__":
    serve()
