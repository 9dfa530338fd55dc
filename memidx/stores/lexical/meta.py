"""What an index says of itself: Tantivy's ``meta.json``, and our settings in the ``payload`` it keeps for its users.

{"format": 3, "language": "english", "others": ["german"], "sizes": {"<file>": <bytes>, …}}

``others`` are the languages of single pages.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memidx.ground.errors import BrokenSnapshotError

if TYPE_CHECKING:
    from pathlib import Path

FORMAT: Final = 3
META: Final = "meta.json"


def broken(path: Path, why: object) -> BrokenSnapshotError:
    """The error for damage at ``path``."""
    return BrokenSnapshotError(f"{path}: lexical index not readable: {why}", hint="build again: memidx build --full")


class Payload(NamedTuple):
    """What the index knows of itself beside Tantivy's own data."""

    language: str
    others: tuple[str, ...]
    sizes: dict[str, int]


def read_meta(folder: Path) -> dict[str, Any]:
    """``meta.json`` as Tantivy wrote it. Raises BrokenSnapshotError."""
    path = folder / META
    try:
        meta = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise broken(path, error) from error
    if not isinstance(meta, dict) or not isinstance(meta.get("segments"), list):
        raise broken(path, "no list of segments")
    return meta


def read_payload(folder: Path, meta: dict[str, Any]) -> Payload:
    """Our part of ``meta.json``. Raises BrokenSnapshotError if it is missing or of another format."""
    try:
        payload = json.loads(meta["payload"])
        found, language = payload["format"], str(payload["language"])
        others = tuple(str(name) for name in payload["others"])
        sizes = {str(name): int(size) for name, size in payload["sizes"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise broken(folder / META, error) from error
    if found != FORMAT:
        raise broken(folder / META, f"format {found}, not {FORMAT}")
    return Payload(language, others, sizes)


def check_sizes(folder: Path, payload: Payload) -> None:
    """Raise BrokenSnapshotError if a file is missing or has another size than when it was written."""
    for name, size in payload.sizes.items():
        if "/" in name or "\\" in name:
            raise broken(folder / META, f"{name!r} is not a file name")
        try:
            found = (folder / name).stat().st_size
        except OSError as error:
            raise broken(folder / name, error.strerror) from error
        if found != size:
            raise broken(folder / name, f"{found} bytes, not {size}")
