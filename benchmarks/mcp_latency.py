"""How long a warm `memory_query` takes over stdio, with the graph and with the exact scan, and the server's memory.

    python benchmarks/mcp_latency.py VAULT [QUERIES.jsonl] [-n 200]

The client is the SDK's own. Times are what the client waits: the protocol, git's listing of the pages, the ranking, the
schema check of the result. Questions come from the file (`query` or `text` in each line), else from titles of pages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).parent.parent
HOW = {"graph": "vector.graph_from=0", "exact": "vector.graph_from=100000000"}


def questions(vault: Path, file: Path | None, count: int) -> list[str]:
    if file:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        found = [row.get("query") or row["text"] for row in rows]
    else:
        out = subprocess.run(
            [sys.executable, "-m", "memidx", "-C", str(vault), "recent", "-n", "5000", "--format", "{title}"],
            capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        ).stdout  # fmt: skip
        found = [line for line in out.decode().splitlines() if line.strip()]
    random.Random(7).shuffle(found)
    return found[:count]


def memory(pid: int) -> dict[str, float]:
    """Megabytes: resident, and of those private to the process (mapped index files are shared with the page cache)."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    values = {line.split(":")[0]: int(line.split()[1]) for line in rollup.splitlines()[1:]}
    private = values["Private_Dirty"] + values["Private_Clean"]
    return {"rss": values["Rss"] / 1024, "private": private / 1024, "dirty": values["Private_Dirty"] / 1024}


def child(of: int) -> int:
    """The server: the process that we started and that is still there."""
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(of)], capture_output=True, text=True, check=True)
    for pid in map(int, done.stdout.split()):
        line = Path(f"/proc/{pid}/cmdline")
        if line.exists() and b"mcp" in line.read_bytes().split(b"\0"):  # `ps` itself is gone by now
            return pid
    raise SystemExit("the server is not there")


async def measure(vault: Path, how: str, asked: list[str]) -> dict[str, float]:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memidx", "-C", str(vault), "--set", HOW[how], "mcp", "--read-only"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        start = time.perf_counter()
        await session.call_tool("memory_query", {"query": asked[0]})
        first = time.perf_counter() - start
        for text in asked[:10]:
            await session.call_tool("memory_query", {"query": text})
        times = []
        for text in asked:
            start = time.perf_counter()
            result = await session.call_tool("memory_query", {"query": text})
            times.append(1000 * (time.perf_counter() - start))
            assert not result.isError, result.content
        pings = []
        for _ in range(20):
            start = time.perf_counter()
            await session.send_ping()
            pings.append(1000 * (time.perf_counter() - start))
        found = memory(child(os.getpid()))
    times.sort()
    return {
        "first": 1000 * first,
        "p50": statistics.median(times),
        "p95": times[int(0.95 * len(times))],
        "ping": statistics.median(pings),
        **found,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("queries", type=Path, nargs="?")
    parser.add_argument("-n", type=int, default=200)
    given = parser.parse_args()
    asked = questions(given.vault, given.queries, given.n)
    print(f"{given.vault}: {len(asked)} questions")
    for how in HOW:
        found = asyncio.run(measure(given.vault, how, asked))
        print(
            f"{how:6} p50 {found['p50']:6.1f} ms  p95 {found['p95']:6.1f} ms  first {found['first']:7.0f} ms  "
            f"ping {found['ping']:.1f} ms  rss {found['rss']:.0f} MB  private {found['private']:.0f} MB "
            f"(dirty {found['dirty']:.0f} MB)"
        )


if __name__ == "__main__":
    main()
