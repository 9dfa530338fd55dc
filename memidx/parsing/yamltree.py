"""YAML as a tree of texts: every scalar as its author wrote it, with its place. Nothing is ever constructed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    ScalarEvent,
    SequenceStartEvent,
)

from memidx.ground.codes import finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from memidx.ground.diagnostics import Diagnostic

try:
    from yaml import CBaseLoader as _Loader
except ImportError:  # PyYAML built without libyaml: the same events, ten times slower
    from yaml import BaseLoader as _Loader  # type: ignore[assignment]

MAX_DEPTH = 64
MAX_CHARS = 1 << 17
_CORE_TAGS = frozenset(
    "tag:yaml.org,2002:" + name for name in ("str", "int", "float", "bool", "null", "timestamp", "seq", "map")
)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
# YAML 1.1 ends lines at these; we do not, and our line numbers must agree. It would fold them to a space anyway.
_ODD_BREAKS = str.maketrans("\x85\u2028\u2029", "   ")


class Scalar(NamedTuple):
    """A text. ``null`` is true for a plain ``null``, ``~`` or nothing, and for a value whose tag was refused."""

    text: str
    line: int
    col: int
    null: bool = False


class Sequence(NamedTuple):
    """A list."""

    items: tuple[Node, ...]
    line: int
    col: int


class Mapping(NamedTuple):
    """Keys and values in the order they were written, duplicates included."""

    pairs: tuple[tuple[Node, Node], ...]
    line: int
    col: int


Node = Scalar | Sequence | Mapping


_PAIR = 2


class _Open(NamedTuple):
    event: CollectionStartEvent
    children: list[Node]


class _Refused(Exception):  # noqa: N818 - it never leaves this module
    def __init__(self, code: str, line: int, col: int, message: str) -> None:
        super().__init__(message)
        self.code, self.line, self.col, self.message = code, line, col, message


def read_yaml(path: str, block: str, first_line: int) -> tuple[Mapping | None, list[Diagnostic]]:
    """Read one YAML mapping. ``first_line`` is the line of the block's first line in the file.

    An empty block is an empty mapping. ``None`` when the block cannot be used; the last finding then says why.
    Aliases are shared, not copied, so that the tree is never larger than the text.
    """
    if len(block) > MAX_CHARS:
        message = f"the front-matter has {len(block):,} characters, at most {MAX_CHARS:,} are read; is it one?"
        return None, [finding("front-matter-limit", path, first_line, 1, message)]
    reader = _Reader(path, first_line)
    try:
        root = reader.read(block.translate(_ODD_BREAKS))
    except _Refused as refused:
        reader.notes.append(finding(refused.code, path, refused.line, refused.col, refused.message))
        return None, reader.notes
    except yaml.YAMLError as error:
        line, col, problem = _explain(error, block)
        message = f"front-matter is not valid YAML: {problem}"
        reader.notes.append(finding("front-matter-yaml", path, first_line + line, col + 1, message))
        return None, reader.notes
    return root, reader.notes


class _Reader:
    """Builds the tree from parser events: no recursion here, and libyaml's parser does not recurse either."""

    def __init__(self, path: str, first_line: int) -> None:
        self.path = path
        self.first_line = first_line
        self.notes: list[Diagnostic] = []
        self._anchors: dict[str, Node] = {}

    def read(self, block: str) -> Mapping:
        loader = _Loader(block)
        try:
            root = self._build(loader.get_event)
        finally:
            loader.dispose()
        if not isinstance(root, Mapping):
            what = "a list" if isinstance(root, Sequence) else "a single value"
            message = f"front-matter must be a mapping (key: value), not {what}"
            raise _Refused("front-matter-mapping", root.line, root.col, message)
        return root

    def _build(self, next_event: Callable[[], Event | None]) -> Node:
        roots: list[Node] = []
        stack: list[_Open] = []
        siblings = roots
        while (event := next_event()) is not None:
            if isinstance(event, ScalarEvent):
                node: Node = self._scalar(event)
            elif isinstance(event, CollectionStartEvent):
                if len(stack) >= MAX_DEPTH:
                    raise self._refuse("front-matter-limit", event, f"nested deeper than {MAX_DEPTH} levels")
                siblings = []
                stack.append(_Open(event, siblings))
                continue
            elif isinstance(event, CollectionEndEvent):
                opened = stack.pop()
                siblings = stack[-1].children if stack else roots
                event = opened.event
                node = self._collection(opened)
            elif isinstance(event, AliasEvent):
                siblings.append(self._alias(event))
                continue
            elif isinstance(event, DocumentStartEvent) and roots:
                raise self._refuse(
                    "front-matter-mapping", event, "front-matter must be a mapping, not several documents"
                )
            else:
                continue
            if event.anchor:
                self._anchors[event.anchor] = node
            siblings.append(node)
        return roots[0] if roots else Mapping((), self.first_line, 1)

    def _scalar(self, event: ScalarEvent) -> Scalar:
        line, col = self._at(event)
        if event.tag and self._is_refused(event.tag, line, col):
            return Scalar("", line, col, null=True)
        text: str = event.value
        return Scalar(text, line, col, null=text in _NULLS and not event.style)

    def _collection(self, opened: _Open) -> Node:
        event, children = opened
        line, col = self._at(event)
        if event.tag and self._is_refused(event.tag, line, col):
            return Scalar("", line, col, null=True)
        if isinstance(event, SequenceStartEvent):
            return Sequence(tuple(children), line, col)
        if len(children) == _PAIR and event.flow_style and (text := _placeholder(*children)):
            return Scalar(text, line, col)
        return Mapping(tuple(zip(children[::2], children[1::2], strict=True)), line, col)

    def _alias(self, event: AliasEvent) -> Node:
        # An anchor is known once its value is complete, so no value can hold itself.
        if event.anchor not in self._anchors:
            message = (
                f"front-matter is not valid YAML: *{event.anchor} names no earlier &{event.anchor}; quote the value"
            )
            raise self._refuse("front-matter-yaml", event, message)
        return self._anchors[event.anchor]

    def _is_refused(self, tag: str, line: int, col: int) -> bool:
        if tag == "!" or tag in _CORE_TAGS:
            return False
        name = tag.replace("tag:yaml.org,2002:", "!!")[:80]
        message = f"the tag {name} is refused and its value dropped; write plain text, or quote it"
        self.notes.append(finding("yaml-tag", self.path, line, col, message))
        return True

    def _refuse(self, code: str, event: Event, message: str) -> _Refused:
        return _Refused(code, *self._at(event), message)

    def _at(self, event: Event) -> tuple[int, int]:
        mark: Any = event.start_mark  # never None in events that come from a text
        return self.first_line + mark.line, mark.column + 1


def _placeholder(key: Node, value: Node) -> str:
    """The text of ``{name}``, which YAML reads as a mapping from ``name`` to nothing: templates are full of them."""
    if isinstance(key, Scalar) and isinstance(value, Scalar) and value.null and not value.text:
        return f"{{{key.text}}}"
    return ""


def _explain(error: yaml.YAMLError, block: str) -> tuple[int, int, str]:
    """0-based line and column in the block, and what is wrong in a few words with a way out."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        problem = error.problem or error.context or "unreadable"
        at_tab = block[mark.index : mark.index + 1] == "\t"
        hint = "indent with spaces, not tabs" if at_tab else "put the value in quotes"
        return mark.line, mark.column, f"{problem}; {hint}"
    if isinstance(error, yaml.reader.ReaderError) and isinstance(error.character, int):
        # The position counts bytes or characters, depending on the loader; the character itself is certain.
        at = max(0, block.find(chr(error.character)))
        line = block.count("\n", 0, at)
        col = at - (block.rfind("\n", 0, at) + 1)
        return line, col, f"the character U+{error.character:04X} is not allowed; remove it"
    return 0, 0, "unreadable; put values in quotes"
