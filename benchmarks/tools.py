"""Shared by alternatives.py: the programs that are compared, each as the commands it is used by."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

HERE = Path(__file__).parent
QMD = """{"dependencies": {"@tobilu/qmd": "2.8.3", "better-sqlite3": "^12"},
"overrides": {"better-sqlite3": "$better-sqlite3"}}"""
BASIC_MEMORY = "basic-memory==0.24.1"
# memidx as its MCP server uses it: the vault is opened once, and each question looks for changes first.
WARM = """
import json, os, sys, time
from memidx.resident import Desk
desk, times = Desk(os.curdir, os.environ, ()), []
for text in sys.stdin.read().splitlines():
    started = time.perf_counter()
    desk.vault().query(text, **json.loads(sys.argv[1]))
    times.append((time.perf_counter() - started) * 1000)
print(json.dumps(times))
"""


class Tool(NamedTuple):
    """One way to search a vault. Commands run in the tool's own clone of the vault, with its own home."""

    name: str
    ask: Callable[[str], Sequence[str]]
    state: tuple[Path, ...] = ()  # what a build leaves; removed before a full build
    build: Sequence[str] = ()
    first: Sequence[str] = ()  # the full build, where it is another command
    warm: Sequence[str] = ()  # asks each line of stdin, prints the milliseconds of each
    twin: str = ""  # shares the clone and the builds of the tool of this name


def every(
    vault: Path, home: Path, tools: Path, skipped: dict[str, str], *, seconds: float, only: Sequence[str]
) -> list[Tool]:
    """The tools (all, or these) that are there or can be installed; ``skipped`` gets the reasons of the others."""
    memidx = [sys.executable, "-m", "memidx"]
    found = [
        Tool("git grep", lambda text: ["git", "grep", "-l", "-i", "-F", "-e", longest(text)]),
        *plain(vault, home),
        Tool(
            "memidx",
            lambda text: [*memidx, "query", text],
            (vault / "memidx" / ".git" / "memidx",),
            [*memidx, "build", "--quiet"],
            warm=[sys.executable, "-c", WARM, "{}"],
        ),
        Tool(
            "memidx --only lexical",
            lambda text: [*memidx, "query", "--only", "lexical", text],
            warm=[sys.executable, "-c", WARM, '{"only": "lexical"}'],
            twin="memidx",
        ),
    ]
    if shutil.which("rg"):
        found.insert(0, Tool("ripgrep", lambda text: ["rg", "-l", "-i", "-F", "-e", longest(text)]))
    else:
        skipped["ripgrep"] = "rg is not on PATH"
    for name, make in (("basic-memory", basic_memory), ("qmd search", qmd)):
        if only and name not in only:
            continue
        try:
            found.append(make(vault, home, tools, seconds))
        except (OSError, subprocess.SubprocessError, LookupError) as error:
            said = getattr(error, "stderr", None) or b""
            skipped[name] = f"{error} {said.decode(errors='replace')[-200:]}".strip()
    return [tool for tool in found if not only or tool.name in only]


def longest(text: str) -> str:
    """What a person greps for."""
    return max(text.split(), key=len)


def plain(vault: Path, home: Path) -> Iterable[Tool]:
    for name, script in (("SQLite FTS5", "fts5.py"), ("Tantivy", "bare_tantivy.py")):
        state, command = home / script, [sys.executable, str(HERE / script)]
        there = [str(vault / name), str(state)]
        yield Tool(
            name,
            lambda text, command=command, there=there: [*command, "query", *there, text],
            (state,),
            [*command, "build", *there],
            warm=[*command, "warm", *there],
        )


# It writes permalinks into the pages, always; what it reads is where BASIC_MEMORY_HOME points.
def basic_memory(_: Path, home: Path, tools: Path, seconds: float) -> Tool:
    program = tools / "basic-memory" / "bin" / "basic-memory"
    if not program.exists():
        python = next((p for minor in (12, 13, 14) if (p := shutil.which(f"python3.{minor}"))), None)
        if not python:
            raise LookupError("needs Python 3.12 or newer, and no python3.12 is on PATH")
        venv = program.parent.parent
        pip = [str(venv / "bin" / "pip"), "install", "-q", BASIC_MEMORY]
        install(venv, [[python, "-m", "venv", str(venv)], pip], seconds)
    name = "basic-memory"
    state = home / name
    return Tool(
        name,
        lambda text: [str(program), "tool", "search-notes", "--local", text],
        (state / ".basic-memory", state / "config", state / "cache"),
        [str(program), "reindex", "--search"],
    )


def qmd(vault: Path, home: Path, tools: Path, seconds: float) -> Tool:
    folder = tools / "qmd"
    program = folder / "node_modules" / ".bin" / "qmd"
    if not (folder / "node_modules" / "better-sqlite3" / "build" / "Release" / "better_sqlite3.node").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text(QMD)
        # Only this one of the packages' install scripts: the others fetch models and binaries.
        compile_ = ["npm", "rebuild", "--build-from-source", "better-sqlite3"]
        install(folder, [["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], compile_], seconds)
    name = "qmd search"
    state = home / name
    return Tool(
        name,
        lambda text: [str(program), "search", "-n", "10", text],
        (state / "cache", state / "config"),
        [str(program), "update"],
        first=[str(program), "collection", "add", str(vault / name), "--name", "vault"],
    )


def install(folder: Path, commands: Sequence[Sequence[str]], seconds: float) -> None:
    """Run the commands in ``folder``; what a failed or slow one leaves is removed."""
    end = time.monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for command in commands:
            # A group of its own: a compiler that npm started must not go on beside what is measured.
            with subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
            ) as process:
                try:
                    _, said = process.communicate(timeout=max(end - time.monotonic(), 1))
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    raise
            if process.returncode:
                raise subprocess.CalledProcessError(process.returncode, command, stderr=said)
    except (OSError, subprocess.SubprocessError):
        shutil.rmtree(folder, ignore_errors=True)
        raise


def environment(home: Path, tool: str) -> dict[str, str]:
    """A home of its own for each tool, nothing of the user's settings, and no way out to the network."""
    own = home / tool
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")}
    nowhere = "http://127.0.0.1:9"
    return {
        **kept,
        "HOME": str(own),
        "XDG_CACHE_HOME": str(own / "cache"),
        "XDG_CONFIG_HOME": str(own / "config"),
        "PYTHONPATH": str(HERE.parent) if tool == "memidx" else "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "BASIC_MEMORY_HOME": str(home.parent / "vaults" / tool),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
        "BASIC_MEMORY_ENSURE_FRONTMATTER_ON_SYNC": "false",
        "BASIC_MEMORY_AUTO_UPDATE": "false",
        "HF_HUB_OFFLINE": "1",
        "http_proxy": nowhere,
        "https_proxy": nowhere,
    }
