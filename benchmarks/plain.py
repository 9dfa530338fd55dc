"""Shared by the plain yardsticks fts5.py and bare_tantivy.py: the pages of a folder, what changed, and their sections.

    SCRIPT build VAULT STATE          bring the index in STATE up to date
    SCRIPT query VAULT STATE TEXT     the ten best sections
    SCRIPT warm VAULT STATE           the same for each line of stdin, opened once; prints JSON: milliseconds each

About what a person writes in an afternoon: no front-matter, no links, no filters, a change is seen by time and size of
the file.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEADING = re.compile(r"^#{1,6} ")
FENCE = re.compile(r"^ {0,3}(```|~~~)")
WORD = re.compile(r"\w+")
Stamp = tuple[int, int]  # time of the last change in nanoseconds, size


class Section(NamedTuple):
    line: int
    heading: str
    body: str


class Index(Protocol):
    """What a yardstick has."""

    def build(self, vault: Path) -> None: ...

    def query(self, text: str) -> list[str]:
        """``path:line`` of the ten best, best first."""
        ...


def stamps(folder: Path, prefix: str = "") -> Iterator[tuple[str, Stamp]]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            if entry.name != ".git":
                yield from stamps(Path(entry), f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            about = entry.stat()
            yield prefix + entry.name, (about.st_mtime_ns, about.st_size)


def changes(vault: Path, known: Mapping[str, Stamp]) -> tuple[list[str], dict[str, Stamp]]:
    """Pages that are gone or stale, and pages to read with their stamps."""
    now = dict(stamps(vault))
    stale = [path for path, stamp in known.items() if now.get(path) != stamp]
    return stale, {path: stamp for path, stamp in now.items() if known.get(path) != stamp}


def sections(text: str) -> list[Section]:
    """The text cut at its headings; code blocks have none."""
    found: list[Section] = []
    line, heading, body, fenced = 1, "", [], False
    for number, row in enumerate(text.split("\n"), 1):
        fenced ^= bool(FENCE.match(row))
        if not fenced and HEADING.match(row):
            if heading or any(body):
                found.append(Section(line, heading, "\n".join(body)))
            line, heading, body = number, row.lstrip("# "), []
        else:
            body.append(row)
    return [*found, Section(line, heading, "\n".join(body))]


def run(index: Index) -> None:
    """The script's command, on the index that it opened in STATE."""
    command, vault = sys.argv[1], Path(sys.argv[2])
    if command == "build":
        index.build(vault)
    elif command == "query":
        print("\n".join(index.query(" ".join(sys.argv[4:]))))
    else:
        times = []
        for text in sys.stdin.read().splitlines():
            started = time.perf_counter()
            index.query(text)
            times.append((time.perf_counter() - started) * 1000)
        print(json.dumps(times))
