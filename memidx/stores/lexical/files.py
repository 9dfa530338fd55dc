"""The files of a Tantivy index: which belong to it, and names that do not change from build to build.

Tantivy names a segment by a random UUID. Nothing inside the files repeats it, so renaming them and writing the two
JSON files anew makes equal inputs give equal bytes. Segment n is called 00000000-0000-0000-0000-00000000000n.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memidx.stores.lexical.meta import FORMAT, META, read_meta

if TYPE_CHECKING:
    from collections.abc import Iterable
    from tempfile import TemporaryDirectory

_MANAGED: Final = ".managed.json"
_META_LOCK: Final = ".tantivy-meta.lock"
_LOCKS: Final = (".tantivy-writer.lock", _META_LOCK)
_FIXED: Final = "0" * 20  # what the name of a renamed segment starts with; a random one practically never does


def settle(folder: Path, language: str, others: Iterable[str] = ()) -> None:
    """After the writer is gone: rename new segments, write the JSON files anew, remove everything else."""
    import uuid  # brings `platform` along: 8 ms that only a build pays

    meta = read_meta(folder)
    taken = [int(_stem(s), 16) for s in meta["segments"] if _stem(s).startswith(_FIXED)]
    following = max(taken, default=0) + 1
    new = [s for s in meta["segments"] if not _stem(s).startswith(_FIXED)]
    # Tantivy keeps segments in an order that depends on their random names: ours depends on what is in them.
    for number, segment in enumerate(sorted(new, key=lambda s: _content(folder, s)), following):
        old = _stem(segment)
        segment["segment_id"] = str(uuid.UUID(int=number))
        for path in sorted(folder.glob(f"{old}.*")):
            path.rename(folder / (_stem(segment) + path.name[len(old) :]))
    meta["segments"].sort(key=_stem)
    stems = {_stem(s): s for s in meta["segments"]}
    sizes = {}
    for path in sorted(folder.iterdir()):
        if _belongs(path.name, stems):
            sizes[path.name] = path.stat().st_size
        else:
            path.unlink()
    (folder / _META_LOCK).touch()  # a reader would make it; so the folder stays as it was built
    payload = {"format": FORMAT, "language": language, "others": sorted(others), "sizes": sizes}
    meta["payload"] = json.dumps(payload, sort_keys=True)
    _write(folder / _MANAGED, json.dumps([*sizes, META]))
    _write(folder / META, json.dumps(meta, indent=1))


def link_index(base: Path, folder: Path) -> None:
    """Give ``folder`` the files of ``base``: the immutable ones by hard link where the file system can, else copied.

    The two JSON files are copied, because a writer changes them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(base.iterdir()):
        if path.name in _LOCKS:
            continue
        target = folder / path.name
        if path.suffix == ".json":
            shutil.copyfile(path, target)
            continue
        try:
            os.link(path, target)
        except OSError:
            shutil.copyfile(path, target)


def mirror(folder: Path) -> TemporaryDirectory[str]:
    """A writable folder of links to the files of a read-only one: Tantivy takes a lock even to read."""
    import tempfile

    place = tempfile.TemporaryDirectory(prefix="memidx-")
    for path in folder.iterdir():
        if path.name in _LOCKS:
            continue
        target = Path(place.name, path.name)
        try:
            target.symlink_to(path.resolve())
        except OSError:
            shutil.copyfile(path, target)
    return place


def _stem(segment: dict[str, Any]) -> str:
    return str(segment["segment_id"]).replace("-", "")


def _content(folder: Path, segment: dict[str, Any]) -> tuple[int, str]:
    whole = hashlib.sha256()
    for suffix in ("store", "idx"):
        with (folder / f"{_stem(segment)}.{suffix}").open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return -int(segment["max_doc"]), whole.hexdigest()


def _belongs(name: str, stems: dict[str, dict[str, Any]]) -> bool:
    stem, _, rest = name.partition(".")
    if stem not in stems:
        return False
    if not rest.endswith("del"):
        return True
    deletes = stems[stem]["deletes"]
    return bool(deletes) and rest == f"{deletes['opstamp']}.del"


def _write(path: Path, text: str) -> None:
    """Replace a file, with the permissions of a new one: Tantivy makes its JSON files private to the user."""
    path.unlink(missing_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
