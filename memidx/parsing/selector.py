"""Which paths are pages, by the include and exclude globs of the config."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SUFFIX = re.compile(r"\*(\.[A-Za-z0-9_]+)")


def make_selector(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool]:
    """A predicate over vault-relative paths. Plain `*.ext` globs cost nothing; others go through `pathspec`."""
    found = [_SUFFIX.fullmatch(glob) for glob in include]
    suffixes = tuple(match[1].lower() for match in found if match)
    included = _ending(suffixes) if len(suffixes) == len(include) else _spec(include)
    if not exclude:
        return included
    excluded = _spec(exclude)
    return lambda path: included(path) and not excluded(path)


def _ending(suffixes: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda path: path.lower().endswith(suffixes)


def _spec(globs: Sequence[str]) -> Callable[[str], bool]:
    from memidx.parsing.globs import glob_spec  # pathspec: 10 ms, paid by vaults with globs of their own

    spec = glob_spec(globs)
    return lambda path: bool(spec.match_file(path))
