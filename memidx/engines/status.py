"""What there is: whether the index matches the pages, why not, and what it holds. Builds nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memidx.engines.snapshot import Snapshot
from memidx.engines.streams import GOOD_RECALL
from memidx.ground.errors import BrokenSnapshotError, OtherFormatError
from memidx.ground.listing import ListingDiff, diff_listings
from memidx.stores.snapshots import check_digests

if TYPE_CHECKING:
    from memidx.engines.inputs import Inputs
    from memidx.ground.diagnostics import Diagnostic
    from memidx.ground.manifest import Manifest
    from memidx.ground.settings import Settings
    from memidx.stores.snapshots import Snapshots


class Graph(NamedTuple):
    """The HNSW graph: what the build measured, and whether queries go through it."""

    rows: int
    ef: int
    recall: float
    used: bool
    why: str


class Status(NamedTuple):
    """The state of a vault's index. What is in it is that of the last build, also when that is not ``fresh``."""

    fresh: bool
    reasons: tuple[str, ...]  # why it is not fresh
    diff: ListingDiff  # from the last build to the pages as they are
    snapshot: str | None  # None: nothing was built, or it cannot be read
    counts: dict[str, int]  # pages, sections, vectors, degraded, diagnostics
    kinds: dict[str, int]
    languages: dict[str, int]  # pages that are stemmed in another language than the vault's
    degraded: tuple[str, ...]  # paths
    diagnostics: tuple[Diagnostic, ...]
    bytes: int  # of this snapshot
    all_bytes: int  # of everything derived; a file shared by snapshots counts once
    model: str | None
    model_error: str | None
    graph: Graph | None
    kept: tuple[str, ...]  # keys, the most recently used first
    differing: tuple[str, ...] | None  # files whose digest is not the one built; None: not asked

    def as_json(self) -> dict[str, Any]:
        """As the JSON contract has it (docs/json.md)."""
        plain = {
            "fresh": self.fresh,
            "reasons": list(self.reasons),
            "added": [e.path for e in self.diff.added],
            "changed": [e.path for e in self.diff.changed],
            "removed": [e.path for e in self.diff.removed],
            "snapshot": self.snapshot,
            "counts": self.counts,
            "kinds": self.kinds,
            "languages": self.languages,
            "degraded": list(self.degraded),
            "diagnostics": [d._asdict() for d in self.diagnostics],
            "bytes": self.bytes,
            "all_bytes": self.all_bytes,
            "model": self.model,
            "model_error": self.model_error,
            "graph": self.graph._asdict() if self.graph else None,
            "kept": list(self.kept),
        }
        if self.differing is not None:
            plain["differing"] = list(self.differing)
        return plain


def status(
    inputs: Inputs, snapshots: Snapshots, base_key: str | None, model_error: str | None, *, verify: bool
) -> Status:
    """Look, and compare with what the pages need."""
    key = inputs.key if snapshots.has(inputs.key) else base_key
    snapshot, reasons = _open(snapshots, key)
    entries = inputs.listing.entries
    diff = diff_listings(snapshot.catalog.listing() if snapshot else [], entries)
    if snapshot and snapshot.key != inputs.key:
        reasons.extend(why_stale(snapshot.manifest, inputs, diff))
    manifest = snapshot.manifest if snapshot else None
    counts = dict(manifest.counts) if manifest else {}
    home = snapshots.home
    return Status(
        fresh=snapshot is not None and not reasons,
        reasons=tuple(reasons),
        diff=diff,
        snapshot=snapshot.key if snapshot else None,
        counts={name: n for name, n in counts.items() if "." not in name},
        kinds=_counts(counts, "kind."),
        languages=_counts(counts, "language."),
        degraded=tuple(snapshot.catalog.degraded()) if snapshot else (),
        diagnostics=(*inputs.listing.notes, *snapshot.catalog.diagnostics()) if snapshot else inputs.listing.notes,
        bytes=size_of(snapshot.folder) if snapshot else 0,
        all_bytes=size_of(home),
        model=manifest.model.name if manifest and manifest.model else None,
        model_error=model_error,
        graph=_graph(manifest, inputs.settings) if manifest else None,
        kept=tuple(snapshots.keys()),
        differing=_differing(snapshot) if verify else None,
    )


def _counts(counts: dict[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): n for name, n in counts.items() if name.startswith(prefix)}


def why_stale(old: Manifest, inputs: Inputs, diff: ListingDiff) -> list[str]:
    """Everything that differs between what a snapshot was built from and what there is now."""
    reasons = []
    if diff:
        counted = (("added", diff.added), ("changed", diff.changed), ("removed", diff.removed))
        reasons.append(", ".join(f"{len(pages)} {what}" for what, pages in counted if pages) + " since the last build")
    if old.settings != inputs.settings.build_digest():
        reasons.append("other settings")
    model = inputs.embedder.identity if inputs.embedder else None
    if old.model != model:
        reasons.append(f"other model: built with {_name(old.model)}, now {_name(model)}")
    names = sorted(n for n in {*old.libraries, *inputs.libraries} if old.libraries.get(n) != inputs.libraries.get(n))
    if names:
        moves = (f"{n} {old.libraries.get(n, 'none')} to {inputs.libraries.get(n, 'none')}" for n in names)
        reasons.append(f"other library versions: {', '.join(moves)}")
    return reasons or ["built from other inputs"]


def size_of(folder: Path) -> int:
    """Bytes of the files below a folder; hard links to one file count once."""
    found: dict[tuple[int, int], int] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # a build has just ended
                stat = Path(place, name).lstat()
                found[stat.st_dev, stat.st_ino] = stat.st_size
    return sum(found.values())


def _open(snapshots: Snapshots, key: str | None) -> tuple[Snapshot | None, list[str]]:
    if key is None:
        return None, ["nothing has been built yet"]
    try:
        snapshot = Snapshot(snapshots.folder(key))
        snapshot.catalog  # noqa: B018 - opened here, where a damaged one can be told
    except OtherFormatError as error:
        return None, [f"the last build cannot be used: {error.message}"]
    except BrokenSnapshotError as error:
        return None, [f"the last build is damaged: {error.message}"]
    return snapshot, []


def _differing(snapshot: Snapshot | None) -> tuple[str, ...]:
    return tuple(check_digests(snapshot.folder, snapshot.manifest)) if snapshot else ()


def _graph(manifest: Manifest, settings: Settings) -> Graph | None:
    about = manifest.graph
    if not about:
        return None
    wanted = max(settings.query.window, 4 * settings.query.limit) + manifest.vectors["dead"]
    if about["recall"] < GOOD_RECALL:
        why = f"its recall is below {GOOD_RECALL:g}"
    elif about["rows"] < settings.vector.graph_from:
        why = f"under {settings.vector.graph_from} vectors an exact scan is as quick"
    elif about["ef"] < wanted:
        why = f"a query wants {wanted} vectors, it was measured for {about['ef']}"
    else:
        why = "large enough, and measured to find what an exact scan finds"
    used = why.startswith("large")
    return Graph(about["rows"], about["ef"], about["recall"], used, why)


def _name(model: Any) -> str:
    return str(model.name) if model else "none"


__all__ = ["Graph", "Status", "size_of", "status", "why_stale"]
