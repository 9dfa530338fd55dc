"""A citation that lasts: ``path:line@commit``. It names lines of a page as a commit has them."""

from __future__ import annotations

import re
from typing import NamedTuple

from memidx.ground.errors import UsageError

SHORT = 12  # hex digits of a commit: enough for the largest repositories
_CITATION = re.compile(r"(?P<path>.+?)(?::(?P<line>\d{1,9})(?:-(?P<end>\d{1,9}))?)?@(?P<rev>[^@:\s]+)", re.DOTALL)


class Citation(NamedTuple):
    """``line`` is None for the whole page; ``end`` is None for the section at ``line``. Lines are 1-based."""

    path: str
    line: int | None
    end: int | None
    rev: str

    def __str__(self) -> str:
        lines = "" if self.line is None else f":{self.line}" + (f"-{self.end}" if self.end is not None else "")
        return f"{self.path}{lines}@{self.rev}"


def cite(path: str, line: int, commit: str | None) -> str:
    """``path:line@commit`` with a short commit; ``path:line`` for a text that no commit holds."""
    return f"{path}:{line}" + (f"@{commit[:SHORT]}" if commit else "")


def parse_citation(text: str) -> Citation:
    """Raises UsageError that says how one is written.

    >>> parse_citation("runbooks/rollback.md:12@1f0c2a94d4e7")
    Citation(path='runbooks/rollback.md', line=12, end=None, rev='1f0c2a94d4e7')
    """
    found = _CITATION.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"'{text}' is no citation", hint="write it as PATH:LINE@COMMIT, or PATH:FIRST-LAST@COMMIT")
    line, end = (int(found[name]) if found[name] else None for name in ("line", "end"))
    if line == 0 or (line is not None and end is not None and end < line):
        raise UsageError(f"'{text}': these are no lines", hint="lines count from 1, the first comes first")
    return Citation(found["path"], line, end, found["rev"])
