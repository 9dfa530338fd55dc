"""Globs as in `.gitignore`, from settings and questions: text that may come from anybody."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pathspec import GitIgnoreSpec

# A glob becomes a regular expression, whose time on a long name grows with its length to the power of the stars.
MOST_STARS = 3  # in one name
MOST_DEEP = 2  # `**`, in one glob
MOST_CHARS = 1000
_DEEP = re.compile(r"(?:\*\*/)+")


def glob_problem(glob: str) -> str | None:
    """Why a glob cannot be used, in a few words."""
    if len(glob) > MOST_CHARS:
        return f"has more than {MOST_CHARS} characters"
    deep = glob.split("/").count("**")
    if deep > MOST_DEEP or any(part.count("*") > MOST_STARS for part in glob.split("/")):
        return f"has more than {MOST_STARS} stars in one name, or more than {MOST_DEEP} **"
    try:
        _made([glob])
    except ValueError as error:
        return f"is no pattern: {error}"
    return None


def glob_spec(globs: Iterable[str]) -> GitIgnoreSpec:
    """The globs that can be used; the others match nothing, as git has it with a pattern that is none."""
    folded = (_DEEP.sub("**/", glob) for glob in globs)
    return _made([glob for glob in folded if glob_problem(glob) is None])


def _made(globs: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # 10 ms

    with warnings.catch_warnings():  # what Python thinks of the regular expression is nobody's concern
        warnings.simplefilter("ignore")
        return GitIgnoreSpec.from_lines(globs)
