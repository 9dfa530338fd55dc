"""Merge conflicts that were committed by mistake."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memidx.ground.codes import finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memidx.ground.diagnostics import Diagnostic

_FENCE = re.compile(r"(?:[ \t>]|[-*+] |[0-9]+[.)] )*(`{3,}|~{3,})([^\n]*)")


def may_conflict(text: str) -> bool:
    """Whether it is worth looking: a cheap test that nearly every page fails."""
    return "<<<<<<< " in text and "\n>>>>>>> " in text


def conflict_markers(text_lines: Sequence[str], path: str = "") -> tuple[Diagnostic, ...]:
    """One finding for each ``<<<<<<<``, ``=======``, ``>>>>>>>`` in that order at line starts, outside code fences.

    ``text_lines`` are the lines of the whole file without their ends. The finding stands at the first marker and names
    the other two. Fences inside a conflict are not looked at: both sides may open one.
    """
    found: list[Diagnostic] = []
    fence = ""
    opened = middle = 0
    for number, line in enumerate(text_lines, start=1):
        if opened:
            if line.rstrip() == "=======":
                middle = middle or number
            elif middle and line.startswith(">>>>>>> "):
                message = f"merge conflict from here to line {number} (divided at line {middle}); resolve it"
                found.append(finding("conflict-marker", path, opened, 1, message))
                opened = middle = 0
            elif line.startswith("<<<<<<< "):
                opened, middle = number, 0
        elif line.startswith("<<<<<<< ") and not fence:
            opened, middle = number, 0
        elif match := _FENCE.match(line):
            mark, rest = match.groups()
            if not fence:
                fence = "" if mark[0] == "`" and "`" in rest else mark
            elif mark.startswith(fence) and not rest.strip():
                fence = ""
    return tuple(found)
