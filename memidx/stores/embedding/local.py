"""Loading models that are already on this machine, and only those."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


@contextmanager
def offline() -> Iterator[None]:
    """Tell hub clients to stay off the network while a model loads. They read the environment when imported."""
    before = {name: os.environ.get(name) for name in OFFLINE}
    os.environ.update(OFFLINE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def folder_revision(name: str) -> str:
    """A digest over the names and sizes of a local model's files and the bytes of the small ones; else ``hub``."""
    folder = Path(name)
    if not folder.is_dir():
        return "hub"
    whole = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        size = path.stat().st_size
        whole.update(f"{path.relative_to(folder).as_posix()}\0{size}\n".encode())
        with path.open("rb") as file:
            whole.update(file.read(1 << 20))
    return whole.hexdigest()[:32]
