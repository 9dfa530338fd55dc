"""What all optional models share: they are loaded from this machine alone, and what goes wrong is said the same way."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memidx.ground.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
AUTO = "auto"
BLOCK = 4096
WHOLE = 1024 * BLOCK  # a file up to this size is read whole


class Prefixes(NamedTuple):
    """What is put before a question and before a page's text. ``auto``: what the model's own files say."""

    query: str = AUTO
    document: str = AUTO

    def over(self, query: str, document: str) -> Prefixes:
        """These, with the model's own where they are ``auto``."""
        return Prefixes(
            query if self.query == AUTO else self.query, document if self.document == AUTO else self.document
        )


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


@contextmanager
def loading(extra: str, package: str, name: str, hint: str) -> Iterator[None]:
    """Load ``name`` with ``package`` inside this, offline. What is raised becomes a ModelError that says what to do.

    ``extra`` is the extra of memidx that brings the package.
    """
    try:
        with offline():
            yield
    except ModelError:
        raise
    except ModuleNotFoundError as error:
        if error.name != package:
            raise ModelError(f"the package {package} cannot be imported: {error}", hint="reinstall it") from error
        remedy = f"pip install 'memidx[{extra}]'"
        raise ModelError(f"{name}: the package {package} is not installed", hint=remedy) from error
    except ImportError as error:  # it is there, but a part that is compiled cannot be loaded
        raise ModelError(f"the package {package} cannot be imported: {error}", hint="reinstall it") from error
    except Exception as error:  # the loaders raise all kinds, bare Exception among them
        raise ModelError(f"{package} cannot load '{name}': {error}", hint=hint) from error


def as_folder(model: str, name: str, base: Path | None) -> Path | None:
    """The folder or file that ``name`` in the setting ``model`` means, from ``base``; None for the name of a hub.

    Raises ModelError when it is written like a path and nothing is there.
    """
    path = Path(name).expanduser()
    if not path.is_absolute() and base is not None:
        path = base / path
    if path.exists():
        return path
    named_like_a_path = name.startswith((".", "~")) or Path(name).is_absolute()
    if named_like_a_path or "\\" in name or name.count("/") > 1:
        hint = "set vector.model to the folder of a model"
        raise ModelError(f"vector.model '{model}': there is no folder {path}", hint=hint)
    return None


def revision(files: Iterable[tuple[str, Path]]) -> str:
    """A digest over names, sizes and bytes: of a large file 1,024 blocks of 4 KB at even distances.

    Every command needs it, and reading a whole model each time would cost more than the search. Other weights differ in
    every block; a damaged byte is not looked for here.
    """
    whole = hashlib.sha256()
    for name, path in sorted(files):
        size = path.stat().st_size
        whole.update(f"{name}\0{size}\n".encode())
        with path.open("rb") as file:
            if size <= WHOLE:
                whole.update(file.read(WHOLE))
                continue
            for place in range(WHOLE // BLOCK):
                file.seek(place * (size - BLOCK) // (WHOLE // BLOCK - 1))
                whole.update(file.read(BLOCK))
    return whole.hexdigest()[:32]
