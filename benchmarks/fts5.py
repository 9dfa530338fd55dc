"""A yardstick: SQLite's full-text index over sections, with BM25 and Porter's stemmer.

python benchmarks/fts5.py build|query|warm VAULT STATE [TEXT]      (see plain.py)
"""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import plain

SCHEMA = """
CREATE TABLE IF NOT EXISTS page(path TEXT PRIMARY KEY, time INTEGER, size INTEGER, first INTEGER, last INTEGER);
CREATE VIRTUAL TABLE IF NOT EXISTS section USING fts5(path UNINDEXED, line UNINDEXED, heading, body, tokenize = 'porter unicode61');
"""
REMOVE = """
DELETE FROM section
WHERE rowid BETWEEN (SELECT first FROM page WHERE path = ?1) AND (SELECT last FROM page WHERE path = ?1)
"""
FIND = "SELECT path, line FROM section WHERE section MATCH ? ORDER BY bm25(section, 0, 0, 2.0, 1.0) LIMIT 10"


class Fts5:
    def __init__(self, state: Path) -> None:
        state.mkdir(parents=True, exist_ok=True)
        self.base = sqlite3.connect(state / "index.db")

    def build(self, vault: Path) -> None:
        self.base.executescript(SCHEMA)
        rows = self.base.execute("SELECT path, time, size FROM page")
        stale, fresh = plain.changes(vault, {path: (time, size) for path, time, size in rows})
        with self.base:
            for path in stale:
                self.base.execute(REMOVE, [path])
                self.base.execute("DELETE FROM page WHERE path = ?", [path])
            next_row = self.base.execute("SELECT coalesce(max(rowid), 0) + 1 FROM section").fetchone()[0]
            for path, (time, size) in fresh.items():
                cut = plain.sections((vault / path).read_text(encoding="utf-8", errors="replace"))
                numbered = [(next_row + i, path, s.line, s.heading, s.body) for i, s in enumerate(cut)]
                self.base.executemany(
                    "INSERT INTO section(rowid, path, line, heading, body) VALUES (?, ?, ?, ?, ?)", numbered
                )
                last = next_row + len(cut) - 1
                self.base.execute("INSERT INTO page VALUES (?, ?, ?, ?, ?)", [path, time, size, next_row, last])
                next_row = last + 1

    def query(self, text: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in plain.WORD.findall(text))
        return [f"{path}:{line}" for path, line in self.base.execute(FIND, [words])]


if __name__ == "__main__":
    plain.run(Fts5(Path(sys.argv[3])))
