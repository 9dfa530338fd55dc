"""Curves of retention: drawn by matplotlib into a file, or as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memidx.doors.visible import visible
from memidx.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

Curve = tuple[str, "Sequence[tuple[float, float]]"]  # a page's path, and (days from now, retention)

COLUMNS, ROWS = 64, 16
LETTERS = "abcdefghijklmnopqrstuvwxyz"
FORMATS = (".png", ".svg")


def text_chart(curves: Sequence[Curve], cold: float, days: int) -> Iterator[str]:
    """A chart within 80 columns. Each curve has a letter; ``*`` where several meet, ``-`` the line of cold."""
    top = max([cold, *(value for _, points in curves for _, value in points)]) or 1.0
    grid = [[" "] * COLUMNS for _ in range(ROWS)]
    for column in range(COLUMNS):
        grid[_row(cold, top)][column] = "-"
    for letter, (_, points) in zip(LETTERS, curves, strict=False):
        for day, value in points:
            column = min(int(day / days * (COLUMNS - 1)), COLUMNS - 1)
            row = grid[_row(value, top)]
            row[column] = letter if row[column] in (" ", "-", letter) else "*"
    for number, row in enumerate(grid):
        value = top * (ROWS - 1 - number) / (ROWS - 1)
        yield f"{value:7.2f} |{''.join(row)}".rstrip()
    yield f"{'':8}+{'-' * COLUMNS}"
    yield f"{'':9}now{f'{days} days':>{COLUMNS - 3}}"
    yield f"{'':9}- cold below {cold:g}"
    for letter, (path, _) in zip(LETTERS, curves, strict=False):
        yield f"{'':9}{letter} {visible(path)}"


def _row(value: float, top: float) -> int:
    return ROWS - 1 - round(min(value / top, 1.0) * (ROWS - 1))


def draw(curves: Sequence[Curve], cold: float, target: Path) -> bool:
    """Draw into ``target``, a .png or .svg file. False without matplotlib. Raises UsageError for another ending."""
    if target.suffix.lower() not in FORMATS:
        raise UsageError(f"{target}: is neither .png nor .svg", hint="name the file curve.png or curve.svg")
    try:
        from matplotlib.figure import Figure  # not pyplot: no window, no global state
    except ImportError:
        return False
    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.add_subplot()
    for path, points in curves:
        # A dollar sign would start a formula.
        label = visible(path).replace("$", r"\$")
        axes.plot([day for day, _ in points], [value for _, value in points], label=label)
    axes.axhline(cold, linestyle="--", color="grey", label=f"cold below {cold:g}")
    axes.set(xlabel="days from now", ylabel="retention", ylim=(0, None))
    axes.legend(fontsize="small")
    figure.savefig(target)
    return True
