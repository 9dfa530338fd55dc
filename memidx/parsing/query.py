"""The query syntax. Every text is a valid query: what is not an operator is words.

"side by side"    must occur as a phrase; -"like this" must not occur
-word             must not occur; only at the start of a word, before a letter or digit, and at least two of them:
                  people paste command lines, and `-t` is a flag
tag:x path:x kind:x    filters; the value may be quoted
"""

from __future__ import annotations

import re
from typing import Final

from memidx.ground.query import ParsedQuery
from memidx.parsing import tokens

FIELDS: Final = ("tag", "path", "kind")
MAX_TERMS: Final = 256  # words, or n-grams of runs without spaces
_MAX_CHARS: Final = 20_000  # what is looked at; a longer text is cut before anything else

_ITEM: Final = re.compile(
    r"""
      (?P<minus>-?)(?P<field>tag|path|kind):(?:["“](?P<quoted>[^"“”]*)["”](?=\s|$)|(?P<value>\S+))
    | (?P<not>-?)["“](?P<phrase>[^"“”]*)["”](?=\W|$)
    | -(?P<excluded>[^\W_]\S+)
    | (?P<chunk>\S+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SPACE: Final = re.compile(r"\s*")
_UNKNOWN_FIELD: Final = re.compile(r"([A-Za-z][\w-]+):(?![:/\\\d])[\w\"“]")


def parse_query(text: str) -> ParsedQuery:
    """Read a typed query. Never raises; ``hints`` say what was not understood as one might expect."""
    reader = _Reader()
    looked_at = text[:_MAX_CHARS]
    at = 0
    while (at := _skip(looked_at, at)) < len(looked_at) and reader.budget > 0:
        item = _ITEM.match(looked_at, at)
        if item is None:  # cannot be: the last branch takes any chunk
            break
        at = item.end()
        if item["field"]:
            reader.take_filter(item)
        else:
            reader.take_words(*_kind_of(item))
    return reader.finish(cut=_skip(text, at) < len(text))


class _Reader:
    """What has been read of a query so far."""

    def __init__(self) -> None:
        self.budget = MAX_TERMS
        self._found: dict[str, list[str]] = {name: [] for name in ("terms", "phrases", "excluded", *FIELDS)}
        self._said: list[str] = []  # the words in the order typed
        self._hints: list[str] = []
        self._cut = False

    def take_filter(self, item: re.Match[str]) -> None:
        name = item["field"].lower()
        value = item["quoted"] if item["quoted"] is not None else item["value"].strip('"“”')
        if name == "tag":
            value = value.lstrip("#")
        if item["minus"]:
            self._hints.append(f"-{name}: cannot be excluded; it was left out")
        elif value.strip():
            self._found[name].append(value.strip())

    def take_words(self, name: str, words: str) -> None:
        if not any(map(str.isalnum, words)):
            return
        cost = max(1, len(tokens.fold(words).split()))
        if cost > self.budget:
            words, cost = words[: self.budget], self.budget
            self._cut = True
        self.budget -= cost
        self._found[name].append(words)
        if name != "excluded":
            self._said.append(words)
        if name == "terms" and (unknown := _UNKNOWN_FIELD.match(words)):
            self._hints.append(
                f"{unknown[1]}: is not a field and was searched as a word; fields are tag:, path: and kind:"
            )

    def finish(self, *, cut: bool) -> ParsedQuery:
        if cut or self._cut:
            self._hints.append(f"the query is long: its first {MAX_TERMS} words were used")
        found = {name: tuple(dict.fromkeys(values)) for name, values in self._found.items()}
        if not self._said and not any(found[name] for name in FIELDS):
            self._hints.append(
                "the query only says what must not occur; add a word to look for"
                if found["excluded"]
                else "the query has no words to look for"
            )
        return ParsedQuery(
            text=" ".join(self._said),
            terms=found["terms"],
            phrases=found["phrases"],
            excluded=found["excluded"],
            tags=found["tag"],
            paths=found["path"],
            kinds=found["kind"],
            hints=tuple(dict.fromkeys(self._hints)),
        )


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _kind_of(item: re.Match[str]) -> tuple[str, str]:
    if item["phrase"] is not None:
        return "excluded" if item["not"] else "phrases", item["phrase"].strip()
    if item["excluded"]:
        return "excluded", item["excluded"]
    return "terms", item["chunk"]
