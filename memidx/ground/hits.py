"""An answer, as frozen values. The JSON output holds the same names and numbers."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Freshness = Literal["fresh", "refreshed", "stale"]
STREAMS = ("lexical", "vector", "title")


class StreamHit(NamedTuple):
    """A page's place in one stream: rank from 1, the stream's own score, its share of the fused score."""

    rank: int
    score: float
    share: float


class Hit(NamedTuple):
    """One page of an answer, cited at its best section."""

    path: str
    title: str
    kind: str
    tags: tuple[str, ...]
    line: int
    end_line: int
    heading: tuple[str, ...]
    snippet: str
    marks: tuple[tuple[int, int], ...]  # character ranges of ``snippet`` that match the query
    rank: float  # lower is better: -(fused * authority)
    fused: float
    authority: float
    streams: dict[str, StreamHit]
    explain: dict[str, Any]

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """The hit as the JSON contract has it (docs/json.md)."""
        plain: dict[str, Any] = {
            "path": self.path,
            "title": self.title,
            "kind": self.kind,
            "tags": list(self.tags),
            "line": self.line,
            "end_line": self.end_line,
            "heading": list(self.heading),
            "snippet": self.snippet,
            "rank": self.rank,
            "fused": self.fused,
            "authority": self.authority,
            "streams": {
                name: {"rank": s.rank, "score": s.score, "share": s.share} for name, s in sorted(self.streams.items())
            },
        }
        if explain:
            plain["explain"] = self.explain
        return plain


class Answer(NamedTuple):
    """What ``query`` returns. ``degraded`` names what did not take part, ``notices`` is for a person to read."""

    query: str
    snapshot: str
    fresh: Freshness
    hits: tuple[Hit, ...]
    degraded: tuple[str, ...]
    filtered: int
    notices: tuple[str, ...]
    explain: dict[str, Any]

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """The answer as the JSON contract has it (docs/json.md)."""
        plain: dict[str, Any] = {
            "query": self.query,
            "snapshot": self.snapshot,
            "fresh": self.fresh,
            "degraded": list(self.degraded),
            "filtered": self.filtered,
            "hits": [hit.as_json(explain=explain) for hit in self.hits],
        }
        if explain:
            plain["explain"] = self.explain
        return plain
