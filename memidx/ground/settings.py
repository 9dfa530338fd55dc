"""Every setting, its default and what it means. One value; what changes a snapshot is in its build key.

Named tuples and not dataclasses: every command makes these classes, and a dataclass takes four times as long to make.
"""

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints

from memidx.ground.kinds import DEFAULT_KINDS

_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(dict(DEFAULT_KINDS))


_COMPOSITE: Mapping[str, float] = MappingProxyType(
    {"relevance": 0.40, "recency": 0.25, "usefulness": 0.20, "confidence": 0.10, "access": 0.05}
)
_KIND_BASES: Mapping[str, float] = MappingProxyType({"rule": 2.0, "decision": 1.5, "procedure": 1.0})
_TIERS: Mapping[str, float] = MappingProxyType({"1": 2.0, "2": 1.5, "3": 1.0, "4": 0.8, "5": 0.6})
_NO_SEVERITIES: Mapping[str, str] = MappingProxyType({})


class PageSettings(NamedTuple):
    """Which files are pages, and what kind they are."""

    include: Annotated[tuple[str, ...], "gitignore-style globs of the files that are pages"] = ("*.md", "*.markdown")
    exclude: Annotated[tuple[str, ...], "globs of files that are not pages, although included"] = ()
    kinds: Annotated[Mapping[str, tuple[str, ...]], "kind -> globs of the folders that decide it"] = _KINDS
    max_bytes: Annotated[int, "a larger file is left out, with a warning"] = 64 * 1024 * 1024


class SectionSettings(NamedTuple):
    """How pages are cut."""

    max_chars: Annotated[int, "a longer section is cut at paragraph borders"] = 1500


class LexicalSettings(NamedTuple):
    """The BM25 index."""

    language: Annotated[str, "stemmer: a Snowball language, or none"] = "english"
    by_page: Annotated[bool, "stem a page in its own language: by its front-matter, its alphabet or its words"] = True


class VectorSettings(NamedTuple):
    """The vector index."""

    model: Annotated[str, "wordllama, model2vec:NAME-OR-FOLDER, fastembed:NAME-OR-FOLDER, or none"] = "wordllama"
    query_prefix: Annotated[
        str,
        "put before a question by model2vec and fastembed; auto: as the model's files say",
    ] = "auto"
    document_prefix: Annotated[
        str,
        "put before a page's text by model2vec and fastembed; auto: as its files say",
    ] = "auto"
    graph: Annotated[str, "build the HNSW graph: auto (from graph_min to graph_max vectors), always or never"] = "auto"
    graph_min: Annotated[
        int,
        "with auto, fewer distinct vectors than this are scanned exactly and not graphed",
    ] = 100_000
    graph_max: Annotated[
        int,
        "with auto, more distinct vectors than this are scanned exactly and not graphed",
    ] = 200_000
    graph_from: Annotated[
        int,
        "a command uses the graph from this many distinct vectors on; a server from 5000, unless it is set here",
    ] = 1_000_000


class QuerySettings(NamedTuple):
    """Answering."""

    limit: Annotated[int, "hits in an answer"] = 10
    window: Annotated[int, "sections that each stream contributes before fusion"] = 200
    refresh_seconds: Annotated[float, "refresh before answering when that is expected to take at most this long"] = 2.0


class FusionSettings(NamedTuple):
    """How the streams become one order."""

    form: Annotated[str, "convex (weighted sum of scores) or rrf (plain reciprocal rank fusion)"] = "convex"
    k: Annotated[int, "rrf: its constant"] = 60
    lexical: Annotated[float, "convex: weight of the lexical stream"] = 0.7
    vector: Annotated[float, "convex: weight of the vector stream, times the contrast of its best match"] = 2.0
    page: Annotated[
        float,
        "convex: how much of a page's lexical and vector score is that of the page as a whole, beside its best section",
    ] = 0.4
    title: Annotated[
        float,
        "convex: weight of a prefix, tag or entity in the title stream; an exact title decides by itself",
    ] = 0.3


class RankingSettings(NamedTuple):
    """What may appear, and in which order."""

    default: Annotated[str, "authority, relevance (no authority) or composite"] = "authority"
    relevance_floor: Annotated[float, "a candidate less relevant than this is dropped before scoring; below 0.5"] = 0.15
    min_similarity: Annotated[
        float,
        "the vector search's own cut-off, a cosine; -1 takes the model's calibration",
    ] = -1.0
    answer_floor: Annotated[
        float,
        "less evidence than this, and there is no answer; -1: the model's calibration, 0: off",
    ] = -1.0
    composite: Annotated[Mapping[str, float], "weights of the composite formula; they sum to 1"] = _COMPOSITE


