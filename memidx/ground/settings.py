"""Every setting, its default and what it means. One value; what changes a snapshot is in its build key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from memidx.ground.page import DEFAULT_KINDS

_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(dict(DEFAULT_KINDS))


_COMPOSITE: Mapping[str, float] = MappingProxyType(
    {"relevance": 0.40, "recency": 0.25, "usefulness": 0.20, "confidence": 0.10, "access": 0.05}
)
_KIND_BASES: Mapping[str, float] = MappingProxyType({"rule": 2.0, "decision": 1.5, "procedure": 1.0})
_TIERS: Mapping[str, float] = MappingProxyType({"1": 2.0, "2": 1.5, "3": 1.0, "4": 0.8, "5": 0.6})
_NO_SEVERITIES: Mapping[str, str] = MappingProxyType({})


def option(default: Any, doc: str) -> Any:
    """One setting: its default and the sentence that explains it in the generated config and the docs."""
    if isinstance(default, Mapping):  # dataclasses refuse an unhashable default, although this one is read-only
        return field(default_factory=lambda: default, metadata={"doc": doc})
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Which files are pages, and what kind they are."""

    include: tuple[str, ...] = option(("*.md", "*.markdown"), "gitignore-style globs of the files that are pages")
    exclude: tuple[str, ...] = option((), "globs of files that are not pages, although included")
    kinds: Mapping[str, tuple[str, ...]] = option(_KINDS, "kind -> globs of the folders that decide it")
    max_bytes: int = option(64 * 1024 * 1024, "a larger file is left out, with a warning")


@dataclass(frozen=True, slots=True)
class SectionSettings:
    """How pages are cut."""

    max_chars: int = option(1500, "a longer section is cut at paragraph borders")


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """The BM25 index."""

    language: str = option("english", "stemmer: a Snowball language, or none")


@dataclass(frozen=True, slots=True)
class VectorSettings:
    """The vector index."""

    model: str = option("wordllama", "wordllama, model2vec:NAME-OR-FOLDER, fastembed:NAME-OR-FOLDER, or none")
    query_prefix: str = option(
        "auto", "put before a question by model2vec and fastembed; auto: as the model's files say"
    )
    document_prefix: str = option("auto", "put before a page's text by model2vec and fastembed; auto: as its files say")
    graph: str = option("auto", "build the HNSW graph: auto (up to graph_max vectors), always or never")
    graph_max: int = option(200_000, "with auto, more distinct vectors than this are scanned exactly and not graphed")
    graph_from: int = option(100_000, "use the graph for queries from this many distinct vectors on")


@dataclass(frozen=True, slots=True)
class QuerySettings:
    """Answering."""

    limit: int = option(10, "hits in an answer")
    window: int = option(200, "sections that each stream contributes before fusion")
    refresh_seconds: float = option(2.0, "refresh before answering when that is expected to take at most this long")


@dataclass(frozen=True, slots=True)
class FusionSettings:
    """How the streams become one order."""

    form: str = option("convex", "convex (weighted sum of scores) or rrf (plain reciprocal rank fusion)")
    k: int = option(60, "rrf: its constant")
    lexical: float = option(0.7, "convex: weight of the lexical stream")
    vector: float = option(2.0, "convex: weight of the vector stream, times the contrast of its best match")
    title: float = option(
        0.3, "convex: weight of a prefix, tag or entity in the title stream; an exact title decides by itself"
    )


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What may appear, and in which order."""

    default: str = option("authority", "authority, relevance (no authority) or composite")
    relevance_floor: float = option(0.15, "a candidate less relevant than this is dropped before scoring; below 0.5")
    min_similarity: float = option(-1.0, "the vector search's own cut-off, a cosine; -1 takes the model's calibration")
    answer_floor: float = option(
        -1.0, "less evidence than this, and there is no answer; -1: the model's calibration, 0: off"
    )
    composite: Mapping[str, float] = option(_COMPOSITE, "weights of the composite formula; they sum to 1")


@dataclass(frozen=True, slots=True)
class AuthoritySettings:
    """What a page's metadata is worth among comparable pages."""

    kinds: Mapping[str, float] = option(_KIND_BASES, "base by kind; any other kind is 1")
    tiers: Mapping[str, float] = option(_TIERS, "base by tier, in place of the kind's; a rule is never lowered")
    canonical: float = option(1.2, "factor for canonical pages")
    active: float = option(1.1, "factor for active pages")
    low_most: float = option(1.0, "pages tagged low have at most this")
    pinned_least: float = option(1.5, "pinned pages have at least this")
    least: float = option(0.5, "the clamp's lower end")
    most: float = option(3.0, "the clamp's upper end")
    status: float = option(0.5, "factor after the clamp for pages that are no longer in force")
    coverage_power: float = option(24.0, "how fast authority fades where a page covers less of the question's words")
    other_topic: float = option(0.4, "cosine up to which two sections count as being about different things")
    same_topic: float = option(0.5, "cosine from which two sections count as being about the same thing")
    canonical_tags: tuple[str, ...] = option(("canonical", "source-of-truth"), "tags that say canonical")
    low_tags: tuple[str, ...] = option(("low", "experimental"), "tags that say low")
    status_tags: tuple[str, ...] = option(
        ("deprecated", "superseded", "historical", "do-not-answer-from"),
        "tags and values of `status` for no longer in force",
    )


