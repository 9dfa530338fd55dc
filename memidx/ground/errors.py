"""The errors memidx raises on purpose.

    MemidxError                 exit 2
      ├─ UsageError             exit 2   the request cannot be understood
      ├─ ConfigError            exit 2   .memidx/config.yaml or MEMIDX_… is wrong
      ├─ GitError               exit 2   git is missing, or said no
      │    └─ NotARepositoryError  exit 2
      ├─ NoSnapshotError        exit 2   nothing has been built and building was not allowed
      ├─ StaleError             exit 2   --require-fresh and the index is behind
      ├─ BrokenSnapshotError    exit 2   derived state cannot be read; callers rebuild
      │    └─ OtherFormatError  exit 2   it was made by an older or a newer memidx
      ├─ SidecarError           exit 2   .memidx/decay.jsonl cannot be read
      ├─ ModelError             exit 2   the embedding model is missing or damaged
      └─ LockedError            exit 2   another process holds the lock for too long

Each message says what, where, and what to do next. Exit 1 means "nothing found" or "the check failed"; exit 3 is a bug.
"""

from __future__ import annotations

from typing import ClassVar


class MemidxError(Exception):
    """Base of every error memidx raises on purpose. ``hint`` is one line that says what to do next."""

    exit_code: ClassVar[int] = 2

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MemidxError):
    """The request cannot be understood."""


class ConfigError(MemidxError):
    """A setting is unknown or has a value that cannot be used."""


class GitError(MemidxError):
    """Git is missing, or refused."""


class NotARepositoryError(GitError):
    """The folder is not inside a git repository."""


class NoSnapshotError(MemidxError):
    """Nothing has been built yet and building was not allowed."""


class StaleError(MemidxError):
    """A fresh answer was required and the index is behind the pages."""


class BrokenSnapshotError(MemidxError):
    """Derived state cannot be read. Callers rebuild it."""


class OtherFormatError(BrokenSnapshotError):
    """Derived state that an older or a newer memidx made. What a newer one made is left to it."""

    def __init__(self, message: str, *, newer: bool, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.newer = newer


class SidecarError(MemidxError):
    """The sidecar cannot be read. It is never rewritten by guessing."""


class ModelError(MemidxError):
    """The embedding model is missing or damaged."""


class LockedError(MemidxError):
    """Another process holds the lock and did not let go in time."""
