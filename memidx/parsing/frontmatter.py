"""The front-matter block: where it stands, and its keys and values as flat rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.codes import finding
from memidx.ground.page import Field
from memidx.parsing.yamltree import MAX_DEPTH, Mapping, Node, Scalar, Sequence, read_yaml

if TYPE_CHECKING:
    from memidx.ground.diagnostics import Diagnostic

_OPEN = re.compile(r"---[ \t]*(?:\n|\Z)")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
# What the rows may hold, in characters, for each character of the block. Only aliases and very long keys reach it.
_GROWTH = 16
_GROWTH_FLOOR = 1 << 16


class Row(NamedTuple):
    """One text under a key. ``wiki`` says that it stood in a list within a list, as a bare ``[[name]]`` does."""

    key: str
    text: str
    line: int
    col: int
    wiki: bool


class Entry(NamedTuple):
    """One top-level key. A null gives no rows. Rows of nested mappings have dotted keys."""

    key: str
    line: int
    col: int
    shape: str  # "text", "list" or "mapping"
    rows: tuple[Row, ...]


class FrontMatter(NamedTuple):
    """What stands before the body. ``body`` is an offset in characters, ``body_line`` its 1-based line.

    ``unread`` is the text of a block that could not be used, so that nothing an author wrote is lost to search; it
    starts at line 2.
    """

    entries: tuple[Entry, ...]
    body: int
    body_line: int
    unread: str
    notes: tuple[Diagnostic, ...]

    def fields(self) -> tuple[Field, ...]:
        """All rows, in the order of the file."""
        return tuple(Field(row.key, row.text, row.line) for entry in self.entries for row in entry.rows)


def read_front_matter(path: str, text: str) -> FrontMatter:
    """Find and read the block. Only whole-line fences count, and only at the very start of the file. Never raises."""
    opening = _OPEN.match(text) if text.startswith("---") else None
    if opening is None:
        return FrontMatter((), 0, 1, "", ())
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        message = "this --- opens front-matter that no --- line closes; close it, or use *** for a rule"
        return FrontMatter((), 0, 1, "", (finding("front-matter-unclosed", path, 1, 1, message),))
    block = text[opening.end() : closing.start()]
    body = min(closing.end() + 1, len(text))
    body_line = block.count("\n") + 3
    root, notes = read_yaml(path, block, 2)
    if root is None:
        return FrontMatter((), body, body_line, block, tuple(notes))
    walk = _Walk(path, max(_GROWTH_FLOOR, _GROWTH * len(block)), notes)
    return FrontMatter(tuple(walk.entries(root)), body, body_line, "", tuple(notes))


class _Walk:
    """Flattens a tree into rows. Aliases make a small tree stand for a huge one, so what comes out is bounded."""

    def __init__(self, path: str, budget: int, notes: list[Diagnostic]) -> None:
        self.path = path
        self.budget = budget
        self.notes = notes

    def entries(self, root: Mapping) -> list[Entry]:
        found = []
        for key, value in self._pairs(root):
            shape = "text" if isinstance(value, Scalar) else "list" if isinstance(value, Sequence) else "mapping"
            found.append(Entry(key.text, key.line, key.col, shape, tuple(self._rows(key.text, value))))
        return found

    def _rows(self, key: str, value: Node) -> list[Row]:
        rows: list[Row] = []
        todo: list[tuple[str, Node, int, int]] = [(key, value, 0, 0)]  # key, node, lists around it, depth
        while todo:
            key, node, lists, depth = todo.pop()
            if self._is_spent(key, node, depth):
                break
            if isinstance(node, Scalar):
                if not node.null:
                    rows.append(Row(key, node.text, node.line, node.col, lists > 1))
            elif isinstance(node, Sequence):
                todo.extend((key, item, lists + 1, depth + 1) for item in reversed(node.items))
            else:
                pairs = self._pairs(node)
                todo.extend((f"{key}.{name.text}", item, 0, depth + 1) for name, item in reversed(pairs))
        return rows

    def _is_spent(self, key: str, node: Node, depth: int) -> bool:
        size = len(node.text) if isinstance(node, Scalar) else len(node[0])
        if self.budget < 0:
            return True
        self.budget -= 1 + len(key) + size
        if self.budget >= 0 and depth <= MAX_DEPTH:
            return False
        self.budget = -1
        message = "the front-matter grows too much through its aliases; the rest of it is not read"
        self.notes.append(finding("front-matter-limit", self.path, node.line, node.col, message))
        return True

    def _pairs(self, node: Mapping) -> list[tuple[Scalar, Node]]:
        """The pairs with a usable key; of equal keys only the last one."""
        last: dict[str, tuple[Scalar, Node]] = {}
        for key, value in node.pairs:
            if not isinstance(key, Scalar) or not key.text.strip():
                message = "a key must be a text; it is skipped. Put {{placeholders}} and the like in quotes"
                self.notes.append(finding("bad-key", self.path, key.line, key.col, message))
                continue
            if key.text in last:
                first = last.pop(key.text)[0].line
                message = f"the key {key.text[:80]!r} stands at line {first} too; this one counts"
                self.notes.append(finding("duplicate-key", self.path, key.line, key.col, message))
            last[key.text] = key, value
        return list(last.values())
