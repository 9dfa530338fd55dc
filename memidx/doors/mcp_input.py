"""What the tools of the MCP server take. The names are those of the command line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memidx.ground.errors import UsageError
from memidx.ground.nearest import did_you_mean


def _listed(value: Any) -> Any:
    """One text stands for a list of one; nothing for an empty list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=list[str] | str | None)]
WHEN = "a date (2024-03-31) or how long ago (30d, 2w, 6m, 1y)"


class Arguments(BaseModel):
    """The base of all: an argument that is not known is an error, and says so."""

    model_config = ConfigDict(extra="forbid")


class Filtered(Arguments):
    """Which pages are meant."""

    kind: Texts = Field([], description="Only pages of one of these kinds, such as rule, decision, procedure.")
    tag: Texts = Field([], description="Only pages with all of these tags.")
    path: Texts = Field([], description="Only pages whose path matches these globs, as in .gitignore.")
    since: str | None = Field(None, description=f"Only pages changed then or later: {WHEN}.")
    until: str | None = Field(None, description=f"Only pages changed then or before: {WHEN}.")
    where: Texts = Field([], description="Only pages with this in the front-matter: key=value.")
    include_expired: bool = Field(default=False, description="Pages past their expires_at too.")

    def given(self) -> dict[str, Any]:
        """As the options of the command line are given."""
        names = {"kinds": self.kind, "tags": self.tag, "paths": self.path}
        return {**names, "since": self.since, "until": self.until, "where": self.where}


class QueryArguments(Filtered):
    """memory_query."""

    query: str = Field(description='Words to look for. Operators: "side by side", -word, tag:x, path:x, kind:x.')
    limit: int | None = Field(None, ge=1, le=100, description="At most so many hits (default 10).")
    only: Literal["lexical", "vector", "title"] | None = Field(None, description="Search with one stream alone.")
    rank: Literal["authority", "relevance", "composite"] | None = Field(None, description="How to order.")
    weight: dict[str, float] = Field({}, description="Composite: weights to change, such as recency: 0.4.")
    floor: float | None = Field(None, description="Drop candidates less relevant than this (below 0.5).")
    rev: str | None = Field(None, description="Search the pages of a commit, a tag or a branch.")
    explain: bool = Field(default=False, description="Return every number that took part.")


class ContextArguments(Filtered):
    """memory_context."""

    question: str = Field(description="The question that is to be answered.")
    budget: int = Field(2000, ge=100, le=100_000, description="At most so many tokens, by a stated estimate.")


class ReadArguments(Arguments):
    """memory_read."""

    path: str = Field(description="path of a page, or path:line for the section at that line.")
    rev: str | None = Field(None, description="The page as it was in a commit, a tag or a branch.")
    related: bool = Field(default=True, description="Name pages that have to do with it.")
    max_chars: int = Field(20_000, ge=200, le=1_000_000, description="Cut a longer text after so many characters.")


class RecentArguments(Arguments):
    """memory_recent."""

    since: str | None = Field(None, description=f"Only pages changed then or later: {WHEN}.")
    until: str | None = Field(None, description=f"Only pages changed then or before: {WHEN}.")
    kind: Texts = Field([], description="Only pages of one of these kinds.")
    limit: int = Field(20, ge=1, le=200, description="At most so many pages.")


class RelatedArguments(Arguments):
    """memory_related."""

    path: str = Field(description="The page.")
    limit: int = Field(10, ge=1, le=100, description="At most so many pages.")


class FeedbackArguments(Arguments):
    """memory_feedback."""

    path: str = Field(description="The page that was used.")
    kind: Literal["helpful", "not-helpful", "not_helpful", "stale", "wrong"] = Field(description="The verdict.")
    reason: str = Field("", max_length=10_000, description="Why, for whoever mends the page.")
    by: str = Field("", max_length=200, description="Who says so.")


class StatusArguments(Arguments):
    """memory_status."""


class CheckArguments(Arguments):
    """memory_check."""

    path: Texts = Field([], description="Only findings about these pages or folders.")
    limit: int = Field(100, ge=1, le=1000, description="At most so many findings.")


class WriteArguments(Arguments):
    """memory_write."""

    text: str = Field(max_length=1_000_000, description="The whole page with its front-matter; with title: its body.")
    path: str | None = Field(None, description="Where: an existing page (give its blob) or a new one.")
    blob: str | None = Field(None, description="The blob id that memory_read gave, to update that page.")
    kind: str | None = Field(None, description="Without a path: the kind of the new page, which decides its folder.")
    title: str | None = Field(None, description="Without a path: the title of the new page, which names its file.")
    supersedes: str | None = Field(None, description="Without a path: the page that it replaces; both are linked.")


def parsed(model: type[Arguments], arguments: dict[str, Any]) -> Arguments:
    """The arguments, checked. Raises UsageError that says what is wrong with which one."""
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        said = []
        for one in error.errors(include_url=False):
            name = ".".join(map(str, one["loc"]))
            if one["type"] == "extra_forbidden":
                near = did_you_mean(name, model.model_fields) or f"there are {', '.join(model.model_fields)}"
                said.append(f"there is no argument '{name}'; {near}")
            else:
                said.append(f"{name}: {one['msg']}")
        raise UsageError("; ".join(said)) from error