@dataclass(frozen=True, slots=True)
class DecaySettings:
    """Retention, feedback and sweeping. See docs/decay.md."""

    lam: float = option(0.02, "lambda: how fast a page is forgotten, a day of age")
    sigma: float = option(0.6, "how much accesses keep a page")
    mu: float = option(0.04, "how fast accesses are forgotten, a day since the last one")
    cold: float = option(0.20, "a page with less retention than this is cold")
    salience: float = option(1.0, "salience of a text that nobody has judged")
    helpful: float = option(0.25, "what `helpful` adds to salience")
    not_helpful: float = option(0.25, "what `not-helpful` takes away from it")
    salience_least: float = option(0.25, "the least salience; `stale` and `wrong` lead to it at once")
    salience_most: float = option(2.0, "the most salience")
    track: bool = option(
        default=True, doc="count the pages that `query` and `show` return, in the git folder of this clone"
    )
    bulk_share: float = option(0.2, "a commit that changes more than this share of the pages dates none of them")
    bulk_least: int = option(10, "a commit that changes fewer pages than this is never a bulk commit")
    keep_kinds: tuple[str, ...] = option(
        ("rule", "decision"), "kinds that are not swept for being cold; what they link to is not swept either"
    )
    sweep_share: float = option(0.2, "sweeping more than this share of the pages needs --yes-many")


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """Building and keeping snapshots."""

    lock_seconds: float = option(30.0, "wait at most this long for another build")
    keep: int = option(6, "recent snapshots kept besides those that worktrees point to")


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What `memidx check` says."""

    severity: Mapping[str, str] = option(
        _NO_SEVERITIES, "code -> error, warning, info or off, where the default is not wanted"
    )


@dataclass(frozen=True, slots=True)
class HookSettings:
    """What runs inside git commands."""

    budget_seconds: float = option(
        2.0, "a commit waits at most this long for its snapshot; the next query builds the rest"
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """All of them."""

    pages: PageSettings = PageSettings()
    sections: SectionSettings = SectionSettings()
    lexical: LexicalSettings = LexicalSettings()
    vector: VectorSettings = VectorSettings()
    query: QuerySettings = QuerySettings()
    fusion: FusionSettings = FusionSettings()
    ranking: RankingSettings = RankingSettings()
    authority: AuthoritySettings = AuthoritySettings()
    decay: DecaySettings = DecaySettings()
    build: BuildSettings = BuildSettings()
    check: CheckSettings = CheckSettings()
    hooks: HookSettings = HookSettings()

    def build_digest(self) -> str:
        """Hex SHA-256 over the settings that change what a snapshot holds. The model's identity is kept apart."""
        chosen = {
            "kinds": [[kind, list(globs)] for kind, globs in self.pages.kinds.items()],
            "max_bytes": self.pages.max_bytes,
            "max_chars": self.sections.max_chars,
            "language": self.lexical.language,
            "graph": self.vector.graph,
            "graph_max": self.vector.graph_max,
        }
        return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def as_plain(settings: Settings) -> dict[str, dict[str, Any]]:
    """Settings as nested dictionaries of plain values, for printing."""
    return {
        part.name: {
            f.name: _plain(getattr(getattr(settings, part.name), f.name)) for f in fields(getattr(settings, part.name))
        }
        for part in fields(settings)
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return list(value) if isinstance(value, tuple) else value


__all__ = [
    "BuildSettings",
    "CheckSettings",
    "FusionSettings",
    "HookSettings",
    "LexicalSettings",
    "PageSettings",
    "QuerySettings",
    "SectionSettings",
    "Settings",
    "VectorSettings",
    "as_plain",
]
