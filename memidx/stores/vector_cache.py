"""Vectors by the digest of the text they were made from: an unchanged section is never embedded twice.

One SQLite file for each model identity. It is derived: a damaged one is dropped and made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MANY = 500
BUSY_SECONDS = 10.0


class VectorCache:
    """The cache of one model. Every failure counts as a miss: a cache may not stop a build."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = self._connect()

    def _connect(self) -> sqlite3.Connection | None:
        for _ in range(2):
            db = None
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                db = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
                db.execute("PRAGMA synchronous = OFF")
                db.execute("CREATE TABLE IF NOT EXISTS sealed (digest BLOB PRIMARY KEY, vector BLOB, seal BLOB)")
            except sqlite3.DatabaseError:
                if db is not None:
                    db.close()
                self._path.unlink(missing_ok=True)
            except OSError:
                return None
            else:
                return db
        return None

    def get(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """The vectors that are known, as float32 bytes."""
        found: dict[bytes, bytes] = {}
        if self._db is None:
            return found
        with contextlib.suppress(sqlite3.Error):
            for start in range(0, len(digests), MANY):
                chunk = digests[start : start + MANY]
                marks = ",".join("?" * len(chunk))
                rows = self._db.execute(f"SELECT * FROM sealed WHERE digest IN ({marks})", chunk)
                # SQLite does not notice a flipped bit, and a snapshot would be built on it with a digest of its own.
                found.update((digest, vector) for digest, vector, seal in rows if seal == _seal(digest, vector))
        return found

    def put(self, vectors: Mapping[bytes, bytes] | Iterable[tuple[bytes, bytes]]) -> None:
        """Remember vectors."""
        if self._db is None:
            return
        rows = vectors.items() if isinstance(vectors, Mapping) else vectors
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                sealed = ((digest, vector, _seal(digest, vector)) for digest, vector in rows)
                self._db.executemany("INSERT OR REPLACE INTO sealed VALUES (?, ?, ?)", sealed)
            finally:
                self._db.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        if self._db is not None:
            self._db.close()


def _seal(digest: bytes, vector: bytes) -> bytes:
    return hashlib.blake2b(digest + vector, digest_size=8).digest()
