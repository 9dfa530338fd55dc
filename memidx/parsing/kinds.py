"""The kind of a page: from its folder, then from its front-matter."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NOTE = "note"
# Words people use for a kind, besides its name and its plural.
_ALSO = {"adr": "decision", "adrs": "decision", "runbook": "procedure", "runbooks": "procedure"}
_GLOB_SIGNS = frozenset("*?[]\\!#/")


class _Test(NamedTuple):
    kind: str
    folders: frozenset[str]  # names of folders, at any depth
    spec: GitIgnoreSpec | None  # what is more than a folder's name


def kind_from_path(path: str, kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> str | None:
    """The first kind, in the order of the table, one of whose globs matches the path."""
    folders = path.split("/")[:-1]
    for test in _compile(kinds):
        if not test.folders.isdisjoint(folders) or (test.spec is not None and test.spec.match_file(path)):
            return test.kind
    return None


def kind_from_word(word: str, kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> str | None:
    """The kind a word in the front-matter means: a name from the table or ``note``, its plural, or a synonym."""
    word = word.strip().casefold()
    return _words(kinds).get(word)


@lru_cache(maxsize=8)
def _compile(kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[_Test, ...]:
    return tuple(_make_test(kind, globs) for kind, globs in kinds)


def _make_test(kind: str, globs: tuple[str, ...]) -> _Test:
    # A plain "name/" is all the default table has, and a set answers it 20 times faster than a pattern.
    # With a negation in the list the order counts, so then everything goes to the matcher.
    negated = any(glob.startswith("!") for glob in globs)
    plain = {glob for glob in globs if not negated and _is_folder_name(glob)}
    rest = [glob for glob in globs if glob not in plain]
    return _Test(kind, frozenset(glob[:-1] for glob in plain), _spec(rest) if rest else None)


def _spec(globs: list[str]) -> GitIgnoreSpec:
    from memidx.parsing.globs import glob_spec  # pathspec: 10 ms, paid by vaults with globs of their own

    return glob_spec(globs)


def _is_folder_name(glob: str) -> bool:
    return len(glob) > 1 and glob.endswith("/") and glob == glob.strip() and _GLOB_SIGNS.isdisjoint(glob[:-1])


@lru_cache(maxsize=8)
def _words(kinds: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, str]:
    names = [kind for kind, _ in kinds]
    known = {word: kind for word, kind in _ALSO.items() if kind in names}
    for name in (*names, NOTE):
        known[name.casefold() + "s"] = name
    return known | {name.casefold(): name for name in (*names, NOTE)}
