"""The composition root of a server: a vault that stays open between questions."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from memidx.ground.settings import VectorSettings
from memidx.ground.source import WORKTREE, Source
from memidx.opening import CONFIG, open_vault
from memidx.stores.snapshots import MANIFEST
from memidx.vault import Vault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from memidx.engines.snapshot import Snapshot
    from memidx.ground.settings import Settings
    from memidx.reading import Opened
    from memidx.vault import Notify, Refresh

# Where there is a graph (decision 5). Below this a scan takes a millisecond.
GRAPH_FROM = 5_000


class ResidentVault(Vault):
    """A vault that stays open: what was opened of a snapshot is kept for as long as that snapshot is the right one.

    Each question still asks git which pages there are; nothing is locked between questions.
    """

    _kept: tuple[tuple[str, int, int], Snapshot] | None = None

    def open_snapshot(
        self, source: Source = WORKTREE, refresh: Refresh = "auto", notify: Notify | None = None
    ) -> Opened:
        """As a vault does; the same snapshot comes as the same object."""
        opened = super().open_snapshot(source, refresh, notify)
        if source.kind != "worktree":
            return opened
        snapshot = opened.snapshot
        about = (snapshot.folder / MANIFEST).stat()  # one that was built again has the same key
        name = snapshot.key, about.st_ino, about.st_mtime_ns
        if self._kept is None or self._kept[0] != name:
            self._kept = name, snapshot
        return opened._replace(snapshot=self._kept[1])


def for_server(settings: Settings) -> Settings:
    """A server loads the graph once, so it uses one from GRAPH_FROM vectors on, unless the settings say a number."""
    if settings.vector.graph_from != VectorSettings().graph_from:
        return settings
    return settings._replace(vector=settings.vector._replace(graph_from=GRAPH_FROM))


class Desk:
    """Where a server keeps its vault. The settings are read again when the config file has changed."""

    def __init__(self, start: Path, environ: Mapping[str, str], options: Sequence[tuple[str, str]]) -> None:
        self._start = start
        self._environ = environ
        self._options = tuple(options)
        self._config: bytes | None = None
        self._vault: ResidentVault | None = None

    def vault(self) -> ResidentVault:
        """The vault as it is configured now. Raises as open_vault does."""
        if self._vault is not None and _bytes(self._vault.root / CONFIG) == self._config:
            return self._vault
        opened = open_vault(self._start, environ=self._environ, options=self._options)
        self._config = _bytes(opened.root / CONFIG)
        self._vault = ResidentVault(opened.git, for_server(opened.settings), opened.environ)
        return self._vault


def _bytes(path: Path) -> bytes | None:
    with suppress(OSError):
        return path.read_bytes()
    return None
