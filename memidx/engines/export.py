"""A snapshot as a static folder, with the settings that queries need. Written aside and put in place by a rename."""

from __future__ import annotations

import contextlib
import glob
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.errors import BrokenSnapshotError, ConfigError, MemidxError, UsageError
from memidx.ground.settings import Settings, as_plain
from memidx.parsing.config import parse_config
from memidx.stores.snapshots import (
    CATALOG,
    LEXICAL,
    MANIFEST,
    STALE_STAGING_SECONDS,
    VECTORS,
    check_digests,
    sync_folder,
    sync_tree,
)

if TYPE_CHECKING:
    from memidx.engines.snapshot import Snapshot

SETTINGS = "settings.yaml"
NAMES = frozenset({MANIFEST, CATALOG, LEXICAL, VECTORS, SETTINGS})


class Exported(NamedTuple):
    """What was written where."""

    folder: Path
    key: str
    pages: int
    sections: int
    bytes: int


def export(snapshot: Snapshot, settings: Settings, target: Path, now: float) -> Exported:
    """Copy a snapshot to ``target``, which is new, empty, or an earlier export that is replaced as a whole.

    What killed exports to the same place left more than an hour before ``now`` is removed.

    Raises UsageError when something else is there, BrokenSnapshotError when the snapshot is damaged.
    """
    target = target.resolve()
    check_target(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target, now)
        aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
    except OSError as error:
        raise MemidxError(
            f"{target.parent}: cannot be written: {error.strerror}", hint="choose another folder"
        ) from error
    try:
        new = aside / "new"
        new.mkdir()
        usual = new.stat().st_mode  # a snapshot's own folder is for its owner alone, an export for whom the umask says
        shutil.copytree(snapshot.folder, new, dirs_exist_ok=True)
        new.chmod(usual)
        wrong = check_digests(new, snapshot.manifest)
        if wrong:
            raise BrokenSnapshotError(
                f"{snapshot.folder / wrong[0]}: is not what was built",
                hint="run `memidx build --full`, then export again",
            )
        (new / SETTINGS).write_text(json.dumps(as_plain(settings), indent=1, sort_keys=True) + "\n", encoding="utf-8")
        sync_tree(new)
        with contextlib.suppress(FileNotFoundError):
            target.rename(aside / "old")
        new.rename(target)
        sync_folder(target.parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    size = sum(digest.size for digest in snapshot.manifest.files.values())
    counts = snapshot.manifest.counts
    return Exported(target, snapshot.key, counts["pages"], counts["sections"], size)


def _sweep(target: Path, now: float) -> None:
    """Remove what exports to the same place left that were killed more than an hour ago."""
    for path in target.parent.glob(f".{glob.escape(target.name)}-{'?' * 8}"):
        with contextlib.suppress(OSError):
            old = now - path.lstat().st_mtime > STALE_STAGING_SECONDS
            if old and not path.is_symlink() and {part.name for part in path.iterdir()} <= {"new", "old"}:
                shutil.rmtree(path)


def check_target(target: Path) -> None:
    """Raises UsageError unless ``target`` may be replaced: nothing that a person made is."""
    hint = "choose a new or an empty folder, or one that an earlier export wrote"
    try:
        names = {path.name for path in target.iterdir()}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise UsageError(f"{target}: is a file", hint=hint) from None
    if not names:
        return
    if not {MANIFEST, SETTINGS} <= names:
        raise UsageError(f"{target}: is not empty, and no earlier export", hint=hint)
    if foreign := sorted(names - NAMES):
        raise UsageError(f"{target}: holds {foreign[0]}, which no export wrote", hint=f"move it away, or {hint}")


def exported_settings(folder: Path) -> Settings:
    """The settings an export was made with. Raises UsageError when ``folder`` is no export."""
    path = folder / SETTINGS
    try:
        return parse_config(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{folder}: is not an exported index", hint="`memidx export DIR` makes one") from error
    except ConfigError as error:
        raise ConfigError(error.message, hint="it was exported by another version; export it again") from error
