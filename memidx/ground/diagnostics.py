"""What memidx says about a page that is not as it should be."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "info"]


class Diagnostic(NamedTuple):
    """One finding. ``line`` and ``col`` are 1-based and absolute in the file; 0 means the whole file."""

    path: str
    line: int
    col: int
    severity: Severity
    message: str
    code: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.col}: {self.severity}: {self.message} ({self.code})"