class AuthoritySettings(NamedTuple):
    """What a page's metadata is worth among comparable pages."""

    kinds: Annotated[Mapping[str, float], "base by kind; any other kind is 1"] = _KIND_BASES
    tiers: Annotated[Mapping[str, float], "base by tier, in place of the kind's; a rule is never lowered"] = _TIERS
    canonical: Annotated[float, "factor for canonical pages"] = 1.2
    active: Annotated[float, "factor for active pages"] = 1.1
    low_most: Annotated[float, "pages tagged low have at most this"] = 1.0
    pinned_least: Annotated[float, "pinned pages have at least this"] = 1.5
    least: Annotated[float, "the clamp's lower end"] = 0.5
    most: Annotated[float, "the clamp's upper end"] = 3.0
    status: Annotated[float, "factor after the clamp for pages that are no longer in force"] = 0.5
    coverage_power: Annotated[float, "how fast authority fades where a page covers less of the question's words"] = 24.0
    other_topic: Annotated[float, "cosine up to which two sections count as being about different things"] = 0.4
    same_topic: Annotated[float, "cosine from which two sections count as being about the same thing"] = 0.52
    canonical_tags: Annotated[tuple[str, ...], "tags that say canonical"] = ("canonical", "source-of-truth")
    low_tags: Annotated[tuple[str, ...], "tags that say low"] = ("low", "experimental")
    status_tags: Annotated[
        tuple[str, ...],
        "tags and values of `status` for no longer in force",
    ] = ("deprecated", "superseded", "historical", "do-not-answer-from")


class DecaySettings(NamedTuple):
    """Retention, feedback and sweeping. See docs/decay.md."""

    lam: Annotated[float, "lambda: how fast a page is forgotten, a day of age"] = 0.02
    sigma: Annotated[float, "how much accesses keep a page"] = 0.6
    mu: Annotated[float, "how fast accesses are forgotten, a day since the last one"] = 0.04
    cold: Annotated[float, "a page with less retention than this is cold"] = 0.20
    salience: Annotated[float, "salience of a text that nobody has judged"] = 1.0
    helpful: Annotated[float, "what `helpful` adds to salience"] = 0.25
    not_helpful: Annotated[float, "what `not-helpful` takes away from it"] = 0.25
    salience_least: Annotated[float, "the least salience; `stale` and `wrong` lead to it at once"] = 0.25
    salience_most: Annotated[float, "the most salience"] = 2.0
    track: Annotated[bool, "count the pages that `query` and `show` return, in the git folder of this clone"] = True
    bulk_share: Annotated[float, "a commit that changes more than this share of the pages dates none of them"] = 0.2
    bulk_least: Annotated[int, "a commit that changes fewer pages than this is never a bulk commit"] = 10
    keep_kinds: Annotated[
        tuple[str, ...],
        "kinds that are not swept for being cold; what they link to is not swept either",
    ] = ("rule", "decision")
    sweep_share: Annotated[float, "sweeping more than this share of the pages needs --yes-many"] = 0.2


class BuildSettings(NamedTuple):
    """Building and keeping snapshots."""

    lock_seconds: Annotated[float, "wait at most this long for another build"] = 30.0
    keep: Annotated[int, "recent snapshots kept besides those that worktrees point to"] = 6


class CheckSettings(NamedTuple):
    """What `memidx check` says."""

    severity: Annotated[
        Mapping[str, str],
        "code -> error, warning, info or off, where the default is not wanted",
    ] = _NO_SEVERITIES


class HookSettings(NamedTuple):
    """What runs inside git commands."""

    budget_seconds: Annotated[
        float,
        "a commit waits at most this long for its snapshot; the next query builds the rest",
    ] = 2.0


class Settings(NamedTuple):
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
            "by_page": self.lexical.by_page,
            "graph": self.vector.graph,
            "graph_min": self.vector.graph_min,
            "graph_max": self.vector.graph_max,
        }
        return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()


def documented(part: str) -> dict[str, str]:
    """The sentence that explains each setting of a part, in the generated config and the docs."""
    hints = get_type_hints(type(getattr(Settings(), part)), include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


def as_plain(settings: Settings) -> dict[str, dict[str, Any]]:
    """Settings as nested dictionaries of plain values, for printing."""
    return {
        part: {name: _plain(value) for name, value in getattr(settings, part)._asdict().items()}
        for part in settings._fields
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
    "documented",
]
