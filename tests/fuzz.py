"""Fuzzing: awkward inputs, and changes of them, at each place where bytes that are not ours come in.

    PYTHONPATH=. python tests/fuzz.py --seconds 60 [--seed 1]      prints for each target how many inputs were tried, and what failed

An input fails when something other than the errors memidx raises on purpose comes out, when it takes longer than two
seconds of processor time, or when the process that reads it dies. Snapshot files are read in a fork of its own, with a limit on memory.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from awkward import CONFIGS, PAGES, QUESTIONS, SIDECARS

import memidx
from memidx.ground.errors import ConfigError, MemidxError
from memidx.ground.events import Page, judge
from memidx.ground.settings import DecaySettings, VectorSettings
from memidx.parsing.config import parse_config
from memidx.parsing.page import parse_page
from memidx.parsing.query import parse_query
from memidx.parsing.sidecar import mend, parse_sidecar, sidecar_findings
from memidx.stores.embedding import open_embedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_SECONDS = 2.0
MOST_MEMORY = 3 << 30  # of addresses, above what the process has when it starts; mapped files count
LARGEST = 400_000
BITS = [b"---\n", b"# ", b"\n", b"\0", b"\xff", b"[[", b"]]", b"&a ", b"*a ", b"!!python/name:x ", b"{", b"}", b'"', b"\r", b"- ", b": ", b"```", b"\xed\xa0\x80"]  # fmt: skip


def changed(data: bytes, dice: random.Random, others: list[bytes]) -> bytes:
    """A few flips, cuts, doublings, insertions, or the head of one on the tail of another."""
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(6):
            case 0 if data:
                at = min(at, len(data) - 1)
                data = data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]
            case 1:
                data = data[:at] + data[at + dice.randint(1, 64) :]
            case 2:
                data = data[:at] + dice.choice(BITS) * dice.choice((1, 1, 2, 50)) + data[at:]
            case 3:
                data = data[:at] + data[max(0, at - dice.randint(1, 200)) :]
            case 4:
                other = dice.choice(others)
                data = data[:at] + other[dice.randrange(len(other) + 1) :]
            case _:
                data = data[:at]
    return data[:LARGEST]


def inputs(corpus: list[bytes], dice: random.Random) -> Iterator[bytes]:
    """The corpus as it is, then changes of it for ever."""
    yield from corpus
    while True:
        yield changed(dice.choice(corpus), dice, corpus)


def text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def read_page(data: bytes) -> None:
    page = parse_page("notes/p.md", data)
    assert page.title and page.sections


def read_config(data: bytes) -> None:
    with suppress(ConfigError):
        parse_config(data.decode("utf-8", "replace"), "config.yaml")


def read_sidecar(data: bytes) -> None:
    sidecar = parse_sidecar(text(data))
    judge(sidecar.events, [Page("p0.md", "b")], DecaySettings())
    sidecar_findings(text(data), "x")
    assert len(mend(text(data))) <= len(data)


class Asking:
    """Questions to a real index."""

    def __init__(self, root: Path) -> None:
        self.vault = memidx.open_vault(root, vector=VectorSettings(model="none"))
        self.vault.build()

    def __call__(self, data: bytes) -> None:
        parse_query(text(data))
        for only in (None, "lexical"):
            self.vault.query(text(data), refresh="never", track=False, only=only)


class Snapshots:
    """Damaged exports, asked in a fork: whatever is in the files, the process lives and says so in words."""

    def __init__(self, root: Path, place: Path) -> None:
        self.whole, self.broken = place / "whole", place / "broken"
        memidx.open_vault(root, vector=VectorSettings(graph="always")).export(self.whole)
        self.dice = random.Random(7)
        self.embedder = open_embedder("wordllama")
        assert self.embedder is not None and self.embedder.embed_query("deploy").any()
        self.files = sorted(
            p.relative_to(self.whole) for p in self.whole.rglob("*") if p.is_file() and p.stat().st_size
        )
        self.before = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()

    def corpus(self) -> list[bytes]:
        return [str(path).encode() for path in self.files]

    def __call__(self, data: bytes) -> None:
        del data
        shutil.rmtree(self.broken, ignore_errors=True)
        shutil.copytree(self.whole, self.broken)
        for name in self.dice.sample(self.files, self.dice.choice((1, 1, 1, 2))):
            path = self.broken / name
            data = path.read_bytes()
            if self.dice.random() < 0.7:  # of the same size, which no comparison of sizes notices
                made = bytearray(data)
                for _ in range(self.dice.choice((1, 3, 100))):
                    made[self.dice.randrange(len(made))] = self.dice.randrange(256)
                path.write_bytes(made)
            else:
                path.write_bytes(changed(data, self.dice, [data])[: len(data) + 1000])
        pid = os.fork()
        if not pid:
            os._exit(self._ask())
        end = time.monotonic() + 60
        while (done := os.waitpid(pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)
        code = os.waitstatus_to_exitcode(done[1])
        assert code == 0, f"the process that asked ended with {code}"

    def _ask(self) -> int:
        from memidx.engines.query import answer, make_question
        from memidx.engines.snapshot import Snapshot, blaming_damage
        from memidx.ground.settings import Settings

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Rust tells of a panic there
        resource.setrlimit(resource.RLIMIT_AS, (self.before + MOST_MEMORY, -1))
        resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
        try:
            snapshot = Snapshot(self.broken)
            settings = Settings(vector=VectorSettings(graph_from=1))
            for question in ("deploy rollback", "page 3", '"lighthouse harbour"'):
                with blaming_damage(snapshot):
                    answer(snapshot, make_question(question, settings, now=0.0), self.embedder, settings)
        except MemidxError:
            return 0
        except BaseException as error:  # noqa: BLE001 - a panic of a Rust library is no Exception
            os.write(1, f"{type(error).__name__}: {error}\n".encode())
            return 1
        return 0


def run(
    name: str, target: Callable[[bytes], None], corpus: list[bytes], seconds: float, seed: int
) -> tuple[int, list[str]]:
    """How many inputs were tried, and what failed."""
    dice, count, failed, longest = random.Random(seed), 0, list[str](), 0.0
    end = time.monotonic() + seconds
    for data in inputs(corpus, dice):
        if time.monotonic() > end and count >= len(corpus):
            break
        count += 1
        begun = time.process_time()
        try:
            target(data)
        except BaseException as error:  # noqa: BLE001 - whatever comes out is a finding
            failed.append(f"{name}: {type(error).__name__}: {str(error)[:200]} on {data[:80]!r} ({len(data)} bytes)")
        took = time.process_time() - begun
        longest = max(longest, took)
        if took > MOST_SECONDS:
            failed.append(f"{name}: {took:.1f} s on {data[:80]!r} ({len(data)} bytes)")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    sys.stdout.write(f"{name}: {count} inputs, {len(failed)} failed, longest {longest:.2f} s, at most {memory} MB\n")
    sys.stdout.flush()
    return count, failed


def vault(place: Path) -> Path:
    root = place / "vault"
    root.mkdir()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for n in range(40):
        words = " ".join(random.Random(n).choices(["deploy", "rollback", "lighthouse", "harbour", "anchor"], k=30))
        (root / f"p{n}.md").write_text(f"---\ntags: [t{n % 3}]\n---\n# Page {n}\n\n{words}\n\n## Part\n\n{words} {n}\n")
    return root


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="memidx-fuzz-") as name:
        place = Path(name)
        root = vault(place)
        encoded = [[t.encode("utf-8", "surrogatepass") for t in texts] for texts in (QUESTIONS, CONFIGS, SIDECARS)]
        snapshots = Snapshots(root, place)
        targets: list[tuple[str, Callable[[bytes], None], list[bytes]]] = [
            ("pages", read_page, list(PAGES.values())),
            ("config", read_config, encoded[1]),
            ("sidecar", read_sidecar, encoded[2]),
            ("snapshots", snapshots, snapshots.corpus()),
            ("questions", Asking(root), encoded[0]),
        ]
        for label, target, corpus in targets:
            failed += run(label, target, corpus, given.seconds / len(targets), given.seed)[1]
    sys.stdout.write("".join(f"{line}\n" for line in failed[:40]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
