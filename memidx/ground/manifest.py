"""A snapshot's manifest: what it was built from, what it holds, and a digest of each file."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from memidx.ground.errors import BrokenSnapshotError, OtherFormatError
from memidx.ground.model import ModelIdentity

FORMAT = 5


class FileDigest(NamedTuple):
    """A file of the snapshot: size in bytes and hex SHA-256."""

    size: int
    sha256: str


class Manifest(NamedTuple):
    """Everything a reader must know before it opens the other files."""

    key: str
    listing: str  # digest of the listing
    settings: str  # digest of the settings that matter to a build
    model: ModelIdentity | None
    libraries: dict[str, str]
    counts: dict[str, int]
    vectors: dict[str, int]  # dimension, base, overlay, dead
    graph: dict[str, Any] | None
    files: dict[str, FileDigest]
    format: int = FORMAT

    def to_bytes(self) -> bytes:
        """JSON with sorted keys; the last key is a digest over the rest."""
        plain = {
            "format": self.format,
            "key": self.key,
            "listing": self.listing,
            "settings": self.settings,
            "model": self.model._asdict() if self.model else None,
            "libraries": self.libraries,
            "counts": self.counts,
            "vectors": self.vectors,
            "graph": self.graph,
            "files": {name: d._asdict() for name, d in sorted(self.files.items())},
        }
        plain["self"] = _digest(plain)
        return (json.dumps(plain, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes, where: str) -> Manifest:
        """Raises BrokenSnapshotError when the manifest is damaged, OtherFormatError when another version made it."""
        try:
            plain = json.loads(data)
            found = plain.pop("self")  # the same in every format, so that damage never passes for another version
            if found != _digest(plain):
                raise BrokenSnapshotError(f"{where}: the manifest does not match its own digest")
            if (made := int(plain["format"])) != FORMAT:
                who = "a newer" if made > FORMAT else "an older"
                raise OtherFormatError(
                    f"{where}: was made by {who} memidx: snapshot format {made}, this one reads {FORMAT}",
                    newer=made > FORMAT,
                    hint="build or export it again with this memidx",
                )
            model = ModelIdentity(**plain.pop("model")) if plain["model"] else plain.pop("model")
            files = {name: FileDigest(**d) for name, d in plain.pop("files").items()}
            return cls(model=model, files=files, **plain)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BrokenSnapshotError(f"{where}: damaged manifest: {error}") from error


def content_key(listing: str, settings: str, model: str, libraries: dict[str, str]) -> str:
    """The name of a snapshot: 32 hex digits over all that its bytes depend on."""
    whole = json.dumps([FORMAT, listing, settings, model, sorted(libraries.items())]).encode()
    return hashlib.sha256(whole).hexdigest()[:32]


def _digest(plain: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
